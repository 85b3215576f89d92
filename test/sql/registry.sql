-- The registry follows its relations (R3, R4; hard cases 17, 21 and 23)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA rg;
CREATE SCHEMA rg_stg;
CREATE ROLE regress_rg_a;
CREATE ROLE regress_rg_b;

-- what the registry says of schemas rg%, by names alone and as resolved
CREATE FUNCTION rg.names() RETURNS TABLE (state text, dimension text, source text, log text, view text) LANGUAGE sql AS $$
    SELECT d.state, d.schema_name || '.' || d.table_name, d.source_schema || '.' || d.source_name,
           d.log_schema || '.' || d.log_name, d.view_schema || '.' || d.view_name
      FROM scd2.registry_dimension d WHERE d.schema_name ~ '^rg' ORDER BY d.id
$$;
CREATE FUNCTION rg.resolved() RETURNS TABLE (dimension regclass, source regclass, log regclass) LANGUAGE sql AS $$
    SELECT dimension, source, log FROM scd2.dimensions
      JOIN pg_class c ON c.oid = dimension JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname ~ '^rg' ORDER BY c.oid
$$;

CREATE TABLE rg_stg.customer (id int, name text, tier text, region text, seq int, op text, at timestamptz);
INSERT INTO rg_stg.customer VALUES (1, 'Ann', 'gold', 'north', 1, 'I', '2024-01-01');
SELECT scd2.create_dimension('rg.dim_customer', source => 'rg_stg.customer', business_key => '{id}',
    type1 => '{name}', type6 => '{tier}', type3 => '{region}', sequence_by => '{seq}', effective_at => 'at',
    delete_when => $$op = 'D'$$, on_delete => 'flag');
CALL scd2.apply('rg.dim_customer');

-- hard case 17: in one session, whose plans are cached by now
ALTER TABLE rg.dim_customer RENAME TO dim_client;
ALTER TABLE rg.dim_client RENAME id TO client_id;
ALTER TABLE rg.dim_client RENAME name TO client_name;
ALTER TABLE rg.dim_client RENAME previous_region TO old_region;
ALTER TABLE rg.dim_client RENAME current_tier TO tier_now;
ALTER TABLE rg.dim_client RENAME customer_sk TO client_sk;
ALTER TABLE rg.dim_client RENAME row_hash TO h;
ALTER TABLE rg.dim_client RENAME valid_from TO f;
ALTER TABLE rg.dim_client RENAME valid_to TO t;
ALTER TABLE rg.dim_client RENAME is_current TO c;
ALTER TABLE rg.dim_client RENAME is_deleted TO d;
UPDATE rg_stg.customer SET tier = 'silver', seq = 2, at = '2024-02-01';
CALL scd2.apply('rg.dim_client');
ALTER TABLE rg.dim_customer_log RENAME TO client_changes;
ALTER TABLE rg.client_changes RENAME scd2_id TO i;
ALTER TABLE rg.client_changes RENAME id TO client;
ALTER TABLE rg.client_changes RENAME scd2_effective_at TO e;
ALTER TABLE rg.client_changes RENAME scd2_seq_1 TO s;
ALTER TABLE rg.client_changes RENAME scd2_deleted TO d;
ALTER TABLE rg.client_changes RENAME scd2_run TO r;
ALTER TABLE rg.client_changes RENAME scd2_recorded_at TO ra;
ALTER TABLE rg.client_changes RENAME scd2_lacks TO lk;
ALTER TABLE rg.client_changes RENAME tier TO grade;
UPDATE rg_stg.customer SET name = 'Anne', region = 'south', seq = 3, at = '2024-03-01';
CALL scd2.apply('rg.dim_client');
CREATE SCHEMA rg_log;
ALTER TABLE rg.client_changes SET SCHEMA rg_log;
ALTER TABLE rg.dim_client SET SCHEMA rg_log;
ALTER TABLE rg_stg.customer RENAME TO client;
ALTER SCHEMA rg_stg RENAME TO rg_land;
ALTER VIEW rg.dim_customer_current RENAME TO clients;
SELECT * FROM rg.names();
SELECT * FROM rg.resolved();
UPDATE rg_land.client SET op = 'D', seq = 4, at = '2024-04-01';
CALL scd2.apply('rg_log.dim_client');
ALTER SCHEMA rg_log RENAME TO rg_new;
UPDATE rg_land.client SET op = 'I', seq = 5, at = '2024-05-01';
CALL scd2.apply('rg_new.dim_client');
CALL scd2.apply('rg_new.dim_client');
SELECT client_id, client_name, tier, tier_now, region, old_region, f, t, c, d FROM rg_new.dim_client ORDER BY f;
SELECT client, e, s, d, grade FROM rg_new.client_changes ORDER BY i;
SELECT * FROM rg.names();
SELECT * FROM rg.resolved();
SELECT column_name, source_column, role FROM scd2.dimension_columns WHERE dimension = 'rg_new.dim_client'::regclass;
SELECT business_key FROM scd2.dimensions WHERE dimension = 'rg_new.dim_client'::regclass;
SELECT dimension, dimension_name, source, rows_read FROM scd2.runs WHERE dimension = 'rg_new.dim_client'::regclass ORDER BY id;
SELECT * FROM rg.clients;
SELECT client_name, tier FROM rg.dim_customer_as_of('2024-02-15') AS t(client_sk, client_id, client_name, tier);

-- what the names say leads to the same relations as the cache does: a restore has the names only
BEGIN;
CREATE TABLE rg.before AS SELECT * FROM scd2.registry_resolved WHERE relation = 'rg_new.dim_client'::regclass;
CREATE TABLE rg.before_columns AS SELECT * FROM scd2.registry_cache_column;
DELETE FROM scd2.registry_cache;
DELETE FROM scd2.registry_cache_column;
SELECT r.relation = b.relation, r.log = b.log, r.source = b.source, r.view = b.view, r.is_cached
  FROM scd2.registry_resolved r JOIN rg.before b USING (dimension_id);
SELECT * FROM rg.resolved();
CALL scd2.apply('rg_new.dim_client');
-- the first DDL caches them, before it changes them
ALTER TABLE rg_new.dim_client RENAME TO dim_x;
SELECT r.relation = b.relation, r.log = b.log, r.source = b.source, r.view = b.view, r.is_cached
  FROM scd2.registry_resolved r JOIN rg.before b USING (dimension_id);
SELECT count(*) FROM (SELECT * FROM rg.before_columns EXCEPT SELECT * FROM scd2.registry_cache_column) x JOIN rg.before b USING (dimension_id);
SELECT * FROM rg.names();
ROLLBACK;
SELECT * FROM rg.names();

-- types that columns are of: renamed and moved
CREATE TYPE rg.mood AS ENUM ('sad', 'ok');
CREATE TABLE rg.moods (id rg.mood, v rg.mood);
INSERT INTO rg.moods VALUES ('sad', 'ok');
SELECT scd2.create_dimension('rg.dim_moods', 'rg.moods', '{id}');
CALL scd2.apply('rg.dim_moods');
ALTER TYPE rg.mood RENAME TO humour;
ALTER TYPE rg.humour SET SCHEMA rg_new;
SELECT registered_type, data_type FROM scd2.registry_column WHERE role IN ('key', 'tracked')
   AND dimension_id = (SELECT dimension_id FROM scd2.registry_cache WHERE relation = 'rg.dim_moods'::regclass) ORDER BY 1, 2;
SELECT source_types FROM scd2.registry_dimension WHERE table_name = 'dim_moods';
CALL scd2.apply('rg.dim_moods');
SELECT scd2.drop_dimension('rg.dim_moods', keep_table => false);
DROP TABLE rg.dim_moods_log;

-- owner: log, view and function follow, wherever they are
GRANT ALL ON SCHEMA rg, rg_new, rg_land TO regress_rg_a, regress_rg_b;
ALTER TABLE rg_new.dim_client OWNER TO regress_rg_a;
CREATE FUNCTION rg.owners() RETURNS TABLE (name text, owner text) LANGUAGE sql AS $$
    SELECT name, CASE WHEN owner = current_user::regrole THEN 'me' ELSE owner::text END
      FROM (SELECT relname, relowner::regrole FROM pg_class WHERE relname IN ('dim_client', 'client_changes', 'clients')
            UNION ALL SELECT proname, proowner::regrole FROM pg_proc WHERE proname = 'dim_customer_as_of') o(name, owner) ORDER BY 1
$$;
SELECT * FROM rg.owners();
REASSIGN OWNED BY regress_rg_a TO regress_rg_b;
SELECT * FROM rg.owners();
ALTER TABLE rg_new.dim_client OWNER TO CURRENT_USER;
SELECT * FROM rg.owners();

-- a source dropped and made again under its name is the source (R4)
DROP TABLE rg_land.client;
SELECT * FROM rg.resolved();
CALL scd2.apply('rg_new.dim_client');
CREATE TABLE rg_land.client (id int, name text, tier text, region text, seq int, op text, at timestamptz);
INSERT INTO rg_land.client VALUES (2, 'Bob', 'gold', 'north', 6, 'I', '2024-06-01');
CALL scd2.apply('rg_new.dim_client');
SELECT name FROM rg.clients ORDER BY 1;
-- the swap that loaders do
CREATE TABLE rg_land.client2 (LIKE rg_land.client);
ALTER TABLE rg_land.client RENAME TO client_old;
SELECT source FROM rg.resolved();
ALTER TABLE rg_land.client_old RENAME TO client;
-- a temporary source is each session's own
CREATE TEMP TABLE temps (id int, v text);
INSERT INTO temps VALUES (1, 'a');
SELECT scd2.create_dimension('rg.dim_temps', 'temps', '{id}');
CALL scd2.apply('rg.dim_temps');
\c
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT source FROM scd2.dimensions WHERE dimension = 'rg.dim_temps'::regclass;
CALL scd2.apply('rg.dim_temps');
CREATE TEMP TABLE temps (id int, v text);
INSERT INTO temps VALUES (1, 'b');
CALL scd2.apply('rg.dim_temps');
SELECT v FROM rg.dim_temps_current;

-- with event triggers off, the next use goes by the cache
SET session_replication_role = replica;
ALTER TABLE rg_new.dim_client RENAME TO dim_always;
SELECT * FROM rg.resolved();
ALTER TABLE rg_new.dim_always RENAME TO dim_client;
RESET session_replication_role;
ALTER EVENT TRIGGER scd2_registry_ddl_end DISABLE;
ALTER TABLE rg_new.dim_client RENAME TO dim_off;
ALTER TABLE rg_new.dim_off RENAME f TO begins;
SELECT dimension FROM rg.names();
SELECT * FROM rg.resolved();
CALL scd2.apply('rg_new.dim_off');
SELECT dimension FROM rg.names();
ALTER EVENT TRIGGER scd2_registry_ddl_end ENABLE ALWAYS;
ALTER TABLE rg_new.dim_off RENAME begins TO f;
ALTER TABLE rg_new.dim_off RENAME TO dim_client;
SELECT dimension FROM rg.names();

-- hard case 23: DROP ... ROLLBACK
BEGIN;
DROP TABLE rg_new.dim_client CASCADE;
SELECT * FROM rg.resolved();
SELECT * FROM rg.names();
ROLLBACK;
SELECT * FROM rg.resolved();
CALL scd2.apply('rg_new.dim_client');
-- without CASCADE, view and function hold it
DROP TABLE rg_new.dim_client;
-- a dropped log: an error, nothing is written
BEGIN;
DROP TABLE rg_new.client_changes;
SELECT * FROM rg.resolved();
CALL scd2.apply('rg_new.dim_client');
ROLLBACK;
-- a dropped column of the dimension
BEGIN;
ALTER TABLE rg_new.dim_client DROP tier CASCADE;
CALL scd2.apply('rg_new.dim_client');
ROLLBACK;
-- DROP TABLE CASCADE, then an unrelated table of that name; the log stays
DROP TABLE rg_new.dim_client CASCADE;
SELECT * FROM rg.names();
SELECT * FROM rg.resolved();
CREATE TABLE rg_new.dim_client (LIKE rg_new.client_changes);
SELECT * FROM rg.resolved();
CALL scd2.apply('rg_new.dim_client');
SELECT count(*) FROM rg_new.dim_client;
SELECT to_regclass('rg_new.client_changes');
-- its runs stay too, by name
SELECT dimension, dimension_name, count(*) FROM scd2.runs WHERE dimension_name ~ '^rg' GROUP BY 1, 2 ORDER BY 2;

-- hard case 23: DROP SCHEMA CASCADE, recreate, register with another key
CREATE SCHEMA rg_d;
CREATE TABLE rg.src (id int, code text, v text);
INSERT INTO rg.src VALUES (1, 'x', 'v');
SELECT scd2.create_dimension('rg_d.dim', 'rg.src', '{id}');
CALL scd2.apply('rg_d.dim');
SET client_min_messages = warning;
DROP SCHEMA rg_d CASCADE;
RESET client_min_messages;
CREATE SCHEMA rg_d;
SELECT scd2.create_dimension('rg_d.dim', 'rg.src', '{code}');
CALL scd2.apply('rg_d.dim');
SELECT code, id, v FROM rg_d.dim_current;
SELECT dimension, business_key FROM scd2.dimensions WHERE dimension = 'rg_d.dim'::regclass;
SELECT dimension IS NULL AS gone, count(*) FROM scd2.runs WHERE dimension_name = 'rg_d.dim' GROUP BY 1 ORDER BY 1;

-- hard case 23: DROP OWNED BY
GRANT ALL ON SCHEMA rg_d TO regress_rg_a;
GRANT SELECT ON rg.src TO regress_rg_a;
SET ROLE regress_rg_a;
SELECT scd2.create_dimension('rg_d.owned', 'rg.src', '{id}');
SELECT count(*) FROM scd2.dimensions;
RESET ROLE;
DROP OWNED BY regress_rg_a;
SELECT to_regclass('rg_d.owned'), to_regclass('rg_d.owned_log'), to_regproc('rg_d.owned_as_of');
SELECT count(*) FROM scd2.registry_dimension WHERE table_name = 'owned';

-- hard case 21: savepoints
BEGIN;
SAVEPOINT a;
SELECT scd2.create_dimension('rg_d.dim_s', 'rg.src', '{id}');
ROLLBACK TO a;
SELECT to_regclass('rg_d.dim_s');
SELECT scd2.create_dimension('rg_d.dim_s', 'rg.src', '{code}');
SAVEPOINT b;
SELECT scd2.drop_dimension('rg_d.dim_s', keep_table => false);
ROLLBACK TO b;
ALTER TABLE rg_d.dim_s RENAME TO dim_t;
SAVEPOINT c;
ALTER TABLE rg_d.dim_t RENAME TO dim_u;
ROLLBACK TO c;
COMMIT;
CALL scd2.apply('rg_d.dim_t');
SELECT dimension, business_key FROM scd2.dimensions WHERE dimension = 'rg_d.dim_t'::regclass;

-- the view stands in the way of nobody: it can be dropped, and drop_dimension goes on without
DROP VIEW rg_d.dim_s_current;
DROP FUNCTION rg_d.dim_s_as_of;
SELECT scd2.drop_dimension('rg_d.dim_t', keep_table => false);
SELECT to_regclass('rg_d.dim_t'), to_regclass('rg_d.dim_s_log');
-- view and function are found where schema moves took them
SELECT scd2.create_dimension('rg_d.dim_m', 'rg.src', '{id}');
ALTER TABLE rg_d.dim_m SET SCHEMA rg;
ALTER SCHEMA rg_d RENAME TO rg_e;
SELECT scd2.drop_dimension('rg.dim_m');
SELECT to_regclass('rg_e.dim_m_current'), to_regproc('rg_e.dim_m_as_of'), to_regclass('rg.dim_m'), to_regclass('rg_e.dim_m_log');
-- and the kept log too, whatever it is called by now
ALTER TABLE rg_e.dim_m_log RENAME TO old_log;
SELECT scd2.create_dimension('rg.dim_m', 'rg.src', '{id}');
SELECT log FROM scd2.dimensions WHERE dimension = 'rg.dim_m'::regclass;
-- a kept table that is renamed and dropped is no longer kept
SELECT scd2.drop_dimension('rg.dim_m');
ALTER TABLE rg.dim_m RENAME TO dim_n;
SELECT state, table_name FROM scd2.registry_dimension WHERE log_name = 'old_log';
DROP TABLE rg.dim_n;
SELECT state, table_name FROM scd2.registry_dimension WHERE log_name = 'old_log';
DROP TABLE rg_e.old_log;
SELECT state, table_name FROM scd2.registry_dimension WHERE log_name = 'old_log';

SET client_min_messages = warning;
DROP SCHEMA rg, rg_new, rg_land, rg_e CASCADE;
DROP OWNED BY regress_rg_a, regress_rg_b;
DROP ROLE regress_rg_a, regress_rg_b;
