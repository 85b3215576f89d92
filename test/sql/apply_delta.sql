-- Mode delta, changes in order: R5 to R9, R15 to R17, R20.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA ad;
SET search_path = ad;

-- what the session's last run counted, zeros left out
CREATE FUNCTION counted() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(e.key || ' ' || e.value, ', ' ORDER BY e.key)
      FROM scd2.runs r, jsonb_each_text(to_jsonb(r)) AS e
     WHERE r.id = scd2.last_run() AND e.value <> '0'
       AND (e.key LIKE 'rows\_%' OR e.key LIKE 'keys\_%' OR e.key LIKE 'versions\_%')
$$;

-- ---------------------------------------------------------------------------
-- R8: every type, several changes in one batch and in several
-- ---------------------------------------------------------------------------
CREATE TABLE s (id integer, t0 text, t1 text, t2 text, t3 text, t6 text, at timestamptz);
SELECT scd2.create_dimension('one', source => 's', business_key => '{id}', type0 => '{t0}', type1 => '{t1}',
                             type3 => '{t3}', type6 => '{t6}', effective_at => 'at');
SELECT scd2.create_dimension('many', source => 's', business_key => '{id}', type0 => '{t0}', type1 => '{t1}',
                             type3 => '{t3}', type6 => '{t6}', effective_at => 'at');
CREATE TABLE history (LIKE s);
INSERT INTO history VALUES
    (1, 'a0', 'a1', 'a2', 'a3', 'a6', '2024-01-01'),
    (1, 'b0', 'a1', 'a2', 'a3', 'a6', '2024-01-02'),    -- type 0 drifts: nothing
    (1, 'b0', 'b1', 'a2', 'a3', 'a6', '2024-01-03'),    -- type 1: every version
    (1, 'b0', 'b1', 'b2', 'a3', 'a6', '2024-01-04'),    -- type 2: a version
    (1, 'b0', 'b1', 'b2', 'b3', 'a6', '2024-01-05'),    -- type 3: previous_t3
    (1, 'b0', 'b1', 'b2', 'b3', 'b6', '2024-01-06'),    -- type 6: a version, and current_t6
    (1, 'b0', 'b1', 'b2', 'b3', 'b6', '2024-01-07'),    -- a confirmation
    (1, 'b0', 'b1', 'a2', 'b3', 'b6', '2024-01-08'),    -- back to what it was: a change (R6)
    (1, 'b0', NULL, NULL, NULL, NULL, '2024-01-09'),    -- null is a value like any other
    (1, 'b0', 'c1', 'c2', 'a3', 'c6', '2024-01-10');
INSERT INTO s SELECT * FROM history;
CALL scd2.apply('one');
SELECT counted();
SELECT id, t0, t1, t2, t3, previous_t3, t6, current_t6, valid_from::date, valid_to::date, is_current
  FROM one WHERE id IS NOT NULL ORDER BY valid_from;
-- the same, one change a batch
DO $$
DECLARE
    change ad.history;
BEGIN
    FOR change IN SELECT * FROM ad.history ORDER BY at LOOP
        TRUNCATE ad.s;
        INSERT INTO ad.s VALUES (change.*);
        CALL scd2.apply('ad.many');
        RAISE WARNING '%: %', change.at::date, ad.counted();
    END LOOP;
END $$;
-- R10: no difference, surrogate keys and hashes included
SELECT * FROM one EXCEPT ALL SELECT * FROM many;
SELECT * FROM many EXCEPT ALL SELECT * FROM one;
-- the log has every change, confirmations too (R20), in the order of arrival
SELECT t0, t1, t2, t3, t6, scd2_effective_at, scd2_deleted FROM many_log ORDER BY scd2_id;
-- row_hash is over types 2 and 6 in the order of the source
SELECT count(*) FROM one WHERE id IS NOT NULL AND row_hash <> scd2.row_hash(t2, t6);
SELECT count(*) FROM one WHERE id IS NOT NULL AND one_sk <> scd2.surrogate_key(id, valid_from);
SELECT * FROM scd2.check('one');
SELECT * FROM scd2.check('many');

-- R11: the whole history again is nothing but replays; the NOTICE says so (R21)
TRUNCATE s;
INSERT INTO s SELECT * FROM history;
CALL scd2.apply('one');
SELECT counted();
SELECT count(*) FROM one_log;

-- no type 2 column at all: one version a key
TRUNCATE s;
SELECT scd2.create_dimension('only1', source => 's', business_key => '{id}', type1 => '{t0,t1,t2,t3,t6}', type2 => '{}', effective_at => 'at');
INSERT INTO s SELECT * FROM history;
CALL scd2.apply('only1');
SELECT id, t0, t1, t2, t3, t6, valid_from::date, is_current, row_hash = scd2.row_hash(VARIADIC '{}'::text[]) AS hash_of_nothing
  FROM only1 WHERE id IS NOT NULL;

-- and no attribute at all
CREATE TABLE bare (id integer, at timestamptz);
SELECT scd2.create_dimension('dim_bare', source => 'bare', business_key => '{id}', effective_at => 'at');
INSERT INTO bare VALUES (1, '2024-01-01'), (1, '2024-01-02'), (2, '2024-01-01');
CALL scd2.apply('dim_bare');
SELECT id, valid_from::date, is_current FROM dim_bare ORDER BY id;
SELECT counted();
SELECT * FROM scd2.check('dim_bare');

-- ---------------------------------------------------------------------------
-- R7: deletes
-- ---------------------------------------------------------------------------
CREATE TABLE d (id integer, a text, n text, at timestamptz, op text);
INSERT INTO d VALUES
    (1, 'a', 'x', '2024-01-01', 'I'),
    (1, 'a', 'x', '2024-01-02', 'D'),   -- closes
    (1, 'a', 'x', '2024-01-03', 'D'),   -- nothing open: nothing
    (1, 'a', 'x', '2024-01-04', 'I'),   -- reopens with equal values: the gap is legal
    (1, 'b', 'y', '2024-01-05', 'U'),
    (1, 'zz', 'zz', '2024-01-06', 'D'), -- a delete has no attributes: type 1 stays y
    (2, NULL, NULL, '2024-01-01', 'D'), -- a key never seen
    (3, 'a', 'x', '2024-01-01', 'I');
SELECT scd2.create_dimension('d_close',  source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at', delete_when => 'op = ''D''');
SELECT scd2.create_dimension('d_flag',   source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at', delete_when => 'op = ''D''', on_delete => 'flag');
SELECT scd2.create_dimension('d_ignore', source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at', delete_when => 'op = ''D''', on_delete => 'ignore');
SELECT scd2.create_dimension('d_error',  source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at', delete_when => 'op = ''D''', on_delete => 'error');
CALL scd2.apply('d_close');
SELECT counted();
SELECT id, a, n, valid_from::date, valid_to::date, is_current FROM d_close WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT id, a, n, scd2_effective_at::date, scd2_deleted FROM d_close_log ORDER BY scd2_id;
CALL scd2.apply('d_flag');
SELECT counted();
SELECT id, a, n, valid_from::date, valid_to::date, is_current, is_deleted FROM d_flag WHERE id IS NOT NULL ORDER BY id, valid_from;
-- the flagged version is the current one, and shows in every view
SELECT id, is_deleted FROM d_flag_current ORDER BY id;
CALL scd2.apply('d_ignore');
SELECT counted();
SELECT id, a, n, valid_from::date, valid_to::date, is_current FROM d_ignore WHERE id IS NOT NULL ORDER BY id, valid_from;
-- an ignored delete counts for nothing beside a change of the same time either, nor twice when it comes twice
CREATE TABLE d_same (LIKE d);
INSERT INTO d_same VALUES (3, NULL, NULL, '2024-02-01', 'D'), (3, NULL, NULL, '2024-02-01', 'D'), (3, 'b', 'x', '2024-02-01', 'U');
CALL scd2.apply('d_ignore', source => 'd_same');
SELECT counted();
CALL scd2.apply('d_error');
SELECT count(*) FROM d_error WHERE id IS NOT NULL;
SELECT v.* FROM unnest('{d_close,d_flag,d_ignore,d_error}'::regclass[]) AS dim, scd2.check(dim) AS v;
-- one change a batch gives the same
SELECT scd2.create_dimension('d_close1', source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at', delete_when => 'op = ''D''');
SELECT scd2.create_dimension('d_flag1',  source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at', delete_when => 'op = ''D''', on_delete => 'flag');
CREATE TABLE d_all AS SELECT * FROM d;
DO $$
DECLARE
    change ad.d_all;
BEGIN
    FOR change IN SELECT * FROM ad.d_all ORDER BY at, id LOOP
        TRUNCATE ad.d;
        INSERT INTO ad.d VALUES (change.*);
        CALL scd2.apply('ad.d_close1');
        CALL scd2.apply('ad.d_flag1');
    END LOOP;
END $$;
SELECT * FROM d_close EXCEPT ALL SELECT * FROM d_close1;
SELECT * FROM d_close1 EXCEPT ALL SELECT * FROM d_close;
SELECT * FROM d_flag EXCEPT ALL SELECT * FROM d_flag1;
SELECT * FROM d_flag1 EXCEPT ALL SELECT * FROM d_flag;

-- delete_when that is null is no delete
TRUNCATE d;
INSERT INTO d VALUES (4, 'a', 'x', '2024-01-01', NULL);
CALL scd2.apply('d_close');
SELECT id, is_current FROM d_close WHERE id = 4;

-- Hard case 35: two deletes of a key at one position, with values and without, are one change
TRUNCATE d;
INSERT INTO d VALUES (3, 'a', 'x', '2024-02-01', 'D'), (3, NULL, NULL, '2024-02-01', 'D');
CALL scd2.apply('d_close');
SELECT counted();
TRUNCATE d;
INSERT INTO d VALUES (3, 'other', NULL, '2024-02-01', 'D');
CALL scd2.apply('d_close');
SELECT counted();
SELECT count(*) FROM d_close_log WHERE id = 3 AND scd2_deleted;

-- ---------------------------------------------------------------------------
-- R5: equal E: the last in order stands
-- ---------------------------------------------------------------------------
CREATE TABLE q (id integer, a text, at timestamptz, n integer, m integer, gone boolean);
SELECT scd2.create_dimension('dim_q', source => 'q', business_key => '{id}', type2 => '{a}', effective_at => 'at',
                             sequence_by => '{n,m}', delete_when => 'gone');
INSERT INTO q VALUES
    (1, 'last',  '2024-01-01', 2, 1), (1, 'first', '2024-01-01', 1, 9), (1, 'second', '2024-01-01', 2, 0),
    (2, 'a', '2024-01-01', 1, 1), (2, 'a', '2024-01-02', 1, 1), (2, 'b', '2024-01-02', 2, 1), (2, 'a', '2024-01-02', 3, 1),
    (3, 'a', '2024-01-01', 1, 1);
INSERT INTO q VALUES (3, NULL, '2024-01-01', 2, 1, true);     -- opened and deleted at once: no version
CALL scd2.apply('dim_q');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_q WHERE id IS NOT NULL ORDER BY id, valid_from;
-- all are in the log, with their S
SELECT id, a, scd2_seq_1, scd2_seq_2, scd2_deleted FROM dim_q_log ORDER BY id, scd2_effective_at, 3, 4;
-- identical rows are one change
TRUNCATE q;
INSERT INTO q VALUES (4, 'a', '2024-01-01', 1, 1), (4, 'a', '2024-01-01', 1, 1), (4, 'a', '2024-01-01', 1, 1);
CALL scd2.apply('dim_q');
SELECT counted();
SELECT count(*) FROM dim_q_log WHERE id = 4;
-- replays of part of what was logged at one E, S included
TRUNCATE q;
INSERT INTO q VALUES (1, 'first', '2024-01-01', 1, 9, false), (1, 'last', '2024-01-01', 2, 1, false), (3, NULL, '2024-01-01', 2, 1, true);
CALL scd2.apply('dim_q');
SELECT counted();
SELECT * FROM scd2.check('dim_q');

-- on_duplicate
SELECT scd2.create_dimension('q_latest', source => 'q', business_key => '{id}', type2 => '{a}', effective_at => 'at',
                             sequence_by => '{n}', on_duplicate => 'latest');
SELECT scd2.create_dimension('q_error', source => 'q', business_key => '{id}', type2 => '{a}', effective_at => 'at',
                             sequence_by => '{n}', on_duplicate => 'error');
TRUNCATE q;
INSERT INTO q VALUES (1, 'c', '2024-01-02', 1), (1, 'd', '2024-01-02', 2), (1, 'a', '2024-01-01', 9), (2, 'a', '2024-01-01', 1);
CALL scd2.apply('q_latest');
SELECT counted();
SELECT id, a, valid_from::date FROM q_latest WHERE id IS NOT NULL ORDER BY id;
CALL scd2.apply('q_error');
SELECT count(*) FROM q_error WHERE id IS NOT NULL;
-- identical rows are one, and no duplicates
TRUNCATE q;
INSERT INTO q VALUES (1, 'c', '2024-01-02', 1), (1, 'c', '2024-01-02', 1);
CALL scd2.apply('q_error');
SELECT counted();

-- ---------------------------------------------------------------------------
-- ignore_null_updates (R8): null takes the value before it; a delete starts afresh
-- ---------------------------------------------------------------------------
CREATE TABLE u (id integer, t0 text, t1 text, t2 text, t3 text, t6 text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_u', source => 'u', business_key => '{id}', type0 => '{t0}', type1 => '{t1}', type3 => '{t3}',
                             type6 => '{t6}', effective_at => 'at', delete_when => 'gone', ignore_null_updates => true);
INSERT INTO u VALUES
    (1, 'a', 'a', 'a', 'a', 'a', '2024-01-01', false),
    (1, NULL, NULL, NULL, NULL, NULL, '2024-01-02', false),
    (1, NULL, 'b', NULL, 'b', NULL, '2024-01-03', false),
    (1, NULL, NULL, 'c', NULL, NULL, '2024-01-04', false),
    (2, NULL, NULL, NULL, NULL, NULL, '2024-01-01', false),
    (2, 'a', NULL, 'a', NULL, 'a', '2024-01-02', false);
CALL scd2.apply('dim_u');
SELECT counted();
SELECT id, t0, t1, t2, t3, previous_t3, t6, current_t6, valid_from::date, valid_to::date FROM dim_u WHERE id IS NOT NULL ORDER BY id, valid_from;
TRUNCATE u;
INSERT INTO u VALUES
    (1, NULL, NULL, NULL, NULL, 'd', '2024-01-05', false),  -- over the batch's edge
    (1, NULL, NULL, NULL, NULL, NULL, '2024-01-06', true),
    (1, NULL, NULL, NULL, NULL, NULL, '2024-01-07', false);
CALL scd2.apply('dim_u');
SELECT counted();
SELECT id, t0, t1, t2, t3, previous_t3, t6, current_t6, valid_from::date, valid_to::date FROM dim_u WHERE id = 1 ORDER BY valid_from;
-- the log has what was sent
SELECT t1, t2, scd2_effective_at::date FROM dim_u_log WHERE id = 1 ORDER BY scd2_id;
CALL scd2.apply('dim_u');
SELECT counted();
SELECT * FROM scd2.check('dim_u');

-- ---------------------------------------------------------------------------
-- R20: without effective_at, E is the batch's time
-- ---------------------------------------------------------------------------
CREATE TABLE b (id integer, a text, gone boolean);
SELECT scd2.create_dimension('dim_b', source => 'b', business_key => '{id}', delete_when => 'gone');
INSERT INTO b VALUES (1, 'a'), (2, 'a'), (3, 'a');
CALL scd2.apply('dim_b', batch_time => '2024-01-01');
TRUNCATE b;
INSERT INTO b VALUES (1, 'b', false), (2, 'a', NULL), (3, NULL, true), (4, 'a', false), (5, NULL, true);
CALL scd2.apply('dim_b', batch_time => '2024-01-02');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date FROM dim_b WHERE id IS NOT NULL ORDER BY id, valid_from;
-- an unchanged row is not logged
SELECT id, a, scd2_effective_at::date, scd2_deleted FROM dim_b_log ORDER BY id, scd2_effective_at;
-- the batch again, later: nothing; at its own time: nothing; and an error when it would change
-- anything of what was known at its time (R5)
CALL scd2.apply('dim_b', batch_time => '2024-01-03');
SELECT counted();
CALL scd2.apply('dim_b', batch_time => '2024-01-02');
SELECT counted();
SELECT count(*) FROM scd2.preview('dim_b', batch_time => '2024-01-02');
CALL scd2.apply('dim_b', batch_time => '2024-01-01');
BEGIN;
TRUNCATE b;
INSERT INTO b VALUES (1, 'a'), (2, 'a'), (3, 'a');
CALL scd2.apply('dim_b', batch_time => '2024-01-01');
SELECT counted();
ROLLBACK;
UPDATE b SET a = 'c' WHERE id = 1;
CALL scd2.apply('dim_b', batch_time => '2024-01-02 12:00');
SELECT count(*) FROM scd2.preview('dim_b', batch_time => '2024-01-02 12:00');
SELECT id, a FROM dim_b_current WHERE id = 1;
-- the default is the time of the run: later than every earlier one's (R20), also in one transaction
BEGIN;
CALL scd2.apply('dim_b');
UPDATE b SET a = 'd' WHERE id = 1;
CALL scd2.apply('dim_b');
SELECT a, valid_from > lag(valid_from) OVER (ORDER BY valid_from) AS later FROM dim_b WHERE id = 1 ORDER BY valid_from;
ROLLBACK;
-- several rows of a key have one E: the same is one, different ones are bad
TRUNCATE b;
INSERT INTO b VALUES (6, 'x'), (6, 'x');
CALL scd2.apply('dim_b', batch_time => '2024-01-04');
SELECT counted();
INSERT INTO b VALUES (6, 'y');
CALL scd2.apply('dim_b', batch_time => '2024-01-05');
SELECT * FROM scd2.check('dim_b');
-- R5: with sequence_by the last in order stands; replaying an unchanged row compares with the state
CREATE TABLE bs (id integer, a text, n integer);
SELECT scd2.create_dimension('dim_bs', source => 'bs', business_key => '{id}', type2 => '{a}', sequence_by => '{n}');
INSERT INTO bs VALUES (1, 'b', 2), (1, 'a', 1), (2, 'a', 2), (2, 'a', 1);
CALL scd2.apply('dim_bs', batch_time => '2024-01-01');
SELECT counted();
SELECT id, a, valid_from::date FROM dim_bs WHERE id IS NOT NULL ORDER BY id;
CALL scd2.apply('dim_bs', batch_time => '2024-01-02');
SELECT counted();
SELECT count(*) FROM dim_bs WHERE id IS NOT NULL;
SELECT * FROM scd2.check('dim_bs');

-- ---------------------------------------------------------------------------
-- without a log (R20): late is E not after the newest valid_from or closed valid_to;
-- a change equal to the version at its E is a replay
-- ---------------------------------------------------------------------------
TRUNCATE d;
SELECT scd2.create_dimension('nolog', source => 'd', business_key => '{id}', type1 => '{n}', effective_at => 'at',
                             delete_when => 'op = ''D''', change_log => false);
INSERT INTO d SELECT * FROM d_all;
CALL scd2.apply('nolog');
SELECT id, a, n, valid_from::date, valid_to::date FROM nolog WHERE id IS NOT NULL ORDER BY id, valid_from;
TRUNCATE d;
INSERT INTO d VALUES (1, 'a', 'x', '2024-01-01', 'I'), (1, NULL, NULL, '2024-01-02', 'D'), (1, 'b', 'y', '2024-01-05', 'I'),
                     (1, NULL, NULL, '2024-01-06', 'D'), (3, 'a', 'x', '2024-01-01', 'I');
CALL scd2.apply('nolog');
SELECT counted();
-- before the version's end, but equal to it
TRUNCATE d;
INSERT INTO d VALUES (1, 'a', 'x', '2024-01-01 12:00', 'I');
CALL scd2.apply('nolog');
SELECT counted();
TRUNCATE d;
INSERT INTO d VALUES (1, 'b', 'x', '2024-01-01 12:00', 'I');
CALL scd2.apply('nolog');
TRUNCATE d;
INSERT INTO d VALUES (1, 'b', 'x', '2024-01-05 12:00', 'D');
CALL scd2.apply('nolog');
SELECT * FROM scd2.check('nolog');

DROP SCHEMA ad CASCADE;
