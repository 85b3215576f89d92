-- Keys by a sequence, and md5 for a hash: what one would write by hand.
INSERT INTO dim
SELECT nextval('dim_sk'), customer_id, name, email, phone, segment, city, credit,
       decode(md5(ROW (name, email, phone, segment, city, credit)::text), 'hex'),
       '2026-01-01 00:00+00', '9999-12-31 00:00+00', true
  FROM first_load;
