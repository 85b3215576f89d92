-- Row hashes and surrogate keys in databases of other encodings (R12, hard
-- case 12): text is its UTF-8, wherever it is kept.
\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS scd2_utf8;
DROP DATABASE IF EXISTS scd2_latin1;
DROP DATABASE IF EXISTS scd2_win1252;
DROP DATABASE IF EXISTS scd2_euc_jp;
DROP DATABASE IF EXISTS scd2_sql_ascii;
RESET client_min_messages;
CREATE DATABASE scd2_utf8 ENCODING 'UTF8' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE scd2_latin1 ENCODING 'LATIN1' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE scd2_win1252 ENCODING 'WIN1252' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE scd2_euc_jp ENCODING 'EUC_JP' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
CREATE DATABASE scd2_sql_ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';

-- What each database is asked: text given by its UTF-8, converted to the
-- database's encoding, then hashed in every type that can hold it.  The keys of
-- jsonb and the lexemes of tsvector lie in the order of the encoding.
SELECT $$
CREATE FUNCTION pg_temp.utf8(bytea) RETURNS text LANGUAGE sql AS 'SELECT convert_from($1, ''UTF8'')';
CREATE FUNCTION pg_temp.hashes(word text, other text) RETURNS text LANGUAGE plpgsql AS '
DECLARE r record;
BEGIN
  EXECUTE format(''CREATE TYPE word AS ENUM (%L)'', word);
  EXECUTE format(
    ''SELECT scd2.row_hash(t, t::varchar, t::char(9), t::name, ARRAY[t, ''''a''''], ROW(t), t::word) AS texts,
            scd2.row_hash(to_json(t), xmlelement(name a, t), (t || '''' '''')::refcursor) AS outputs,
            scd2.row_hash(jsonb_build_object(t, 1, %2$L, 2, ''''zz'''', 3, ''''y'''', t)) AS jsonb,
            scd2.row_hash((t || '''' zz y '''' || %2$L)::tsvector, t::tsquery) AS text_search,
            scd2.row_hash(repeat(t, 40000)) AS long,
            scd2.surrogate_key(t, t::varchar, t::char(9), t::word, ARRAY[t]) AS sk
       FROM (SELECT %1$L::text AS t) x'', word, other) INTO r;
  DROP TYPE word;
  RETURN r;
END';
$$ AS setup \gset
\set euro 'pg_temp.hashes(pg_temp.utf8(''\\xc3a9c3bc''), pg_temp.utf8(''\\xc3bf''))'
\set kana 'pg_temp.hashes(pg_temp.utf8(''\\xefbdb1''), pg_temp.utf8(''\\xe697a5e69cac''))'

\c scd2_utf8
CREATE EXTENSION scd2;
:setup
SELECT :euro AS utf8_euro, :kana AS utf8_kana \gset
\c scd2_latin1
CREATE EXTENSION scd2;
:setup
SELECT :euro AS latin1_euro \gset
\c scd2_win1252
CREATE EXTENSION scd2;
:setup
SELECT :euro AS win1252_euro \gset
-- a byte that means nothing in WIN1252 is hashed as it is, and is no other text
SELECT scd2.row_hash(convert_from('\x81', 'WIN1252')) AS undefined,
       scd2.row_hash(convert_from('\x81', 'WIN1252')) = scd2.row_hash(convert_from('\x8d', 'WIN1252')) AS same,
       scd2.surrogate_key(convert_from('\x81', 'WIN1252')) AS sk;
\c scd2_euc_jp
CREATE EXTENSION scd2;
:setup
SELECT :kana AS euc_jp_kana \gset
\c scd2_sql_ascii
CREATE EXTENSION scd2;
:setup
SELECT :euro AS sql_ascii_euro, :kana AS sql_ascii_kana \gset
\c :home

SELECT :'utf8_euro' = :'latin1_euro' AS latin1,
       :'utf8_euro' = :'win1252_euro' AS win1252,
       :'utf8_euro' = :'sql_ascii_euro' AS sql_ascii,
       :'utf8_kana' = :'euc_jp_kana' AS euc_jp,
       :'utf8_kana' = :'sql_ascii_kana' AS sql_ascii;
-- and none of them changes (R14)
SELECT trim('()' FROM hash) FROM unnest(ARRAY[:'utf8_euro', :'utf8_kana']) s, unnest(string_to_array(s, ',')) hash;

DROP DATABASE scd2_utf8;
DROP DATABASE scd2_latin1;
DROP DATABASE scd2_win1252;
DROP DATABASE scd2_euc_jp;
DROP DATABASE scd2_sql_ascii;
