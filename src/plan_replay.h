/*-------------------------------------------------------------------------
 *
 * plan_replay.h
 *	  The SQL that finds out whether a row was applied before.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_REPLAY_H
#define SCD2_PLAN_REPLAY_H

#include "plan.h"

/*
 * Was the staged row "s" applied before (R5)?  An expression of the resolve
 * statement.  "lacks" tells the columns that the batch lacks, or is NULL.
 */
extern void scd2_plan_replay(StringInfo buf, const Scd2Dimension *dim, int flags,
							 const bool *lacks);

/* AND a row "l" of the log is of no run that was undone, if there are any. */
extern void scd2_plan_not_undone(StringInfo buf, const Scd2Dimension *dim,
								 int flags);

/*
 * A lateral item with the value that a type 0 column, attribute "attr", has in the
 * last state of the staged row's key: tN.v, where N is attr + 1.
 */
extern void scd2_plan_last_value(StringInfo buf, const Scd2Dimension *dim,
								 int attr, int flags);

/* What of a row of the log makes a replay: expressions. */
extern List *scd2_plan_log_fingerprint(const Scd2Dimension *dim,
									   const char *alias, const bool *lacks);

#endif							/* SCD2_PLAN_REPLAY_H */
