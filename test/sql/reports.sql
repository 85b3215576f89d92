-- The reports of the README: revenue by segment as it was, as it is now and as it
-- was known in July (R24, R29, R30).  The sums of each are the fact table's own.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE SCHEMA rp;
SET search_path = rp;

CREATE TABLE customer (customer_id int, name text, segment text, changed_at date);
SELECT scd2.create_dimension('dim_customer', source => 'customer', business_key => '{customer_id}',
    type1 => '{name}', type6 => '{segment}', type2 => '{}', effective_at => 'changed_at');
CREATE TABLE fact_orders (order_id int PRIMARY KEY, customer_id int, ordered_at timestamptz, amount numeric,
    customer_sk bigint REFERENCES dim_customer);
SELECT scd2.register_fact('fact_orders', 'dim_customer', business_key => '{customer_id}',
    event_time => 'ordered_at', surrogate_key => 'customer_sk');

-- the loads of June and July; nobody has told of customer 3 yet
INSERT INTO customer VALUES (1, 'Ada', 'small', '2026-06-01'), (2, 'Bob', 'small', '2026-06-01');
CALL scd2.apply('dim_customer');
INSERT INTO customer VALUES (1, 'Ada', 'large', '2026-07-01');
CALL scd2.apply('dim_customer');
SELECT recorded_at AS july FROM scd2.runs WHERE id = scd2.last_run() \gset
INSERT INTO fact_orders (order_id, customer_id, ordered_at, amount)
VALUES (10, 1, '2026-06-10', 100), (11, 1, '2026-07-10', 200), (12, 2, '2026-07-12', 50), (13, 3, '2026-07-20', 5);
CALL scd2.resolve('fact_orders');

CREATE VIEW as_it_was AS
SELECT coalesce(c.segment, 'unknown') AS segment, sum(o.amount) AS revenue
  FROM fact_orders o JOIN dim_customer c USING (customer_sk)
 GROUP BY 1;
CREATE VIEW as_it_is_now AS
SELECT coalesce(c.current_segment, 'unknown') AS segment, sum(o.amount) AS revenue
  FROM fact_orders o JOIN dim_customer c USING (customer_sk)
 GROUP BY 1;
CREATE FUNCTION as_known(at timestamptz) RETURNS TABLE (segment text, revenue numeric) LANGUAGE sql STABLE AS $$
SELECT coalesce(c.segment, 'unknown'), sum(o.amount)
  FROM fact_orders o
  LEFT JOIN scd2.rebuild(NULL::dim_customer, known_at => at) c
    ON c.customer_id = o.customer_id AND o.ordered_at >= c.valid_from AND o.ordered_at < c.valid_to
 GROUP BY 1
$$;

-- July's report, which is kept
CREATE TABLE july_report AS TABLE as_it_was;
TABLE july_report ORDER BY segment;

-- October: Bob was large from July on, customer 3 is told of, Ada has grown
INSERT INTO customer VALUES (2, 'Bob', 'large', '2026-07-01'), (3, 'Cid', 'small', '2026-07-15'),
    (1, 'Ada', 'huge', '2026-09-01');
CALL scd2.apply('dim_customer');
SELECT facts_rekeyed FROM scd2.runs WHERE id = scd2.last_run();

TABLE as_it_was ORDER BY segment;
TABLE as_it_is_now ORDER BY segment;
SELECT * FROM as_known(:'july') ORDER BY segment;
-- July's numbers, in October
(TABLE july_report EXCEPT ALL SELECT * FROM as_known(:'july'))
UNION ALL
(SELECT * FROM as_known(:'july') EXCEPT ALL TABLE july_report);
-- each report's total is the fact table's
SELECT (SELECT sum(amount) FROM fact_orders) AS facts,
       (SELECT sum(revenue) FROM as_it_was) AS as_it_was,
       (SELECT sum(revenue) FROM as_it_is_now) AS as_it_is_now,
       (SELECT sum(revenue) FROM as_known(:'july')) AS as_known_in_july,
       (SELECT sum(revenue) FROM as_known(now())) AS as_known_now;
-- the late load is undone, and the facts go back (R27, R30)
DO $$BEGIN CALL scd2.undo('dim_customer', scd2.last_run()); END$$;
(TABLE july_report EXCEPT ALL TABLE as_it_was) UNION ALL (TABLE as_it_was EXCEPT ALL TABLE july_report);
SELECT * FROM scd2.check('dim_customer');

DROP SCHEMA rp CASCADE;
