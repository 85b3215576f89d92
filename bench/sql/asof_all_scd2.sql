SELECT count(customer_id), count(phone), sum(credit), max(city)
  FROM dim_as_of('2026-01-25 00:00+00');
