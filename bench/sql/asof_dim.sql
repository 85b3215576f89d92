-- :versions versions of each customer, ten days each.  The surrogate keys are counted:
-- no query looks at them.
SELECT scd2.create_dimension('dim', source => 'first_load_at', business_key => '{customer_id}',
    surrogate_key => 'customer_sk', effective_at => 'changed_at', change_log => false);
SELECT format($$
    INSERT INTO dim
    SELECT customer_id * %3$s + %1$s, customer_id, name, email, phone, segment,
           'City ' || ((customer_id * 104729 + %1$s) %% 5000), credit, scd2.row_hash(customer_id, %1$s),
           timestamptz '2026-01-01 00:00+00' + %1$s * interval '10 days',
           CASE WHEN %2$s THEN '9999-12-31 00:00+00' ELSE timestamptz '2026-01-11 00:00+00' + %1$s * interval '10 days' END,
           %2$s
      FROM first_load$$, n, CASE WHEN n = :versions - 1 THEN 'true' ELSE 'false' END, :versions)
  FROM generate_series(0, :versions - 1) AS n \gexec
CREATE TABLE asked AS SELECT customer_id FROM first_load ORDER BY hashint8(customer_id) LIMIT 100000;
