-- A log of :changes changes of each customer, day by day: of ten, three change nothing.
-- They are put into the log as a run that loaded them all would have.
SELECT scd2.create_dimension('dim', source => 'first_load_at', business_key => '{customer_id}',
    surrogate_key => 'customer_sk', effective_at => 'changed_at');
CREATE VIEW nothing AS SELECT * FROM first_load_at WHERE false;
CALL scd2.apply('dim', source => 'nothing');
SELECT format($$
    INSERT INTO dim_log (customer_id, scd2_effective_at, scd2_deleted, name, email, phone, segment, city, credit,
                         scd2_run, scd2_recorded_at)
    SELECT customer_id, timestamptz '2026-01-01 00:00+00' + %1$s * interval '1 day' + customer_id * interval '1 s', false,
           name, email, phone, segment, 'City ' || ((customer_id * 104729 + %1$s - %1$s / 3) %% 5000), credit,
           r.id, r.recorded_at
      FROM first_load, scd2.runs AS r$$, n)
  FROM generate_series(0, :changes - 1) AS n \gexec
