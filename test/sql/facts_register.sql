-- Registering facts (R29, R34), and what becomes of a registration (R3, R4; hard case 17)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE ROLE regress_fr_dim;
CREATE ROLE regress_fr_fact;
CREATE ROLE regress_fr_both IN ROLE regress_fr_dim, regress_fr_fact;
CREATE ROLE regress_fr_stranger;
CREATE SCHEMA fr;
GRANT ALL ON SCHEMA fr TO PUBLIC;

-- SQLSTATE, message, detail and hint of a call; what it made is rolled back
CREATE FUNCTION fr.try(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
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

CREATE TABLE fr.src (id int, part text, v text, at timestamptz);
GRANT SELECT ON fr.src TO PUBLIC;
SET ROLE regress_fr_dim;
SELECT scd2.create_dimension('fr.dim', 'fr.src', '{id}', type2 => '{v}', effective_at => 'at');
SELECT scd2.create_dimension('fr.dim_two', 'fr.src', '{id,part}', type2 => '{v}', effective_at => 'at', surrogate_key_type => 'uuid');
SELECT scd2.create_dimension('fr.dim_split', 'fr.src', '{id}', type2 => '{v}', effective_at => 'at', history => 'separate');
SELECT scd2.create_dimension('fr.dim_bare', 'fr.src', '{id}', type2 => '{v}', effective_at => 'at', change_log => false);
SET ROLE regress_fr_fact;
CREATE TABLE fr.fact (id bigint, part varchar(10), word text, day date, ts timestamptz, noon time, sk bigint, usk uuid,
                      isk int, gen bigint GENERATED ALWAYS AS (id) STORED, ident bigint GENERATED ALWAYS AS IDENTITY);
CREATE VIEW fr.shown AS SELECT * FROM fr.fact;
CREATE TABLE fr.parts (id int, ts timestamptz, sk bigint) PARTITION BY RANGE (ts);
CREATE TABLE fr.part1 PARTITION OF fr.parts DEFAULT;
RESET ROLE;

-- both owners' roles
SET ROLE regress_fr_dim;
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'sk')$$);
SET ROLE regress_fr_fact;
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'sk')$$);
SET ROLE regress_fr_stranger;
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'sk')$$);
SET ROLE regress_fr_both;

-- refused
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.src', '{id}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', NULL, 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{NULL}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id,part}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim_two', '{id,id}', 'ts', 'usk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{nix}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{ctid}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{word}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'nix', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'noon', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'nix')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'isk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'usk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'gen')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'ident')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'id')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.shown', 'fr.dim', '{id}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.part1', 'fr.dim', '{id}', 'ts', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.dim_two', 'fr.dim', '{id}', 'valid_from', 'two_sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.dim_log', 'fr.dim', '{id}', 'scd2_effective_at', 'scd2_run')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.dim_split_history', 'fr.dim', '{id}', 'valid_from', 'split_sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim_bare', '{id}', 'ts', 'sk', infer => true)$$);
SELECT fr.try($$SELECT scd2.unregister_fact('fr.fact', 'sk')$$);
SELECT fr.try($$CALL scd2.resolve('fr.fact')$$);
SELECT fr.try($$CALL scd2.resolve(NULL)$$);
CREATE TEMP TABLE passing (id int, ts timestamptz, sk bigint);
SELECT fr.try($$SELECT scd2.register_fact('passing', 'fr.dim', '{id}', 'ts', 'sk')$$);
DROP TABLE passing;
RESET ROLE;
SELECT fr.try($$SELECT scd2.register_fact('pg_class', 'fr.dim', '{relpages}', 'ts', 'sk')$$);
-- a foreign key to versions that move (R30)
ALTER TABLE fr.fact ADD FOREIGN KEY (sk) REFERENCES fr.dim_split;
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim_split', '{id}', 'ts', 'sk')$$);
ALTER TABLE fr.fact DROP CONSTRAINT fact_sk_fkey;

-- accepted; a link is one (fact, SK column)
CREATE VIEW fr.links AS
    SELECT f.dimension_id - (SELECT min(id) FROM scd2.registry_dimension) AS dim, f.schema_name, f.table_name, f.surrogate_key, f.event_time, f.key_columns, f.infer
      FROM scd2.registry_fact f ORDER BY f.id;
SET ROLE regress_fr_both;
SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'ts', 'sk');
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim', '{id}', 'day', 'sk')$$);
SELECT fr.try($$SELECT scd2.register_fact('fr.fact', 'fr.dim_split', '{id}', 'day', 'sk')$$);
SELECT scd2.register_fact('fr.fact', 'fr.dim_two', '{id,part}', 'day', 'usk', infer => true);
SELECT scd2.register_fact('fr.parts', 'fr.dim_split', '{id}', 'ts', 'sk');
RESET ROLE;
SELECT (SELECT count(*) FROM fr.links), (SELECT count(*) FROM scd2.registry_cache_fact);

-- who may resolve and unregister
SET ROLE regress_fr_stranger;
SELECT fr.try($$CALL scd2.resolve('fr.fact')$$);
SELECT fr.try($$SELECT scd2.unregister_fact('fr.fact', 'sk')$$);
SELECT fr.try($$SELECT * FROM scd2.registry_fact$$);
SET ROLE regress_fr_fact;
SELECT fr.try($$SELECT scd2.unregister_fact('fr.fact', 'sk')$$);
SELECT fr.try($$CALL scd2.resolve('fr.fact')$$);
SET ROLE regress_fr_dim;
SELECT fr.try($$SELECT scd2.unregister_fact('fr.fact', 'sk')$$);
SELECT fr.try($$CALL scd2.resolve('fr.fact')$$);
RESET ROLE;

-- hard case 17: renamed and moved, in one session with cached plans
INSERT INTO fr.src VALUES (1, 'a', 'x', '2026-01-01'), (2, 'b', 'y', '2026-01-01');
INSERT INTO fr.fact (id, part, day, ts) VALUES (1, 'a', '2026-01-02', '2026-01-02'), (2, 'b', '2026-01-02', '2026-01-02'), (3, 'c', NULL, NULL);
CALL scd2.apply('fr.dim');
CALL scd2.apply('fr.dim_two');
CALL scd2.resolve('fr.fact');
SELECT count(*) FROM fr.fact f JOIN fr.dim d ON d.dim_sk = f.sk JOIN fr.dim_two t ON t.two_sk = f.usk WHERE d.id = f.id AND t.id = f.id;
CREATE SCHEMA "Mart";
GRANT USAGE ON SCHEMA "Mart" TO PUBLIC;
DROP VIEW fr.shown;
ALTER TABLE fr.fact RENAME TO "Order Facts";
ALTER TABLE fr."Order Facts" SET SCHEMA "Mart";
ALTER TABLE "Mart"."Order Facts" RENAME sk TO "Customer SK";
ALTER TABLE "Mart"."Order Facts" RENAME id TO "select";
ALTER TABLE "Mart"."Order Facts" RENAME ts TO "When?";
ALTER TABLE fr.dim RENAME id TO "Id";
ALTER SCHEMA "Mart" RENAME TO "Märkte";
SELECT schema_name, table_name, surrogate_key, event_time, key_columns FROM fr.links;
TRUNCATE fr.src;
INSERT INTO fr.src VALUES (1, 'a', 'z', '2026-01-01 12:00'), (3, 'c', 'z', '2026-01-01 12:00');
CALL scd2.apply('fr.dim');
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT f."select", d.v, d.valid_from FROM "Märkte"."Order Facts" f JOIN fr.dim d ON d.dim_sk = f."Customer SK" ORDER BY 1;
SELECT * FROM scd2.check('fr.dim');

-- with event triggers off, the next use mends it
BEGIN;
SET LOCAL session_replication_role = replica;
ALTER EVENT TRIGGER scd2_registry_ddl_end DISABLE;
ALTER TABLE "Märkte"."Order Facts" RENAME TO orders;
ALTER TABLE "Märkte".orders RENAME "Customer SK" TO customer;
ALTER EVENT TRIGGER scd2_registry_ddl_end ENABLE ALWAYS;
CALL scd2.resolve('"Märkte".orders', recheck => true);
SELECT table_name, surrogate_key FROM fr.links;
ROLLBACK;

-- dropped: a column takes its link along, a table all of its own, and a dimension, too
BEGIN;
ALTER TABLE "Märkte"."Order Facts" DROP word;
SELECT surrogate_key FROM fr.links;
ALTER TABLE "Märkte"."Order Facts" DROP "When?";
SELECT surrogate_key FROM fr.links;
ALTER TABLE "Märkte"."Order Facts" DROP part;
SELECT surrogate_key FROM fr.links;
CALL scd2.apply('fr.dim');
ROLLBACK;
BEGIN;
DROP TABLE "Märkte"."Order Facts" CASCADE;
SELECT surrogate_key FROM fr.links;
SELECT count(*) FROM scd2.registry_cache_fact;
CALL scd2.apply('fr.dim');
ROLLBACK;
BEGIN;
DROP TABLE fr.dim CASCADE;
SELECT scd2.drop_dimension('fr.dim_two');
SELECT surrogate_key FROM fr.links;
ROLLBACK;
BEGIN;
ALTER EVENT TRIGGER scd2_registry_sql_drop DISABLE;
DROP TABLE "Märkte"."Order Facts" CASCADE;
ALTER EVENT TRIGGER scd2_registry_sql_drop ENABLE ALWAYS;
CALL scd2.apply('fr.dim');
SELECT surrogate_key FROM fr.links;
ROLLBACK;
-- a table that took the name later is not the fact
BEGIN;
DROP TABLE "Märkte"."Order Facts" CASCADE;
CREATE TABLE "Märkte"."Order Facts" ("select" int, "When?" timestamptz, "Customer SK" bigint);
SELECT fr.try($$CALL scd2.resolve('"Märkte"."Order Facts"')$$);
ROLLBACK;

SELECT scd2.unregister_fact('"Märkte"."Order Facts"', 'Customer SK');
SELECT surrogate_key FROM fr.links;
DROP SCHEMA fr, "Märkte" CASCADE;
SELECT (SELECT count(*) FROM scd2.registry_fact), (SELECT count(*) FROM scd2.registry_cache_fact);
DROP ROLE regress_fr_both, regress_fr_dim, regress_fr_fact, regress_fr_stranger;
