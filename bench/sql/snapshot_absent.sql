-- What a snapshot asks for besides: close the keys that it no longer holds.
UPDATE dim AS d
   SET valid_to = '2026-02-01 00:00+00', is_current = false
 WHERE d.is_current
   AND NOT EXISTS (SELECT FROM snapshot AS s WHERE s.customer_id = d.customer_id);
