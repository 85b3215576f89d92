/*-------------------------------------------------------------------------
 *
 * undo.c
 *	  CALL scd2.undo: from now on a run and its changes do not exist (R27).
 *
 * The mark is on the run; no log row is touched, and what was known before the
 * undo can still be asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "convert.h"
#include "emit.h"
#include "logpos.h"
#include "plan_chain.h"
#include "quarantine.h"
#include "run.h"
#include "runs.h"
#include "spi.h"
#include "states.h"
#include "write.h"

/*
 * May the run be undone?
 */
static void
check_run(const Scd2Dimension *dim, int64 run_id, Scd2PastRun *past)
{
	bool		any_order = dim->effective_at != NULL ?
		dim->mode != SCD2_MODE_SNAPSHOT : dim->mode == SCD2_MODE_SNAPSHOT;

	if (!OidIsValid(dim->log))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dimension \"%s\" has no change log", dim->label),
				 errdetail("It was registered with change_log => false, and undo folds keys from the log."),
				 errhint("Register it with change_log => true.")));
	if (!scd2_runs_find(dim, run_id, past))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dimension \"%s\" has no run " INT64_FORMAT, dim->label, run_id),
				 errhint("The view scd2.runs lists its runs.")));
	if (strcmp(past->action, "apply") != 0 && strcmp(past->action, "retry") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("run " INT64_FORMAT " of dimension \"%s\" cannot be undone",
						run_id, dim->label),
				 errdetail("Its action is \"%s\"; only those of \"apply\" and \"retry\" can.",
						   past->action)));
	if (past->is_undone)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("run " INT64_FORMAT " of dimension \"%s\" is undone already",
						run_id, dim->label)));
	if (strcmp(past->action, "retry") == 0 && dim->effective_at == NULL)
		any_order = false;
	if (!any_order && !past->is_last)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("run " INT64_FORMAT " of dimension \"%s\" is not its last one",
						run_id, dim->label),
				 errdetail("Later runs were compared with what this one left, so only the last run can be undone."),
				 errhint("Undo the later runs first, the last one before the others.")));
}

/*
 * The keys of the run's changes.
 */
static void
find_keys(Scd2Batch *batch, int64 run_id)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(run_id)};

	batch->counts.keys_rebuilt =
		scd2_store_fill(batch, &batch->chain_keys, "run keys",
						scd2_plan_run_keys(batch->dim), 1, types, values, true);
}

/*
 * A snapshot logs only what differs from what was known before it.  So where the
 * next one told the same as the run, and logged nothing, that is logged now (R20).
 */
static void
log_next_states(Scd2Batch *batch, Scd2Emitter *emitter, int64 run_id,
				TimestampTz at, TimestampTz next)
{
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	Scd2StatesLayout from;
	Scd2Store	states;
	TupleTableSlot *slot;
	Datum	   *row = palloc0(layout->ncols * sizeof(Datum));
	bool	   *isnull = palloc(layout->ncols * sizeof(bool));

	scd2_states(batch, false, at, next, run_id, &states);
	scd2_states_layout(dim, &from);
	slot = MakeSingleTupleTableSlot(states.desc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(states.store, true, false, slot))
	{
		bool		present;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		present = DatumGetBool(slot->tts_values[from.next_present]);
		if (DatumGetBool(slot->tts_values[from.next_logged]) ||
			(!present && dim->on_delete == SCD2_DELETE_IGNORE))
			continue;

		memset(isnull, true, layout->ncols * sizeof(bool));
		row[layout->e] = scd2_to_period(dim, TimestampTzGetDatum(next), TIMESTAMPTZOID);
		isnull[layout->e] = false;
		if (layout->source_time >= 0)
		{
			row[layout->source_time] = TimestampTzGetDatum(next);
			isnull[layout->source_time] = false;
		}
		row[layout->deleted] = BoolGetDatum(!present);
		isnull[layout->deleted] = false;
		for (int i = 0; i < dim->nkeys; i++)
		{
			row[layout->keys + i] = slot->tts_values[from.keys + i];
			isnull[layout->keys + i] = false;
		}
		for (int i = 0; present && i < dim->nattrs; i++)
		{
			row[layout->attrs + i] = slot->tts_values[from.next_attrs + i];
			isnull[layout->attrs + i] = slot->tts_isnull[from.next_attrs + i];
		}
		scd2_emit_log(emitter, row, isnull, batch->next_id);
	}
	ExecDropSingleTupleTableSlot(slot);
	scd2_store_end(&states);
}

static void
undo(Scd2Run *run, void *arg)
{
	int64		run_id = *(int64 *) arg;
	Scd2Dimension *dim = run->dim;
	Scd2PastRun past;
	Scd2Batch  *batch;
	Scd2Rights	rights;
	Scd2Emitter *emitter;
	TimestampTz next;

	check_run(dim, run_id, &past);
	batch = scd2_batch_begin(dim);
	scd2_run_adopt(run, batch);

	scd2_rights_enter(dim->owner, &rights);
	emitter = scd2_emitter_begin(batch);
	find_keys(batch, run_id);
	if (dim->mode == SCD2_MODE_SNAPSHOT && dim->effective_at == NULL &&
		past.has_batch_time &&
		scd2_runs_next_snapshot(dim, past.batch_time, run_id, past.scope, &next,
							   &batch->next_id))
		log_next_states(batch, emitter, run_id, past.batch_time, next);
	scd2_rights_leave(&rights);

	scd2_runs_mark_undone(dim, run_id, run->lock.run_id);
	scd2_undo_rejected(dim, run_id);
	scd2_logpos_forget(dim, run_id);
	batch->undone = scd2_runs_undone_and(batch->undone, run_id);

	scd2_rights_enter(dim->owner, &rights);
	scd2_emit_folded(emitter, false, false);
	run->wrote = scd2_writes_anything(batch);
	scd2_write(batch);
	scd2_rights_leave(&rights);
	scd2_run_logged(run);
}

PG_FUNCTION_INFO_V1(scd2_undo);

/*
 * CALL scd2.undo(dimension, run)
 */
Datum
scd2_undo(PG_FUNCTION_ARGS)
{
	int64		run_id;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("run is null"),
				 errhint("Name a run of the view scd2.runs.")));
	run_id = PG_GETARG_INT64(1);
	scd2_run(scd2_registry_argument(fcinfo), SCD2_RUN_UNDO, undo, &run_id);
	PG_RETURN_VOID();
}
