-- One line that is equal where the dimensions are, keys and hashes aside.
SELECT count(*) || ' ' || count(*) FILTER (WHERE is_current) || ' ' ||
       sum(hashtextextended(ROW (customer_id, name, email, phone, segment, city, credit,
                                 valid_from, valid_to, is_current)::text, 0))
  FROM :relation
 WHERE customer_id IS NOT NULL;
