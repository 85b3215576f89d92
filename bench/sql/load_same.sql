-- The very values that scd2 writes, by its own functions.
INSERT INTO dim
SELECT scd2.surrogate_key(customer_id, timestamptz '2026-01-01 00:00+00'),
       customer_id, name, email, phone, segment, city, credit,
       scd2.row_hash(name, email, phone, segment, city, credit),
       '2026-01-01 00:00+00', '9999-12-31 00:00+00', true
  FROM first_load;
