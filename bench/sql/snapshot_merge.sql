-- MERGE, each changed row staged twice: once with its key, to close; once without, to open.
WITH s AS MATERIALIZED (
    SELECT *, sha256(convert_to(row_to_json(ROW (name, email, phone, segment, city, credit))::text, 'UTF8')) AS row_hash
      FROM snapshot)
MERGE INTO dim AS d
USING (SELECT s.customer_id AS merge_key, s.* FROM s
       UNION ALL
       SELECT NULL, s.* FROM s JOIN dim AS c ON c.customer_id = s.customer_id AND c.is_current
        WHERE c.row_hash <> s.row_hash) AS u
   ON d.customer_id = u.merge_key AND d.is_current
 WHEN MATCHED AND d.row_hash <> u.row_hash THEN
    UPDATE SET valid_to = '2026-02-01 00:00+00', is_current = false
 WHEN NOT MATCHED THEN
    INSERT (customer_id, name, email, phone, segment, city, credit, row_hash, valid_from)
    VALUES (u.customer_id, u.name, u.email, u.phone, u.segment, u.city, u.credit, u.row_hash, '2026-02-01 00:00+00');
