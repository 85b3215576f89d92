#!/usr/bin/env bash
# A cancel at any moment takes effect within a second and leaves everything as it
# was (R35, hard case 22).
#
# Needs PGHOST, PGPORT, PGUSER and PGDATABASE of a running server and a superuser.
# SCD2_CANCELS (12): how many random moments; SCD2_SEED says which.
set -uo pipefail

. "$(dirname "$0")/lib.sh"
cancels=${SCD2_CANCELS:-12}
RANDOM=${SCD2_SEED:-$$}
echo "SCD2_SEED=${SCD2_SEED:-$$} SCD2_CANCELS=$cancels"

# Run SQL under a statement_timeout in ms: "in time" if it was cancelled within a
# second of it, "done" if it was faster; else what happened.
timed() { # timeout sql
    local started now output
    started=$(date +%s%N)
    output=$(q -c "SET statement_timeout = $1" -c "$2")
    now=$((($(date +%s%N) - started) / 1000000 - $1))
    if [[ $output == *'canceling statement due to statement timeout'* ]]; then
        if [ "$now" -lt 1500 ]; then echo 'in time'; else echo "cancelled $now ms late"; fi
    elif [[ $output == *ERROR* ]]; then
        echo "$output"
    else
        echo 'done'
    fi
}

state() {
    q -c "SELECT md5(string_agg((d.ctid, d.xmin, d.*)::text, '' ORDER BY id, valid_from)) FROM $1 AS d" \
        -c "SELECT count(*), max(scd2_id) FROM $1_log" -c "SELECT count(*) FROM scd2.runs"
}

content() {
    q -c "SELECT count(*), sum(hashtext((d.*)::text)) FROM $1 AS d" -c "SELECT count(*) FROM $1_log" \
        -c "SELECT count(*) FROM scd2.runs"
}

q <<'SQL' >/dev/null
CREATE EXTENSION scd2;
CREATE TABLE base (id int, a text, b numeric, at timestamptz);
INSERT INTO base SELECT i, 'a' || i % 100, i, '2026-01-01' FROM generate_series(1, 30000) AS i;
CREATE TABLE next AS SELECT id, a || 'x' AS a, b, at + interval '1 day' AS at FROM base WHERE id % 2 = 0
    UNION ALL SELECT id + 30000, a, b, at FROM base WHERE id % 10 = 0;
SELECT scd2.create_dimension('dim_d', source => 'base', business_key => '{id}', type1 => '{b}', effective_at => 'at');
SELECT scd2.create_dimension('dim_s', source => 'base', business_key => '{id}', type2 => '{a}', mode => 'snapshot');
CALL scd2.apply('dim_d');
CALL scd2.apply('dim_s');
CREATE TABLE long_values AS SELECT string_agg(md5(i::text), '') AS v FROM generate_series(1, 3000000) AS i;
SQL

# one key with very many changes, a long value, check
q -c "CREATE TABLE one AS SELECT 1 AS id, 'a' || i AS a, i::numeric AS b, timestamptz '2026-02-01' + i * interval '1 s' AS at FROM generate_series(1, 1000000) AS i" >/dev/null
before=$(state dim_d)
is 'one key with a million changes' 'in time' "$(timed 50 "CALL scd2.apply('dim_d', source => 'one')")"
is 'nothing of it is left' "$before" "$(state dim_d)"
is 'a hash of a long value' 'in time' "$(timed 20 "SELECT scd2.row_hash(v, v, v, v, v) FROM long_values")"
is 'check' 'in time' "$(timed 20 "SELECT * FROM scd2.check('dim_d')")"

# resolve, and a fact that follows
q -c "CREATE TABLE fact AS SELECT i AS n, i % 30000 + 1 AS id, timestamptz '2025-12-01' + i / 5000 * interval '1 day' AS ts, NULL::bigint AS sk FROM generate_series(1, 300000) AS i" \
    -c "SELECT scd2.register_fact('fact', 'dim_d', '{id}', 'ts', 'sk')" >/dev/null
is 'resolve' 'in time' "$(timed 100 "CALL scd2.resolve('fact')")"
is 'nothing of it is left' '0' "$(q -c 'SELECT count(sk) FROM fact')"
q -c "CALL scd2.resolve('fact')" >/dev/null
keyed=$(q -c "SELECT md5(string_agg(sk::text, ' ' ORDER BY n)) FROM fact")

# a million late changes, at a moment of each phase; rebuild and its kin
q -c "CREATE TABLE late AS SELECT i % 30000 + 1 AS id, 'l' || i AS a, i::numeric AS b, timestamptz '2025-01-01' + i * interval '1 s' AS at FROM generate_series(1, 1000000) AS i" >/dev/null
before=$(state dim_d)
for moment in 50 1500 4000 7000; do
    result=$(timed $moment "BEGIN; CALL scd2.apply('dim_d', source => 'late'); ROLLBACK")
    [ "$result" = 'done' ] || is "a million late changes, after $moment ms" 'in time' "$result"
done
is 'nothing of them is left' "$before" "$(state dim_d)"
q -c "CREATE TABLE logged AS SELECT max(id) AS run FROM scd2.runs WHERE dimension = 'dim_d'::regclass AND action = 'apply'" >/dev/null
is 'rebuild' 'in time' "$(timed 20 "SELECT count(*) FROM scd2.rebuild(NULL::dim_d)")"
is 'rebuild_apply' 'in time' "$(timed 20 "CALL scd2.rebuild_apply('dim_d')")"
is 'undo' 'in time' "$(timed 20 "CALL scd2.undo('dim_d', $(q -c 'SELECT run FROM logged'))")"
is 'nothing of these is left' "$before" "$(state dim_d)"
is 'nor in the fact' "$keyed" "$(q -c "SELECT md5(string_agg(sk::text, ' ' ORDER BY n)) FROM fact")"

# apply at random moments: as before, or whole
for dim in dim_d dim_s; do
    started=$(date +%s%N)
    q -c "BEGIN" -c "CALL scd2.apply('$dim', source => 'next')" -c "ROLLBACK" >/dev/null
    took=$((($(date +%s%N) - started) / 1000000))
    before=$(state "$dim")
    wrong='' late=''
    for ((n = 0; n < cancels / 2; n++)); do
        result=$(timed $((1 + RANDOM % took)) "BEGIN; CALL scd2.apply('$dim', source => 'next'); ROLLBACK")
        [ "$result" = 'in time' ] || [ "$result" = 'done' ] || late=$result
        [ "$before" = "$(state "$dim")" ] || wrong=t
    done
    is "$dim, cancelled: in time" '' "$late"
    is "$dim, cancelled: as before" '' "$wrong"
    q -c "CALL scd2.apply('$dim', source => 'next')" >/dev/null
    is "$dim: the next run is whole" '' "$(q -c "SELECT * FROM scd2.check('$dim')")"
    before=$(content "$dim" | head -n 2)
    q -c "CALL scd2.apply('$dim', source => 'next')" >/dev/null
    is "$dim: and once more writes nothing" "$before" "$(content "$dim" | head -n 2)"
done

finish
