-- What a copy has to do to follow a dimension's runs (SPEC section 7, R28)
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA feed;
SET search_path = feed;
SET scd2.notice = off;

-- shown without numbers of runs
CREATE FUNCTION says(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN regexp_replace(concat_ws(E'\n', SQLSTATE || ' ' || SQLERRM, NULLIF(detail, ''), NULLIF(hint, '')), '(run|is) \d+', '\1 N', 'gi');
END $$;
-- a run of a dimension by its place, from 1; 0 is the time before
CREATE FUNCTION run(dim regclass, n integer) RETURNS bigint LANGUAGE sql STABLE AS
    $$ SELECT COALESCE((SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM scd2.runs WHERE dimension = dim) r WHERE r.n = $2), 0) $$;

CREATE TABLE s (id integer, seg text, name text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id}', type1 => '{name}', type2 => '{seg}', effective_at => 'at', delete_when => 'gone');
CREATE FUNCTION shown(after_run integer, until_run integer DEFAULT NULL)
RETURNS TABLE (change text, id text, seg text, name text, valid_from text, valid_to text, cur text) LANGUAGE sql STABLE AS $$
    SELECT change, d ->> 'id', d ->> 'seg', d ->> 'name', left(d ->> 'valid_from', 10), left(d ->> 'valid_to', 10), d ->> 'is_current'
      FROM scd2.feed(NULL::dim_c, run('dim_c', after_run), CASE WHEN until_run IS NOT NULL THEN run('dim_c', until_run) END) AS f(change, sk, d)
$$;
-- nothing yet: the unknown member is the copy's own
SELECT * FROM scd2.feed(NULL::dim_c, 0);

-- run 1: from the beginning, all is new; run 0 and null are the beginning
INSERT INTO s VALUES (1, 'x', 'Ada', '2026-01-01', false), (1, 'y', 'Ada', '2026-01-10', false), (2, 'z', 'Bob', '2026-01-05', false);
CALL scd2.apply('dim_c');
SELECT * FROM shown(0);
SELECT count(*) FROM scd2.feed(NULL::dim_c, NULL);
-- the whole row, but for columns that are not scd2's; times in UTC, whatever the session's zone
ALTER TABLE dim_c ADD COLUMN own text DEFAULT 'mine';
SET timezone = 'Asia/Tokyo';
SELECT change, surrogate_key = row_data ->> 'c_sk' AS same, row_data - 'c_sk' AS rest FROM scd2.feed(NULL::dim_c, 0) WHERE row_data @> '{"id": 2}';
SET timezone = 'UTC';
SELECT count(*) FROM scd2.feed(NULL::dim_c, 0) f JOIN dim_c d ON d.c_sk::text = f.surrogate_key
 WHERE to_jsonb(jsonb_populate_record(NULL::dim_c, f.row_data)) - 'own' = to_jsonb(d) - 'own';
-- after the last run, nothing
SELECT * FROM shown(1);

-- run 2: a confirmation and a replay change no version
TRUNCATE s;
INSERT INTO s VALUES (1, 'x', 'Ada', '2026-01-01', false), (2, 'z', 'Bob', '2026-01-08', false);
CALL scd2.apply('dim_c');
SELECT * FROM shown(1);
-- run 3: a version closes, another opens (R6)
TRUNCATE s;
INSERT INTO s VALUES (2, 'zz', 'Bob', '2026-01-15', false);
CALL scd2.apply('dim_c');
SELECT * FROM shown(2);
SELECT * FROM shown(1);
-- run 4: a late change splits a version; a type 1 value is on each one (R8); a delete (R7)
TRUNCATE s;
INSERT INTO s VALUES (1, 'w', 'old', '2026-01-05', false), (1, 'y', 'Eve', '2026-01-20', false), (2, NULL, NULL, '2026-01-25', true);
CALL scd2.apply('dim_c');
SELECT * FROM shown(3);
-- net over several runs: what opened and closed again in between is inserted as it is in the end
SELECT * FROM shown(2);
SELECT * FROM shown(0);
-- up to a run: as it was known then
SELECT * FROM shown(0, 1);
SELECT * FROM shown(1, 3);
SELECT * FROM shown(3, 3);

-- run 5: undo of 4 (R27); a version goes, and is given as it was
CALL scd2.undo('dim_c', run('dim_c', 4));
SELECT * FROM shown(4);
-- the run and its undo together: nothing
SELECT * FROM shown(3);
SELECT * FROM shown(3, 4);
-- run 6: the same batch again
CALL scd2.apply('dim_c');
SELECT * FROM shown(4);
SELECT count(*) FROM shown(5);
-- run 7: a rebuild heals; the log, and so a copy, was right before (R25)
UPDATE dim_c SET seg = 'wrong' WHERE id = 1;
SELECT * FROM shown(6);
CALL scd2.rebuild_apply('dim_c');
SELECT * FROM shown(6);

-- what does not fit
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, run(''dim_c'', 3), run(''dim_c'', 2))');
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, 9000000000000000)');
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, 0, 9000000000000000)');
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, 0, 0)');
SELECT says('SELECT * FROM scd2.feed(NULL::s, 0)');
SELECT says('SELECT * FROM scd2.feed(1, 0)');
SELECT scd2.create_dimension('dim_n', source => 's', business_key => '{id}', type2 => '{seg}', effective_at => 'at', change_log => false);
SELECT says('SELECT * FROM scd2.feed(NULL::dim_n, 0)');
-- another dimension's run: an older one of this dimension may have been committed after it
CALL scd2.apply('dim_n');
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, scd2.last_run())');
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, 0, scd2.last_run())');
-- an alteration in between
BEGIN;
INSERT INTO scd2.registry_run OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(r, jsonb_build_object('id', nextval('scd2.registry_run_id_seq'), 'action', 'alter', 'recorded_at', clock_timestamp()))).* FROM scd2.registry_run r WHERE id = run('dim_c', 7);
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, run(''dim_c'', 7))');
SELECT says('SELECT * FROM scd2.feed(NULL::dim_c, run(''dim_c'', 3), run(''dim_c'', 4))');
SELECT count(*) FROM shown(8);
SELECT count(*) FROM shown(0);
ROLLBACK;

-- any dimension: a copy that follows step by step, or over several runs, is equal
CREATE TABLE copies (dim regclass PRIMARY KEY, copy regclass, sk text, after_run bigint);
CREATE FUNCTION begin_copy(of regclass, sk text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    versions text := of || CASE WHEN (SELECT history IS NULL FROM scd2.dimensions WHERE dimension = of) THEN '' ELSE '_versions' END;
BEGIN
    EXECUTE format('CREATE TABLE %s_copy AS TABLE %s WITH NO DATA', of, versions);
    EXECUTE format('ALTER TABLE %s_copy ADD PRIMARY KEY (%I)', of, sk);
    -- never two versions of a key that are current, row after row
    EXECUTE format('CREATE UNIQUE INDEX ON %s_copy (id) WHERE %s', of, (SELECT column_name FROM scd2.dimension_columns WHERE dimension = of AND role = 'is_current'));
    INSERT INTO copies VALUES (of, (of || '_copy')::regclass, sk, 0);
END $$;
-- row after row, in the order of the feed; returns how much it did, and what differs then
CREATE FUNCTION follow(of regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    c copies;
    f record;
    n integer;
    did text := '';
    versions text := of || CASE WHEN (SELECT history IS NULL FROM scd2.dimensions WHERE dimension = of) THEN '' ELSE '_versions' END;
BEGIN
    SELECT * INTO c FROM copies WHERE dim = of;
    FOR f IN EXECUTE format('SELECT * FROM scd2.feed(NULL::%s, $1)', of) USING c.after_run LOOP
        IF f.change <> 'insert' THEN
            EXECUTE format('DELETE FROM %s WHERE %I::text = $1', c.copy, c.sk) USING f.surrogate_key;
            GET DIAGNOSTICS n = ROW_COUNT;
            ASSERT n = 1, f;
        END IF;
        IF f.change <> 'delete' THEN
            EXECUTE format('INSERT INTO %s SELECT (jsonb_populate_record(NULL::%s, $1)).*', c.copy, c.copy) USING f.row_data;
        END IF;
        did := did || left(f.change, 1);
    END LOOP;
    UPDATE copies SET after_run = (SELECT max(id) FROM scd2.runs WHERE dimension = of) WHERE dim = of;
    EXECUTE format('SELECT count(*) FROM ((SELECT to_jsonb(copied) FROM %s copied EXCEPT ALL SELECT to_jsonb(version) FROM %s version WHERE id IS NOT NULL)
        UNION ALL (SELECT to_jsonb(version) FROM %s version WHERE id IS NOT NULL EXCEPT ALL SELECT to_jsonb(copied) FROM %s copied)) x', c.copy, versions, versions, c.copy) INTO n;
    RETURN did || CASE WHEN n = 0 THEN ', equal' ELSE ', ' || n || ' differ' END;
END $$;

-- uuid, closed versions apart, flagged deletes, days, null for no end, types 0, 3 and 6, other names
CREATE TABLE u (id integer, part text, a text, b numeric, c jsonb, d date, at timestamptz, op text);
SELECT scd2.create_dimension('dim_u', source => 'u', business_key => '{id,part}', type0 => '{a}', type3 => '{b}', type6 => '{d}', type2 => '{c}', effective_at => 'at', delete_when => $$op = 'D'$$,
    surrogate_key_type => 'uuid', history => 'separate', on_delete => 'flag', period_type => 'date', open_end => 'null',
    columns => '{"valid_from": "From", "valid_to": "To", "is_current": "now", "is_deleted": "dead"}');
SELECT begin_copy('dim_u', 'u_sk');
INSERT INTO u VALUES (1, 'p', 'a', 1.10, '{"x": [1, null], "y": "ü\\u0022"}', '2020-02-29', '2026-01-01 10:00+00', 'I'), (1, 'p', 'b', 2, NULL, '0044-03-15 BC', '2026-01-03 10:00+00', 'U'),
                     (2, 'q', NULL, 'NaN', 'null', 'infinity', '2026-01-02', 'I');
CALL scd2.apply('dim_u');
SELECT follow('dim_u');
TRUNCATE u;
INSERT INTO u VALUES (1, 'p', NULL, NULL, NULL, NULL, '2026-01-05', 'D'), (2, 'q', NULL, 0, 'null', 'infinity', '2026-01-02 12:00+00', 'U'), (3, 'r', 'c', 1, '1', NULL, '2026-01-01', 'I');
CALL scd2.apply('dim_u');
TRUNCATE u;
INSERT INTO u VALUES (1, 'p', 'first', 0, '0', NULL, '2025-12-01', 'I');
CALL scd2.apply('dim_u');
SELECT follow('dim_u');
CALL scd2.undo('dim_u', run('dim_u', 2));
SELECT follow('dim_u');

-- R20: what a late snapshot, and its undo, log for the next one bears that one's number
CREATE TABLE snap (id integer, v text);
SELECT scd2.create_dimension('dim_s', source => 'snap', business_key => '{id}', mode => 'snapshot');
SELECT begin_copy('dim_s', 's_sk');
INSERT INTO snap VALUES (1, 'a'), (2, 'a');
CALL scd2.apply('dim_s', batch_time => '2026-01-01');
CALL scd2.apply('dim_s', batch_time => '2026-03-01');
SELECT follow('dim_s');
UPDATE snap SET v = 'b' WHERE id = 1;
CALL scd2.apply('dim_s', batch_time => '2026-02-01');
SELECT scd2_effective_at AT TIME ZONE 'UTC' AS e, v, scd2_run = run('dim_s', 2) AS of_the_second FROM dim_s_log WHERE id = 1 ORDER BY 1;
SELECT follow('dim_s');
CALL scd2.undo('dim_s', run('dim_s', 1));
SELECT follow('dim_s');
CALL scd2.apply('dim_s', batch_time => '2026-01-01');
CALL scd2.undo('dim_s', run('dim_s', 3));
SELECT follow('dim_s');

-- a column that the source gained, and one that it lost (R8): each version has got the new one
CREATE TABLE g (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_g', source => 'g', business_key => '{id}', effective_at => 'at', on_drift => 'add');
SELECT begin_copy('dim_g', 'g_sk');
INSERT INTO g VALUES (1, 'x', '2026-01-01'), (1, 'y', '2026-01-02'), (2, 'x', '2026-01-01');
CALL scd2.apply('dim_g');
SELECT follow('dim_g');
TRUNCATE g;
ALTER TABLE g ADD COLUMN b integer;
INSERT INTO g VALUES (1, 'z', '2026-01-03', 7);
CALL scd2.apply('dim_g');
ALTER TABLE dim_g_copy ADD COLUMN b integer;
SELECT follow('dim_g');
TRUNCATE g;
ALTER TABLE g DROP COLUMN a;
INSERT INTO g VALUES (1, '2026-01-04', 8), (2, '2026-01-04', 8);
CALL scd2.apply('dim_g');
SELECT follow('dim_g');

-- R13, hard case 33: a key that was widened in the dimension alone
CREATE TABLE w (id integer, v text, at timestamptz);
SELECT scd2.create_dimension('dim_w', source => 'w', business_key => '{id}', effective_at => 'at');
SELECT begin_copy('dim_w', 'w_sk');
INSERT INTO w VALUES (7, 'x', '2026-01-01'), (8, 'x', '2026-01-01');
CALL scd2.apply('dim_w');
SELECT follow('dim_w');
DROP VIEW dim_w_current;
DROP FUNCTION dim_w_as_of;
ALTER TABLE dim_w ALTER id TYPE bigint;
UPDATE w SET v = 'y', at = '2026-01-02' WHERE id = 7;
CALL scd2.apply('dim_w');
SELECT follow('dim_w');
SELECT attributes, outcome FROM scd2.why('dim_w', 7);
CALL scd2.undo('dim_w', scd2.last_run());
SELECT follow('dim_w');

-- json that jsonb does not take is given as text
CREATE TABLE j (id integer, v json, at timestamptz);
SELECT scd2.create_dimension('dim_j', source => 'j', business_key => '{id}', effective_at => 'at');
INSERT INTO j SELECT i, CASE WHEN i = 2 THEN '{"k": "\u0000"}' ELSE '{"k": 1}' END::json, '2026-01-01' FROM generate_series(1, 3) i;
CALL scd2.apply('dim_j');
SELECT row_data -> 'v' AS v FROM scd2.feed(NULL::dim_j, 0);

-- keys are read by index: the log that was there before is not
CREATE TABLE l (id integer, v integer, at timestamptz);
SELECT scd2.create_dimension('dim_l', source => 'l', business_key => '{id}', effective_at => 'at');
INSERT INTO l SELECT i, j, '2026-01-01'::timestamptz + j * interval '1 day' FROM generate_series(1, 2000) i, generate_series(1, 3) j;
CALL scd2.apply('dim_l');
TRUNCATE l;
INSERT INTO l VALUES (7, 9, '2026-02-01');
CALL scd2.apply('dim_l');
VACUUM ANALYZE dim_l_log;
BEGIN;
CREATE TABLE before AS SELECT seq_scan, seq_tup_read, idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'dim_l_log';
SELECT change, row_data ->> 'v' AS v FROM scd2.feed(NULL::dim_l, run('dim_l', 1));
SELECT n.seq_scan - b.seq_scan AS scans, n.idx_tup_fetch - b.idx_tup_fetch < 20 AS few FROM pg_stat_xact_user_tables n, before b WHERE relname = 'dim_l_log';
COMMIT;

-- R34: with the caller's rights on the log; a part of its rows would deceive
CREATE ROLE feed_reader;
GRANT USAGE ON SCHEMA feed TO feed_reader;
SET ROLE feed_reader;
SELECT says('SELECT * FROM scd2.feed(NULL::feed.dim_l, 0)');
RESET ROLE;
GRANT SELECT ON dim_l_log TO feed_reader;
SET ROLE feed_reader;
SELECT count(*) FROM scd2.feed(NULL::feed.dim_l, 0);
RESET ROLE;
ALTER TABLE dim_l_log ENABLE ROW LEVEL SECURITY;
SET ROLE feed_reader;
SELECT says('SELECT * FROM scd2.feed(NULL::feed.dim_l, 0)');
RESET ROLE;

-- R28, hard case 20: READ ONLY, and no transaction id
BEGIN READ ONLY;
SELECT count(*) FROM scd2.feed(NULL::dim_u, run('dim_u', 1));
SELECT mode FROM pg_locks l WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND mode <> 'AccessShareLock';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;

-- R4: after a rename of the dimension, its columns and its log
ALTER TABLE dim_c_log RENAME TO changes_of_c;
ALTER TABLE changes_of_c RENAME scd2_recorded_at TO known;
ALTER TABLE dim_c RENAME seg TO segment;
ALTER TABLE dim_c RENAME TO dim_customer;
SELECT change, row_data ->> 'segment' AS segment FROM scd2.feed(NULL::dim_customer, 0) WHERE row_data @> '{"id": 2}';

DROP SCHEMA feed CASCADE;
DROP ROLE feed_reader;
