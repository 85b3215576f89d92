-- Facts whose surrogate keys follow a dimension (R29, R30, R34; hard case 15)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE SCHEMA fa;
GRANT ALL ON SCHEMA fa TO PUBLIC;
SET search_path = fa;
-- SQLSTATE, message, detail and hint of a call; what it made is rolled back
CREATE FUNCTION try(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
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

-- Roles of one dimension, a composite key of other types and collations, and partitions by the event time
CREATE TABLE src (id int, part text COLLATE "C", v text, at timestamptz);
CREATE TABLE late (LIKE src);
SELECT scd2.create_dimension('dim', 'src', '{id,part}', effective_at => 'at');
INSERT INTO src SELECT i, p, 'v' || m, make_timestamptz(2026, m, 1, 0, 0, 0) FROM generate_series(1, 4) i, unnest('{a,B}'::text[]) p, generate_series(1, 3) m;
CALL scd2.apply('dim');
CREATE TABLE fact (n int, id numeric(8,2), part varchar(3) COLLATE "POSIX", ordered timestamptz, ordered_sk bigint REFERENCES dim,
                   other bigint, shipped date, shipped_sk bigint, amount int) PARTITION BY RANGE (ordered);
CREATE TABLE fact_jan PARTITION OF fact FOR VALUES FROM (MINVALUE) TO ('2026-02-01');
CREATE TABLE fact_feb PARTITION OF fact FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE TABLE fact_rest PARTITION OF fact DEFAULT;
INSERT INTO fact (n, id, part, ordered, other, shipped) SELECT i, 1 + i % 5, CASE i % 2 WHEN 0 THEN 'a' ELSE 'B' END, timestamptz '2025-12-30' + i * interval '1 day', 1 + i % 3, date '2025-12-31' + i
  FROM generate_series(0, 99) i;
SELECT scd2.register_fact('fact', 'dim', '{id,part}', 'ordered', 'ordered_sk');
SELECT scd2.register_fact('fact', 'dim', '{other,part}', 'shipped', 'shipped_sk');
CREATE VIEW wrong AS SELECT f.* FROM fact f
  LEFT JOIN dim o ON o.id = f.id AND o.part = f.part COLLATE "C" AND ordered >= o.valid_from AND ordered < o.valid_to
  LEFT JOIN dim s ON s.id = f.other AND s.part = f.part COLLATE "C" AND shipped >= s.valid_from AND shipped < s.valid_to
 WHERE ordered_sk IS DISTINCT FROM coalesce(o.dim_sk, -1) OR shipped_sk IS DISTINCT FROM coalesce(s.dim_sk, -1);
SET client_min_messages = notice;
SET scd2.notice = on;
SELECT setval('scd2.registry_run_id_seq', 10000);
DO $$BEGIN CALL scd2.resolve('fa.fact'); END$$;
SET scd2.notice = off;
SET client_min_messages = warning;
SELECT count(*) FROM wrong;
SELECT action, dimension, source, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();

-- a late change moves the facts of its key from its time to the next one's, in each role, and no others
CREATE TABLE before AS SELECT n, ctid AS tid, tableoid AS tab, ordered_sk, shipped_sk FROM fact;
INSERT INTO late VALUES (2, 'a', 'new', '2026-01-15');
CALL scd2.apply('dim', source => 'late');
SELECT count(*) FROM wrong;
SELECT n, id, part, ordered::date, f.ordered_sk <> b.ordered_sk AS ordered, other, shipped, f.shipped_sk <> b.shipped_sk AS shipped, f.tableoid::regclass
  FROM fact f JOIN before b USING (n) WHERE (f.ctid, f.tableoid) IS DISTINCT FROM (b.tid, b.tab) ORDER BY n;
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
-- nothing new: nothing written (R11)
TRUNCATE before; INSERT INTO before SELECT n, ctid, tableoid FROM fact;
CALL scd2.apply('dim', source => 'late');
CALL scd2.rebuild_apply('dim');
CALL scd2.resolve('fact', recheck => true);
SELECT count(*) FROM fact f JOIN before b USING (n) WHERE (f.ctid, f.tableoid) IS DISTINCT FROM (b.tid, b.tab);

-- new facts and spoilt ones: resolve sets the new ones, recheck the others, too; check names them (R32)
INSERT INTO fact (n, id, part, ordered, other, shipped, shipped_sk) VALUES (200, 2, 'a', '2026-01-20', 9, '2026-01-20', NULL);
UPDATE fact SET ordered_sk = (SELECT dim_sk FROM dim WHERE id = 1 AND part = 'a' AND valid_from = '2026-01-01') WHERE n = 6;
UPDATE fact SET shipped_sk = 17 WHERE n = 0;
SELECT violation, key, valid_from, regexp_replace(detail, '-?\d{5,}', 'N') FROM scd2.check('dim') ORDER BY detail;
SELECT try($$CALL scd2.assert_valid('fa.dim')$$) LIMIT 1;
CALL scd2.resolve('fact');
SELECT n FROM wrong ORDER BY n;
CALL scd2.resolve('fact', recheck => true);
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT n FROM wrong ORDER BY n;
SELECT * FROM scd2.check('dim');

-- R23: the statements, with the facts'
SELECT regexp_replace(statement, '\s+', ' ', 'g') FROM scd2.sql('dim') WHERE name IN ('re-key', 'changed keys', 'segments');

-- Hard case 15: a version that goes, with ON DELETE CASCADE, and the constraints are immediate from then on
ALTER TABLE fact DROP CONSTRAINT fact_ordered_sk_fkey;
ALTER TABLE fact ADD CONSTRAINT kept FOREIGN KEY (ordered_sk) REFERENCES dim ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO fact (n, id, part, ordered, ordered_sk, shipped_sk) VALUES (300, 3, 'a', '2026-01-10', -1, -1);
TRUNCATE late; INSERT INTO late VALUES (2, 'a', 'v1', '2026-01-15'), (3, 'a', 'v1', '2026-02-01');
CALL scd2.apply('dim', source => 'late');
SELECT id, part, v, valid_from::date, valid_to::date FROM dim WHERE id IN (2, 3) AND part = 'a' ORDER BY 1, 3;
SELECT count(*) FROM wrong;
SELECT count(*) FROM fact WHERE id IS NOT NULL;
SELECT try($$UPDATE fa.fact SET ordered_sk = 4711 WHERE n = 1$$);
COMMIT;
-- an unregistered one that refers: an error that names it, whatever it cascades
CREATE TABLE stranger (sk bigint REFERENCES dim ON DELETE CASCADE);
INSERT INTO stranger SELECT dim_sk FROM dim WHERE id = 4 AND part = 'a' AND valid_from = '2026-02-01';
TRUNCATE late; INSERT INTO late VALUES (4, 'a', 'v1', '2026-02-01');
SELECT try($$CALL scd2.apply('fa.dim', source => 'fa.late')$$);
-- and a registered one whose row refers to a version that is not its key's, either: recheck mends it
DELETE FROM stranger;
UPDATE fact SET ordered_sk = (SELECT dim_sk FROM dim WHERE id = 4 AND part = 'a' AND valid_from = '2026-02-01') WHERE n = 0;
SELECT try($$CALL scd2.apply('fa.dim', source => 'fa.late')$$);
CALL scd2.resolve('fact', recheck => true);
CALL scd2.apply('dim', source => 'late');
SELECT count(*) FROM wrong;
-- undo brings it back
CALL scd2.undo('dim', scd2.last_run());
SELECT count(*) FROM wrong;
SELECT * FROM scd2.check('dim');
-- retry: a rejected change moves facts when it gets through
CREATE TABLE q (id int, v varchar(3), at timestamptz);
SELECT scd2.create_dimension('dim_q', 'q', '{id}', effective_at => 'at', on_bad_row => 'quarantine');
ALTER TABLE q ALTER v TYPE varchar(9);
INSERT INTO q VALUES (1, 'a', '2026-01-01'), (1, 'too long', '2026-02-01');
CALL scd2.apply('dim_q');
CREATE TABLE fact_q (id int, ts timestamptz, sk bigint NOT NULL DEFAULT -1 REFERENCES dim_q);
INSERT INTO fact_q VALUES (1, '2026-01-15'), (1, '2026-02-15');
SELECT scd2.register_fact('fact_q', 'dim_q', '{id}', 'ts', 'sk');
CALL scd2.resolve('fact_q');
DROP VIEW dim_q_current;
DROP FUNCTION dim_q_as_of;
ALTER TABLE dim_q ALTER v TYPE varchar(9);
ALTER TABLE dim_q_log ALTER v TYPE varchar(9);
CALL scd2.retry_rejected('dim_q');
SELECT action, facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();
SELECT f.ts::date, d.v FROM fact_q f JOIN dim_q d ON d.q_sk = f.sk ORDER BY 1;

-- history => 'separate': facts keep the keys of versions that moved; a key that refers is refused
SELECT scd2.create_dimension('dim_s', 'q', '{id}', effective_at => 'at', history => 'separate', unknown_member => false);
CREATE TABLE fact_s (id int, ts timestamptz, sk bigint);
INSERT INTO fact_s VALUES (1, '2026-01-15'), (1, '2026-02-15'), (2, '2026-02-15'), (3, '2026-02-15');
UPDATE fact_s SET sk = -1 WHERE id = 3;
SELECT scd2.register_fact('fact_s', 'dim_s', '{id}', 'ts', 'sk');
CALL scd2.resolve('fact_s');
SELECT * FROM fact_s WHERE sk IS NOT NULL;
CALL scd2.apply('dim_s');
SELECT f.ts::date, d.v FROM fact_s f LEFT JOIN dim_s_versions d ON d.s_sk = f.sk ORDER BY 1, 2;
ALTER TABLE fact_s ADD FOREIGN KEY (sk) REFERENCES dim_s NOT VALID;
TRUNCATE late; INSERT INTO q VALUES (1, 'b', '2026-01-10');
SELECT try($$CALL scd2.apply('fa.dim_s')$$);

-- triggers: one that takes the key back is told of; others run, as the fact's owner
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.sk = OLD.sk; RETURN NEW; END$$;
CREATE TRIGGER meddle BEFORE UPDATE ON fact_q FOR EACH ROW EXECUTE FUNCTION meddle();
TRUNCATE q; INSERT INTO q VALUES (1, 'c', '2026-01-10');
SELECT try($$CALL scd2.apply('fa.dim_q')$$);
UPDATE fact_q SET sk = -1;
ALTER TABLE fact_q DISABLE TRIGGER meddle;
UPDATE fact_q SET sk = -1;
ALTER TABLE fact_q ENABLE TRIGGER meddle;
SELECT try($$CALL scd2.resolve('fa.fact_q')$$);
DROP TRIGGER meddle ON fact_q;

-- R34: other owners. The dimension is read as its owner, the fact written as its own, under his rights alone.
CREATE ROLE regress_fa_dim;
CREATE ROLE regress_fa_fact;
CREATE TABLE people (id int, v text, at timestamptz);
GRANT SELECT ON people TO regress_fa_dim;
SET ROLE regress_fa_dim;
SELECT scd2.create_dimension('dim_p', 'people', '{id}', effective_at => 'at');
SET ROLE regress_fa_fact;
CREATE TABLE fact_p (id int, ts timestamptz, sk bigint, who text);
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.who = current_user; RETURN NEW; END$$;
CREATE TRIGGER tell BEFORE UPDATE ON fact_p FOR EACH ROW EXECUTE FUNCTION tell();
INSERT INTO fact_p VALUES (1, '2026-01-15'), (1, '2026-02-15'), (2, '2026-02-15');
RESET ROLE;
SELECT scd2.register_fact('fact_p', 'dim_p', '{id}', 'ts', 'sk', infer => true);
INSERT INTO people VALUES (1, 'a', '2026-01-01');
SET ROLE regress_fa_dim;
CALL scd2.apply('dim_p');
SET ROLE regress_fa_fact;
SELECT try($$SELECT FROM fa.dim_p$$);
CALL scd2.resolve('fact_p');
RESET ROLE;
INSERT INTO people VALUES (1, 'b', '2026-02-01');
SET ROLE regress_fa_dim;
SELECT try($$SELECT FROM fa.fact_p$$);
CALL scd2.apply('dim_p');
SELECT action, who, facts_rekeyed FROM scd2.runs WHERE dimension = 'dim_p'::regclass ORDER BY id;
-- who checks reads the facts, too
SELECT try($$SELECT * FROM scd2.check('fa.dim_p')$$);
RESET ROLE;
SELECT * FROM scd2.check('dim_p');
SELECT f.id, f.ts::date, d.v, f.who FROM fact_p f LEFT JOIN dim_p d ON d.p_sk = f.sk ORDER BY 1, 2;
-- row security on a fact raises, it never hides facts
ALTER TABLE fact_p ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY part ON fact_p USING (id = 1);
SELECT try($$CALL scd2.resolve('fa.fact_p', true)$$);
TRUNCATE people; INSERT INTO people VALUES (1, 'c', '2026-01-10');
SELECT try($$CALL scd2.apply('fa.dim_p')$$);

SET client_min_messages = error;
DROP SCHEMA fa CASCADE;
DROP ROLE regress_fa_dim, regress_fa_fact;
