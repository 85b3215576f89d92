-- Business keys of every type (R14), and values that are converted on their way
-- from the source (R17, hard case 18).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA ak;
SET search_path = ak;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN feeling AS mood CHECK (VALUE <> 'ok');
CREATE DOMAIN code AS varchar(8) CHECK (VALUE <> '');
CREATE DOMAIN amount AS numeric(12,2);

-- ---------------------------------------------------------------------------
-- For each type: a key once in each of two spellings, a version, a replay, a
-- delete; in both modes, with both kinds of SK
-- ---------------------------------------------------------------------------
CREATE TABLE kinds (type text, one text, again text, two text);
INSERT INTO kinds VALUES
    ('smallint', '1', '01', '-32768'),
    ('integer', '1', '01', '2147483647'),
    ('bigint', '1', '01', '-9223372036854775808'),
    ('numeric', '1.50', '1.5', '1e30'),
    ('numeric(10,2)', '1.5', '1.500', '0'),
    ('amount', '1.5', '1.500', '0'),
    ('text', 'é', 'é', ''),
    ('varchar(5)', 'abc', 'abc', 'abc '),
    ('char(5)', 'abc', 'abc  ', 'ab'),
    ('code', 'abc', 'abc', 'ABC'),
    ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC999C0B4EF8BB6D6BB9BD380A11', '00000000-0000-0000-0000-000000000000'),
    ('mood', 'sad', 'sad', 'happy'),
    ('feeling', 'sad', 'sad', 'happy'),
    ('boolean', 'true', 'on', 'false'),
    ('bytea', '\x00ff', '\x00FF', '\x'),
    ('date', '2024-02-29', '20240229', '0001-01-01 BC'),
    ('timestamp', '2024-02-29 12:00', '20240229 120000', 'infinity'),
    ('timestamptz', '2024-02-29 12:00+00', '2024-02-29 13:00+01', '-infinity'),
    ('real', '0', '-0', 'NaN'),
    ('double precision', '0', '-0', 'NaN');
DO $$
DECLARE
    kind ak.kinds;
    mode text;
    sk text;
    r record;
    shown text;
BEGIN
    FOR kind IN SELECT * FROM ak.kinds LOOP
        EXECUTE format('CREATE TABLE ak.k (id %s, a text, gone boolean)', kind.type);
        shown := '';
        FOREACH mode IN ARRAY '{delta,snapshot}'::text[] LOOP
            FOREACH sk IN ARRAY '{bigint,uuid}'::text[] LOOP
                PERFORM scd2.create_dimension('ak.dim_k', source => 'ak.k', business_key => '{id}', mode => mode,
                                              surrogate_key_type => sk, delete_when => 'gone');
                TRUNCATE ak.k;
                EXECUTE format('INSERT INTO ak.k VALUES (%L, ''a''), (%L, ''a'')', kind.one, kind.two);
                CALL scd2.apply('ak.dim_k', batch_time => '2024-01-01');
                TRUNCATE ak.k;
                EXECUTE format('INSERT INTO ak.k VALUES (%L, ''a''), (%L, ''b'')', kind.again, kind.two);
                CALL scd2.apply('ak.dim_k', batch_time => '2024-01-02');
                UPDATE ak.k SET gone = true WHERE a = 'b';
                CALL scd2.apply('ak.dim_k', batch_time => '2024-01-03');
                SELECT count(*) AS versions, count(*) FILTER (WHERE is_current) AS current, count(DISTINCT id) AS keys,
                       (SELECT count(*) FROM scd2.check('ak.dim_k')) AS wrong,
                       (SELECT count(*) FROM ak.dim_k_log) AS logged
                  INTO r FROM ak.dim_k WHERE id IS NOT NULL;
                shown := shown || format(' %s/%s: %s', mode, sk, r);
                PERFORM scd2.drop_dimension('ak.dim_k', keep_table => false);
                DROP TABLE ak.dim_k_log;
            END LOOP;
        END LOOP;
        -- versions, current ones, keys, violations, logged changes
        RAISE WARNING '%:%', kind.type, shown;
        DROP TABLE ak.k;
    END LOOP;
END $$;

-- the key of a log is looked up where there are gaps to explain
CREATE TABLE f (id feeling, n integer, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_f', source => 'f', business_key => '{id}', effective_at => 'at', delete_when => 'gone', unknown_member => false);
INSERT INTO f VALUES ('sad', 1, '2024-01-01', false), ('sad', NULL, '2024-01-02', true), ('sad', 2, '2024-01-03', false);
CALL scd2.apply('dim_f');
CALL scd2.apply('dim_f');
SELECT id, n, valid_from::date, valid_to::date FROM dim_f ORDER BY valid_from;
SELECT * FROM scd2.check('dim_f');
DELETE FROM dim_f_log WHERE scd2_deleted;
SELECT violation, key FROM scd2.check('dim_f');

-- ---------------------------------------------------------------------------
-- Composite keys: of text that run together, in another order than the source's
-- ---------------------------------------------------------------------------
CREATE TABLE c (b text, a text, n integer, x text, at timestamptz);
SELECT scd2.create_dimension('dim_c', source => 'c', business_key => '{a,n,b}', effective_at => 'at');
INSERT INTO c (a, n, b, x, at) VALUES
    ('ab', 1, 'c', '1', '2024-01-01'), ('a', 1, 'bc', '2', '2024-01-01'), ('', 1, 'abc', '3', '2024-01-01'),
    ('ab', 2, 'c', '4', '2024-01-01'), ('ab', 1, 'c', '5', '2024-01-02');
CALL scd2.apply('dim_c');
SELECT a, n, b, x, valid_from::date, c_sk = scd2.surrogate_key(a, n, b, valid_from) AS sk FROM dim_c WHERE a IS NOT NULL ORDER BY a, n, b, valid_from;
SELECT * FROM scd2.check('dim_c');
-- a null in any part is a bad row
TRUNCATE c;
INSERT INTO c (a, n, b, x, at) VALUES ('a', NULL, 'b', '1', '2024-01-03');
\set VERBOSITY default
CALL scd2.apply('dim_c');
\set VERBOSITY terse

-- ---------------------------------------------------------------------------
-- Hard case 18: the source's values are converted to the dimension's types
-- before anything is compared
-- ---------------------------------------------------------------------------
CREATE TABLE narrow (id numeric(10,2), price numeric(10,2), seen timestamptz(0), ratio real, name varchar(5), n integer, at timestamp);
SELECT scd2.create_dimension('dim_n', source => 'narrow', business_key => '{id}', effective_at => 'at', type2 => '{price,seen,ratio,name,n}');
SELECT scd2.create_dimension('dim_s', source => 'narrow', business_key => '{id}', type2 => '{price,seen,ratio,name,n}', mode => 'snapshot');
-- now it sends more digits and longer text: no drift, since the types are the same
ALTER TABLE narrow ALTER id TYPE numeric, ALTER price TYPE numeric, ALTER seen TYPE timestamptz, ALTER name TYPE varchar;
INSERT INTO narrow VALUES (1.004, 10.505, '2024-01-01 00:00:00.4+00', 0.1, 'abcde', 7, '2024-01-01'),
                          (2, 10.5, '2024-01-01 00:00:00.6+00', 1e10, NULL, NULL, '2024-01-01');
CALL scd2.apply('dim_n');
CALL scd2.apply('dim_s', batch_time => '2024-01-01');
SELECT id, price, seen, ratio, name, n, valid_from FROM dim_n WHERE id IS NOT NULL ORDER BY id;
-- again, with other digits that come to the same: nothing
UPDATE narrow SET price = 10.509 WHERE id = 1.004;
UPDATE narrow SET price = 10.505, id = 0.996 WHERE id = 1.004;
CALL scd2.apply('dim_n');
SELECT rows_read, rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
CALL scd2.apply('dim_s', batch_time => '2024-01-02');
SELECT rows_read, rows_unchanged FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM scd2.check('dim_n');
-- a value that is too long, or too large, is not cut
UPDATE narrow SET name = 'abcdef';
\set VERBOSITY default
\set SHOW_CONTEXT never
CALL scd2.apply('dim_n');
UPDATE narrow SET name = 'abcde ', id = 123456789.00;
CALL scd2.apply('dim_n');
\set VERBOSITY terse
-- spaces that varchar(5) has no room for are no part of the value
DELETE FROM narrow WHERE price <> 10.505;
UPDATE narrow SET name = 'abcde   ', id = 1;
CALL scd2.apply('dim_n');
SELECT rows_read, rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
-- another source is held to the types of the registered one (on_drift)
CREATE TABLE wide (id bigint, price double precision, seen timestamptz, ratio double precision, name text, n numeric, at timestamp);
INSERT INTO wide VALUES (1, 10.505, '2024-01-01 00:00:00.4+00', 0.1, 'abcde', 7.4, '2024-01-01');
CALL scd2.apply('dim_n', source => 'wide');

DROP SCHEMA ak CASCADE;
