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


-- ---------------------------------------------------------------------------
-- checking (SPEC section 9): check.c
-- ---------------------------------------------------------------------------

