-- A key's chain drawn in databases of other encodings: in ASCII, but for the values;
-- and the picture in ASCII whatever they are (SPEC section 7)
\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS scd2_tl_latin1;
DROP DATABASE IF EXISTS scd2_tl_euc_jp;
DROP DATABASE IF EXISTS scd2_tl_sql_ascii;
CREATE DATABASE scd2_tl_latin1 ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE scd2_tl_euc_jp ENCODING 'EUC_JP' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE scd2_tl_sql_ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
\pset tuples_only
\pset format unaligned
SELECT $$
SET client_min_messages = warning;
CREATE EXTENSION scd2;
SET scd2.notice = off;
CREATE TABLE s (id integer, v text, at timestamptz);
SELECT scd2.create_dimension('dim', source => 's', business_key => '{id}', effective_at => 'at');
$$ AS setup \gset

\c scd2_tl_latin1
:setup
-- a control character of that encoding, which terminals obey
INSERT INTO s VALUES (1, convert_from('\xe99b', 'LATIN1'), '2026-01-01 UTC'), (1, convert_from('\xfc', 'LATIN1'), '2026-01-03 UTC');
CALL scd2.apply('dim');
SET client_encoding = 'UTF8';
SELECT scd2.timeline('dim', 1);
SELECT regexp_replace(scd2.timeline_svg('dim', 1), '<style>.*</style>', '<style/>');

\c scd2_tl_euc_jp
:setup
SET client_encoding = 'UTF8';
INSERT INTO s VALUES (1, repeat('東京', 20), '2026-01-01 UTC'), (1, '京', '2026-01-03 UTC');
CALL scd2.apply('dim');
SELECT scd2.timeline('dim', 1);
SELECT (regexp_matches(scd2.timeline_svg('dim', 1), '>(v: [^<]*)<', 'g'))[1];

\c scd2_tl_sql_ascii
:setup
-- nobody knows what these bytes are
INSERT INTO s VALUES (1, E'a\xff\xe2\x96', '2026-01-01 UTC');
CALL scd2.apply('dim');
SELECT scd2.timeline('dim', 1);
SELECT (regexp_matches(scd2.timeline_svg('dim', 1), '>(v: [^<]*)<', 'g'))[1];

\c :home
SET client_min_messages = warning;
DROP DATABASE scd2_tl_latin1;
DROP DATABASE scd2_tl_euc_jp;
DROP DATABASE scd2_tl_sql_ascii;
