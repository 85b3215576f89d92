-- The extension comes and goes (R3, R34; hard cases 6, 23 and 24)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
CREATE SCHEMA ex;
CREATE TABLE ex.src (id int, v text);
INSERT INTO ex.src VALUES (1, 'a');
SELECT scd2.create_dimension('ex.dim', 'ex.src', '{id}');
CALL scd2.apply('ex.dim');

-- hard case 24: what users build on it holds it
CREATE VIEW ex.my_runs AS SELECT dimension, who FROM scd2.runs;
CREATE TABLE ex.hashed (a int, h bytea GENERATED ALWAYS AS (scd2.row_hash(a)) STORED);
CREATE INDEX ON ex.src (scd2.row_hash(id, v));
DROP EXTENSION scd2;
ALTER EXTENSION scd2 UPDATE;
SELECT count(*) FROM ex.my_runs WHERE dimension = 'ex.dim'::regclass;

-- DROP EXTENSION drops no user's table (R3)
DROP EXTENSION scd2 CASCADE;
SELECT v FROM ex.dim ORDER BY valid_from;
SELECT v FROM ex.dim_current;
SELECT v FROM ex.dim_as_of(now());
SELECT v, scd2_deleted FROM ex.dim_log;
-- nothing of it is left to fail
ALTER TABLE ex.dim RENAME TO dim2;
ALTER TABLE ex.dim2 RENAME TO dim;

-- hard case 6: somebody else's schema of that name
CREATE ROLE regress_ex_evil;
GRANT CREATE ON DATABASE :DBNAME TO regress_ex_evil;
SET ROLE regress_ex_evil;
CREATE SCHEMA scd2;
CREATE PROCEDURE scd2.apply(dimension regclass) LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
RESET ROLE;
\set SHOW_CONTEXT never
CREATE EXTENSION scd2;
\set SHOW_CONTEXT errors
SELECT count(*) FROM pg_extension WHERE extname = 'scd2';
DROP SCHEMA scd2 CASCADE;
CREATE EXTENSION scd2;
REVOKE CREATE ON DATABASE :DBNAME FROM regress_ex_evil;
DROP ROLE regress_ex_evil;
-- only superusers make it
CREATE ROLE regress_ex_plain;
SET ROLE regress_ex_plain;
DROP EXTENSION scd2;
RESET ROLE;
DROP ROLE regress_ex_plain;

-- the tables that stayed are not registered, and are not taken for anything
SELECT count(*) FROM scd2.dimensions;
CALL scd2.apply('ex.dim');
SELECT scd2.create_dimension('ex.dim', 'ex.src', '{id}');

-- in the same session, whose plans were made for the first one, the new one works
DROP SCHEMA ex CASCADE;
CREATE SCHEMA ex;
CREATE TABLE ex.src (id int, v text);
INSERT INTO ex.src VALUES (1, 'a');
SELECT scd2.create_dimension('ex.dim', 'ex.src', '{id}');
CALL scd2.apply('ex.dim');
ALTER TABLE ex.dim RENAME TO dim_b;
CALL scd2.apply('ex.dim_b');
SELECT dimension, rows_read, versions_opened FROM scd2.runs ORDER BY id;
DROP SCHEMA ex CASCADE;
