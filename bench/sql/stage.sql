-- What the source sends, made the same way each time.  :keys customers with six
-- attributes (one in ten has no phone); a snapshot with one row in a hundred
-- changed; a delta with one key in ten changed, as many again in a hundredth
-- new, in no order.
CREATE FUNCTION pg_temp.customer(i bigint, edition int, OUT customer_id bigint, OUT name text, OUT email text,
                                 OUT phone text, OUT segment text, OUT city text, OUT credit numeric)
LANGUAGE sql IMMUTABLE AS $$
SELECT i, 'Customer number ' || i, 'customer' || i || '@example.org',
       CASE WHEN i % 10 <> 3 THEN '+49 30 ' || (i * 7919 % 10000000) END,
       (ARRAY['private', 'small business', 'enterprise', 'public'])[i % 4 + 1],
       'City ' || ((i * 104729 + edition) % 5000),
       (i * 31 % 100000)::numeric / 100
$$;

CREATE TABLE first_load AS SELECT c.customer_id, c.name, c.email, c.phone, c.segment, c.city, c.credit::numeric(12,2)
  FROM generate_series(1, :keys::bigint) AS i, pg_temp.customer(i, 0) AS c;
CREATE VIEW first_load_at AS SELECT *, timestamptz '2026-01-01 00:00+00' AS changed_at FROM first_load;

CREATE TABLE snapshot AS
SELECT c.customer_id, c.name, c.email, c.phone, c.segment, c.city, c.credit::numeric(12,2)
  FROM generate_series(1, :keys::bigint) AS i, pg_temp.customer(i, CASE WHEN i % 100 = 7 THEN 1 ELSE 0 END) AS c;

CREATE TABLE delta AS
SELECT c.customer_id, c.name, c.email, c.phone, c.segment, c.city, c.credit::numeric(12,2),
       timestamptz '2026-02-01 00:00+00' + i * interval '1 s' AS changed_at
  FROM generate_series(1, :keys::bigint + :keys::bigint / 100) AS i, pg_temp.customer(i, 1) AS c
 WHERE i % 10 = 3 OR i > :keys::bigint
 ORDER BY hashint8(i);

VACUUM (ANALYZE, FREEZE) first_load, snapshot, delta;
