/* scd2 1.0 */

-- complain if this script is sourced in psql rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION scd2" to load this file. \quit

-- Fails when somebody else made a schema of this name before us (R34): the
-- control file says schema = pg_catalog so that nothing is ever looked up there.
CREATE SCHEMA scd2;
GRANT USAGE ON SCHEMA scd2 TO PUBLIC;
COMMENT ON SCHEMA scd2 IS 'slowly changing dimensions, kept right';

-- ---------------------------------------------------------------------------
-- sameness, hash and key (SPEC section 4): hash.c
-- ---------------------------------------------------------------------------

-- Both are IMMUTABLE, so that indexes and generated columns can be built over
-- them: no setting, search_path or encoding enters a result.  What does enter
-- beyond the value is its type's definition, as for any function over an enum
-- or a composite type: after ALTER TYPE ... RENAME VALUE or ADD ATTRIBUTE,
-- hashes over the type are new ones.
CREATE FUNCTION scd2.row_hash(VARIADIC "any") RETURNS bytea
	LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
	AS 'MODULE_PATHNAME', 'scd2_row_hash';
COMMENT ON FUNCTION scd2.row_hash(VARIADIC "any") IS
	'hash of a row of values: equal for equal values, on every server and under any settings';

CREATE FUNCTION scd2.surrogate_key(VARIADIC "any") RETURNS bigint
	LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10
	AS 'MODULE_PATHNAME', 'scd2_surrogate_key';
COMMENT ON FUNCTION scd2.surrogate_key(VARIADIC "any") IS
	'surrogate key of a version from its business key and valid_from, as xxhash64 of Apache Spark computes it';


-- ---------------------------------------------------------------------------
-- the registry: tables that only scd2 writes, and the views that users read
-- (SPEC sections 2 and 11): registry.c, follow.c
-- ---------------------------------------------------------------------------


-- ---------------------------------------------------------------------------
-- registering (SPEC section 2): define.c
-- ---------------------------------------------------------------------------


-- ---------------------------------------------------------------------------
-- loading (SPEC section 5): apply.c, preview.c, plan.c, report.c
-- ---------------------------------------------------------------------------

CREATE PROCEDURE scd2.apply(
    dimension regclass,
    source regclass DEFAULT NULL,
    batch_time timestamptz DEFAULT NULL,
    scope text DEFAULT NULL,
    force boolean DEFAULT false)
LANGUAGE C
AS 'MODULE_PATHNAME', 'scd2_apply';
COMMENT ON PROCEDURE scd2.apply(regclass, regclass, timestamptz, text, boolean) IS
    'applies a batch of changes to a dimension';

CREATE FUNCTION scd2.preview(
    dimension regclass,
    source regclass DEFAULT NULL,
    batch_time timestamptz DEFAULT NULL,
    scope text DEFAULT NULL,
    force boolean DEFAULT false)
RETURNS TABLE (action text, key jsonb, effective_at timestamptz, old jsonb, new jsonb)
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 10000 ROWS 1000
AS 'MODULE_PATHNAME', 'scd2_preview';
COMMENT ON FUNCTION scd2.preview(regclass, regclass, timestamptz, text, boolean) IS
    'shows what apply would do, and writes nothing';

CREATE FUNCTION scd2.sql(dimension regclass)
RETURNS TABLE (step integer, name text, statement text)
LANGUAGE C STABLE STRICT PARALLEL UNSAFE COST 1000 ROWS 20
AS 'MODULE_PATHNAME', 'scd2_sql';
COMMENT ON FUNCTION scd2.sql(regclass) IS
    'shows every statement that apply generates for a dimension';

CREATE FUNCTION scd2.last_run()
RETURNS bigint
LANGUAGE C STABLE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'scd2_last_run';
COMMENT ON FUNCTION scd2.last_run() IS
    'the id of this session''s last run, or null';

CREATE VIEW scd2.progress AS
SELECT p.pid,
       p.relid::regclass AS dimension,
       CASE p.param11
           WHEN 1 THEN 'waiting for an earlier run'
           WHEN 2 THEN 'reading current versions'
           WHEN 3 THEN 'reading the source'
           WHEN 4 THEN 'classifying'
           WHEN 5 THEN 'closing versions'
           WHEN 6 THEN 'opening versions'
           WHEN 7 THEN 'overwriting'
           WHEN 8 THEN 'logging'
           ELSE 'starting'
       END AS phase,
       p.param12 AS done,
       nullif(p.param13, 0) AS total
  FROM pg_catalog.pg_stat_get_progress_info('COPY') AS p
 WHERE p.param14 = 727375682
   AND p.datid = (SELECT d.oid FROM pg_catalog.pg_database AS d
                   WHERE d.datname = pg_catalog.current_database());
COMMENT ON VIEW scd2.progress IS
    'how far the runs are that are under way in this database';
GRANT SELECT ON scd2.progress TO PUBLIC;


-- ---------------------------------------------------------------------------
-- checking (SPEC section 9): check.c
-- ---------------------------------------------------------------------------

