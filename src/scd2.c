/*-------------------------------------------------------------------------
 *
 * scd2.c
 *	  Module start and settings.
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

bool		scd2_notice = true;
char	   *scd2_last_run_setting = NULL;

extern void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomBoolVariable("scd2.notice",
							 "Says in a NOTICE what a run counted.",
							 NULL,
							 &scd2_notice,
							 true,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);

	DefineCustomStringVariable("scd2.last_run",
							   "The session's last run, which scd2.last_run() returns.",
							   NULL,
							   &scd2_last_run_setting,
							   "",
							   PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE,
							   NULL, NULL, NULL);

	MarkGUCPrefixReserved("scd2");
}
