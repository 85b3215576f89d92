-- those that had to move, by a plain join, those that did, and whether all are right
SELECT '  facts whose version is another one now ' || count(*) FILTER (WHERE d.city = 'Late') ||
       ', facts written ' || count(*) FILTER (WHERE f.ctid <> w.tid) ||
       ', wrong ' || count(*) FILTER (WHERE f.customer_sk <> coalesce(d.customer_sk, -1))
  FROM fact AS f
  JOIN was AS w USING (n)
  LEFT JOIN dim AS d ON d.customer_id = f.customer_id AND d.valid_from <= f.ordered_at AND d.valid_to > f.ordered_at;
