-- Mode snapshot, in order: R5, R7, R8, R19, R20, scope and the delete guards.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY default
\set SHOW_CONTEXT never

CREATE SCHEMA sn;
SET search_path = sn;

CREATE FUNCTION counted() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(e.key || ' ' || e.value, ', ' ORDER BY e.key)
      FROM scd2.runs r, jsonb_each_text(to_jsonb(r)) AS e
     WHERE r.id = scd2.last_run() AND e.value <> '0'
       AND (e.key LIKE 'rows\_%' OR e.key LIKE 'keys\_%' OR e.key LIKE 'versions\_%')
$$;

-- ---------------------------------------------------------------------------
-- Absent keys are deletes; reappearance; unchanged rows
-- ---------------------------------------------------------------------------
CREATE TABLE s (id integer, country text, a text);
SELECT scd2.create_dimension('dim', source => 's', business_key => '{id}', mode => 'snapshot');
INSERT INTO s VALUES (1, 'FR', 'a'), (2, 'FR', 'a'), (3, 'DE', 'a'), (4, 'DE', 'a');
CALL scd2.apply('dim', batch_time => '2024-01-01');
SELECT counted();
CALL scd2.apply('dim', batch_time => '2024-01-02');
SELECT counted();
DELETE FROM s WHERE id = 2;
UPDATE s SET a = 'b' WHERE id = 3;
INSERT INTO s VALUES (5, 'IT', 'a');
CALL scd2.apply('dim', batch_time => '2024-01-03');
SELECT counted();
INSERT INTO s VALUES (2, 'FR', 'a');
CALL scd2.apply('dim', batch_time => '2024-01-04');
SELECT counted();
SELECT id, country, a, valid_from::date, valid_to::date, is_current FROM dim WHERE id IS NOT NULL ORDER BY id, valid_from;
-- unchanged rows are not logged, absences are
SELECT id, a, scd2_effective_at::date, scd2_deleted FROM dim_log ORDER BY scd2_id;
SELECT * FROM scd2.check('dim');
-- the same batch_time again, unchanged: nothing (R11)
CALL scd2.apply('dim', batch_time => '2024-01-04');
SELECT counted();

-- ---------------------------------------------------------------------------
-- scope: absent keys are deletes only where their open version satisfies it
-- ---------------------------------------------------------------------------
CREATE TABLE fr (LIKE s);
INSERT INTO fr VALUES (1, 'FR', 'a2'), (6, 'FR', 'a');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-05', scope => $$country = 'FR'$$);
SELECT counted();
SELECT scope FROM scd2.runs WHERE id = scd2.last_run();
SELECT id, country, a FROM dim_current ORDER BY id;
-- a scope that is null for a row keeps it; rows out of the scope are applied all the same
TRUNCATE fr;
INSERT INTO fr VALUES (6, 'FR', 'a'), (1, 'DE', 'moved');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-06', scope => $$CASE WHEN country = 'FR' THEN NULL ELSE id = 5 END$$);
SELECT counted();
SELECT id, country, a FROM dim_current ORDER BY id;
-- the columns are the dimension's, any expression over them goes, and names mean what the caller's path says
CREATE FUNCTION in_scope(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT $1 = 'DE'$$;
TRUNCATE fr;
INSERT INTO fr VALUES (3, 'DE', 'b');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-07', scope => $$in_scope(country) AND valid_from < '2025-01-01'$$);
SELECT id, country, a FROM dim_current ORDER BY id;
-- R34: one boolean expression over the row, never pasted
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => 'true) OR (true');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => 'id');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => 'nothing = 1');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => '');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => 'count(*) > 0');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => 'true; DROP TABLE sn.s');
CALL scd2.apply('dim', source => 'fr', batch_time => '2024-01-08', scope => 'EXISTS (SELECT FROM sn.s)');
SELECT * FROM scd2.check('dim');
-- scope is a snapshot's
SELECT scd2.create_dimension('delta', source => 's', business_key => '{id}');
CALL scd2.apply('delta', scope => 'true');

-- ---------------------------------------------------------------------------
-- Guards: an empty snapshot, and max_delete_fraction
-- ---------------------------------------------------------------------------
CREATE TABLE g (id integer, part integer, a text);
SELECT scd2.create_dimension('dim_g', source => 'g', business_key => '{id}', mode => 'snapshot', max_delete_fraction => 0.5);
-- empty over empty is fine
CALL scd2.apply('dim_g', batch_time => '2024-01-01');
SELECT counted();
INSERT INTO g SELECT i, i % 2, 'a' FROM generate_series(1, 8) AS i;
CALL scd2.apply('dim_g', batch_time => '2024-01-02');
TRUNCATE g;
CALL scd2.apply('dim_g', batch_time => '2024-01-03');
INSERT INTO g SELECT i, i % 2, 'a' FROM generate_series(1, 3) AS i;
CALL scd2.apply('dim_g', batch_time => '2024-01-03');
SELECT count(*) FROM dim_g_current;
-- exactly the share is not more than it
INSERT INTO g VALUES (4, 0, 'a');
CALL scd2.apply('dim_g', batch_time => '2024-01-03');
SELECT counted();
-- the share is of the open keys in scope: 1 of 2 is, 2 of 2 is not
DELETE FROM g WHERE id IN (2, 4);
CALL scd2.apply('dim_g', batch_time => '2024-01-04', scope => 'part = 0');
-- new keys do not water it down
INSERT INTO g SELECT i, 1, 'a' FROM generate_series(11, 30) AS i;
CALL scd2.apply('dim_g', batch_time => '2024-01-04', scope => 'part = 0');
INSERT INTO g VALUES (2, 0, 'a');
CALL scd2.apply('dim_g', batch_time => '2024-01-04', scope => 'part = 0');
SELECT counted();
-- force
TRUNCATE g;
CALL scd2.apply('dim_g', batch_time => '2024-01-05', force => true);
SELECT counted();
-- nothing is open any more: empty is fine
CALL scd2.apply('dim_g', batch_time => '2024-01-06');
SELECT counted();
-- an empty snapshot of a part with nothing open in it is fine, else refused
INSERT INTO g VALUES (1, 1, 'a');
CALL scd2.apply('dim_g', batch_time => '2024-01-07');
TRUNCATE g;
CALL scd2.apply('dim_g', batch_time => '2024-01-08', scope => 'part = 0');
SELECT counted();
CALL scd2.apply('dim_g', batch_time => '2024-01-08', scope => 'part = 1');
-- flagged keys are not open: they are no part of the guards
SELECT scd2.create_dimension('dim_gf', source => 'g', business_key => '{id}', mode => 'snapshot', on_delete => 'flag', max_delete_fraction => 0.5);
INSERT INTO g SELECT i, 0, 'a' FROM generate_series(1, 4) AS i;
CALL scd2.apply('dim_gf', batch_time => '2024-01-01');
DELETE FROM g WHERE id > 2;
CALL scd2.apply('dim_gf', batch_time => '2024-01-02');
DELETE FROM g WHERE id > 1;
CALL scd2.apply('dim_gf', batch_time => '2024-01-03');
SELECT counted();
TRUNCATE g;
CALL scd2.apply('dim_gf', batch_time => '2024-01-04', force => true);
CALL scd2.apply('dim_gf', batch_time => '2024-01-05');
SELECT counted();
SELECT * FROM scd2.check('dim_gf');
-- exactly the share, of which no floating point number is
SELECT scd2.create_dimension('dim_gx', source => 'g', business_key => '{id}', mode => 'snapshot', max_delete_fraction => 0.29);
INSERT INTO g SELECT i, 0, 'a' FROM generate_series(1, 100) AS i;
CALL scd2.apply('dim_gx', batch_time => '2024-01-01');
DELETE FROM g WHERE id <= 30;
CALL scd2.apply('dim_gx', batch_time => '2024-01-02');
INSERT INTO g VALUES (30, 0, 'a');
CALL scd2.apply('dim_gx', batch_time => '2024-01-02');
SELECT counted();

-- ---------------------------------------------------------------------------
-- A key twice in a snapshot: identical rows are one; different ones are bad
-- rows, in whichever order, even if one equals the current version
-- ---------------------------------------------------------------------------
CREATE TABLE t (id integer, a text);
SELECT scd2.create_dimension('dim_t', source => 't', business_key => '{id}', mode => 'snapshot');
INSERT INTO t VALUES (1, 'a'), (2, 'a');
CALL scd2.apply('dim_t', batch_time => '2024-01-01');
INSERT INTO t VALUES (1, 'a'), (3, 'new'), (3, 'new');
CALL scd2.apply('dim_t', batch_time => '2024-01-02');
SELECT counted();
TRUNCATE t; INSERT INTO t VALUES (1, 'a'), (1, 'b'), (2, 'a'), (3, 'new');
CALL scd2.apply('dim_t', batch_time => '2024-01-03');
TRUNCATE t; INSERT INTO t VALUES (1, 'b'), (1, 'a'), (2, 'a'), (3, 'new');
CALL scd2.apply('dim_t', batch_time => '2024-01-03');
TRUNCATE t; INSERT INTO t VALUES (1, 'a'), (1, 'a'), (1, 'b'), (2, 'a'), (3, 'new');
CALL scd2.apply('dim_t', batch_time => '2024-01-03');
TRUNCATE t; INSERT INTO t VALUES (1, 'b'), (1, 'c'), (2, 'a'), (3, 'new'), (4, 'x'), (4, 'y');
CALL scd2.apply('dim_t', batch_time => '2024-01-03');
TRUNCATE t; INSERT INTO t VALUES (1, 'b'), (1, 'b'), (2, 'a'), (3, 'new');
CALL scd2.apply('dim_t', batch_time => '2024-01-03');
SELECT counted();
SELECT id, a, valid_from::date FROM dim_t_current ORDER BY id;
-- on_duplicate error: identical rows are one there, too
SELECT scd2.create_dimension('dim_te', source => 't', business_key => '{id}', mode => 'snapshot', on_duplicate => 'error');
CALL scd2.apply('dim_te', batch_time => '2024-01-03');
SELECT counted();

-- with effective_at, latest takes the newest, in whichever order
CREATE TABLE l (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_l', source => 'l', business_key => '{id}', mode => 'snapshot', effective_at => 'at', on_duplicate => 'latest');
INSERT INTO l VALUES (1, 'old', '2024-01-01'), (1, 'new', '2024-01-02'), (2, 'new', '2024-01-02'), (2, 'old', '2024-01-01'), (3, 'a', '2024-01-01');
CALL scd2.apply('dim_l', batch_time => '2024-01-03');
SELECT counted();
SELECT id, a, valid_from::date FROM dim_l_current ORDER BY id;
-- one equals the current version: the older, the newer
TRUNCATE l; INSERT INTO l VALUES (1, 'new', '2024-01-02'), (1, 'newer', '2024-01-04'), (2, 'newer', '2024-01-04'), (2, 'new', '2024-01-02'), (3, 'a', '2024-01-05'), (3, 'stale', '2024-01-02');
CALL scd2.apply('dim_l', batch_time => '2024-01-05');
SELECT counted();
SELECT id, a, valid_from::date FROM dim_l_current ORDER BY id;
TRUNCATE l; INSERT INTO l VALUES (1, 'newer', '2024-01-04'), (2, 'newer', '2024-01-04'), (3, 'stale', '2024-01-02'), (3, 'a', '2024-01-05');
CALL scd2.apply('dim_l', batch_time => '2024-01-06');
SELECT counted();
SELECT * FROM scd2.check('dim_l');

-- ---------------------------------------------------------------------------
-- R20: with effective_at a snapshot tells the present
-- ---------------------------------------------------------------------------
CREATE TABLE e (id integer, a text, at timestamptz, op text);
SELECT scd2.create_dimension('dim_e', source => 'e', business_key => '{id}', mode => 'snapshot', effective_at => 'at', type2 => '{a}', delete_when => 'op = ''D''');
INSERT INTO e VALUES (1, 'a', '2024-01-01'), (2, 'a', '2024-01-01'), (3, 'a', '2024-01-01'), (4, 'a', '2024-01-20'), (5, 'a', '2024-01-01');
CALL scd2.apply('dim_e', batch_time => '2024-01-10');
TRUNCATE e;
INSERT INTO e VALUES
    (1, 'b', '2024-01-11', ''),     -- after the newest logged E: at its own
    (2, 'b', '2024-01-01', ''),     -- not after it: at the batch's time
    (3, 'b', '2023-01-01', ''),     -- the same
    (4, 'a', '2024-02-01', ''),     -- a newer time alone is no change: not logged
    (5, 'zz', '2024-01-05', 'D'),   -- deleted at its own time
    (6, NULL, '2024-01-05', 'D');   -- never seen
CALL scd2.apply('dim_e', batch_time => '2024-01-12');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_e WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT id, a, scd2_effective_at::date, scd2_deleted FROM dim_e_log WHERE scd2_run = scd2.last_run() ORDER BY id;
-- absent: at the batch's time; hard case 25: it comes back with its old time
TRUNCATE e;
INSERT INTO e VALUES (1, 'b', '2024-01-11'), (3, 'b', '2023-01-01'), (4, 'a', '2024-02-01');
CALL scd2.apply('dim_e', batch_time => '2024-01-13');
SELECT counted();
INSERT INTO e VALUES (2, 'b', '2024-01-01'), (5, 'a', '2024-01-01');
CALL scd2.apply('dim_e', batch_time => '2024-01-14');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_e WHERE id IN (2, 5) ORDER BY id, valid_from;
-- a delete with an old time counts at the batch's
TRUNCATE e;
INSERT INTO e VALUES (1, 'b', '2024-01-11'), (3, 'b', '2023-01-01'), (4, 'a', '2024-02-01'), (2, 'b', '2024-01-01');
INSERT INTO e VALUES (5, NULL, '2024-01-02', 'D');
CALL scd2.apply('dim_e', batch_time => '2024-01-15');
SELECT counted();
SELECT a, valid_from::date, valid_to::date FROM dim_e WHERE id = 5 ORDER BY valid_from;
SELECT * FROM scd2.check('dim_e');
-- a batch_time before the last run's is an error, whatever it brings
CALL scd2.apply('dim_e', batch_time => '2024-01-14');
CALL scd2.apply('dim_e', batch_time => '2024-01-15');
SELECT counted();

-- ---------------------------------------------------------------------------
-- on_delete
-- ---------------------------------------------------------------------------
CREATE TABLE d (id integer, a text, n text);
INSERT INTO d VALUES (1, 'a', 'x'), (2, 'a', 'x');
SELECT scd2.create_dimension('d_flag',   source => 'd', business_key => '{id}', type1 => '{n}', mode => 'snapshot', on_delete => 'flag');
SELECT scd2.create_dimension('d_ignore', source => 'd', business_key => '{id}', type1 => '{n}', mode => 'snapshot', on_delete => 'ignore');
SELECT scd2.create_dimension('d_error',  source => 'd', business_key => '{id}', type1 => '{n}', mode => 'snapshot', on_delete => 'error');
CALL scd2.apply('d_flag', batch_time => '2024-01-01');
CALL scd2.apply('d_ignore', batch_time => '2024-01-01');
CALL scd2.apply('d_error', batch_time => '2024-01-01');
DELETE FROM d WHERE id = 2;
CALL scd2.apply('d_flag', batch_time => '2024-01-02');
SELECT counted();
-- flagged once, not at every snapshot
CALL scd2.apply('d_flag', batch_time => '2024-01-03');
SELECT counted();
CALL scd2.apply('d_ignore', batch_time => '2024-01-02');
SELECT counted();
CALL scd2.apply('d_error', batch_time => '2024-01-02');
INSERT INTO d VALUES (2, 'a', 'y');
CALL scd2.apply('d_flag', batch_time => '2024-01-04');
SELECT counted();
SELECT id, a, n, valid_from::date, valid_to::date, is_current, is_deleted FROM d_flag WHERE id IS NOT NULL ORDER BY id, valid_from;
-- as of a time at which it was deleted, it shows
SELECT id, is_deleted FROM d_flag_as_of('2024-01-02') ORDER BY id;
CALL scd2.apply('d_ignore', batch_time => '2024-01-03');
SELECT counted();
SELECT id, a, n, valid_from::date, valid_to::date FROM d_ignore WHERE id IS NOT NULL ORDER BY id, valid_from;
CALL scd2.apply('d_error', batch_time => '2024-01-03');
SELECT counted();
SELECT v.* FROM unnest('{d_flag,d_ignore,d_error}'::regclass[]) AS dim, scd2.check(dim) AS v;

-- ---------------------------------------------------------------------------
-- types 0, 1, 3 and 6; type 0 that drifts; and without a log
-- ---------------------------------------------------------------------------
CREATE TABLE y (id integer, t0 text, t1 text, t2 text, t3 text, t6 text);
SELECT scd2.create_dimension('dim_y', source => 'y', business_key => '{id}', mode => 'snapshot', type0 => '{t0}', type1 => '{t1}', type3 => '{t3}', type6 => '{t6}');
SELECT scd2.create_dimension('dim_yn', source => 'y', business_key => '{id}', mode => 'snapshot', type0 => '{t0}', type1 => '{t1}', type3 => '{t3}', type6 => '{t6}', change_log => false);
DO $$
DECLARE
    change text;
    day integer := 0;
BEGIN
    FOREACH change IN ARRAY ARRAY['', 't0 = ''b''', '', 't0 = ''a''', 't1 = ''b''', 't3 = ''b''', 't0 = ''c'', t6 = ''b''', 't2 = ''b''', 't2 = NULL, t1 = NULL', ''] LOOP
        day := day + 1;
        IF day = 1 THEN
            INSERT INTO sn.y VALUES (1, 'a', 'a', 'a', 'a', 'a'), (2, NULL, NULL, NULL, NULL, NULL);
        ELSIF change <> '' THEN
            EXECUTE 'UPDATE sn.y SET ' || change || ' WHERE id = 1';
        END IF;
        CALL scd2.apply('sn.dim_y', batch_time => timestamptz '2024-01-01' + day * interval '1 day');
        RAISE WARNING '%, %: %', day, change, sn.counted();
        CALL scd2.apply('sn.dim_yn', batch_time => timestamptz '2024-01-01' + day * interval '1 day');
    END LOOP;
END $$;
SELECT id, t0, t1, t2, t3, previous_t3, t6, current_t6, valid_from::date, valid_to::date FROM dim_y WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM dim_y EXCEPT ALL SELECT * FROM dim_yn;
SELECT * FROM dim_yn EXCEPT ALL SELECT * FROM dim_y;
SELECT id, t0, t1, t2, t3, t6, scd2_effective_at::date FROM dim_y_log WHERE id = 1 ORDER BY scd2_id;
SELECT v.* FROM unnest('{dim_y,dim_yn}'::regclass[]) AS dim, scd2.check(dim) AS v;
-- without a log: gone and back
DELETE FROM y WHERE id = 1;
CALL scd2.apply('dim_yn', batch_time => '2024-02-01');
INSERT INTO y VALUES (1, 'x', 'x', 'x', 'x', 'x');
CALL scd2.apply('dim_yn', batch_time => '2024-02-02');
SELECT id, t0, t1, t2, t3, previous_t3, t6, current_t6, valid_from::date, valid_to::date FROM dim_yn WHERE id = 1 ORDER BY id, valid_from;

-- ---------------------------------------------------------------------------
-- ignore_null_updates
-- ---------------------------------------------------------------------------
CREATE TABLE u (id integer, a text, b text);
SELECT scd2.create_dimension('dim_u', source => 'u', business_key => '{id}', type1 => '{b}', mode => 'snapshot', ignore_null_updates => true);
INSERT INTO u VALUES (1, 'a', 'a'), (2, NULL, 'a');
CALL scd2.apply('dim_u', batch_time => '2024-01-01');
UPDATE u SET a = NULL, b = NULL WHERE id = 1;
CALL scd2.apply('dim_u', batch_time => '2024-01-02');
SELECT counted();
UPDATE u SET b = 'b' WHERE id = 1;
UPDATE u SET a = 'b', b = NULL WHERE id = 2;
CALL scd2.apply('dim_u', batch_time => '2024-01-03');
SELECT counted();
SELECT id, a, b, valid_from::date, valid_to::date FROM dim_u WHERE id IS NOT NULL ORDER BY id, valid_from;
-- a delete starts afresh
DELETE FROM u WHERE id = 1;
CALL scd2.apply('dim_u', batch_time => '2024-01-04');
INSERT INTO u VALUES (1, NULL, NULL);
CALL scd2.apply('dim_u', batch_time => '2024-01-05');
SELECT id, a, b, valid_from::date, valid_to::date FROM dim_u WHERE id = 1 ORDER BY valid_from;
-- two rows of a key that are the same only once null is filled are different
INSERT INTO u VALUES (2, 'b', 'a');
CALL scd2.apply('dim_u', batch_time => '2024-01-06');
SELECT * FROM scd2.check('dim_u');

-- ---------------------------------------------------------------------------
-- Memory: the set of current versions in partitions on disk
-- ---------------------------------------------------------------------------
CREATE TABLE big (k text, a text, b integer);
SELECT scd2.create_dimension('dim_big', source => 'big', business_key => '{k}', mode => 'snapshot');
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
INSERT INTO big SELECT 'k' || i, repeat('x', i % 50), i FROM generate_series(1, 20000) AS i;
CALL scd2.apply('dim_big', batch_time => '2024-01-01');
UPDATE big SET b = b + 1 WHERE b % 100 = 0;
DELETE FROM big WHERE b % 101 = 7;
INSERT INTO big SELECT 'n' || i, 'n', i FROM generate_series(1, 500) AS i;
CALL scd2.apply('dim_big', batch_time => '2024-01-02');
SELECT counted();
SELECT k, a, b FROM big EXCEPT ALL SELECT k, a, b FROM dim_big_current;
SELECT k, a, b FROM dim_big_current EXCEPT ALL SELECT k, a, b FROM big;
-- a key twice, with other keys in between, in another order
INSERT INTO big VALUES ('k5', 'other', 0), ('n5', 'n', 5);
CALL scd2.apply('dim_big', batch_time => '2024-01-03');
DELETE FROM big WHERE a = 'other';
CALL scd2.apply('dim_big', batch_time => '2024-01-03');
SELECT counted();
SELECT * FROM scd2.check('dim_big');
RESET work_mem;
RESET hash_mem_multiplier;

-- ---------------------------------------------------------------------------
-- Refused: sequence_by in mode snapshot
-- ---------------------------------------------------------------------------
SELECT scd2.create_dimension('dim_no', source => 't', business_key => '{id}', mode => 'snapshot', sequence_by => '{a}');

-- R5: a row is compared with the last state, "not sent" filled, in type 0 columns
-- too: the third snapshot says nothing new, the fourth does; after a delete null
-- is a value again
CREATE TABLE z (id integer, a text, b text);
SELECT scd2.create_dimension('dim_z', source => 'z', business_key => '{id}', mode => 'snapshot', type0 => '{a,b}', type2 => '{}', ignore_null_updates => true);
INSERT INTO z VALUES (1, 'x', 'y'), (2, 'x', 'y');
CALL scd2.apply('dim_z', batch_time => '2026-01-01');
UPDATE z SET a = NULL, b = 'z';
CALL scd2.apply('dim_z', batch_time => '2026-01-02');
UPDATE z SET a = 'x', b = NULL;
CALL scd2.apply('dim_z', batch_time => '2026-01-03');
UPDATE z SET a = 'q' WHERE id = 1;
DELETE FROM z WHERE id = 2;
CALL scd2.apply('dim_z', batch_time => '2026-01-04');
INSERT INTO z VALUES (2, NULL, 'z');
CALL scd2.apply('dim_z', batch_time => '2026-01-05');
UPDATE z SET a = 'x' WHERE id = 2;
CALL scd2.apply('dim_z', batch_time => '2026-01-06');
UPDATE z SET a = NULL WHERE id = 2;
CALL scd2.apply('dim_z', batch_time => '2026-01-07');
SELECT id, scd2_effective_at::date, scd2_deleted, a, b FROM dim_z_log ORDER BY scd2_id;

SET client_min_messages = warning;
DROP SCHEMA sn CASCADE;
