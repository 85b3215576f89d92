/*-------------------------------------------------------------------------
 *
 * late.c
 *	  Staging a batch whose time is before that of the last run.
 *
 * A late snapshot tells what was at its time, so its rows and the keys that it
 * lacks are compared with what was known then, not with the current versions.  It
 * holds until the next snapshot, which told of the same keys again (R20).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "late.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "plan.h"
#include "plan_late.h"
#include "progress.h"
#include "read.h"
#include "runs.h"
#include "spi.h"
#include "stage.h"
#include "states.h"

typedef struct LateState
{
	DestReceiver pub;
	Scd2Batch  *batch;
	int64		ord;
	Scd2Store	absent;			/* staged rows of the keys that it lacks */
	Datum	   *values;
	bool	   *isnull;
} LateState;

/*
 * Is the batch late?  See late.h.
 */
bool
scd2_is_late_batch(const Scd2Batch *batch)
{
	if (batch->retry != NULL && batch->dim->mode != SCD2_MODE_SNAPSHOT)
		return false;
	return scd2_compares_state(batch->dim) && batch->dim->effective_at == NULL &&
		OidIsValid(batch->dim->log) && batch->has_last_batch_time &&
		batch->batch_time < batch->last_batch_time;
}

/* Of a rejected row only the key counts: a snapshot does not lack it (R19). */
static void
stage_row(void *arg, Datum *values, bool *isnull, bool rejected)
{
	LateState  *state = arg;
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	for (int i = 0; i < batch->dim->nkeys; i++)
		if (isnull[layout->keys + i])
			return;
	isnull[layout->deleted] = rejected;
	scd2_store_put(&batch->staged, values, isnull);
}

/* Stages what the statement "late absent" returns: K. */
static bool
absent_receive(TupleTableSlot *slot, DestReceiver *self)
{
	LateState  *state = (LateState *) self;
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	memset(state->isnull, true, layout->ncols * sizeof(bool));

#define SET(column, value) \
	(state->values[column] = (value), state->isnull[column] = false)

	SET(layout->ord, Int64GetDatum(++state->ord));
	SET(layout->e, batch->batch_e);
	if (layout->source_time >= 0)
		SET(layout->source_time, TimestampTzGetDatum(batch->batch_time));
	SET(layout->deleted, BoolGetDatum(true));
	SET(layout->absent, BoolGetDatum(true));
	SET(layout->as_current, BoolGetDatum(false));
	for (int i = 0; i < batch->dim->nkeys; i++)
		SET(layout->keys + i, slot->tts_values[i]);
#undef SET
	scd2_store_put(&state->absent, state->values, state->isnull);
	return true;
}

static void
copy_rows(Scd2Batch *batch, Scd2Store *from, Scd2Store *to)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(from->desc, &TTSOpsMinimalTuple);

	while (tuplestore_gettupleslot(from->store, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_puttupleslot(to->store, slot);
		to->ntuples++;
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * A late snapshot's scope is asked of the versions of its time, as they were when
 * they were current.  Not of every column that is known: a version may lie in the
 * history, which has scd2's columns but not those that somebody added to the
 * dimension, and previous_* and valid_to were others then.
 */
static void
check_scope(const Scd2Batch *batch)
{
	const Scd2Dimension *dim = batch->dim;
	ListCell   *lc;

	foreach(lc, batch->scope_columns)
	{
		AttrNumber	attnum = lfirst_int(lc);
		char	   *name = get_attname(dim->relid, attnum, false);
		bool		known = attnum != dim->valid_to_attnum;
		bool		in_history = dim->history == NULL;
		ListCell   *own;

		for (int i = 0; i < dim->nattrs; i++)
			if (dim->attrs[i].scd_type == 3 && dim->attrs[i].extra_attnum == attnum)
				known = false;
		if (!known)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("scope of a late snapshot of dimension \"%s\" reads column \"%s\", whose value at that time is not known",
							dim->label, name),
					 errdetail("The snapshot is of a time before the last run's."),
					 errhint("Nothing was written. Name other columns in scope, or apply snapshots in the order of their times.")));

		foreach(own, scd2_plan_open_columns(dim))
			in_history |= strcmp(name, lfirst(own)) == 0;
		if (!in_history)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("scope of a late snapshot of dimension \"%s\" reads column \"%s\", which its history does not have",
							dim->label, name),
					 errdetail("The snapshot is of a time before the last run's, and closed versions lie in %s.",
							   dim->history->sql_name),
					 errhint("Nothing was written. Name tracked columns in scope, or apply snapshots in the order of their times.")));
	}
}

/*
 * The keys that were there at the snapshot's time, in scope, and that it lacks
 * become deletes; how many there were is for the delete guards.
 */
static void
stage_absent(LateState *state)
{
	Scd2Batch  *batch = state->batch;
	Oid			types[] = {batch->dim->period_type};
	Datum		values[] = {batch->batch_e};
	bool		isnull;

	check_scope(batch);
	scd2_store_register(&batch->states);
	scd2_spi_read("late open keys", scd2_plan_late_open_keys(batch->dim, batch->scope_sql,
													batch->scope_columns),
				  1, types, values, NULL);
	batch->open_keys = DatumGetInt64(scd2_spi_value(0, 1, &isnull));

	scd2_store_begin(batch, &state->absent, "scd2_absent",
					 scd2_staged_desc(batch->dim, &batch->layout, 0));
	scd2_store_register(&batch->staged);
	scd2_spi_receiver(&state->pub, NULL, absent_receive);
	scd2_spi_stream("late absent", scd2_plan_late_absent(batch->dim, batch->scope_sql,
													batch->scope_columns),
					1, types, values, NULL, true, (DestReceiver *) state);
	scd2_store_unregister(&batch->staged);
	scd2_store_unregister(&batch->states);

	batch->late_absent = state->absent.ntuples;
	copy_rows(batch, &state->absent, &batch->staged);
	scd2_store_end(&state->absent);
}

/*
 * Stage a late batch; see late.h.
 */
void
scd2_stage_late(Scd2Batch *batch)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	LateState  *state = palloc0(sizeof(LateState));
	Scd2Dimension *dim = batch->dim;

	state->batch = batch;
	state->values = palloc0(batch->layout.ncols * sizeof(Datum));
	state->isnull = palloc0(batch->layout.ncols * sizeof(bool));
	batch->is_late = true;
	batch->has_next = dim->mode == SCD2_MODE_SNAPSHOT &&
		scd2_runs_next_snapshot(dim, batch->batch_time, 0, batch->scope,
								&batch->next, &batch->next_id);

	scd2_store_begin(batch, &batch->staged, "scd2_staged",
					 scd2_staged_desc(dim, &batch->layout, 0));
	scd2_progress_phase(SCD2_PHASE_SOURCE, 0);
	state->ord = scd2_read_source(batch, stage_row, state);

	scd2_states(batch, true, batch->batch_time,
				batch->has_next ? batch->next : batch->batch_time, 0, &batch->states);
	if (dim->mode == SCD2_MODE_SNAPSHOT && batch->retry == NULL)
		stage_absent(state);

	MemoryContextSwitchTo(oldcxt);
}
