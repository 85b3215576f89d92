-- scd2.surrogate_key: what Apache Spark's xxhash64 computes (R13, R14).
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
RESET client_min_messages;
CREATE SCHEMA surrogate_key;
SET search_path = surrogate_key, public;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small_int AS int CHECK (VALUE < 100);
CREATE DOMAIN code AS char(9);

--
-- R14: these numbers never change.  Each was computed by Apache Spark from the
-- expression behind it; test/peers/spark.sh asks it again.
--
CREATE TABLE vector (what text, mine bigint, spark bigint);
INSERT INTO vector VALUES
  ('smallint', scd2.surrogate_key(5::smallint), 504019808641096632), -- spark: xxhash64(cast(5 as smallint))
  ('integer', scd2.surrogate_key(5), 504019808641096632), -- spark: xxhash64(5)
  ('integer, smallest', scd2.surrogate_key('-2147483648'::int), 2073849959933241805), -- spark: xxhash64(-2147483648)
  ('bigint', scd2.surrogate_key(5::bigint), 6251837290343458373), -- spark: xxhash64(5L)
  ('bigint, largest', scd2.surrogate_key(9223372036854775807), -3246596055638297850), -- spark: xxhash64(9223372036854775807L)
  ('boolean, true', scd2.surrogate_key(true), -6698625589789238999), -- spark: xxhash64(true)
  ('boolean, false', scd2.surrogate_key(false), 3614696996920510707), -- spark: xxhash64(false)
  ('text', scd2.surrogate_key('abc'::text), 1423657621850124518), -- spark: xxhash64('abc')
  ('text, empty', scd2.surrogate_key(''::text), -7444071767201028348), -- spark: xxhash64('')
  ('text, 40 bytes', scd2.surrogate_key('0123456789012345678901234567890123456789'::text), 5508798028064852934), -- spark: xxhash64('0123456789012345678901234567890123456789')
  ('varchar', scd2.surrogate_key('abc'::varchar(10)), 1423657621850124518), -- spark: xxhash64('abc')
  ('char(n)', scd2.surrogate_key('abc'::char(10)), 1423657621850124518), -- spark: xxhash64('abc')
  ('name', scd2.surrogate_key('abc'::name), 1423657621850124518), -- spark: xxhash64('abc')
  ('literal', scd2.surrogate_key('abc'), 1423657621850124518), -- spark: xxhash64('abc')
  ('real', scd2.surrogate_key(1.5::real), 6163473420726370430), -- spark: xxhash64(cast(1.5 as float))
  ('real, -0', scd2.surrogate_key('-0'::real), 3614696996920510707), -- spark: xxhash64(cast('-0' as float))
  ('real, NaN', scd2.surrogate_key('NaN'::real), 2692338816207849720), -- spark: xxhash64(cast('NaN' as float))
  ('double precision', scd2.surrogate_key(0.1::double precision), -4684694357984311926), -- spark: xxhash64(0.1D)
  ('double precision, -0', scd2.surrogate_key('-0'::double precision), -5252525462095825812), -- spark: xxhash64(cast('-0' as double))
  ('double precision, NaN', scd2.surrogate_key('NaN'::double precision), -3127944061524951246), -- spark: xxhash64(cast('NaN' as double))
  ('double precision, -infinity', scd2.surrogate_key('-Infinity'::double precision), 5326262080505358431), -- spark: xxhash64(cast('-Infinity' as double))
  ('bytea', scd2.surrogate_key('\x00ff'::bytea), 879945414100663330), -- spark: xxhash64(X'00FF')
  ('date', scd2.surrogate_key('2026-06-12'::date), -3650320683639828905), -- spark: xxhash64(date'2026-06-12')
  ('date, BC', scd2.surrogate_key('0044-03-15 BC'::date), 3874184545744611490), -- spark: xxhash64(date_from_unix_date(-735160))
  ('timestamp', scd2.surrogate_key('2026-06-12 12:34:56.789'::timestamp), 3843439038997116668), -- spark: xxhash64(cast(timestamp_micros(1781267696789000) as timestamp_ntz))
  ('timestamptz', scd2.surrogate_key('2026-06-12 12:34:56.789+00'::timestamptz), 3843439038997116668), -- spark: xxhash64(timestamp_micros(1781267696789000))
  ('timestamptz, BC', scd2.surrogate_key('0044-03-15 12:00:00+00 BC'::timestamptz), 2960499487479451611), -- spark: xxhash64(timestamp_micros(-63517780800000000))
  ('timestamptz, Spark''s last', scd2.surrogate_key('294247-01-10 04:00:54.775807+00'::timestamptz), -3246596055638297850), -- spark: xxhash64(timestamp_micros(9223372036854775807))
  ('null', scd2.surrogate_key(NULL::int), 42), -- spark: xxhash64(cast(null as int))
  ('key and time', scd2.surrogate_key(1, 'abc'::text, '2026-06-12 12:34:56.789+00'::timestamptz), 9047703257960375104), -- spark: xxhash64(1, 'abc', timestamp_micros(1781267696789000))
  ('key with a null', scd2.surrogate_key(1, NULL::text, '2026-06-12 12:34:56.789+00'::timestamptz), -5984805831977138850), -- spark: xxhash64(1, null, timestamp_micros(1781267696789000))
  ('numeric', scd2.surrogate_key(1.500), 3258831802764358886), -- spark: xxhash64('1.5')
  ('numeric, integral', scd2.surrogate_key(100.00), -1920172158692255954), -- spark: xxhash64('100')
  ('numeric, small', scd2.surrogate_key(-0.00001234), -7272886271917642657), -- spark: xxhash64('-0.00001234')
  ('numeric, long', scd2.surrogate_key(12345678901234567890.000001), 3676748908818978874), -- spark: xxhash64('12345678901234567890.000001')
  ('numeric, large', scd2.surrogate_key(1e25::numeric), 6356413236241797949), -- spark: xxhash64('10000000000000000000000000')
  ('numeric, zero', scd2.surrogate_key(0.00), -6091425354261976140), -- spark: xxhash64('0')
  ('numeric, NaN', scd2.surrogate_key('NaN'::numeric), 8952236323706399056), -- spark: xxhash64('NaN')
  ('numeric, -infinity', scd2.surrogate_key('-Infinity'::numeric), -881380223122208583), -- spark: xxhash64('-Infinity')
  ('uuid', scd2.surrogate_key('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid), 9070157572425109050), -- spark: xxhash64('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')
  ('enum', scd2.surrogate_key('happy'::mood), 3044319753066043397), -- spark: xxhash64('happy')
  ('domain', scd2.surrogate_key(5::small_int), 504019808641096632), -- spark: xxhash64(5)
  ('domain over char(n)', scd2.surrogate_key('abc'::code), 1423657621850124518), -- spark: xxhash64('abc')
  ('date, infinity', scd2.surrogate_key('infinity'::date), 6417970974305541021), -- spark: xxhash64('infinity')
  ('timestamptz, -infinity', scd2.surrogate_key('-infinity'::timestamptz), 5800466243169072366), -- spark: xxhash64('-infinity')
  ('time', scd2.surrogate_key('12:34:56'::time), -8688734839049015788), -- spark: xxhash64('12:34:56')
  ('interval', scd2.surrogate_key('1 day 2 hours'::interval), -5315218028077878608), -- spark: xxhash64('1 day 02:00:00')
  ('inet', scd2.surrogate_key('10.0.0.1'::inet), 7428719482647870432), -- spark: xxhash64('10.0.0.1')
  ('jsonb', scd2.surrogate_key('{"a": 1}'::jsonb), 8972570062050718570), -- spark: xxhash64('{"a": 1}')
  ('array', scd2.surrogate_key('{1,2}'::int[]), -5773916301240897665), -- spark: xxhash64('{1,2}')
  ('"char"', scd2.surrogate_key('a'::"char"), -8582455328737087284); -- spark: xxhash64('a')
SELECT what, mine, spark FROM vector WHERE mine IS DISTINCT FROM spark;
SELECT count(*) FROM vector;

--
-- R13: values equal to each other have one key
--
SELECT what, same FROM (VALUES
  ('numeric scale', scd2.surrogate_key(1.50) = scd2.surrogate_key(1.5)),
  ('char(n) padding', scd2.surrogate_key('a'::char(5)) = scd2.surrogate_key('a'::char(9))),
  ('zeros', scd2.surrogate_key('-0'::float8) = scd2.surrogate_key('0'::float8)),
  ('NaNs', scd2.surrogate_key('-NaN'::float8) = scd2.surrogate_key('NaN'::float8)),
  ('spelling of uuid', scd2.surrogate_key('{a0eebc999c0b4ef8bb6d6bb9bd380a11}'::uuid) =
                       scd2.surrogate_key('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid)),
  ('zone of timestamptz', scd2.surrogate_key('2026-06-12 00:00+00'::timestamptz) =
                          scd2.surrogate_key('2026-06-12 02:00+02'::timestamptz))
) AS v (what, same) WHERE NOT same;

-- columns are chained: their order counts, and so do their bounds; a null does
-- not, which is Spark's way (keys are never null)
SELECT scd2.surrogate_key(1, 2) = scd2.surrogate_key(2, 1) AS order_lost,
       scd2.surrogate_key('ab'::text, 'c'::text) = scd2.surrogate_key('a'::text, 'bc'::text) AS bounds_lost,
       scd2.surrogate_key(1, NULL::int) = scd2.surrogate_key(1) AS null_skipped;

-- no setting enters
SET timezone = 'Asia/Tokyo';
SET datestyle = 'German';
SET intervalstyle = 'iso_8601';
SET extra_float_digits = -15;
SET bytea_output = 'escape';
TRUNCATE vector;
INSERT INTO vector VALUES
  ('real', scd2.surrogate_key(1.5::real), 6163473420726370430),
  ('double precision', scd2.surrogate_key(0.1::double precision), -4684694357984311926),
  ('bytea', scd2.surrogate_key('\x00ff'::bytea), 879945414100663330),
  ('date', scd2.surrogate_key('2026-06-12'::date), -3650320683639828905),
  ('timestamp', scd2.surrogate_key('2026-06-12 12:34:56.789'::timestamp), 3843439038997116668),
  ('timestamptz', scd2.surrogate_key('2026-06-12 12:34:56.789+00'::timestamptz), 3843439038997116668),
  ('numeric', scd2.surrogate_key(1.500), 3258831802764358886),
  ('interval', scd2.surrogate_key('1 day 2 hours'::interval), -5315218028077878608);
SELECT what, mine, spark FROM vector WHERE mine IS DISTINCT FROM spark;
RESET timezone;
RESET datestyle;
RESET intervalstyle;
RESET extra_float_digits;
RESET bytea_output;

--
-- R13: infinities, and times beyond Spark's last, meet no other value
--
SELECT count(DISTINCT scd2.surrogate_key(ts::timestamptz)) AS timestamps, count(*)
FROM unnest('{infinity,-infinity,294247-01-10 04:00:54.775807+00,294247-01-10 04:00:54.775808+00,294276-12-31 23:59:59.999999+00,4714-11-24 BC,1970-01-01}'::text[]) ts;
SELECT count(DISTINCT scd2.surrogate_key(d::date)) AS dates, count(*)
FROM unnest('{infinity,-infinity,5874897-12-31,4714-11-24 BC,1970-01-01}'::text[]) d;

--
-- VARIADIC arrays spread, as for concat() and format()
--
SELECT scd2.surrogate_key(VARIADIC '{a,b}'::text[]) = scd2.surrogate_key('a', 'b') AS same,
       scd2.surrogate_key(VARIADIC '{1,NULL,2}'::int[]) = scd2.surrogate_key(1, NULL::int, 2) AS same,
       scd2.surrogate_key(VARIADIC NULL::int[]) IS NULL AS null,
       scd2.surrogate_key(VARIADIC '{}'::int[]) AS seed;
SELECT scd2.surrogate_key();
SELECT scd2.surrogate_key(VARIADIC 'a'::text);

--
-- R13: widening a key column changes no key.  The entry points that generated
-- SQL uses take the types at registration first.
--
CREATE FUNCTION key_as(regtype[], VARIADIC "any") RETURNS bigint
  LANGUAGE C IMMUTABLE AS 'scd2', 'scd2_surrogate_key_as';
CREATE FUNCTION uuid_as(regtype[], VARIADIC "any") RETURNS uuid
  LANGUAGE C IMMUTABLE AS 'scd2', 'scd2_surrogate_uuid_as';

-- A value before and after the change of its column's type: one key, both ways.
CREATE TABLE widened (what text, before bigint, after bigint, before_uuid uuid, after_uuid uuid);
CREATE PROCEDURE widen(registered text, value text, now text)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'INSERT INTO widened SELECT %1$L, scd2.surrogate_key(%2$L::%3$s, 7), key_as(ARRAY[%3$L::regtype, ''int''], %2$L::%3$s::%4$s, 7),
       uuid_as(ARRAY[%3$L::regtype, ''int''], %2$L::%3$s, 7), uuid_as(ARRAY[%3$L::regtype, ''int''], %2$L::%3$s::%4$s, 7)',
    format('%s %s as %s', registered, value, now), value, registered, now);
END $$;
DO $$
DECLARE r record;
BEGIN
  FOR r IN SELECT registered, value, now FROM (VALUES
      ('smallint', '{0,5,-32768,32767}', '{smallint,integer,bigint,numeric,real,float8,text,varchar,char(9)}'),
      ('integer', '{0,5,-2147483648,2147483647}', '{integer,bigint,numeric,float8,text,varchar,char(12)}'),
      ('bigint', '{0,5,-9223372036854775808,9223372036854775807}', '{bigint,numeric,text}'),
      ('bigint', '{0,9007199254740992,-5}', '{float8}'),
      ('numeric', '{0,5,-5,1.50,0.00,0.001,1e20,NaN,Infinity}', '{numeric,text,varchar}'),
      ('numeric', '{0,5,-5,1.50,0.001,1e20,NaN}', '{float8}'),
      ('numeric', '{5,-5}', '{integer,bigint}'),
      ('real', '{0,0.1,1.5,-3e38,1e-40,NaN,Infinity}', '{real,float8,text}'),
      ('float8', '{0,0.1,1.5,1e300,5e-324,NaN,-Infinity}', '{float8,text}'),
      ('float8', '{0,5,0.1,-2.5}', '{numeric,text}'),
      ('boolean', '{true,false}', '{boolean,integer,text}'),
      ('date', '{2026-06-12,0044-03-15 BC,infinity,-infinity}', '{date,timestamp}'),
      ('timestamp', '{2026-06-12 00:00,infinity}', '{timestamp,date}'),
      ('uuid', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{uuid,text,varchar}'),
      ('mood', '{sad,ok}', '{mood,text,varchar}'),
      ('small_int', '{5}', '{integer,bigint,text}'),
      ('varchar', '{abc,"",5}', '{varchar,text}'),
      ('varchar', '{abc}', '{char(5),name}'),
      ('code', '{abc}', '{text,varchar}'),
      ('text', '{5,-7}', '{integer,bigint,numeric}'),
      ('text', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{uuid}')
    ) AS v (registered, samples, types), unnest(samples::text[]) value, unnest(types::text[]) now
  LOOP
    CALL widen(r.registered, r.value, r.now);
  END LOOP;
END $$;
SELECT * FROM widened WHERE before IS DISTINCT FROM after OR before_uuid IS DISTINCT FROM after_uuid;
SELECT count(*) AS tried FROM widened;

-- timestamp and timestamptz in UTC
SELECT key_as('{timestamp}', '2026-06-12 05:00+00'::timestamptz) = scd2.surrogate_key('2026-06-12 05:00'::timestamp) AS same,
       key_as('{date}', '2026-06-12 00:00+00'::timestamptz) = scd2.surrogate_key('2026-06-12'::date) AS same,
       uuid_as('{timestamp}', '2026-06-12 05:00+00'::timestamptz) = uuid_as('{timestamp}', '2026-06-12 05:00'::timestamp) AS same;

-- what the registered type cannot hold is hashed as the new one
SELECT what, as_new FROM (VALUES
  ('integer', key_as('{integer}', 2147483648) = scd2.surrogate_key(2147483648)),
  ('smallint', key_as('{smallint}', 32768) = scd2.surrogate_key(32768)),
  ('integer, fraction', key_as('{integer}', 5.5) = scd2.surrogate_key(5.5)),
  ('bigint, too large', key_as('{bigint}', 9223372036854775808) = scd2.surrogate_key(9223372036854775808)),
  ('bigint, too large a float', key_as('{bigint}', 9223372036854775808::float8) = scd2.surrogate_key(9223372036854775808::float8)),
  ('integer, NaN', key_as('{integer}', 'NaN'::float8) = scd2.surrogate_key('NaN'::float8)),
  ('integer, leading zero', key_as('{integer}', '05'::text) = scd2.surrogate_key('05'::text)),
  ('integer, plus', key_as('{integer}', '+5'::text) = scd2.surrogate_key('+5'::text)),
  ('integer, blank', key_as('{integer}', ' 5'::text) = scd2.surrogate_key(' 5'::text)),
  ('integer, -0', key_as('{integer}', '-0'::text) = scd2.surrogate_key('-0'::text)),
  ('integer, no number', key_as('{integer}', 'A1'::text) = scd2.surrogate_key('A1'::text)),
  ('integer, empty', key_as('{integer}', ''::text) = scd2.surrogate_key(''::text)),
  ('integer, point', key_as('{integer}', '5.'::text) = scd2.surrogate_key('5.'::text)),
  ('integer, scale', key_as('{integer}', '5.0'::text) = scd2.surrogate_key('5.0'::text)),
  ('numeric, -0', key_as('{numeric}', '-0.0'::text) = scd2.surrogate_key('-0.0'::text)),
  ('float8, too large', key_as('{float8}', '1e400'::text) = scd2.surrogate_key('1e400'::text)),
  ('real', key_as('{real}', 0.1::float8) = scd2.surrogate_key(0.1::float8)),
  ('float8, hexadecimal', key_as('{float8}', '0x10'::text) = scd2.surrogate_key('0x10'::text)),
  ('float8, too long', key_as('{float8}', 0.12345678901234567890) = scd2.surrogate_key(0.12345678901234567890)),
  ('date', key_as('{date}', '2026-06-12 00:00:01'::timestamp) = scd2.surrogate_key('2026-06-12 00:00:01'::timestamp)),
  ('timestamp', key_as('{timestamp}', '5874897-12-31'::date) = scd2.surrogate_key('5874897-12-31'::date)),
  ('uuid', key_as('{uuid}', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::text) = scd2.surrogate_key('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::text)),
  ('char(n), blank', key_as('{bpchar}', 'a '::text) = scd2.surrogate_key('a '::text)),
  ('boolean', key_as('{boolean}', 2) = scd2.surrogate_key(2)),
  ('bytea', key_as('{bytea}', 'a'::text) = scd2.surrogate_key('a'::text)),
  ('uuid key', uuid_as('{integer}', 2147483648) = uuid_as('{bigint}', 2147483648)),
  ('uuid key, text', uuid_as('{uuid}', 'x'::text) = uuid_as('{text}', 'x'::text))
) AS v (what, as_new) WHERE as_new IS NOT TRUE;
-- a null stays one
SELECT key_as('{integer,integer}', NULL::bigint, 5::bigint) = scd2.surrogate_key(5) AS same;
SELECT key_as('{integer}', 1, 2);

--
-- R13: uuid keys are of version 8 and RFC variant; null and bounds count.
-- R14: pinned.
--
SELECT what, key, substr(key::text, 15, 1) AS version, substr(key::text, 20, 1) IN ('8', '9', 'a', 'b') AS variant
FROM (VALUES
  ('integer and time', uuid_as('{integer,timestamptz}', 1, '2026-06-12 12:34:56.789+00'::timestamptz)),
  ('text and time', uuid_as('{text,timestamptz}', 'abc'::text, '2026-06-12 12:34:56.789+00'::timestamptz)),
  ('null and time', uuid_as('{text,timestamptz}', NULL::text, '2026-06-12 12:34:56.789+00'::timestamptz)),
  ('numeric and date', uuid_as('{numeric,date}', 1.50, '2026-06-12'::date)),
  ('uuid and timestamp', uuid_as('{uuid,timestamp}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, '2026-06-12'::timestamp))
) AS v (what, key);
-- all bits but the six of version and variant are those of row_hash
SELECT count(*) FROM generate_series(1, 1000) n
WHERE regexp_replace(replace(uuid_as('{integer,text}', n, 'x'::text)::text, '-', ''), '^(.{12}).(...).', '\1\2')
   <> regexp_replace(encode(scd2.row_hash(n, 'x'::text), 'hex'), '^(.{12}).(...).', '\1\2');
SELECT count(DISTINCT uuid_as('{text,text}', a, b)) FROM (VALUES ('ab', 'c'), ('a', 'bc'), ('abc', NULL), (NULL, 'abc')) v (a, b);

SET client_min_messages = warning;
DROP SCHEMA surrogate_key CASCADE;
