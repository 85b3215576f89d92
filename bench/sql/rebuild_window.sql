-- What one finds in articles: LAG over a hash of the attributes, a filter, two LEADs;
-- key and hash by what PostgreSQL has.
CREATE TABLE rebuilt AS
WITH changes AS (
    SELECT customer_id, name, email, phone, segment, city, credit, scd2_effective_at AS effective_at, scd2_id,
           sha256(convert_to(row_to_json(ROW (name, email, phone, segment, city, credit))::text, 'UTF8')) AS row_hash
      FROM dim_log),
collapsed AS (
    SELECT *, lag(row_hash) OVER (PARTITION BY customer_id ORDER BY effective_at, scd2_id) AS prev_hash
      FROM changes)
SELECT hash_record_extended(ROW (customer_id, effective_at), 0) AS customer_sk,
       customer_id, name, email, phone, segment, city, credit, row_hash,
       effective_at AS valid_from,
       coalesce(lead(effective_at) OVER (PARTITION BY customer_id ORDER BY effective_at, scd2_id),
                '9999-12-31 00:00+00') AS valid_to,
       lead(effective_at) OVER (PARTITION BY customer_id ORDER BY effective_at, scd2_id) IS NULL AS is_current
  FROM collapsed
 WHERE prev_hash IS NULL OR prev_hash <> row_hash;
