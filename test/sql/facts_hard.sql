-- Hard cases, for facts: 5, 6, 9, 10, 11, 12, 20, 21, 23, 33 (R4, R5, R29, R30, R34, R35)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'ISO, YMD';
CREATE SCHEMA fh;
SET search_path = fh;
CREATE TABLE src (id int, v text, at timestamptz);
SELECT scd2.create_dimension('dim', 'src', '{id}', effective_at => 'at');
INSERT INTO src VALUES (1, 'a', '2026-01-01 00:00Z'), (1, 'b', '2026-02-01 00:00Z'), (2, 'x', '2026-01-01 00:00Z');
CALL scd2.apply('dim');

-- 9: columns dropped before and after; 5: from DO, a function, a trigger, with others in one string, twice in a transaction
CREATE TABLE fact (gone text, n int, id int, also_gone text, ts timestamptz, sk bigint REFERENCES dim);
ALTER TABLE fact DROP gone;
INSERT INTO fact VALUES (1, 1, NULL, '2026-01-15 00:00Z'), (2, 1, NULL, '2026-02-15 00:00Z'), (3, 2, NULL, '2026-01-15 00:00Z');
SELECT scd2.register_fact('fact', 'dim', '{id}', 'ts', 'sk');
ALTER TABLE fact DROP also_gone, ADD more int DEFAULT 7;
CREATE VIEW seen AS SELECT n, v, d.valid_from AT TIME ZONE 'UTC' AS valid_from FROM fact LEFT JOIN dim d ON d.dim_sk = sk ORDER BY n;
DO $$BEGIN CALL scd2.resolve('fh.fact'); END$$;
SELECT * FROM seen;
CREATE FUNCTION resolve_all() RETURNS void LANGUAGE sql AS $$ CALL scd2.resolve('fh.fact', true) $$;
UPDATE fact SET sk = NULL; SELECT resolve_all(); SELECT count(*) FROM seen WHERE v IS NULL;
CREATE TABLE loaded (at timestamptz);
CREATE FUNCTION on_loaded() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN CALL scd2.resolve('fh.fact'); RETURN NULL; END$$;
CREATE TRIGGER loaded AFTER INSERT ON loaded EXECUTE FUNCTION on_loaded();
UPDATE fact SET sk = NULL;
BEGIN;
INSERT INTO loaded VALUES (now());
CALL scd2.resolve('fact');
TRUNCATE src; INSERT INTO src VALUES (1, 'late', '2026-01-10 00:00Z');
CALL scd2.apply('dim');
CALL scd2.undo('dim', scd2.last_run());
CALL scd2.apply('dim');
SELECT * FROM seen;
ROLLBACK;

-- 21, 23: rolled back to a savepoint, caught in an exception block, dropped and rolled back
BEGIN;
SAVEPOINT a;
SELECT scd2.unregister_fact('fact', 'sk');
ROLLBACK TO a;
SAVEPOINT b;
DROP TABLE fact CASCADE;
ROLLBACK TO b;
CALL scd2.resolve('fact');
DO $$BEGIN
    CALL scd2.apply('fh.dim');
    RAISE EXCEPTION 'no';
EXCEPTION WHEN OTHERS THEN RAISE WARNING '%, % facts', SQLERRM, (SELECT count(*) FROM fh.seen WHERE v IS NOT NULL); END$$;
SELECT * FROM seen;
CALL scd2.apply('dim');
SELECT * FROM seen;
COMMIT;
SELECT * FROM scd2.check('dim');

-- 20: READ ONLY
BEGIN READ ONLY;
SELECT * FROM scd2.check('dim');
SELECT count(*) FROM scd2.sql('dim') WHERE name = 're-key';
SELECT pg_current_xact_id_if_assigned() IS NULL AS none_assigned;
ROLLBACK;

-- 6: what a caller has in his search_path, and what is in the way
CREATE FUNCTION fh.equal(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR fh.= (LEFTARG = int, RIGHTARG = int, FUNCTION = fh.equal);
CREATE TEMP TABLE registry_fact (id int);
CREATE TEMP TABLE scd2_segments (id int);
SET search_path = pg_temp, fh, pg_catalog;
UPDATE fh.fact SET sk = NULL;
CALL scd2.resolve('fh.fact');
TRUNCATE fh.src; INSERT INTO fh.src VALUES (1, 'later', '2026-01-12 00:00Z');
CALL scd2.apply('fh.dim');
SET search_path = fh;
SELECT * FROM seen;
DROP TABLE pg_temp.registry_fact, pg_temp.scd2_segments;
DROP OPERATOR fh.= (int, int);

-- 33: the key widened in source and dimension, then in the fact: nothing changes
CREATE TABLE before AS SELECT n, sk, ctid AS tid FROM fact;
DROP VIEW seen, dim_current;
DROP FUNCTION dim_as_of;
ALTER TABLE src ALTER id TYPE bigint;
ALTER TABLE dim ALTER id TYPE bigint;
ALTER TABLE dim_log ALTER id TYPE bigint;
CALL scd2.rebuild_apply('dim');
CALL scd2.resolve('fact', recheck => true);
SELECT count(*) FROM fact JOIN before USING (n) WHERE fact.sk <> before.sk OR fact.ctid <> before.tid;
SELECT * FROM scd2.check('dim');
ALTER TABLE fact ALTER id TYPE bigint;
CALL scd2.resolve('fact', recheck => true);
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();

-- 10: times without zone are read as AT TIME ZONE does, whatever the session's zone; 11: times that the period cannot hold
CREATE TABLE local (id int, v text, at timestamptz);
INSERT INTO local SELECT 1, to_char(h, 'FM00'), timestamptz '2026-03-08 05:00Z' + h * interval '30 minutes' FROM generate_series(0, 9) h
UNION ALL SELECT 1, 'n' || to_char(h, 'FM00'), timestamptz '2026-11-01 04:00Z' + h * interval '30 minutes' FROM generate_series(0, 9) h;
SELECT scd2.create_dimension('dim_l', 'local', '{id}', effective_at => 'at', time_zone => 'America/New_York');
CALL scd2.apply('dim_l');
CREATE TABLE wall (n int GENERATED ALWAYS AS IDENTITY, id int DEFAULT 1, t timestamp, d date, t_sk bigint, d_sk bigint);
INSERT INTO wall (t) VALUES ('2026-03-08 01:45'), ('2026-03-08 02:30'), ('2026-03-08 03:30'), ('2026-11-01 00:45'), ('2026-11-01 01:30'), ('2026-11-01 02:10');
UPDATE wall SET d = t::date;
INSERT INTO wall (t, d) VALUES ('infinity', '5874897-12-31'), ('-infinity', 'infinity'), ('4713-01-01 BC', '4713-01-01 BC'), ('294276-12-31 23:59', '294277-01-01');
SELECT scd2.register_fact('wall', 'dim_l', '{id}', 't', 't_sk');
SELECT scd2.register_fact('wall', 'dim_l', '{id}', 'd', 'd_sk');
CALL scd2.resolve('wall');
SELECT w.t, a.v, a.v IS NOT DISTINCT FROM (SELECT v FROM dim_l x WHERE x.id = w.id AND x.valid_from <= w.t AT TIME ZONE 'America/New_York' AND x.valid_to > w.t AT TIME ZONE 'America/New_York') AS same,
       w.d, b.v FROM wall w LEFT JOIN dim_l a ON a.l_sk = t_sk LEFT JOIN dim_l b ON b.l_sk = d_sk WHERE n <= 6 ORDER BY n;
SELECT w.t, t_sk, w.d, d_sk FROM wall w WHERE n > 6 ORDER BY n;
SELECT * FROM scd2.check('dim_l');
TRUNCATE local; INSERT INTO local VALUES (1, 'zero', '2026-03-08 05:45Z'), (1, 'first', '0001-01-01 00:00Z'), (1, 'first of all', '4713-01-01 00:00Z BC');
SET timezone = 'America/New_York';
CALL scd2.apply('dim_l');
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT count(*) FROM scd2.check('dim_l');

-- 12: a fact's collation has no say; enums, domains and char(n) as keys
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE color AS ENUM ('red', 'green');
CREATE DOMAIN paint AS color;
CREATE TABLE things (name text, c color, code char(3), at timestamptz);
INSERT INTO things VALUES ('Ann', 'red', 'a', '2026-01-01'), ('ann', 'green', 'b', '2026-01-01');
SELECT scd2.create_dimension('dim_t', 'things', '{name,c,code}', effective_at => 'at');
CALL scd2.apply('dim_t');
CREATE TABLE fact_t (name varchar(10) COLLATE ci, c paint, code text, ts timestamptz, sk bigint);
INSERT INTO fact_t VALUES ('Ann', 'red', 'a', '2026-02-01'), ('ann', 'red', 'a', '2026-02-01'), ('ann', 'green', 'b', '2026-02-01');
SELECT scd2.register_fact('fact_t', 'dim_t', '{name,c,code}', 'ts', 'sk', infer => true);
CALL scd2.resolve('fact_t');
SELECT f.name, f.c, f.code, d.name, d.c, d.code FROM fact_t f LEFT JOIN dim_t d ON d.t_sk = f.sk ORDER BY f.name COLLATE "C", f.c;
TRUNCATE things; INSERT INTO things VALUES ('Ann', 'red', 'a', '2026-01-10'), ('ann', 'red', 'a', '2026-01-10'), ('ann', 'green', 'b', '2025-01-10');
CALL scd2.apply('dim_t');
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM scd2.check('dim_t');

SET client_min_messages = error;
DROP SCHEMA fh CASCADE;
