-- The dimension of the handwritten MERGE: it finds changes by a hash that it keeps.
CREATE TABLE dim (
    customer_sk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    customer_id bigint NOT NULL,
    name text, email text, phone text, segment text, city text, credit numeric(12,2),
    row_hash bytea NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz NOT NULL DEFAULT '9999-12-31 00:00+00',
    is_current boolean NOT NULL DEFAULT true,
    UNIQUE (customer_id, valid_from)) WITH (fillfactor = :fillfactor);
\if :current_index
CREATE UNIQUE INDEX dim_current ON dim (customer_id) WHERE is_current;
\endif

INSERT INTO dim (customer_id, name, email, phone, segment, city, credit, row_hash, valid_from)
SELECT customer_id, name, email, phone, segment, city, credit,
       sha256(convert_to(row_to_json(ROW (name, email, phone, segment, city, credit))::text, 'UTF8')),
       '2026-01-01 00:00+00'
  FROM first_load;
VACUUM (ANALYZE, FREEZE) dim;
