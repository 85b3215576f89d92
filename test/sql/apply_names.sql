-- Names (R34), and sources of every kind.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

-- a schema, tables and columns with every kind of character, words that SQL
-- reserves, and the names that generated SQL uses itself
CREATE SCHEMA "My ""odd"" Schema";
SET search_path = "My ""odd"" Schema";
CREATE TABLE "Source's ""Table""" (
    "Select" integer, "from" text, "Ünïcödé 数" text, "quote""d" text, "it's" text, "back\slash" text, "per%cent %s" text,
    "$1" text, tid text, ord text, e text, s1 text, k1 text, a1 text, d text, src text, scd2_tid text, c text, o text, v text, t text, l text, n text,
    w text, g text, deleted text, absent text, fp text, replay text, newest text, source_time text, o1 text, c1 text, "order" text, "user" text, ctid_ text,
    "AT" timestamptz, "Gone" boolean, "Seq" integer);
INSERT INTO "Source's ""Table""" ("Select", "from", "Ünïcödé 数", "quote""d", "it's", tid, e, k1, d, "user", "AT", "Gone", "Seq") VALUES
    (1, 'k', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', '2024-01-01', false, 1),
    (1, 'k', 'b', 'a', 'a', 'a', 'a', 'a', 'a', 'a', '2024-01-02', false, 1),
    (1, 'k', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', '2024-01-03', false, 1),
    (1, 'k', 'b', 'b', 'b', 'b', 'b', 'b', 'b', 'b', '2024-01-04', true, 1),
    (2, 'k', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a', '2024-01-01', false, 2);
SELECT scd2.create_dimension('"Dim ""Öne"" it''s"', source => '"Source''s ""Table"""', business_key => '{Select,from}',
    type0 => ARRAY['it''s', 'e'], type1 => ARRAY['quote"d', 'tid', 'd', 'per%cent %s'], type3 => ARRAY['Ünïcödé 数', 'k1'], type6 => ARRAY['user', 'back\slash', '$1'],
    effective_at => 'AT', sequence_by => '{Seq}', delete_when => '"Gone"', on_delete => 'flag',
    surrogate_key => 'S K', columns => '{"valid_from": "Valid From", "valid_to": "to", "is_current": "is", "row_hash": "#", "is_deleted": "Dele''ted"}');
CALL scd2.apply('"Dim ""Öne"" it''s"');
SELECT "Select", "from", "quote""d", "it's", tid, "user", "current_user", "Ünïcödé 数" AS u, "previous_Ünïcödé 数" AS prev, "Valid From"::date, "to"::date, "is", "Dele'ted"
  FROM "Dim ""Öne"" it's" WHERE "Select" IS NOT NULL ORDER BY 1, "Valid From";
SELECT * FROM scd2.check('"Dim ""Öne"" it''s"');
CALL scd2.apply('"Dim ""Öne"" it''s"');
SELECT rows_read, rows_replayed, dimension_name, source FROM scd2.runs WHERE id = scd2.last_run();
-- an overwrite of older versions, an error, a preview, the statements
UPDATE "Source's ""Table""" SET "AT" = '2024-01-05', "quote""d" = 'c', "Gone" = false WHERE "Select" = 2;
SELECT action, key, new -> 'quote"d' AS new FROM scd2.preview('"Dim ""Öne"" it''s"');
CALL scd2.apply('"Dim ""Öne"" it''s"');
SELECT "quote""d" FROM "Dim ""Öne"" it's" WHERE "Select" = 2;
UPDATE "Source's ""Table""" SET "AT" = NULL WHERE "Select" = 2;
\set VERBOSITY default
CALL scd2.apply('"Dim ""Öne"" it''s"');
\set VERBOSITY terse
SELECT count(*) > 5 AS shown FROM scd2.sql('"Dim ""Öne"" it''s"');
-- a snapshot with a scope over such names
SELECT scd2.create_dimension('"Snap Shot"', source => '"Source''s ""Table"""', business_key => '{"Ünïcödé 数"}', type2 => '{tid,"order","it''s"}', mode => 'snapshot', on_duplicate => 'error');
DELETE FROM "Source's ""Table""" WHERE "Select" = 1 AND "AT" <> '2024-01-04';
CALL scd2.apply('"Snap Shot"', batch_time => '2024-01-01');
DELETE FROM "Source's ""Table""" WHERE "Select" = 1;
CALL scd2.apply('"Snap Shot"', batch_time => '2024-01-02', scope => '"Ünïcödé 数" = ''nothing''');
SELECT "Ünïcödé 数" AS u FROM "Snap Shot_current" ORDER BY 1;
CALL scd2.apply('"Snap Shot"', batch_time => '2024-01-03', scope => '"Snap Shot"."Ünïcödé 数" = ''b'' AND "it''s" = ''b''');
SELECT "Ünïcödé 数" AS u FROM "Snap Shot_current" ORDER BY 1;
SELECT * FROM scd2.check('"Snap Shot"');

-- a key and attributes that are called as scd2's own relations are; the tables too
CREATE SCHEMA nm;
SET search_path = nm;
CREATE TABLE scd2_staged (scd2_open text, scd2_close text, scd2_at timestamptz);
CREATE TABLE scd2_logged AS TABLE scd2_staged;
CREATE TABLE scd2_close AS TABLE scd2_staged;
CREATE TABLE scd2_overwrite AS TABLE scd2_staged;
SELECT scd2.create_dimension('scd2_open', source => 'scd2_staged', business_key => '{scd2_open}', type1 => '{scd2_close}', effective_at => 'scd2_at', surrogate_key => 'sk');
INSERT INTO scd2_staged VALUES ('a', 'x', '2024-01-01'), ('a', 'y', '2024-01-02'), ('b', 'x', '2024-01-01');
CALL scd2.apply('scd2_open');
SELECT scd2_open, scd2_close, valid_from::date FROM scd2_open WHERE scd2_open IS NOT NULL ORDER BY 1;
SELECT * FROM scd2.check('scd2_open');
-- a source in pg_temp called as the registry's tables are, and functions that shadow (hard case 6)
CREATE TEMP TABLE pg_class (id integer, a text, at timestamptz);
CREATE TEMP TABLE registry_dimension (id integer);
CREATE TEMP TABLE dimensions (id integer);
CREATE FUNCTION nm.row_hash(VARIADIC "any") RETURNS bytea LANGUAGE internal AS 'aclitemout';
INSERT INTO pg_temp.pg_class VALUES (1, 'a', '2024-01-01');
SELECT scd2.create_dimension('nm.dim_t', source => 'pg_temp.pg_class', business_key => '{id}', effective_at => 'at');
SET search_path = pg_temp, nm, pg_catalog;
CALL scd2.apply('nm.dim_t');
SELECT id, a FROM nm.dim_t WHERE id IS NOT NULL;
SELECT * FROM scd2.check('nm.dim_t');
SET search_path = nm;

-- equality that a user puts before PostgreSQL's own
CREATE FUNCTION never(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false';
CREATE OPERATOR nm.= (LEFTARG = text, RIGHTARG = text, FUNCTION = never);
SET search_path = nm, pg_catalog;
INSERT INTO scd2_staged VALUES ('a', 'z', '2024-01-03');
CALL scd2.apply('nm.scd2_open');
SELECT scd2_open, scd2_close, valid_from::date FROM scd2_open WHERE scd2_open IS NOT NULL ORDER BY 1;
SET search_path = nm;

-- ---------------------------------------------------------------------------
-- Sources: table, view, materialized, partitioned, inherited and foreign table, in delta and snapshot
-- ---------------------------------------------------------------------------
CREATE TABLE base (id integer, a text, at timestamptz);
INSERT INTO base SELECT i, 'a' || i % 3, timestamptz '2024-01-01' + i * interval '1 hour' FROM generate_series(1, 100) AS i;
CREATE VIEW src_view AS SELECT b.id, b.a, b.at FROM base AS b JOIN (SELECT max(id) FROM base) AS m(id) ON b.id <= m.id ORDER BY b.id DESC;
CREATE MATERIALIZED VIEW src_matview AS TABLE base;
CREATE TABLE src_partitioned (at timestamptz, a text, id integer) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF src_partitioned FOR VALUES FROM (0) TO (50);
CREATE TABLE part_2 (dropped integer, id integer, at timestamptz, a text);
ALTER TABLE part_2 DROP dropped;
ALTER TABLE src_partitioned ATTACH PARTITION part_2 FOR VALUES FROM (50) TO (1000);
INSERT INTO src_partitioned SELECT at, a, id FROM base;
CREATE TABLE src_parent (id integer, a text, at timestamptz);
CREATE TABLE child (more text) INHERITS (src_parent);
INSERT INTO src_parent SELECT * FROM base WHERE id <= 30;
INSERT INTO child SELECT * FROM base WHERE id > 30;
-- columns dropped, and in another order (hard case 9)
CREATE TABLE src_reordered (x integer, at timestamptz, y integer, a text, id integer, z integer);
ALTER TABLE src_reordered DROP x, DROP y, DROP z;
INSERT INTO src_reordered (id, a, at) TABLE base;
CREATE UNLOGGED TABLE src_unlogged AS TABLE base;
CREATE TEMP TABLE src_temp AS TABLE base;
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw') AS has_fdw \gset
\if :has_fdw
CREATE EXTENSION postgres_fdw;
DO $$
BEGIN
    EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname %L, host %L, port %L)',
                   current_database(), split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'));
    CREATE USER MAPPING FOR CURRENT_USER SERVER loopback;
END $$;
CREATE FOREIGN TABLE src_foreign (id integer, a text, at timestamptz) SERVER loopback OPTIONS (schema_name 'nm', table_name 'base');
\else
CREATE VIEW src_foreign AS TABLE base;
\endif
DO $$
DECLARE
    source text;
    mode text;
    expected text;
    got text;
BEGIN
    FOREACH source IN ARRAY '{base,src_view,src_matview,src_partitioned,src_parent,src_reordered,src_unlogged,src_temp,src_foreign}'::text[] LOOP
        FOREACH mode IN ARRAY '{delta,snapshot}'::text[] LOOP
            PERFORM scd2.create_dimension('nm.dim_src', source => source::regclass, business_key => '{id}', effective_at => 'at', mode => mode);
            CALL scd2.apply('nm.dim_src', batch_time => '2024-02-01');
            CALL scd2.apply('nm.dim_src', batch_time => '2024-02-02');
            SELECT format('%s %s', count(*), md5(string_agg(concat(id, a, valid_from, is_current, src_sk), ',' ORDER BY id)))
                || (SELECT format(' %s', rows_replayed + rows_unchanged) FROM scd2.runs WHERE id = scd2.last_run())
                || (SELECT format(' %s', count(*)) FROM scd2.check('nm.dim_src'))
              INTO got FROM nm.dim_src_current;
            IF expected IS NULL THEN
                expected := got;
                RAISE WARNING '%', split_part(got, ' ', 1);
            ELSIF got <> expected THEN
                RAISE WARNING '% %: % instead of %', source, mode, got, expected;
            END IF;
            PERFORM scd2.drop_dimension('nm.dim_src', keep_table => false);
            DROP TABLE nm.dim_src_log;
        END LOOP;
    END LOOP;
END $$;

-- dropped columns in dimension and log, too (hard case 9)
CREATE TABLE h (id integer, a text, b text, at timestamptz);
SELECT scd2.create_dimension('dim_h', source => 'h', business_key => '{id}', type6 => '{b}', effective_at => 'at');
INSERT INTO h VALUES (1, 'a', 'a', '2024-01-01');
CALL scd2.apply('dim_h');
ALTER TABLE dim_h ADD extra integer DEFAULT 7, ADD more text;
ALTER TABLE dim_h DROP more;
ALTER TABLE dim_h_log ADD extra integer;
ALTER TABLE dim_h_log DROP extra;
INSERT INTO h VALUES (1, 'b', 'b', '2024-01-02');
CALL scd2.apply('dim_h');
ALTER TABLE dim_h DROP extra;
INSERT INTO h VALUES (1, 'b', 'c', '2024-01-03');
CALL scd2.apply('dim_h');
SELECT id, a, b, current_b, valid_from::date, valid_to::date FROM dim_h WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM scd2.check('dim_h');

-- columns called as those that scd2 puts beside the dimension's for a scope
CREATE TABLE i (scd2_tid integer, d integer, a integer, s integer, at timestamptz);
SELECT scd2.create_dimension('dim_i', source => 'i', business_key => '{d}', effective_at => 'at', mode => 'snapshot');
INSERT INTO i SELECT n, n, n, n, '2024-01-01' FROM generate_series(1, 4) n;
CALL scd2.apply('dim_i');
DELETE FROM i WHERE d > 1;
CALL scd2.apply('dim_i', batch_time => now() + interval '1 day', scope => 'scd2_tid > 2 AND d > 2 AND dim_i.a = s');
SELECT d, is_current FROM dim_i WHERE d IS NOT NULL ORDER BY d;

DROP SCHEMA nm CASCADE;
DROP SCHEMA "My ""odd"" Schema" CASCADE;
DROP EXTENSION IF EXISTS postgres_fdw CASCADE;
