-- on_bad_row => 'quarantine' and retry_rejected (R19, R34, R35; hard case 26)
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA qu;
SET search_path = qu;
SET scd2.notice = off;

CREATE FUNCTION counted() RETURNS text LANGUAGE sql AS $$
    SELECT r.action || ': ' || string_agg(c.key || ' ' || c.value, ', ' ORDER BY c.ordinality)
      FROM scd2.runs r,
           jsonb_each_text(to_jsonb(r) - '{id,dimension,dimension_name,action,source,scope,who,started_at,recorded_at,finished_at,batch_time,undone_by}'::text[])
           WITH ORDINALITY c
     WHERE r.id = scd2.last_run() AND c.value <> '0'
     GROUP BY r.action
$$;
CREATE FUNCTION first_run(dim regclass) RETURNS bigint LANGUAGE sql AS 'SELECT min(id) FROM scd2.runs WHERE dimension = $1';
CREATE VIEW rejected AS
    SELECT j.dimension, j.key, j.row_data, j.reason, j.run = scd2.last_run() AS last_run,
           j.rejected_at = r.recorded_at AS of_run
      FROM scd2.rejected j JOIN scd2.runs r ON r.id = j.run ORDER BY j.id;

-- ---------------------------------------------------------------------------
-- R19: each kind of bad row goes to scd2.rejected as the source had it, the rest is applied
-- ---------------------------------------------------------------------------
CREATE PROCEDURE widen(dim text, col text, type text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP VIEW IF EXISTS %1$s_current; DROP FUNCTION IF EXISTS %1$s_as_of', dim);
    EXECUTE format('ALTER TABLE %s ALTER %I TYPE %s; ALTER TABLE %1$s_log ALTER %2$I TYPE %3$s', dim, col, type);
END $$;

CREATE TABLE s (id varchar(2), "Amount" numeric(6, 2), at timestamptz, n integer, op text, extra json);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id}', type2 => '{Amount}', effective_at => 'at',
                             sequence_by => '{n}', delete_when => $$op = 'D'$$, on_bad_row => 'quarantine', initial_valid_from => '2000-01-01');
ALTER TABLE s ALTER id TYPE varchar(9), ALTER "Amount" TYPE numeric;
INSERT INTO s VALUES
    ('1', 10, '2026-01-01', 1, 'I', '{"a": 1}'),                        -- good
    (NULL, 1, '2026-01-01', 1, 'I', '"no\u0000jsonb"'),                 -- key is null
    ('2', 1, NULL, 1, 'I', NULL),                                       -- E is null
    ('3', 1, '2026-01-01', NULL, 'I', NULL),                            -- S is null
    ('4', 1, 'infinity', 1, 'I', NULL),                                 -- not finite
    ('5', 1, '9999-12-31', 1, 'I', NULL),                               -- at open_end
    ('6', 1, '1999-12-31', 1, 'I', NULL),                               -- before initial_valid_from
    ('8', 12345, '2026-01-01', 1, 'I', NULL),                           -- does not convert
    ('xyz', 1, '2026-01-01', 1, 'I', NULL),                             -- a key that does not convert
    ('9', 1, '2026-01-01', 1, 'I', NULL), ('9', 2, '2026-01-01', 1, 'I', NULL),   -- differ at one position
    ('10', 1, '2026-01-01', 1, 'I', NULL), ('10', 1.00, '2026-01-01', 1, 'I', NULL),   -- one change
    ('11', NULL, '2026-01-01', 1, 'D', NULL);                           -- a good delete
SELECT action, key, new FROM scd2.preview('dim_c') ORDER BY action, key, new::text;
SELECT count(*) FROM scd2.rejected;
CALL scd2.apply('dim_c');
SELECT counted();
SELECT key, row_data, reason, last_run, of_run FROM rejected;
SELECT id, "Amount", valid_from::date, is_current FROM dim_c WHERE id IS NOT NULL ORDER BY id;
SELECT * FROM scd2.check('dim_c');

-- a failing run leaves no rejected rows
BEGIN;
SAVEPOINT a;
CALL scd2.apply('dim_c');
ROLLBACK TO a;
COMMIT;
SELECT count(*) FROM scd2.rejected;

-- retry: nothing is repaired yet, so nothing changes but the run
CALL scd2.retry_rejected('dim_c');
SELECT counted();
SELECT key, reason, last_run FROM rejected;
-- the dimension's owner widens it: one row fits now, at its own time
CALL widen('dim_c', 'Amount', 'numeric(12, 2)');
CALL scd2.retry_rejected('dim_c');
SELECT counted();
SELECT action, source, batch_time FROM scd2.runs WHERE id = scd2.last_run();
SELECT key, row_data ->> 'Amount' AS amount, reason FROM rejected;
SELECT id, "Amount", valid_from::date, is_current FROM dim_c WHERE id IS NOT NULL ORDER BY id;
SELECT * FROM scd2.check('dim_c');
-- R27: and it can be undone: the row is rejected again, and can be tried again
CREATE TABLE before_undo AS SELECT count(*) AS rows FROM scd2.rejected;
CALL scd2.undo('dim_c', scd2.last_run());
SELECT id FROM dim_c WHERE id IS NOT NULL ORDER BY id;
SELECT * FROM scd2.check('dim_c');
SELECT key, row_data ->> 'Amount' AS amount, reason FROM rejected WHERE key ->> 'id' = '8';
SELECT count(*) - rows AS more FROM scd2.rejected, before_undo GROUP BY rows;
CALL scd2.retry_rejected('dim_c');
SELECT counted();
SELECT count(*) - rows AS more FROM scd2.rejected, before_undo GROUP BY rows;
SELECT id FROM dim_c WHERE id IS NOT NULL ORDER BY id;
-- what an undone apply rejected was never read, nor comes back when the retry is undone, too; the batch loads again
SELECT scd2.last_run() AS retry, first_run('dim_c') AS first \gset
CALL scd2.undo('dim_c', :first);
SELECT count(*) FROM scd2.rejected;
SELECT id FROM dim_c WHERE id IS NOT NULL ORDER BY id;
CALL scd2.undo('dim_c', :retry);
SELECT count(*) FROM scd2.rejected;
SELECT id FROM dim_c WHERE id IS NOT NULL ORDER BY id;
CALL scd2.apply('dim_c');
SELECT counted();
SELECT count(*) - rows AS more FROM scd2.rejected, before_undo GROUP BY rows;
SELECT * FROM scd2.check('dim_c');

-- a late row goes where it belongs; a delete is one again
CREATE TABLE l (id integer, a varchar(3), at timestamptz, op text);
SELECT scd2.create_dimension('dim_l', source => 'l', business_key => '{id}', type2 => '{a}', effective_at => 'at',
                             delete_when => $$op = 'D'$$, on_bad_row => 'quarantine');
ALTER TABLE l ALTER a TYPE varchar(9);
INSERT INTO l VALUES (1, 'a', '2026-01-01', 'I'), (1, 'c', '2026-03-01', 'U'), (1, 'long', '2026-02-01', 'U'),
                     (1, 'b', 'infinity', 'U'), (2, NULL, NULL, 'D');
CALL scd2.apply('dim_l');
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_l'::regclass;
CALL widen('dim_l', 'a', 'varchar(9)');
CALL scd2.retry_rejected('dim_l');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_l WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_l'::regclass;
SELECT * FROM scd2.check('dim_l');

-- ---------------------------------------------------------------------------
-- Snapshots, hard case 26: a key with a rejected row is not absent
-- ---------------------------------------------------------------------------
CREATE TABLE p (id integer, a varchar(3));
SELECT scd2.create_dimension('dim_p', source => 'p', business_key => '{id}', mode => 'snapshot', on_bad_row => 'quarantine');
ALTER TABLE p ALTER a TYPE varchar(20);
INSERT INTO p VALUES (1, 'a'), (2, 'a'), (3, 'a');
CALL scd2.apply('dim_p', batch_time => '2026-01-01');
TRUNCATE p;
INSERT INTO p VALUES (1, 'much too long'), (2, 'b'), (2, 'c');
SELECT action, key, old, new FROM scd2.preview('dim_p', batch_time => '2026-01-02') ORDER BY action, key, new::text;
CALL scd2.apply('dim_p', batch_time => '2026-01-02');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_p'::regclass;
-- two rows of a key of which the first equals the current version: both are bad
TRUNCATE p;
INSERT INTO p VALUES (1, 'a'), (1, 'b'), (2, 'a');
CALL scd2.apply('dim_p', batch_time => '2026-01-03');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_p'::regclass;
-- the next snapshot tells that key 1 is as it was; then the column is widened, and the row of 2 January counts
-- from its own day up to that snapshot (R20)
TRUNCATE p;
INSERT INTO p VALUES (1, 'a'), (2, 'a');
CALL scd2.apply('dim_p', batch_time => '2026-01-04');
CALL widen('dim_p', 'a', 'varchar(20)');
CALL scd2.retry_rejected('dim_p');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_p'::regclass;
SELECT * FROM scd2.check('dim_p');
-- with times of their own: a row of the past cannot tell the present
CREATE TABLE e (id integer, a varchar(3), at timestamptz);
SELECT scd2.create_dimension('dim_e', source => 'e', business_key => '{id}', mode => 'snapshot', effective_at => 'at', on_bad_row => 'quarantine');
ALTER TABLE e ALTER a TYPE varchar(20);
INSERT INTO e VALUES (1, 'a', '2026-01-01'), (2, 'long', '2026-01-01'), (3, 'long', '2026-01-01');
CALL scd2.apply('dim_e', batch_time => '2026-01-02');
UPDATE e SET a = 'b', at = '2026-01-03' WHERE id = 2;
CALL scd2.apply('dim_e', batch_time => '2026-01-04');
CALL widen('dim_e', 'a', 'varchar(20)');
CALL scd2.retry_rejected('dim_e');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_e WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT key, row_data ->> 'a' AS a, reason FROM rejected WHERE dimension = 'dim_e'::regclass;
SELECT * FROM scd2.check('dim_e');
-- mode delta without effective_at: at the time of its batch
CREATE TABLE d (id integer, a varchar(3));
SELECT scd2.create_dimension('dim_d', source => 'd', business_key => '{id}', on_bad_row => 'quarantine');
ALTER TABLE d ALTER a TYPE varchar(20);
INSERT INTO d VALUES (1, 'long'), (2, 'long'), (3, 'c');
CALL scd2.apply('dim_d', batch_time => '2026-01-01');
UPDATE d SET a = 'b' WHERE id = 2;
CALL scd2.apply('dim_d', batch_time => '2026-01-02');
CALL widen('dim_d', 'a', 'varchar(20)');
CALL scd2.retry_rejected('dim_d');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_d WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_d'::regclass;

-- on_duplicate => 'error'
SELECT scd2.create_dimension('dim_o', source => 'e', business_key => '{id}', effective_at => 'at', on_duplicate => 'error', on_bad_row => 'quarantine');
TRUNCATE e;
INSERT INTO e VALUES (1, 'a', '2026-01-01'), (1, 'b', '2026-01-02'), (2, 'a', '2026-01-01');
CALL scd2.apply('dim_o');
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_o'::regclass;
SELECT id FROM dim_o WHERE id IS NOT NULL;

-- all of a key's rows are rejected, those too that clash with no other; so in a snapshot in which it comes once
TRUNCATE e;
INSERT INTO e VALUES (3, 'a', '2026-01-01'), (3, 'b', '2026-01-01'), (3, 'c', '2026-01-02'), (4, 'a', '2026-01-01');
SELECT scd2.create_dimension('dim_once', source => 'e', business_key => '{id}', mode => 'snapshot', effective_at => 'at', on_bad_row => 'quarantine');
CALL scd2.apply('dim_o');
CALL scd2.apply('dim_once', batch_time => '2026-01-03');
SELECT dimension, row_data ->> 'a' AS a, reason FROM rejected WHERE key = '{"id": 3}' AND dimension IN ('dim_o'::regclass, 'dim_once'::regclass);
SELECT id FROM dim_once WHERE id IS NOT NULL;
-- R27: what an undone run rejected is not tried again
SELECT scd2.last_run() AS run \gset
CALL scd2.undo('dim_once', :run);
UPDATE scd2.registry_rejected SET row_data = jsonb_set(row_data, '{id}', '7') WHERE run = :run AND row_data ->> 'a' = 'c';
CALL scd2.retry_rejected('dim_once');
SELECT id FROM dim_once WHERE id IS NOT NULL;
TRUNCATE e;
INSERT INTO e VALUES (1, 'a', '2026-01-01'), (1, 'b', '2026-01-02'), (2, 'a', '2026-01-01');

-- mode log: a row that is read again until the mark passes it is rejected once (R20)
CREATE TABLE lg (pos bigint, id integer, a varchar(3), at timestamptz);
SELECT scd2.create_dimension('dim_lg', source => 'lg', business_key => '{id}', effective_at => 'at', mode => 'log', log_position => 'pos', on_bad_row => 'quarantine');
ALTER TABLE lg ALTER a TYPE varchar(9);
INSERT INTO lg VALUES (1, 1, 'a', '2026-01-01'), (2, 2, 'long', '2026-01-01'), (NULL, 3, 'c', '2026-01-01');
CALL scd2.apply('dim_lg');
CALL scd2.apply('dim_lg');
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_lg'::regclass;
CALL widen('dim_lg', 'a', 'varchar(9)');
CALL scd2.retry_rejected('dim_lg');
SELECT counted();
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_lg'::regclass;
CALL scd2.apply('dim_lg');
SELECT id, a, valid_from::date, valid_to::date FROM dim_lg WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT count(*) FROM rejected WHERE dimension = 'dim_lg'::regclass;
-- R27: undone, they are read and rejected again
CALL scd2.undo('dim_lg', first_run('dim_lg'));
SELECT count(*) FROM rejected WHERE dimension = 'dim_lg'::regclass;
CALL scd2.apply('dim_lg');
SELECT counted();
SELECT count(*) FROM rejected WHERE dimension = 'dim_lg'::regclass;

-- a source with a column called src, and one that was dropped
CREATE TABLE c (dead text, id integer, src varchar, at timestamptz);
ALTER TABLE c DROP COLUMN dead;
SELECT scd2.create_dimension('dim_src', source => 'c', business_key => '{id}', effective_at => 'at', on_bad_row => 'quarantine');
INSERT INTO c VALUES (1, 'x', NULL), (2, 'y', '2026-01-01');
CALL scd2.apply('dim_src');
SELECT key, row_data, reason FROM rejected WHERE dimension = 'dim_src'::regclass;

-- R35: more rows than work_mem holds, those that stay bad and those that are good now
CREATE TABLE w (id integer, pad text, at timestamptz);
SELECT scd2.create_dimension('dim_w', source => 'w', business_key => '{id}', effective_at => 'at', on_bad_row => 'quarantine');
INSERT INTO w SELECT i, repeat('x', 100), CASE WHEN i % 2 = 0 THEN 'infinity'::timestamptz END FROM generate_series(1, 3000) i;
CALL scd2.apply('dim_w');
UPDATE scd2.registry_rejected SET row_data = jsonb_set(row_data, '{at}', '"2026-01-01"') WHERE reason LIKE '%null';
SET work_mem = '64kB';
CALL scd2.retry_rejected('dim_w');
RESET work_mem;
SELECT counted();
SELECT count(*), reason FROM rejected WHERE dimension = 'dim_w'::regclass GROUP BY reason;
SELECT * FROM scd2.check('dim_w');

-- ---------------------------------------------------------------------------
-- R11, R12: a retry takes values as they were sent, in the spelling of json and with the bounds of arrays, so that the
-- same batch is a replay
-- ---------------------------------------------------------------------------
CREATE TYPE pair AS (a text, "B" json);
CREATE TABLE sp (dead text, id integer, a varchar(3), doc json, arr integer[], docs json[], p pair, f float8, at timestamptz);
ALTER TABLE sp DROP COLUMN dead, ALTER a TYPE varchar(20);
SELECT scd2.create_dimension('dim_sp', source => 'sp', business_key => '{id}', effective_at => 'at', on_bad_row => 'quarantine');
ALTER TABLE sp ADD gone text, ALTER a TYPE varchar(30);
ALTER TABLE sp DROP COLUMN gone;
INSERT INTO sp VALUES
    (1, repeat('long', 6), '{"b":1, "b" : 2, "u":"\u0000"}', '[0:1]={1,2}', '{"{\"x\":1}"}', ('a b', '{"c":  1}'), '0.1', '2026-01-01'),
    (2, repeat('long', 6), '"text"', NULL, NULL, NULL, 'NaN', '2026-01-01'), (3, repeat('long', 6), NULL, '{}', '{}', NULL, -0.0, '2026-01-01');
CALL scd2.apply('dim_sp');
SELECT row_data FROM scd2.rejected WHERE dimension = 'dim_sp'::regclass ORDER BY id;
CALL widen('dim_sp', 'a', 'varchar(30)');
CALL scd2.retry_rejected('dim_sp');
SELECT counted();
SELECT id, doc, arr, docs, p, f FROM dim_sp WHERE id IS NOT NULL ORDER BY id;
CALL scd2.apply('dim_sp');
SELECT counted();
SELECT * FROM scd2.check('dim_sp');
-- ---------------------------------------------------------------------------
-- R34: rejected rows are the owner's to see, and to try again
-- ---------------------------------------------------------------------------
CREATE ROLE qu_stranger;
GRANT USAGE ON SCHEMA qu TO qu_stranger;
GRANT SELECT ON dim_c TO qu_stranger;
SET ROLE qu_stranger;
SELECT count(*) FROM scd2.rejected;
CALL scd2.retry_rejected('qu.dim_c');
INSERT INTO scd2.rejected (run, reason) VALUES (1, 'x');
RESET ROLE;
-- the source is gone
DROP TABLE p;
CALL scd2.retry_rejected('dim_p');

-- R8: a change of a retry lacks what the source lacks now; that it comes later with null is another change
CREATE TABLE lost (id integer, at timestamptz, n integer, c text);
SELECT scd2.create_dimension('dim_lost', source => 'lost', business_key => '{id}', effective_at => 'at', sequence_by => '{n}',
                             on_bad_row => 'quarantine', on_drift => 'ignore', type1 => '{c}');
INSERT INTO lost VALUES (1, '2026-01-01', NULL, 'c');
CALL scd2.apply('dim_lost');
UPDATE scd2.registry_rejected SET row_data = jsonb_set(row_data, '{n}', '1')
 WHERE dimension_id = (SELECT dimension_id FROM scd2.registry_cache WHERE relation = 'dim_lost'::regclass);
ALTER TABLE lost DROP c;
CALL scd2.retry_rejected('dim_lost');
SELECT counted();
ALTER TABLE lost ADD c text;
UPDATE lost SET n = 1;
CALL scd2.apply('dim_lost');
SELECT counted();

-- ---------------------------------------------------------------------------
-- R19: bad rows and rows with json, where parallel workers read the source
-- ---------------------------------------------------------------------------
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TABLE many (id integer, day timestamptz, doc json);
INSERT INTO many SELECT i, '2026-01-01', json_build_object('n', i) FROM generate_series(1, 3000) i;
INSERT INTO many VALUES (-1, NULL, '"no\u0000jsonb"'), (NULL, '2026-01-01', '1');
ANALYZE many;
EXPLAIN (COSTS OFF) SELECT id, day, doc FROM many;
SELECT scd2.create_dimension('dim_many', source => 'many', business_key => '{id}', effective_at => 'day', period_type => 'date',
                             on_bad_row => 'quarantine');
SELECT action, count(*), count(DISTINCT new) FROM scd2.preview('dim_many') GROUP BY action ORDER BY action;
CALL scd2.apply('dim_many');
SELECT counted();
SELECT row_data, reason FROM scd2.rejected WHERE dimension = 'dim_many'::regclass ORDER BY reason;
-- late ones, too
UPDATE many SET day = '2025-01-01', doc = '{"n": "late"}' WHERE id % 100 = 0;
SELECT action, count(*), count(DISTINCT new) FROM scd2.preview('dim_many') GROUP BY action ORDER BY action;
CALL scd2.apply('dim_many');
SELECT counted();
CALL scd2.retry_rejected('dim_many');
SELECT counted();
SELECT count(*) FROM scd2.check('dim_many');
-- and a retry's, even where the planner is forced to begin a worker for one row
SELECT set_config(name, 'on', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
CALL scd2.retry_rejected('dim_many');
SELECT set_config(name, 'off', false) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
SELECT counted();
-- and where a bad row fails the batch
SELECT scd2.create_dimension('dim_all', source => 'many', business_key => '{id}', effective_at => 'day');
CALL scd2.apply('dim_all');
-- R35: more rejected rows than fit into memory, of several batches, each in its own time
CREATE TABLE much (id integer, a text, b integer);
SELECT scd2.create_dimension('dim_much', source => 'much', business_key => '{id}', on_bad_row => 'quarantine', mode => 'snapshot');
INSERT INTO much SELECT NULL, repeat('x', 100), i FROM generate_series(1, 2000) i;
CALL scd2.apply('dim_much', batch_time => '2026-01-01', force => true);
UPDATE much SET a = repeat('y', 100);
CALL scd2.apply('dim_much', batch_time => '2026-01-02', force => true);
SET work_mem = '64kB';
CALL scd2.retry_rejected('dim_much');
SELECT counted();
SELECT left(row_data ->> 'a', 1) AS a, count(DISTINCT row_data), min(reason) FROM rejected WHERE dimension = 'dim_much'::regclass GROUP BY 1 ORDER BY 1;
RESET work_mem;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

SET client_min_messages = error;
DROP SCHEMA qu CASCADE;
DROP ROLE qu_stranger;
