-- Asking a dimension: as_of, history, lookup (SPEC section 7, R28, R34; hard case 20)
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA ask;
SET search_path = ask;
SET scd2.notice = off;

CREATE TABLE s (id integer, code text, seg text, name text, tier text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id,code}', type1 => '{name}', type2 => '{seg}', type6 => '{tier}',
                             effective_at => 'at', delete_when => 'gone');
INSERT INTO s VALUES (1, 'a', 'x', 'Ada', 't1', '2026-01-01', false), (1, 'a', 'y', 'Ada', 't1', '2026-01-10', false),
                     (2, 'a', 'z', 'Bob', 't2', '2026-01-05', false), (2, 'a', NULL, NULL, NULL, '2026-01-20', true);
CALL scd2.apply('dim_c');
CREATE TABLE known AS SELECT recorded_at AS at FROM scd2.runs WHERE id = scd2.last_run();
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', 'w', 'Eve', 't3', '2026-01-05', false);
CALL scd2.apply('dim_c');

-- as_of reads the dimension, and is what <dimension>_as_of is
SELECT id, code, seg, name, tier, current_tier, valid_from::date, valid_to::date FROM scd2.as_of(NULL::dim_c, '2026-01-07') ORDER BY id;
SELECT count(*) FROM (SELECT generate_series('2025-12-31'::timestamptz, '2026-01-31', '12 hours') AS t) g,
    LATERAL ((SELECT * FROM scd2.as_of(NULL::dim_c, t) EXCEPT ALL SELECT * FROM dim_c_as_of(t))
             UNION ALL (SELECT * FROM dim_c_as_of(t) EXCEPT ALL SELECT * FROM scd2.as_of(NULL::dim_c, t))) x;
-- a bound belongs to the later version; the unknown member is in none
SELECT seg FROM scd2.as_of(NULL::dim_c, '2026-01-10') WHERE id = 1;
SELECT count(*) FILTER (WHERE id IS NULL) AS unknown, count(*) FROM scd2.as_of(NULL::dim_c, '-infinity');
SELECT count(*) FROM scd2.as_of(NULL::dim_c, NULL);
SELECT count(*) FROM scd2.as_of(NULL::dim_c, 'infinity');
-- as it was known: folded from the log
SELECT id, code, seg, name, tier, current_tier, valid_from::date, valid_to::date
  FROM scd2.as_of(NULL::dim_c, '2026-01-07', known_at => (SELECT at FROM known)) ORDER BY id;
SELECT count(*) FROM scd2.as_of(NULL::dim_c, '2026-01-07', '2000-01-01');
SELECT count(*) FROM (SELECT generate_series('2025-12-31'::timestamptz, '2026-01-31', '12 hours') AS t) g,
    LATERAL ((SELECT * FROM scd2.as_of(NULL::dim_c, t, 'infinity') EXCEPT ALL SELECT * FROM dim_c_as_of(t))
             UNION ALL (SELECT * FROM dim_c_as_of(t) EXCEPT ALL SELECT * FROM scd2.as_of(NULL::dim_c, t, 'infinity'))) x;

-- history: one key's chain; values are converted to the key's types
SELECT seg, name, valid_from::date, valid_to::date, is_current FROM scd2.history(NULL::dim_c, 1, 'a');
SELECT seg FROM scd2.history(NULL::dim_c, '1', 'a'::varchar) WHERE is_current;
SELECT seg FROM scd2.history(NULL::dim_c, 1::bigint, 'a'::char(3)) WHERE is_current;
SELECT seg FROM scd2.history(NULL::dim_c, VARIADIC ARRAY['1', 'a']) WHERE is_current;
SELECT count(*) FROM scd2.history(NULL::dim_c, 7, 'a');
-- what does not fit
SELECT * FROM scd2.history(NULL::dim_c, 1);
SELECT * FROM scd2.history(NULL::dim_c, 1, 'a', 'b');
SELECT * FROM scd2.history(NULL::dim_c, 'x', 'a');
SELECT * FROM scd2.history(NULL::dim_c, 1, NULL);
SELECT * FROM scd2.history(NULL::dim_c, VARIADIC NULL::text[]);
SELECT * FROM scd2.history(NULL::dim_c, 3000000000, 'a');
SELECT * FROM scd2.history(NULL::dim_c, point(1, 2), 'a');
SELECT * FROM scd2.history(NULL::s, 1);
SELECT * FROM scd2.as_of(1, now());

-- lookup: the version's key, else the unknown member's
SELECT l.t, scd2.lookup('dim_c', t, 1, 'a') = (SELECT c_sk FROM dim_c_as_of(t) WHERE id = 1 AND code = 'a') AS found,
       scd2.lookup('dim_c', t, 2, 'a') = COALESCE((SELECT c_sk FROM dim_c_as_of(t) WHERE id = 2 AND code = 'a'), -1) AS or_unknown
  FROM (VALUES ('2025-12-31'::timestamptz), ('2026-01-01'), ('2026-01-07'), ('2026-01-10'), ('2026-01-19'), ('2026-01-20'), ('infinity')) l(t);
SELECT scd2.lookup('dim_c', '2026-01-07', 9, 'a') AS absent, scd2.lookup('dim_c', NULL, 1, 'a') AS no_time, scd2.lookup('dim_c', '2026-01-07', NULL, 'a') AS no_key;
SELECT scd2.lookup('dim_c', '2026-01-07', 1);
SELECT scd2.lookup('dim_c', '2026-01-07', 'x', 'a');
SELECT scd2.lookup_uuid('dim_c', '2026-01-07', 1, 'a');
SELECT scd2.lookup(NULL, '2026-01-07', 1, 'a');
SELECT scd2.lookup('s', '2026-01-07', 1, 'a');
SELECT scd2.lookup('dim_c', '2026-01-07', VARIADIC ARRAY['1', 'a']) = scd2.lookup('dim_c', '2026-01-07', 1, 'a') AS same;
-- its plan is kept, and follows what happens meanwhile
DO $$
DECLARE
    n integer;
    sk bigint;
BEGIN
    FOR n IN 1..3 LOOP
        sk := scd2.lookup('ask.dim_c', '2026-01-12', 1, 'a');
        RAISE WARNING 'lookup %: %', n, sk = (SELECT d.c_sk FROM scd2.as_of(NULL::ask.dim_c, '2026-01-12') d WHERE d.id = 1);
        IF n = 1 THEN
            ALTER TABLE ask.dim_c RENAME seg TO seg2;
            ALTER TABLE ask.dim_c RENAME valid_from TO starts;
        ELSIF n = 2 THEN
            ALTER SCHEMA ask RENAME TO ask2;
            ALTER TABLE ask2.dim_c RENAME starts TO valid_from;
            ALTER TABLE ask2.dim_c RENAME seg2 TO seg;
            ALTER SCHEMA ask2 RENAME TO ask;
        END IF;
    END LOOP;
END
$$;

-- no unknown member; uuid; other names; date periods; null for no end; closed versions apart
SELECT scd2.create_dimension('dim_u', source => 's', business_key => '{id}', type2 => '{seg}', type1 => '{name}', effective_at => 'at', delete_when => 'gone',
    surrogate_key_type => 'uuid', unknown_member => false, period_type => 'date', open_end => 'null', history => 'separate',
    columns => '{"valid_from": "From", "valid_to": "To", "is_current": "now"}');
SELECT scd2.create_dimension('dim_t', source => 's', business_key => '{id}', type2 => '{seg}', type1 => '{name}', effective_at => 'at', delete_when => 'gone',
    surrogate_key_type => 'uuid', period_type => 'timestamp', open_end => 'infinity', time_zone => 'Etc/GMT-5', on_delete => 'flag');
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', 'x', 'Ada', NULL, '2026-01-01 10:00', false), (1, 'a', 'y', 'Ada', NULL, '2026-01-10 20:00', false),
                     (2, 'a', 'z', 'Bob', NULL, '2026-01-05', false), (2, 'a', NULL, NULL, NULL, '2026-01-20', true);
CALL scd2.apply('dim_u');
CALL scd2.apply('dim_t');
ALTER TABLE dim_u ADD COLUMN own integer DEFAULT 7, ADD COLUMN dead text;
ALTER TABLE dim_u DROP COLUMN dead;
ALTER TABLE dim_u RENAME seg TO "Segment";
ALTER TABLE dim_u_history RENAME seg TO s2;
SELECT id, "Segment", "From", "To", now, own FROM scd2.history(NULL::dim_u, 1);
SELECT id, "Segment", "From", "To" FROM scd2.as_of(NULL::dim_u, '2026-01-09 23:59') ORDER BY id;
SELECT id, "Segment", "From", "To" FROM scd2.as_of(NULL::dim_u, '2026-01-10 00:00') ORDER BY id;
SELECT id, "Segment", "From", "To" FROM scd2.as_of(NULL::dim_u, '2026-01-10 00:00', known_at => 'infinity') ORDER BY id;
SELECT id, seg, valid_from, valid_to, is_deleted FROM scd2.history(NULL::dim_t, 2);
SELECT id, seg, valid_from, valid_to, is_deleted FROM scd2.as_of(NULL::dim_t, '2026-01-20 00:00') ORDER BY id;
SELECT scd2.lookup_uuid('dim_u', '2026-01-09', 1) = (SELECT u_sk FROM dim_u_history WHERE id = 1) AS closed,
       scd2.lookup_uuid('dim_u', '2026-01-10', 1) = (SELECT u_sk FROM dim_u WHERE id = 1) AS open,
       scd2.lookup_uuid('dim_u', '2025-01-10', 1) IS NULL AS none,
       scd2.lookup_uuid('dim_t', '2025-01-10', 1) AS unknown,
       scd2.lookup_uuid('dim_t', '2026-01-20', 2) = (SELECT t_sk FROM dim_t WHERE is_deleted) AS flagged;
SELECT scd2.lookup('dim_u', '2026-01-09', 1);

-- keys of a domain over an enum
CREATE TYPE colour AS ENUM ('red', 'blue');
CREATE DOMAIN paint AS colour;
CREATE TABLE e (c paint, d date, v text, at timestamptz);
SELECT scd2.create_dimension('dim_e', source => 'e', business_key => '{c,d}', effective_at => 'at');
INSERT INTO e VALUES ('blue', '2020-02-29', 'v', '2026-01-01');
CALL scd2.apply('dim_e');
SET datestyle = 'SQL, DMY';
SELECT v FROM scd2.history(NULL::dim_e, 'blue', '2020-02-29');
SELECT v FROM scd2.history(NULL::dim_e, 'blue'::colour, '2020-02-29 12:00'::timestamp);
SELECT scd2.lookup('dim_e', '2026-01-01', 'blue', '02/03/2020') AS read_as_the_dimension_does;
SELECT scd2.lookup('dim_e', '2026-01-01', 'blue', '02/29/2020');
SELECT scd2.lookup('dim_e', '2026-01-01', 'blue', '2020-02-29') = (SELECT e_sk FROM dim_e WHERE v = 'v') AS found;
SET datestyle = 'ISO';

-- without a log as_of reads the dimension, and what needs the log says so
SELECT scd2.create_dimension('bare', source => 's', business_key => '{id}', effective_at => 'at', delete_when => 'gone', change_log => false);
DELETE FROM s WHERE at IN ('2026-01-10 20:00', '2026-01-20');
CALL scd2.apply('bare');
SELECT id, seg FROM scd2.as_of(NULL::bare, '2026-01-07') ORDER BY id;
SELECT seg FROM scd2.history(NULL::bare, 1);
SELECT scd2.lookup('bare', '2026-01-07', 1) <> -1 AS found;
SELECT * FROM scd2.as_of(NULL::bare, '2026-01-07', known_at => now());

-- ---------------------------------------------------------------------------
-- R28: plans
-- ---------------------------------------------------------------------------
CREATE TABLE p (id integer, seg text, at timestamptz);
INSERT INTO p SELECT i, 's' || j, '2026-01-01'::timestamptz + j * interval '1 day' FROM generate_series(1, 2000) i, generate_series(1, 5) j;
SELECT scd2.create_dimension('dim_p', source => 'p', business_key => '{id}', effective_at => 'at');
SELECT scd2.create_dimension('dim_q', source => 'p', business_key => '{id}', effective_at => 'at', history => 'separate');
CALL scd2.apply('dim_p');
CALL scd2.apply('dim_q');
CREATE TABLE fact AS SELECT i AS n, 1 + i % 2000 AS id, '2026-01-02'::timestamptz + (i % 5) * interval '1 day' AS at FROM generate_series(1, 4000) i;
VACUUM ANALYZE dim_p, dim_q, dim_q_history, dim_p_log, fact;
-- <dimension>_as_of is inlined, and one key goes by the index
EXPLAIN (COSTS OFF) SELECT * FROM dim_p_as_of('2026-01-03') WHERE id = 7;
EXPLAIN (COSTS OFF) SELECT * FROM dim_q_as_of('2026-01-03') WHERE id = 7;
-- a point-in-time join hashes on the business key
EXPLAIN (COSTS OFF) SELECT f.n, d.seg FROM fact f JOIN dim_p d ON d.id = f.id AND f.at >= d.valid_from AND f.at < d.valid_to;
-- no scan where one key is asked for, nor where nothing is known of the table
BEGIN;
CREATE TABLE before AS SELECT relname, seq_scan FROM pg_stat_xact_user_tables;
SELECT count(*) FROM scd2.history(NULL::dim_p, 7);
SELECT count(*) FROM scd2.history(NULL::dim_q, 7);
SELECT count(*) FROM (SELECT scd2.lookup('dim_p', at, id) AS k FROM fact ORDER BY n LIMIT 100) x WHERE k <> -1;
SELECT count(*) FROM (SELECT scd2.lookup('dim_q', at, id) AS k FROM fact ORDER BY n LIMIT 100) x WHERE k <> -1;
SELECT count(*) FROM scd2.history(NULL::bare, 1);
SELECT relname, n.seq_scan - COALESCE(b.seq_scan, 0) AS scans
  FROM pg_stat_xact_user_tables n LEFT JOIN before b USING (relname)
 WHERE relname IN ('dim_p', 'dim_q', 'dim_q_history', 'bare') ORDER BY 1;
COMMIT;
-- set-based and by lookup: the same
SELECT count(*) FROM fact f LEFT JOIN dim_p d ON d.id = f.id AND f.at >= d.valid_from AND f.at < d.valid_to
 WHERE scd2.lookup('dim_p', f.at, f.id) IS DISTINCT FROM COALESCE(d.p_sk, -1);
SELECT count(*) FROM fact f LEFT JOIN dim_q_versions d ON d.id = f.id AND f.at >= d.valid_from AND f.at < d.valid_to
 WHERE scd2.lookup('dim_q', f.at, f.id) IS DISTINCT FROM COALESCE(d.q_sk, -1);

-- in a parallel plan, too
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*) FROM (SELECT n, at, id FROM fact WHERE n % 2 = 0 OFFSET 0) f WHERE scd2.lookup('dim_p', at, id) <> -1;
SELECT count(DISTINCT scd2.lookup('dim_p', at, id)) FROM fact WHERE n % 2 = 0;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

-- R34: with the caller's rights
CREATE ROLE ask_reader;
GRANT USAGE ON SCHEMA ask TO ask_reader;
SET ROLE ask_reader;
SELECT count(*) FROM scd2.as_of(NULL::dim_c, now());
SELECT count(*) FROM scd2.history(NULL::dim_c, 1, 'a');
SELECT scd2.lookup('dim_c', now(), 1, 'a');
RESET ROLE;
GRANT SELECT ON dim_c TO ask_reader;
SET ROLE ask_reader;
SELECT count(*) FROM scd2.as_of(NULL::dim_c, '2026-01-07');
SELECT count(*) FROM scd2.history(NULL::dim_c, 1, 'a');
SELECT scd2.lookup('dim_c', '2026-01-07', 1, 'a') <> -1 AS found;
SELECT count(*) FROM scd2.as_of(NULL::dim_c, now(), known_at => now());
RESET ROLE;
-- a part of the rows would deceive
ALTER TABLE dim_c ENABLE ROW LEVEL SECURITY;
SET ROLE ask_reader;
SELECT count(*) FROM scd2.history(NULL::dim_c, 1, 'a');
SELECT scd2.lookup('dim_c', '2026-01-07', 1, 'a');
RESET ROLE;
ALTER TABLE dim_c DISABLE ROW LEVEL SECURITY;

-- R28, hard case 20: READ ONLY, and no transaction id
BEGIN READ ONLY;
SELECT count(*) FROM scd2.as_of(NULL::dim_c, '2026-01-07');
SELECT count(*) FROM scd2.as_of(NULL::dim_c, '2026-01-07', now());
SELECT count(*) FROM scd2.history(NULL::dim_c, 1, 'a');
SELECT scd2.lookup('dim_c', '2026-01-07', 9, 'a');
SELECT mode FROM pg_locks l WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND mode <> 'AccessShareLock';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;

DROP SCHEMA ask CASCADE;
DROP ROLE ask_reader;
