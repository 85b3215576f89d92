-- R22: long work shows its progress; R23: scd2.sql shows the very statements
-- that apply executes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
\set VERBOSITY terse

CREATE SCHEMA sh;
SET search_path = sh;
CREATE TABLE s (id integer, a text, n text, at timestamptz);
CREATE FUNCTION look(what text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN true; END $$;
CREATE VIEW v AS SELECT id, a, n, at FROM s WHERE sh.look('source');
SELECT scd2.create_dimension('dim', source => 'v', business_key => '{id}', type1 => '{n}', effective_at => 'at');
INSERT INTO s VALUES (1, 'a', 'x', '2026-01-01'), (2, 'a', 'x', '2026-01-01');
CALL scd2.apply('dim');
-- key 1: a version closed and one opened; key 2: overwritten
TRUNCATE s;
INSERT INTO s VALUES (1, 'b', 'x', '2026-02-01'), (2, 'a', 'y', '2026-02-01');
CREATE FUNCTION look_tg() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM sh.look(TG_OP || ' ' || TG_TABLE_NAME); RETURN NULL; END $$;
CREATE TRIGGER look BEFORE INSERT OR UPDATE ON dim EXECUTE FUNCTION look_tg();
CREATE TRIGGER look BEFORE INSERT ON dim_log EXECUTE FUNCTION look_tg();

-- ---------------------------------------------------------------------------
-- R22: what another session would read now
-- ---------------------------------------------------------------------------
CREATE TABLE seen (no integer GENERATED ALWAYS AS IDENTITY, at_ text, dimension regclass, phase text, done bigint, total bigint);
CREATE OR REPLACE FUNCTION look(what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_stat_clear_snapshot();
    INSERT INTO sh.seen (at_, dimension, phase, done, total)
    SELECT what, p.dimension, p.phase, p.done, p.total FROM scd2.progress AS p WHERE p.pid = pg_backend_pid();
    RETURN true;
END $$;
BEGIN;
CALL scd2.apply('dim');
SELECT DISTINCT ON (no) at_, dimension, phase, done, total FROM seen ORDER BY no;
-- it is over
SELECT pg_stat_clear_snapshot();
SELECT count(*) FROM scd2.progress WHERE pid = pg_backend_pid();
ROLLBACK;

-- ---------------------------------------------------------------------------
-- R23: an error in a statement shows its text
-- ---------------------------------------------------------------------------
CREATE PROCEDURE compare(wanted text) LANGUAGE plpgsql AS $$
DECLARE
    context text;
    in_step text;
BEGIN
    EXECUTE format('CREATE OR REPLACE FUNCTION sh.look(what text) RETURNS boolean LANGUAGE plpgsql AS %L', format(
                   'BEGIN IF what = %L AND current_setting(''sh.at'') = ''0'' THEN RAISE ''on purpose''; ELSIF what = %L THEN PERFORM set_config(''sh.at'', ''0'', false); END IF; RETURN true; END',
                   split_part(wanted, '/', 1), split_part(wanted, '/', 1)));
    PERFORM set_config('sh.at', split_part(wanted, '/', 2), false);
    CALL scd2.apply('sh.dim');
    RAISE WARNING 'no error';
EXCEPTION WHEN raise_exception THEN
    GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
    in_step := substring(context FROM 'step "([^"]*)"');
    RAISE WARNING '%: step %, %', wanted, in_step,
        (SELECT CASE WHEN strpos(context, q.statement) > 0 THEN 'as it is shown' ELSE 'not as it is shown' END
           FROM scd2.sql('sh.dim') AS q WHERE q.name = in_step);
END $$;
CALL compare('source/0');
CALL compare('UPDATE dim/0');
CALL compare('INSERT dim/0');
CALL compare('UPDATE dim/1');   -- the second
CALL compare('INSERT dim_log/0');
-- numbered in the order in which a batch flows, and none empty
SELECT name, step = row_number() OVER () AS in_order, statement <> '' AS text FROM scd2.sql('dim');
-- a snapshot's, too
SELECT scd2.create_dimension('snap', source => 's', business_key => '{id}', mode => 'snapshot', change_log => false);
SELECT string_agg(name, ', ' ORDER BY step) FROM scd2.sql('snap');

DROP SCHEMA sh CASCADE;
