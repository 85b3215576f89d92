-- rebuild, rebuild_apply, undo (R10, R24, R25, R27, R28; hard cases 28, 29)
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA rb;
SET search_path = rb;
SET scd2.notice = off;

CREATE TABLE s (id integer, code text, seg text, tier numeric, name text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id,code}', type1 => '{name}', type3 => '{tier}', type2 => '{seg}',
                             effective_at => 'at', delete_when => 'gone', on_delete => 'flag');
INSERT INTO s VALUES (1, 'a', 'x', 1, 'Ada', '2026-01-01', false), (1, 'a', 'y', 2.0, 'Eve', '2026-01-10', false),
                     (1, 'a', NULL, NULL, NULL, '2026-01-20', true), (1, 'b', 'z', 3, 'Bob', '2026-01-05', false);
CALL scd2.apply('dim_c');
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', 'w', 1, 'Ann', '2026-01-05', false), (2, 'a', 'v', 9, 'New', '2026-01-05', false);
CALL scd2.apply('dim_c');

-- R24: the chain folded from the log; the unknown member is in no rebuild
SELECT * FROM scd2.rebuild(NULL::dim_c) EXCEPT ALL SELECT * FROM dim_c;
SELECT dim_c_current.id FROM dim_c_current WHERE id IS NULL;
SELECT id, code, seg, valid_from::date FROM dim_c EXCEPT ALL SELECT id, code, seg, valid_from::date FROM scd2.rebuild(NULL::dim_c);
-- some keys; a key twice is one, a key that is not there none
SELECT id, code, seg, tier, previous_tier, name, valid_from::date, valid_to::date, is_current, is_deleted
  FROM scd2.rebuild(NULL::dim_c, keys => '{{1,a},{1,a},{7,q}}') ORDER BY valid_from;
SELECT count(*) FROM scd2.rebuild(NULL::dim_c, keys => '{}');
-- as it was known
SELECT id, code, seg, tier, previous_tier, name, valid_from::date, valid_to::date
  FROM scd2.rebuild(NULL::dim_c, known_at => (SELECT min(recorded_at) FROM scd2.runs WHERE dimension = 'dim_c'::regclass)) ORDER BY 1, 2, valid_from;
SELECT count(*) FROM scd2.rebuild(NULL::dim_c, known_at => '2000-01-01');
-- R28: in a READ ONLY transaction, without a transaction id
BEGIN READ ONLY;
SELECT count(*) FROM scd2.rebuild(NULL::dim_c);
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;
-- what does not fit
SELECT * FROM scd2.rebuild(NULL::dim_c, keys => '{1,2}');
SELECT * FROM scd2.rebuild(NULL::dim_c, keys => '{{1,NULL}}');
SELECT * FROM scd2.rebuild(NULL::dim_c, keys => '{{x,a}}');
SELECT * FROM scd2.rebuild(1);
CREATE DOMAIN dim_c_domain AS dim_c;
SELECT * FROM scd2.rebuild(NULL::dim_c_domain);
SELECT * FROM scd2.rebuild(NULL::s);
SELECT scd2.create_dimension('bare', source => 's', business_key => '{id,code}', effective_at => 'at', change_log => false);
SELECT * FROM scd2.rebuild(NULL::bare);
CALL scd2.rebuild_apply('bare');
CALL scd2.undo('bare', 1);

-- hard case 9: columns dropped and added, in dimension and log
ALTER TABLE dim_c ADD COLUMN extra integer DEFAULT 7, ADD COLUMN dead text;
ALTER TABLE dim_c DROP COLUMN dead;
ALTER TABLE dim_c_log ADD COLUMN dead text;
ALTER TABLE dim_c_log DROP COLUMN dead;
SELECT count(*), count(extra) FROM scd2.rebuild(NULL::dim_c);

-- ---------------------------------------------------------------------------
-- R25: a damaged dimension heals, and only what differs is written
-- ---------------------------------------------------------------------------
CREATE TABLE truth AS SELECT * FROM dim_c;
CALL scd2.rebuild_apply('dim_c');
SELECT action, versions_opened, versions_closed, rows_overwritten FROM scd2.runs WHERE id = scd2.last_run();
SELECT count(*) FROM dim_c d JOIN truth t USING (c_sk) WHERE d.xmin::text::bigint >= txid_current() - 1;
UPDATE dim_c SET seg = 'wrong' WHERE id = 2;
UPDATE dim_c SET name = 'wrong', previous_tier = 77 WHERE id = 1 AND code = 'b';
UPDATE dim_c SET row_hash = '\x00' WHERE id = 1 AND seg = 'x';
UPDATE dim_c SET valid_to = '2027-01-01', is_current = true WHERE id = 1 AND seg = 'w';
DELETE FROM dim_c WHERE id = 1 AND code = 'a' AND is_deleted;
INSERT INTO dim_c (c_sk, id, code, seg, valid_from, valid_to, is_current, is_deleted)
VALUES (5, 1, 'a', 'stray', '2025-01-01', '2026-01-01', false, false), (6, 99, 'a', 'stray', '2025-01-01', '9999-12-31', true, false);
UPDATE dim_c SET c_sk = 4 WHERE id = 1 AND seg = 'y';
-- one key
CALL scd2.rebuild_apply('dim_c', keys => '{{2,a}}');
SELECT action, versions_opened, versions_closed, rows_overwritten, keys_rebuilt FROM scd2.runs WHERE id = scd2.last_run();
SELECT seg FROM dim_c WHERE id = 2;
SELECT count(*) > 5 AS others_wrong FROM scd2.check('dim_c');
-- all of them
CALL scd2.rebuild_apply('dim_c');
SELECT * FROM scd2.check('dim_c');
(SELECT * FROM dim_c EXCEPT ALL SELECT * FROM truth) UNION ALL (SELECT * FROM truth EXCEPT ALL SELECT * FROM dim_c);
CALL scd2.rebuild_apply('dim_c');
SELECT action, versions_opened, versions_closed, rows_overwritten FROM scd2.runs WHERE id = scd2.last_run();
-- an emptied dimension, too
DELETE FROM dim_c WHERE id IS NOT NULL;
CALL scd2.rebuild_apply('dim_c');
(SELECT id, code, seg, c_sk, row_hash FROM dim_c EXCEPT ALL SELECT id, code, seg, c_sk, row_hash FROM truth)
 UNION ALL (SELECT id, code, seg, c_sk, row_hash FROM truth EXCEPT ALL SELECT id, code, seg, c_sk, row_hash FROM dim_c);
-- R25: rows with a null or another key, or with each other's surrogate keys
UPDATE dim_c SET code = NULL WHERE id = 2;
SELECT violation, key FROM scd2.check('dim_c') ORDER BY 1, 2;
CALL scd2.apply('dim_c');
CALL scd2.rebuild_apply('dim_c');
UPDATE dim_c SET id = NULL, code = NULL WHERE id = 1 AND seg = 'x';
UPDATE dim_c SET code = 'other', valid_from = valid_from + interval '1 day' WHERE id = 1 AND seg = 'w';
CALL scd2.rebuild_apply('dim_c');
ALTER TABLE dim_c DROP CONSTRAINT dim_c_pkey;
UPDATE dim_c d SET c_sk = n.c_sk
  FROM (SELECT c_sk AS own, lead(c_sk, 1, (SELECT min(c_sk) FROM dim_c WHERE id IS NOT NULL)) OVER (ORDER BY c_sk) AS c_sk
          FROM dim_c WHERE id IS NOT NULL) n
 WHERE n.own = d.c_sk;
ALTER TABLE dim_c ADD PRIMARY KEY (c_sk);
CALL scd2.rebuild_apply('dim_c');
SELECT * FROM scd2.check('dim_c');
(SELECT id, code, seg, c_sk, row_hash FROM dim_c EXCEPT ALL SELECT id, code, seg, c_sk, row_hash FROM truth)
 UNION ALL (SELECT id, code, seg, c_sk, row_hash FROM truth EXCEPT ALL SELECT id, code, seg, c_sk, row_hash FROM dim_c);
-- and, where the indexes are gone, rows that are there twice
CREATE TABLE once (LIKE dim_c);
BEGIN;
ALTER TABLE dim_c DROP CONSTRAINT dim_c_pkey;
DROP INDEX dim_c_id_code_valid_from_idx;
INSERT INTO once SELECT * FROM dim_c WHERE id IS NOT NULL;
INSERT INTO dim_c SELECT * FROM once;
CALL scd2.rebuild_apply('dim_c');
SELECT * FROM scd2.check('dim_c');
(SELECT * FROM once EXCEPT ALL SELECT * FROM dim_c) UNION ALL (SELECT * FROM dim_c WHERE id IS NOT NULL EXCEPT ALL SELECT * FROM once);
ROLLBACK;

-- R34: the owner's role is needed to write, and the log's SELECT to rebuild
CREATE ROLE rb_stranger;
GRANT USAGE ON SCHEMA rb TO rb_stranger;
GRANT SELECT ON dim_c TO rb_stranger;
SET ROLE rb_stranger;
CALL scd2.rebuild_apply('dim_c');
CALL scd2.undo('dim_c', 1);
SELECT count(*) FROM scd2.rebuild(NULL::dim_c);
RESET ROLE;
GRANT SELECT ON dim_c_log TO rb_stranger;
SET ROLE rb_stranger;
SELECT count(*) FROM scd2.rebuild(NULL::dim_c);
RESET ROLE;

-- ---------------------------------------------------------------------------
-- R27: undo
-- ---------------------------------------------------------------------------
CREATE TABLE runs AS SELECT row_number() OVER (ORDER BY id) AS n, id FROM scd2.runs WHERE dimension = 'dim_c'::regclass AND action = 'apply';
CREATE TABLE log AS SELECT * FROM dim_c_log;
CREATE FUNCTION run(n integer) RETURNS bigint LANGUAGE sql AS 'SELECT id FROM rb.runs r WHERE r.n = $1';
CALL scd2.undo('dim_c', run(2));
SELECT action, keys_rebuilt, versions_opened, versions_closed FROM scd2.runs WHERE id = scd2.last_run();
SELECT id, code, seg, tier, previous_tier, name, valid_from::date, valid_to::date FROM dim_c WHERE id IS NOT NULL ORDER BY 1, 2, valid_from;
SELECT r.undone_by = scd2.last_run() AS marked FROM scd2.runs r WHERE id = run(2);
SELECT * FROM scd2.check('dim_c');
-- no log row is touched, and what was known before can still be asked for
TABLE log EXCEPT ALL TABLE dim_c_log;
SELECT count(*) FROM (SELECT c_sk, seg, name FROM truth WHERE id IS NOT NULL
                      EXCEPT ALL SELECT c_sk, seg, name FROM scd2.rebuild(NULL::dim_c, known_at => (SELECT recorded_at FROM scd2.runs WHERE id = run(2)))) x;
SELECT count(*) FROM scd2.rebuild(NULL::dim_c, known_at => (SELECT recorded_at FROM scd2.runs WHERE id = scd2.last_run()));
-- hard case 28: the same batch loads again
CALL scd2.apply('dim_c');
SELECT rows_late, rows_replayed, versions_opened FROM scd2.runs WHERE id = scd2.last_run();
(SELECT * FROM dim_c EXCEPT ALL SELECT * FROM truth) UNION ALL (SELECT * FROM truth EXCEPT ALL SELECT * FROM dim_c);
SELECT * FROM scd2.check('dim_c');
-- in any order: all of it, the first first
CALL scd2.undo('dim_c', run(1));
CALL scd2.undo('dim_c', scd2.last_run() - 1);
SELECT count(*) FROM dim_c WHERE id IS NOT NULL;
SELECT * FROM scd2.check('dim_c');
-- what cannot be undone
\set VERBOSITY sqlstate
CALL scd2.undo('dim_c', run(1));
CALL scd2.undo('dim_c', scd2.last_run());
\set VERBOSITY default
CALL scd2.undo('dim_c', -1);
CALL scd2.undo('dim_c', NULL);
SELECT scd2.create_dimension('other', source => 's', business_key => '{id,code}', effective_at => 'at');
\set VERBOSITY sqlstate
CALL scd2.undo('other', run(1));
\set VERBOSITY default

-- hard case 29: the second of three snapshots a, b, b
CREATE TABLE p (id integer, a text);
SELECT scd2.create_dimension('dim_p', source => 'p', business_key => '{id}', mode => 'snapshot');
INSERT INTO p VALUES (1, 'a'), (2, 'a');
CALL scd2.apply('dim_p', batch_time => '2026-01-01');
UPDATE p SET a = 'b' WHERE id = 1;
DELETE FROM p WHERE id = 2;
INSERT INTO p VALUES (3, 'b');
CALL scd2.apply('dim_p', batch_time => '2026-01-02');
CALL scd2.apply('dim_p', batch_time => '2026-01-03');
CALL scd2.undo('dim_p', scd2.last_run() - 1);
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_p');
-- and loaded again
CALL scd2.apply('dim_p', batch_time => '2026-01-02');
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
-- two loads of one instant: the first one's undo leaves what the second told
DELETE FROM p WHERE id = 3;
UPDATE p SET a = 'd';
CALL scd2.apply('dim_p', batch_time => '2026-01-05');
CALL scd2.apply('dim_p', batch_time => '2026-01-05');
CALL scd2.undo('dim_p', scd2.last_run() - 1);
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_p');
-- the last one's time is forgotten with it
CALL scd2.undo('dim_p', scd2.last_run() - 1);
CALL scd2.apply('dim_p', batch_time => '2026-01-04');
SELECT rows_late FROM scd2.runs WHERE id = scd2.last_run();
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;

-- mode delta without effective_at: the last run only
SELECT scd2.create_dimension('dim_d', source => 'p', business_key => '{id}');
TRUNCATE p;
INSERT INTO p VALUES (1, 'a');
CALL scd2.apply('dim_d', batch_time => '2026-01-01');
UPDATE p SET a = 'b';
CALL scd2.apply('dim_d', batch_time => '2026-01-02');
\set VERBOSITY sqlstate
CALL scd2.undo('dim_d', scd2.last_run() - 1);
\set VERBOSITY default
CALL scd2.undo('dim_d', scd2.last_run());
SELECT id, a, valid_from::date, valid_to::date FROM dim_d WHERE id IS NOT NULL ORDER BY id, valid_from;
CALL scd2.apply('dim_d', batch_time => '2026-01-01 12:00');
SELECT id, a, valid_from, valid_to::date FROM dim_d WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_d');

-- R35: rolled back to a savepoint
BEGIN;
SAVEPOINT a;
CALL scd2.undo('dim_d', scd2.last_run());
ROLLBACK TO a;
SELECT id, a, valid_from, valid_to::date FROM dim_d WHERE id IS NOT NULL ORDER BY id, valid_from;
COMMIT;
SELECT count(*) FROM scd2.runs WHERE dimension = 'dim_d'::regclass AND undone_by IS NULL AND action = 'apply';

SET client_min_messages = error;
DROP SCHEMA rb CASCADE;
DROP ROLE rb_stranger;
