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
int			scd2_timeline_width = 80;
bool		scd2_timeline_ascii = false;

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

	DefineCustomIntVariable("scd2.timeline_width",
							"How many columns of a terminal scd2.timeline takes.",
							NULL,
							&scd2_timeline_width,
							80,
							60, 1000,
							PGC_USERSET,
							0,
							NULL, NULL, NULL);

	DefineCustomBoolVariable("scd2.timeline_ascii",
							 "Has scd2.timeline draw in ASCII.",
							 "It does so, too, where database or client are not in UTF-8.",
							 &scd2_timeline_ascii,
							 false,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);

	MarkGUCPrefixReserved("scd2");
}
