-- R18, R35: what a run calls, triggers and functions of views, can neither run
-- apply for the same dimension again nor pull the dimension from under the run.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA re;
SET search_path = re;
CREATE TABLE s (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim', source => 's', business_key => '{id}', effective_at => 'at');
INSERT INTO s VALUES (1, 'a', '2024-01-01');
CALL scd2.apply('dim');
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT format('%s | %s logged, %s runs', (SELECT string_agg(a, ' ' ORDER BY valid_from) FROM re.dim WHERE id = 1),
                  (SELECT count(*) FROM re.dim_log), (SELECT count(*) FROM scd2.runs WHERE dimension = 're.dim'::regclass))
$$;
SELECT state();

-- apply within apply: by triggers on dimension and log, in their own statements
-- and in others, and by the source
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() = 1 THEN CALL scd2.apply('re.dim'); END IF;
    RETURN NEW;
END $$;
UPDATE s SET a = 'b', at = '2024-01-02';
CREATE TRIGGER t AFTER UPDATE ON dim FOR EACH STATEMENT EXECUTE FUNCTION again();
CALL scd2.apply('dim');
DROP TRIGGER t ON dim;
CREATE TRIGGER t AFTER INSERT ON dim FOR EACH ROW EXECUTE FUNCTION again();
CALL scd2.apply('dim');
DROP TRIGGER t ON dim;
CREATE TRIGGER t AFTER INSERT ON dim_log FOR EACH STATEMENT EXECUTE FUNCTION again();
CALL scd2.apply('dim');
DROP TRIGGER t ON dim_log;
CREATE FUNCTION rows_of(text) RETURNS SETOF s LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE $1;
    RETURN QUERY SELECT * FROM re.s;
END $$;
CREATE VIEW applying AS SELECT * FROM rows_of('CALL scd2.apply(''re.dim'')');
CALL scd2.apply('dim', source => 'applying');
-- through another dimension, too
SELECT scd2.create_dimension('other', source => 'applying', business_key => '{id}', effective_at => 'at');
CREATE VIEW around AS SELECT * FROM rows_of('CALL scd2.apply(''re.other'')');
CALL scd2.apply('dim', source => 'around');
SELECT state();

-- a failure that was caught is over
DO $$
BEGIN
    CALL scd2.apply('re.dim', source => 're.applying');
EXCEPTION WHEN object_in_use THEN
    CALL scd2.apply('re.dim');
END $$;
SELECT state();

-- the dimension and its log stay as they are while the run lasts
UPDATE s SET a = 'c', at = '2024-01-03';
CREATE VIEW unregistering AS SELECT * FROM rows_of('SELECT scd2.drop_dimension(''re.dim'')');
CALL scd2.apply('dim', source => 'unregistering');
CREATE VIEW dropping AS SELECT * FROM rows_of('DROP TABLE re.dim CASCADE');
CALL scd2.apply('dim', source => 'dropping');
CREATE VIEW dropping_log AS SELECT * FROM rows_of('DROP TABLE re.dim_log');
CALL scd2.apply('dim', source => 'dropping_log');
CREATE VIEW emptying AS SELECT * FROM rows_of('TRUNCATE re.dim');
CALL scd2.apply('dim', source => 'emptying');
CREATE VIEW retyping AS SELECT * FROM rows_of('ALTER TABLE re.dim_log ALTER a TYPE varchar');
CALL scd2.apply('dim', source => 'retyping');
SELECT state();

-- one dimension's run may call another's: what it sets for a statement is its
-- own
SELECT scd2.create_dimension('second', source => 's', business_key => '{id}', effective_at => 'at', mode => 'snapshot');
CALL scd2.apply('second');
UPDATE s SET a = 'd', at = '2024-01-04';
CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CALL scd2.apply('re.second');
    RETURN NULL;
END $$;
CREATE TRIGGER t AFTER UPDATE OR INSERT ON dim FOR EACH STATEMENT EXECUTE FUNCTION follow();
CALL scd2.apply('dim');
SELECT state();
SELECT string_agg(a, ' ' ORDER BY valid_from) FROM second WHERE id = 1;
SHOW enable_hashjoin;
SELECT * FROM scd2.check('dim') UNION ALL SELECT * FROM scd2.check('second');

DROP SCHEMA re CASCADE;
