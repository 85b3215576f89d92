-- create_dimension, drop_dimension: each misuse has a clear error (R1, R3, R14, R34)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
CREATE SCHEMA ce;
SET search_path = ce;

-- SQLSTATE, message, detail and hint of a call; what it made is rolled back
CREATE FUNCTION try(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
    EXECUTE call;
    RAISE EXCEPTION USING errcode = '00001';
EXCEPTION
    WHEN SQLSTATE '00001' THEN RETURN NEXT 'no error';
    WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        RETURN NEXT SQLSTATE || ': ' || SQLERRM;
        IF detail <> '' THEN RETURN NEXT 'DETAIL: ' || detail; END IF;
        IF hint <> '' THEN RETURN NEXT 'HINT: ' || hint; END IF;
END
$$;
-- create_dimension over src with further arguments
CREATE FUNCTION make(arguments text, name text DEFAULT 'dim', key text DEFAULT '{id}') RETURNS SETOF text LANGUAGE sql AS $$
    SELECT try(format('SELECT scd2.create_dimension(%L, ''src'', %L%s)', name, key, ', ' || nullif(arguments, '')))
$$;

CREATE TABLE src (id int, a text, b text, "C" text, at timestamptz, wall timestamp, day date, op text, amount numeric,
    doc jsonb, spot point);

-- it works at all
SELECT make('');

-- nulls and empty lists
SELECT try($$SELECT scd2.create_dimension(NULL, 'src', '{id}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', NULL, '{id}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'src', NULL)$$);
SELECT make('', key => '{}');
SELECT make('', key => '{id,NULL}');
SELECT make('', key => '{id,a,id}');
SELECT make('', key => '{{id,a}}');
SELECT make('mode => NULL');
SELECT make('type1 => NULL');
SELECT make('guard => NULL');
SELECT make('columns => NULL');

-- columns that are not there, or there twice
SELECT make('', key => '{nokey}');
SELECT make('type1 => ''{c}''');
SELECT make('type0 => ''{nothing}''');
SELECT make('effective_at => ''changed_at''');
SELECT make('sequence_by => ''{seq}''');
SELECT make('mode => ''log'', log_position => ''lsn''');
SELECT make('type1 => ''{ctid}''');
SELECT make('type1 => ''{a,a}''');
SELECT make('type1 => ''{a}'', type2 => ''{a}''');
SELECT make('type3 => ''{b}'', type6 => ''{b}''');
SELECT make('type1 => ''{id}''');
SELECT make('sequence_by => ''{a,a}''');

-- the source
SELECT try($$SELECT scd2.create_dimension('dim', 'nowhere', '{id}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 0::oid::regclass, '{id}')$$);
CREATE SEQUENCE seq;
SELECT try($$SELECT scd2.create_dimension('dim', 'seq', '{last_value}')$$);
SELECT try($$SELECT scd2.create_dimension('src', 'src', '{id}')$$);

-- the dimension's name and place
SELECT make('', name => '');
SELECT make('', name => 'a.b.c.d');
SELECT make('', name => 'otherdb.ce.dim');
SELECT make('', name => 'nowhere.dim');
SELECT make('', name => 'pg_temp.dim');
SELECT make('', name => 'pg_catalog.dim');
SELECT make('', name => 'scd2.dim');
SELECT make('', name => 'di"m');
-- hard case 16: refused with the derived name, in bytes, never cut, never reused
SELECT make('', name => repeat('d', 60));
SELECT make('', name => repeat('d', 56));
SELECT make('', name => repeat('é', 31));
SELECT make('', name => repeat('d', 64));
SELECT make('', name => repeat('d', 61));
SELECT make('change_log => false', name => repeat('d', 58));
SELECT make(format('surrogate_key => %L', repeat('k', 64)));
SELECT make(format('columns => %L', jsonb_build_object('valid_from', repeat('v', 64))));
CREATE TABLE long (id int, a23456789_123456789_123456789_123456789_123456789_123456789 int);
SELECT try($$SELECT scd2.create_dimension('dim', 'long', '{id}', type3 => '{a23456789_123456789_123456789_123456789_123456789_123456789}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'long', '{id}', type6 => '{a23456789_123456789_123456789_123456789_123456789_123456789}')$$);
CREATE TABLE dim_log (x int);
SELECT make('');
SELECT make('change_log => false');
DROP TABLE dim_log;
CREATE VIEW dim_current AS SELECT 1 AS one;
SELECT make('');
DROP VIEW dim_current;
CREATE FUNCTION dim_as_of(timestamptz) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT make('');
DROP FUNCTION dim_as_of;
CREATE FUNCTION dim_as_of(text) RETURNS int LANGUAGE sql AS 'SELECT 1';
SELECT make('');
DROP FUNCTION dim_as_of;

-- names of columns
SELECT make('surrogate_key => ''id''');
SELECT make('surrogate_key => ''''');
SELECT make('surrogate_key => ''ctid''');
SELECT make('columns => ''{"valid_from": "a"}''');
SELECT make('columns => ''{"valid_from": "x", "valid_to": "x"}''');
SELECT make('columns => ''{"valid_from": ""}''');
CREATE TABLE clash (id int, valid_from int, previous_id int, x int, previous_x int, y int, current_y int, scd2_run int);
SELECT try($$SELECT scd2.create_dimension('dim', 'clash', '{id}', type2 => '{valid_from}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'clash', '{id}', type2 => '{previous_x}', type3 => '{x}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'clash', '{id}', type2 => '{current_y}', type6 => '{y}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'clash', '{id}', type2 => '{scd2_run}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'clash', '{id}', type2 => '{scd2_run}', change_log => false)$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'clash', '{id}', type2 => '{valid_from}', columns => '{"valid_from": "begins"}')$$);

-- columns
SELECT make('columns => ''[]''');
SELECT make('columns => ''"x"''');
SELECT make('columns => ''{"valid": "x"}''');
SELECT make('columns => ''{"valid_from": 1}''');
SELECT make('columns => ''{"valid_from": null}''');
SELECT make('columns => ''{"valid_from": {"a": "b"}}''');
SELECT make('columns => ''{"valid_from": ["a"]}''');

-- words
SELECT make('mode => ''full''');
SELECT make('mode => ''Delta''');
SELECT make('on_delete => ''drop''');
SELECT make('on_late => ''never''');
SELECT make('on_duplicate => ''first''');
SELECT make('on_bad_row => ''skip''');
SELECT make('on_drift => ''alter''');
SELECT make('history => ''type4''');
SELECT make('surrogate_key_type => ''int''');
SELECT make('period_type => ''timestamp with time zone''');
SELECT make('open_end => ''2999-12-31''');
SELECT make('open_end => ''NULL''');

-- what does not go together
SELECT make('mode => ''snapshot'', sequence_by => ''{a}''');
SELECT make('change_log => false, on_late => ''rebuild''');
SELECT make('log_position => ''a''');
SELECT make('sequence_by => ''{doc}''');
SELECT make('sequence_by => ''{spot}''');

-- numbers and times
SELECT make('max_delete_fraction => -0.1');
SELECT make('max_delete_fraction => 1.1');
SELECT make('max_delete_fraction => ''NaN''');
SELECT make('max_delete_fraction => 0');
SELECT make('effective_at => ''a''');
SELECT make('effective_at => ''amount''');
SELECT make('time_zone => ''Mars/Olympus''');
SELECT make('time_zone => ''''');
SELECT make('time_zone => ''MSK''');
SELECT make('initial_valid_from => ''yesterday''');
SELECT make('initial_valid_from => ''-infinity''');
-- PostgreSQL 18 spells the setting in its hint otherwise
SELECT replace(make('initial_valid_from => ''1900-13-01'''), 'DateStyle', 'datestyle') AS make;
SELECT make('initial_valid_from => ''9999-12-31''');
-- without zone over a source with zone: no daylight saving
SELECT make('effective_at => ''at'', period_type => ''date'', time_zone => ''Europe/Berlin''');
SELECT make('effective_at => ''at'', period_type => ''timestamp'', time_zone => ''America/New_York''');
SELECT make('period_type => ''date'', time_zone => ''America/New_York''');
SELECT make('effective_at => ''at'', period_type => ''timestamp'', time_zone => ''Asia/Kolkata''');
SELECT make('effective_at => ''wall'', period_type => ''date'', time_zone => ''America/New_York''');

-- R14: keys
SELECT make('', key => '{doc}');
SELECT make('', key => '{spot}');
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN ranges AS int4range;
CREATE TABLE odd (ci text COLLATE ci, i interval, t time, arr int[], r ranges, n name, o oid);
SELECT try($$SELECT scd2.create_dimension('dim', 'odd', '{ci}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'odd', '{i}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'odd', '{t}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'odd', '{arr}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'odd', '{r}')$$);
SELECT try($$SELECT scd2.create_dimension('dim', 'odd', '{n}')$$);

-- R34: delete_when is one boolean expression
SELECT make('delete_when => ''''');
SELECT make('delete_when => ''op = ''');
SELECT make('delete_when => ''op''');
SELECT make('delete_when => ''amount + 1''');
SELECT make('delete_when => ''nothing = 1''');
SELECT make('delete_when => ''true) ; DROP TABLE x --''');
SELECT make('delete_when => ''true; DROP TABLE x''');
SELECT make('delete_when => ''true FROM pg_class''');
SELECT make('delete_when => ''true WHERE false''');
SELECT make('delete_when => ''true, false''');
SELECT make('delete_when => ''true AS x''');
SELECT make('delete_when => ''true ORDER BY 1''');
SELECT make('delete_when => ''true UNION SELECT true''');
SELECT make('delete_when => ''*''');
SELECT make('delete_when => ''(SELECT true)''');
SELECT make('delete_when => ''EXISTS (SELECT FROM pg_class)''');
SELECT make('delete_when => ''count(*) > 1''');
SELECT make('delete_when => ''row_number() OVER () > 1''');
SELECT make('delete_when => ''generate_series(1, 2) > 1''');
SELECT make('delete_when => ''src IS NULL''');
SELECT make('delete_when => ''ctid IS NULL''');
SELECT make('delete_when => ''$1''');
SELECT make('delete_when => ''op = $$D$$''');

-- later features: never silence
SELECT make('on_late => ''skip''');
SELECT make('on_late => ''rebuild''');
SELECT try($$SELECT scd2.alter_dimension('src', type1 => '{a}')$$);
SELECT try($$SELECT * FROM scd2.adopt_report('src', 'src', '{id}')$$);

-- hard case 13: existing relations that cannot be dimensions
CREATE TABLE p (id int) PARTITION BY LIST (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE parent (id int);
CREATE TABLE child () INHERITS (parent);
CREATE VIEW v AS SELECT 1 AS id;
CREATE MATERIALIZED VIEW mv AS SELECT 1 AS id;
CREATE TABLE plain (id int);
SELECT make('', name => 'p');
SELECT make('', name => 'p1');
SELECT make('', name => 'parent');
SELECT make('', name => 'child');
SELECT make('', name => 'v');
SELECT make('', name => 'mv');
SELECT make('', name => 'seq');
-- adoption comes later
SELECT make('', name => 'plain');

-- registered already; not registered
SELECT scd2.create_dimension('dim', 'src', '{id}');
SELECT make('');
SELECT try($$SELECT scd2.drop_dimension('src')$$);
SELECT try($$SELECT scd2.drop_dimension('dim_log')$$);
SELECT try($$SELECT scd2.drop_dimension(0::oid::regclass)$$);
SELECT try($$SELECT scd2.drop_dimension(NULL)$$);
SELECT try($$SELECT scd2.drop_dimension('dim', NULL)$$);
SELECT scd2.drop_dimension('dim');
SELECT try($$SELECT scd2.drop_dimension('dim')$$);
-- a kept table that does not fit any more
ALTER TABLE dim ALTER a TYPE varchar(20);
ALTER TABLE dim_log DROP b;
SELECT make('');
ALTER TABLE dim ALTER a TYPE text;
SELECT make('');

-- more columns than the statements of a load can have, in tables that can
DO $$
BEGIN
    EXECUTE format('CREATE TABLE wide (id text, at timestamptz, %s)',
                   (SELECT string_agg('a' || n || ' integer', ', ') FROM generate_series(1, 549) n));
END $$;
SELECT scd2.create_dimension('dim_wide', 'wide', '{id}', effective_at => 'at');
ALTER TABLE wide DROP a549;
SELECT scd2.create_dimension('dim_wide', 'wide', '{id}', effective_at => 'at');
INSERT INTO wide (id, at, a548) VALUES ('k', '2024-01-01', 1);
SELECT action, key, new -> 'a548' AS a548 FROM scd2.preview('dim_wide');
SELECT scd2.drop_dimension('dim_wide', keep_table => false);

-- nothing is left of what failed
SELECT table_name, state FROM scd2.registry_dimension WHERE schema_name = 'ce';
SET client_min_messages = warning;
DROP SCHEMA ce CASCADE;
SELECT table_name, state FROM scd2.registry_dimension WHERE schema_name = 'ce';
