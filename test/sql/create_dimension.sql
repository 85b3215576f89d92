-- create_dimension: what it makes, for every option (SPEC section 2, R1)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
CREATE SCHEMA cd;
SET search_path = cd;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE FUNCTION shape(rel regclass) RETURNS TABLE (name name, type text, not_null boolean) LANGUAGE sql AS $$
    SELECT attname, format_type(atttypid, atttypmod)
                    || CASE WHEN attcollation <> typcollation THEN ' COLLATE ' || attcollation::regcollation ELSE '' END
                    || CASE WHEN attidentity <> '' THEN ' identity ' || attidentity::text ELSE '' END, attnotnull
      FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
     WHERE attrelid = rel AND attnum > 0 AND NOT attisdropped ORDER BY attnum
$$;
CREATE FUNCTION indexes(rel regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT pg_get_indexdef(indexrelid) || CASE WHEN indisprimary THEN ' (primary)' ELSE '' END
      FROM pg_index WHERE indrelid = rel ORDER BY indisprimary DESC, 1
$$;

CREATE TABLE customer (
    tier text,
    customer_id integer,
    "Name" varchar(40),
    segment text COLLATE "C",
    region text,
    born date,
    changed_at timestamptz,
    op text,
    loaded timestamp
);

-- R1: order of columns; type2 NULL takes what nothing else names or uses
SELECT scd2.create_dimension('dim_customer',
    source => 'customer',
    business_key => '{customer_id}',
    type0 => '{born}',
    type1 => '{Name}',
    type3 => '{region}',
    type6 => '{tier}',
    effective_at => 'changed_at',
    delete_when => $$op = 'D'$$);
SELECT * FROM shape('dim_customer');
SELECT * FROM indexes('dim_customer');
SELECT reloptions FROM pg_class WHERE oid = 'dim_customer'::regclass;
SELECT * FROM shape('dim_customer_log');
SELECT * FROM indexes('dim_customer_log');
SELECT * FROM shape('dim_customer_current');
SELECT pg_get_function_arguments('dim_customer_as_of'::regproc), pg_get_function_result('dim_customer_as_of'::regproc);
SELECT * FROM dim_customer;
SELECT * FROM dim_customer_current;
SELECT * FROM dim_customer_as_of('2020-01-01');
SELECT * FROM dim_customer_as_of('-infinity');
SELECT obj_description('dim_customer'::regclass), obj_description('dim_customer_log'::regclass),
       obj_description('dim_customer_current'::regclass), obj_description('dim_customer_as_of'::regproc);

-- the views of section 11
SELECT dimension, source, mode, business_key, log, history FROM scd2.dimensions
 WHERE dimension = 'dim_customer'::regclass;
SELECT key, value FROM scd2.dimensions, jsonb_each(options)
 WHERE dimension = 'dim_customer'::regclass ORDER BY key COLLATE "C";
SELECT column_name, source_column, scd_type, data_type, role FROM scd2.dimension_columns
 WHERE dimension = 'dim_customer'::regclass;

-- R28: the function is inlined, and one key's version comes by the index
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM dim_customer_as_of('2020-01-01') WHERE customer_id = 5;
RESET enable_seqscan;

-- delete_when is parsed at registration, and kept with every name qualified
CREATE FUNCTION is_gone(text) RETURNS boolean LANGUAGE sql AS $$ SELECT $1 = 'D' $$;
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TABLE moods (id int, mood mood, op text, day date);
SELECT scd2.create_dimension('dim_moods', 'moods', '{id}',
    delete_when => $$is_gone(op) OR mood = 'sad' OR day < '2020-02-01'$$);
SELECT delete_when FROM scd2.registry_dimension WHERE schema_name = 'cd' AND table_name = 'dim_moods';
SELECT options -> 'type2' AS type2, options -> 'delete_when' AS delete_when
  FROM scd2.dimensions WHERE dimension = 'dim_moods'::regclass;

-- a composite key, sequences, no log
CREATE TABLE price (shop text, sku int, price numeric(10,2), seq int, seq2 text, at timestamp);
SELECT scd2.create_dimension('dim_price', 'price', '{shop,sku}', effective_at => 'at',
    sequence_by => '{seq,seq2}');
SELECT * FROM shape('dim_price');
SELECT * FROM shape('dim_price_log');
SELECT * FROM indexes('dim_price');
SELECT scd2.create_dimension('dim_price2', 'price', '{sku,shop}', effective_at => 'at',
    sequence_by => '{seq}', change_log => false, guard => true, unknown_member => false);
SELECT * FROM shape('dim_price2');
SELECT * FROM indexes('dim_price2');
SELECT to_regclass('dim_price2_log');
SELECT * FROM dim_price2;
SELECT log FROM scd2.dimensions WHERE dimension = 'dim_price2'::regclass;

-- every shape-giving option at once
SELECT scd2.create_dimension('"Dim Odd"', 'customer', '{customer_id}',
    type2 => '{tier}', effective_at => 'loaded', on_delete => 'flag',
    surrogate_key => 'The Key', surrogate_key_type => 'uuid',
    period_type => 'date', open_end => 'null', initial_valid_from => '1900-01-01',
    time_zone => 'America/New_York',
    columns => '{"valid_from": "From", "valid_to": "to", "is_current": "now", "row_hash": null, "is_deleted": "gone"}');
SELECT * FROM shape('"Dim Odd"');
SELECT * FROM shape('"Dim Odd_log"');
SELECT * FROM "Dim Odd";
SELECT * FROM "Dim Odd_current";
-- the day in New York counts, and an open end is null
INSERT INTO "Dim Odd" VALUES (gen_random_uuid(), 1, 'a', '2024-01-01', '2024-02-01', false, false),
    (gen_random_uuid(), 1, 'b', '2024-02-01', NULL, true, false);
SELECT ts, tier FROM unnest('{2024-01-01 00:00-05, 2024-01-31 23:59-05, 2024-02-01 04:59+00, 2024-02-01 00:00-05, infinity}'::timestamptz[]) ts,
    "Dim Odd_as_of"(ts) ORDER BY ts;
SELECT "From", tier FROM "Dim Odd_current";

-- open_end and period_type
SELECT scd2.create_dimension('d1', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'changed_at',
    open_end => 'infinity', time_zone => 'Asia/Tokyo');
SELECT scd2.create_dimension('d2', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'changed_at',
    time_zone => 'Asia/Tokyo');
SELECT scd2.create_dimension('d3', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'loaded',
    period_type => 'timestamp', time_zone => 'Europe/Berlin');
SELECT scd2.create_dimension('d4', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'born',
    period_type => 'date', open_end => 'infinity');
SELECT valid_from, valid_to FROM d1;
SELECT valid_from, valid_to FROM d2;
SELECT valid_from, valid_to FROM d3;
SELECT valid_from, valid_to FROM d4;
INSERT INTO d3 VALUES (1, 1, 'a', NULL, '2024-01-01 12:00', '2024-01-01 13:00', false);
SELECT (SELECT count(*) FROM d3_as_of('2024-01-01 11:00+00')), (SELECT count(*) FROM d3_as_of('2024-01-01 11:59+00')),
       (SELECT count(*) FROM d3_as_of('2024-01-01 12:00+00')), (SELECT count(*) FROM d3_as_of('2024-01-01 10:59+00'));

-- R5: the log keeps the source's time where several of its times are one E
SELECT scd2.create_dimension('k1', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'changed_at',
    period_type => 'date');
SELECT scd2.create_dimension('k2', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'loaded',
    time_zone => 'America/New_York');
SELECT scd2.create_dimension('k3', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'loaded');
SELECT scd2.create_dimension('k4', 'customer', '{customer_id}', type2 => '{tier}', effective_at => 'loaded',
    period_type => 'date');
SELECT scd2.create_dimension('k5', 'customer', '{customer_id}', type2 => '{tier}', period_type => 'date');
SELECT scd2.create_dimension('k6', 'customer', '{customer_id}', type2 => '{tier}');
SELECT attrelid::regclass, format_type(atttypid, atttypmod) FROM pg_attribute
 WHERE attname = 'scd2_source_time' AND attrelid::regclass::text ~ '^k\d_log$' ORDER BY 1;

-- every key type (R14), domains too; columns of any type are tracked
CREATE DOMAIN d_key AS integer CHECK (VALUE > 0);
CREATE DOMAIN d_strict AS text NOT NULL;
CREATE TABLE keys (a smallint, b int, c bigint, d text, e varchar(5), f char(3), g boolean, h date, i timestamp,
    j timestamptz(3), k real, l double precision, m bytea, n numeric(5,2), o uuid, p mood, q d_key,
    v1 json, v2 xml, v3 point, v4 int[], v5 box, v6 int4range, v7 d_strict);
SELECT scd2.create_dimension('dim_keys', 'keys', '{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}', type2 => '{v1,v2,v3,v4,v5,v6}');
SELECT * FROM shape('dim_keys');
-- a domain that refuses null: in the dimension as in the source, in the log by its base type
SELECT scd2.create_dimension('dim_strict', 'keys', '{b}', type2 => '{v7}');
SELECT * FROM shape('dim_strict');
SELECT * FROM shape('dim_strict_log');
SELECT count(*) FROM dim_strict;

-- sources: a view, a materialized view, a partitioned, a foreign and a temporary table
CREATE VIEW v AS SELECT * FROM price;
CREATE MATERIALIZED VIEW mv AS SELECT * FROM price;
CREATE TABLE parts (id int, a text) PARTITION BY LIST (id);
CREATE TEMP TABLE temps (id int, a text);
SELECT scd2.create_dimension('s1', 'v', '{sku}', type2 => '{price}');
SELECT scd2.create_dimension('s2', 'mv', '{sku}', type2 => '{price}');
SELECT scd2.create_dimension('s3', 'parts', '{id}');
SELECT scd2.create_dimension('s4', 'temps', '{id}');
SELECT source_schema, source_name FROM scd2.registry_dimension WHERE schema_name = 'cd' AND table_name ~ '^s\d$' ORDER BY 2;

-- all policies are stored
SELECT scd2.create_dimension('p1', 'customer', '{customer_id}', mode => 'snapshot', on_delete => 'ignore', on_late => 'error',
    on_duplicate => 'latest', on_bad_row => 'error', on_drift => 'error', ignore_null_updates => true,
    max_delete_fraction => 0.25, history => 'inline');
SELECT key, value FROM scd2.dimensions, jsonb_each(options)
 WHERE dimension = 'p1'::regclass
   AND key IN ('mode', 'on_delete', 'on_late', 'on_duplicate', 'on_bad_row', 'on_drift', 'ignore_null_updates',
               'max_delete_fraction', 'history')
 ORDER BY key COLLATE "C";

-- names of 55 bytes are the longest that leave room for _current; mixed case, reserved and unicode names work
CREATE TABLE "Sélect" ("order" int, "from" text, "Ü" text, ts int);
SELECT scd2.create_dimension(repeat('x', 55), '"Sélect"', '{order}');
SELECT scd2.create_dimension('"' || repeat('é', 27) || '"', '"Sélect"', '{order}', type6 => '{Ü}', type3 => '{from}');
SELECT * FROM shape(format('%I', repeat('é', 27))::regclass);
-- a column called ts takes the parameter's name away
SELECT proargnames FROM pg_proc WHERE proname = repeat('x', 55) || '_as_of';

-- kept tables are taken up (R3)
INSERT INTO dim_customer (customer_sk, customer_id, "Name", valid_from, valid_to, is_current)
    VALUES (7, 1, 'Ann', '2020-01-01', '9999-12-31 UTC', true);
INSERT INTO dim_customer_log (customer_id, scd2_effective_at, scd2_deleted, scd2_run, scd2_recorded_at)
    VALUES (1, '2020-01-01', false, 1, '2020-01-02');
CREATE TABLE ids AS SELECT dimension_id, column_id, role, source_column FROM scd2.registry_column
    WHERE dimension_id = (SELECT id FROM scd2.registry_dimension WHERE schema_name = 'cd' AND table_name = 'dim_customer');
SELECT scd2.drop_dimension('dim_customer');
SELECT to_regclass('dim_customer'), to_regclass('dim_customer_log'), to_regclass('dim_customer_current'),
       to_regproc('dim_customer_as_of');
SELECT count(*) FROM scd2.dimensions WHERE dimension = 'dim_customer'::regclass;
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}',
    type0 => '{born}', type1 => '{Name}', type3 => '{region}', type6 => '{tier}',
    effective_at => 'changed_at', delete_when => $$op IN ('D', 'X')$$);
SELECT "Name", is_current FROM dim_customer_current;
SELECT scd2_id, customer_id FROM dim_customer_log;
SELECT * FROM indexes('dim_customer');
-- the columns keep their numbers, because log rows refer to them
SELECT count(*), count(*) FILTER (WHERE c.column_id = ids.column_id)
  FROM ids LEFT JOIN scd2.registry_column c USING (dimension_id, role)
 WHERE c.source_column IS NOT DISTINCT FROM ids.source_column;
-- by another definition its versions would be others
SELECT scd2.drop_dimension('dim_customer');
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}',
    type0 => '{born}', type2 => '{Name,segment,loaded}', type3 => '{region}', type6 => '{tier}',
    effective_at => 'changed_at');
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}');
-- the log goes on alone when the table is dropped
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}',
    type0 => '{born}', type1 => '{Name}', type3 => '{region}', type6 => '{tier}',
    effective_at => 'changed_at', delete_when => $$op IN ('D', 'X')$$);
SELECT scd2.drop_dimension('dim_customer', keep_table => false);
SELECT to_regclass('dim_customer'), to_regclass('dim_customer_log');
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}',
    type0 => '{born}', type1 => '{Name}', type3 => '{region}', type6 => '{tier}',
    effective_at => 'changed_at', delete_when => $$op IN ('D', 'X')$$);
TRUNCATE dim_customer_log;
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}',
    type0 => '{born}', type1 => '{Name}', type3 => '{region}', type6 => '{tier}',
    effective_at => 'changed_at', delete_when => $$op IN ('D', 'X')$$);
SELECT log FROM scd2.dimensions WHERE dimension = 'dim_customer'::regclass;
-- drop_dimension does not drop what others depend on
CREATE VIEW mine AS SELECT * FROM dim_customer_current;
SELECT scd2.drop_dimension('dim_customer');
SELECT count(*) FROM scd2.dimensions WHERE dimension = 'dim_customer'::regclass;

SET client_min_messages = warning;
DROP SCHEMA cd CASCADE;
SELECT count(*) FROM scd2.registry_dimension WHERE schema_name = 'cd';
