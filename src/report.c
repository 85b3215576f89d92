/*-------------------------------------------------------------------------
 *
 * report.c
 *	  Saying what a run did.
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include "report.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/guc.h"

static void
append_count(StringInfo buf, int64 count, const char *one, const char *many)
{
	if (count != 0)
		appendStringInfo(buf, ", " INT64_FORMAT " %s", count,
						 count == 1 ? one : many);
}

/*
 * Say in one NOTICE what a run counted; zeros are left out.
 */
void
scd2_report_notice(const Scd2Dimension *dim, int64 run_id, const char *action,
				   const Scd2RunCounts *counts, bool wrote)
{
	StringInfoData buf;

	if (!scd2_notice)
		return;

	initStringInfo(&buf);
	append_count(&buf, counts->rows_read, "row read", "rows read");
	append_count(&buf, counts->keys_new, "new key", "new keys");
	append_count(&buf, counts->versions_opened, "version opened", "versions opened");
	append_count(&buf, counts->versions_closed, "version closed", "versions closed");
	append_count(&buf, counts->versions_removed, "version removed",
				 "versions removed");
	append_count(&buf, counts->rows_deleted, "key deleted", "keys deleted");
	append_count(&buf, counts->rows_overwritten, "version overwritten",
				 "versions overwritten");
	append_count(&buf, counts->rows_unchanged, "row unchanged", "rows unchanged");
	append_count(&buf, counts->rows_confirmed, "confirmation", "confirmations");
	append_count(&buf, counts->rows_replayed, "replay", "replays");
	append_count(&buf, counts->rows_late, "row late", "rows late");
	append_count(&buf, counts->keys_rebuilt, "key folded from the log",
				 "keys folded from the log");
	append_count(&buf, counts->rows_skipped, "row skipped", "rows skipped");
	append_count(&buf, counts->rows_rejected, "row rejected", "rows rejected");
	append_count(&buf, counts->facts_rekeyed, "fact re-keyed", "facts re-keyed");
	append_count(&buf, counts->facts_unknown, "of them without a version",
				 "of them without a version");
	if (!wrote)
		appendStringInfoString(&buf, ", nothing changed");

	ereport(NOTICE,
			(errmsg("scd2 run " INT64_FORMAT ", %s \"%s\": %s",
					run_id, action, dim->label,
					buf.len > 0 ? buf.data + 2 : "no rows")));
}

/*
 * Remember the session's last run.  In a setting, because settings go back when
 * a transaction or savepoint is rolled back, as the run's row does.
 */
void
scd2_report_last_run(int64 run_id)
{
	char	   *text = psprintf(INT64_FORMAT, run_id);

	(void) set_config_option("scd2.last_run", text, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SET, true, 0, false);
}

PG_FUNCTION_INFO_V1(scd2_last_run);

/*
 * scd2.last_run() returns bigint: this session's last run, or null.
 */
Datum
scd2_last_run(PG_FUNCTION_ARGS)
{
	if (scd2_last_run_setting == NULL || scd2_last_run_setting[0] == '\0')
		PG_RETURN_NULL();
	return DirectFunctionCall1(int8in, CStringGetDatum(scd2_last_run_setting));
}
