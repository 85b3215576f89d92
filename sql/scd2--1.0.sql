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

