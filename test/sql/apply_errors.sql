-- Errors of apply: SQLSTATE, object, key, detail, hint; and nothing written (R13,
-- R15, R19, R35, hard case 19).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA ae;
SET search_path = ae;

-- Runs a CALL that must fail, shows its error, and looks whether anything was
-- written all the same.
CREATE PROCEDURE fails(dim regclass, call text) LANGUAGE plpgsql AS $$
DECLARE
    s text; m text; d text; h text; c text;
    before text;
    after text;
    look text := format('SELECT concat((SELECT md5(string_agg(t::text, E''\n'' ORDER BY t::text)) FROM %s AS t), '
                        '(SELECT count(*) FROM scd2.runs WHERE dimension = %L::regclass))', dim, dim);
BEGIN
    EXECUTE look INTO before;
    BEGIN
        EXECUTE call;
        RAISE EXCEPTION 'no error: %', call;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS s = RETURNED_SQLSTATE, m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL,
                                h = PG_EXCEPTION_HINT, c = PG_EXCEPTION_CONTEXT;
    END;
    EXECUTE look INTO after;
    RAISE WARNING E'% %\nDETAIL:  %\nHINT:  %\nCONTEXT:  %', s, m, d, h, substring(c FROM '(?:step "[^\n]*"\n)?applying "[^"]*"');
    IF before IS DISTINCT FROM after THEN
        RAISE WARNING 'something was written';
    END IF;
END $$;

-- ---------------------------------------------------------------------------
-- R19: bad rows
-- ---------------------------------------------------------------------------
CREATE TABLE s (k1 integer, k2 text, a varchar(5), at timestamptz, n integer, gone boolean);
SELECT scd2.create_dimension('dim', source => 's', business_key => '{k1,k2}', effective_at => 'at', sequence_by => '{n}',
                             delete_when => 'gone', initial_valid_from => '1950-01-01');
INSERT INTO s VALUES (1, 'x', 'a', '2024-01-01', 1), (2, 'x', 'a', '2024-01-01', 1);
CALL scd2.apply('dim');
CREATE TABLE good AS SELECT * FROM s;
-- null in K, E, S
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1), (NULL, 'x', 'b', '2024-01-02', 1);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1), (NULL, NULL, 'b', '2024-01-02', 1);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1), (3, 'x', 'b', NULL, 1);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1), (3, 'x', 'b', '2024-01-02', NULL);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- of deletes, too
TRUNCATE s; INSERT INTO s VALUES (1, NULL, 'b', '2024-01-02', 1, true);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- E not finite, at or past open_end, before initial_valid_from
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1), (3, 'x', 'b', 'infinity', 1), (4, 'x', 'b', '-infinity', 1),
    (5, 'x', 'b', '9999-12-31', 1), (6, 'x', 'b', '9999-12-30 23:59:59', 1), (7, 'x', 'b', '1949-12-31 23:59:59', 1), (8, 'x', 'b', '1950-01-01', 1);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- different changes at one position: all of them, a delete among them
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1, false), (1, 'x', 'c', '2024-01-02', 1, false), (1, 'x', 'd', '2024-01-02', 2, false),
    (2, 'x', 'a', '2024-01-03', 1, false), (2, 'x', 'a', '2024-01-03', 1, true);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- many: the first are named, the others counted
TRUNCATE s; INSERT INTO s SELECT i, 'x', 'b', NULL, 1 FROM generate_series(1, 1000) AS i;
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- keys that need care: quotes, new lines, long ones
TRUNCATE s; INSERT INTO s VALUES (1, E'it''s "quoted"\nand broken', 'b', NULL, 1), (1, repeat('long ', 30), 'b', NULL, 1);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- preview shows them instead of failing
SELECT * FROM scd2.preview('dim');
-- a value that does not convert (R17): the source sends longer text
ALTER TABLE s ALTER a TYPE varchar(10);
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1), (3, 'x', 'too long', '2024-01-02', 1);
CALL fails('dim', $$CALL scd2.apply('ae.dim')$$);
-- but a delete has no attributes
TRUNCATE s; INSERT INTO s VALUES (2, 'x', 'too long', '2024-01-02', 1, true);
CALL scd2.apply('dim');
SELECT k1, valid_to FROM dim WHERE k1 = 2;
-- an error in the source itself is not the row's
CREATE VIEW broken AS SELECT k1, k2, a, at, 1 / (n - 1) AS n, gone FROM s;
CALL fails('dim', $$CALL scd2.apply('ae.dim', source => 'ae.broken')$$);
-- after all of that a good batch is fine
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'b', '2024-01-02', 1);
CALL scd2.apply('dim');
SELECT k1, a, valid_from, valid_to FROM dim WHERE k1 = 1 ORDER BY valid_from;

-- ---------------------------------------------------------------------------
-- on_delete, on_duplicate: error
-- ---------------------------------------------------------------------------
SELECT scd2.create_dimension('strict', source => 's', business_key => '{k1,k2}', type2 => '{a}', effective_at => 'at', delete_when => 'gone',
                             on_delete => 'error', on_duplicate => 'error', on_late => 'error');
CALL scd2.apply('strict');
TRUNCATE s; INSERT INTO s VALUES (2, 'x', 'b', '2024-01-02', 1, false), (1, 'x', 'b', '2024-01-03', 1, true);
CALL fails('strict', $$CALL scd2.apply('ae.strict')$$);
TRUNCATE s; INSERT INTO s VALUES (2, 'x', 'b', '2024-01-02', 1), (2, 'x', 'c', '2024-01-03', 1);
CALL fails('strict', $$CALL scd2.apply('ae.strict')$$);
-- late changes: before the newest logged E, and at it
TRUNCATE s; INSERT INTO s VALUES (2, 'x', 'b', '2024-01-02', 1), (1, 'x', 'c', '2024-01-01', 1);
CALL fails('strict', $$CALL scd2.apply('ae.strict')$$);
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'c', '2024-01-02', 1);
CALL fails('strict', $$CALL scd2.apply('ae.strict')$$);
-- without a log they are an error unless on_late says otherwise
SELECT scd2.create_dimension('nolog', source => 's', business_key => '{k1,k2}', type2 => '{a}', effective_at => 'at', delete_when => 'gone', change_log => false);
CALL scd2.apply('nolog');
TRUNCATE s; INSERT INTO s VALUES (1, 'x', 'c', '2024-01-01', 1);
CALL fails('nolog', $$CALL scd2.apply('ae.nolog')$$);

-- ---------------------------------------------------------------------------
-- R13: surrogate keys that are reserved or collide; test/collide finds such keys
-- ---------------------------------------------------------------------------
CREATE TABLE x (id bigint, a text, at timestamptz);
SELECT scd2.create_dimension('dim_x', source => 'x', business_key => '{id}', effective_at => 'at');
INSERT INTO x VALUES (5, 'a', '2024-01-01'), (-546938517626390013, 'a', '2024-01-01');
CALL fails('dim_x', $$CALL scd2.apply('ae.dim_x')$$);
TRUNCATE x; INSERT INTO x VALUES (3048572275688024768, 'a', '2024-01-01');
CALL fails('dim_x', $$CALL scd2.apply('ae.dim_x')$$);
-- in one batch
TRUNCATE x; INSERT INTO x VALUES (1, 'a', '2024-01-01'), (2, 'a', '2024-01-01'), (3213108238656389427, 'a', '2024-01-02');
CALL fails('dim_x', $$CALL scd2.apply('ae.dim_x')$$);
-- with a version that is there
DELETE FROM x WHERE id > 2;
CALL scd2.apply('dim_x');
TRUNCATE x; INSERT INTO x VALUES (2, 'b', '2024-01-03'), (3213108238656389427, 'a', '2024-01-02');
CALL fails('dim_x', $$CALL scd2.apply('ae.dim_x')$$);
DELETE FROM x WHERE id > 2;
CALL scd2.apply('dim_x');
SELECT id, a, valid_from FROM dim_x WHERE id IS NOT NULL ORDER BY id, valid_from;
-- what the hint proposes
SELECT scd2.create_dimension('dim_u', source => 'x', business_key => '{id}', effective_at => 'at', surrogate_key_type => 'uuid');
TRUNCATE x; INSERT INTO x VALUES (1, 'a', '2024-01-01'), (3213108238656389427, 'a', '2024-01-02'), (-546938517626390013, 'a', '2024-01-01');
CALL scd2.apply('dim_u');
SELECT count(*) FROM dim_u WHERE id IS NOT NULL;
SELECT * FROM scd2.check('dim_u');
-- a unique violation of another index is reported as it is
CREATE UNIQUE INDEX one_b ON dim_u (a) WHERE a = 'b';
TRUNCATE x; INSERT INTO x VALUES (7, 'b', '2024-01-01'), (8, 'b', '2024-01-01');
CALL fails('dim_u', $$CALL scd2.apply('ae.dim_u')$$);
DROP INDEX one_b;
ALTER TABLE dim_u ADD CONSTRAINT short CHECK (a <> 'bad');
TRUNCATE x; INSERT INTO x VALUES (7, 'bad', '2024-01-01');
CALL fails('dim_u', $$CALL scd2.apply('ae.dim_u')$$);

-- ---------------------------------------------------------------------------
-- Hard case 19: triggers that change or suppress rows, rules
-- ---------------------------------------------------------------------------
CREATE TABLE t (id integer, a text, n text, at timestamptz);
SELECT scd2.create_dimension('dim_t', source => 't', business_key => '{id}', type1 => '{n}', effective_at => 'at');
INSERT INTO t VALUES (1, 'a', 'x', '2024-01-01');
CALL scd2.apply('dim_t');
CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END $$;
CREATE FUNCTION alter_a() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.a := upper(NEW.a); RETURN NEW; END $$;
CREATE FUNCTION alter_to() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.valid_to := '2025-01-01'; RETURN NEW; END $$;
CREATE FUNCTION alter_n() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.n := 'trigger'; RETURN NEW; END $$;
CREATE FUNCTION alter_key() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.t_sk := 42; RETURN NEW; END $$;
CREATE FUNCTION leave_alone() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END $$;
TRUNCATE t; INSERT INTO t VALUES (1, 'b', 'y', '2024-01-02');
CREATE PROCEDURE with_trigger(event text, function text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER "My Trigger" BEFORE %s ON ae.dim_t FOR EACH ROW EXECUTE FUNCTION ae.%s()', event, function);
    CALL ae.fails('ae.dim_t', $c$CALL scd2.apply('ae.dim_t')$c$);
    DROP TRIGGER "My Trigger" ON ae.dim_t;
END $$;
-- a close and an open, and type 1 columns of both
CALL with_trigger('INSERT', 'suppress');
CALL with_trigger('UPDATE', 'suppress');
CALL with_trigger('INSERT', 'alter_a');
CALL with_trigger('UPDATE', 'alter_a');
CALL with_trigger('INSERT', 'alter_to');
CALL with_trigger('UPDATE', 'alter_to');
CALL with_trigger('INSERT', 'alter_n');
CALL with_trigger('UPDATE', 'alter_n');
CALL with_trigger('INSERT', 'alter_key');
CALL with_trigger('UPDATE', 'alter_key');
-- a trigger that undoes what another statement wrote
CREATE FUNCTION delete_closed() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN DELETE FROM ae.dim_t WHERE id = NEW.id AND NOT is_current; RETURN NEW; END $$;
CALL with_trigger('INSERT', 'delete_closed');
-- an overwrite alone
TRUNCATE t; INSERT INTO t VALUES (1, 'a', 'z', '2024-01-02');
CALL with_trigger('UPDATE', 'suppress');
CALL with_trigger('UPDATE', 'alter_n');
CALL with_trigger('UPDATE', 'alter_a');
CALL with_trigger('UPDATE', 'alter_to');
-- nothing to write: no trigger runs
TRUNCATE t; INSERT INTO t VALUES (1, 'a', 'x', '2024-01-01');
CALL with_trigger('INSERT OR UPDATE', 'suppress');
-- triggers on the log
TRUNCATE t; INSERT INTO t VALUES (1, 'b', 'y', '2024-01-02');
CREATE TRIGGER suppress BEFORE INSERT ON dim_t_log FOR EACH ROW EXECUTE FUNCTION suppress();
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP TRIGGER suppress ON dim_t_log;
CREATE TRIGGER alter_a BEFORE INSERT ON dim_t_log FOR EACH ROW EXECUTE FUNCTION alter_a();
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP TRIGGER alter_a ON dim_t_log;
-- a trigger that is disabled, one that leaves the row alone, one that runs after: fine
CREATE TRIGGER off BEFORE INSERT OR UPDATE ON dim_t FOR EACH ROW EXECUTE FUNCTION suppress();
ALTER TABLE dim_t DISABLE TRIGGER off;
CREATE TRIGGER before BEFORE INSERT OR UPDATE ON dim_t FOR EACH ROW EXECUTE FUNCTION leave_alone();
CREATE TABLE seen (op text, id integer, a text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO ae.seen VALUES (TG_OP, NEW.id, NEW.a); RETURN NULL; END $$;
CREATE TRIGGER after AFTER INSERT OR UPDATE ON dim_t FOR EACH ROW EXECUTE FUNCTION see();
TRUNCATE t; INSERT INTO t VALUES (1, 'b', 'y', '2024-01-02');
CALL scd2.apply('dim_t');
SELECT * FROM seen ORDER BY op, a;
SELECT * FROM scd2.check('dim_t');
DROP TRIGGER before ON dim_t;
-- R15: what a trigger or a reader sees: close before open, never two current versions nor none at the end
TRUNCATE seen;
CREATE FUNCTION count_current() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ae.seen SELECT TG_OP, NEW.id, count(*)::text FROM ae.dim_t WHERE id = NEW.id AND is_current;
    RETURN NULL;
END $$;
DROP TRIGGER after ON dim_t;
CREATE TRIGGER after AFTER INSERT OR UPDATE ON dim_t FOR EACH ROW EXECUTE FUNCTION count_current();
TRUNCATE t; INSERT INTO t VALUES (1, 'c', 'y', '2024-01-03');
CALL scd2.apply('dim_t');
SELECT * FROM seen;
DROP TRIGGER after ON dim_t;
-- rules
TRUNCATE t; INSERT INTO t VALUES (1, 'd', 'y', '2024-01-04');
CREATE RULE nothing AS ON INSERT TO dim_t DO INSTEAD NOTHING;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP RULE nothing ON dim_t;
CREATE RULE nothing AS ON UPDATE TO dim_t DO INSTEAD NOTHING;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP RULE nothing ON dim_t;
CREATE RULE elsewhere AS ON INSERT TO dim_t DO INSTEAD INSERT INTO ae.seen VALUES ('rule', NEW.id, NEW.a);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP RULE elsewhere ON dim_t;
CREATE RULE nothing AS ON INSERT TO dim_t_log DO INSTEAD NOTHING;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP RULE nothing ON dim_t_log;
CREATE RULE elsewhere AS ON INSERT TO dim_t_log DO INSTEAD INSERT INTO ae.seen VALUES ('rule', NEW.id, NEW.a);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP RULE elsewhere ON dim_t_log;
CREATE RULE elsewhere AS ON UPDATE TO dim_t DO INSTEAD INSERT INTO ae.seen VALUES ('rule', NEW.id, NEW.a);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
DROP RULE elsewhere ON dim_t;
CALL scd2.apply('dim_t');
SELECT id, a, n, valid_from::date, valid_to::date FROM dim_t WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM scd2.check('dim_t');

-- ---------------------------------------------------------------------------
-- Calls that cannot be: no dimension, no source, the wrong source
-- ---------------------------------------------------------------------------
CALL fails('dim_t', $$CALL scd2.apply(NULL)$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.t')$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.nothing')$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t', source => 'ae.dim_t')$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t', source => 'ae.dim_t_pkey')$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t', source => 'ae.x')$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t', source => 0::regclass)$$);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t', source => 4294967295::regclass)$$);
CALL fails('dim_t', $$SELECT * FROM scd2.preview('ae.dim_t', source => 0::regclass)$$);
CALL fails('dim_t', 'CALL scd2.apply(0::regclass)');
CREATE SEQUENCE seq;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t', source => 'ae.seq')$$);
DROP TABLE t;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
-- a source made again under its name is the source (R4)
CREATE TABLE t (id integer, a text, n text, at timestamptz);
CALL scd2.apply('dim_t');
-- drift (on_drift): gained, lost, retyped
ALTER TABLE t ADD extra integer;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
ALTER TABLE t DROP extra, DROP a;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
ALTER TABLE t ADD a integer;
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
-- the dimension became a parent (hard case 13)
CREATE TABLE child () INHERITS (dim_t);
CALL fails('dim_t', $$CALL scd2.apply('ae.dim_t')$$);
SELECT * FROM scd2.check('dim_t');
-- and is none any more
DROP TABLE child;
ALTER TABLE t DROP a;
ALTER TABLE t ADD a text;
CALL scd2.apply('dim_t');

-- scd2's own columns, and those that show what another does, are of the types that it gave them
CREATE TABLE o (id integer, a text, b text, c text, at timestamptz);
INSERT INTO o VALUES (1, '1', '1', '1', '2024-01-01');
SELECT scd2.create_dimension('dim_o', source => 'o', business_key => '{id}', type0 => '{a}', type3 => '{b}', mode => 'snapshot', on_delete => 'flag');
CALL scd2.apply('dim_o');
DROP VIEW dim_o_current;
DROP FUNCTION dim_o_as_of;
CREATE PROCEDURE retyped(rel regclass, col text, type text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ALTER %I TYPE %s USING NULL', rel, col, type);
    CALL scd2.apply('ae.dim_o');
    RAISE WARNING 'no error';
EXCEPTION WHEN datatype_mismatch THEN
    RAISE WARNING '%', SQLERRM;
END $$;
ALTER TABLE dim_o DROP CONSTRAINT dim_o_pkey;
ALTER TABLE dim_o ALTER o_sk DROP NOT NULL, ALTER valid_from DROP NOT NULL, ALTER valid_to DROP NOT NULL,
                  ALTER is_current DROP NOT NULL, ALTER is_deleted DROP NOT NULL;
ALTER TABLE dim_o_log ALTER scd2_effective_at DROP NOT NULL;
CALL retyped('dim_o', 'o_sk', 'text');
CALL retyped('dim_o', 'valid_from', 'date');
CALL retyped('dim_o', 'valid_to', 'timestamp');
CALL retyped('dim_o', 'is_current', 'text');
CALL retyped('dim_o', 'is_deleted', 'integer');
CALL retyped('dim_o', 'row_hash', 'text');
CALL retyped('dim_o', 'previous_b', 'integer');
CALL retyped('dim_o_log', 'scd2_effective_at', 'text');
CALL retyped('dim_o_log', 'a', 'integer');

-- a trigger's own collision is told as it is, though the constraint's name is that of the dimension's
CREATE SCHEMA ae_audit;
CREATE TABLE ae_audit.audit (id integer, CONSTRAINT dim_c_pkey PRIMARY KEY (id));
CREATE TABLE c (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_c', source => 'c', business_key => '{id}', effective_at => 'at');
CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO ae_audit.audit VALUES (NEW.id); RETURN NULL; END $$;
CREATE TRIGGER audit AFTER INSERT ON dim_c FOR EACH ROW EXECUTE FUNCTION audit();
INSERT INTO c VALUES (1, 'a', '2024-01-01');
CALL scd2.apply('dim_c');
UPDATE c SET a = 'b', at = '2024-01-02';
CALL fails('dim_c', $$CALL scd2.apply('ae.dim_c')$$);

-- where somebody wrote to the dimension or cleared its log, no interval is turned
-- over or laid over another: what is not after the chain's end is late
CREATE TABLE w (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_w', source => 'w', business_key => '{id}', effective_at => 'at');
INSERT INTO w VALUES (1, 'a', '2024-02-01');
CALL scd2.apply('dim_w');
TRUNCATE w;
INSERT INTO w VALUES (1, 'b', '2024-01-01');
BEGIN;
TRUNCATE dim_w_log;
CALL fails('dim_w', $$CALL scd2.apply('ae.dim_w')$$);
ROLLBACK;
UPDATE w SET at = '2024-03-01';
BEGIN;
UPDATE dim_w SET is_current = false WHERE id = 1;
-- the key is folded from the log, which heals it
CALL scd2.apply('dim_w');
SELECT id, valid_from, valid_to, is_current FROM dim_w WHERE id IS NOT NULL ORDER BY 1, 2;
ROLLBACK;
CALL scd2.apply('dim_w');
SELECT * FROM scd2.check('dim_w');

SET client_min_messages = warning;
DROP SCHEMA ae, ae_audit CASCADE;
