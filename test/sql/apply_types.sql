-- Tracked columns of every kind (R12, hard case 8): versions as the values
-- change, however they are spelled, and a second apply writes nothing.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA ty;
SET search_path = ty;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (n numeric, t text);
CREATE TYPE nested AS (p pair, j json, a integer[]);
CREATE DOMAIN short AS varchar(5);
CREATE DOMAIN places AS numeric(10,2)[];

-- a: a value; same: equal to it by R12; b: another one
CREATE TABLE kinds (type text, a text, same text, b text);
INSERT INTO kinds VALUES
    ('json', '{"a": 1, "b": 2}', '{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),       -- by its text
    ('jsonb', '{"a": 1.0, "b": [1, 2]}', '{"b": [1,2], "a": 1.00}', '{"a": 1, "b": [2, 1]}'),
    ('xml', '<a>1</a>', '<a>1</a>', '<a >1</a >'),
    ('point', '(1,2)', '(1.0,2.0)', '(2,1)'),
    ('box', '(1,1),(0,0)', '(0,0),(1,1)', '(3,3),(2,2)'),                       -- moved, of equal area
    ('circle', '<(0,0),1>', '<(0,0),1.0>', '<(1,1),1>'),                        -- of equal area
    ('polygon', '((0,0),(1,0),(1,1))', '((0,0),(1,0),(1,1))', '((5,5),(6,5),(6,6))'),
    ('path', '((0,0),(1,1))', '((0,0),(1,1))', '[(0,0),(1,1)]'),                -- open and closed, of equal length
    ('lseg', '[(0,0),(1,1)]', '[(0,0),(1,1)]', '[(1,1),(0,0)]'),
    ('line', '{1,2,3}', '{1,2,3}', '{2,4,6}'),
    ('integer[]', '{1,2,NULL}', '{1,2,NULL}', '{1,NULL,2}'),
    ('integer[]', '{1,2}', '[1:2]={1,2}', '[2:3]={1,2}'),
    ('text[]', '{"a","b"}', '{a,b}', '{"a,b"}'),
    ('numeric[]', '{1.0,2.50}', '{1,2.5}', '{1,2.51}'),
    ('places', '{1,2.5}', '{1.00,2.50}', '{2.5,1}'),
    ('json[]', '{"{}"}', '{"{}"}', '{"{ }"}'),
    ('point[]', '{"(1,2)"}', '{"(1.0,2)"}', '{"(1,3)"}'),
    ('int4range', '[1,3)', '[1,2]', '[1,3]'),
    ('numrange', '[1.0,2.0)', '[1,2)', '[1,2]'),
    ('tstzrange', '[2024-01-01 00:00+00,)', '[2024-01-01 01:00+01,)', '(2024-01-01 00:00+00,)'),
    ('int4multirange', '{[1,2],[3,4]}', '{[1,5)}', '{[1,4)}'),
    ('pair', '(1.0,x)', '(1,x)', '(1,X)'),
    ('pair', '(,)', '(,)', '(,"")'),
    ('nested', '("(1.0,x)","{}","{1}")', '("(1,x)","{}","{1}")', '("(1,x)","{ }","{1}")'),
    ('mood', 'sad', 'sad', 'ok'),
    ('mood[]', '{sad,ok}', '{sad,ok}', '{ok,sad}'),
    ('short', 'abc', 'abc', 'abc '),
    ('char(5)', 'abc', 'abc  ', 'abcd'),
    ('varchar', 'a', 'a', 'A'),
    ('text', 'é', 'é', E'e\u0301'),
    ('name', 'abc', 'abc', 'abd'),
    ('"char"', 'a', 'a', 'b'),
    ('bytea', '\x00ff', '\x00FF', '\x00fe'),
    ('numeric', '1e2', '100.00', '100.01'),
    ('numeric', 'NaN', 'nan', 'Infinity'),
    ('real', '0', '-0', 'NaN'),
    ('double precision', '0.1', '0.10', '0.1000000000000001'),
    ('money', '1.5', '1.50', '1.51'),
    ('boolean', 'true', 't', 'f'),
    ('date', 'infinity', 'infinity', '2024-01-01'),
    ('time', '12:00', '12:00:00', '12:00:01'),
    ('timetz', '12:00+00', '12:00:00+00', '13:00+01'),                          -- one moment, other zones
    ('timestamp', '2024-01-01', '2024-01-01 00:00', '2024-01-01 00:00:00.000001'),
    ('timestamptz', '2024-01-01 00:00+00', '2024-01-01 01:00+01', '2024-01-01 01:00+00'),
    ('interval', '1 day', '24:00', '1 day 1 second'),
    ('interval', '1 mon', '30 days', '31 days'),
    ('inet', '10.0.0.1', '10.0.0.1/32', '10.0.0.1/24'),
    ('cidr', '10.0.0.0/8', '10/8', '10.0.0.0/9'),
    ('macaddr', '08:00:2b:01:02:03', '08002b-010203', '08:00:2b:01:02:04'),
    ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'),
    ('bit(4)', '1010', 'xA', '1011'),
    ('bit varying', '101', '101', '1010'),
    ('tsvector', 'b a', 'a b', 'a'),
    ('tsquery', 'a & b', 'a&b', 'a | b'),
    ('pg_lsn', '0/10', '0/00000010', '0/11'),
    ('oid', '1', '01', '2'),
    ('jsonpath', '$.a', '$."a"', '$.b'),
    ('hstore', 'a=>1,b=>2', 'b=>2,a=>1', 'a=>1'),
    ('citext', 'a', 'a', 'A');                                                  -- from an extension: by its text
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name IN ('hstore', 'citext') HAVING count(*) = 2) THEN
        DELETE FROM ty.kinds WHERE type IN ('hstore', 'citext');
    ELSE
        CREATE EXTENSION hstore SCHEMA ty;
        CREATE EXTENSION citext SCHEMA ty;
    END IF;
END $$;

-- Each as type 2 by snapshot, and as every type at once by delta. Batches: a; the
-- same spelled otherwise; b; null; a again. Five changes, of which four open
-- versions.
DO $$
DECLARE
    kind ty.kinds;
    value text;
    day timestamptz;
    versions text := $q$string_agg(CASE WHEN num_nulls(%1$s) = 1 THEN 'null'
                                        WHEN scd2.row_hash(%1$s) = scd2.row_hash(%2$L::%4$s) THEN 'a'
                                        WHEN scd2.row_hash(%1$s) = scd2.row_hash(%3$L::%4$s) THEN 'b' ELSE '?' END, ',' ORDER BY valid_from)$q$;
    shown text;
BEGIN
    FOR kind IN SELECT * FROM ty.kinds LOOP
        EXECUTE format('CREATE TABLE ty.s (id integer, v %s)', kind.type);
        EXECUTE format('CREATE TABLE ty.w (id integer, v0 %1$s, v1 %1$s, v2 %1$s, v3 %1$s, v6 %1$s, at timestamptz)', kind.type);
        PERFORM scd2.create_dimension('ty.dim_s', source => 'ty.s', business_key => '{id}', mode => 'snapshot', surrogate_key_type => 'uuid');
        PERFORM scd2.create_dimension('ty.dim_w', source => 'ty.w', business_key => '{id}', type0 => '{v0}', type1 => '{v1}', type3 => '{v3}', type6 => '{v6}', effective_at => 'at');
        day := '2024-01-01';
        FOREACH value IN ARRAY ARRAY[kind.a, kind.same, kind.b, NULL, kind.a] LOOP
            day := day + interval '1 day';
            TRUNCATE ty.s, ty.w;
            EXECUTE format('INSERT INTO ty.s VALUES (1, %L)', value);
            EXECUTE format('INSERT INTO ty.w VALUES (1, %1$L, %1$L, %1$L, %1$L, %1$L, %2$L)', value, day);
            CALL scd2.apply('ty.dim_s', batch_time => day);
            CALL scd2.apply('ty.dim_w');
            -- again
            CALL scd2.apply('ty.dim_w');
            IF (SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run()) <> 1 THEN
                RAISE WARNING '%: no replay of %', kind.type, value;
            END IF;
            CALL scd2.apply('ty.dim_s', batch_time => day + interval '1 hour');
            IF (SELECT rows_unchanged FROM scd2.runs WHERE id = scd2.last_run()) <> 1 THEN
                RAISE WARNING '%: not unchanged: %', kind.type, value;
            END IF;
        END LOOP;
        EXECUTE format('SELECT (SELECT %s FROM ty.dim_s WHERE id = 1)', format(versions, 'v', kind.a, kind.b, kind.type))
             || format(' || '' '' || (SELECT %s FROM ty.dim_w WHERE id = 1)', format(versions, 'v2', kind.a, kind.b, kind.type))
             || format(' || '' '' || (SELECT %s FROM ty.dim_w WHERE id = 1', format(versions, 'v6', kind.a, kind.b, kind.type))
             -- first, last, last, last, and the one before
             || format(' AND num_nulls(previous_v3) = 1 AND scd2.row_hash(v0, v1, v3, current_v6) = scd2.row_hash(%1$L::%2$s, %1$L::%2$s, %1$L::%2$s, %1$L::%2$s))', kind.a, kind.type)
             || ' || (SELECT format('' %s'', count(*)) FROM unnest(''{ty.dim_s,ty.dim_w}''::regclass[]) AS d, scd2.check(d))' INTO shown;
        IF shown IS DISTINCT FROM 'a,b,null,a a,b,null,a a,b,null,a 0' THEN
            RAISE WARNING '%: %', kind.type, shown;
        END IF;
        PERFORM scd2.drop_dimension('ty.dim_s', keep_table => false);
        PERFORM scd2.drop_dimension('ty.dim_w', keep_table => false);
        DROP TABLE ty.dim_s_log, ty.dim_w_log, ty.s, ty.w;
    END LOOP;
END $$;
SELECT count(*) > 55 AS tried FROM kinds;

-- large, TOASTed and compressed values, several of them, equal in content
CREATE TABLE big (id integer, a text, b bytea, c text[], at timestamptz);
ALTER TABLE big ALTER a SET STORAGE EXTERNAL;
SELECT scd2.create_dimension('dim_big', source => 'big', business_key => '{id}', type1 => '{c}', effective_at => 'at');
INSERT INTO big SELECT 1, string_agg(md5(i::text), ''), decode(string_agg(md5(i::text), ''), 'hex'), array_agg(md5(i::text)), '2024-01-01' FROM generate_series(1, 50000) AS i;
INSERT INTO big SELECT 1, a || 'x', b, c, '2024-01-02' FROM big;
INSERT INTO big SELECT 1, a, b, c || 'x'::text, '2024-01-03' FROM big WHERE at = '2024-01-02';
CALL scd2.apply('dim_big');
SELECT length(a), length(b), cardinality(c), valid_from::date FROM dim_big WHERE id = 1 ORDER BY valid_from;
CALL scd2.apply('dim_big');
SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM scd2.check('dim_big');

-- a column that is null in every row, and a row of nulls, which is no null
CREATE TABLE nulls (id integer, a pair, at timestamptz);
SELECT scd2.create_dimension('dim_nulls', source => 'nulls', business_key => '{id}', effective_at => 'at');
INSERT INTO nulls VALUES (1, NULL, '2024-01-01'), (1, ROW(NULL, NULL), '2024-01-02'), (1, NULL, '2024-01-03'), (1, NULL, '2024-01-04');
CALL scd2.apply('dim_nulls');
SELECT valid_from::date, a::text FROM dim_nulls WHERE id = 1 ORDER BY valid_from;
SELECT * FROM scd2.check('dim_nulls');

-- json takes what jsonb does not: a preview shows it as the text that it is
CREATE TABLE js (id integer, j json, n nested, a json[], at timestamptz);
SELECT scd2.create_dimension('dim_js', source => 'js', business_key => '{id}', effective_at => 'at');
INSERT INTO js VALUES (1, '{"a": "\u0000"}', NULL, NULL, '2024-01-01'), (2, '1e999999', NULL, NULL, '2024-01-01'),
    (3, '"x"', ROW(NULL, '"\ud800"', '{1}'), '{1}', '2024-01-01'), (4, '{"b": 1, "a": 2}', NULL, '{"\"\\u0000\""}', '2024-01-01'),
    (5, '{"b": 1, "a": 2}', ROW(NULL, '3', '{1}'), '{4}', '2024-01-01');
SELECT key ->> 'id' AS id, new FROM scd2.preview('dim_js') ORDER BY 1;
CALL scd2.apply('dim_js');
CALL scd2.apply('dim_js');
SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
UPDATE js SET at = '2024-01-02', j = '"y"' WHERE id = 1;
BEGIN READ ONLY;
SELECT action, old, new FROM scd2.preview('dim_js');
COMMIT;

-- labels of an enum renamed and added, attributes of a composite added: values of
-- before go on as they are
CREATE TABLE e (id integer, m mood, at timestamptz);
SELECT scd2.create_dimension('dim_en', source => 'e', business_key => '{id}', effective_at => 'at');
INSERT INTO e VALUES (1, 'sad', '2024-01-01');
CALL scd2.apply('dim_en');
ALTER TYPE mood ADD VALUE 'glad' BEFORE 'sad';
INSERT INTO e VALUES (1, 'glad', '2024-01-02'), (1, 'sad', '2024-01-03');
CALL scd2.apply('dim_en');
SELECT m, valid_from::date FROM dim_en WHERE id = 1 ORDER BY valid_from;
CALL scd2.apply('dim_en');
SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run();

DROP SCHEMA ty CASCADE;
