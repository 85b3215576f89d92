/*-------------------------------------------------------------------------
 *
 * plan_late.h
 *	  The SQL of late batches, from a definition alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_LATE_H
#define SCD2_PLAN_LATE_H

#include "plan.h"

/* "scope_columns": the numbers of the dimension's columns that scope_sql reads. */
extern char *scd2_plan_late_open_keys(const Scd2Dimension *dim,
									  const char *scope_sql,
									  List *scope_columns);
extern char *scd2_plan_late_absent(const Scd2Dimension *dim,
								   const char *scope_sql,
								   List *scope_columns);
extern char *scd2_plan_late_resolve(const Scd2Dimension *dim);

#endif							/* SCD2_PLAN_LATE_H */
