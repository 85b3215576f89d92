-- mode log: an append-only source, read above a mark (section 2, R5, R20)
\set VERBOSITY terse
SET timezone = 'UTC';
SET client_min_messages = warning;
SET scd2.notice = off;
CREATE SCHEMA ml;
SET search_path = ml;

CREATE TABLE changes (pos bigint GENERATED ALWAYS AS IDENTITY, id int, v text, op text, at timestamptz, s int);
SELECT scd2.create_dimension('ml.dim_l', source => 'ml.changes', business_key => '{id}', type2 => '{v}',
    effective_at => 'at', sequence_by => '{s}', delete_when => $$op = 'D'$$, mode => 'log', log_position => 'pos');
SELECT mode, options ->> 'log_position' AS log_position FROM scd2.dimensions WHERE dimension = 'ml.dim_l'::regclass;

CREATE VIEW runs AS
SELECT row_number() OVER (ORDER BY id) AS run, action, rows_read, rows_replayed, rows_late, rows_rejected, versions_opened, versions_closed
  FROM scd2.runs WHERE dimension = 'ml.dim_l'::regclass;
CREATE VIEW chain AS
SELECT id, v, valid_from::date, valid_to::date, is_current FROM dim_l WHERE id IS NOT NULL;

-- the first run and the second read all, the third what came after the first
INSERT INTO changes (id, v, op, at, s)
SELECT i, 'a', 'I', '2026-01-01', 1 FROM generate_series(1, 100) i;
CALL scd2.apply('ml.dim_l');
INSERT INTO changes (id, v, op, at, s) VALUES (1, 'b', 'U', '2026-01-02', 1);
CALL scd2.apply('ml.dim_l');
INSERT INTO changes (id, v, op, at, s) VALUES (1, 'c', 'U', '2026-01-03', 1), (2, NULL, 'D', '2026-01-03', 1);
SELECT action, key, new FROM scd2.preview('ml.dim_l') ORDER BY key, action;
CALL scd2.apply('ml.dim_l');
-- nothing new: what is read is dropped as replays, and nothing is written (R11)
CALL scd2.apply('ml.dim_l');
CALL scd2.apply('ml.dim_l');
CALL scd2.apply('ml.dim_l');
TABLE runs;
SELECT * FROM chain WHERE id < 3 ORDER BY id, valid_from;
SELECT statement FROM scd2.sql('ml.dim_l') WHERE name = 'read';

-- a correction of a row that is read again is one, not a bad row (R19)
INSERT INTO changes (id, v, op, at, s) VALUES (3, 'b', 'U', '2026-02-01', 1);
CALL scd2.apply('ml.dim_l');
INSERT INTO changes (id, v, op, at, s) VALUES (3, 'B', 'U', '2026-02-01', 1);
CALL scd2.apply('ml.dim_l');
SELECT * FROM chain WHERE id = 3 ORDER BY valid_from;

-- a late change (in E) is folded, whatever its position
INSERT INTO changes (id, v, op, at, s) VALUES (3, 'z', 'U', '2026-01-15', 1);
CALL scd2.apply('ml.dim_l');
SELECT * FROM chain WHERE id = 3 ORDER BY valid_from;

-- an aborted run leaves the mark where it was
CREATE TEMP TABLE mark AS SELECT log_mark, log_next FROM scd2.registry_lock
 WHERE dimension_id = (SELECT max(id) FROM scd2.registry_dimension);
INSERT INTO changes (id, v, op, at, s) VALUES (4, 'b', 'U', '2026-03-01', 1);
BEGIN;
CALL scd2.apply('ml.dim_l');
ROLLBACK;
SELECT count(*) AS same FROM scd2.registry_lock JOIN mark USING (log_mark, log_next)
 WHERE dimension_id = (SELECT max(id) FROM scd2.registry_dimension);
CALL scd2.apply('ml.dim_l');
SELECT * FROM chain WHERE id = 4 ORDER BY valid_from;

-- a position that the caller's own transaction draws, and uses after the run
BEGIN;
SELECT nextval('ml.changes_pos_seq') IS NOT NULL AS drawn;
SELECT currval('ml.changes_pos_seq') AS mine \gset
INSERT INTO changes (id, v, op, at, s) VALUES (5, 'b', 'U', '2026-03-01', 1);
CALL scd2.apply('ml.dim_l');
CALL scd2.apply('ml.dim_l');
INSERT INTO changes (pos, id, v, op, at, s) OVERRIDING SYSTEM VALUE VALUES (:mine, 6, 'b', 'U', '2026-03-01', 1);
COMMIT;
CALL scd2.apply('ml.dim_l');
SELECT * FROM chain WHERE id IN (5, 6) ORDER BY id, valid_from;

-- REPEATABLE READ: the mark moves a run later
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL scd2.apply('ml.dim_l');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL scd2.apply('ml.dim_l');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL scd2.apply('ml.dim_l');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL scd2.apply('ml.dim_l');
COMMIT;
SELECT run, rows_read, rows_replayed FROM runs ORDER BY run DESC LIMIT 2;

-- another source neither reads the mark nor moves it, and needs no position
CREATE TABLE older AS SELECT id, 'o' AS v, op, '2025-12-01'::timestamptz AS at, s FROM changes WHERE id = 7;
CALL scd2.apply('ml.dim_l', source => 'ml.older');
SELECT run, rows_read FROM runs ORDER BY run DESC LIMIT 1;
SELECT * FROM chain WHERE id = 7 ORDER BY valid_from;

-- undo: the run's rows are read again (R27)
INSERT INTO changes (id, v, op, at, s) VALUES (8, 'b', 'U', '2026-04-01', 1);
CALL scd2.apply('ml.dim_l');
SELECT scd2.last_run() AS undone \gset
CALL scd2.apply('ml.dim_l');
CALL scd2.apply('ml.dim_l');
CALL scd2.apply('ml.dim_l');
CALL scd2.undo('ml.dim_l', :undone);
SELECT * FROM chain WHERE id = 8 ORDER BY valid_from;
CALL scd2.apply('ml.dim_l');
SELECT * FROM chain WHERE id = 8 ORDER BY valid_from;
CALL scd2.apply('ml.dim_l');
CALL scd2.apply('ml.dim_l');
SELECT run, rows_read FROM runs ORDER BY run DESC LIMIT 1;

-- a row without position is a bad one
INSERT INTO changes (id, v, op, at, s) VALUES (9, 'b', 'U', '2026-05-01', 1);
ALTER TABLE changes ALTER pos DROP IDENTITY, ALTER pos DROP NOT NULL;
INSERT INTO changes (id, v, op, at, s) VALUES (9, 'c', 'U', '2026-05-02', 1);
CALL scd2.apply('ml.dim_l');
DELETE FROM changes WHERE pos IS NULL;

-- a source made anew under its name begins anew
DROP TABLE changes;
CREATE TABLE changes (pos bigint GENERATED ALWAYS AS IDENTITY, id int, v text, op text, at timestamptz, s int);
INSERT INTO changes (id, v, op, at, s) VALUES (9, 'new', 'U', '2026-06-01', 1);
CALL scd2.apply('ml.dim_l');
SELECT * FROM chain WHERE id = 9 ORDER BY valid_from;
CALL scd2.assert_valid('ml.dim_l');

-- the position's column is lost
ALTER TABLE changes RENAME pos TO place;
CALL scd2.apply('ml.dim_l');
ALTER TABLE changes RENAME place TO pos;

-- a column that the source gains: rows that were read before it came are known all the same
CREATE TABLE gains (pos bigserial, id int, v text, at date);
SELECT scd2.create_dimension('ml.dim_g', source => 'ml.gains', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos', on_drift => 'add', on_late => 'error');
INSERT INTO gains (id, v, at) VALUES (1, 'a', '2026-01-01'), (1, 'b', '2026-01-02'), (2, 'a', '2026-01-01');
CALL scd2.apply('ml.dim_g');
ALTER TABLE gains ADD w text DEFAULT 'filled', ADD x text;
INSERT INTO gains (id, v, at, w) VALUES (1, 'b', '2026-01-03', 'new');
CALL scd2.apply('ml.dim_g');
SELECT id, v, w, x, valid_from::date FROM dim_g WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT rows_read, rows_replayed, rows_late FROM scd2.runs WHERE dimension = 'ml.dim_g'::regclass ORDER BY id;
ALTER TABLE gains DROP x;
INSERT INTO gains (id, v, at, w) VALUES (2, 'c', '2026-01-03', 'new');
CALL scd2.apply('ml.dim_g');
SELECT id, v, w, x, valid_from::date FROM dim_g WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT rows_read, rows_replayed, rows_late FROM scd2.runs WHERE dimension = 'ml.dim_g'::regclass ORDER BY id DESC LIMIT 1;

-- on_duplicate: rows that were read before are not in the batch (R19)
CREATE TABLE dup (pos bigserial, id int, v text, at date);
SELECT scd2.create_dimension('ml.dim_e', source => 'ml.dup', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos', on_duplicate => 'error', on_delete => 'error');
SELECT scd2.create_dimension('ml.dim_f', source => 'ml.dup', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos', on_duplicate => 'latest');
INSERT INTO dup (id, v, at) VALUES (1, 'a', '2026-01-01');
CALL scd2.apply('ml.dim_e');
INSERT INTO dup (id, v, at) VALUES (1, 'b', '2026-01-02');
CALL scd2.apply('ml.dim_e');
SELECT id, v, valid_from::date FROM dim_e WHERE id IS NOT NULL ORDER BY valid_from;
-- 'latest': the one that was skipped stays so when it is read again
CALL scd2.apply('ml.dim_f');
CALL scd2.apply('ml.dim_f');
SELECT id, v, valid_from::date FROM dim_f WHERE id IS NOT NULL ORDER BY valid_from;

-- positions of other types; a view and partitions are looked through
CREATE TABLE parts (p numeric, id int, v text, at date) PARTITION BY RANGE (p);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (1000);
CREATE VIEW parts_view AS SELECT * FROM parts;
SELECT scd2.create_dimension('ml.dim_p', source => 'ml.parts_view', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'p');
INSERT INTO parts VALUES (9, 1, 'a', '2026-01-01'), (10.50, 1, 'b', '2026-01-02'), (100.5, 1, 'c', '2026-01-03');
CALL scd2.apply('ml.dim_p');
CALL scd2.apply('ml.dim_p');
INSERT INTO parts VALUES (101, 1, 'd', '2026-01-04');
CALL scd2.apply('ml.dim_p');
SELECT rows_read FROM scd2.runs WHERE dimension = 'ml.dim_p'::regclass ORDER BY id;
CREATE TABLE lsn (p pg_lsn, id int, v text, at date);
SELECT scd2.create_dimension('ml.dim_lsn', source => 'ml.lsn', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'p');
INSERT INTO lsn VALUES ('0/FF', 1, 'a', '2026-01-01'), ('1/0', 1, 'b', '2026-01-02');
CALL scd2.apply('ml.dim_lsn');
CALL scd2.apply('ml.dim_lsn');
INSERT INTO lsn VALUES ('2/0', 1, 'c', '2026-01-03');
CALL scd2.apply('ml.dim_lsn');
SELECT rows_read FROM scd2.runs WHERE dimension = 'ml.dim_lsn'::regclass ORDER BY id;

-- where the mark cannot move, creating says so, and each run reads all
\set VERBOSITY default
CREATE TABLE cached (pos bigint GENERATED ALWAYS AS IDENTITY (CACHE 10), id int, v text, at date);
SELECT scd2.create_dimension('ml.dim_c', source => 'ml.cached', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos');
INSERT INTO cached (id, v, at) VALUES (1, 'a', '2026-01-01'), (1, 'b', '2026-01-02');
CALL scd2.apply('ml.dim_c');
CALL scd2.apply('ml.dim_c');
CALL scd2.apply('ml.dim_c');
SELECT rows_read, rows_replayed FROM scd2.runs WHERE dimension = 'ml.dim_c'::regclass ORDER BY id;
CREATE SEQUENCE down INCREMENT -1;
CREATE TABLE down_log (pos bigint DEFAULT nextval('ml.down'), id int, v text, at date);
SELECT scd2.create_dimension('ml.dim_down', source => 'ml.down_log', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos');
CREATE MATERIALIZED VIEW refreshed AS SELECT * FROM dup;
CREATE VIEW over_refreshed AS SELECT * FROM refreshed;
SELECT scd2.create_dimension('ml.dim_m', source => 'ml.over_refreshed', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos');
CREATE FOREIGN DATA WRAPPER ml_fdw;
CREATE SERVER ml_server FOREIGN DATA WRAPPER ml_fdw;
CREATE FOREIGN TABLE away (pos bigint, id int, v text, at date) SERVER ml_server;
SELECT scd2.create_dimension('ml.dim_away', source => 'ml.away', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos');
CREATE FUNCTION rows_from_somewhere() RETURNS SETOF dup LANGUAGE sql AS 'SELECT * FROM ml.dup';
CREATE VIEW over_function AS SELECT * FROM rows_from_somewhere();
SELECT scd2.create_dimension('ml.dim_fn', source => 'ml.over_function', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos');

-- what mode log needs
SELECT scd2.create_dimension('ml.dim_x', source => 'ml.dup', business_key => '{id}', effective_at => 'at', mode => 'log');
SELECT scd2.create_dimension('ml.dim_x', source => 'ml.dup', business_key => '{id}', mode => 'log', log_position => 'pos');
SELECT scd2.create_dimension('ml.dim_x', source => 'ml.dup', business_key => '{id}', effective_at => 'at', mode => 'log',
    log_position => 'pos', change_log => false);
SELECT scd2.create_dimension('ml.dim_x', source => 'ml.dup', business_key => '{id}', effective_at => 'at', mode => 'log',
    log_position => 'v');
ALTER TABLE dup ADD j json;
SELECT scd2.create_dimension('ml.dim_x', source => 'ml.dup', business_key => '{id}', effective_at => 'at', mode => 'log',
    log_position => 'j');
SELECT scd2.create_dimension('ml.dim_x', source => 'ml.dup', business_key => '{id}', effective_at => 'at', log_position => 'pos');

SET client_min_messages = error;
DROP SCHEMA ml CASCADE;
DROP FOREIGN DATA WRAPPER ml_fdw CASCADE;
