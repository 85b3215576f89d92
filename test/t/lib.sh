# shellcheck shell=bash
# What the scripts beside it share: asking the server, comparing, counting.
passed=0 failed=0
export PGOPTIONS='-c client_min_messages=warning -c timezone=UTC'

q() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@" 2>&1; }

is() { # what expected got
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    fi
}

# The closing line, and the exit code that goes with it.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
