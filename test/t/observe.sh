#!/usr/bin/env bash
# What others see of an apply: its progress (R22), the statements it runs (R23),
# and the rows that it leaves alone (R16).
#
# Needs PGHOST, PGPORT, PGUSER and PGDATABASE of a running server and a superuser.
set -uo pipefail

. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Ask until a query says t, for a minute at most.
until_true() { # query
    local n
    for ((n = 0; n < 600; n++)); do
        [ "$(q -c "$1")" != t ] || return 0
        sleep 0.1
    done
    return 1
}

q <<'SQL' >/dev/null
CREATE EXTENSION scd2;
CREATE TABLE src (id int, a text, b text, at timestamptz);
SELECT scd2.create_dimension('dim', source => 'src', business_key => '{id}', type1 => '{a}', effective_at => 'at');
INSERT INTO src SELECT i, 'a', 'b', '2026-01-01' FROM generate_series(1, 100000) AS i;
CALL scd2.apply('dim');
TRUNCATE src;
INSERT INTO src SELECT i, 'a' || i, 'b' || i, '2026-01-02' FROM generate_series(1, 100) AS i;
SQL

# R16: keys outside the batch are not touched, their rows not even written alike
before=$(q -c "SELECT md5(string_agg((d.ctid, d.xmin, d.*)::text, '' ORDER BY id, valid_from)) FROM dim AS d WHERE id > 100")

# R23: the very text; auto_explain says what ran
shown=$work/shown
q -c "SELECT regexp_replace(statement, '\s+', ' ', 'g') FROM scd2.sql('dim') WHERE name IN ('read', 'close', 'open', 'overwrite', 'log')" >"$shown"
q >"$work/ran" <<'SQL'
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET auto_explain.log_format = json;
SET client_min_messages = log;
CALL scd2.apply('dim');
SQL
tr '\n' ' ' <"$work/ran" | sed 's/\\n/ /g; s/\\"/"/g; s/  */ /g' >"$work/ran.flat"
is 'five statements are shown' 5 "$(wc -l <"$shown")"
ran=0
while read -r statement; do
    if grep -qF -- "$statement" "$work/ran.flat"; then ran=$((ran + 1)); else echo "not run: $statement"; fi
done <"$shown"
is 'what is shown is what ran' 5 "$ran"
# the close of a version overwrites it in passing: no row is overwritten besides
is 'the batch did what it should' '100 100 0 0' \
    "$(q -F ' ' -c "SELECT versions_opened, versions_closed, rows_overwritten, rows_unchanged FROM scd2.runs ORDER BY id DESC LIMIT 1")"
is 'rows of other keys are as they were' "$before" \
    "$(q -c "SELECT md5(string_agg((d.ctid, d.xmin, d.*)::text, '' ORDER BY id, valid_from)) FROM dim AS d WHERE id > 100")"

# R22: a run that waits, then one that works
q -c "TRUNCATE src" -c "INSERT INTO src SELECT i, 'a', 'c', '2026-01-03' FROM generate_series(1, 100000) AS i" >/dev/null
mkfifo "$work/holder"
q <"$work/holder" >"$work/held" &
holder=$!
exec 8>"$work/holder"
echo "BEGIN; CALL scd2.apply('dim', source => 'src'); SELECT 'held';" >&8
seen=$work/seen
: >"$seen"
for ((n = 0; n < 600; n++)); do
    q -c "SELECT phase FROM scd2.progress WHERE dimension = 'dim'::regclass AND total >= 0 AND done >= 0" >>"$seen"
    ! grep -q held "$work/held" || break
done
is 'another session saw several phases of a run' t "$([ "$(sort -u "$seen" | wc -l)" -ge 2 ] && echo t)"
q -c "CALL scd2.apply('dim')" >/dev/null &
waiter=$!
until_true "SELECT count(*) = 1 FROM scd2.progress WHERE dimension = 'dim'::regclass AND phase = 'waiting for an earlier run'" && waits=t || waits=f
is 'a run that waits says so' t "$waits"
echo 'COMMIT;' >&8
exec 8>&-
wait "$holder" "$waiter"
is 'nothing is in progress afterwards' 0 "$(q -c 'SELECT count(*) FROM scd2.progress')"

finish
