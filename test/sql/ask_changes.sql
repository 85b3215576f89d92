-- scd2.changes and scd2.stats (SPEC section 7, R28)
SET client_min_messages = warning;
SET timezone = 'Asia/Tokyo';
SET datestyle = 'SQL, DMY';
CREATE SCHEMA ac;
SET search_path = ac;
SET scd2.notice = off;

CREATE TABLE s (id integer, seg text, amount numeric, name text, at timestamp, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id}', type1 => '{name}', effective_at => 'at', delete_when => 'gone');
SELECT scd2.create_dimension('dim_f', source => 's', business_key => '{id}', type1 => '{name}', effective_at => 'at', delete_when => 'gone',
    on_delete => 'flag', period_type => 'date', open_end => 'null', history => 'separate', columns => '{"valid_from": "From", "is_deleted": "gone"}');
INSERT INTO s VALUES (1, 'x', 1, 'Ada', '2026-01-01', false), (1, 'y', 1.00, 'Eve', '2026-01-10', false), (1, 'y', 1.0, 'Eve', '2026-01-12', false),
                     (1, NULL, 2, 'Eve', '2026-01-15', false), (2, 'z', NULL, 'Bob', '2026-01-10', false), (2, NULL, NULL, NULL, '2026-01-20', true),
                     (2, 'z', NULL, 'Bob', '2026-01-25', false);
CALL scd2.apply('dim_c');
CALL scd2.apply('dim_f');
SET timezone = 'UTC';
SET datestyle = 'ISO';
SELECT * FROM scd2.changes(NULL::dim_c, '2026-01-01', '2026-02-01');
-- half-open; an open version does not close
SELECT DISTINCT at, action, key FROM scd2.changes(NULL::dim_c, '2026-01-10', '2026-01-15') ORDER BY 1, 2, 3;
SELECT DISTINCT at, action, key FROM scd2.changes(NULL::dim_c, '2026-01-20', 'infinity') ORDER BY 1, 2, 3;
SELECT count(*) FROM scd2.changes(NULL::dim_c, NULL, '2026-01-15');
-- flagged deletes; a day is of its midnight
SELECT * FROM scd2.changes(NULL::dim_f, '2026-01-20', 'infinity');
SELECT count(*) FROM scd2.changes(NULL::dim_f, '2026-01-20 00:00:01', '2026-01-25 00:00');
SELECT DISTINCT at FROM scd2.changes(NULL::dim_f, '2026-01-20', '2026-01-25 00:00:01') ORDER BY 1;

-- stats: no version is of amount's 1.0 = 1.00
SELECT section, CASE section WHEN 'growth_per_run' THEN 'run' ELSE name END AS name, value, hint FROM scd2.stats('dim_c');
SELECT section, CASE section WHEN 'growth_per_run' THEN 'run' ELSE name END AS name, value, hint FROM scd2.stats('dim_f');
-- a column that causes nearly all versions
CREATE TABLE l (id integer, name text, last_login_at date, at timestamptz);
SELECT scd2.create_dimension('dim_l', source => 'l', business_key => '{id}', effective_at => 'at');
INSERT INTO l SELECT i, CASE WHEN d < 18 THEN 'a' ELSE 'b' END, '2026-01-01'::date + d, '2026-01-01'::timestamptz + d * interval '1 day'
  FROM generate_series(1, 3) i, generate_series(1, 20) d;
CALL scd2.apply('dim_l');
SELECT name, value, hint FROM scd2.stats('dim_l') WHERE section = 'column_causes';
-- nothing yet
SELECT scd2.create_dimension('dim_e', source => 'l', business_key => '{id}', effective_at => 'at');
SELECT * FROM scd2.stats('dim_e');
SELECT * FROM scd2.stats('l');
SELECT * FROM scd2.stats(NULL);

-- R34, R28 and hard case 20
CREATE ROLE ac_reader;
GRANT USAGE ON SCHEMA ac TO ac_reader;
SET ROLE ac_reader;
\set VERBOSITY sqlstate
SELECT * FROM scd2.changes(NULL::dim_c, '2026-01-01', '2026-02-01');
SELECT * FROM scd2.stats('dim_c');
\set VERBOSITY default
RESET ROLE;
GRANT SELECT ON dim_c TO ac_reader;
SET ROLE ac_reader;
BEGIN READ ONLY;
SELECT count(*) FROM scd2.changes(NULL::dim_c, '2026-01-01', '2026-02-01');
SELECT section, count(*) FROM scd2.stats('dim_c') GROUP BY 1 ORDER BY 1;
SELECT mode FROM pg_locks l WHERE pid = pg_backend_pid() AND relation IS NOT NULL AND mode <> 'AccessShareLock';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
COMMIT;
RESET ROLE;

DROP SCHEMA ac CASCADE;
DROP ROLE ac_reader;
