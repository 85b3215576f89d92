-- Inferred members (R31): facts before their dimension's row, and the first real change that completes it
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE SCHEMA fi;
SET search_path = fi;

-- mode delta with effective_at; two roles of one fact, one of them without infer
CREATE TABLE src (id int, name text, city text, tier text, old text, at timestamptz, op text);
SELECT scd2.create_dimension('dim', 'src', '{id}', type0 => '{old}', type1 => '{name}', type3 => '{tier}', type2 => '{city}',
                             effective_at => 'at', delete_when => 'op = ''D''');
CREATE TABLE orders (n int PRIMARY KEY, id bigint, ordered_at timestamptz, ordered_by bigint NOT NULL DEFAULT -1 REFERENCES dim,
                     ship_to bigint, shipped_at timestamptz, shipped_by bigint REFERENCES dim);
SELECT scd2.register_fact('orders', 'dim', '{id}', 'ordered_at', 'ordered_by', infer => true);
SELECT scd2.register_fact('orders', 'dim', '{ship_to}', 'shipped_at', 'shipped_by');
INSERT INTO src VALUES (1, 'Ada', 'Rome', 'gold', 'x', '2026-01-01', NULL);
CALL scd2.apply('dim');
INSERT INTO orders (n, id, ordered_at, ship_to, shipped_at) VALUES
    (1, 1, '2026-01-05', 2, '2026-01-06'), (2, 2, '2026-01-10', 2, '2026-01-12'), (3, 2, '2026-01-08', 3, '2026-01-12'),
    (4, NULL, '2026-01-08', NULL, NULL), (5, 4, NULL, 1, 'infinity'), (6, 5, 'infinity', 1, '2025-12-31'), (7, 6, '9999-12-31', NULL, NULL);
SET scd2.notice = on;
SELECT setval('scd2.registry_run_id_seq', 20000);
SET client_min_messages = notice;
DO $$BEGIN
    CALL scd2.resolve('fi.orders');
EXCEPTION WHEN OTHERS THEN RAISE; END$$;
SET client_min_messages = warning;
SET scd2.notice = off;
CREATE VIEW dims AS SELECT id, name, city, tier, previous_tier, old, valid_from, valid_to, is_current FROM dim WHERE id IS NOT NULL ORDER BY id, valid_from;
CREATE VIEW facts AS SELECT n, id, ordered_at, o.valid_from AS ordered, ship_to, shipped_at, s.valid_from AS shipped
    FROM orders LEFT JOIN (SELECT dim_sk, valid_from FROM dim WHERE id IS NOT NULL) o ON o.dim_sk = ordered_by LEFT JOIN (SELECT dim_sk, valid_from FROM dim WHERE id IS NOT NULL) s ON s.dim_sk = shipped_by ORDER BY n;
SELECT * FROM dims;
SELECT * FROM facts;
SELECT id, scd2_effective_at, scd2_lacks FROM dim_log WHERE id = 2;
SELECT action, source, keys_new, versions_opened, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM scd2.check('dim');
-- again: nothing
CALL scd2.resolve('orders');
SELECT versions_opened, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();

-- the first real change, later than the facts: it completes the member, whose key stays
SELECT dim_sk AS sk FROM dim WHERE id = 2 \gset
TRUNCATE src; INSERT INTO src VALUES (2, 'Bob', 'Oslo', 'iron', 'y', '2026-02-01', NULL);
BEGIN;
CALL scd2.apply('dim');
SELECT rows_late, versions_opened, versions_closed, rows_overwritten, rows_confirmed, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT *, :sk = (SELECT dim_sk FROM dim WHERE id = 2) AS same_key FROM dims WHERE id = 2;
-- the next one is like any other
UPDATE src SET city = 'Bonn', tier = NULL, old = 'z', at = '2026-03-01';
CALL scd2.apply('dim');
SELECT * FROM dims WHERE id = 2;
-- an undo of both makes it an inferred member again
CALL scd2.undo('dim', scd2.last_run());
CALL scd2.undo('dim', scd2.last_run() - 2);
SELECT * FROM dims WHERE id = 2;
SELECT * FROM scd2.check('dim');
ROLLBACK;
-- earlier: the member goes, and its facts get the real one's key
BEGIN;
UPDATE src SET at = '2026-01-02';
CALL scd2.apply('dim');
SELECT rows_late, versions_opened, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM dims WHERE id = 2;
SELECT * FROM facts WHERE n IN (2, 3);
SELECT * FROM scd2.check('dim');
-- and the same batch again is none
CALL scd2.apply('dim');
SELECT rows_replayed, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
ROLLBACK;
-- at its very time, all null even: a change, logged, which the next one follows
BEGIN;
UPDATE src SET name = NULL, city = NULL, tier = NULL, old = NULL, at = '2026-01-08';
CALL scd2.apply('dim');
SELECT rows_replayed, rows_late FROM scd2.runs WHERE id = scd2.last_run();
UPDATE src SET city = 'Bonn', old = 'z', at = '2026-03-01';
CALL scd2.apply('dim');
SELECT * FROM dims WHERE id = 2;
ROLLBACK;
-- a delete first, then a real one
BEGIN;
UPDATE src SET op = 'D';
CALL scd2.apply('dim');
SELECT * FROM dims WHERE id = 2;
UPDATE src SET op = NULL, at = '2026-03-01';
CALL scd2.apply('dim');
SELECT * FROM dims WHERE id = 2;
SELECT * FROM scd2.check('dim');
ROLLBACK;

-- the same whatever comes first: facts, then the rows, in any split and order (R10)
CREATE TABLE feed (i int GENERATED ALWAYS AS IDENTITY, id int, city text, at timestamptz);
INSERT INTO feed (id, city, at) SELECT 1 + i % 7, chr(65 + (i * 5 % 3)), timestamptz '2026-01-01' + (i * 37 % 100) * interval '7 hours' FROM generate_series(1, 60) i;
CREATE TABLE part (id int, city text, at timestamptz, seq int);
CREATE TABLE fact (id int, ts timestamptz, sk bigint);
CREATE FUNCTION final(splits int, backwards boolean, OUT chains text, OUT facts text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM scd2.create_dimension('fi.dim_any', 'fi.part', '{id}', type2 => '{city}', effective_at => 'at', sequence_by => '{seq}', on_late => 'rebuild');
    TRUNCATE fi.fact;
    INSERT INTO fi.fact SELECT 1 + i % 8, timestamptz '2025-12-25' + (i * 53 % 120) * interval '7 hours' FROM generate_series(1, 100) i;
    PERFORM scd2.register_fact('fi.fact', 'fi.dim_any', '{id}', 'ts', 'sk', infer => true);
    FOR s IN 0..splits LOOP
        CALL scd2.resolve('fi.fact');
        TRUNCATE fi.part;
        IF s > 0 THEN
            INSERT INTO fi.part SELECT id, city, at, i FROM fi.feed WHERE i % splits = CASE WHEN backwards THEN splits - s ELSE s - 1 END;
            CALL scd2.apply('fi.dim_any');
        END IF;
    END LOOP;
    SELECT string_agg(concat_ws(' ', id, city, valid_from), ', ' ORDER BY id, valid_from) INTO chains FROM fi.dim_any WHERE id IS NOT NULL;
    IF EXISTS (SELECT FROM scd2.check('fi.dim_any')) THEN RAISE EXCEPTION 'check: %', (SELECT string_agg(c::text, ' ') FROM scd2.check('fi.dim_any') c); END IF;
    SELECT string_agg(concat_ws(' ', f.id, ts, coalesce(d.city, '-')), ', ' ORDER BY f.id, ts) INTO facts
      FROM fi.fact f LEFT JOIN fi.dim_any d ON d.any_sk = f.sk;
    PERFORM scd2.drop_dimension('fi.dim_any', keep_table => false);
    DROP TABLE fi.dim_any_log;
END
$$;
SELECT count(DISTINCT chains), count(DISTINCT facts), bool_and(chains LIKE '%8 2025%') AS inferred FROM (VALUES (1), (2), (5), (60)) s(n), (VALUES (false), (true)) b(w), final(n, w);

-- snapshots: an inferred member is not absent, a completed one is
CREATE TABLE snap (id int, city text);
INSERT INTO snap VALUES (1, 'Rome');
SELECT scd2.create_dimension('dim_snap', 'snap', '{id}', mode => 'snapshot', on_late => 'error', max_delete_fraction => 0.4, on_delete => 'close');
CALL scd2.apply('dim_snap', batch_time => '2026-01-01');
CREATE TABLE visits (id int, day date, sk bigint REFERENCES dim_snap);
SELECT scd2.register_fact('visits', 'dim_snap', '{id}', 'day', 'sk', infer => true);
INSERT INTO visits VALUES (2, '2026-01-05'), (3, '2026-01-20'), (1, '2026-01-05'), (4, '2026-01-03');
CALL scd2.resolve('visits');
CREATE VIEW snaps AS SELECT id, city, valid_from::date, valid_to::date, is_current FROM dim_snap WHERE id IS NOT NULL ORDER BY id, valid_from;
-- lacks them all
CALL scd2.apply('dim_snap', batch_time => '2026-01-10');
SELECT * FROM snaps;
-- has them, one with a null, and before that one's facts
INSERT INTO snap VALUES (2, 'Oslo'), (3, 'Bonn'), (4, NULL);
SELECT action, key, new FROM scd2.preview('dim_snap', batch_time => '2026-01-15') ORDER BY key, action;
CALL scd2.apply('dim_snap', batch_time => '2026-01-15');
SELECT rows_unchanged, rows_late, rows_deleted FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM snaps;
CALL scd2.apply('dim_snap', batch_time => '2026-01-16');
SELECT rows_unchanged, rows_confirmed, versions_opened FROM scd2.runs WHERE id = scd2.last_run();
DELETE FROM snap WHERE id = 4;
CALL scd2.apply('dim_snap', batch_time => '2026-02-01');
SELECT * FROM snaps;
SELECT v.id, v.day, d.city, d.valid_from::date FROM visits v LEFT JOIN dim_snap d ON d.snap_sk = v.sk ORDER BY 1;
SELECT * FROM scd2.check('dim_snap');

-- a late snapshot (backfill), too
SELECT scd2.create_dimension('dim_back', 'snap', '{id}', mode => 'snapshot');
CALL scd2.apply('dim_back', batch_time => '2026-03-01');
ALTER TABLE visits ADD back_sk bigint;
SELECT scd2.register_fact('visits', 'dim_back', '{id}', 'day', 'back_sk', infer => true);
INSERT INTO visits VALUES (9, '2026-01-02');
CALL scd2.resolve('visits');
CALL scd2.apply('dim_back', batch_time => '2026-02-01');
SELECT id, city, valid_from::date, valid_to::date FROM dim_back WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT v.id, v.day, d.id AS found FROM visits v LEFT JOIN dim_back d USING (back_sk) ORDER BY 1;
SELECT * FROM scd2.check('dim_back');

-- snapshot with effective_at: the first row keeps its time, before the facts' and after
CREATE TABLE dated (id int, city text, at date);
SELECT scd2.create_dimension('dim_dated', 'dated', '{id}', mode => 'snapshot', effective_at => 'at', period_type => 'date', initial_valid_from => '2025-01-01');
CREATE TABLE hits (id int, ts timestamp, sk bigint);
SELECT scd2.register_fact('hits', 'dim_dated', '{id}', 'ts', 'sk', infer => true);
INSERT INTO hits VALUES (1, '2026-01-05 10:00'), (2, '2026-01-05 23:59'), (3, '2024-12-31');
CALL scd2.resolve('hits');
SELECT id, city, valid_from, valid_to FROM dim_dated WHERE id IS NOT NULL ORDER BY 1;
SELECT id, sk = -1 AS unknown FROM hits ORDER BY 1;
INSERT INTO dated VALUES (1, 'Rome', '2026-01-02'), (2, 'Oslo', '2026-01-09');
CALL scd2.apply('dim_dated', batch_time => '2026-02-01');
SELECT id, city, valid_from, valid_to FROM dim_dated WHERE id IS NOT NULL ORDER BY 1;
SELECT id, scd2_effective_at, scd2_lacks IS NOT NULL AS inferred FROM dim_dated_log ORDER BY scd2_id;
SELECT * FROM scd2.check('dim_dated');

-- an inferred member is early, not late
SELECT scd2.create_dimension('dim_strict', 'dated', '{id}', effective_at => 'at', on_late => 'error', period_type => 'date');
ALTER TABLE hits ADD strict bigint;
SELECT scd2.register_fact('hits', 'dim_strict', '{id}', 'ts', 'strict', infer => true);
CALL scd2.resolve('hits');
CALL scd2.apply('dim_strict');
SELECT id, city, valid_from, valid_to FROM dim_strict WHERE id IS NOT NULL ORDER BY 1;

-- a key that the dimension cannot hold
CREATE TABLE wide (id bigint, ts timestamptz, sk bigint);
SELECT scd2.register_fact('wide', 'dim', '{id}', 'ts', 'sk', infer => true);
INSERT INTO wide VALUES (5000000000, '2026-01-01');
DO $$BEGIN CALL scd2.resolve('fi.wide'); EXCEPTION WHEN OTHERS THEN RAISE WARNING '% %', SQLSTATE, SQLERRM; END$$;
SELECT scd2.unregister_fact('wide', 'sk');
SELECT scd2.register_fact('wide', 'dim', '{id}', 'ts', 'sk');
CALL scd2.resolve('wide');
SELECT sk FROM wide;
SET client_min_messages = error;
DROP SCHEMA fi CASCADE;
