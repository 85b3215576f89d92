-- scd2.diff (R26, R28; hard case 9)
SET client_min_messages = warning;
CREATE SCHEMA df;
SET search_path = df;

CREATE TABLE a (id integer, "Text" text, n numeric, j jsonb);
CREATE TABLE b (j jsonb, dead integer, n integer, "Text" varchar, id bigint);
ALTER TABLE b DROP COLUMN dead;
-- the same by value: other order and types of columns, nulls, spelling, key order
INSERT INTO a VALUES (1, 'x', 1.0, '{"a": 1, "b": 2}'), (2, NULL, NULL, NULL), (3, 'y', 3, '1.0');
INSERT INTO b VALUES ('{"b": 2, "a": 1}', 1, 'x', 1), (NULL, NULL, NULL, 2), ('1', 3, 'y', 3);
SELECT * FROM scd2.diff('a', 'b');
-- as multisets, to and from null
INSERT INTO a VALUES (1, 'x', 1, '{"a": 1, "b": 2}'), (1, 'x', 1.00, '{"a": 1, "b": 2}'), (4, NULL, 1, NULL);
INSERT INTO b VALUES (NULL, NULL, NULL, 4), (NULL, NULL, '', 2), (NULL, NULL, '', 2);
SELECT * FROM scd2.diff('a', 'b') ORDER BY side, row_data;
SELECT * FROM scd2.diff('b', 'a') ORDER BY side, row_data;
SELECT * FROM scd2.diff('a', 'a');
SELECT * FROM scd2.diff('a', NULL);
-- null beside an empty text: ('', null) and (null, '') differ
CREATE VIEW v1 AS SELECT ''::text AS p, NULL::text AS q;
CREATE VIEW v2 AS SELECT NULL::text AS p, ''::text AS q;
SELECT * FROM scd2.diff('v1', 'v2') ORDER BY side;
-- partitioned tables, and columns of any number
CREATE TABLE p (LIKE a) PARTITION BY LIST (id);
CREATE TABLE p_all PARTITION OF p DEFAULT;
INSERT INTO p SELECT * FROM a;
SELECT count(*) FROM scd2.diff('a', 'p');
DO $$
BEGIN
    EXECUTE (SELECT format('CREATE TABLE wide AS SELECT %s', string_agg(format('%s AS c%s', i, i), ', ')) FROM generate_series(1, 250) i);
    EXECUTE (SELECT format('CREATE TABLE wide2 AS SELECT %s', string_agg(format('%s AS c%s', i, i), ', ' ORDER BY -i)) FROM generate_series(1, 250) i);
END
$$;
SELECT count(*) FROM scd2.diff('wide', 'wide2');
UPDATE wide2 SET c200 = 7;
SELECT side, row_data -> 'c200' AS c200, copies FROM scd2.diff('wide', 'wide2') ORDER BY side;
-- names that the statement uses itself
CREATE TABLE s (s integer, x integer, h text, hash text, copies integer, d integer, n integer);
CREATE TABLE s2 (LIKE s);
INSERT INTO s VALUES (1, 2, '3', '4', 5, 6, 7);
SELECT * FROM scd2.diff('s', 's2');
DROP TABLE s;
CREATE TABLE none ();
CREATE TABLE none2 ();
INSERT INTO none DEFAULT VALUES;
SELECT * FROM scd2.diff('none', 'none2');
-- what does not fit
CREATE TABLE c (id integer, "Text" text, m numeric);
SELECT * FROM scd2.diff('a', 'c');
CREATE SEQUENCE s;
SELECT * FROM scd2.diff('a', 's');
SELECT * FROM scd2.diff('a', 0::regclass);
-- what jsonb does not take is shown as its text
CREATE TABLE j (id integer, doc json, docs json[]);
CREATE TABLE j2 (id bigint, docs json[], doc json);
INSERT INTO j VALUES (1, '{"a":"\u0000"}', NULL), (2, '{"a": 1}', '{"1","{\"b\": \"\\ud800\"}"}'), (3, '1', NULL);
INSERT INTO j2 VALUES (3, NULL, '1'), (2, NULL, '{"a":1}');
SELECT * FROM scd2.diff('j', 'j2') ORDER BY side, row_data ->> 'id';
-- R28, and names that hide others
CREATE TEMP TABLE hashes (x integer);
CREATE FUNCTION df.to_jsonb(anyelement) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
BEGIN READ ONLY;
SELECT count(*) FROM scd2.diff('a', 'b');
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;
-- the caller's rights
CREATE ROLE df_stranger;
GRANT USAGE ON SCHEMA df TO df_stranger;
GRANT SELECT ON a TO df_stranger;
SET ROLE df_stranger;
SELECT * FROM scd2.diff('df.a', 'df.b');
RESET ROLE;
-- a dimension against its rebuild
CREATE TABLE src (id integer, seg text, at date);
SELECT scd2.create_dimension('df.dim_d', source => 'src', business_key => '{id}', effective_at => 'at', unknown_member => false);
INSERT INTO src VALUES (1, 'a', '2026-01-01'), (1, 'b', '2026-01-02');
SET scd2.notice = off;
CALL scd2.apply('df.dim_d');
CREATE VIEW rebuilt AS SELECT * FROM scd2.rebuild(NULL::dim_d);
SELECT * FROM scd2.diff('dim_d', 'rebuilt');
UPDATE dim_d SET seg = 'c' WHERE is_current;
SELECT side, row_data ->> 'seg' AS seg, copies FROM scd2.diff('dim_d', 'rebuilt') ORDER BY side;

SET client_min_messages = error;
DROP SCHEMA df CASCADE;
DROP ROLE df_stranger;
