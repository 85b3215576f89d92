/*-------------------------------------------------------------------------
 *
 * quarantine.c
 *	  The rejected rows of a dimension, in the registry.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "quarantine.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "plan.h"
#include "spi.h"

struct Scd2Retry
{
	MemoryContext cxt;			/* as long as it lives */
	Tuplestorestate *rows;		/* id, batch_time, row_data, row_text */
	TupleTableSlot *slot;		/* the next row */
	bool		more;			/* is there one? */
	bool		in_group;		/* has the group begun? */
	TimestampTz batch_time;		/* of the group */
	Tuplestorestate *taken;		/* ids of the group */
	TupleDesc	taken_desc;
	int64		ntaken;
};

/*
 * The registry's own statements, over stores of the batch.
 */
static void
run_as_registry(const char *step, const char *sql, const Scd2Store *store,
				const Scd2Retry *retry, int nargs, const Oid *types,
				const Datum *values)
{
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	scd2_store_register(store);
	if (retry != NULL)
		scd2_spi_register("scd2_retried", retry->taken_desc, retry->taken,
						  (double) retry->ntaken);
	scd2_spi_run(step, sql, nargs, types, values, NULL);
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Write what was rejected; see quarantine.h.
 */
void
scd2_write_rejected(Scd2Batch *batch)
{
	/* in mode log, a row is read again until the mark passes it */
	Oid			types[] = {INT4OID, INT8OID, TIMESTAMPTZOID, BOOLOID};
	Datum		values[] = {Int32GetDatum(batch->dim->id),
		Int64GetDatum(batch->run_id), TimestampTzGetDatum(batch->recorded_at),
	BoolGetDatum(batch->dim->mode == SCD2_MODE_LOG)};
	Scd2Store	none = {0};
	Scd2Store  *rejected = &batch->rejected;

	if (batch->retry == NULL)
	{
		if (rejected->ntuples > 0)
			run_as_registry("reject",
							"INSERT INTO scd2.registry_rejected"
							" (dimension_id, run, key, row_data, row_text, reason, rejected_at)\n"
							"SELECT $1, $2, r.key, r.row_data, r.row_text, r.reason, $3"
							" FROM scd2_rejected AS r"
							" WHERE NOT $4 OR NOT EXISTS (SELECT FROM scd2.registry_rejected AS j"
							" WHERE j.dimension_id = $1 AND j.row_data = r.row_data"
							" AND j.taken_by IS NULL)"
							" ORDER BY r.ord",
							rejected, NULL, 4, types, values);
		scd2_store_end(rejected);
		return;
	}

	if (rejected->store == NULL)
	{
		TupleDesc	desc = CreateTemplateTupleDesc(2);

		scd2_desc_column(desc, 1, "ord", INT8OID, -1, InvalidOid);
		scd2_desc_column(desc, 2, "reason", TEXTOID, -1, InvalidOid);
		scd2_store_begin(batch, &none, "scd2_rejected", desc);
		rejected = &none;
	}
	run_as_registry("reject",
					"UPDATE scd2.registry_rejected AS j SET reason = r.reason"
					" FROM scd2_rejected AS r"
					" WHERE j.id = r.ord AND j.dimension_id = $1"
					" AND j.reason IS DISTINCT FROM r.reason",
					rejected, NULL, 1, types, values);
	run_as_registry("accept",
					"UPDATE scd2.registry_rejected AS j SET taken_by = $2 FROM scd2_retried AS t"
					" WHERE j.id = t.id AND j.dimension_id = $1"
					" AND NOT EXISTS (SELECT FROM scd2_rejected AS r WHERE r.ord = j.id)",
					rejected, batch->retry, 2, types, values);
	scd2_store_end(rejected);
}

/*
 * Undo what a run rejected or took back; see quarantine.h.
 */
void
scd2_undo_rejected(const Scd2Dimension *dim, int64 run_id)
{
	static SPIPlanPtr reject_plan = NULL;
	static SPIPlanPtr take_plan = NULL;
	const Oid	types[] = {INT4OID, INT8OID};
	Datum		values[] = {Int32GetDatum(dim->id), Int64GetDatum(run_id)};
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_cached("undo rejected", &reject_plan,
						   "DELETE FROM scd2.registry_rejected"
						   " WHERE dimension_id = $1 AND run = $2",
						   2, types, values, NULL, false);
	(void) scd2_spi_cached("undo accepted", &take_plan,
						   "UPDATE scd2.registry_rejected SET taken_by = NULL"
						   " WHERE dimension_id = $1 AND taken_by = $2",
						   2, types, values, NULL, false);
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Have the next row in the slot, whose memory outlives a group's batch.
 */
static void
look_ahead(Scd2Retry *retry)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(retry->cxt);

	retry->more = tuplestore_gettupleslot(retry->rows, true, false, retry->slot);
	MemoryContextSwitchTo(oldcxt);
}

/*
 * Read the rejected rows; see quarantine.h.
 */
Scd2Retry *
scd2_retry_begin(const Scd2Dimension *dim, MemoryContext cxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2Retry  *retry = palloc0(sizeof(Scd2Retry));
	Oid			types[] = {INT4OID, BOOLOID};
	Datum		values[] = {Int32GetDatum(dim->id), BoolGetDatum(scd2_compares_state(dim))};
	TupleDesc	desc = CreateTemplateTupleDesc(4);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	Scd2Rights	save;

	retry->cxt = cxt;
	retry->rows = tuplestore_begin_heap(false, false, work_mem);
	scd2_desc_column(desc, 1, "id", INT8OID, -1, InvalidOid);
	scd2_desc_column(desc, 2, "batch_time", TIMESTAMPTZOID, -1, InvalidOid);
	scd2_desc_column(desc, 3, "row_data", JSONBOID, -1, InvalidOid);
	scd2_desc_column(desc, 4, "row_text", JSONBOID, -1, InvalidOid);
	retry->taken_desc = CreateTemplateTupleDesc(1);
	scd2_desc_column(retry->taken_desc, 1, "id", INT8OID, -1, InvalidOid);

	SetTuplestoreDestReceiverParams(dest, retry->rows, cxt, true, NULL, NULL);
	scd2_registry_enter(&save);
	scd2_spi_begin();
	scd2_spi_stream("rejected rows",
					"SELECT j.id, CASE WHEN $2 THEN r.batch_time END, j.row_data, j.row_text"
					" FROM scd2.registry_rejected j"
					" LEFT JOIN scd2.registry_run r ON r.id = j.run"
					" WHERE j.dimension_id = $1 AND j.taken_by IS NULL"
					" ORDER BY 2 NULLS FIRST, 1",
					lengthof(types), types, values, NULL, true, dest);
	scd2_spi_end();
	scd2_rights_leave(&save);
	dest->rDestroy(dest);

	MemoryContextSwitchTo(cxt);
	retry->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(oldcxt);
	look_ahead(retry);
	return retry;
}

static TimestampTz
row_batch_time(Scd2Retry *retry)
{
	slot_getallattrs(retry->slot);
	return retry->slot->tts_isnull[1] ? DT_NOBEGIN :
		DatumGetTimestampTz(retry->slot->tts_values[1]);
}

/*
 * Go to the next group; see quarantine.h.
 */
bool
scd2_retry_group(Scd2Retry *retry, TimestampTz *batch_time)
{
	if (retry->taken != NULL)
		tuplestore_end(retry->taken);
	retry->taken = NULL;
	retry->ntaken = 0;
	if (!retry->more)
		return false;
	retry->batch_time = row_batch_time(retry);
	retry->taken = tuplestore_begin_heap(true, false, work_mem);
	*batch_time = retry->batch_time;
	return true;
}

/*
 * The next row of the group; see quarantine.h.
 */
bool
scd2_retry_next(Scd2Retry *retry, int64 *id, Datum *row_data, Datum *row_text)
{
	bool		isnull = false;

	if (!retry->more || row_batch_time(retry) != retry->batch_time)
		return false;
	*id = DatumGetInt64(retry->slot->tts_values[0]);
	*row_data = datumCopy(retry->slot->tts_values[2], false, -1);
	*row_text = retry->slot->tts_isnull[3] ? (Datum) 0 :
		datumCopy(retry->slot->tts_values[3], false, -1);
	tuplestore_putvalues(retry->taken, retry->taken_desc, &retry->slot->tts_values[0],
						 &isnull);
	retry->ntaken++;
	look_ahead(retry);
	return true;
}

void
scd2_retry_end(Scd2Retry *retry)
{
	ExecDropSingleTupleTableSlot(retry->slot);
	tuplestore_end(retry->rows);
}
