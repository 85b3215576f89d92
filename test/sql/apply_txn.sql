-- R35 and hard cases 5 and 21: a call that fails, is cancelled or is rolled back
-- leaves everything as before; and a call works wherever a CALL does.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA tx;
SET search_path = tx;
CREATE TABLE s (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim', source => 's', business_key => '{id}', effective_at => 'at');
CREATE FUNCTION put(text, day integer) RETURNS void LANGUAGE sql AS $$
    TRUNCATE tx.s; INSERT INTO tx.s VALUES (1, $1, timestamptz '2024-01-01' + day * interval '1 day')
$$;
-- the chain of key 1, changes logged, runs
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS $$
    SELECT format('%s | %s logged, %s runs, last is %s', (SELECT string_agg(a, ' ' ORDER BY valid_from) FROM tx.dim WHERE id = 1),
                  (SELECT count(*) FROM tx.dim_log), (SELECT count(*) FROM scd2.runs WHERE dimension = 'tx.dim'::regclass),
                  (SELECT CASE WHEN scd2.last_run() IS NULL THEN 'none'
                               WHEN scd2.last_run() = max(id) THEN 'the newest' ELSE 'another' END
                     FROM scd2.runs WHERE dimension = 'tx.dim'::regclass))
$$;
SELECT scd2.last_run() IS NULL AS none_yet;
SELECT put('a', 1);
CALL scd2.apply('dim');
SELECT state();

-- ---------------------------------------------------------------------------
-- rollback, savepoints
-- ---------------------------------------------------------------------------
BEGIN;
SELECT put('b', 2);
CALL scd2.apply('dim');
SELECT state();
ROLLBACK;
SELECT state();
BEGIN;
SELECT put('b', 2);
SAVEPOINT one;
CALL scd2.apply('dim');
ROLLBACK TO one;
SELECT state();
SELECT put('c', 2);
CALL scd2.apply('dim');
SELECT state();
SAVEPOINT two;
SELECT put('d', 3);
CALL scd2.apply('dim');
RELEASE two;
COMMIT;
SELECT state();
-- an error in a transaction block, up to a savepoint
BEGIN;
SAVEPOINT one;
UPDATE s SET at = NULL;
CALL scd2.apply('dim');
ROLLBACK TO one;
SELECT put('e', 4);
CALL scd2.apply('dim');
COMMIT;
SELECT state();

-- ---------------------------------------------------------------------------
-- an error caught in an exception block, then a good one; at each stage
-- ---------------------------------------------------------------------------
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'on purpose'; END $$;
CREATE PROCEDURE fail_then_apply(make text, unmake text, value text, day integer) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tx.put(value, day);
    EXECUTE make;
    BEGIN
        CALL scd2.apply('tx.dim');
        RAISE WARNING 'no error';
    EXCEPTION WHEN OTHERS THEN
        RAISE WARNING 'caught: %', SQLERRM;
    END;
    RAISE WARNING '%', tx.state();
    EXECUTE unmake;
    PERFORM tx.put(value, day);
    CALL scd2.apply('tx.dim');
    RAISE WARNING '%', tx.state();
    -- settings and rights are the caller's again
    RAISE WARNING '% % % %', current_user = session_user, current_setting('search_path'), current_setting('timezone'), current_setting('enable_hashjoin');
END $$;
CALL fail_then_apply('UPDATE tx.s SET at = NULL', 'SELECT 1', 'f', 5);
CALL fail_then_apply('ALTER TABLE tx.s ADD x integer', 'ALTER TABLE tx.s DROP x', 'g', 6);
CALL fail_then_apply('CREATE TRIGGER fail BEFORE UPDATE ON tx.dim FOR EACH ROW EXECUTE FUNCTION tx.fail()', 'DROP TRIGGER fail ON tx.dim', 'h', 7);
CALL fail_then_apply('CREATE TRIGGER fail AFTER UPDATE ON tx.dim EXECUTE FUNCTION tx.fail()', 'DROP TRIGGER fail ON tx.dim', 'i', 8);
CALL fail_then_apply('CREATE TRIGGER fail BEFORE INSERT ON tx.dim FOR EACH ROW EXECUTE FUNCTION tx.fail()', 'DROP TRIGGER fail ON tx.dim', 'j', 9);
CALL fail_then_apply('CREATE TRIGGER fail AFTER INSERT ON tx.dim_log FOR EACH ROW EXECUTE FUNCTION tx.fail()', 'DROP TRIGGER fail ON tx.dim_log', 'k', 10);
SELECT * FROM scd2.check('dim');

-- deferred constraints are made immediate for the rest of the transaction (R30): the error comes from the call
ALTER TABLE dim ADD CONSTRAINT unique_a UNIQUE (a) DEFERRABLE INITIALLY DEFERRED;
SELECT put('b', 11);
BEGIN;
INSERT INTO s VALUES (2, 'b', '2024-01-20');
CALL scd2.apply('dim');
ROLLBACK;
ALTER TABLE dim DROP CONSTRAINT unique_a;
SELECT state();

-- ---------------------------------------------------------------------------
-- Hard case 5: in DO, functions of SQL and PL/pgSQL, triggers, procedures that
-- commit, several statements in one string, twice in one transaction
-- ---------------------------------------------------------------------------
SELECT put('l', 12);
DO $$BEGIN CALL scd2.apply('tx.dim'); END$$;
SELECT state();
CREATE FUNCTION in_sql() RETURNS void LANGUAGE sql AS $$CALL scd2.apply('tx.dim')$$;
SELECT put('m', 13);
SELECT in_sql();
SELECT state();
CREATE FUNCTION in_plpgsql() RETURNS text LANGUAGE plpgsql AS $$BEGIN CALL scd2.apply('tx.dim'); RETURN tx.state(); END $$;
SELECT put('n', 14);
SELECT in_plpgsql();
CREATE FUNCTION in_trigger() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN CALL scd2.apply('tx.dim'); RETURN NULL; END $$;
CREATE TRIGGER load AFTER INSERT ON s FOR EACH STATEMENT EXECUTE FUNCTION in_trigger();
SELECT put('o', 15);
DROP TRIGGER load ON s;
SELECT state();
CREATE PROCEDURE in_procedure() LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tx.put('p', 16);
    CALL scd2.apply('tx.dim');
    COMMIT;
    PERFORM tx.put('q', 17);
    CALL scd2.apply('tx.dim');
    ROLLBACK;
    PERFORM tx.put('r', 18);
    CALL scd2.apply('tx.dim');
END $$;
CALL in_procedure();
SELECT state();
-- psql's \; sends one string
SELECT put('t', 19) \; CALL scd2.apply('dim') \; SELECT put('u', 20) \; CALL scd2.apply('dim') \; SELECT state();
-- an error in the string takes all of it back
SELECT put('v', 21) \; CALL scd2.apply('dim') \; SELECT 1 / 0;
SELECT state();
-- with parameters from variables, in a loop
DO $$
DECLARE
    dim regclass := 'tx.dim';
BEGIN
    FOR day IN 22 .. 24 LOOP
        PERFORM tx.put('w' || day, day);
        CALL scd2.apply(dim, source => 'tx.s', scope => NULL, force => NULL);
    END LOOP;
END $$;
SELECT state();
-- in a cursor's transaction and inside a query over the dimension
BEGIN;
DECLARE c CURSOR FOR SELECT a FROM dim WHERE id = 1 AND is_current;
SELECT put('x', 25);
CALL scd2.apply('dim');
FETCH ALL FROM c;
COMMIT;
SELECT state();

-- twice in one transaction: the second run's E is later
CREATE TABLE b (id integer, a text);
SELECT scd2.create_dimension('dim_b', source => 'b', business_key => '{id}');
INSERT INTO b VALUES (1, 'a');
BEGIN;
CALL scd2.apply('dim_b');
UPDATE b SET a = 'b';
CALL scd2.apply('dim_b');
UPDATE b SET a = 'c';
CALL scd2.apply('dim_b');
COMMIT;
SELECT a, valid_from > lag(valid_from) OVER (ORDER BY valid_from) AS later, is_current FROM dim_b WHERE id = 1 ORDER BY valid_from;
SELECT count(DISTINCT recorded_at), count(*) FROM scd2.runs WHERE dimension = 'dim_b'::regclass;
-- E of the default is the time when the run got its lock: not before the transaction began, nor after its end
SELECT bool_and(valid_from BETWEEN now() - interval '1 hour' AND clock_timestamp()) FROM dim_b WHERE id = 1;

-- ---------------------------------------------------------------------------
-- other isolation levels, READ ONLY
-- ---------------------------------------------------------------------------
BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE;
SELECT put('y', 26);
CALL scd2.apply('dim');
COMMIT;
SELECT state();
BEGIN TRANSACTION READ ONLY;
CALL scd2.apply('dim');
ROLLBACK;
BEGIN TRANSACTION READ ONLY;
SELECT action, key, effective_at FROM scd2.preview('dim');
SELECT count(*) > 5 AS statements FROM scd2.sql('dim');
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
ROLLBACK;

-- ---------------------------------------------------------------------------
-- a trigger on one dimension applies to another; to the same one it may not (R18)
-- ---------------------------------------------------------------------------
CREATE TABLE inner_s (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_inner', source => 'inner_s', business_key => '{id}', effective_at => 'at');
INSERT INTO inner_s VALUES (1, 'a', '2024-01-01');
CALL scd2.apply('dim_inner');
CREATE FUNCTION apply_inner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tx.inner_s SET a = a || 'a', at = at + interval '1 day';
    CALL scd2.apply(TG_ARGV[0]::regclass, source => 'tx.inner_s');
    RETURN NULL;
END $$;
CREATE TRIGGER apply_inner AFTER UPDATE ON dim FOR EACH ROW EXECUTE FUNCTION apply_inner('tx.dim_inner');
SELECT put('z', 27);
CALL scd2.apply('dim');
SHOW enable_hashjoin;
SELECT state(), (SELECT string_agg(a, ' ' ORDER BY valid_from) FROM dim_inner);
DROP TRIGGER apply_inner ON dim;
CREATE TRIGGER apply_inner AFTER UPDATE ON dim FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION apply_inner('tx.dim');
UPDATE inner_s SET id = 2;
SELECT put('no', 28);
CALL scd2.apply('dim');
DROP TRIGGER apply_inner ON dim;
SELECT state();

-- ---------------------------------------------------------------------------
-- cancelled: the dimension as before (a time that it cannot make)
-- ---------------------------------------------------------------------------
CREATE TABLE big (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_big', source => 'big', business_key => '{id}', effective_at => 'at');
INSERT INTO big SELECT i, 'a', '2024-01-01' FROM generate_series(1, 1000) AS i;
CALL scd2.apply('dim_big');
TRUNCATE big;
INSERT INTO big SELECT i % 50000, 'b' || i, timestamptz '2024-01-02' + i * interval '1 second' FROM generate_series(1, 100000) AS i;
SET statement_timeout = '20ms';
CALL scd2.apply('dim_big');
RESET statement_timeout;
SELECT count(*), max(valid_from) FROM dim_big;
SELECT count(*) FROM dim_big_log;
SELECT count(*) FROM scd2.runs WHERE dimension = 'dim_big'::regclass;
TRUNCATE big;
INSERT INTO big VALUES (1, 'b', '2024-01-02');
CALL scd2.apply('dim_big');
SELECT versions_opened, versions_closed FROM scd2.runs WHERE id = scd2.last_run();

-- ---------------------------------------------------------------------------
-- many applies in one transaction: memory does not grow with them
-- ---------------------------------------------------------------------------
DO $$
DECLARE
    before bigint;
    after bigint;
BEGIN
    FOR i IN 1 .. 300 LOOP
        UPDATE tx.b SET a = 'n' || i;
        CALL scd2.apply('tx.dim_b');
        IF i = 100 THEN
            SELECT sum(total_bytes) INTO before FROM pg_backend_memory_contexts;
        END IF;
    END LOOP;
    SELECT sum(total_bytes) INTO after FROM pg_backend_memory_contexts;
    IF after > before + 2 * 1024 * 1024 THEN
        RAISE WARNING 'memory grew from % to % in 200 applies', before, after;
    END IF;
END $$;
SELECT count(*) FROM dim_b WHERE id = 1;
SELECT v.* FROM unnest('{dim,dim_b,dim_big}'::regclass[]) AS d, scd2.check(d) AS v;

SET client_min_messages = warning;
DROP SCHEMA tx CASCADE;
