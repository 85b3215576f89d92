/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  One pass over a dimension's versions.
 *
 * By the table's access method and not by SPI: each row is looked at once and
 * forgotten, so that an executor, a projection and a destination in between
 * would cost more than the look.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "scan.h"

#include "access/table.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "progress.h"

/*
 * How large is the dimension?
 */
void
scd2_dimension_size(const Scd2Dimension *dim, BlockNumber *pages,
					double *tuples)
{
	Relation	rel = table_open(dim->relid, NoLock);
	double		allvisfrac;

	table_relation_estimate_size(rel, NULL, pages, tuples, &allvisfrac);
	table_close(rel, NoLock);
}

/*
 * Is the version in the slot its key's current one?
 */
bool
scd2_version_is_current(const Scd2Dimension *dim, TupleTableSlot *slot)
{
	slot_getsomeattrs(slot, dim->is_current_attnum);
	return !slot->tts_isnull[dim->is_current_attnum - 1] &&
		DatumGetBool(slot->tts_values[dim->is_current_attnum - 1]);
}

/*
 * Scan the versions; see scan.h.
 */
void
scd2_scan_versions(Scd2Batch *batch, Scd2VersionCallback callback, void *arg)
{
	Scd2Dimension *dim = batch->dim;
	Relation	rel = table_open(dim->relid, NoLock);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan;
	Datum	   *keys = palloc(dim->nkeys * sizeof(Datum));
	bool	   *keys_isnull = palloc(dim->nkeys * sizeof(bool));
	int			last_key = 0;

	for (int i = 0; i < dim->nkeys; i++)
		last_key = Max(last_key, dim->keys[i].attnum);

	scan = table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		MemoryContext oldcxt;
		bool		any_null = false;

		CHECK_FOR_INTERRUPTS();
		slot_getsomeattrs(slot, last_key);
		for (int i = 0; i < dim->nkeys; i++)
		{
			keys[i] = slot->tts_values[dim->keys[i].attnum - 1];
			keys_isnull[i] = slot->tts_isnull[dim->keys[i].attnum - 1];
			any_null |= keys_isnull[i];
		}
		if (any_null)
			continue;

		/* the scan's own memory must outlive the row's */
		oldcxt = MemoryContextSwitchTo(batch->row_cxt);
		callback(arg, slot, keys, keys_isnull);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(batch->row_cxt);
		scd2_progress_done_add(1);
	}
	table_endscan(scan);

	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
}
