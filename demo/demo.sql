-- Three months of customers and orders.  Run by "make demo"; with the extension
-- installed, any database will do: psql -f demo/demo.sql, from the project's directory.
\set ON_ERROR_STOP on
\pset footer off
\pset null '(null)'
\pset linestyle unicode
\pset border 1
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET client_min_messages = notice;
SET timezone = 'UTC';
SET datestyle = 'ISO';

\echo
\echo '== 1. A source, and a dimension over it =='
\echo
\set ECHO queries
CREATE SCHEMA stg;
CREATE SCHEMA gold;
CREATE TABLE stg.customer (customer_id int, name text, segment text, city text,
                           op text, changed_at timestamptz);

SELECT scd2.create_dimension('gold.dim_customer',
    source       => 'stg.customer',
    business_key => '{customer_id}',
    type1        => '{name}',           -- corrections overwrite
    type2        => '{segment,city}',   -- changes open a new version
    effective_at => 'changed_at',
    delete_when  => $$op = 'D'$$);
\set ECHO none

\echo
\echo '== 2. January, February, March: load the month''s changes, apply them =='
\echo
\set ECHO queries
\echo '-- from demo/customers-2026-01.csv:'
\copy stg.customer FROM 'demo/customers-2026-01.csv' (FORMAT csv, HEADER)
CALL scd2.apply('gold.dim_customer');

TRUNCATE stg.customer;
\echo '-- from demo/customers-2026-02.csv:'
\copy stg.customer FROM 'demo/customers-2026-02.csv' (FORMAT csv, HEADER)
CALL scd2.apply('gold.dim_customer');

TRUNCATE stg.customer;
\echo '-- from demo/customers-2026-03.csv:'
\copy stg.customer FROM 'demo/customers-2026-03.csv' (FORMAT csv, HEADER)
CALL scd2.apply('gold.dim_customer');
\set ECHO none

\echo
\echo '== 3. The job runs twice by mistake: nothing changes =='
\echo
\set ECHO queries
CALL scd2.apply('gold.dim_customer');
\set ECHO none

\echo
\echo '== 4. The dimension: a row per version, valid from its first moment up to the next one''s =='
\echo
\echo 'Ada became an enterprise, and her new surname is on both versions (type 1).'
\echo 'Grace''s city went to null and came back: each is a version. Edsger''s spelling was only corrected.'
\echo 'Radia changed three times in one batch, which came unordered. Donald was deleted: no current version.'
\echo 'The row without a customer is for facts that match nothing.'
\echo
SELECT customer_id, name, segment, city,
       valid_from::timestamp, valid_to::timestamp, is_current
  FROM gold.dim_customer
 ORDER BY customer_id NULLS FIRST, valid_from;

\echo '== 5. Each order with its customer as of that day: a point-in-time join =='
\echo
CREATE TABLE gold.fact_orders (order_id int PRIMARY KEY, customer_id int, ordered_at timestamptz, amount numeric(10,2));
\copy gold.fact_orders FROM 'demo/orders.csv' (FORMAT csv, HEADER)
\set ECHO queries
SELECT o.order_id, o.ordered_at::date AS day, c.name, c.segment, c.city, o.amount
  FROM gold.fact_orders o
  LEFT JOIN gold.dim_customer c
    ON c.customer_id = o.customer_id
   AND o.ordered_at >= c.valid_from AND o.ordered_at < c.valid_to
 ORDER BY o.order_id;
\set ECHO none

\echo 'All customers as they were on one day:'
\echo
\set ECHO queries
SELECT customer_id, name, segment, city
  FROM gold.dim_customer_as_of('2026-02-21')
 ORDER BY customer_id;
\set ECHO none

\echo '== 6. Revenue by segment: as it was when they ordered, and as it is now =='
\echo
SELECT coalesce(segment, CASE WHEN grouping(segment) = 1 THEN 'total' ELSE '(deleted since)' END) AS segment,
       sum(amount) FILTER (WHERE side = 'then') AS segment_then,
       sum(amount) FILTER (WHERE side = 'now') AS segment_now
  FROM (SELECT 'then' AS side, c.segment, o.amount
          FROM gold.fact_orders o
          LEFT JOIN gold.dim_customer c
            ON c.customer_id = o.customer_id
           AND o.ordered_at >= c.valid_from AND o.ordered_at < c.valid_to
         UNION ALL
        SELECT 'now', c.segment, o.amount
          FROM gold.fact_orders o
          LEFT JOIN gold.dim_customer_current c ON c.customer_id = o.customer_id) AS r
 GROUP BY ROLLUP (segment)
 ORDER BY grouping(segment), segment;

\echo '== 7. What was done: scd2.runs =='
\echo
SELECT id AS run, dimension_name AS dimension, rows_read AS read, keys_new, versions_opened AS opened, versions_closed AS closed,
       rows_overwritten AS overwritten, rows_confirmed AS confirmed, rows_replayed AS replayed, rows_deleted AS deleted
  FROM scd2.runs
 ORDER BY id;

\echo '== 8. Does every rule hold?  scd2.check names each row that breaks one =='
\echo
\pset footer on
SELECT * FROM scd2.check('gold.dim_customer');
