-- A table with the columns and indexes of scd2's dimension, to INSERT into.
CREATE TABLE dim (
    customer_sk bigint PRIMARY KEY,
    customer_id bigint,
    name text, email text, phone text, segment text, city text, credit numeric(12,2),
    row_hash bytea,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz NOT NULL,
    is_current boolean NOT NULL,
    UNIQUE (customer_id, valid_from)) WITH (fillfactor = :fillfactor);
CREATE SEQUENCE dim_sk;
