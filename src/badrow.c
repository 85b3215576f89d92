/*-------------------------------------------------------------------------
 *
 * badrow.c
 *	  Source rows that cannot be applied (R19).
 *
 * With on_bad_row => 'error' a batch is looked through to its end before it
 * fails, so that the message can say how many rows are bad and name the first.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "badrow.h"

#include "preview.h"
#include "utils/memutils.h"

#define NAMED_ROWS	5

struct Scd2BadRows
{
	int64		count;
	int			sqlstate;		/* of the first */
	StringInfoData first;		/* lines about the first NAMED_ROWS */
};

/*
 * Note a bad row; see badrow.h.
 */
void
scd2_bad_row(Scd2Batch *batch, int sqlstate, const char *reason,
			 const Datum *keys, const bool *keys_isnull,
			 const Datum *attrs, const bool *attrs_isnull)
{
	Scd2BadRows *bad = batch->bad_rows;

	batch->counts.rows_rejected++;

	if (batch->preview != NULL)
	{
		scd2_preview_reject(batch, keys, keys_isnull, attrs, attrs_isnull,
							reason);
		return;
	}

	if (bad == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);

		bad = palloc0(sizeof(Scd2BadRows));
		bad->sqlstate = sqlstate;
		initStringInfo(&bad->first);
		batch->bad_rows = bad;
		MemoryContextSwitchTo(oldcxt);
	}

	if (bad->count++ < NAMED_ROWS)
	{
		char	   *key = scd2_key_text(batch->dim, keys, keys_isnull);

		appendStringInfo(&bad->first, "%sKey %s: %s.",
						 bad->count > 1 ? "\n" : "", key, reason);
	}
}

/*
 * Fail the batch if any row was bad.
 */
void
scd2_bad_rows_raise(Scd2Batch *batch)
{
	Scd2BadRows *bad = batch->bad_rows;

	if (bad == NULL)
		return;

	ereport(ERROR,
			(errcode(bad->sqlstate),
			 errmsg_plural("source \"%s\" has " INT64_FORMAT " row that dimension \"%s\" cannot take",
						   "source \"%s\" has " INT64_FORMAT " rows that dimension \"%s\" cannot take",
						   (unsigned long) bad->count,
						   batch->source_label, bad->count, batch->dim->label),
			 errdetail_internal("%s%s", bad->first.data,
								bad->count > NAMED_ROWS ?
								psprintf("\n... and " INT64_FORMAT " more.",
										 bad->count - NAMED_ROWS) : ""),
			 errhint("Nothing was written. Correct the rows in the source, or leave them out.")));
}
