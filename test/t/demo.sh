#!/usr/bin/env bash
# "make demo" says what the README promises.
set -euo pipefail
cd "$(dirname "$0")/../.."

passed=0 failed=0
says() { # what pattern
    if grep -qE "$2" <<<"$output"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED the demo shows $1"
    fi
}

output=$(psql -X -q -f demo/demo.sql 2>&1) || { echo "$output"; echo "FAILED psql"; echo "0 passed, 1 failed"; exit 1; }
says 'Ada twice, under her new name' '1 │ Ada Lovelace +│ small business │ London +│ 2026-01-02 09:00:00 │ 2026-02-10 09:30:00 │ f'
says 'a null that came and went' '2 │ Grace Murray +│ enterprise +│ \(null\) +│ 2026-02-12 13:00:00 │ 2026-03-06 10:00:00 │ f'
says 'three changes in one batch, in order' '6 │ Radia Joy +│ small business │ Seattle +│ 2026-02-20 17:45:00 │ 2026-02-25 09:10:00 │ f'
says 'a deleted customer' '5 │ Donald Knuth +│ private +│ Milwaukee +│ 2026-01-09 11:45:00 │ 2026-03-20 18:00:00 │ f'
says 'an order with its customer as of that day' '1005 │ 2026-02-03 │ Ada Lovelace +│ small business │ London'
says 'equal totals' 'total +│ +5730.50 │ +5730.50'
says 'four runs, the last of them without effect' '^ +4 │ gold.dim_customer │ +5 │ +0 │ +0 │ +0 │ +0 │ +0 │ +5 │ +0'
says 'no violation' '\(0 rows\)'
[ "$failed" = 0 ] || echo "$output"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
