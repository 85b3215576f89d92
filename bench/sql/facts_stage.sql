-- :fact_keys customers of four versions, and :facts facts of them, in no order, over
-- the same time; one in a hundred is of a customer who never came.
CREATE TABLE customer (customer_id bigint, city text, changed_at timestamptz);
INSERT INTO customer
SELECT i, 'City ' || v, timestamptz '2026-01-01 00:00+00' + (v * 90 + i % 60) * interval '1 day'
  FROM generate_series(1, :fact_keys::bigint) AS i, generate_series(0, 3) AS v;
SELECT scd2.create_dimension('dim', source => 'customer', business_key => '{customer_id}',
    surrogate_key => 'customer_sk', effective_at => 'changed_at');
CALL scd2.apply('dim');
CREATE TABLE fact (n bigint, customer_id bigint, ordered_at timestamptz, amount numeric(12,2), customer_sk bigint);
INSERT INTO fact
SELECT n, 1 + (hashint8extended(n, 1) & 2147483647) % (:fact_keys::bigint + :fact_keys::bigint / 100),
       timestamptz '2026-01-01 00:00+00' + (hashint8extended(n, 2) & 2147483647) % 34560000 * interval '1 s', n % 1000
  FROM generate_series(1, :facts::bigint) AS n;
SELECT scd2.register_fact('fact', 'dim', '{customer_id}', 'ordered_at', 'customer_sk');
-- what came late: of a thousand customers, in the middle of a version
CREATE TABLE late AS
SELECT i * (:fact_keys::bigint / 1000) AS customer_id, 'Late'::text AS city, timestamptz '2026-05-15 00:00+00' AS changed_at
  FROM generate_series(1, 1000) AS i;
VACUUM (ANALYZE, FREEZE) dim, fact, late;
