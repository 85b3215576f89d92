UPDATE fact AS f SET customer_sk = d.customer_sk
  FROM dim AS d
 WHERE d.customer_id = f.customer_id AND d.valid_from <= f.ordered_at AND d.valid_to > f.ordered_at
   AND (f.customer_sk IS NULL OR f.customer_sk = -1);
UPDATE fact SET customer_sk = -1 WHERE customer_sk IS NULL;
