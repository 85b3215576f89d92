-- A key's logged changes and what each one did (SPEC section 7, R28)
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA why;
SET search_path = why;
SET scd2.notice = off;

-- a run's place among those of its dimension
CREATE FUNCTION place(run bigint) RETURNS bigint LANGUAGE sql STABLE AS
    $$ SELECT count(*) FROM scd2.runs o JOIN scd2.runs r ON r.dimension = o.dimension AND o.id <= r.id WHERE r.id = $1 $$;

CREATE TABLE s (id integer, code text, seg text, name text, tier text, note text, at timestamptz, seq integer, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id,code}', type1 => '{name}', type2 => '{seg}', type6 => '{tier}', type3 => '{note}',
                             effective_at => 'at', sequence_by => '{seq}', delete_when => 'gone');
CREATE VIEW a_changes AS SELECT effective_at, sequence, is_deleted AS del, attributes, place(run) AS run, recorded_at = (SELECT r.recorded_at FROM scd2.runs r WHERE r.id = run) AS by_it, outcome
  FROM scd2.why('why.dim_c', 1, 'a');
INSERT INTO s VALUES (1, 'a', 'x', 'Ada', 't1', NULL, '2026-01-01', 1, false),
                     (1, 'a', 'x', 'Ada', 't1', NULL, '2026-01-02', 1, false),      -- the same: confirmed (R6)
                     (1, 'a', 'x', 'Eve', 't1', NULL, '2026-01-03', 1, false),      -- type 1 only: overwrote (R8)
                     (1, 'a', 'x', 'Eve', 't1', 'n', '2026-01-04', 1, false),       -- type 3 only: overwrote (R8)
                     (1, 'a', 'q', 'Eve', 't1', 'n', '2026-01-05', 1, false),       -- superseded by the next (R5)
                     (1, 'a', 'y', 'Eve', 't1', 'n', '2026-01-05', 2, false),
                     (1, 'a', 'y', 'Eve', 't2', 'n', '2026-01-06', 1, false),       -- type 6: opened (R6)
                     (2, 'a', 'z', NULL, NULL, NULL, '2026-01-01', 1, false);
CALL scd2.apply('dim_c');
SELECT * FROM a_changes;
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', NULL, NULL, NULL, NULL, '2026-01-10', 1, true),       -- closed (R7)
                     (1, 'a', NULL, NULL, NULL, NULL, '2026-01-11', 1, true),       -- nothing is open: ignored (R7)
                     (1, 'a', 'y', 'Eve', 't2', 'n', '2026-01-12', 1, false);       -- reopened (R7)
CALL scd2.apply('dim_c');
SELECT effective_at, del, attributes IS NULL AS none, run, outcome FROM a_changes WHERE run = 2;
-- what a change did is as of now: a late one makes the version that another opened before
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', 'y', 'Eve', 't1', 'n', '2026-01-04 12:00', 1, false);
CALL scd2.apply('dim_c');
SELECT effective_at, sequence, attributes ->> 'seg' AS seg, run, outcome FROM a_changes WHERE effective_at BETWEEN '2026-01-04' AND '2026-01-06';
-- undone: it is there, and counts for nothing (R27)
CALL scd2.undo('dim_c', scd2.last_run());
SELECT effective_at, attributes ->> 'seg' AS seg, run, by_it, outcome FROM a_changes WHERE effective_at BETWEEN '2026-01-04' AND '2026-01-06';
-- and loaded again, beside the undone one; in the order of the fold
CALL scd2.apply('dim_c');
SELECT effective_at, attributes ->> 'seg' AS seg, run, outcome FROM a_changes WHERE effective_at BETWEEN '2026-01-04' AND '2026-01-06';
-- what it opened is what the dimension has
SELECT count(*) = (SELECT count(*) FROM scd2.history(NULL::dim_c, 1, 'a')) AS as_many FROM scd2.why('dim_c', 1, 'a') WHERE outcome = 'opened';
SELECT effective_at, outcome FROM scd2.why('dim_c', '2', 'a'::varchar);
SELECT * FROM scd2.why('dim_c', 3, 'a');

-- days: the change's own time is shown (R5); a flagged delete closed; null for "not sent" is shown as sent
CREATE TABLE d (id integer, a text, at timestamp, gone boolean);
SELECT scd2.create_dimension('dim_d', source => 'd', business_key => '{id}', effective_at => 'at', delete_when => 'gone', on_delete => 'flag',
    ignore_null_updates => true, period_type => 'date', time_zone => 'Asia/Tokyo');
INSERT INTO d VALUES (1, 'x', '2026-01-01 08:00', false), (1, 'y', '2026-01-01 20:00', false), (1, NULL, '2026-01-02 10:00', false), (1, NULL, '2026-01-03 10:00', true);
CALL scd2.apply('dim_d');
SELECT effective_at AT TIME ZONE 'Asia/Tokyo' AS at, sequence, is_deleted, attributes, outcome FROM scd2.why('dim_d', 1);

-- a column that changes lack (R8): it is not among theirs; the first value fills older versions, so it overwrote
CREATE TABLE g (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_g', source => 'g', business_key => '{id}', effective_at => 'at', on_drift => 'add');
INSERT INTO g VALUES (1, 'x', '2026-01-01');
CALL scd2.apply('dim_g');
TRUNCATE g;
ALTER TABLE g ADD COLUMN b integer;
INSERT INTO g VALUES (1, 'x', '2026-01-02', 7);
CALL scd2.apply('dim_g');
TRUNCATE g;
ALTER TABLE g DROP COLUMN a;
INSERT INTO g VALUES (1, '2026-01-03', 8);
CALL scd2.apply('dim_g');
SELECT effective_at, attributes, outcome FROM scd2.why('dim_g', 1);

-- snapshots: an absent key is a delete at the batch's time; what a late one logs for the next bears that one's number (R20)
CREATE TABLE snap (id integer, v text);
SELECT scd2.create_dimension('dim_s', source => 'snap', business_key => '{id}', mode => 'snapshot');
INSERT INTO snap VALUES (1, 'a'), (2, 'a');
CALL scd2.apply('dim_s', batch_time => '2026-01-01');
CALL scd2.apply('dim_s', batch_time => '2026-03-01');
DELETE FROM snap WHERE id = 1;
CALL scd2.apply('dim_s', batch_time => '2026-02-01');
SELECT effective_at, is_deleted, attributes, place(run) AS run, recorded_at = (SELECT r.recorded_at FROM scd2.runs r WHERE r.id = run) AS by_it, outcome FROM scd2.why('dim_s', 1);

-- no scan where one key is asked for, nor where nothing is known of the table (R28)
CREATE TABLE l (id integer, v integer, at timestamptz);
SELECT scd2.create_dimension('dim_l', source => 'l', business_key => '{id}', effective_at => 'at');
BEGIN;
CREATE TABLE empty AS SELECT seq_scan FROM pg_stat_xact_user_tables WHERE relname = 'dim_l_log';
SELECT count(*) FROM scd2.why('dim_l', 7);
SELECT n.seq_scan - b.seq_scan AS scans FROM pg_stat_xact_user_tables n, empty b WHERE relname = 'dim_l_log';
COMMIT;
INSERT INTO l SELECT i, j, '2026-01-01'::timestamptz + j * interval '1 day' FROM generate_series(1, 2000) i, generate_series(1, 3) j;
CALL scd2.apply('dim_l');
VACUUM ANALYZE dim_l_log;
BEGIN;
CREATE TABLE before AS SELECT seq_scan, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'dim_l_log';
SELECT count(*) FROM scd2.why('dim_l', 7);
SELECT n.seq_scan - b.seq_scan AS scans, n.idx_tup_fetch - b.idx_tup_fetch AS fetched FROM pg_stat_xact_user_tables n, before b WHERE relname = 'dim_l_log';
COMMIT;

-- what does not fit
SELECT * FROM scd2.why('dim_c', 1);
SELECT * FROM scd2.why('dim_c', 'x', 'a');
SELECT * FROM scd2.why('dim_c', 1, NULL);
SELECT * FROM scd2.why('s', 1);
SELECT * FROM scd2.why(NULL, 1);
SELECT scd2.create_dimension('dim_n', source => 'snap', business_key => '{id}', change_log => false);
SELECT * FROM scd2.why('dim_n', 1);

-- R34: with the caller's rights on the log
CREATE ROLE why_reader;
GRANT USAGE ON SCHEMA why TO why_reader;
GRANT SELECT ON dim_l TO why_reader;
SET ROLE why_reader;
\set VERBOSITY terse
SELECT * FROM scd2.why('dim_l', 1);
\set VERBOSITY default
RESET ROLE;
GRANT SELECT ON dim_l_log TO why_reader;
SET ROLE why_reader;
SELECT count(*) FROM scd2.why('dim_l', 1);
RESET ROLE;
ALTER TABLE dim_l_log ENABLE ROW LEVEL SECURITY;
SET ROLE why_reader;
\set VERBOSITY terse
SELECT * FROM scd2.why('dim_l', 1);
\set VERBOSITY default
RESET ROLE;

-- R28, hard case 20: READ ONLY, and no transaction id
BEGIN READ ONLY;
SELECT count(*) FROM scd2.why('dim_c', 1, 'a');
SELECT mode FROM pg_locks l WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND mode <> 'AccessShareLock';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;

-- R4: after renames
ALTER TABLE dim_c_log RENAME scd2_seq_1 TO s1;
ALTER TABLE dim_c_log RENAME name TO n1;
ALTER TABLE dim_c RENAME seg TO segment;
SELECT sequence, attributes, outcome FROM scd2.why('dim_c', 2, 'a');

DROP SCHEMA why CASCADE;
DROP ROLE why_reader;
