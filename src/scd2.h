/*-------------------------------------------------------------------------
 *
 * scd2.h
 *	  The few things that everybody shares: settings and file-wide constants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_H
#define SCD2_H

#include "compat.h"

/* scd2.notice: say what a run counted in a NOTICE (R21). */
extern bool scd2_notice;

/* scd2.last_run: the session's last run, set by scd2 itself (report.c). */
extern char *scd2_last_run_setting;

/* How scd2.timeline draws. */
extern int	scd2_timeline_width;
extern bool scd2_timeline_ascii;

#endif							/* SCD2_H */
