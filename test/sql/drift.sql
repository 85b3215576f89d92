-- Drift: columns that a source gains and loses (on_drift, R8), and what users alter themselves (R4, R17).
\set VERBOSITY default
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
CREATE SCHEMA dr;
SET search_path = dr;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET scd2.notice = off;

-- what rebuild says is what apply made (R10), and nothing is violated (R32)
CREATE FUNCTION wrong(dim regclass) RETURNS TABLE (what text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT c.violation || ' ' || coalesce(c.key::text, '') || ' ' || coalesce(c.detail, '') FROM scd2.check(dim) c;
    RETURN QUERY EXECUTE format(
        'SELECT ''rebuild '' || to_jsonb(x)::text FROM ((TABLE %1$s EXCEPT SELECT * FROM scd2.rebuild(NULL::%1$s)) UNION ALL (SELECT * FROM scd2.rebuild(NULL::%1$s) EXCEPT TABLE %1$s)) x WHERE to_jsonb(x) ->> ''id'' IS NOT NULL', dim);
END $$;
CREATE PROCEDURE fails(sql text) LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE sql;
    RAISE WARNING 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE WARNING '%: % | % | %', SQLSTATE, SQLERRM, detail, hint;
END $$;

-- ---------------------------------------------------------------------------
-- 'add', every change with a time of its own; hard case 31
-- ---------------------------------------------------------------------------
CREATE ROLE dr_reader;
CREATE TABLE c (id integer, a text, n text, at timestamptz);
INSERT INTO c VALUES (1, 'a', 'x', '2024-01-01'), (2, 'b', 'y', '2024-01-01');
SELECT scd2.create_dimension('dim_c', source => 'c', business_key => '{id}', type1 => '{n}', effective_at => 'at', on_drift => 'add');
CALL scd2.apply('dim_c');
UPDATE c SET a = a || '2', at = '2024-02-01';
CALL scd2.apply('dim_c');
GRANT EXECUTE ON FUNCTION dim_c_as_of TO dr_reader;
REVOKE EXECUTE ON FUNCTION dim_c_as_of FROM PUBLIC;
COMMENT ON FUNCTION dim_c_as_of IS 'mine';
GRANT SELECT ON dim_c_current TO dr_reader;
ALTER VIEW dim_c_current SET (security_barrier = true);
CREATE VIEW over_current AS SELECT id, a FROM dim_c_current;
ALTER TABLE dim_c RENAME COLUMN a TO aa;

-- preview alters nothing: it takes the column for not there
ALTER TABLE c ADD extra integer;
UPDATE c SET extra = 10 * id;
SELECT action, key, effective_at, old, new FROM scd2.preview('dim_c') ORDER BY key;
-- a SAVEPOINT rolled back (R35)
BEGIN;
SAVEPOINT s;
CALL scd2.apply('dim_c');
SELECT count(*) FROM scd2.dimension_columns WHERE dimension = 'dim_c'::regclass AND column_name = 'extra';
ROLLBACK TO s;
SELECT count(*) FROM scd2.dimension_columns WHERE dimension = 'dim_c'::regclass AND column_name = 'extra';
COMMIT;
-- with the old E: the version at that time is corrected in place, and the value fills those before it
CALL scd2.apply('dim_c');
SELECT rows_read, rows_late, rows_overwritten, versions_opened FROM scd2.runs WHERE id = scd2.last_run();
CALL scd2.apply('dim_c');
SELECT rows_read, rows_replayed, versions_opened FROM scd2.runs WHERE id = scd2.last_run();
SELECT id, aa, n, extra, valid_from::date, valid_to::date FROM dim_c WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM wrong('dim_c');
SELECT id, a, extra FROM dim_c_log ORDER BY scd2_id;
SELECT column_name, source_column, scd_type, data_type, role FROM scd2.dimension_columns WHERE dimension = 'dim_c'::regclass;
SELECT options -> 'type2' FROM scd2.dimensions WHERE dimension = 'dim_c'::regclass;
-- view and function show it, and are as they were otherwise
SELECT * FROM dim_c_current ORDER BY id;
SELECT * FROM dim_c_as_of('2024-01-15') ORDER BY id;
SELECT * FROM over_current ORDER BY id;
SELECT has_function_privilege('dr_reader', 'dim_c_as_of(timestamptz)', 'EXECUTE') AS granted, proacl IS NOT NULL AS has_acl,
       obj_description(oid, 'pg_proc') FROM pg_proc WHERE proname = 'dim_c_as_of';
SELECT count(*) FROM pg_proc, aclexplode(proacl) a WHERE proname = 'dim_c_as_of' AND a.grantee = 0;
SELECT has_table_privilege('dr_reader', 'dim_c_current', 'SELECT') AS granted, reloptions FROM pg_class WHERE relname = 'dim_c_current';

-- from now on it is type 2; null is a value like any other
UPDATE c SET extra = NULL, at = '2024-03-01' WHERE id = 1;
CALL scd2.apply('dim_c');
UPDATE c SET extra = 12, at = '2024-04-01' WHERE id = 1;
CALL scd2.apply('dim_c');
SELECT id, aa, n, extra, valid_from::date, valid_to::date FROM dim_c WHERE id = 1 ORDER BY valid_from;
SELECT * FROM wrong('dim_c');

-- lost: no version opens by that, values stay (hard case 32)
ALTER TABLE c DROP a;
UPDATE c SET at = '2024-05-01', n = n || '!';
INSERT INTO c VALUES (3, 'z', '2024-05-01', 33);
CALL scd2.apply('dim_c');
CALL scd2.apply('dim_c');
SELECT id, aa, n, extra, valid_from::date, valid_to::date FROM dim_c WHERE is_current AND id IS NOT NULL ORDER BY id;
SELECT id, scd2_effective_at::date, a, extra, scd2_lacks IS NOT NULL AS lacks FROM dim_c_log ORDER BY scd2_id;
SELECT * FROM wrong('dim_c');
-- and back: a key that never had a value gets it for all its versions
UPDATE c SET extra = 34, at = '2024-06-01' WHERE id = 3;
CALL scd2.apply('dim_c');
ALTER TABLE c ADD a text;
UPDATE c SET a = 'back', at = '2024-07-01';
CALL scd2.apply('dim_c');
SELECT id, aa, n, extra, valid_from::date, valid_to::date FROM dim_c WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM wrong('dim_c');

-- renamed in the source: lost and gained
ALTER TABLE c RENAME a TO a_new;
CALL scd2.apply('dim_c');
SELECT id, a, a_new, valid_from::date FROM dim_c_current ORDER BY id;
SELECT id, aa, a_new, valid_from::date FROM dim_c WHERE is_current AND id IS NOT NULL ORDER BY id;
SELECT * FROM wrong('dim_c');
-- retyped
ALTER TABLE c ALTER extra TYPE text;
CALL fails($$CALL scd2.apply('dr.dim_c')$$);
ALTER TABLE c ALTER extra TYPE integer USING extra::integer;
-- lost: key, time
ALTER TABLE c RENAME id TO id2;
CALL fails($$CALL scd2.apply('dr.dim_c')$$);
ALTER TABLE c RENAME id2 TO id;
ALTER TABLE c RENAME at TO at2;
CALL fails($$CALL scd2.apply('dr.dim_c')$$);
ALTER TABLE c RENAME at2 TO at;
-- a name that is taken
SELECT scd2.create_dimension('dim_taken', source => 'c', business_key => '{id}', type2 => '{extra}', effective_at => 'at', on_drift => 'add');
ALTER TABLE c ADD valid_from date;
CALL fails($$CALL scd2.apply('dr.dim_taken')$$);
-- another source is held only to what it lacks or retypes
CREATE VIEW c_wide AS SELECT id, at, extra, a_new, n, 1 AS more FROM c;
CALL scd2.apply('dim_c', source => 'c_wide');
SELECT count(*) FROM scd2.dimension_columns WHERE dimension = 'dim_c'::regclass AND column_name = 'more';
SELECT * FROM wrong('dim_c');

-- ---------------------------------------------------------------------------
-- a snapshot without times; what depends on the function, and a view that is another's
-- ---------------------------------------------------------------------------
CREATE TABLE s (id integer, a text, op text);
INSERT INTO s VALUES (1, 'a', 'I'), (2, 'b', 'I'), (3, 'c', 'I');
SELECT scd2.create_dimension('dim_s', source => 's', business_key => '{id}', delete_when => 'op = ''D''', mode => 'snapshot', on_drift => 'add');
CALL scd2.apply('dim_s', batch_time => '2024-01-01');
CREATE VIEW over_as_of AS SELECT id FROM dim_s_as_of('2024-01-15');
CREATE OR REPLACE VIEW dim_s_current AS SELECT DISTINCT * FROM dim_s WHERE is_current AND id IS NOT NULL;
ALTER TABLE s ADD x date, ADD y varchar(5);
UPDATE s SET x = '2024-02-02', y = 'y' WHERE id < 3;
CALL scd2.apply('dim_s', batch_time => '2024-02-01');
SELECT id, a, x, y, valid_from::date, valid_to::date FROM dim_s WHERE id IS NOT NULL ORDER BY id, valid_from;
CALL scd2.apply('dim_s', batch_time => '2024-02-02');
-- what was null was told to be null: no correction, but a change
UPDATE s SET x = '2024-03-03' WHERE id = 3;
CALL scd2.apply('dim_s', batch_time => '2024-03-01');
SELECT id, a, x, y, valid_from::date, valid_to::date FROM dim_s WHERE id = 3 ORDER BY valid_from;
SELECT * FROM wrong('dim_s');
-- lost in a snapshot
ALTER TABLE s DROP x;
CALL scd2.apply('dim_s', batch_time => '2024-04-01');
UPDATE s SET a = 'a2' WHERE id = 1;
INSERT INTO s VALUES (1, 'a2', 'I', 'y');
CALL scd2.apply('dim_s', batch_time => '2024-05-01');
SELECT id, a, x, y, valid_from::date, valid_to::date FROM dim_s WHERE id = 1 ORDER BY valid_from;
SELECT * FROM wrong('dim_s');
-- a column that delete_when reads
ALTER TABLE s DROP op;
CALL fails($$CALL scd2.apply('dr.dim_s')$$);

-- ---------------------------------------------------------------------------
-- 'add' with the history in a table of its own
-- ---------------------------------------------------------------------------
CREATE TABLE h (id integer, a text, at timestamptz);
INSERT INTO h VALUES (1, 'a', '2024-01-01');
SELECT scd2.create_dimension('dim_h', source => 'h', business_key => '{id}', type6 => '{a}', effective_at => 'at', on_drift => 'add', history => 'separate');
CALL scd2.apply('dim_h');
UPDATE h SET a = 'b', at = '2024-02-01';
CALL scd2.apply('dim_h');
CREATE VIEW over_versions AS SELECT * FROM dim_h_versions;
ALTER TABLE h ADD x numeric(6,2);
UPDATE h SET x = 1.5, at = '2024-03-01';
CALL scd2.apply('dim_h');
SELECT id, a, current_a, x, valid_from::date, valid_to::date FROM dim_h_versions ORDER BY valid_from;
SELECT id, a, current_a, x, valid_from::date, valid_to::date FROM dim_h_history ORDER BY valid_from;
SELECT id, a, current_a, x, valid_from::date, valid_to::date FROM dim_h_as_of('2024-01-15');
SELECT id, a, x FROM dim_h_current;
UPDATE h SET x = 2, at = '2024-04-01';
CALL scd2.apply('dim_h');
SELECT id, a, current_a, x, valid_from::date, valid_to::date FROM dim_h_versions ORDER BY valid_from;
SELECT * FROM scd2.check('dim_h');

-- ---------------------------------------------------------------------------
-- 'ignore'; without a log
-- ---------------------------------------------------------------------------
CREATE TABLE i (id integer, a text, b text, at timestamptz);
INSERT INTO i VALUES (1, 'a', 'b', '2024-01-01');
SELECT scd2.create_dimension('dim_i', source => 'i', business_key => '{id}', effective_at => 'at', on_drift => 'ignore');
SELECT scd2.create_dimension('dim_nolog', source => 'i', business_key => '{id}', effective_at => 'at', on_drift => 'ignore', change_log => false);
CALL scd2.apply('dim_i');
CALL scd2.apply('dim_nolog');
ALTER TABLE i ADD extra text DEFAULT 'e', DROP b;
CALL scd2.apply('dim_i');
CALL scd2.apply('dim_nolog');
UPDATE i SET at = '2024-02-01';
CALL scd2.apply('dim_i');
CALL scd2.apply('dim_nolog');
UPDATE i SET at = '2024-03-01', a = 'a2';
CALL scd2.apply('dim_i');
CALL scd2.apply('dim_nolog');
CALL scd2.apply('dim_nolog');
SELECT id, a, b, valid_from::date, valid_to::date FROM dim_i WHERE id IS NOT NULL ORDER BY valid_from;
SELECT id, a, b, valid_from::date, valid_to::date FROM dim_nolog WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM wrong('dim_i');
SELECT * FROM scd2.check('dim_nolog');
SELECT count(*) FROM scd2.dimension_columns WHERE dimension = 'dim_i'::regclass AND column_name = 'extra';
ALTER TABLE i ALTER a TYPE varchar(20);
CALL fails($$CALL scd2.apply('dr.dim_i')$$);

-- ---------------------------------------------------------------------------
-- hard case 33: a key widened in source and dimension; varchar(10) to varchar(20)
-- ---------------------------------------------------------------------------
CREATE TABLE w (id integer, v varchar(10), at timestamptz);
INSERT INTO w VALUES (1, 'v', '2024-01-01'), (2, 'w', '2024-01-01');
SELECT scd2.create_dimension('dim_w', source => 'w', business_key => '{id}', effective_at => 'at');
CALL scd2.apply('dim_w');
CREATE TABLE w_before AS SELECT w_sk, id, valid_from FROM dim_w WHERE id IS NOT NULL;
ALTER TABLE w ALTER id TYPE bigint;
CALL fails($$CALL scd2.apply('dr.dim_w')$$);
DROP VIEW dim_w_current;
DROP FUNCTION dim_w_as_of;
ALTER TABLE dim_w ALTER id TYPE bigint;
CALL scd2.apply('dim_w');
UPDATE w SET v = 'v2', at = '2024-02-01' WHERE id = 1;
ALTER TABLE w ALTER v TYPE varchar(20);
CALL scd2.apply('dim_w');
SELECT count(*) FROM w_before NATURAL JOIN dim_w;
SELECT * FROM wrong('dim_w');
-- a value that the log cannot hold
INSERT INTO w VALUES (5000000000, 'big', '2024-02-01');
CALL fails($$CALL scd2.apply('dr.dim_w')$$);
ALTER TABLE dim_w_log ALTER id TYPE bigint;
CALL scd2.apply('dim_w');
SELECT id, v, valid_from::date, valid_to::date FROM dim_w WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM wrong('dim_w');
-- a tracked column dropped from the dimension
ALTER TABLE dim_w DROP v;
CALL fails($$CALL scd2.apply('dr.dim_w')$$);

-- ---------------------------------------------------------------------------
-- hard case 9: columns dropped and added everywhere, another order in the source
-- ---------------------------------------------------------------------------
CREATE TABLE o (id integer, a text, b integer, at timestamptz);
INSERT INTO o VALUES (1, 'a', 1, '2024-01-01'), (2, 'b', 2, '2024-01-01');
SELECT scd2.create_dimension('dim_o', source => 'o', business_key => '{id}', effective_at => 'at');
ALTER TABLE dim_o ADD gone integer, ADD mine text DEFAULT 'mine';
ALTER TABLE dim_o DROP gone;
ALTER TABLE dim_o_log ADD gone integer, ADD mine text DEFAULT 'mine';
ALTER TABLE dim_o_log DROP gone;
CALL scd2.apply('dim_o');
DROP TABLE o;
CREATE TABLE o (gone text, b integer, at timestamptz, a text, id integer);
ALTER TABLE o DROP gone;
INSERT INTO o VALUES (3, '2024-02-01', 'a', 1), (2, '2024-01-01', 'b', 2);
CALL scd2.apply('dim_o');
SELECT id, a, b, mine, valid_from::date, valid_to::date FROM dim_o WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_o');

-- ---------------------------------------------------------------------------
-- 'error': gained, lost, a default
-- ---------------------------------------------------------------------------
ALTER TABLE o ADD extra integer;
CALL fails($$CALL scd2.apply('dr.dim_o')$$);
ALTER TABLE o DROP extra, DROP a;
CALL fails($$CALL scd2.apply('dr.dim_o')$$);

-- ---------------------------------------------------------------------------
-- 'ignore': a retyped column is an error all the same, a renamed one is lost and gained
-- ---------------------------------------------------------------------------
CREATE TABLE ig (id integer, a text, b text, at timestamptz);
INSERT INTO ig VALUES (1, 'a', 'b', '2024-01-01');
SELECT scd2.create_dimension('dim_ig', source => 'ig', business_key => '{id}', effective_at => 'at', on_drift => 'ignore');
CALL scd2.apply('dim_ig');
ALTER TABLE ig ALTER b TYPE varchar(9);
CALL fails($$CALL scd2.apply('dr.dim_ig')$$);
ALTER TABLE ig ALTER b TYPE text;
ALTER TABLE ig RENAME b TO c;
UPDATE ig SET a = 'a2', c = 'c', at = '2024-02-01';
CALL scd2.apply('dim_ig');
ALTER TABLE ig RENAME c TO b;
UPDATE ig SET a = 'a3', at = '2024-03-01';
CALL scd2.apply('dim_ig');
SELECT id, a, b, valid_from::date FROM dim_ig WHERE id IS NOT NULL ORDER BY valid_from;
-- the key, and what is needed to read at all, cannot be missed
ALTER TABLE ig RENAME id TO key;
CALL fails($$CALL scd2.apply('dr.dim_ig')$$);
ALTER TABLE ig RENAME key TO id;
ALTER TABLE ig RENAME at TO time;
CALL fails($$CALL scd2.apply('dr.dim_ig')$$);
SELECT * FROM wrong('dim_ig');

-- ---------------------------------------------------------------------------
-- 'add': domains, with a default and not null; uuid keys; deletes that are flagged
-- ---------------------------------------------------------------------------
CREATE DOMAIN grade AS varchar(3) DEFAULT 'new' CHECK (VALUE <> 'bad');
CREATE DOMAIN needed AS integer NOT NULL;
CREATE TABLE u (id uuid, a text, at timestamptz, op text);
INSERT INTO u SELECT ('00000000-0000-4000-8000-00000000000' || i)::uuid, 'a', '2024-01-01', 'I' FROM generate_series(1, 3) i;
SELECT scd2.create_dimension('dim_u', source => 'u', business_key => '{id}', effective_at => 'at', on_drift => 'add', on_delete => 'flag',
                             delete_when => $$op = 'D'$$, surrogate_key_type => 'uuid');
CALL scd2.apply('dim_u');
UPDATE u SET op = 'D', at = '2024-02-01' WHERE id::text LIKE '%2';
CALL scd2.apply('dim_u');
ALTER TABLE u ADD g grade, ADD "Tag" uuid;
UPDATE u SET g = 'A', "Tag" = id, at = '2024-03-01', op = 'I' WHERE id::text NOT LIKE '%3';
UPDATE u SET g = NULL WHERE id::text LIKE '%3';
CALL scd2.apply('dim_u');
SELECT right(id::text, 1) AS id, a, g, right("Tag"::text, 1) AS tag, is_deleted, valid_from::date, valid_to::date
  FROM dim_u WHERE id IS NOT NULL ORDER BY id, valid_from;
-- a late one, from before the columns came
INSERT INTO u VALUES ('00000000-0000-4000-8000-000000000003', 'b', '2024-01-15', 'I', 'B', NULL);
CALL scd2.apply('dim_u');
UPDATE u SET op = 'D', at = '2024-04-01' WHERE a = 'b';
CALL scd2.apply('dim_u');
SELECT right(id::text, 1) AS id, a, g, right("Tag"::text, 1) AS tag, is_deleted, valid_from::date, valid_to::date
  FROM dim_u WHERE id::text LIKE '%3' ORDER BY id, valid_from;
SELECT * FROM wrong('dim_u');
-- no version can have a column that may not be null: nothing is changed
ALTER TABLE u ADD must needed DEFAULT 1;
CALL fails($$CALL scd2.apply('dr.dim_u')$$);
SELECT count(*) FROM scd2.dimension_columns WHERE dimension = 'dim_u'::regclass AND column_name = 'must';
ALTER TABLE u DROP must;
CALL scd2.apply('dim_u');
SELECT * FROM wrong('dim_u');

-- R15: what keeps hashes from being written anew, or changes more, is noticed
ALTER TABLE u ADD more text;
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_ARGV[0] = 'suppress' THEN RETURN NULL; END IF;
    IF TG_ARGV[0] = 'keep' THEN NEW.row_hash := OLD.row_hash; END IF;
    IF TG_ARGV[0] = 'change' THEN NEW.valid_to := NEW.valid_to - interval '1 day'; END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER meddle BEFORE UPDATE ON dim_u FOR EACH ROW EXECUTE FUNCTION meddle('suppress');
CALL fails($$CALL scd2.apply('dr.dim_u')$$);
CREATE OR REPLACE TRIGGER meddle BEFORE UPDATE ON dim_u FOR EACH ROW EXECUTE FUNCTION meddle('keep');
CALL fails($$CALL scd2.apply('dr.dim_u')$$);
CREATE OR REPLACE TRIGGER meddle BEFORE UPDATE ON dim_u FOR EACH ROW EXECUTE FUNCTION meddle('change');
CALL fails($$CALL scd2.apply('dr.dim_u')$$);
CREATE OR REPLACE TRIGGER meddle BEFORE UPDATE ON dim_u FOR EACH ROW EXECUTE FUNCTION meddle('nothing');
CREATE RULE nothing AS ON UPDATE TO dim_u DO INSTEAD NOTHING;
CALL fails($$CALL scd2.apply('dr.dim_u')$$);
DROP RULE nothing ON dim_u;
CALL scd2.apply('dim_u');
SELECT * FROM wrong('dim_u');
-- of the versions in the history, too
ALTER TABLE h ADD more text;
CREATE TRIGGER meddle BEFORE UPDATE ON dim_h_history FOR EACH ROW EXECUTE FUNCTION meddle('suppress');
CALL fails($$CALL scd2.apply('dr.dim_h')$$);
DROP TRIGGER meddle ON dim_h_history;
CALL scd2.apply('dim_h');
SELECT * FROM wrong('dim_h');

DROP SCHEMA dr CASCADE;
DROP ROLE dr_reader;
