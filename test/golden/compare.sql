-- Print how :dimension differs from the CSV file :expected, whose first line is
-- :header; nothing when it does not.  Called by test/golden/run.

-- the file's columns, as text
SELECT format('CREATE TEMP TABLE scd2_expected (%s)', string_agg(format('%I text', name), ', ' ORDER BY n)),
       string_agg(format('CASE WHEN d.%1$I IS NOT NULL THEN format(''%%s'', d.%1$I) END AS %1$I', name), ', ' ORDER BY n)
           AS columns
  FROM (SELECT n, trim(both '"' FROM name) AS name
          FROM regexp_split_to_table(:'header', ',') WITH ORDINALITY AS t (name, n)) AS h \gset make_
:make_format;
\set copy '\\copy pg_temp.scd2_expected FROM ' :'expected' ' (FORMAT csv, HEADER)'
:copy

-- of the dimension's rows, only the unknown member has no key
SELECT format('SELECT %s FROM %s AS d WHERE d.%I IS NOT NULL', :'make_columns',
              (SELECT format('%I.%I', c.relnamespace::regnamespace, c.relname || :'versions')
                 FROM pg_class AS c WHERE c.oid = dimension), business_key[1]) AS query
  FROM scd2.dimensions
 WHERE dimension = :'dimension'::regclass \gset

SELECT side || ' ' || line
  FROM (SELECT '<' AS side, e::text AS line
          FROM (SELECT * FROM pg_temp.scd2_expected EXCEPT ALL (:query)) AS e
         UNION ALL
        SELECT '>', d::text
          FROM ((:query) EXCEPT ALL SELECT * FROM pg_temp.scd2_expected) AS d) AS difference
 ORDER BY substr(line, 1), side;

SELECT to_regprocedure('scd2.check(regclass)') IS NOT NULL AS has_check \gset
\if :has_check
SELECT 'scd2.check: ' || c::text FROM scd2.check(:'dimension'::regclass) AS c;
\endif
