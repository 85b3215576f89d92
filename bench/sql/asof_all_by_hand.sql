SELECT count(customer_id), count(phone), sum(credit), max(city)
  FROM dim WHERE valid_from <= '2026-01-25 00:00+00' AND '2026-01-25 00:00+00' < valid_to;
