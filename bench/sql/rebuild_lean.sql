-- The least that tells the versions: LAG over the attributes themselves, no hash, no
-- surrogate key.
CREATE TABLE rebuilt AS
WITH collapsed AS (
    SELECT customer_id, name, email, phone, segment, city, credit, scd2_effective_at AS effective_at, scd2_id,
           lag(ROW (name, email, phone, segment, city, credit)) OVER w AS before
      FROM dim_log
    WINDOW w AS (PARTITION BY customer_id ORDER BY scd2_effective_at, scd2_id))
SELECT customer_id, name, email, phone, segment, city, credit,
       effective_at AS valid_from,
       coalesce(lead(effective_at) OVER w, '9999-12-31 00:00+00') AS valid_to,
       lead(effective_at) OVER w IS NULL AS is_current
  FROM collapsed
 WHERE before IS NULL OR before IS DISTINCT FROM ROW (name, email, phone, segment, city, credit)
WINDOW w AS (PARTITION BY customer_id ORDER BY effective_at, scd2_id);
