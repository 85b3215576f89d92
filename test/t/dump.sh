#!/usr/bin/env bash
# The registry survives pg_dump and restore (R4; hard cases 1, 3 and 17).
#
# Needs PGHOST, PGPORT and PGUSER of a running server and a superuser.  Makes
# and drops databases called scd2_dump_*.  The last line is "N passed, N failed".
set -uo pipefail

passed=0 failed=0
work=$(mktemp -d)
databases="scd2_dump_a scd2_dump_b scd2_dump_c"

cleanup() {
    for db in $databases; do
        psql -X -q -d postgres -c "DROP DATABASE IF EXISTS $db WITH (FORCE)" 2>/dev/null
    done
    psql -X -q -d postgres -c 'DROP ROLE IF EXISTS regress_dump' 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

if [ -n "${PG_CONFIG:-}" ] && [ -x "$("$PG_CONFIG" --bindir)/pg_dump" ]; then
    PATH=$("$PG_CONFIG" --bindir):$PATH
fi

q() { # database sql: run it, rows unaligned
    psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$1" -c "SET scd2.notice = off; $2" 2>&1
}

is() { # what expected got
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3"
    fi
}

succeeds() { # what command...: exit code 0, and nothing said
    local what=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    is "$what" "0:" "$status:$output"
}

fresh() { # database
    psql -X -q -d postgres -c "DROP DATABASE IF EXISTS $1 WITH (FORCE)" 2>/dev/null
    psql -X -q -d postgres -c "CREATE DATABASE $1 TEMPLATE template0"
}

# what the last run of a dimension did
last_run() { # database dimension
    q "$1" "SELECT rows_read || ' read, ' || versions_opened || ' opened, ' || versions_closed || ' closed'
              FROM scd2.runs WHERE dimension = '$2'::regclass ORDER BY id DESC LIMIT 1"
}

# what users see of the registry, and what is in the dimensions
everything() { # database
    q "$1" "SELECT dimension, owner, source, mode, business_key, log, history, options FROM scd2.dimensions ORDER BY dimension::text"
    q "$1" "SELECT * FROM scd2.dimension_columns ORDER BY dimension::text, column_name"
    q "$1" "SELECT * FROM scd2.runs ORDER BY id"
    q "$1" "SELECT * FROM gold.dim_client ORDER BY customer_sk"
    q "$1" "SELECT * FROM gold.\"Dim Shop\" ORDER BY 1"
    q "$1" "SELECT * FROM hist.changes ORDER BY scd2_id"
    q "$1" "SELECT * FROM gold.dim_split ORDER BY 1"
    q "$1" "SELECT * FROM gold.past ORDER BY 1"
    q "$1" "SELECT * FROM gold.dim_split_versions ORDER BY 1"
    q "$1" "SELECT * FROM gold.dim_wide_as_of('2024-06-01') ORDER BY 1"
    q "$1" "SELECT * FROM scd2.registry_fact ORDER BY id"
    q "$1" "SELECT * FROM mart.\"Sales\" ORDER BY 1"
}

cleanup
mkdir -p "$work"
psql -X -q -d postgres -c 'CREATE ROLE regress_dump'
fresh scd2_dump_a

psql -X -q -v ON_ERROR_STOP=1 -d scd2_dump_a <<'SQL' || exit 1
SET client_min_messages = warning;
SET scd2.notice = off;
CREATE EXTENSION scd2;
CREATE SCHEMA stg;
CREATE SCHEMA gold;
CREATE SCHEMA hist;
GRANT ALL ON SCHEMA gold, hist TO regress_dump;
GRANT USAGE ON SCHEMA stg TO regress_dump;
CREATE TYPE stg.tier AS ENUM ('gold', 'silver');
CREATE FUNCTION stg.gone(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 OPERATOR(pg_catalog.=) 'D' $$;
CREATE TABLE stg.customer (id int PRIMARY KEY, name text, tier stg.tier, op text, at timestamptz);
-- pg_dump makes this view only after the primary key that it depends on
CREATE VIEW stg.late AS SELECT id, name, count(*) AS n FROM stg.customer GROUP BY id;
GRANT SELECT ON ALL TABLES IN SCHEMA stg TO regress_dump;
INSERT INTO stg.customer VALUES (1, 'Ann', 'gold', 'I', '2024-01-01'), (2, 'Bob', 'silver', 'I', '2024-01-01');
SET ROLE regress_dump;
SELECT scd2.create_dimension('gold.dim_customer', source => 'stg.customer', business_key => '{id}',
    type1 => '{name}', type6 => '{tier}', effective_at => 'at', delete_when => 'stg.gone(op)') \g /dev/null
CALL scd2.apply('gold.dim_customer');
RESET ROLE;
SELECT scd2.create_dimension('gold."Dim Shop"', source => 'stg.late', business_key => '{id}', mode => 'snapshot',
    surrogate_key_type => 'uuid', on_delete => 'flag', time_zone => 'America/New_York', open_end => 'infinity') \g /dev/null
CALL scd2.apply('gold."Dim Shop"');
-- history => 'separate'
SET ROLE regress_dump;
SELECT scd2.create_dimension('gold.dim_split', source => 'stg.customer', business_key => '{id}', type1 => '{name}',
    effective_at => 'at', delete_when => 'stg.gone(op)', history => 'separate') \g /dev/null
CALL scd2.apply('gold.dim_split');
RESET ROLE;
UPDATE stg.customer SET tier = 'gold', at = '2024-01-15' WHERE id = 2;
CALL scd2.apply('gold.dim_split');
UPDATE stg.customer SET tier = 'silver', at = '2024-01-01' WHERE id = 2;
-- on_drift => 'add'
CREATE TABLE stg.wide (id int, v text, at timestamptz);
INSERT INTO stg.wide VALUES (1, 'a', '2024-01-01'), (2, 'b', '2024-01-01');
SELECT scd2.create_dimension('gold.dim_wide', source => 'stg.wide', business_key => '{id}', effective_at => 'at', on_drift => 'add') \g /dev/null
CALL scd2.apply('gold.dim_wide');
ALTER TABLE stg.wide ADD w text;
INSERT INTO stg.wide VALUES (1, 'a', '2024-02-01', 'w');
CALL scd2.apply('gold.dim_wide');
-- hard case 17: renamed and moved before the dump
ALTER TABLE gold.dim_split_history RENAME tier TO grade;
ALTER TABLE gold.dim_split_history RENAME TO past;
ALTER TABLE gold.dim_customer RENAME TO dim_client;
ALTER TABLE gold.dim_client RENAME id TO client_id;
ALTER TABLE gold.dim_client RENAME valid_from TO begins;
ALTER TABLE gold.dim_customer_log RENAME TO changes;
ALTER TABLE gold.changes SET SCHEMA hist;
ALTER TABLE hist.changes RENAME scd2_effective_at TO e;
ALTER TABLE stg.customer RENAME TO client;
UPDATE stg.client SET tier = 'gold', at = '2024-02-01' WHERE id = 2;
CALL scd2.apply('gold.dim_client');
-- facts, renamed too; an inferred member in the dimension
CREATE SCHEMA mart;
CREATE TABLE mart.sales (n int, client int, at timestamptz, sk bigint REFERENCES gold.dim_client ON DELETE CASCADE, wide_sk bigint);
INSERT INTO mart.sales VALUES (1, 1, '2024-01-10'), (2, 2, '2024-02-10'), (3, 7, '2024-02-10'), (4, NULL, NULL);
SELECT scd2.register_fact('mart.sales', 'gold.dim_client', '{client}', 'at', 'sk') \g /dev/null
SELECT scd2.register_fact('mart.sales', 'gold.dim_wide', '{client}', 'at', 'wide_sk', infer => true) \g /dev/null
CALL scd2.resolve('mart.sales');
ALTER TABLE mart.sales RENAME TO "Sales";
ALTER TABLE mart."Sales" RENAME sk TO "Client SK";
ALTER TABLE mart."Sales" RENAME client TO "Client";
-- what a dropped dimension leaves, too
CREATE TABLE stg.plain (id int, v text);
SELECT scd2.create_dimension('gold.dim_kept', 'stg.plain', '{id}') \g /dev/null
SELECT scd2.drop_dimension('gold.dim_kept') \g /dev/null
SQL
runs=$(q scd2_dump_a "SELECT max(id) FROM scd2.runs")
before=$(everything scd2_dump_a)

# hard case 1: dump, restore into another database, the same batch again, then a new one
pg_dump -Fc -f "$work/full" scd2_dump_a
fresh scd2_dump_b
succeeds 'pg_restore into another database' pg_restore --single-transaction -d scd2_dump_b "$work/full"
is 'a restored database shows what the dumped one did' "$before" "$(everything scd2_dump_b)"
q scd2_dump_b "CALL scd2.apply('gold.dim_client')"
is 'the same batch is a no-op' '2 read, 0 opened, 0 closed' "$(last_run scd2_dump_b gold.dim_client)"
is 'run ids go on' "$((runs + 1))" "$(q scd2_dump_b 'SELECT max(id) FROM scd2.runs')"
q scd2_dump_b "UPDATE stg.client SET tier = 'silver', at = '2024-03-01' WHERE id = 1; CALL scd2.apply('gold.dim_client')"
is 'a new batch is applied' '2 read, 1 opened, 1 closed' "$(last_run scd2_dump_b gold.dim_client)"
is 'the log counts on' 't' "$(q scd2_dump_b 'SELECT count(*) = count(DISTINCT scd2_id) AND max(scd2_run) = '$((runs + 2))' FROM hist.changes')"
is 'facts follow after a restore' '1:2024-01-05 00:00:00+00 2:2024-02-01 00:00:00+00 0' "$(q scd2_dump_b "
    UPDATE stg.client SET tier = 'silver', at = '2024-01-05' WHERE id = 1; CALL scd2.apply('gold.dim_client')" >/dev/null
    q scd2_dump_b "SELECT string_agg(n || ':' || begins, ' ' ORDER BY n) || ' ' || (SELECT count(*) FROM scd2.check('gold.dim_client')) FROM mart.\"Sales\" JOIN gold.dim_client ON customer_sk = \"Client SK\" WHERE client_id IS NOT NULL")"
is 'ids of facts go on' 't' "$(q scd2_dump_b "CREATE TABLE mart.more (id int, at timestamptz, sk bigint); SELECT scd2.register_fact('mart.more', 'gold.dim_client', '{id}', 'at', 'sk')" >/dev/null
    q scd2_dump_b 'SELECT max(id) = count(*) FROM scd2.registry_fact')"
q scd2_dump_b "CALL scd2.apply('gold.\"Dim Shop\"')"
is 'a source view that was restored late is found' '2 read, 0 opened, 0 closed' "$(last_run scd2_dump_b '"gold"."Dim Shop"')"
q scd2_dump_b "UPDATE stg.client SET at = '2024-03-01'; CALL scd2.apply('gold.dim_split')"
is 'closed versions move into a restored history' '2 read, 1 opened, 1 closed|2|2' \
    "$(last_run scd2_dump_b gold.dim_split)|$(q scd2_dump_b 'SELECT count(*) FROM gold.past')|$(q scd2_dump_b 'SELECT count(id) FROM gold.dim_split')"
q scd2_dump_b "CALL scd2.apply('gold.dim_wide')"
is 'a gained column is known in another database' '3 read, 0 opened, 0 closed' "$(last_run scd2_dump_b gold.dim_wide)"
q scd2_dump_b "ALTER TABLE stg.wide ADD x int; UPDATE stg.wide SET x = 1, w = 'late' WHERE id = 2; CALL scd2.apply('gold.dim_wide')"
is 'and the next one is gained' '1|a|w||2|b|late|1|' "$(q scd2_dump_b "SELECT id, v, w, x FROM gold.dim_wide_current WHERE id < 7 ORDER BY id" | tr '\n' '|')"
is 'by their runs, which the log tells' '' "$(q scd2_dump_b "SELECT * FROM scd2.check('gold.dim_wide')")"
is 'recorded_at goes on' 't' "$(q scd2_dump_b 'SELECT bool_and(b.recorded_at > a.recorded_at) FROM scd2.runs a JOIN scd2.runs b ON b.id > a.id AND b.dimension = a.dimension')"
is 'ids of dimensions go on' 'gold.dim_new' "$(q scd2_dump_b "SELECT scd2.create_dimension('gold.dim_new', 'stg.plain', '{id}')")"
is 'a kept table is taken up' 'gold.dim_kept' "$(q scd2_dump_b "SELECT scd2.create_dimension('gold.dim_kept', 'stg.plain', '{id}')")"

# renames after a restore are followed, first thing
fresh scd2_dump_b
pg_restore --single-transaction -d scd2_dump_b "$work/full"
q scd2_dump_b "ALTER TABLE gold.dim_client RENAME TO d; ALTER TABLE gold.d RENAME client_id TO k; ALTER SCHEMA hist RENAME TO h; ALTER TABLE stg.client RENAME TO c"
q scd2_dump_b 'ALTER TABLE mart."Sales" RENAME TO s; ALTER TABLE mart.s RENAME "Client SK" TO k'
is 'renames of facts, too' 's|k,s|wide_sk' "$(q scd2_dump_b 'SELECT table_name, surrogate_key FROM scd2.registry_fact ORDER BY id' | paste -sd,)"
is 'renames after a restore are followed' 'gold.d|stg.c|h.changes|{k}' \
    "$(q scd2_dump_b "SELECT dimension, source, log, business_key FROM scd2.dimensions WHERE dimension = 'gold.d'::regclass")"
q scd2_dump_b "CALL scd2.apply('gold.d')"
is 'and the dimension works' '2 read, 0 opened, 0 closed' "$(last_run scd2_dump_b gold.d)"
q scd2_dump_b "ALTER TABLE gold.d OWNER TO $(q scd2_dump_b 'SELECT quote_ident(current_user)')"
is 'new owners are followed' '1' "$(q scd2_dump_b "SELECT count(DISTINCT relowner) FROM pg_class WHERE oid IN ('gold.d'::regclass, 'h.changes'::regclass, 'gold.dim_customer_current'::regclass)")"

# hard case 3: --clean over the same database, twice
fresh scd2_dump_b
pg_restore -d scd2_dump_b "$work/full"
for time in first second; do
    succeeds "pg_restore --clean, $time time" \
        pg_restore --clean --if-exists --single-transaction -d scd2_dump_b "$work/full"
    is "registered after the $time --clean" "$before" "$(everything scd2_dump_b)"
    q scd2_dump_b "CALL scd2.apply('gold.dim_client')"
    is "apply after the $time --clean" '2 read, 0 opened, 0 closed' "$(last_run scd2_dump_b gold.dim_client)"
done
succeeds 'pg_restore --clean without a transaction' pg_restore --clean --if-exists -d scd2_dump_b "$work/full"
is 'registered after it' "$before" "$(everything scd2_dump_b)"

# a plain dump; schema and data apart; in parallel
fresh scd2_dump_b
pg_dump -f "$work/plain.sql" scd2_dump_a
succeeds 'plain dump by psql' psql -X -q -o /dev/null -v ON_ERROR_STOP=1 -d scd2_dump_b -f "$work/plain.sql"
is 'registered after a plain dump' "$before" "$(everything scd2_dump_b)"
fresh scd2_dump_b
pg_restore --schema-only -d scd2_dump_b "$work/full"
is 'a schema alone registers nothing' '' "$(q scd2_dump_b 'SELECT dimension FROM scd2.dimensions')"
succeeds 'data-only restore' pg_restore --data-only -d scd2_dump_b "$work/full"
is 'registered after its data came' "$before" "$(everything scd2_dump_b)"
fresh scd2_dump_b
succeeds 'parallel restore' pg_restore -j 2 -d scd2_dump_b "$work/full"
is 'registered after a parallel restore' "$before" "$(everything scd2_dump_b)"

# partial dumps: what was left out fails nothing, and is not taken for what comes later
pg_dump -Fc -N gold -N mart -f "$work/without_gold" scd2_dump_a
fresh scd2_dump_c
succeeds 'restore of a dump without the dimensions' pg_restore --single-transaction -d scd2_dump_c "$work/without_gold"
is 'they are not registered there' '' "$(q scd2_dump_c 'SELECT dimension FROM scd2.dimensions')"
q scd2_dump_c "CREATE SCHEMA gold; CREATE TABLE gold.dim_client (customer_sk bigint, client_id int, name text, tier stg.tier,
    current_tier stg.tier, row_hash bytea, begins timestamptz, valid_to timestamptz, is_current boolean)"
is 'a table that took the name is not the dimension' '' "$(q scd2_dump_c 'SELECT dimension FROM scd2.dimensions')"
is 'apply refuses it' '1' "$(q scd2_dump_c "CALL scd2.apply('gold.dim_client')" | grep -c 'is not a dimension')"
is 'the runs are still there' "$runs" "$(q scd2_dump_c 'SELECT max(id) FROM scd2.runs')"

pg_dump -Fc -N mart -f "$work/without_mart" scd2_dump_a
fresh scd2_dump_c
succeeds 'restore of a dump without the facts' pg_restore --single-transaction -d scd2_dump_c "$work/without_mart"
q scd2_dump_c "CALL scd2.apply('gold.dim_client')"
is 'the dimension works without them' '2 read, 0 opened, 0 closed' "$(last_run scd2_dump_c gold.dim_client)"
q scd2_dump_c 'CREATE SCHEMA mart; CREATE TABLE mart."Sales" ("Client" int, at timestamptz, "Client SK" bigint, wide_sk bigint)'
is 'a table that took the name is not the fact' '1' "$(q scd2_dump_c "CALL scd2.resolve('mart.\"Sales\"')" | grep -c 'is not a registered fact')"

pg_dump -Fc -N stg -T 'gold."Dim Shop"*' -f "$work/without_stg" scd2_dump_a
fresh scd2_dump_c
# the types of the excluded schema are wanted by the dimension's columns
q scd2_dump_c "CREATE SCHEMA stg; CREATE TYPE stg.tier AS ENUM ('gold', 'silver')"
pg_restore -d scd2_dump_c "$work/without_stg" >/dev/null 2>&1
is 'a dimension whose source was left out is registered' 'gold.dim_client|' \
    "$(q scd2_dump_c "SELECT dimension, source FROM scd2.dimensions WHERE dimension = 'gold.dim_client'::regclass")"
q scd2_dump_c "CREATE TABLE stg.client (id int, name text, tier stg.tier, op text, at timestamptz);
    CREATE FUNCTION stg.gone(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS \$\$ SELECT false \$\$;
    GRANT USAGE ON SCHEMA stg TO regress_dump; GRANT SELECT ON stg.client TO regress_dump"
q scd2_dump_c "CALL scd2.apply('gold.dim_client')"
is 'and finds it by name when it comes' '0 read, 0 opened, 0 closed' "$(last_run scd2_dump_c gold.dim_client)"

pg_dump -Fc -n gold -f "$work/gold" scd2_dump_a
fresh scd2_dump_c
q scd2_dump_c "CREATE SCHEMA stg; CREATE TYPE stg.tier AS ENUM ('gold', 'silver')"
succeeds 'restore of the dimensions alone, without the extension' pg_restore --single-transaction -d scd2_dump_c "$work/gold"
is 'their views work' '2' "$(q scd2_dump_c 'SELECT count(*) FROM gold.dim_customer_current')"
pg_dump -Fc -t gold.dim_client -f "$work/table" scd2_dump_a
fresh scd2_dump_c
q scd2_dump_c "CREATE SCHEMA gold; CREATE SCHEMA stg; CREATE TYPE stg.tier AS ENUM ('gold', 'silver'); CREATE EXTENSION scd2"
succeeds 'restore of one table' pg_restore --single-transaction -d scd2_dump_c "$work/table"
is 'it is not registered' '' "$(q scd2_dump_c 'SELECT dimension FROM scd2.dimensions')"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
