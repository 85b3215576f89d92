#!/usr/bin/env bash
# test/golden/run tells right from wrong (R33): a value, a null that should be
# empty, a row too many or too few, and an error each fail their case alone.
set -euo pipefail
cd "$(dirname "$0")/../.."

cases=$(mktemp -d "${SCD2_SCRATCH:-/var/tmp}/cases with space.XXXXXX")
trap 'rm -rf "$cases"' EXIT
passed=0 failed=0

for name in right value empty more fewer error; do
    cp -r test/golden/null_placement "$cases/$name"
done
sed -i '2s/A,,/B,,/' "$cases/value/expected-1.csv"
sed -i '3s/2,,,/2,"",,/' "$cases/empty/expected-1.csv"
echo '9,x,y,2026-01-01 00:00:00+00,9999-12-31 00:00:00+00,t' >>"$cases/more/expected-3.csv"
sed -i '$d' "$cases/fewer/expected-3.csv"
echo 'SELECT 1/0;' >"$cases/error/apply-2.sql"

is() { # what expected-pattern output
    if grep -qE "$2" <<<"$3"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED $1:"; echo "$3"; fi
}

output=$(test/golden/run "$cases" 2>&1) && status=0 || status=$?
is 'one of six is right' '^1 passed, 5 failed$' "$output"
is 'the exit code says so' '^1$' "$status"
is 'a wrong value is shown' '< \(1,B,,"2026-01-01' "$output"
is 'the error is shown' 'division by zero' "$output"
output=$(test/golden/run "$cases/right" 2>&1)
is 'a case alone' '^1 passed, 0 failed$' "$output"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
