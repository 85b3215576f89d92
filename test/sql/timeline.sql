-- One key's chain, drawn (SPEC section 7, R28, R34; hard case 20)
SET client_min_messages = warning;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'SQL, DMY';
CREATE SCHEMA tl;
SET search_path = tl;
SET scd2.notice = off;
\pset tuples_only
\pset format unaligned

CREATE TABLE s (id integer, name text, segment text, city text, at timestamptz, gone boolean DEFAULT false);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id}', type1 => '{name}', type2 => '{segment,city}',
                             effective_at => 'at', delete_when => 'gone');
INSERT INTO s VALUES (1, 'Ada Byron', 'small business', 'London', '2026-01-02 UTC'),
                     (1, 'Ada Lovelace', 'enterprise', 'London', '2026-02-10 UTC'),
                     (1, 'Ada Lovelace', 'enterprise', 'Paris', '2026-06-15 UTC'),
                     (2, 'Bob', NULL, 'Bern', '2026-01-05 12:30 UTC'),
                     (3, 'Eve', 'x', 'Rome', '2026-03-01 00:00:00.5 UTC'),
                     (3, 'Eve', 'y', 'Rome', '2026-03-01 00:00:07.25 UTC');
INSERT INTO s VALUES (1, NULL, NULL, NULL, '2026-04-20 UTC', true),
                     (3, NULL, NULL, NULL, '2026-03-01 00:00:10 UTC', true);
CALL scd2.apply('dim_c');

-- ---------------------------------------------------------------------------
-- The drawing: in the dimension's time zone, whatever the session's settings are
-- ---------------------------------------------------------------------------
SELECT scd2.timeline('dim_c', 1);
SET scd2.timeline_ascii = on;
SELECT scd2.timeline('dim_c', 1);
RESET scd2.timeline_ascii;
SET scd2.timeline_width = 60;
SELECT scd2.timeline('dim_c', 1);
SET scd2.timeline_width = 100;
SELECT scd2.timeline('dim_c', '3');
RESET scd2.timeline_width;
-- one version; labels are as precise as they must be
SELECT scd2.timeline('dim_c', 2);
-- a key without versions
SELECT scd2.timeline('dim_c', 9);
-- a client that cannot show it
SET client_encoding = 'LATIN1';
SELECT scd2.timeline('dim_c', 2);
SET client_encoding = 'UTF8';
SET scd2.timeline_width = 59;
SET scd2.timeline_width = 1001;

-- the picture, less its styles
CREATE FUNCTION shown(svg text) RETURNS text LANGUAGE sql AS $$ SELECT regexp_replace(svg, '<style>.*</style>', '<style/>') $$;
SELECT shown(scd2.timeline_svg('dim_c', 1));
SELECT shown(scd2.timeline_svg('dim_c', 9));
SELECT scd2.timeline_svg('dim_c', 1) LIKE '%@media (prefers-color-scheme:dark){%' AS has_dark;

-- ---------------------------------------------------------------------------
-- Values are escaped, long ones are cut where they differ
-- ---------------------------------------------------------------------------
CREATE TABLE v (id text, a text, b text, "Größe <m>" text, at timestamptz);
SELECT scd2.create_dimension('dim_v', source => 'v', business_key => '{id}', effective_at => 'at');
INSERT INTO v VALUES
    (E'k\x1b[2J<&>"''', '', 'null', 'x', '2026-01-01 UTC'),
    (E'k\x1b[2J<&>"''', NULL, E'two\nlines\ttab\\', ' x', '2026-02-01 UTC'),
    (E'k\x1b[2J<&>"''', 'a → b', repeat('long ', 50) || 'end', 'E''x''', '2026-03-01 UTC'),
    (E'k\x1b[2J<&>"''', 'C:\temp', repeat('long ', 50) || 'END', ']]></text><script>', '2026-04-01 UTC'),
    (E'k\x1b[2J<&>"''', U&'\202Eevil\2069 \FFFE \0085 \2028', repeat('東京', 50), repeat(U&'e\0301', 100), '2026-05-01 UTC'),
    (E'k\x1b[2J<&>"''', 'שלום עולם', repeat('שלום ', 20), 'مرحبا', '2026-06-01 UTC');
CALL scd2.apply('dim_v');
SELECT scd2.timeline('dim_v', E'k\x1b[2J<&>"''');
SET scd2.timeline_ascii = on;
SELECT scd2.timeline('dim_v', E'k\x1b[2J<&>"''') LIMIT 12;
RESET scd2.timeline_ascii;
SELECT shown(scd2.timeline_svg('dim_v', E'k\x1b[2J<&>"'''));

-- every picture is XML, in ASCII; where PostgreSQL was built without libxml, nothing can be said of the former
CREATE FUNCTION is_xml(svg text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN xml_is_well_formed_document(svg);
EXCEPTION WHEN feature_not_supported THEN
    RETURN true;
END $$;
CREATE FUNCTION is_good(svg text) RETURNS boolean LANGUAGE sql AS $$ SELECT is_xml(svg) AND svg ~ '\A[\n -~]*\Z' $$;
SELECT is_good(scd2.timeline_svg('dim_v', E'k\x1b[2J<&>"''')) AND is_good(scd2.timeline_svg('dim_c', 1)) AND is_good(scd2.timeline_svg('dim_v', '<')) AS good;
-- all characters that could act
INSERT INTO v SELECT 'all ' || i / 4, NULL, NULL, string_agg(chr(i), ''), '2026-01-01 UTC'
  FROM (VALUES (1, 700), (1424, 1700), (8190, 8300), (55290, 55295), (57344, 57350), (64976, 65010), (65270, 65540), (1114100, 1114111)) r(a, b), generate_series(a, b) i
 GROUP BY i / 4;
CALL scd2.apply('dim_v');
SELECT count(*) > 300 AS many, bool_and(is_good(scd2.timeline_svg('dim_v', id))) AS good,
       bool_and(NOT EXISTS (SELECT FROM scd2.timeline('dim_v', id) t WHERE t ~ '[\x01-\x1f\x7f-\x9f\u2028-\u202e\ufffe\uffff]')) AS clean
  FROM dim_v WHERE id LIKE 'all%';

-- ---------------------------------------------------------------------------
-- The axis
-- ---------------------------------------------------------------------------
-- valid_from long ago; a version in the future
SELECT scd2.create_dimension('dim_i', source => 's', business_key => '{id}', type2 => '{segment}', type1 => '{city}', effective_at => 'at', delete_when => 'gone',
    initial_valid_from => '1900-01-01', on_delete => 'flag', open_end => 'infinity');
CALL scd2.apply('dim_i');
SELECT scd2.timeline('dim_i', 1);
SELECT scd2.timeline('dim_i', 2);
SELECT shown(scd2.timeline_svg('dim_i', 3));
INSERT INTO s VALUES (2, 'Bob', 'later', 'Bern', '5000-01-01 UTC');
CALL scd2.apply('dim_i');
SELECT scd2.timeline('dim_i', 2);
-- many versions, then nothing for years; a stretch in the shadow of another one
TRUNCATE s;
INSERT INTO s SELECT 7, 'x', 'seg' || i, 'c', '2016-01-01 UTC'::timestamptz + i * interval '1 day' FROM generate_series(0, 4) i;
INSERT INTO s SELECT 7, 'x', 'seg' || i, 'c', '2019-01-01 UTC'::timestamptz + i * interval '1 day' FROM generate_series(5, 8) i;
INSERT INTO s VALUES (7, 'x', 'new', 'c', '2026-01-01 UTC');
-- a correction an hour later shortens nothing
INSERT INTO s VALUES (8, 'x', 'a', 'c', '2026-01-01 UTC'), (8, 'x', 'b', 'c', '2026-06-01 09:00 UTC'), (8, 'x', 'c', 'c', '2026-06-01 10:00 UTC');
CALL scd2.apply('dim_c');
SELECT scd2.timeline('dim_c', 7);
SELECT scd2.timeline('dim_c', 8);
-- where clocks are changed, at both of the equal hours
SELECT scd2.create_dimension('dim_z', source => 's', business_key => '{id}', type2 => '{segment}', type1 => '{city}', effective_at => 'at', delete_when => 'gone',
    time_zone => 'America/New_York', open_end => 'null');
TRUNCATE s;
INSERT INTO s VALUES (1, NULL, 'a', 'c', '2026-11-01 05:30 UTC'), (1, NULL, 'b', 'c', '2026-11-01 06:30 UTC'), (1, NULL, 'c', 'c', '2026-11-01 12:00 UTC');
CALL scd2.apply('dim_z');
SELECT scd2.timeline('dim_z', 1);
-- dates, closed versions apart, other names, before Christ and after all
SELECT scd2.create_dimension('dim_d', source => 's', business_key => '{id}', type2 => '{segment}', type1 => '{city}', effective_at => 'at', delete_when => 'gone',
    period_type => 'date', history => 'separate', open_end => 'infinity', columns => '{"valid_from": "From", "valid_to": "To", "is_current": "now"}');
TRUNCATE s;
INSERT INTO s VALUES (1, NULL, 'a', 'c', '4713-11-24 12:00 UTC BC'), (1, NULL, 'b', 'c', '0044-03-15 UTC BC'), (1, NULL, 'c', 'c', '2026-01-01 UTC'),
                     (2, NULL, 'a', 'c', '2026-01-01 UTC'), (2, NULL, 'b', 'c', '2026-01-02 UTC'), (2, NULL, 'c', 'c', '2026-01-09 UTC');
CALL scd2.apply('dim_d');
ALTER TABLE dim_d RENAME segment TO "Segment";
ALTER TABLE dim_d_history RENAME segment TO s2;
SELECT scd2.timeline('dim_d', 1);
SELECT scd2.timeline('dim_d', 2);
UPDATE dim_d SET "From" = '5874897-12-31' WHERE id = 2;
UPDATE dim_d_history SET "To" = '5874897-12-31' WHERE id = 2 AND s2 = 'b';
SELECT scd2.timeline('dim_d', 2);
SELECT is_good(scd2.timeline_svg('dim_d', 1)) AND is_good(scd2.timeline_svg('dim_d', 2)) AS good;
-- what check would complain of is drawn, too
UPDATE dim_d_history SET "To" = "From" - 1 WHERE id = 1;
UPDATE dim_d SET "From" = '-infinity' WHERE id = 1;
SELECT scd2.timeline('dim_d', 1);

-- ---------------------------------------------------------------------------
-- Wide and long
-- ---------------------------------------------------------------------------
-- composite wide keys, long names, many columns
DO $$
BEGIN
    EXECUTE format('CREATE TABLE w (k1 text, k2 date, k3 uuid, at timestamp, %s)',
        (SELECT string_agg(format('%I text', 'column ' || i || repeat('-', 40)), ', ') FROM generate_series(1, 12) i));
END $$;
SELECT scd2.create_dimension('dim_w', source => 'w', business_key => '{k1,k2,k3}', effective_at => 'at', period_type => 'timestamp');
INSERT INTO w SELECT repeat('key ', 30), '2026-12-31', 'AAAAAAAA-0000-0000-0000-000000000001', '2026-01-01', 'one', NULL, '2', '3', '4', '5', '6', '7', '8', '9', 'ten', '11';
INSERT INTO w SELECT repeat('key ', 30), '2026-12-31', 'AAAAAAAA-0000-0000-0000-000000000001', '2026-01-03', 'one', NULL, '2', '3', '4', '5', '6', '7', '8', '9', 'TEN', '11';
CALL scd2.apply('dim_w');
SELECT scd2.timeline('dim_w', repeat('key ', 30), '2026-12-31', 'aaaaaaaa-0000-0000-0000-000000000001');
SELECT bool_and(length(t) <= 80) AS fits FROM scd2.timeline('dim_w', repeat('key ', 30), '2026-12-31', 'aaaaaaaa-0000-0000-0000-000000000001') t;
-- 60 versions, and more than a picture shows
TRUNCATE s;
INSERT INTO s SELECT 60, 'x', 'seg' || i, 'c', '2026-01-01 UTC'::timestamptz + i * interval '3 days' FROM generate_series(1, 60) i;
INSERT INTO s SELECT 2000, 'x', 'seg' || i, 'c', '2026-01-01 UTC'::timestamptz + i * interval '3 days' FROM generate_series(1, 2000) i;
CALL scd2.apply('dim_c');
SELECT count(*), max(length(t)) FROM scd2.timeline('dim_c', 60) t;
SELECT count(*), max(length(t)) FROM scd2.timeline('dim_c', 2000) t;
SELECT (regexp_match(scd2.timeline_svg('dim_c', 60), 'width="(\d+)" height="(\d+)"'))::text;
SELECT substring(svg FROM '<desc>(.*)</desc>'), is_good(svg), (SELECT count(*) FROM regexp_matches(svg, '<g>', 'g')) FROM scd2.timeline_svg('dim_c', 2000) svg;

-- ---------------------------------------------------------------------------
-- Calls
-- ---------------------------------------------------------------------------
SELECT scd2.timeline('dim_c');
SELECT scd2.timeline('dim_c', 1, 2);
SELECT scd2.timeline('dim_c', NULL::integer);
SELECT scd2.timeline_svg('dim_c', NULL::integer);
SELECT scd2.timeline('dim_c', 'x');
SELECT scd2.timeline(NULL, 1);
SELECT scd2.timeline_svg(NULL, 1);
SELECT scd2.timeline('s', 1);
SELECT count(*) FROM scd2.timeline('dim_c', VARIADIC ARRAY['60']);
SELECT provolatile, proparallel, proisstrict FROM pg_proc WHERE pronamespace = 'scd2'::regnamespace AND proname LIKE 'timeline%';

-- R28: no scan where one key is asked for
VACUUM ANALYZE dim_c;
BEGIN;
CREATE TABLE before AS SELECT relname, seq_scan FROM pg_stat_xact_user_tables;
SELECT count(*) FROM scd2.timeline('dim_c', 1);
SELECT count(*) FROM scd2.timeline('dim_d', 1);
SELECT relname, n.seq_scan - COALESCE(b.seq_scan, 0) AS scans
  FROM pg_stat_xact_user_tables n LEFT JOIN before b USING (relname)
 WHERE relname IN ('dim_c', 'dim_d', 'dim_d_history') ORDER BY 1;
COMMIT;

-- R34: with the caller's rights, of which the columns drawn are enough
CREATE ROLE regress_tl_reader;
GRANT USAGE ON SCHEMA tl TO regress_tl_reader;
SET ROLE regress_tl_reader;
SELECT scd2.timeline('dim_c', 1);
SELECT scd2.timeline_svg('dim_c', 1);
RESET ROLE;
GRANT SELECT (id, name, segment, city, valid_from, valid_to, is_current) ON dim_c TO regress_tl_reader;
SET ROLE regress_tl_reader;
SELECT count(*) FROM scd2.timeline('dim_c', 1);
RESET ROLE;
-- a part of the rows would deceive
ALTER TABLE dim_c ENABLE ROW LEVEL SECURITY;
SET ROLE regress_tl_reader;
SELECT count(*) FROM scd2.timeline('dim_c', 1);
RESET ROLE;
ALTER TABLE dim_c DISABLE ROW LEVEL SECURITY;

-- R28, hard case 20: READ ONLY, and no transaction id
BEGIN READ ONLY;
SELECT count(*) FROM scd2.timeline('dim_c', 1);
SELECT length(scd2.timeline_svg('dim_c', 1)) > 0;
SELECT mode FROM pg_locks l WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND mode <> 'AccessShareLock';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;

DROP SCHEMA tl CASCADE;
DROP ROLE regress_tl_reader;
