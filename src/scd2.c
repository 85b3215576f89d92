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

	MarkGUCPrefixReserved("scd2");
}
