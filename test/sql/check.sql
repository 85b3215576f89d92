-- R32: scd2.check finds what scd2 never writes, and nothing else.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE SCHEMA chk;
SET search_path = chk;

CREATE TABLE stg (id integer, name text, city text, tier text, at timestamptz, op text);
SELECT scd2.create_dimension('dim', source => 'stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
                             effective_at => 'at', delete_when => 'op = ''D''');
INSERT INTO stg VALUES
    (1, 'Ada',  'Rome',  'gold',   '2026-01-01', NULL),
    (1, 'Ada',  'Paris', 'gold',   '2026-02-01', NULL),
    (1, 'Ada',  'Oslo',  'silver', '2026-03-01', NULL),
    (2, 'Bob',  'Rome',  NULL,     '2026-01-01', NULL),
    (2, 'Bob',  NULL,    NULL,     '2026-02-01', 'D'),
    (2, 'Bob',  'Rome',  NULL,     '2026-03-01', NULL),
    (3, 'Cyd',  'Bonn',  'gold',   '2026-01-01', NULL),
    (3, 'Cyd',  'Bonn',  'gold',   '2026-02-01', 'D');
CALL scd2.apply('dim');

-- clean: a delete gap (2), a key that is gone (3), the unknown member
SELECT id, city, valid_from, valid_to, is_current FROM dim ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim');
CALL scd2.assert_valid('dim');

-- Each corruption in a transaction of its own, rolled back.
PREPARE violations AS
    SELECT violation, key, surrogate_key, valid_from, detail FROM scd2.check('dim')
     ORDER BY key, valid_from, violation;

-- several_current, on the one that should not be; and is_current, since it has an end
BEGIN;
UPDATE dim SET is_current = true WHERE id = 1 AND city = 'Paris';
EXECUTE violations;
ROLLBACK;

-- two open versions: both current, the later one overlaps
BEGIN;
UPDATE dim SET is_current = true, valid_to = '9999-12-31' WHERE id = 1 AND city = 'Paris';
EXECUTE violations;
ROLLBACK;

-- is_current false on the open one; null; an end that open versions do not have
BEGIN;
UPDATE dim SET is_current = false WHERE id = 1 AND city = 'Oslo';
UPDATE dim SET valid_to = 'infinity' WHERE id = 2 AND valid_from = '2026-03-01';
EXECUTE violations;
ROLLBACK;
BEGIN;
ALTER TABLE dim ALTER is_current DROP NOT NULL, ALTER valid_to DROP NOT NULL;
UPDATE dim SET is_current = NULL WHERE id = 1 AND city = 'Oslo';
UPDATE dim SET valid_to = NULL WHERE id = 2 AND valid_from = '2026-03-01';
EXECUTE violations;
ROLLBACK;
-- past open_end counts as an end that no version may have
BEGIN;
UPDATE dim SET valid_to = '9999-12-31 00:00:01' WHERE id = 1 AND city = 'Oslo';
EXECUTE violations;
ROLLBACK;

-- overlap with the next, and with one after the next
BEGIN;
UPDATE dim SET valid_to = '2026-02-01 00:00:00.000001' WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET valid_to = '2026-03-02' WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;

-- gap: no delete at its start; a version lost in the middle, at the end
BEGIN;
UPDATE dim SET valid_to = '2026-01-15' WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;
BEGIN;
DELETE FROM dim WHERE id = 1 AND city = 'Paris';
EXECUTE violations;
ROLLBACK;
BEGIN;
DELETE FROM dim WHERE id = 1 AND city = 'Oslo';
EXECUTE violations;
ROLLBACK;
-- a legal gap that begins too early; the log's delete is gone
BEGIN;
UPDATE dim SET valid_to = '2026-01-31' WHERE id = 2 AND valid_from = '2026-01-01';
EXECUTE violations;
ROLLBACK;
BEGIN;
DELETE FROM dim_log WHERE scd2_deleted;
EXECUTE violations;
ROLLBACK;

-- empty, inverted: no overlap nor end of their own
BEGIN;
UPDATE dim SET valid_to = valid_from WHERE id = 1 AND city = 'Paris';
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET valid_to = '2025-01-01' WHERE id = 1 AND city = 'Paris';
EXECUTE violations;
ROLLBACK;
-- the first version of a key is empty, and current
BEGIN;
UPDATE dim SET valid_to = valid_from, is_current = true WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;

-- row_hash: of another city; cut short; null
BEGIN;
UPDATE dim SET city = 'Turin' WHERE id = 1 AND city = 'Rome';
UPDATE dim SET row_hash = substring(row_hash FOR 15) WHERE id = 1 AND city = 'Paris';
UPDATE dim SET row_hash = NULL WHERE id = 1 AND city = 'Oslo';
EXECUTE violations;
ROLLBACK;
-- it hashes types 2 and 6, and no other
BEGIN;
UPDATE dim SET name = 'Eve' WHERE id = 1;
EXECUTE violations;
UPDATE dim SET tier = NULL WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;

-- surrogate_key: another number; the start moved, and the key
BEGIN;
UPDATE dim SET dim_sk = 42 WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET valid_from = '2025-12-31' WHERE id = 1 AND city = 'Rome';
UPDATE dim SET id = 4 WHERE id = 3;
EXECUTE violations;
ROLLBACK;

-- the unknown member: gone, with an attribute, ended, moved,
-- with a key, and a null key that is not its
BEGIN;
DELETE FROM dim WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET current_tier = 'gold' WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET row_hash = '\x00' WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET valid_to = '2026-01-01' WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET valid_to = '2026-01-01', is_current = false WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET valid_from = '2026-01-01' WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET id = 9 WHERE dim_sk = -1;
EXECUTE violations;
ROLLBACK;
BEGIN;
UPDATE dim SET id = NULL WHERE id = 3;
EXECUTE violations;
ROLLBACK;
BEGIN;
ALTER TABLE dim DROP CONSTRAINT dim_pkey;
INSERT INTO dim (dim_sk, valid_from, valid_to, is_current) VALUES (-1, '-infinity', '9999-12-31', true);
EXECUTE violations;
ROLLBACK;

-- two versions that begin at one time
BEGIN;
DROP INDEX dim_id_valid_from_idx;
INSERT INTO dim SELECT 43, id, name, city, tier, current_tier, row_hash, valid_from, valid_to, is_current
  FROM dim WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;

-- what only a comparison with the log can tell is not found here
BEGIN;
UPDATE dim SET name = 'Eve', current_tier = 'iron' WHERE id = 1 AND city = 'Rome';
EXECUTE violations;
ROLLBACK;
EXECUTE violations;

-- assert_valid names the first
\set SHOW_CONTEXT never
BEGIN;
UPDATE dim SET is_current = true WHERE id = 1 AND city = 'Paris';
DO $$
DECLARE s text; m text; d text; h text;
BEGIN
    CALL scd2.assert_valid('chk.dim');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS s = RETURNED_SQLSTATE, m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    RAISE WARNING E'%: %\nDETAIL: %\nHINT: %', s, m, d, h;
END $$;
UPDATE dim SET row_hash = '\x' WHERE id IS NOT NULL;
DO $$
DECLARE s text; m text; d text; h text;
BEGIN
    CALL scd2.assert_valid('chk.dim');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS s = RETURNED_SQLSTATE, m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
    RAISE WARNING E'%: %\nDETAIL: %\nHINT: %', s, m, d, h;
END $$;
ROLLBACK;

-- not dimensions, and null
SELECT * FROM scd2.check('stg');
SELECT * FROM scd2.check(NULL);
SELECT * FROM scd2.sql(NULL);
CALL scd2.assert_valid('stg');
CALL scd2.assert_valid(NULL);

-- R28: in READ ONLY transactions, with no transaction id; R18's lock is not taken
BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT count(*) FROM scd2.check('dim');
CALL scd2.assert_valid('dim');
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
SELECT DISTINCT relation::regclass::text, mode FROM pg_locks
 WHERE pid = pg_backend_pid() AND mode <> 'AccessShareLock' AND locktype = 'relation';
ROLLBACK;

-- Whatever the session's settings are
BEGIN;
UPDATE dim SET dim_sk = 42 WHERE id = 1 AND city = 'Rome';
SET LOCAL timezone = 'Asia/Tokyo';
SET LOCAL datestyle = 'German';
SET LOCAL search_path = '';
SELECT * FROM scd2.check('chk.dim');
ROLLBACK;

-- R34: with the caller's rights, who needs SELECT on dimension and log
CREATE ROLE chk_reader;
GRANT USAGE ON SCHEMA chk TO chk_reader;
SET ROLE chk_reader;
SELECT * FROM scd2.check('dim');
RESET ROLE;
GRANT SELECT ON dim TO chk_reader;
SET ROLE chk_reader;
SELECT * FROM scd2.check('dim');
RESET ROLE;
GRANT SELECT ON dim_log TO chk_reader;
SET ROLE chk_reader;
SELECT * FROM scd2.check('dim');
CALL scd2.assert_valid('dim');
RESET ROLE;
-- row security would hide what is wrong: it raises
BEGIN;
ALTER TABLE dim ENABLE ROW LEVEL SECURITY;
CREATE POLICY higher ON dim USING (id > 1);
SET LOCAL ROLE chk_reader;
SELECT * FROM scd2.check('dim');
ROLLBACK;

-- Names and operators that shadow: nothing is looked up through search_path
BEGIN;
CREATE SCHEMA shadow;
CREATE FUNCTION shadow.never(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR shadow.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = shadow.never);
CREATE TEMP TABLE runs (id int);
CREATE TEMP TABLE scd2_gaps (id int);
SET LOCAL search_path = shadow, pg_catalog, chk;
SELECT * FROM scd2.check('chk.dim');
ROLLBACK;

-- Combinations of mode, period, open_end, SK and policies are clean, and a
-- wrong is_current is found in each.
CREATE TABLE src (k1 text, k2 numeric, a text, b integer, c date, d text, e integer, at timestamptz, gone boolean);
DO $$
DECLARE
    combination record;
    n integer;
    bad text;
    made integer := 0;
BEGIN
    PERFORM set_config('scd2.notice', 'off', true);
    FOR combination IN
        -- 11 divides none of the lists' lengths: a tenth of all, in which each
        -- value meets each
        SELECT c.* FROM (
            SELECT *, row_number() OVER () AS nth
              FROM unnest('{delta,snapshot}'::text[]) AS mode,
                   unnest('{timestamptz,timestamp,date}'::text[]) AS period_type,
                   unnest('{9999-12-31,infinity,"null"}'::text[]) AS open_end,
                   unnest('{close,flag,ignore}'::text[]) AS on_delete,
                   unnest('{bigint,uuid}'::text[]) AS surrogate_key_type,
                   unnest('{t,f}'::boolean[]) AS with_time,
                   unnest('{t,f}'::boolean[]) AS change_log) AS c
         WHERE c.nth % 11 = 0
    LOOP
        TRUNCATE chk.src;
        PERFORM scd2.create_dimension('chk.dim_c', source => 'chk.src', business_key => '{k1,k2}',
            type0 => '{b}', type1 => '{c}', type2 => '{a}', type3 => '{d}', type6 => '{e}',
            effective_at => CASE WHEN combination.with_time THEN 'at' END,
            delete_when => 'gone', mode => combination.mode, period_type => combination.period_type,
            open_end => combination.open_end, on_delete => combination.on_delete,
            surrogate_key_type => combination.surrogate_key_type, change_log => combination.change_log);
        FOR day IN 1 .. 4 LOOP
            TRUNCATE chk.src;
            INSERT INTO chk.src
                SELECT 'k' || k, k / 10.0, 'a' || (k * day) % 3, day, '2026-01-01', 'd' || (k + day) % 2, (k * day) % 4,
                       timestamptz '2026-01-01' + day * interval '1 day', k % 4 = day AND day > 1
                  FROM generate_series(1, 12) AS k
                 WHERE (k + day) % 5 > 0 OR combination.mode = 'delta';
            CALL scd2.apply('chk.dim_c', batch_time => timestamptz '2026-01-01 12:00+00' + day * interval '1 day');
        END LOOP;
        SELECT count(*), string_agg(v::text, E'\n') INTO n, bad FROM scd2.check('chk.dim_c') AS v;
        IF n > 0 THEN
            RAISE WARNING '%: %', combination, bad;
        END IF;
        UPDATE chk.dim_c SET is_current = NOT is_current
         WHERE ctid IN (SELECT min(ctid) FROM chk.dim_c WHERE k1 = 'k3' GROUP BY k1);
        SELECT count(*) INTO n FROM scd2.check('chk.dim_c') AS v WHERE violation = 'is_current';
        IF n <> 1 THEN
            RAISE WARNING '%: % found', combination, n;
        END IF;
        PERFORM scd2.drop_dimension('chk.dim_c', keep_table => false);
        DROP TABLE IF EXISTS chk.dim_c_log;
        made := made + 1;
    END LOOP;
    RAISE WARNING '% dimensions', made;
END $$;

-- R13: a key widened after registration is hashed as it was
CREATE TABLE wide (id smallint, a text, at timestamptz);
SELECT scd2.create_dimension('dim_wide', source => 'wide', business_key => '{id}', effective_at => 'at');
INSERT INTO wide VALUES (1, 'a', '2026-01-01'), (-7, 'b', '2026-01-01');
CALL scd2.apply('dim_wide');
BEGIN;
DROP VIEW dim_wide_current;
DROP FUNCTION dim_wide_as_of;
ALTER TABLE dim_wide ALTER id TYPE bigint;
SELECT * FROM scd2.check('dim_wide');
ROLLBACK;

-- Hidden columns of other kinds: no row_hash, other names, more attributes than a function takes
CREATE TABLE many (id integer, at timestamptz);
DO $$
BEGIN
    FOR i IN 1 .. 150 LOOP
        EXECUTE format('ALTER TABLE chk.many ADD a%s integer', i);
    END LOOP;
END $$;
SELECT scd2.create_dimension('dim_many', source => 'many', business_key => '{id}', effective_at => 'at');
INSERT INTO many (id, at, a1, a150) VALUES (1, '2026-01-01', 1, 150);
CALL scd2.apply('dim_many');
SELECT * FROM scd2.check('dim_many');
UPDATE dim_many SET a150 = 151 WHERE id = 1;
SELECT violation, key FROM scd2.check('dim_many');
CREATE TABLE odd (id integer, "Select" text, at date);
SELECT scd2.create_dimension('"Dim Odd"', source => 'odd', business_key => '{id}', type1 => '{Select}', effective_at => 'at', period_type => 'date',
                             columns => '{"row_hash": null, "valid_from": "from", "valid_to": "To", "is_current": "now"}');
INSERT INTO odd VALUES (1, 'a', '2026-01-01');
CALL scd2.apply('"Dim Odd"');
SELECT * FROM scd2.check('"Dim Odd"');
UPDATE "Dim Odd" SET now = false, "To" = '2026-02-01' WHERE id = 1;
SELECT * FROM scd2.check('"Dim Odd"');

SET client_min_messages = warning;
DROP SCHEMA chk CASCADE;
DROP ROLE chk_reader;
