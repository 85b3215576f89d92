/*-------------------------------------------------------------------------
 *
 * rebuild.h
 *	  The dimension from its log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_REBUILD_H
#define SCD2_REBUILD_H

#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/array.h"

#include "registry.h"

/*
 * The table whose row type a function's first argument has.  Errors:
 * wrong_object_type.
 */
extern Oid	scd2_row_argument(FunctionCallInfo fcinfo);

/*
 * Raise when the dimension has no log: object_not_in_prerequisite_state, with
 * "why" in the detail.
 */
extern void scd2_check_has_log(const Scd2Dimension *dim, const char *why);

/*
 * Return the versions folded from the log from a set-returning function whose
 * first argument is of the dimension's row type: of some keys (NULL: all), as
 * known at a time (NULL: now), and as of a time (NULL: all).
 */
extern void scd2_rebuild_rows(FunctionCallInfo fcinfo, ArrayType *keys,
							  const TimestampTz *known_at,
							  const TimestampTz *as_of);

#endif							/* SCD2_REBUILD_H */
