-- UPDATE what differs, then INSERT what has no current row.
UPDATE dim AS d
   SET valid_to = s.changed_at, is_current = false
  FROM delta AS s
 WHERE d.customer_id = s.customer_id AND d.is_current
   AND (d.name, d.email, d.phone, d.segment, d.city, d.credit)
       IS DISTINCT FROM (s.name, s.email, s.phone, s.segment, s.city, s.credit);

INSERT INTO dim (customer_id, name, email, phone, segment, city, credit, valid_from)
SELECT customer_id, name, email, phone, segment, city, credit, changed_at
  FROM delta AS s
 WHERE NOT EXISTS (SELECT FROM dim AS d WHERE d.customer_id = s.customer_id AND d.is_current);
