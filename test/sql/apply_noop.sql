-- R11: applying a batch again writes nothing: no row of dimension or log, no
-- dead tuple in them, no WAL for them. And the run says so.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';

CREATE SCHEMA nn;
SET search_path = nn;

-- what a write would change: addresses, transaction ids, sizes
CREATE FUNCTION fingerprint(dim regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rel regclass;
    result text := '';
    part text;
BEGIN
    FOR rel IN SELECT d.dimension FROM scd2.dimensions d WHERE d.dimension = dim
               UNION ALL SELECT d.log FROM scd2.dimensions d WHERE d.dimension = dim AND d.log IS NOT NULL LOOP
        EXECUTE format($q$SELECT concat(count(*), ' ', md5(string_agg(concat(t.ctid, ' ', t.xmin, ' ', t.xmax, ' ', t), E'\n' ORDER BY t.ctid)))
                            FROM %s AS t$q$, rel) INTO part;
        result := result || format('%s %s %s %s;', rel, part, pg_relation_size(rel), pg_indexes_size(rel));
    END LOOP;
    RETURN result;
END $$;
-- rows that this session has written and not yet told to the statistics: compare before and after
CREATE FUNCTION written(dim regclass) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(sum(pg_stat_get_xact_tuples_inserted(rel) + pg_stat_get_xact_tuples_updated(rel) + pg_stat_get_xact_tuples_deleted(rel)), 0)
      FROM scd2.dimensions d, unnest(ARRAY[d.dimension, d.log]) AS rel
     WHERE d.dimension = dim AND rel IS NOT NULL
$$;

CREATE PROCEDURE apply_again(dim regclass, at timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    before text;
    rows_before bigint;
    counts jsonb;
BEGIN
    before := nn.fingerprint(dim);
    rows_before := nn.written(dim);
    PERFORM set_config('scd2.notice', 'off', true);
    CALL scd2.apply(dim, batch_time => at);
    IF before IS DISTINCT FROM nn.fingerprint(dim) THEN
        RAISE WARNING '%: changed', dim;
    END IF;
    IF nn.written(dim) <> rows_before THEN
        RAISE WARNING '%: % rows written', dim, nn.written(dim) - rows_before;
    END IF;
    SELECT jsonb_object_agg(e.key, e.value) INTO counts
      FROM scd2.runs r, jsonb_each_text(to_jsonb(r)) AS e
     WHERE r.id = scd2.last_run() AND e.value <> '0' AND (e.key LIKE 'rows\_%' OR e.key LIKE 'keys\_%' OR e.key LIKE 'versions\_%');
    RAISE WARNING '%: %', dim, counts;
END $$;

CREATE TABLE s (id integer, t0 text, t1 text, t2 numeric, t3 text, t6 text, at timestamptz, n integer, gone boolean);
INSERT INTO s
SELECT i % 100, 'a' || i % 7, 'b' || i % 5, i % 3, 'd' || i % 4, 'e' || i % 2, timestamptz '2024-01-01' + i * interval '1 hour', i, i % 11 = 0
  FROM generate_series(1, 1000) AS i;
CREATE VIEW snap AS
SELECT DISTINCT ON (id) id, t0, t1, t2, t3, t6, at FROM s WHERE NOT gone ORDER BY id, at DESC;
CREATE VIEW latest AS
SELECT DISTINCT ON (id) id, t0, t1, t2, t3, t6, gone FROM s ORDER BY id, at DESC;

-- mode delta, with effective_at and without; with a log and without; flags; ignored
-- deletes; nulls that mean "not sent"; dates; snapshots
SELECT scd2.create_dimension('d_e',    source => 's', business_key => '{id}', type0 => '{t0}', type1 => '{t1}', type2 => '{t2}', type3 => '{t3}', type6 => '{t6}', effective_at => 'at', delete_when => 'gone');
SELECT scd2.create_dimension('d_seq',  source => 's', business_key => '{id}', type0 => '{t0}', type1 => '{t1}', type2 => '{t2}', type3 => '{t3}', type6 => '{t6}', effective_at => 'at', delete_when => 'gone', sequence_by => '{n}', surrogate_key_type => 'uuid', open_end => 'null');
SELECT scd2.create_dimension('d_flag', source => 's', business_key => '{id}', type1 => '{t1}', type2 => '{t2}', type6 => '{t6}', effective_at => 'at', delete_when => 'gone', on_delete => 'flag', ignore_null_updates => true);
SELECT scd2.create_dimension('d_ign',  source => 's', business_key => '{id}', type2 => '{t2}', effective_at => 'at', delete_when => 'gone', on_delete => 'ignore', period_type => 'date', guard => true);
SELECT scd2.create_dimension('d_late', source => 's', business_key => '{id}', type2 => '{t2}', effective_at => 'at', delete_when => 'gone', on_duplicate => 'latest');
SELECT scd2.create_dimension('d_nolog', source => 's', business_key => '{id}', type2 => '{t2}', effective_at => 'at', delete_when => 'gone', change_log => false);
SELECT scd2.create_dimension('d_batch', source => 'latest', business_key => '{id}', type0 => '{t0}', type1 => '{t1}', type3 => '{t3}', type6 => '{t6}', delete_when => 'gone');
SELECT scd2.create_dimension('s_e',    source => 'snap', business_key => '{id}', type0 => '{t0}', type1 => '{t1}', type3 => '{t3}', type6 => '{t6}', mode => 'snapshot', effective_at => 'at');
SELECT scd2.create_dimension('s_b',    source => 'snap', business_key => '{id}', type0 => '{t0}', type1 => '{t1}', type2 => '{t2}', type3 => '{t3}', type6 => '{t6}', mode => 'snapshot', on_delete => 'flag');
SELECT scd2.create_dimension('s_nolog', source => 'snap', business_key => '{id}', type0 => '{t0}', type2 => '{t2}', type6 => '{t6}', mode => 'snapshot', change_log => false);
SET scd2.notice = off;
DO $$
DECLARE
    dim regclass;
BEGIN
    FOREACH dim IN ARRAY '{nn.d_e,nn.d_seq,nn.d_flag,nn.d_ign,nn.d_late,nn.d_nolog,nn.d_batch,nn.s_e,nn.s_b,nn.s_nolog}'::regclass[] LOOP
        CALL scd2.apply(dim, batch_time => '2025-01-01');
        IF EXISTS (SELECT FROM scd2.check(dim)) THEN
            RAISE WARNING '%: violations', dim;
        END IF;
    END LOOP;
END $$;

-- each again, in a transaction of its own; snapshots at the same time and a later one
CALL apply_again('d_e', '2025-01-01');
CALL apply_again('d_seq', '2025-01-01');
CALL apply_again('d_flag', '2025-01-01');
CALL apply_again('d_ign', '2025-01-01');
CALL apply_again('d_late', '2025-01-01');
CALL apply_again('d_nolog', '2025-01-01');
CALL apply_again('d_batch', '2025-01-01');
CALL apply_again('d_batch', '2025-01-02');
CALL apply_again('s_e', '2025-01-01');
CALL apply_again('s_e', '2025-01-02');
CALL apply_again('s_b', '2025-01-01');
CALL apply_again('s_b', '2025-01-02');
CALL apply_again('s_nolog', '2025-01-01');
CALL apply_again('s_nolog', '2025-01-02');

-- a part of the batch again, in any order, and preview says nothing either
CREATE TABLE part (LIKE s);
INSERT INTO part SELECT * FROM s WHERE n % 3 = 0 ORDER BY n DESC;
SELECT * FROM scd2.preview('d_e', source => 'part');
SELECT * FROM scd2.preview('d_e');
SELECT * FROM scd2.preview('s_b', batch_time => '2025-01-03');
SELECT fingerprint('d_e') AS before \gset
CALL scd2.apply('d_e', source => 'part');
SELECT fingerprint('d_e') = :'before' AS untouched;
SELECT rows_read, rows_replayed FROM scd2.runs WHERE id = scd2.last_run();

-- R21: one NOTICE, which says that nothing changed; off with scd2.notice = off.
-- The run's number depends on the tests before this one: set it.
SELECT setval('scd2.registry_run_id_seq', 1000000);
SET client_min_messages = notice;
SET scd2.notice = on;
CALL scd2.apply('d_e', source => 'part');
CALL scd2.apply('s_b', batch_time => '2025-01-03');
SELECT scd2.last_run();
SET scd2.notice = off;
CALL scd2.apply('d_e', source => 'part');
SET client_min_messages = warning;

-- R11: no WAL for the dimension and its log
CREATE FUNCTION wal_of(dim regclass, since pg_lsn) RETURNS TABLE (record_type text, records bigint) LANGUAGE plpgsql AS $$
BEGIN
    -- pg_walinspect is not everywhere: elsewhere addresses and sizes have to do
    IF to_regproc('pg_get_wal_records_info') IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE $q$
        SELECT r.resource_manager || '/' || r.record_type, count(*)
          FROM pg_get_wal_records_info($1, pg_current_wal_flush_lsn()) AS r,
               (SELECT c.oid, c.relname, pg_relation_filenode(c.oid) AS node FROM pg_class c
                  JOIN scd2.dimensions d ON d.dimension = $2
                 WHERE c.oid IN (d.dimension, d.log)
                    OR c.oid IN (SELECT i.indexrelid FROM pg_index i WHERE i.indrelid IN (d.dimension, d.log))) AS rel
         WHERE r.block_ref LIKE '%rel %/' || rel.node || ' %'
         GROUP BY 1 ORDER BY 1$q$ USING since, dim;
END $$;
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_walinspect') AS has_walinspect \gset
\if :has_walinspect
CREATE EXTENSION pg_walinspect SCHEMA nn;
\endif
ALTER TABLE d_e SET (autovacuum_enabled = off);
ALTER TABLE d_e_log SET (autovacuum_enabled = off);
ALTER TABLE s_b SET (autovacuum_enabled = off);
ALTER TABLE s_b_log SET (autovacuum_enabled = off);
CHECKPOINT;
VACUUM (FREEZE) d_e, d_e_log, s_b, s_b_log;
SELECT count(*) > 0 AS seen FROM d_e;
SELECT count(*) > 0 AS seen FROM s_b;
SELECT pg_switch_wal() IS NOT NULL AS switched;
SELECT pg_current_wal_insert_lsn() AS since \gset
CALL scd2.apply('d_e');
CALL scd2.apply('s_b', batch_time => '2025-01-04');
SELECT * FROM wal_of('d_e', :'since');
SELECT * FROM wal_of('s_b', :'since');
-- that it would have been seen
SELECT pg_current_wal_insert_lsn() AS since \gset
INSERT INTO s VALUES (1, 'x', 'x', 1, 'x', 'x', '2025-01-01', 1001, false);
CALL scd2.apply('d_e');
SELECT count(*) > 0 OR NOT :'has_walinspect' AS seen FROM wal_of('d_e', :'since');

-- what did not change is not written though the rest of the batch is: one
-- version closed, two opened
INSERT INTO s VALUES (3, 'x', 'x', 77, 'x', 'x', '2025-01-02', 1002, false), (1000, 'x', 'x', 77, 'x', 'x', '2025-01-02', 1003, false);
-- in one transaction: at the end of one, statistics may be told
BEGIN;
SELECT written('d_nolog') AS before \gset
CALL scd2.apply('d_nolog');
SELECT written('d_nolog') - :before AS rows_written;
COMMIT;
SELECT versions_opened, versions_closed, rows_read, rows_replayed, rows_confirmed FROM scd2.runs WHERE id = scd2.last_run();

DROP SCHEMA nn CASCADE;
