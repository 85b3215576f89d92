-- history => 'separate' (Type 4): current versions in the dimension, closed ones in
-- <dimension>_history, both in <dimension>_versions (section 2, R1, R3, R4, R16, R30, R32)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE SCHEMA hi;
SET search_path = hi;
CREATE ROLE regress_hi_a;
CREATE ROLE regress_hi_b;
GRANT ALL ON SCHEMA hi TO regress_hi_a, regress_hi_b;

CREATE TABLE stg (id int, name text, city text, tier text, note text, op text, at timestamptz);
SELECT scd2.create_dimension('dim', source => 'stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $$op = 'D'$$, history => 'separate');

-- R1: what was made; every table has a primary key, and both an index over (K, valid_from)
SELECT c.relname, c.relkind, obj_description(c.oid) FROM pg_class c
 WHERE relnamespace = 'hi'::regnamespace AND relkind IN ('r', 'v') AND relname ~ '^dim' ORDER BY 1;
SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'hi' AND tablename IN ('dim', 'dim_history')
 ORDER BY indexname;
SELECT a.attname, format_type(a.atttypid, a.atttypmod) = format_type(h.atttypid, h.atttypmod)
           AND a.attnotnull = h.attnotnull AND a.attnum = h.attnum AND v.attnum = a.attnum AS same
  FROM pg_attribute a
  LEFT JOIN pg_attribute h ON h.attrelid = 'dim_history'::regclass AND h.attname = a.attname
  LEFT JOIN pg_attribute v ON v.attrelid = 'dim_versions'::regclass AND v.attname = a.attname
 WHERE a.attrelid = 'dim'::regclass AND a.attnum > 0 ORDER BY a.attnum;
SELECT dimension, log, history, options ->> 'history' AS option FROM scd2.dimensions WHERE dimension = 'dim'::regclass;

-- a name that is taken, or longer than 63 bytes, is refused
CREATE TABLE other_history ();
SELECT scd2.create_dimension('other', 'stg', '{id}', history => 'separate');
DROP TABLE other_history;
CREATE VIEW other_versions AS SELECT 1 AS one;
SELECT scd2.create_dimension('other', 'stg', '{id}', history => 'separate');
SELECT scd2.create_dimension(repeat('x', 55), 'stg', '{id}', history => 'separate');
DROP VIEW other_versions;

CREATE VIEW rows AS
    SELECT CASE tableoid WHEN 'dim'::regclass THEN 'dim' ELSE 'history' END AS lies_in, id, name, city, tier, current_tier,
           note, previous_note, valid_from::date, valid_to::date, is_current
      FROM (SELECT tableoid, * FROM dim UNION ALL SELECT tableoid, * FROM dim_history) x WHERE id IS NOT NULL;
CREATE FUNCTION load(VARIADIC lines stg[]) RETURNS void LANGUAGE sql AS $$
    TRUNCATE hi.stg; INSERT INTO hi.stg SELECT (l).* FROM unnest(lines) l
$$;
CREATE FUNCTION last_run() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', 'opened', versions_opened, 'closed', versions_closed, 'overwritten', rows_overwritten, 'late', rows_late,
                     'rebuilt', keys_rebuilt) FROM scd2.runs WHERE id = scd2.last_run()
$$;

-- R16: in order, several of a key in a batch; type 1, 3 and 6 on every version, in both tables
SELECT load((1, 'Ada', 'Rome', 'gold', 'x', 'I', '2026-01-01'), (1, 'Ada', 'Paris', 'gold', 'x', 'U', '2026-02-01'),
            (2, 'Bob', 'Rome', 'tin', 'x', 'I', '2026-01-01'), (3, 'Cyd', 'Bonn', 'tin', NULL, 'I', '2026-01-01'));
CALL scd2.apply('dim');
SELECT last_run();
SELECT * FROM rows ORDER BY id, valid_from;
SELECT load((1, 'Ada L.', 'Oslo', 'silver', 'y', 'U', '2026-03-01'), (2, 'Bob', 'Rome', 'tin', 'x', 'D', '2026-03-01'),
            (3, 'Cyd D.', 'Bonn', 'tin', NULL, 'U', '2026-03-01'));
SELECT action, key, effective_at::date, new ->> 'city' AS city FROM scd2.preview('dim') ORDER BY key, effective_at, action;
CALL scd2.apply('dim');
SELECT last_run();
SELECT * FROM rows ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim');
-- R11: again, nothing is written
CREATE TEMP TABLE seen AS SELECT ctid AS place, xmin::text AS x, 'dim' AS t FROM dim UNION ALL SELECT ctid, xmin::text, 'history' FROM dim_history;
CALL scd2.apply('dim');
SELECT count(*) FROM (TABLE seen EXCEPT ALL
    (SELECT ctid, xmin::text, 'dim' FROM dim UNION ALL SELECT ctid, xmin::text, 'history' FROM dim_history)) x;
DROP TABLE seen;
-- a deleted key comes back: its newest closed version is in the history
SELECT load((2, 'Bob', 'Rome', 'tin', 'x', 'I', '2026-04-01'));
CALL scd2.apply('dim');
SELECT last_run();
SELECT * FROM rows WHERE id = 2 ORDER BY valid_from;

-- the views and the function: no unknown member in any
SELECT id, city, valid_from::date, is_current FROM dim_versions ORDER BY id, valid_from;
SELECT id, city FROM dim_current ORDER BY id;
SELECT id, city FROM dim_as_of('2026-02-15') ORDER BY id;
SELECT id, city FROM dim_as_of('2026-03-15') ORDER BY id;
SELECT count(*) FROM dim WHERE id IS NULL;
-- R28: it is inlined, and one key's version comes by the indexes of both tables
CREATE FUNCTION scans(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Scan|Index Cond' THEN RETURN NEXT ltrim(line, ' ->'); END IF;
    END LOOP;
END $$;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT scans($$SELECT city FROM dim_as_of('2026-02-15') WHERE id = 1$$);
-- and for each row of another table
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT scans($$SELECT s.id, d.city FROM stg s JOIN dim_versions d
    ON d.id = s.id AND d.valid_from <= s.at AND d.valid_to > s.at$$);
SELECT scans($$SELECT s.id, d.city FROM stg s, dim_as_of(s.at) d WHERE d.id = s.id$$);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- R16: late changes; versions go from the history back into the dimension, and over again
CREATE TABLE stg_inline (LIKE stg);
SELECT scd2.create_dimension('inline', source => 'stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $$op = 'D'$$, surrogate_key => 'dim_sk');
CREATE PROCEDURE to_both(VARIADIC lines stg[]) LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    opened bigint;
BEGIN
    PERFORM hi.load(VARIADIC lines);
    CALL scd2.apply('hi.dim');
    RAISE NOTICE '%', hi.last_run();
    CALL scd2.apply('hi.inline');
    RAISE NOTICE '%', hi.last_run();
    SELECT count(*) INTO n FROM (
        (SELECT * FROM hi.dim_versions EXCEPT ALL SELECT * FROM hi.inline WHERE id IS NOT NULL) UNION ALL
        (SELECT * FROM hi.inline WHERE id IS NOT NULL EXCEPT ALL SELECT * FROM hi.dim_versions)) x;
    IF n > 0 THEN RAISE WARNING '% rows differ', n; END IF;
    SELECT count(*) INTO n FROM scd2.check('hi.dim');
    IF n > 0 THEN RAISE WARNING '% violations', n; END IF;
END $$;
-- all that came so far
INSERT INTO stg_inline SELECT id, name, city, tier, note, CASE WHEN scd2_deleted THEN 'D' END, scd2_effective_at FROM dim_log;
CALL scd2.apply('inline', source => 'stg_inline');
-- before the first version
CALL to_both((1, 'Ada', 'Bern', 'gold', 'w', 'U', '2025-12-01'));
-- splits a version in the history
CALL to_both((1, 'Ada', 'Lima', 'gold', 'x', 'U', '2026-01-15'));
-- the same instant again: what was current is another now, then it is equal to the one before and goes
CALL to_both((1, 'Ada L.', 'Kiev', 'silver', 'y', 'U', '2026-03-01'));
CALL to_both((1, 'Ada', 'Paris', 'gold', 'x', 'U', '2026-03-01'));
SELECT lies_in, city, valid_from, valid_to, is_current FROM rows WHERE id = 1 ORDER BY valid_from;
-- a late delete closes in between; a correction of a delete makes the closed version current once more
CALL to_both((3, 'Cyd', NULL, NULL, NULL, 'D', '2026-02-01'));
CALL to_both((3, 'Cyd', 'Bonn', 'tin', NULL, 'D', '2026-05-01'));
SELECT lies_in, city, valid_from, valid_to, is_current FROM rows WHERE id = 3 ORDER BY valid_from;
CALL to_both((3, 'Cyd D.', 'Bonn', 'tin', NULL, 'U', '2026-05-01'));
SELECT lies_in, city, valid_from, valid_to, is_current FROM rows WHERE id = 3 ORDER BY valid_from;
-- late and in order in one batch, and a new key
CALL to_both((2, 'Bob', 'Graz', 'tin', 'x', 'U', '2026-02-01'), (2, 'Bob', 'Linz', 'tin', 'x', 'U', '2026-06-01'),
          (4, 'Dan', 'Rome', 'tin', 'x', 'U', '2026-06-01'), (4, 'Dan', 'Rome', 'tin', 'x', 'D', '2026-07-01'));
SELECT lies_in, id, city, valid_from, valid_to, is_current FROM rows WHERE id IN (2, 4) ORDER BY id, valid_from;
SELECT (SELECT count(*) FROM dim WHERE id IS NOT NULL AND NOT is_current) AS closed_here,
       (SELECT count(*) FROM dim_history WHERE is_current OR id IS NULL) AS current_there;

-- R27: undoing the last run brings versions back from the history, and takes others away
BEGIN;
SELECT id AS undone FROM scd2.runs WHERE dimension = 'dim'::regclass ORDER BY id DESC LIMIT 1 \gset
CALL scd2.undo('dim', :undone);
SELECT lies_in, id, city, valid_from, valid_to, is_current FROM rows WHERE id IN (2, 4) ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim');
ROLLBACK;

-- R24, R25: rebuild; what was tampered with heals
SELECT count(*) FROM ((TABLE dim_versions EXCEPT ALL SELECT * FROM scd2.rebuild(NULL::dim)) UNION ALL
                      (SELECT * FROM scd2.rebuild(NULL::dim) EXCEPT ALL TABLE dim_versions)) x;
CREATE TEMP TABLE right_ones AS SELECT * FROM rows;
WITH moved AS (DELETE FROM dim WHERE id = 1 RETURNING *) INSERT INTO dim_history SELECT * FROM moved;
WITH moved AS (DELETE FROM dim_history WHERE id = 4 RETURNING *) INSERT INTO dim SELECT * FROM moved;
DELETE FROM dim_history WHERE id = 2 AND city = 'Graz';
INSERT INTO dim SELECT * FROM dim_history WHERE id = 3 AND valid_from = '2026-01-01';
UPDATE dim_history SET city = 'Nowhere', name = 'Nobody' WHERE id = 1 AND city = 'Lima';
SELECT violation, key, valid_from, detail FROM scd2.check('dim')
 ORDER BY key, valid_from, violation COLLATE "C", detail COLLATE "C";
CALL scd2.rebuild_apply('dim');
SELECT * FROM scd2.check('dim');
SELECT count(*) FROM ((TABLE right_ones EXCEPT ALL TABLE rows) UNION ALL (TABLE rows EXCEPT ALL TABLE right_ones)) x;
CALL scd2.rebuild_apply('dim');
SELECT last_run();

-- R32: every check looks at both tables
CREATE FUNCTION violations(change text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE change;
    RETURN QUERY SELECT v FROM scd2.check('dim'), concat_ws(' | ', violation, key, valid_from, detail) AS v
        ORDER BY v COLLATE "C";
    RAISE EXCEPTION USING errcode = '00001';
EXCEPTION WHEN SQLSTATE '00001' THEN NULL;
END $$;
CREATE FUNCTION try(change text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
    EXECUTE change;
    RAISE EXCEPTION USING errcode = '00001';
EXCEPTION
    WHEN SQLSTATE '00001' THEN RETURN NEXT 'no error';
    WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        RETURN NEXT SQLSTATE || ': ' || SQLERRM;
        IF detail <> '' THEN RETURN NEXT 'DETAIL: ' || detail; END IF;
        IF hint <> '' THEN RETURN NEXT 'HINT: ' || hint; END IF;
END $$;
SELECT violations($$UPDATE dim_history SET valid_to = valid_to + '1 day' WHERE id = 1 AND city = 'Bern'$$);
SELECT violations($$UPDATE dim_history SET valid_to = valid_to - interval '1 day' WHERE id = 1 AND city = 'Bern'$$);
SELECT violations($$UPDATE dim_history SET valid_to = valid_from WHERE id = 1 AND city = 'Bern'$$);
SELECT violations($$UPDATE dim_history SET dim_sk = 5 WHERE id = 1 AND city = 'Bern'$$);
SELECT count(*) FROM violations($$UPDATE dim_history SET city = 'Nowhere', row_hash = '\x00' WHERE id = 1 AND city = 'Bern'$$) v
 WHERE v ~ 'row_hash.*It is .x00, and should be';
SELECT violations($$UPDATE dim_history SET valid_to = '9999-12-31', is_current = true WHERE id = 1 AND city = 'Lima'$$);
SELECT violations($$WITH u AS (DELETE FROM dim WHERE id IS NULL RETURNING *) INSERT INTO dim_history SELECT * FROM u$$);

-- R13: a surrogate key that is in the other table already
SELECT load((5, 'Eve', 'Rome', 'tin', 'x', 'I', '2026-01-01'));
SELECT try(format($$UPDATE hi.dim_history SET dim_sk = %s WHERE id = 1 AND city = 'Bern';
    CALL scd2.apply('hi.dim')$$, scd2.surrogate_key(5, '2026-01-01'::timestamptz)));

-- triggers: a close that is lost, or changed, is noticed (R15)
CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.city := 'meddled'; RETURN NEW; END$$;
CREATE FUNCTION rename() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.name := 'meddled'; RETURN NEW; END$$;
CREATE FUNCTION leave_alone() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN coalesce(NEW, OLD); END$$;
CREATE FUNCTION with_trigger(event text, tab text, function text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT hi.try(format('CREATE TRIGGER tr BEFORE %s ON hi.%s FOR EACH ROW EXECUTE FUNCTION hi.%s(); CALL scd2.apply(''hi.dim'')',
                      event, tab, function))
$$;
SELECT load((1, 'Ada M.', 'Oslo', 'gold', 'x', 'U', '2026-08-01'));
SELECT with_trigger('DELETE', 'dim', 'suppress');
SELECT with_trigger('INSERT', 'dim_history', 'suppress');
SELECT with_trigger('INSERT', 'dim_history', 'meddle');
SELECT with_trigger('UPDATE', 'dim_history', 'rename');
-- an overwrite puts that right
SELECT with_trigger('INSERT', 'dim_history', 'rename');
SELECT with_trigger('INSERT', 'dim', 'meddle');
SELECT with_trigger('INSERT OR UPDATE OR DELETE', 'dim', 'leave_alone');
SELECT with_trigger('INSERT OR UPDATE OR DELETE', 'dim_history', 'leave_alone');
-- and without one it does not go unnoticed
SELECT load((1, 'Ada', 'Oslo', 'gold', 'x', 'U', '2026-08-01'));
SELECT with_trigger('INSERT', 'dim_history', 'rename');
-- and in the chain path
SELECT load((1, 'Ada', 'Lyon', 'gold', 'x', 'U', '2026-01-20'), (2, 'Bob', 'Linz', 'tin', 'x', 'D', '2026-06-01'));
SELECT with_trigger('INSERT', 'dim_history', 'meddle');
SELECT with_trigger('UPDATE', 'dim_history', 'meddle');
SELECT with_trigger('INSERT', 'dim_history', 'suppress');
SELECT with_trigger('DELETE', 'dim', 'suppress');
SELECT with_trigger('INSERT OR UPDATE OR DELETE', 'dim_history', 'leave_alone');

-- R30: a foreign key to what moves is refused
SELECT load((1, 'Ada M.', 'Oslo', 'gold', 'x', 'U', '2026-08-01'));
CREATE TABLE fact (sk bigint REFERENCES dim ON DELETE CASCADE);
INSERT INTO fact SELECT dim_sk FROM dim;
SELECT try($$CALL scd2.apply('hi.dim')$$);
DROP TABLE fact;
CREATE TABLE fact (sk bigint REFERENCES dim_history ON DELETE SET NULL);
SELECT try($$CALL scd2.apply('hi.dim')$$);
DROP TABLE fact;
CALL scd2.apply('dim');
SELECT lies_in, city, valid_from, is_current FROM rows WHERE id = 1 AND valid_to > '2026-03-01' ORDER BY valid_from;

-- neither table is the dimension's source
SELECT try($$CALL scd2.apply('hi.dim', source => 'hi.dim_history')$$);

-- R23: the statements
SELECT name FROM scd2.sql('dim') ORDER BY step;
SELECT statement FROM scd2.sql('dim') WHERE name IN ('close', 'take out of history', 'collision') ORDER BY step;

-- without a log, and with every column by another name: a replay finds its version in either table (R20)
SELECT scd2.create_dimension('"No Log"', source => 'stg', business_key => '{id}', type2 => '{city}', effective_at => 'at',
    history => 'separate', change_log => false, open_end => 'null', period_type => 'date', surrogate_key => 'Key',
    columns => '{"valid_from": "From", "valid_to": "to", "is_current": "now", "row_hash": null}');
SELECT load((1, 'Ada', 'Rome', '', '', '', '2026-01-01'), (1, 'Ada', 'Oslo', '', '', '', '2026-02-01'));
CALL scd2.apply('"No Log"');
CALL scd2.apply('"No Log"');
SELECT last_run();
SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
SELECT id, city, "From", "to", now FROM "No Log_versions" ORDER BY "From";
SELECT load((1, 'Ada', 'Bonn', '', '', '', '2026-01-01'));
SELECT try($$CALL scd2.apply('hi."No Log"')$$);
SELECT city FROM "No Log_as_of"('2026-01-31');
SELECT * FROM scd2.check('"No Log"');

-- snapshots: a key that is absent leaves the dimension
CREATE TABLE snap (id int, city text);
SELECT scd2.create_dimension('snap_dim', source => 'snap', business_key => '{id}', mode => 'snapshot', history => 'separate',
    guard => true);
SELECT scd2.create_dimension('snap_flag', source => 'snap', business_key => '{id}', mode => 'snapshot', history => 'separate',
    on_delete => 'flag');
INSERT INTO snap VALUES (1, 'Rome'), (2, 'Oslo'), (3, 'Bonn');
CALL scd2.apply('snap_dim', batch_time => '2026-01-01');
CALL scd2.apply('snap_flag', batch_time => '2026-01-01');
DELETE FROM snap WHERE id = 3;
UPDATE snap SET city = 'Paris' WHERE id = 2;
CALL scd2.apply('snap_dim', batch_time => '2026-02-01');
CALL scd2.apply('snap_flag', batch_time => '2026-02-01');
SELECT id, city, valid_from::date, valid_to::date, is_current FROM snap_dim_versions ORDER BY id, valid_from;
SELECT id, city FROM snap_dim WHERE id IS NOT NULL ORDER BY id;
SELECT id, city, is_deleted FROM snap_flag WHERE id IS NOT NULL ORDER BY id;
SELECT id, city, is_deleted FROM snap_flag_history ORDER BY id;
INSERT INTO snap VALUES (3, 'Bonn');
CALL scd2.apply('snap_dim', batch_time => '2026-03-01');
CALL scd2.apply('snap_flag', batch_time => '2026-03-01');
SELECT id, city, valid_from::date, valid_to::date, is_current FROM snap_dim_versions WHERE id = 3 ORDER BY valid_from;
SELECT id, city, is_deleted, valid_from::date, is_current FROM snap_flag_versions WHERE id = 3 ORDER BY valid_from;
SELECT * FROM scd2.check('snap_dim') UNION ALL SELECT * FROM scd2.check('snap_flag');
-- a late one's scope: of versions that may lie in the history
ALTER TABLE snap_dim ADD land text DEFAULT 'IT';
SELECT try($$CALL scd2.apply('hi.snap_dim', batch_time => '2026-02-15', scope => 'land = ''IT''')$$);
DELETE FROM snap WHERE id = 1;
CALL scd2.apply('snap_dim', batch_time => '2026-02-15', scope => $$city = 'Rome'$$);
SELECT id, city, valid_from::date, valid_to::date, is_current FROM snap_dim_versions ORDER BY id, valid_from;
SELECT * FROM scd2.check('snap_dim');
INSERT INTO snap VALUES (1, 'Rome');
CALL scd2.apply('snap_dim', batch_time => '2026-03-02', scope => $$land = 'IT'$$);
ALTER TABLE snap_dim DROP land;

-- R4: renames, moves and owners are followed, in each table by itself
CREATE FUNCTION names() RETURNS TABLE (state text, dimension text, history text, versions text) LANGUAGE sql AS $$
    SELECT d.state, d.schema_name || '.' || d.table_name, d.history_schema || '.' || d.history_name,
           d.versions_schema || '.' || d.versions_name
      FROM scd2.registry_dimension d WHERE d.schema_name ~ '^hi' AND d.history_name ~ 'dim_h|past' ORDER BY d.id
$$;
CREATE SCHEMA hi2;
GRANT ALL ON SCHEMA hi2 TO regress_hi_a;
ALTER TABLE dim RENAME city TO town;
ALTER TABLE dim_history RENAME city TO place;
ALTER TABLE dim_history RENAME id TO key;
ALTER TABLE dim_history RENAME valid_to TO ends;
ALTER TABLE dim_history RENAME valid_from TO begins;
ALTER TABLE dim_history RENAME dim_sk TO sk;
ALTER TABLE dim_history RENAME is_current TO c;
ALTER TABLE dim_history RENAME previous_note TO pn;
ALTER TABLE dim_history RENAME current_tier TO ct;
ALTER TABLE dim_history RENAME row_hash TO h;
ALTER TABLE dim_history RENAME TO dim_past;
ALTER TABLE dim_past SET SCHEMA hi2;
ALTER VIEW dim_versions RENAME TO dim_all;
SELECT * FROM names();
SELECT history FROM scd2.dimensions WHERE dimension = 'dim'::regclass;
SELECT load((1, 'Ada N.', 'Lund', 'gold', 'z', 'U', '2026-09-01'), (2, 'Bob', 'Graz', 'tin', 'x', 'U', '2026-02-10'),
            (4, 'Dan', 'Rome', 'tin', 'x', 'U', '2026-07-01'));
CALL scd2.apply('dim');
SELECT last_run();
SELECT id, name, city, valid_from::date, valid_to::date, is_current FROM dim_all WHERE valid_to > '2026-06-15' ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim');
UPDATE hi2.dim_past SET place = 'Nowhere' WHERE key = 1 AND place = 'Bern';
CALL scd2.rebuild_apply('dim');
SELECT * FROM scd2.check('dim');
SELECT id, city FROM dim_as_of('2026-01-31') ORDER BY id;
ALTER TABLE dim OWNER TO regress_hi_a;
SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('dim', 'dim_past', 'dim_all', 'dim_current', 'dim_log') ORDER BY 1;
ALTER TABLE dim OWNER TO CURRENT_USER;
-- a column of another type in one of the two is refused; in both it is none of ours
BEGIN;
DROP VIEW dim_current, dim_all, rows;
DROP FUNCTION dim_as_of;
ALTER TABLE dim ALTER town TYPE varchar(20);
SELECT try($$CALL scd2.apply('hi.dim')$$);
SELECT try($$SELECT * FROM scd2.check('hi.dim')$$);
ALTER TABLE hi2.dim_past ALTER place TYPE varchar(20);
SELECT * FROM scd2.check('dim');
ROLLBACK;
-- with the event triggers off, the next use mends the names
ALTER EVENT TRIGGER scd2_registry_ddl_end DISABLE;
ALTER TABLE hi2.dim_past RENAME TO dim_history;
ALTER TABLE hi2.dim_history SET SCHEMA hi;
ALTER TABLE dim_history RENAME place TO city;
ALTER EVENT TRIGGER scd2_registry_ddl_end ENABLE ALWAYS;
CALL scd2.apply('dim');
SELECT * FROM names();
-- R3: a dropped history; a table that took its name is not it
BEGIN;
DROP TABLE dim_history CASCADE;
CREATE TABLE dim_history (LIKE dim);
SELECT history FROM scd2.dimensions WHERE dimension = 'dim'::regclass;
SELECT try($$CALL scd2.apply('hi.dim')$$);
SELECT scd2.drop_dimension('dim');
ROLLBACK;
ALTER TABLE dim_history RENAME key TO id;
ALTER TABLE dim_history RENAME ends TO valid_to;
ALTER TABLE dim_history RENAME begins TO valid_from;
ALTER TABLE dim_history RENAME sk TO dim_sk;
ALTER TABLE dim_history RENAME c TO is_current;
ALTER TABLE dim_history RENAME pn TO previous_note;
ALTER TABLE dim_history RENAME ct TO current_tier;
ALTER TABLE dim_history RENAME h TO row_hash;
ALTER TABLE dim RENAME town TO city;
CREATE TEMP TABLE kept AS TABLE rows;
-- drop_dimension takes the views and the function, and leaves both tables, the log and the runs
SELECT scd2.drop_dimension('dim');
SELECT relname FROM pg_class WHERE relnamespace = 'hi'::regnamespace AND relname ~ '^dim' AND relkind IN ('r', 'v') ORDER BY 1;
-- and registering takes them up, as what they were
SELECT try($$SELECT scd2.create_dimension('hi.dim', source => 'hi.stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $x$op = 'D'$x$)$$);
ALTER TABLE dim_history OWNER TO regress_hi_b;
SELECT try($$SELECT scd2.create_dimension('hi.dim', source => 'hi.stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $x$op = 'D'$x$, history => 'separate')$$);
ALTER TABLE dim_history OWNER TO CURRENT_USER;
BEGIN;
ALTER TABLE dim_history DROP city CASCADE;
SELECT try($$SELECT scd2.create_dimension('hi.dim', source => 'hi.stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $x$op = 'D'$x$, history => 'separate')$$);
DROP TABLE dim_history CASCADE;
SELECT try($$SELECT scd2.create_dimension('hi.dim', source => 'hi.stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $x$op = 'D'$x$, history => 'separate')$$);
ROLLBACK;
SELECT scd2.create_dimension('dim', source => 'stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $$op = 'D'$$, history => 'separate');
SELECT load((1, 'Ada N.', 'Ulm', 'gold', 'z', 'U', '2026-10-01'), (2, 'Bob', 'Wels', 'tin', 'x', 'U', '2026-02-15'));
CALL scd2.apply('dim');
SELECT lies_in, id, city, valid_from FROM (TABLE rows EXCEPT TABLE kept) x ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim');
DROP VIEW rows;
SELECT scd2.drop_dimension('dim', keep_table => false);
SELECT relname FROM pg_class WHERE relnamespace = 'hi'::regnamespace AND relname ~ '^dim' AND relkind IN ('r', 'v') ORDER BY 1;
-- a history whose dimension is gone is not taken up
SELECT try($$SELECT scd2.create_dimension('hi.dim', source => 'hi.stg', business_key => '{id}', type1 => '{name}', type6 => '{tier}',
    type3 => '{note}', effective_at => 'at', delete_when => $x$op = 'D'$x$, history => 'separate')$$);

SET client_min_messages = warning;
DROP SCHEMA hi, hi2 CASCADE;
DROP ROLE regress_hi_a, regress_hi_b;
