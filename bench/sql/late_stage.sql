-- The same :late changes twice: after the delta that their keys had, and before it.
CREATE TABLE in_order AS
SELECT customer_id, name, email, phone, segment, city || ' again' AS city, credit, changed_at + interval '1 month' AS changed_at
  FROM delta
 WHERE customer_id IN (SELECT customer_id FROM first_load)
 ORDER BY hashint8(customer_id) LIMIT :late;
CREATE TABLE late AS
SELECT customer_id, name, email, phone, segment, city, credit, changed_at - interval '6 weeks' AS changed_at
  FROM in_order;
VACUUM (ANALYZE, FREEZE);
