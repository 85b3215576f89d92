DO $$
DECLARE
    k bigint;
    found_city text;
BEGIN
    FOR k IN SELECT customer_id FROM asked LOOP
        SELECT city INTO STRICT found_city
          FROM dim_as_of('2026-01-25 00:00+00') WHERE customer_id = k;
    END LOOP;
END $$;
