-- rebuild where many changes have equal (K, E): the last by (source's time, S, arrival) stands (R5, R10)
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA rt;
SET search_path = rt;
SET scd2.notice = off;

-- They come in four batches and in no order.  The sequence is ordered by its collation,
-- which has a < B < c < D, where bytes have B < D < a < c; two of its values are toasted.
CREATE TABLE changes AS
SELECT n * 37 % 240 / 60 AS batch, n % 5 AS id, timestamptz '2026-01-01' + n % 4 * interval '1 day' + n % 3 * interval '5 hours' AS at,
       (ARRAY['a', 'B', 'c', 'D', 'é', 'Z', n % 3 || repeat('long', 30000), n % 3 || repeat('Long', 30000) || 'er'])[(n * 3 + n / 60) % 8 + 1] COLLATE "und-x-icu" AS s1,
       round((n * 13 % 7)::numeric / 2, n % 3 + 1) AS s2, 'v' || n % 6 AS v, 'w' || n % 4 AS w, n * 11 % 9 < 2 AS gone
  FROM generate_series(0, 239) AS n
 ORDER BY n * 37 % 240;
CREATE VIEW s AS SELECT id, at, s1, s2, v, w, gone FROM changes WHERE batch = current_setting('rt.batch')::integer;

-- how many changes are logged, at how many times, and how many rows of the dimension,
-- which is folded as apply does (R16), differ from those of a rebuild
CREATE FUNCTION rebuilt(dim regclass, OUT logged bigint, OUT times bigint, OUT versions bigint, OUT differ bigint)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(*), count(DISTINCT (id, scd2_effective_at)) FROM %s', dim || '_log') INTO logged, times;
    EXECUTE format('CREATE TEMP TABLE again AS SELECT * FROM scd2.rebuild(NULL::%s)', dim);
    EXECUTE format('SELECT (SELECT count(*) FROM %1$s), (SELECT coalesce(sum(copies), 0) FROM scd2.diff(%1$L, %2$L))', dim, 'pg_temp.again') INTO versions, differ;
    DROP TABLE again;
END $$;
CREATE PROCEDURE load(dim text, options text, same_time boolean = false) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT scd2.create_dimension(%L, source => %L, business_key => %L, type1 => %L, type2 => %L, delete_when => %L,
                        on_bad_row => %L, unknown_member => false, %s)', dim, 's', '{id}', '{w}', '{v}', 'gone', 'quarantine', options);
    FOR batch IN 0..3 LOOP
        PERFORM set_config('rt.batch', batch::text, false);
        EXECUTE format('CALL scd2.apply(%L, batch_time => %L)', dim, timestamptz '2026-02-01' + CASE WHEN same_time THEN 0 ELSE batch END * interval '1 day');
    END LOOP;
END $$;
SET rt.batch = 0;

CALL load('dim_close', $$effective_at => 'at', sequence_by => '{s1,s2}'$$);
CALL load('dim_flag', $$effective_at => 'at', sequence_by => '{s2,s1}', on_delete => 'flag'$$);
CALL load('dim_date', $$effective_at => 'at', sequence_by => '{s1,s2}', period_type => 'date'$$);
CALL load('dim_arrival', $$effective_at => 'at', period_type => 'timestamp'$$);
CALL load('dim_batch_time', $$sequence_by => '{s1,s2}'$$, same_time => true);
SELECT 'dim_close' AS dimension, * FROM rebuilt('dim_close')
 UNION ALL SELECT 'dim_flag', * FROM rebuilt('dim_flag')
 UNION ALL SELECT 'dim_date', * FROM rebuilt('dim_date')
 UNION ALL SELECT 'dim_arrival', * FROM rebuilt('dim_arrival')
 UNION ALL SELECT 'dim_batch_time', * FROM rebuilt('dim_batch_time');

-- by the words of R5: a version has the values of the change that stands at its beginning
SELECT count(*), count(*) FILTER (WHERE r.v = l.v AND NOT l.scd2_deleted) AS right
  FROM scd2.rebuild(NULL::dim_date) AS r,
       LATERAL (SELECT l.v, l.scd2_deleted FROM dim_date_log AS l WHERE l.id = r.id AND l.scd2_effective_at = r.valid_from
                 ORDER BY l.scd2_source_time DESC, l.scd2_seq_1 DESC, l.scd2_seq_2 DESC, l.scd2_id DESC LIMIT 1) AS l;

-- R7: ignored deletes count for nothing among equal times, as where they are in the log since before they were ignored
CALL load('dim_ignore', $$effective_at => 'at', sequence_by => '{s1}', on_delete => 'ignore', period_type => 'date'$$);
UPDATE dim_ignore_log SET scd2_deleted = true, v = NULL, w = NULL WHERE scd2_id % 3 = 1;
CALL scd2.rebuild_apply('dim_ignore');
SELECT * FROM rebuilt('dim_ignore');

-- R24, R27: and so of some keys, as was known, and without the runs that were undone
SELECT id AS run, recorded_at AS known FROM scd2.runs WHERE dimension = 'dim_flag'::regclass ORDER BY id LIMIT 1 \gset
CREATE TABLE first_known AS SELECT * FROM scd2.rebuild(NULL::dim_flag, known_at => :'known');
CREATE TABLE two_keys AS SELECT * FROM scd2.rebuild(NULL::dim_flag, keys => '{1,3}');
CREATE VIEW same_keys AS SELECT * FROM dim_flag WHERE id IN (1, 3);
SELECT count(*), (SELECT count(*) FROM scd2.diff('two_keys', 'same_keys')) AS differ FROM two_keys;
DO $$
DECLARE run bigint;
BEGIN
    FOR run IN SELECT id FROM scd2.runs WHERE dimension = 'dim_flag'::regclass ORDER BY id OFFSET 1 LOOP
        CALL scd2.undo('dim_flag', run);
    END LOOP;
END $$;
SELECT count(*), (SELECT count(*) FROM scd2.diff('dim_flag', 'first_known')) AS differ FROM first_known;
SELECT * FROM rebuilt('dim_flag');

SET client_min_messages = error;
DROP SCHEMA rt CASCADE;
