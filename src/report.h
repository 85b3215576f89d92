/*-------------------------------------------------------------------------
 *
 * report.h
 *	  Saying what a run did.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_REPORT_H
#define SCD2_REPORT_H

#include "registry.h"

/* One NOTICE with the counts (R21), unless scd2.notice is off. */
extern void scd2_report_notice(const Scd2Dimension *dim, int64 run_id,
							   const char *action,
							   const Scd2RunCounts *counts, bool wrote);

/* Remember the run for scd2.last_run(), until the transaction rolls back. */
extern void scd2_report_last_run(int64 run_id);

#endif							/* SCD2_REPORT_H */
