-- A damaged dimension heals while rows of other tables refer to its versions (R25, R30).
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET scd2.notice = off;
CREATE SCHEMA hl;
SET search_path = hl;

CREATE TABLE s (id integer, code text, seg text, name text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id,code}', type1 => '{name}', type2 => '{seg}',
                             effective_at => 'at', delete_when => 'gone', on_delete => 'flag');
INSERT INTO s VALUES (1, 'a', 'x', 'Ada', '2026-01-01', false), (1, 'a', 'y', 'Ada', '2026-01-10', false), (2, 'a', 'z', 'Bob', '2026-01-01', false),
                     (3, 'a', 'w', 'Cyd', '2026-01-05', false), (3, 'a', 'v', 'Cyd', '2026-01-10', false), (4, 'a', 'u', 'Dan', '2026-01-01', false);
CALL scd2.apply('dim_c');
CREATE TABLE truth AS SELECT * FROM dim_c;
CREATE TABLE fact (n integer, sk bigint REFERENCES dim_c ON DELETE CASCADE);
INSERT INTO fact SELECT row_number() OVER (ORDER BY id, code, valid_from), c_sk FROM dim_c;
CREATE TABLE facts AS SELECT * FROM fact;
CREATE VIEW differs AS
    (SELECT 'dim' AS what, d::text FROM (TABLE dim_c EXCEPT ALL TABLE truth) d) UNION ALL
    (SELECT 'truth', d::text FROM (TABLE truth EXCEPT ALL TABLE dim_c) d) UNION ALL
    (SELECT 'fact', d::text FROM (TABLE fact EXCEPT ALL TABLE facts) d) UNION ALL
    (SELECT 'facts', d::text FROM (TABLE facts EXCEPT ALL TABLE fact) d);
CREATE FUNCTION counted() RETURNS text LANGUAGE sql AS $$
    SELECT format('opened %s, closed %s, overwritten %s', versions_opened, versions_closed, rows_overwritten)
      FROM scd2.runs WHERE id = scd2.last_run()
$$;

-- another key, a later start, no key: the row is found by its surrogate key and mended where it lies
UPDATE dim_c SET id = 9 WHERE seg = 'x';
UPDATE dim_c SET valid_from = valid_from + interval '1 day', name = 'wrong' WHERE seg = 'z';
UPDATE dim_c SET code = NULL WHERE seg = 'v';
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
TABLE differs;
SELECT * FROM scd2.check('dim_c');
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
-- two versions that have each other's key, three in a circle
UPDATE dim_c SET id = 30 WHERE seg = 'v';
UPDATE dim_c SET id = 3, valid_from = '2026-01-10' WHERE seg = 'u';
UPDATE dim_c SET id = 4, valid_from = '2026-01-01' WHERE seg = 'v';
UPDATE dim_c SET id = 5 WHERE seg = 'x';
UPDATE dim_c SET id = 1, valid_from = '2026-01-01' WHERE seg = 'y';
UPDATE dim_c SET id = 1, valid_from = '2026-01-10' WHERE seg = 'w';
UPDATE dim_c SET id = 3, valid_from = '2026-01-05' WHERE seg = 'x';
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
TABLE differs;
-- rows to which nothing refers: with each other's surrogate keys, with one that is nobody's
DELETE FROM fact WHERE n BETWEEN 1 AND 3;
DELETE FROM facts WHERE n BETWEEN 1 AND 3;
UPDATE dim_c SET c_sk = 5 WHERE seg = 'x';
UPDATE dim_c SET c_sk = (SELECT c_sk FROM truth WHERE seg = 'x') WHERE seg = 'y';
UPDATE dim_c SET c_sk = (SELECT c_sk FROM truth WHERE seg = 'y') WHERE seg = 'x';
UPDATE dim_c SET c_sk = 7, valid_to = '2026-05-01', is_current = false WHERE seg = 'z';
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
TABLE differs;
-- one key alone
UPDATE dim_c SET valid_from = valid_from - interval '1 day' WHERE seg = 'w';
CALL scd2.rebuild_apply('dim_c', keys => '{{3,a}}');
SELECT counted();
TABLE differs;
-- an apply that meets such a row says what to do
TRUNCATE s;
INSERT INTO s VALUES (5, 'a', 't', 'Eli', '2026-02-01', false);
BEGIN;
CALL scd2.apply('dim_c');
UPDATE dim_c SET id = 9 WHERE seg = 't';
INSERT INTO s VALUES (5, 'a', 'r', 'Eli', '2026-01-20', false);
CALL scd2.apply('dim_c');
ROLLBACK;
-- a row that is there once too often goes, if nothing refers to it
INSERT INTO dim_c (c_sk, id, code, seg, valid_from, valid_to, is_current, is_deleted) VALUES (77, 1, 'a', 'stray', '2025-01-01', '2026-01-01', false, false);
INSERT INTO fact VALUES (77, 77);
CALL scd2.rebuild_apply('dim_c');
DELETE FROM fact WHERE n = 77;
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
TABLE differs;

-- R15: constraints of the owner's hold at every moment, whether versions are mended or go
ALTER TABLE dim_c ADD CHECK (valid_from < valid_to), ADD CHECK (is_current = (valid_to = '9999-12-31')),
    ADD EXCLUDE USING gist (int4range(id, id, '[]') WITH &&, tstzrange(valid_from, valid_to) WITH &&) WHERE (id IS NOT NULL);
CREATE UNIQUE INDEX ON dim_c (id) WHERE is_current;
UPDATE dim_c SET id = 9 WHERE seg = 'y';
UPDATE dim_c SET valid_from = '2025-12-01' WHERE seg = 'z';
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
TABLE differs;
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', 'y', 'Ada', '2026-01-07', false), (3, 'a', 'v', 'Cyd', '2026-01-07', false);
CALL scd2.apply('dim_c');
DELETE FROM fact WHERE sk = (SELECT c_sk FROM truth WHERE seg = 'v');
CALL scd2.apply('dim_c');
SELECT id, seg, valid_from::date, valid_to::date, is_current FROM dim_c WHERE id IN (1, 3) ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_c');
CALL scd2.undo('dim_c', scd2.last_run());
SELECT seg, valid_from::date, valid_to::date, is_current FROM dim_c EXCEPT ALL SELECT seg, valid_from::date, valid_to::date, is_current FROM truth;

-- the unknown member: with a key, with values, with another period, without a row that refers to it gone
ALTER TABLE dim_c DROP CONSTRAINT dim_c_int4range_tstzrange_excl;
DROP INDEX dim_c_id_idx;
CREATE TABLE other AS SELECT * FROM dim_c;
UPDATE dim_c SET id = 9 WHERE c_sk = -1;
SELECT violation, key, detail FROM scd2.check('dim_c') ORDER BY 1, 2;
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
UPDATE dim_c SET id = 9, code = 'a', seg = 'q' WHERE c_sk = -1;
SELECT violation, key, detail FROM scd2.check('dim_c') ORDER BY 1, 2;
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
UPDATE dim_c SET seg = 'q', name = 'q', row_hash = '\x00', is_deleted = true, valid_to = '2026-01-01', is_current = false WHERE c_sk = -1;
SELECT violation, key, detail FROM scd2.check('dim_c') ORDER BY 1, 2;
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
UPDATE dim_c SET is_deleted = true WHERE c_sk = -1;
SELECT violation, key, detail FROM scd2.check('dim_c') ORDER BY 1, 2;
UPDATE dim_c SET valid_from = '2026-01-01' WHERE c_sk = -1;
SELECT violation, key, detail FROM scd2.check('dim_c') ORDER BY 1, 2;
CALL scd2.rebuild_apply('dim_c', keys => '{{1,a}}');
SELECT counted();
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
DELETE FROM fact WHERE sk = -1;
DELETE FROM dim_c WHERE c_sk = -1;
SELECT * FROM scd2.check('dim_c');
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
SELECT * FROM scd2.check('dim_c');
SELECT * FROM scd2.diff('dim_c', 'other');
CALL scd2.rebuild_apply('dim_c');
SELECT counted();
-- without a row that refers to anything, with closed versions apart, with a uuid; where a domain refuses nulls there is none
CREATE TABLE u (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_u', source => 'u', business_key => '{id}', effective_at => 'at', surrogate_key_type => 'uuid', history => 'separate');
INSERT INTO u VALUES (1, 'a', '2026-01-01'), (1, 'b', '2026-01-02');
CALL scd2.apply('dim_u');
CREATE TABLE truth_u AS SELECT * FROM dim_u;
UPDATE dim_u SET id = 4, a = 'c' WHERE id IS NULL;
CALL scd2.rebuild_apply('dim_u');
WITH gone AS (DELETE FROM dim_u WHERE id IS NULL RETURNING *) INSERT INTO dim_u_history SELECT * FROM gone;
SELECT violation, key, detail FROM scd2.check('dim_u') ORDER BY 1, 2, 3;
CALL scd2.rebuild_apply('dim_u');
SELECT * FROM scd2.diff('dim_u', 'truth_u');
SELECT * FROM scd2.check('dim_u');
CREATE DOMAIN filled AS text NOT NULL;
CREATE DOMAIN long AS text CHECK (length(VALUE) > 2);
CREATE TABLE w (id integer, a filled, b long, at timestamptz);
SELECT scd2.create_dimension('dim_w', source => 'w', business_key => '{id}', effective_at => 'at');
SELECT * FROM scd2.check('dim_w');
CALL scd2.rebuild_apply('dim_w');
SELECT counted();
SELECT scd2.create_dimension('dim_v', source => 'w', business_key => '{id}', type2 => '{b}', effective_at => 'at');
DELETE FROM dim_v;
CALL scd2.rebuild_apply('dim_v');
SELECT counted(), count(*) FROM dim_v;

-- keys of another type, and an identifier that has to be quoted; a table whose key holds no null
CREATE TABLE t ("Id" uuid, "when" date, v json);
SELECT scd2.create_dimension('"Dim T"', source => 't', business_key => '{Id}', effective_at => 'when', surrogate_key_type => 'uuid',
                             surrogate_key => 'Key', period_type => 'date', open_end => 'null', unknown_member => false);
INSERT INTO t VALUES ('00000000-0000-0000-0000-000000000001', '2026-01-01', '{"a": 1}'), ('00000000-0000-0000-0000-000000000001', '2026-02-01', '{"a":2}');
CALL scd2.apply('"Dim T"');
CREATE TABLE truth_t AS SELECT * FROM "Dim T";
CREATE TABLE fact_t (k uuid REFERENCES "Dim T");
INSERT INTO fact_t SELECT "Key" FROM "Dim T";
UPDATE "Dim T" SET "Id" = '00000000-0000-0000-0000-00000000000f' WHERE valid_to IS NULL;
CALL scd2.rebuild_apply('"Dim T"');
SELECT * FROM scd2.diff('"Dim T"', 'truth_t');

-- R23: what is done where rows refer to the dimension can be read
SELECT name, statement FROM scd2.sql('dim_c') WHERE name ~ 'pair|doom|held|lock|remove|remake|take out' ORDER BY step;
-- R28, R30: and where a foreign key went since
DROP TABLE fact CASCADE;
SELECT name, statement FROM scd2.sql('dim_c') WHERE name ~ 'pair|doom|held|lock|remove|remake|take out' ORDER BY step;

SET client_min_messages = error;
DROP SCHEMA hl CASCADE;
