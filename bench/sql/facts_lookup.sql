-- a row at a time: look up its version, then set it
DO $$
DECLARE f record; sk bigint;
BEGIN
    FOR f IN SELECT ctid, customer_id, ordered_at FROM fact WHERE customer_sk IS NULL LOOP
        SELECT d.customer_sk INTO sk FROM dim AS d
         WHERE d.customer_id = f.customer_id AND d.valid_from <= f.ordered_at AND d.valid_to > f.ordered_at;
        UPDATE fact SET customer_sk = coalesce(sk, -1) WHERE ctid = f.ctid;
    END LOOP;
END
$$;
