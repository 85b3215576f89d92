/*-------------------------------------------------------------------------
 *
 * check_plan.h
 *	  The SQL of scd2.check, from a definition alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CHECK_PLAN_H
#define SCD2_CHECK_PLAN_H

#include "registry.h"

/* K, valid_from, SK, valid_to, is_current, in history?  In the order of chains. */
extern char *scd2_check_chain_sql(const Scd2Dimension *dim);

/* K, valid_from, SK, and where it is kept row_hash and what it hashes. */
extern char *scd2_check_hashed_sql(const Scd2Dimension *dim);

/*
 * Rows with a null key: K, valid_from, SK, valid_to, is_current, and whether
 * all other columns are null; in history?
 */
extern char *scd2_check_unknown_sql(const Scd2Dimension *dim);

/* K, starts, SK, valid_from, ends of the gaps that the log does not explain. */
extern char *scd2_check_gaps_sql(const Scd2Dimension *dim);

#endif							/* SCD2_CHECK_PLAN_H */
