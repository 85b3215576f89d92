-- The canonical encoding and scd2.row_hash (R12, R14).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
CREATE SCHEMA row_hash;
SET search_path = row_hash, public;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN plain_int AS int;
CREATE DOMAIN small_int AS plain_int CHECK (VALUE < 100);
CREATE DOMAIN moods AS mood[];
CREATE TYPE pair AS (a int, b text);
CREATE TYPE texts AS RANGE (subtype = text, collation = "C");

--
-- R14: the encoding is frozen.  These values never change; a change of any of
-- them breaks every row_hash that users have stored.
--
SELECT what, hash FROM (VALUES
  ('smallint', scd2.row_hash(5::smallint)),
  ('integer', scd2.row_hash(5)),
  ('bigint', scd2.row_hash(5::bigint)),
  ('integer, negative', scd2.row_hash(-1)),
  ('bigint, smallest', scd2.row_hash('-9223372036854775808'::bigint)),
  ('bigint, largest', scd2.row_hash('9223372036854775807'::bigint)),
  ('numeric, integral', scd2.row_hash(5.00)),
  ('numeric', scd2.row_hash(1234567.125)),
  ('numeric, negative', scd2.row_hash(-0.00001234)),
  ('numeric, large', scd2.row_hash(1e40::numeric)),
  ('numeric, zero', scd2.row_hash(0.000)),
  ('numeric, NaN', scd2.row_hash('NaN'::numeric)),
  ('numeric, infinity', scd2.row_hash('Infinity'::numeric)),
  ('numeric, -infinity', scd2.row_hash('-Infinity'::numeric)),
  ('real', scd2.row_hash(0.5::real)),
  ('double precision', scd2.row_hash(0.1::double precision)),
  ('double precision, zero', scd2.row_hash('0'::double precision)),
  ('double precision, -0', scd2.row_hash('-0'::double precision)),
  ('double precision, NaN', scd2.row_hash('NaN'::double precision)),
  ('double precision, infinity', scd2.row_hash('Infinity'::double precision)),
  ('boolean, false', scd2.row_hash(false)),
  ('boolean, true', scd2.row_hash(true)),
  ('text', scd2.row_hash('abc'::text)),
  ('text, empty', scd2.row_hash(''::text)),
  ('varchar', scd2.row_hash('abc'::varchar(10))),
  ('char(n)', scd2.row_hash('abc'::char(10))),
  ('name', scd2.row_hash('abc'::name)),
  ('"char"', scd2.row_hash('a'::"char")),
  ('bytea', scd2.row_hash('\x00ff'::bytea)),
  ('uuid', scd2.row_hash('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)),
  ('date', scd2.row_hash('2026-06-12'::date)),
  ('date, BC', scd2.row_hash('0044-03-15 BC'::date)),
  ('date, infinity', scd2.row_hash('infinity'::date)),
  ('time', scd2.row_hash('12:34:56.789'::time)),
  ('timetz', scd2.row_hash('12:34:56+02'::timetz)),
  ('timestamp', scd2.row_hash('2026-06-12 12:34:56.789'::timestamp)),
  ('timestamp, BC', scd2.row_hash('0044-03-15 12:00:00 BC'::timestamp)),
  ('timestamp, infinity', scd2.row_hash('infinity'::timestamp)),
  ('timestamptz', scd2.row_hash('2026-06-12 12:34:56.789+00'::timestamptz)),
  ('timestamptz, -infinity', scd2.row_hash('-infinity'::timestamptz)),
  ('interval', scd2.row_hash('1 mon 2 days 03:00:00'::interval)),
  ('interval, negative', scd2.row_hash('-1 hour'::interval)),
  ('money', scd2.row_hash(12.34::money)),
  ('oid', scd2.row_hash(23::oid)),
  ('regtype', scd2.row_hash('pg_catalog.int4'::regtype)),
  ('xid', scd2.row_hash('7'::xid)),
  ('cid', scd2.row_hash('7'::cid)),
  ('xid8', scd2.row_hash('7'::xid8)),
  ('tid', scd2.row_hash('(1,2)'::tid)),
  ('pg_lsn', scd2.row_hash('16/B374D848'::pg_lsn)),
  ('aclitem', scd2.row_hash(makeaclitem(10, 10, 'SELECT', true))),
  ('macaddr', scd2.row_hash('08:00:2b:01:02:03'::macaddr)),
  ('macaddr8', scd2.row_hash('08:00:2b:01:02:03:04:05'::macaddr8)),
  ('inet', scd2.row_hash('192.168.1.5/24'::inet)),
  ('inet, version 6', scd2.row_hash('2001:db8::1'::inet)),
  ('cidr', scd2.row_hash('10.0.0.0/8'::cidr)),
  ('bit', scd2.row_hash(B'101')),
  ('varbit', scd2.row_hash('101010101'::varbit)),
  ('json', scd2.row_hash('{"b": 1.0, "a": [1]}'::json)),
  ('jsonb', scd2.row_hash('{"b": 1.0, "a": [1, null, true, "x"], "cc": {}}'::jsonb)),
  ('jsonb, scalar', scd2.row_hash('1.50'::jsonb)),
  ('jsonb, null', scd2.row_hash('null'::jsonb)),
  ('xml', scd2.row_hash('<a b="1">x</a>'::xml)),
  ('jsonpath', scd2.row_hash('$.a[*]'::jsonpath)),
  ('tsvector', scd2.row_hash('''b'':1A,2 ''a'' ''cc'':3C'::tsvector)),
  ('tsquery', scd2.row_hash('a & !b | c <2> d'::tsquery)),
  ('pg_snapshot', scd2.row_hash('10:20:10,14'::pg_snapshot)),
  ('point', scd2.row_hash('(1.5,-2)'::point)),
  ('line', scd2.row_hash('{1,2,3}'::line)),
  ('lseg', scd2.row_hash('[(1,2),(3,4)]'::lseg)),
  ('box', scd2.row_hash('(3,4),(1,2)'::box)),
  ('path', scd2.row_hash('[(1,2),(3,4)]'::path)),
  ('polygon', scd2.row_hash('((0,0),(1,0),(0,1))'::polygon)),
  ('circle', scd2.row_hash('<(1,2),0.1>'::circle)),
  ('enum', scd2.row_hash('happy'::mood)),
  ('domain', scd2.row_hash(5::small_int)),
  ('array', scd2.row_hash('{1,NULL,3}'::int[])),
  ('array, empty', scd2.row_hash('{}'::int[])),
  ('array, bounds', scd2.row_hash('[0:1][2:3]={{a,b},{c,d}}'::text[])),
  ('oidvector', scd2.row_hash('1 2'::oidvector)),
  ('int2vector', scd2.row_hash('1 2'::int2vector)),
  ('range', scd2.row_hash('[1,5)'::int4range)),
  ('range, empty', scd2.row_hash('empty'::int4range)),
  ('range, unbounded', scd2.row_hash('(,)'::numrange)),
  ('range of text', scd2.row_hash('[a,b]'::texts)),
  ('multirange', scd2.row_hash('{[1.0,2),(3,]}'::nummultirange)),
  ('multirange, empty', scd2.row_hash('{}'::nummultirange)),
  ('composite', scd2.row_hash(ROW(5, 'abc')::pair)),
  ('row', scd2.row_hash(ROW(5, NULL, ROW('abc'::text)))),
  ('null', scd2.row_hash(NULL::int)),
  ('three columns', scd2.row_hash(5, 'abc'::text, NULL::date)),
  ('long text', scd2.row_hash(repeat('0123456789', 100))),
  ('large text', scd2.row_hash(1, repeat('0123456789', 10000), 'x'::text)),
  ('large bytea', scd2.row_hash(repeat('0123456789', 300000)::bytea, 2))
) AS v (what, hash);

--
-- R12: values equal under their type's default btree or hash class hash
-- equally, and those that are not do not.  Every pair of these is tried.
--
CREATE TABLE sample (type text, value text);
INSERT INTO sample
SELECT type, unnest(samples) FROM (VALUES
  ('boolean', ARRAY['true', 'false']),
  ('smallint', '{0,1,-1,32767,-32768}'),
  ('integer', '{0,1,-1,2147483647,-2147483648}'),
  ('bigint', '{0,1,-1,9223372036854775807,-9223372036854775808}'),
  ('numeric', '{0,0.00,-0.0,1,1.0,1.000,10,10.0,100,1e4,10000.0,1e5,100000,-1,-1.0,0.1,0.10,0.0001,0.00001,0.000010,9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809,9223372036854775807.0,1e18,1e19,1e100,1e-100,NaN,Infinity,-Infinity,12345.6789,12345.67890,20000.0001}'),
  ('real', '{0,-0,1,1.5,0.1,1e-45,3e38,NaN,Infinity,-Infinity,-1.5}'),
  ('double precision', '{0,-0,1,1.5,0.1,5e-324,1e308,NaN,-NaN,Infinity,-Infinity,-1.5}'),
  ('text', ARRAY['', ' ', 'a', 'a ', 'A', 'ab', '1', '1.0']),
  ('varchar', ARRAY['', ' ', 'a', 'a ', 'A']),
  ('char(5)', ARRAY['', ' ', 'a', 'a ', 'a  ', 'A', ' a']),
  ('bpchar', ARRAY['', ' ', 'a', 'a ', 'a  ', 'A', ' a']),
  ('name', ARRAY['', 'a', 'a ', 'A']),
  ('"char"', ARRAY['', 'a', 'b', ' ']),
  ('bytea', ARRAY['\x', '\x00', '\x0000', '\x61', 'a']),
  ('uuid', ARRAY['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc999c0b4ef8bb6d6bb9bd380a11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12']),
  ('date', ARRAY['2000-01-01', '2000-01-02', '1999-12-31', '4713-01-01 BC', '5874897-12-31', 'infinity', '-infinity']),
  ('time', ARRAY['00:00', '24:00', '12:00', '12:00:00.000001']),
  ('timetz', ARRAY['12:00+00', '13:00+01', '12:00+01', '12:00:00+00:00', '00:00+00', '24:00+00']),
  ('timestamp', ARRAY['2000-01-01', '2000-01-01 00:00:00.000001', '1999-12-31 24:00', 'infinity', '-infinity', '4713-01-01 BC']),
  ('timestamptz', ARRAY['2000-01-01 00:00+00', '2000-01-01 01:00+01', '1999-12-31 18:00-06', '2000-01-01 00:00+01', 'infinity', '-infinity']),
  ('interval', ARRAY['1 mon', '30 days', '720 hours', '29 days 24 hours', '1 mon -1 day', '29 days', '1 year', '12 mons', '360 days', '365 days', '0', '1 day -24 hours', '-1 day', '-24 hours', '1 day -25 hours', '-1 hour', '-1 mon 30 days', '178000000 years', '-178000000 years']),
  ('money', ARRAY['0', '1.00', '1', '-1', '1.01']),
  ('oid', '{0,1,4294967295}'),
  ('xid', '{0,1,4294967295}'),
  ('cid', '{0,1,4294967295}'),
  ('xid8', '{0,1,4294967296}'),
  ('tid', '{"(0,1)","(1,1)","(1,0)","(0,1)"}'),
  ('pg_lsn', '{0/0,0/1,1/0,0/00000001}'),
  ('macaddr', ARRAY['08:00:2b:01:02:03', '08-00-2B-01-02-03', '0800.2b01.0203', '08:00:2b:01:02:04']),
  ('macaddr8', ARRAY['08:00:2b:ff:fe:01:02:03', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05']),
  ('inet', ARRAY['10.0.0.1', '10.0.0.1/32', '10.0.0.1/8', '10.0.0.0/8', '::1', '::1/128', '::10.0.0.1', '0.0.0.0/0', '::/0']),
  ('cidr', ARRAY['10.0.0.0/8', '10/8', '10.0.0.0/9', '10.0.0.0/32', '::/0', '0.0.0.0/0']),
  ('bit(3)', ARRAY['101', '100', '000']),
  ('varbit', ARRAY['', '0', '00', '1', '101', '1010', '10100000', '101000000']),
  ('jsonb', ARRAY['1', '1.0', '1.00', '[1]', '[1.0]', '"1"', 'null', '[null]', '[]', '{}', '[[]]', '[{}]', 'true', 'false', '{"a":1,"b":2}', '{"b":2.0, "a":1}', '{"a":1,"b":2,"a":1.0}', '{"a":{"b":2}}', '{"a":null}', '{"aa":1,"b":2}', '[1,[2]]', '[[1],2]', '[1,2]', '""', '[""]', '10', '1e1', '{"":""}']),
  ('tsvector', ARRAY['a b', 'b a', 'a:1 b', 'a:1A b', 'a:1,2', 'a:2,1', 'a', '', 'ab', 'a:1B b', 'aa b']),
  ('tsquery', ARRAY['a & b', 'b & a', 'a | b', '!a', 'a', 'a:*', 'a:A', 'a <-> b', 'a <2> b', '(a & b) & c', 'a & (b & c)', '']),
  ('int[]', ARRAY['{}', '{1}', '{1,2}', '{{1,2}}', '{{1},{2}}', '[0:1]={1,2}', '[1:2]={1,2}', '{NULL}', '{1,NULL}', '{NULL,1}', '{0}']),
  ('numeric[]', ARRAY['{1.0}', '{1}', '{1.00,2}', '{NaN}']),
  ('float8[]', ARRAY['{0}', '{-0}', '{NaN}']),
  ('char(3)[]', ARRAY['{a}', '{"a "}', '{A}']),
  ('text[]', ARRAY['{a,b}', '{"a,b"}', '{ab}', '{"",ab}', '{ab,""}', '{NULL}', '{"NULL"}']),
  ('oidvector', ARRAY['', '1', '1 2', '2 1']),
  ('int4range', ARRAY['[1,5)', '[1,4]', '(0,5)', 'empty', '[3,3)', '(,)', '[1,)', '(,5)', '[1,1]']),
  ('numrange', ARRAY['[1,5)', '[1.0,5.00)', '[1,5]', '(1,5)', '(1,5]', 'empty', '(5,5)', '(,)', '[1,)', '(,1]']),
  ('tstzrange', ARRAY['[2000-01-01 00:00+00,)', '[2000-01-01 01:00+01,)', '[2000-01-01 00:00+00,infinity)', '(-infinity,)', '(,)']),
  ('int4multirange', ARRAY['{}', '{[1,5)}', '{[1,3),[3,5)}', '{[1,2),[3,5)}', '{(,)}', '{empty}']),
  ('nummultirange', ARRAY['{[1,2],[3,4]}', '{[1.0,2.0],[3,4]}', '{[1,2),[3,4]}']),
  ('mood', '{sad,ok,happy}'),
  ('mood[]', '{"{sad}","{sad,ok}","{}"}'),
  ('small_int', '{1,01,2}'),
  ('pair', ARRAY['(1,a)', '(01,a)', '(1,"a ")', '(,a)', '(1,)', '(1,"")', '(,)'])
) AS s (type, samples);

INSERT INTO sample
SELECT 'aclitem', format('%1$I=%2$s/%1$I', current_user, rights) FROM unnest('{r,w,rw,wr,r*,""}'::text[]) rights;

-- the comparison that scd2 uses inside, without hashing
CREATE FUNCTION same(anyelement, anyelement) RETURNS boolean
  LANGUAGE C IMMUTABLE AS 'scd2', 'scd2_same';

-- equal by =, and not the same by hash or in comparison; or the other way round
CREATE FUNCTION disagreements(type text) RETURNS TABLE (a text, b text, equal boolean)
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY EXECUTE format(
    'SELECT a.value, b.value, a.value::%1$s = b.value::%1$s
       FROM sample a JOIN sample b USING (type)
      WHERE type = %1$L
        AND ((a.value::%1$s = b.value::%1$s)
              IS DISTINCT FROM (scd2.row_hash(a.value::%1$s) = scd2.row_hash(b.value::%1$s))
          OR (a.value::%1$s = b.value::%1$s)
              IS DISTINCT FROM same(a.value::%1$s, b.value::%1$s))',
    type);
END $$;
SET client_min_messages = warning;		-- a tsquery without lexemes is meant
SELECT type, d.* FROM (SELECT DISTINCT type FROM sample) t, disagreements(type) d
ORDER BY 1, 2, 3;
RESET client_min_messages;
SELECT count(*) AS values_tried, count(DISTINCT type) AS types FROM sample;
-- every built-in type with such a class is among them
SELECT t.oid::regtype AS untried
FROM pg_type t JOIN pg_opclass c ON c.opcintype = t.oid AND c.opcdefault
     JOIN pg_am m ON m.oid = c.opcmethod AND m.amname IN ('btree', 'hash')
WHERE t.typtype = 'b'
  AND t.typnamespace = 'pg_catalog'::regnamespace
  AND t.oid NOT IN (SELECT to_regtype(type) FROM sample)
ORDER BY 1;

-- the same in other types: integers and integral numerics, texts, floats,
-- inet and cidr, bit and varbit, domains; and nothing else
SELECT what, same FROM (VALUES
  ('smallint, integer', scd2.row_hash(5::smallint) = scd2.row_hash(5)),
  ('integer, bigint', scd2.row_hash(5) = scd2.row_hash(5::bigint)),
  ('integer, numeric', scd2.row_hash(5) = scd2.row_hash(5.00)),
  ('integer, domain over a domain', scd2.row_hash(5) = scd2.row_hash(5::small_int)),
  ('text, varchar', scd2.row_hash('a'::text) = scd2.row_hash('a'::varchar)),
  ('text, char(n)', scd2.row_hash('a'::text) = scd2.row_hash('a'::char(9))),
  ('text, name', scd2.row_hash('a'::text) = scd2.row_hash('a'::name)),
  ('text, literal', scd2.row_hash('a'::text) = scd2.row_hash('a')),
  ('text, other collation', scd2.row_hash('a'::text COLLATE "C") = scd2.row_hash('a'::text COLLATE "POSIX")),
  ('real, double precision', scd2.row_hash(0.5::real) = scd2.row_hash(0.5::double precision)),
  ('inet, cidr', scd2.row_hash('10.0.0.0/8'::inet) = scd2.row_hash('10.0.0.0/8'::cidr)),
  ('bit, varbit', scd2.row_hash(B'101'::bit(3)) = scd2.row_hash(B'101'::varbit)),
  ('integer[], numeric[]', scd2.row_hash('{1,2}'::int[]) = scd2.row_hash('{1.0,2}'::numeric[])),
  ('mood[], domain', scd2.row_hash('{sad}'::mood[]) = scd2.row_hash('{sad}'::moods)),
  ('composite, row', scd2.row_hash(ROW(1, 'a')::pair) = scd2.row_hash(ROW(1.0, 'a'::varchar))),
  ('oid[], oidvector', scd2.row_hash('[0:1]={1,2}'::oid[]) = scd2.row_hash('1 2'::oidvector))
) AS v (what, same) WHERE NOT same;
SELECT what, same FROM (VALUES
  ('integer, text', scd2.row_hash(5) = scd2.row_hash('5'::text)),
  ('integer, double precision', scd2.row_hash(5) = scd2.row_hash(5::double precision)),
  ('boolean, integer', scd2.row_hash(true) = scd2.row_hash(1)),
  ('text, bytea', scd2.row_hash('a'::text) = scd2.row_hash('a'::bytea)),
  ('text, null', scd2.row_hash(''::text) = scd2.row_hash(NULL::text)),
  ('jsonb null, null', scd2.row_hash('null'::jsonb) = scd2.row_hash(NULL::jsonb)),
  ('empty array, null', scd2.row_hash('{}'::int[]) = scd2.row_hash(NULL::int[])),
  ('timestamp, timestamptz', scd2.row_hash('2000-01-01'::timestamp) = scd2.row_hash('2000-01-01 00:00+00'::timestamptz)),
  ('value, array of it', scd2.row_hash(1) = scd2.row_hash('{1}'::int[])),
  ('value, row of it', scd2.row_hash(1) = scd2.row_hash(ROW(1)))
) AS v (what, same) WHERE same;

--
-- R12: nulls and the bounds of fields cannot be mistaken
--
SELECT count(DISTINCT hash), count(*) FROM (VALUES
  (scd2.row_hash('ab'::text, 'c'::text)),
  (scd2.row_hash('a'::text, 'bc'::text)),
  (scd2.row_hash('abc'::text)),
  (scd2.row_hash('abc'::text, ''::text)),
  (scd2.row_hash(''::text, 'abc'::text)),
  (scd2.row_hash('abc'::text, NULL::text)),
  (scd2.row_hash(NULL::text, 'abc'::text)),
  (scd2.row_hash(NULL::text)),
  (scd2.row_hash(NULL::text, NULL::text)),
  (scd2.row_hash(ROW('ab'::text, 'c'::text))),
  (scd2.row_hash(ROW('ab'::text), 'c'::text)),
  (scd2.row_hash(ROW('ab'::text), ROW('c'::text))),
  (scd2.row_hash(ARRAY['ab', 'c'])),
  (scd2.row_hash(ARRAY['ab'], 'c'::text)),
  (scd2.row_hash(ARRAY['ab', NULL], 'c'::text)),
  (scd2.row_hash(ARRAY['ab'], NULL::text, 'c'::text)),
  (scd2.row_hash('{"ab":"c"}'::jsonb)),
  (scd2.row_hash('["ab","c"]'::jsonb)),
  (scd2.row_hash('["abc"]'::jsonb))
) AS v (hash);

--
-- hard case 8: types without such a class change as their output does
--
SELECT what, same FROM (VALUES
  ('box moved, of equal area', scd2.row_hash('(1,1),(0,0)'::box) = scd2.row_hash('(3,3),(2,2)'::box)),
  ('circle moved', scd2.row_hash('<(0,0),1>'::circle) = scd2.row_hash('<(1,0),1>'::circle)),
  ('point within the fuzz', scd2.row_hash('(0,0)'::point) = scd2.row_hash('(0,1e-9)'::point)),
  ('path closed', scd2.row_hash('[(0,0),(1,1)]'::path) = scd2.row_hash('((0,0),(1,1))'::path)),
  ('polygon turned', scd2.row_hash('((0,0),(1,0),(0,1))'::polygon) = scd2.row_hash('((1,0),(0,1),(0,0))'::polygon)),
  ('json spelled anew', scd2.row_hash('{"a":1}'::json) = scd2.row_hash('{"a": 1}'::json)),
  ('xml spelled anew', scd2.row_hash('<a/>'::xml) = scd2.row_hash('<a></a>'::xml)),
  ('box', scd2.row_hash('(1,1),(0,0)'::box) <> scd2.row_hash('(0,0),(1,1)'::box)),
  ('json', scd2.row_hash('{"a":1}'::json) <> scd2.row_hash('{"a":1}'::json))
) AS v (what, same) WHERE same;

-- comparison agrees there, too, and null is the same as null only
SELECT same('(1,1),(0,0)'::box, '(3,3),(2,2)'::box) AS box, same('{"a":1}'::json, '{"a": 1}'::json) AS json,
       same('{"a":1}'::json, '{"a":1}'::json) AS json, same('(0,0)'::point, '(0,1e-9)'::point) AS point,
       same(NULL::int, NULL) AS null, same(NULL::text, '') AS null;

--
-- R12: no setting enters
--
CREATE TABLE things (
  i int, f float8, r real, d date, ts timestamp, tz timestamptz, iv interval, m money,
  b bytea, p point, c circle, tzr tstzrange, ra tstzrange[], j json, e mood, pr pair,
  rt regtype, x numeric, tzc text);
INSERT INTO things VALUES (
  1, 0.1, 0.1, '2026-03-04', '2026-03-04 05:06:07', '2026-03-04 05:06:07+00', '1 mon 2 days', 12.34::numeric,
  '\x5c00', '(0.1,0.2)', '<(0.1,0.2),0.3>', '[2026-03-04 05:06:07+00,)', '{"[2026-03-04 05:06:07+00,)"}', '{}', 'ok', '(1,a)',
  'row_hash.mood', 1.10, 'x');
CREATE VIEW things_hash AS
SELECT scd2.row_hash(t.*) AS columns, scd2.row_hash(t) AS composite,
       scd2.row_hash(p, c) AS geometry, scd2.surrogate_key(iv, tzr, ra, p, b, ts, f) AS sk
FROM things t;
CREATE TABLE pinned AS SELECT * FROM things_hash;
SET datestyle = 'SQL, DMY';
SET intervalstyle = 'sql_standard';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
SET timezone = 'America/New_York';
SET search_path = pg_temp;
SET quote_all_identifiers = on;
SELECT count(*) FROM (TABLE row_hash.things_hash INTERSECT TABLE row_hash.pinned) x;
-- and they are as they were
SELECT current_setting('datestyle'), current_setting('timezone'), current_setting('extra_float_digits'),
       current_setting('search_path');
RESET datestyle;
RESET intervalstyle;
RESET extra_float_digits;
RESET bytea_output;
RESET timezone;
RESET quote_all_identifiers;
SET search_path = row_hash, public;

-- base types from outside pg_catalog go by their output, whatever they call
-- equal, and their output by the pinned settings
SET client_min_messages = warning;
CREATE TYPE word;
CREATE FUNCTION word_in(cstring) RETURNS word LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION word_out(word) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
CREATE TYPE word (INPUT = word_in, OUTPUT = word_out, LIKE = text);
CREATE TYPE instant;
CREATE FUNCTION instant_in(cstring, oid, int) RETURNS instant LANGUAGE internal STABLE STRICT AS 'timestamptz_in';
CREATE FUNCTION instant_out(instant) RETURNS cstring LANGUAGE internal STABLE STRICT AS 'timestamptz_out';
CREATE TYPE instant (INPUT = instant_in, OUTPUT = instant_out, LIKE = timestamptz);
RESET client_min_messages;
SELECT scd2.row_hash('a'::word) = scd2.row_hash('A'::word) AS word,
       scd2.row_hash('1'::word) = scd2.row_hash('1'::json) AS output,
       scd2.row_hash('{1,2}'::word[]) = scd2.row_hash(ARRAY['1'::json, '2']) AS elements,
       scd2.surrogate_key('1'::word) = scd2.surrogate_key('1') AS key;
CREATE TABLE instants AS SELECT '2026-06-12 00:00+00'::instant AS i;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'Postgres';
SELECT scd2.row_hash(i) = scd2.row_hash('2026-06-12 00:00:00+00'::word) AS output,
       scd2.surrogate_key(i) = scd2.surrogate_key('2026-06-12 00:00:00+00') AS key FROM instants;
RESET timezone;
RESET datestyle;

--
-- R12: enums go by their label, not their OID; renamed, it is another value
--
CREATE TYPE mood2 AS ENUM ('happy', 'sad');
SELECT scd2.row_hash('sad'::mood) = scd2.row_hash('sad'::mood2) AS same;
-- also where plpgsql keeps the expression
DO $$
DECLARE
  before bytea; after bytea; value mood2 := 'sad';
BEGIN
  FOR i IN 1..2 LOOP
    after := scd2.row_hash(value);
    IF i = 1 THEN
      before := after;
      EXECUTE 'ALTER TYPE mood2 RENAME VALUE ''sad'' TO ''blue''';
    END IF;
  END LOOP;
  RAISE NOTICE 'as text: %, %', before = scd2.row_hash('sad'::text), after = scd2.row_hash('blue'::text);
END $$;

--
-- R12: dropped columns of a composite do not count (hard case 9)
--
CREATE TYPE grown AS (a int, x date, b text);
CREATE TABLE growing (id int, g grown);
INSERT INTO growing VALUES (1, '(5,2026-01-01,abc)');
ALTER TYPE grown DROP ATTRIBUTE x;
SELECT scd2.row_hash(g) = scd2.row_hash(ROW(5, 'abc')::pair) AS same FROM growing;
ALTER TYPE grown ADD ATTRIBUTE y int;
SELECT scd2.row_hash(g) = scd2.row_hash(ROW(5, 'abc', NULL)) AS same FROM growing;
-- rows of several shapes in one column of records
SELECT DISTINCT scd2.row_hash(r) = scd2.row_hash(s) AS same
FROM (SELECT CASE n % 2 WHEN 0 THEN ROW(n) ELSE ROW(n, 'x'::text) END AS r,
             CASE n % 2 WHEN 0 THEN ROW(n::bigint) ELSE ROW(n::numeric, 'x'::varchar) END AS s
        FROM generate_series(1, 20) n) x;
SELECT scd2.row_hash(ARRAY[ROW(1, 'a'), ROW(2, 'b')]) = scd2.row_hash(ARRAY[ROW(1, 'a')::pair, ROW(2, 'b')::pair]) AS same;

--
-- R12: a value is the same plain, compressed, or in a TOAST table
--
CREATE TABLE toasted (how text, t text, b bytea, n numeric, j jsonb, a text[], ts tsvector);
INSERT INTO toasted
SELECT how, v, v::bytea, repeat('12345678', 600)::numeric, to_jsonb(v), ARRAY[v, v], ('a:1 ' || left(v, 2000))::tsvector
FROM unnest(ARRAY['plain', 'compressed', 'external']) how, repeat('xyz ', 5000) v;
CREATE TABLE stored (LIKE toasted);
INSERT INTO stored SELECT * FROM toasted WHERE how = 'compressed';
ALTER TABLE stored ALTER t SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER n SET STORAGE EXTERNAL,
                   ALTER j SET STORAGE EXTERNAL, ALTER a SET STORAGE EXTERNAL;
INSERT INTO stored SELECT 'external', t || '', b || '', n + 0, j || '[]', a || '{}'::text[], ts || '' FROM toasted WHERE how = 'external';
UPDATE stored SET j = to_jsonb(t) WHERE how = 'external';
SELECT how, pg_column_size(t) AS t, pg_column_size(b) AS b, pg_column_size(a) AS a FROM stored ORDER BY how;
SELECT count(DISTINCT scd2.row_hash(t, b, n, j, a, ts)) AS hashes, count(*)
FROM (TABLE stored
      UNION ALL
      SELECT 'plain', v, v::bytea, repeat('12345678', 600)::numeric, to_jsonb(v), ARRAY[v, v], ('a:1 ' || left(v, 2000))::tsvector
      FROM repeat('xyz ', 5000) v) s;

SELECT count(*) FILTER (WHERE same(s.t, x.t) AND same(s.b, x.b) AND same(s.n, x.n) AND same(s.j, x.j) AND same(s.a, x.a)),
       count(*) FILTER (WHERE same(s.t, x.t || 'x') OR same(s.b, substr(x.b, 2) || '1') OR same(s.t, overlay(x.t placing 'y' from 7))), count(*)
FROM stored s, stored x;

--
-- VARIADIC arrays spread, as for concat() and format()
--
SELECT scd2.row_hash(VARIADIC ARRAY[1, 2, NULL]) = scd2.row_hash(1, 2, NULL::int) AS same,
       scd2.row_hash(VARIADIC '{{a,b},{c,d}}'::text[]) = scd2.row_hash('a', 'b', 'c', 'd') AS same,
       scd2.row_hash(VARIADIC '{sad}'::moods) = scd2.row_hash('sad') AS same,
       scd2.row_hash(VARIADIC NULL::int[]) IS NULL AS null,
       scd2.row_hash(VARIADIC '{}'::int[]) AS no_columns;
-- arrays of several lengths through one call
SELECT count(*) FROM generate_series(0, 40) n, LATERAL (SELECT array_agg(x) a FROM generate_series(1, n) x) s
WHERE scd2.row_hash(VARIADIC coalesce(a, '{}')) IS DISTINCT FROM
      (SELECT scd2.row_hash(VARIADIC coalesce(array_agg(x::numeric), '{}')) FROM generate_series(1, n) x);
SELECT scd2.row_hash();
SELECT scd2.row_hash(VARIADIC 5);

--
-- Volatility: indexes and generated columns over it are possible (hard case 24)
--
SELECT proname, provolatile, proparallel, proisstrict, obj_description(oid) AS comment
FROM pg_proc WHERE pronamespace = 'scd2'::regnamespace AND proname IN ('row_hash', 'surrogate_key')
ORDER BY 1;
CREATE TABLE indexed (a int, b text, h bytea GENERATED ALWAYS AS (scd2.row_hash(a, b)) STORED);
CREATE INDEX ON indexed (scd2.row_hash(b));
INSERT INTO indexed VALUES (1, 'x'), (2, NULL);
SELECT count(*) FROM indexed WHERE h = scd2.row_hash(a, b);
-- and parallel workers compute the same
CREATE TABLE many AS SELECT n, 'n' || n AS t, ARRAY['ok'::mood] AS e, '(0.1,1)'::point AS p FROM generate_series(1, 20000) n;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET extra_float_digits = 0;
EXPLAIN (COSTS OFF) SELECT sum(get_byte(scd2.row_hash(n, t, e, p), 3)) FROM many;
CREATE TABLE serial_sum AS SELECT 0 AS workers, sum(get_byte(scd2.row_hash(n, t, e, p), 3)) FROM many;
SET max_parallel_workers_per_gather = 0;
INSERT INTO serial_sum SELECT 1, sum(get_byte(scd2.row_hash(n, t, e, p), 3)) FROM many;
SELECT count(DISTINCT sum) FROM serial_sum;
RESET ALL;

SET client_min_messages = warning;
DROP SCHEMA row_hash CASCADE;
