-- Who may do what (R34; hard cases 6 and 7)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
SET scd2.notice = off;
CREATE ROLE regress_ri_owner;
CREATE ROLE regress_ri_team;
CREATE ROLE regress_ri_member IN ROLE regress_ri_team;
CREATE ROLE regress_ri_noinherit NOINHERIT IN ROLE regress_ri_team;
CREATE ROLE regress_ri_reader;
CREATE ROLE regress_ri_column;
CREATE ROLE regress_ri_stranger;
CREATE SCHEMA ri;
GRANT USAGE ON SCHEMA ri TO PUBLIC;
GRANT CREATE ON SCHEMA ri TO regress_ri_owner, regress_ri_team;

-- SQLSTATE, message, detail and hint of a call; what it made is rolled back
CREATE FUNCTION ri.try(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
    EXECUTE call;
    RAISE EXCEPTION USING errcode = '00001';
EXCEPTION
    WHEN SQLSTATE '00001' THEN RETURN NEXT 'no error';
    WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        RETURN NEXT SQLSTATE || ': ' || SQLERRM;
        IF detail <> '' THEN RETURN NEXT 'DETAIL: ' || detail; END IF;
        IF hint <> '' THEN RETURN NEXT 'HINT: ' || hint; END IF;
END
$$;

CREATE TABLE ri.src (id int, v text, secret text);
INSERT INTO ri.src VALUES (1, 'a', 's');
GRANT SELECT ON ri.src TO regress_ri_owner;
GRANT SELECT (id, v) ON ri.src TO regress_ri_team;

-- who creates a new table owns it, and all that belongs to it
SET ROLE regress_ri_owner;
SELECT scd2.create_dimension('ri.dim_o', 'ri.src', '{id}');
RESET ROLE;
SET ROLE regress_ri_team;
-- the source: on the columns that are read, at least
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}')$$);
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}', type2 => '{v}', delete_when => 'secret IS NULL')$$);
SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}', type2 => '{v}');
RESET ROLE;
SELECT relname, relowner::regrole FROM pg_class WHERE relnamespace = 'ri'::regnamespace AND relname ~ '^dim' AND relkind IN ('r', 'v', 'S')
 UNION ALL SELECT proname, proowner::regrole FROM pg_proc WHERE pronamespace = 'ri'::regnamespace AND proname ~ '^dim' ORDER BY 1;
SET ROLE regress_ri_stranger;
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_s', 'ri.src', '{id}')$$);
CREATE TEMP TABLE mine (id int, v text);
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_s', 'mine', '{id}')$$);
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_o', 'mine', '{id}')$$);
SELECT ri.try($$SELECT scd2.drop_dimension('ri.dim_o')$$);
SELECT ri.try($$CALL scd2.apply('ri.dim_o')$$);
DROP TABLE mine;
RESET ROLE;

-- owner, member and superuser may; a member without inheritance may not
SET ROLE regress_ri_owner;
CALL scd2.apply('ri.dim_o');
SELECT ri.try($$CALL scd2.apply('ri.dim_t')$$);
RESET ROLE;
SET ROLE regress_ri_member;
SELECT ri.try($$CALL scd2.apply('ri.dim_t')$$);
CALL scd2.apply('ri.dim_t');
RESET ROLE;
SET ROLE regress_ri_noinherit;
SELECT ri.try($$CALL scd2.apply('ri.dim_t')$$);
SELECT ri.try($$SELECT scd2.drop_dimension('ri.dim_t')$$);
RESET ROLE;
CALL scd2.apply('ri.dim_t');
SELECT dimension, CASE WHEN who = current_user THEN 'me' ELSE who END AS who FROM scd2.runs WHERE dimension IN ('ri.dim_o'::regclass, 'ri.dim_t'::regclass) ORDER BY id;

-- a member drops and takes up again: what is made belongs to the dimension's owner
SET ROLE regress_ri_member;
SELECT scd2.drop_dimension('ri.dim_t');
SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}', type2 => '{v}');
RESET ROLE;
SELECT relname, relowner::regrole FROM pg_class WHERE relnamespace = 'ri'::regnamespace AND relname ~ '^dim_t' AND relkind IN ('r', 'v', 'S')
 UNION ALL SELECT proname, proowner::regrole FROM pg_proc WHERE pronamespace = 'ri'::regnamespace AND proname ~ '^dim_t' ORDER BY 1;
-- a kept table or log of another owner
SELECT scd2.drop_dimension('ri.dim_t');
SET ROLE regress_ri_owner;
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}', type2 => '{v}')$$);
RESET ROLE;
ALTER TABLE ri.dim_t_log OWNER TO regress_ri_owner;
SET ROLE regress_ri_member;
SELECT ri.try($$SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}', type2 => '{v}')$$);
RESET ROLE;
ALTER TABLE ri.dim_t_log OWNER TO regress_ri_team;
SELECT scd2.create_dimension('ri.dim_t', 'ri.src', '{id}', type2 => '{v}');

-- the views and scd2.sql show what the privileges allow
GRANT SELECT ON ri.dim_o TO regress_ri_reader;
GRANT SELECT (id) ON ri.dim_o TO regress_ri_column;
INSERT INTO scd2.registry_rejected (dimension_id, run, row_data, reason, rejected_at)
SELECT dimension_id, 1, '{"secret": "s"}', 'test', now() FROM scd2.registry_cache WHERE relation = 'ri.dim_o'::regclass;
CREATE FUNCTION ri.seen() RETURNS TABLE (who name, dimensions bigint, columns bigint, runs bigint, rejected bigint, statements text) LANGUAGE sql AS $$
    SELECT CASE WHEN current_user ~ '^regress' THEN current_user ELSE 'superuser' END,
           (SELECT count(*) FROM scd2.dimensions WHERE dimension = 'ri.dim_o'::regclass),
           (SELECT count(*) FROM scd2.dimension_columns WHERE dimension = 'ri.dim_o'::regclass),
           (SELECT count(*) FROM scd2.runs WHERE dimension = 'ri.dim_o'::regclass),
           (SELECT count(*) FROM scd2.rejected WHERE dimension = 'ri.dim_o'::regclass),
           ri.try($q$DO 'BEGIN PERFORM scd2.sql(''ri.dim_o''); END'$q$)
$$;
SELECT * FROM ri.seen();
SET ROLE regress_ri_owner;
SELECT * FROM ri.seen();
SET ROLE regress_ri_reader;
SELECT * FROM ri.seen();
SET ROLE regress_ri_column;
SELECT * FROM ri.seen();
SET ROLE regress_ri_stranger;
SELECT * FROM ri.seen();
-- a function that leaks is held back by the barrier
CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$;
SELECT count(*) FROM scd2.runs WHERE pg_temp.leak(dimension_name);
SELECT count(*) FROM scd2.rejected WHERE pg_temp.leak(row_data::text);
SELECT count(*) FROM scd2.dimensions WHERE pg_temp.leak(options::text);
RESET ROLE;

-- hard case 7: a stranger reads or writes the registry
SET ROLE regress_ri_stranger;
SELECT ri.try(format(command, relation))
  FROM unnest(ARRAY['SELECT * FROM scd2.%I', 'INSERT INTO scd2.%I DEFAULT VALUES', 'DELETE FROM scd2.%I', 'TRUNCATE scd2.%I']) command,
       unnest(ARRAY['registry_dimension', 'registry_column', 'registry_lock', 'registry_run', 'registry_rejected',
                    'registry_cache', 'registry_cache_column']) relation;
SELECT ri.try('UPDATE scd2.registry_run SET who = ''me''');
SELECT ri.try('SELECT * FROM scd2.registry_resolved');
SELECT ri.try('SELECT nextval(''scd2.registry_run_id_seq'')');
SELECT ri.try('DELETE FROM scd2.runs');
SELECT ri.try('DELETE FROM scd2.rejected');
SELECT ri.try('INSERT INTO scd2.dimensions (mode) VALUES (''x'')');
SELECT ri.try('CREATE TABLE scd2.mine (a int)');
SELECT ri.try('SELECT scd2.registry_ddl_start()');
RESET ROLE;
-- nor does a superuser write the views
SELECT ri.try('DELETE FROM scd2.runs');
SELECT ri.try('UPDATE scd2.dimensions SET mode = ''x''');
SELECT ri.try('INSERT INTO scd2.rejected (id) VALUES (1)');
-- an owner does not write it either
SET ROLE regress_ri_owner;
SELECT ri.try('UPDATE scd2.registry_run SET who = ''me''');
SELECT ri.try('UPDATE scd2.registry_dimension SET state = ''gone''');
RESET ROLE;

-- hard case 6: objects of a user's that hide ours
SET ROLE regress_ri_owner;
CREATE TEMP TABLE dimensions (x int);
CREATE TEMP TABLE pg_class (x int);
CREATE TEMP TABLE pg_attribute (x int);
CREATE TEMP TABLE registry_dimension (x int);
CREATE TEMP TABLE src (x int);
CREATE FUNCTION pg_temp.to_regtype(text) RETURNS regtype LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
SET search_path = pg_temp, ri, pg_catalog;
CALL scd2.apply('ri.dim_o');
SELECT scd2.create_dimension('ri.dim_h', 'ri.src', '{id}');
CALL scd2.apply('ri.dim_h');
SELECT dimension FROM scd2.dimensions WHERE dimension = 'ri.dim_h'::regclass;
ALTER TABLE ri.dim_h RENAME TO dim_hidden;
SELECT scd2.drop_dimension('ri.dim_hidden');
DROP TABLE ri.dim_hidden, ri.dim_h_log;
RESET search_path;
RESET ROLE;
DISCARD TEMP;
-- operators of a user's in front of pg_catalog
CREATE SCHEMA ri_evil AUTHORIZATION regress_ri_owner;
SET ROLE regress_ri_owner;
CREATE FUNCTION ri_evil.eq(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
CREATE OPERATOR ri_evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = ri_evil.eq);
CREATE FUNCTION ri_evil.text_eq(text, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
CREATE OPERATOR ri_evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = ri_evil.text_eq);
SET search_path = ri_evil, pg_catalog;
CALL scd2.apply('ri.dim_o');
SELECT scd2.create_dimension('ri.dim_e', 'ri.src', '{id}');
CALL scd2.apply('ri.dim_e');
ALTER TABLE ri.dim_e RENAME TO dim_f;
SELECT scd2.drop_dimension('ri.dim_f', keep_table => false);
DROP TABLE ri.dim_e_log;
RESET search_path;
RESET ROLE;

-- a superuser who calls never runs the owner's expressions, views and triggers as himself
CREATE TABLE ri.loot (who name, place text);
CREATE SCHEMA ri_trap AUTHORIZATION regress_ri_owner;
SET ROLE regress_ri_owner;
CREATE FUNCTION ri_trap.act(place text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE 'RESET ROLE';
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    BEGIN
        EXECUTE 'SET SESSION AUTHORIZATION DEFAULT';
    EXCEPTION WHEN OTHERS THEN NULL;
    END;
    BEGIN
        INSERT INTO ri.loot VALUES (current_user, place);
    EXCEPTION WHEN insufficient_privilege THEN RAISE NOTICE '%: % may not', place, current_user;
    END;
    RETURN false;
END
$$;
CREATE FUNCTION ri_trap.tg() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM ri_trap.act('trigger'); RETURN NEW; END $$;
CREATE VIEW ri_trap.src AS SELECT id, v, ri_trap.act('view') AS trap FROM ri.src;
CREATE DOMAIN ri_trap.dom AS text CHECK (NOT ri_trap.act('domain'));
CREATE TYPE ri_trap.comp AS (d ri_trap.dom);
CREATE TABLE ri_trap.typed (id int, v ri_trap.comp);
SELECT scd2.create_dimension('ri_trap.dim', 'ri_trap.src', '{id}', delete_when => 'ri_trap.act(''delete_when'')');
CREATE TRIGGER tg BEFORE INSERT OR UPDATE ON ri_trap.dim FOR EACH ROW EXECUTE FUNCTION ri_trap.tg();
CREATE TRIGGER tg BEFORE INSERT ON ri_trap.dim_log FOR EACH ROW EXECUTE FUNCTION ri_trap.tg();
SELECT scd2.create_dimension('ri_trap.kept', 'ri_trap.src', '{id}');
SELECT scd2.drop_dimension('ri_trap.kept');
CREATE TRIGGER tg BEFORE INSERT ON ri_trap.kept FOR EACH ROW EXECUTE FUNCTION ri_trap.tg();
CREATE TRIGGER st BEFORE INSERT ON ri_trap.kept FOR EACH STATEMENT EXECUTE FUNCTION ri_trap.tg();
DELETE FROM ri_trap.kept;
SELECT scd2.create_dimension('ri_trap.kept2', 'ri_trap.typed', '{id}', type2 => '{}');
SELECT scd2.drop_dimension('ri_trap.kept2');
RESET ROLE;
CALL scd2.apply('ri_trap.dim');
SELECT count(*) FROM scd2.preview('ri_trap.dim');
SELECT scd2.create_dimension('ri_trap.kept', 'ri_trap.src', '{id}');
SELECT scd2.create_dimension('ri_trap.kept2', 'ri_trap.typed', '{id}', type2 => '{}', delete_when => 'v = ''(x)''::ri_trap.comp');
SELECT scd2.drop_dimension('ri_trap.dim', keep_table => false);
SELECT * FROM ri.loot;

-- nor are operators taken from his path, were it before pg_catalog
SET client_min_messages = warning;
CREATE TABLE ri.fact (sk bigint REFERENCES ri_trap.kept DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION ri_trap.eq(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN RAISE WARNING 'as %', current_user; RETURN int8($1) = int8($2); END $$;
CREATE OPERATOR ri_trap.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = ri_trap.eq);
SET search_path = ri_trap, pg_catalog;
CALL scd2.apply('ri_trap.kept');
SELECT count(*) FROM scd2.preview('ri_trap.kept');
SELECT count(*) FROM scd2.check('ri_trap.kept');
RESET search_path;
DROP TABLE ri.fact;
RESET client_min_messages;

-- row security on a source raises: it never makes rows look absent
CREATE TABLE ri.hidden (id int, v text);
INSERT INTO ri.hidden VALUES (1, 'a'), (2, 'b');
GRANT SELECT ON ri.hidden TO regress_ri_owner;
SET ROLE regress_ri_owner;
SELECT scd2.create_dimension('ri.dim_rls', 'ri.hidden', '{id}', mode => 'snapshot');
CALL scd2.apply('ri.dim_rls');
RESET ROLE;
ALTER TABLE ri.hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY one ON ri.hidden FOR SELECT USING (id = 1);
SET ROLE regress_ri_owner;
SELECT count(*) FROM ri.hidden;
CALL scd2.apply('ri.dim_rls');
SELECT count(*) FROM ri.dim_rls_current;
SELECT scd2.drop_dimension('ri.dim_rls', keep_table => false);
RESET ROLE;

-- event triggers act for whoever does the DDL
SET ROLE regress_ri_owner;
ALTER TABLE ri.dim_o RENAME TO dim_p;
SELECT dimension FROM scd2.dimensions ORDER BY dimension::text;
SET client_min_messages = warning;
DROP TABLE ri.dim_p CASCADE;
RESET client_min_messages;
SELECT count(*) FROM scd2.dimensions;
RESET ROLE;

-- a fact's deferrable foreign key, in a schema that the owner may not use
SET ROLE regress_ri_owner;
SELECT scd2.create_dimension('ri.dim_f', 'ri.src', '{id}', type2 => '{v}');
CALL scd2.apply('ri.dim_f');
RESET ROLE;
CREATE SCHEMA ri_mart;
CREATE TABLE ri_mart.fact (sk bigint REFERENCES ri.dim_f DEFERRABLE INITIALLY DEFERRED);
INSERT INTO ri_mart.fact SELECT f_sk FROM ri.dim_f;
UPDATE ri.src SET v = 'b';
SET ROLE regress_ri_owner;
CALL scd2.apply('ri.dim_f');
SELECT v, is_current FROM ri.dim_f WHERE id = 1 ORDER BY valid_from;
RESET ROLE;
DROP TABLE ri_mart.fact;
DROP SCHEMA ri_mart;
SET ROLE regress_ri_owner;
SELECT scd2.drop_dimension('ri.dim_f', keep_table => false);
RESET ROLE;

-- who took the names of a dropped log and view keeps what he has, when a restore has left the registry with names alone
SET client_min_messages = warning;
GRANT CREATE ON SCHEMA ri TO regress_ri_stranger, regress_ri_reader;
GRANT regress_ri_reader TO regress_ri_owner;
SET ROLE regress_ri_owner;
SELECT scd2.create_dimension('ri.dim_n', 'ri.src', '{id}', type2 => '{v}');
DROP TABLE ri.dim_n_log;
DROP VIEW ri.dim_n_current;
SET ROLE regress_ri_stranger;
CREATE TABLE ri.dim_n_log (mine text);
CREATE VIEW ri.dim_n_current AS SELECT 'mine' AS mine;
RESET ROLE;
DELETE FROM scd2.registry_cache WHERE relation = 'ri.dim_n'::regclass;
SET ROLE regress_ri_owner;
ALTER TABLE ri.dim_n OWNER TO regress_ri_reader;
RESET ROLE;
SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('dim_n', 'dim_n_log', 'dim_n_current') ORDER BY relname;
DROP TABLE ri.dim_n, ri.dim_n_log CASCADE;

DROP SCHEMA ri, ri_evil, ri_trap CASCADE;
DROP OWNED BY regress_ri_owner, regress_ri_team, regress_ri_member, regress_ri_noinherit, regress_ri_reader, regress_ri_column,
    regress_ri_stranger;
DROP ROLE regress_ri_owner, regress_ri_team, regress_ri_member, regress_ri_noinherit, regress_ri_reader, regress_ri_column,
    regress_ri_stranger;
