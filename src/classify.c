/*-------------------------------------------------------------------------
 *
 * classify.c
 *	  What each staged key's changes do to it.
 *
 * The resolve statement returns the staged rows in the order of the fold, each
 * with what is known of its key.  They are gathered by key, relieved of
 * duplicates and replays, checked for lateness, and folded.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "classify.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/itemptr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "badrow.h"
#include "classify_int.h"
#include "convert.h"
#include "plan_late.h"
#include "progress.h"
#include "spi.h"

/* A version is current if it has a tid. */
static inline bool
has_current(const ClassifyState *state, const ClassifyRow *row)
{
	return !row->isnull[state->resolve.cur_tid];
}

static inline bool
has_closed(const ClassifyState *state, const ClassifyRow *row)
{
	return !row->isnull[state->resolve.closed_to];
}

static inline bool
current_is_flagged(const ClassifyState *state, const ClassifyRow *row)
{
	return state->resolve.cur_is_deleted >= 0 &&
		row_flag(row, state->resolve.cur_is_deleted);
}

/* Nothing but an inferred member is known of the key (R31). */
static inline bool
is_inferred(const ClassifyState *state, const ClassifyRow *row)
{
	return row_flag(row, state->resolve.inferred);
}

/* ----------------------------------------------------------------
 * A row against what is known of its key
 * ----------------------------------------------------------------
 */

/*
 * Does the row equal its key's state (R5)?  With ignore_null_updates, null is
 * filled first.
 */
static bool
equals_state(ClassifyState *state, const ClassifyRow *row)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	bool		open = has_current(state, row) && !current_is_flagged(state, row);
	int			type0 = 0;

	if (row_flag(row, layout->deleted))
		return !open;
	if (!open || is_inferred(state, row))
		return false;

	for (int i = 0; i < dim->nattrs; i++)
	{
		int			was = state->resolve.cur_attrs + i;

		/* what the column's first run says of it counts, null too (R8) */
		if (dim->attrs[i].since_run > 0 && dim->attrs[i].since_run == batch->run_id)
			return false;
		if (dim->attrs[i].scd_type == 0)
		{
			/* the version shows the first value; the log knows the last */
			if (state->resolve.last_type0 < 0)
				continue;
			was = state->resolve.last_type0 + type0++;
		}
		if (batch->lacks != NULL && batch->lacks[i])
			continue;
		if (dim->ignore_null_updates && row->isnull[layout->attrs + i])
			continue;
		if (!scd2_canon_same(batch->shape.canon[i],
							 row->values[layout->attrs + i],
							 row->isnull[layout->attrs + i],
							 row->values[was], row->isnull[was]))
			return false;
	}
	return true;
}

/*
 * The newest time that is known of the row's key; false if none is.  The log's,
 * and no boundary of the chain is later: but where somebody cleared the log or
 * wrote to the dimension, the boundary keeps an interval from being inverted.  That
 * of an inferred member is no known time.
 */
static bool
newest_known(const ClassifyState *state, const ClassifyRow *row, Datum *newest)
{
	const Scd2Dimension *dim = state->batch->dim;
	const int	cols[] = {state->resolve.newest, state->resolve.cur_valid_from,
	state->resolve.closed_to};
	bool		known = false;

	for (int i = 0; i < (is_inferred(state, row) ? 1 : lengthof(cols)); i++)
	{
		if (row->isnull[cols[i]] ||
			(known && scd2_period_to_time(dim, row->values[cols[i]]) <=
			 scd2_period_to_time(dim, *newest)))
			continue;
		*newest = row->values[cols[i]];
		known = true;
	}
	return known;
}

/*
 * Raise that a row is late.
 */
static void
raise_late(ClassifyState *state, const ClassifyRow *row)
{
	Datum		newest = (Datum) 0;
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;

	if (!newest_known(state, row, &newest))
		newest = scd2_to_period(dim, TimestampTzGetDatum(batch->last_batch_time),
								TIMESTAMPTZOID);
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("source \"%s\" has a late change for dimension \"%s\"",
					batch->source_label, dim->label),
			 errdetail("Key %s: its change at %s is not after the newest logged one, at %s.",
					   scd2_key_text(dim, row->values + layout->keys,
									 row->isnull + layout->keys),
					   scd2_value_text(row->values[layout->e], dim->period_type),
					   scd2_value_text(newest, dim->period_type)),
			 OidIsValid(dim->log) ?
			 errhint("Nothing was written. Register the dimension with on_late => 'rebuild' or 'skip', or correct the time in the source.") :
			 errhint("Nothing was written. Late changes need a change log; correct the time in the source, or register the dimension with on_late => 'skip'.")));
}

/*
 * Does a key's newest time reach the row's?
 */
static bool
not_after_newest(const ClassifyState *state, const ClassifyRow *row)
{
	const Scd2Dimension *dim = state->batch->dim;
	Datum		newest;

	return newest_known(state, row, &newest) &&
		scd2_period_to_time(dim, row->values[state->batch->layout.e]) <=
		scd2_period_to_time(dim, newest);
}

/*
 * What on_late says of a late row (section 2): with "rebuild" its key is folded
 * from the log.
 */
static void
apply_on_late(ClassifyState *state, ClassifyRow *row)
{
	Scd2Batch  *batch = state->batch;

	batch->counts.rows_late++;
	if (batch->dim->on_late == SCD2_LATE_ERROR)
		raise_late(state, row);
	if (batch->dim->on_late == SCD2_LATE_SKIP)
		scd2_classify_skip_row(state, row);
	else
		state->from_log = true;
}

/*
 * Modes that compare states: drop the row if it is no change, else find its
 * time (R20).
 */
static void
classify_state(ClassifyState *state, ClassifyRow *row)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;

	if (equals_state(state, row))
	{
		row->dropped = true;
		batch->counts.rows_unchanged++;
		return;
	}

	if (batch->retry != NULL && !batch->is_late && not_after_newest(state, row))
	{
		/* a row of the past cannot tell the present */
		scd2_classify_bad_row(state, row,
							  "is not after a change that was applied since");
		return;
	}
	if (dim->effective_at != NULL && not_after_newest(state, row))
	{
		/* a snapshot tells the present: the later of newest and batch_time */
		Datum		newest = (Datum) 0;

		(void) newest_known(state, row, &newest);
		row->values[layout->e] =
			scd2_period_to_time(dim, newest) > scd2_period_to_time(dim, batch->batch_e) ?
			newest : batch->batch_e;
		if (layout->source_time >= 0)
			row->isnull[layout->source_time] = true;
	}
	if (batch->is_late || not_after_newest(state, row))
		apply_on_late(state, row);
}

/*
 * Modes that log every change: drop replays, find what is late.
 */
static void
classify_change(ClassifyState *state, ClassifyRow *row)
{
	Scd2Batch  *batch = state->batch;

	if (!not_after_newest(state, row))
		return;
	if (row_flag(row, state->resolve.replay))
	{
		row->dropped = true;
		batch->counts.rows_replayed++;
		return;
	}
	apply_on_late(state, row);
}

/* ----------------------------------------------------------------
 * A key
 * ----------------------------------------------------------------
 */

/*
 * In mode log rows come again that were read before.  They go before rows are
 * compared with each other: in the source they are one row, and not part of this
 * batch.
 */
static void
drop_read_before(ClassifyState *state)
{
	Scd2Batch  *batch = state->batch;

	if (batch->dim->mode != SCD2_MODE_LOG)
		return;
	for (int i = 0; i < state->nrows; i++)
	{
		ClassifyRow *row = &state->rows[i];

		if (not_after_newest(state, row) && row_flag(row, state->resolve.replay))
		{
			row->dropped = true;
			row->read_before = true;
			batch->counts.rows_replayed++;
		}
	}
}

/*
 * A snapshot that lacks an inferred member has not told of it yet (R31).
 */
static void
drop_absent_inferred(ClassifyState *state)
{
	for (int i = 0; i < state->nrows; i++)
		if (row_flag(&state->rows[i], state->batch->layout.absent) &&
			is_inferred(state, &state->rows[i]))
			state->rows[i].dropped = true;
}

/*
 * Rows that stage.c could only say equal the current version get its values.
 */
static void
fill_as_current(ClassifyState *state)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	for (int i = 0; i < state->nrows; i++)
	{
		ClassifyRow *row = &state->rows[i];

		if (!row_flag(row, layout->as_current))
			continue;
		memcpy(row->values + layout->attrs, row->values + state->resolve.cur_attrs,
			   batch->dim->nattrs * sizeof(Datum));
		memcpy(row->isnull + layout->attrs, row->isnull + state->resolve.cur_attrs,
			   batch->dim->nattrs * sizeof(bool));
	}
}

static void
start_fold(ClassifyState *state, const ClassifyRow *row)
{
	Scd2Dimension *dim = state->batch->dim;
	Scd2FoldStart start = {0};
	int			previous;

	if (has_current(state, row))
	{
		start.open = true;
		start.is_deleted = current_is_flagged(state, row);
		start.valid_from = scd2_period_to_time(dim, row->values[state->resolve.cur_valid_from]);
		start.values = row->values + state->resolve.cur_attrs;
		start.isnull = row->isnull + state->resolve.cur_attrs;
		previous = state->resolve.cur_previous;
	}
	else if (has_closed(state, row))
	{
		start.values = row->values + state->resolve.closed_attrs;
		start.isnull = row->isnull + state->resolve.closed_attrs;
		previous = state->resolve.closed_previous;
	}
	else
	{
		scd2_fold_start(state->fold, NULL);
		return;
	}

	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 3)
		{
			state->previous[i] = row->values[previous];
			state->previous_isnull[i] = row->isnull[previous++];
		}
	}
	start.previous = state->previous;
	start.previous_isnull = state->previous_isnull;
	scd2_fold_start(state->fold, &start);
}

/*
 * The fold cannot start midway where all changes so far lacked a column: a first
 * value fills the versions before it (R8).  Null in the newest version may mean
 * that, where some run lacked the column; what a type 1 column showed until now
 * does not matter.
 */
static bool
needs_chain(const ClassifyState *state)
{
	const Scd2Batch *batch = state->batch;
	const Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	const ClassifyRow *first = &state->rows[0];
	int			known = has_current(state, first) ? state->resolve.cur_attrs :
		state->resolve.closed_attrs;

	if (!OidIsValid(dim->log) ||
		(!has_current(state, first) && !has_closed(state, first)))
		return false;
	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];

		if ((col->since_run == 0 && !col->lacked) || col->scd_type == 1 ||
			!first->isnull[known + i] ||
			(batch->lacks != NULL && batch->lacks[i]))
			continue;
		for (int j = 0; j < state->nrows; j++)
		{
			const ClassifyRow *row = &state->rows[j];

			if (!row->dropped && !row_flag(row, layout->deleted) &&
				!row->isnull[layout->attrs + i])
				return true;
		}
	}
	return false;
}

/*
 * A late snapshot holds until the next one: what was known of the key at that
 * one's time, present or absent, is logged there too, unless it is already (R20).
 * An absence that counts for nothing, because deletes are ignored, does not.
 */
static void
log_next_state(ClassifyState *state)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	const ClassifyRow *first = &state->rows[0];
	bool		present = row_flag(first, state->resolve.next_present);
	bool	   *lacks = batch->lacks;
	Datum	   *values;
	bool	   *isnull;

	if (row_flag(first, state->resolve.next_logged) ||
		(!present && batch->dim->on_delete == SCD2_DELETE_IGNORE))
		return;
	values = palloc(layout->ncols * sizeof(Datum));
	isnull = palloc(layout->ncols * sizeof(bool));
	memcpy(values, first->values, layout->ncols * sizeof(Datum));
	memcpy(isnull, first->isnull, layout->ncols * sizeof(bool));
	values[layout->e] = scd2_to_period(batch->dim, TimestampTzGetDatum(batch->next),
									   TIMESTAMPTZOID);
	if (layout->source_time >= 0)
	{
		values[layout->source_time] = TimestampTzGetDatum(batch->next);
		isnull[layout->source_time] = false;
	}
	values[layout->deleted] = BoolGetDatum(!present);
	isnull[layout->deleted] = false;
	for (int i = 0; i < batch->dim->nattrs; i++)
	{
		values[layout->attrs + i] = first->values[state->resolve.next_attrs + i];
		isnull[layout->attrs + i] = !present ||
			first->isnull[state->resolve.next_attrs + i];
	}
	/* it is what earlier runs knew, whatever this one's source lacks */
	batch->lacks = NULL;
	scd2_emit_log(state->emitter, values, isnull, batch->next_id);
	batch->lacks = lacks;
}

/*
 * The key's chain is folded from the log, once all of the batch is classified.
 */
static void
log_for_chain(ClassifyState *state)
{
	const Scd2Batch *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	const ClassifyRow *first = &state->rows[0];

	for (int i = 0; i < state->nrows; i++)
	{
		const ClassifyRow *row = &state->rows[i];

		if (!row->dropped)
			scd2_emit_log(state->emitter, row->values, row->isnull,
						  batch->run_id);
	}
	if (batch->has_next)
		log_next_state(state);
	scd2_emit_chain_key(state->emitter, first->values + layout->keys,
						first->isnull + layout->keys);
}

/*
 * All rows of a key are gathered: find out what they do.
 */
static void
finish_key(ClassifyState *state)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	MemoryContext oldcxt;
	ClassifyRow *first;
	Scd2KeyState key_state;
	const Scd2FoldResult *result;
	ErrorContextCallback *context = error_context_stack;

	if (state->nrows == 0)
		return;

	/* it is no fault of the statement's that happens to be running */
	error_context_stack = state->context;
	oldcxt = MemoryContextSwitchTo(state->group_cxt);
	first = &state->rows[0];

	state->from_log = false;
	for (int i = 0; batch->is_late && i < state->nrows; i++)
		if (state->rows[i].isnull[layout->deleted])
			state->rows[i].dropped = true;	/* rejected when it was read */
	drop_absent_inferred(state);
	fill_as_current(state);
	drop_read_before(state);
	scd2_classify_on_delete(state);
	scd2_classify_duplicates(state);

	for (int i = 0; i < state->nrows; i++)
	{
		ClassifyRow *row = &state->rows[i];

		if (row->dropped)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (scd2_compares_state(dim))
			classify_state(state, row);
		else
			classify_change(state, row);
	}

	if (state->from_log || needs_chain(state) ||
		(is_inferred(state, first) && scd2_classify_standing(state) > 0))
		log_for_chain(state);
	else if (scd2_classify_standing(state) > 0)
	{
		start_fold(state, first);
		for (int i = 0; i < state->nrows; i++)
		{
			ClassifyRow *row = &state->rows[i];
			Scd2FoldChange change = {0};

			if (row->dropped)
				continue;
			CHECK_FOR_INTERRUPTS();
			change.effective_at = scd2_period_to_time(dim, row->values[layout->e]);
			change.deleted = row_flag(row, layout->deleted);
			change.values = row->values + layout->attrs;
			change.isnull = row->isnull + layout->attrs;
			change.lacks = batch->lacks;
			scd2_fold_change(state->fold, &change);
			scd2_emit_log(state->emitter, row->values, row->isnull,
						  batch->run_id);
		}
		result = scd2_fold_finish(state->fold);
		scd2_count_outcomes(batch, result, NULL);

		key_state.keys = first->values + layout->keys;
		key_state.keys_isnull = first->isnull + layout->keys;
		key_state.seen = has_current(state, first) || has_closed(state, first);
		key_state.current_tid = first->values[state->resolve.cur_tid];
		key_state.attrs = first->values + (has_current(state, first) ?
										   state->resolve.cur_attrs :
										   state->resolve.closed_attrs);
		key_state.attrs_isnull = first->isnull + (has_current(state, first) ?
												  state->resolve.cur_attrs :
												  state->resolve.closed_attrs);
		scd2_emit_chain(state->emitter, &key_state, result);
	}

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->group_cxt);
	error_context_stack = context;
	state->nrows = 0;
	state->maxrows = 0;
	state->rows = NULL;
}

/* ----------------------------------------------------------------
 * Reading what the resolve statement returns
 * ----------------------------------------------------------------
 */

static void
add_row(ClassifyState *state, TupleTableSlot *slot)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(state->group_cxt);
	ClassifyRow *row;
	HeapTuple	tuple;

	if (state->nrows == state->maxrows)
	{
		if (state->maxrows == 0)
		{
			state->maxrows = 4;
			state->rows = palloc(state->maxrows * sizeof(ClassifyRow));
		}
		else
		{
			state->maxrows *= 2;
			state->rows = repalloc_huge(state->rows, (Size) state->maxrows *
										sizeof(ClassifyRow));
		}
	}

	row = &state->rows[state->nrows++];
	row->values = palloc(state->resolve.ncols * sizeof(Datum));
	row->isnull = palloc(state->resolve.ncols * sizeof(bool));
	row->dropped = false;
	row->read_before = false;
	tuple = ExecCopySlotHeapTuple(slot);
	heap_deform_tuple(tuple, state->desc, row->values, row->isnull);

	MemoryContextSwitchTo(oldcxt);
}

static void
classify_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
	ClassifyState *state = (ClassifyState *) self;

	Assert(typeinfo->natts == state->resolve.ncols);
	state->desc = typeinfo;
}

static bool
classify_receive(TupleTableSlot *slot, DestReceiver *self)
{
	ClassifyState *state = (ClassifyState *) self;
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);

	if (state->nrows > 0)
	{
		const ClassifyRow *first = &state->rows[0];
		bool		same = true;

		for (int i = 0; i < batch->dim->nkeys && same; i++)
			same = scd2_canon_same(state->key_canon[i],
								   first->values[layout->keys + i], false,
								   slot->tts_values[layout->keys + i], false);
		if (!same)
			finish_key(state);
	}
	add_row(state, slot);
	scd2_progress_done_add(1);
	return true;
}

/*
 * The newest E of all in the log: left behind by the last run, or else asked
 * of the log.  False if the log is empty.
 */
static bool
find_newest(Scd2Batch *batch)
{
	bool		isnull;
	Datum		newest;

	if (batch->has_newest || !OidIsValid(batch->dim->log))
		return batch->has_newest;
	scd2_spi_read("newest", scd2_plan_newest(batch->dim), 0, NULL, NULL, NULL);
	newest = scd2_spi_value(0, 1, &isnull);
	if (!isnull)
	{
		batch->has_newest = true;
		batch->newest = scd2_period_to_time(batch->dim, newest);
	}
	return !isnull;
}

/*
 * Turn the staged rows into rows to write; see classify.h.
 */
void
scd2_classify(Scd2Batch *batch)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	Scd2Dimension *dim = batch->dim;
	ClassifyState *state = palloc0(sizeof(ClassifyState));
	Scd2StagedLayout staged;
	int			flags = batch->staged_by_tid ? SCD2_RESOLVE_BY_TID :
		batch->located.store != NULL ? SCD2_RESOLVE_LOCATED : 0;
	Oid			types[] = {dim->period_type, INT8ARRAYOID};
	Datum		values[] = {(Datum) 0, batch->undone};
	bool		nulls[] = {true, batch->undone == (Datum) 0};
	int			guc_level = 0;
	int			serial_level;

	state->batch = batch;
	state->context = error_context_stack;
	scd2_spi_receiver(&state->pub, classify_startup, classify_receive);
	scd2_plan_layout(dim, &staged, &state->resolve);
	if (batch->is_late)
		state->resolve.ncols = state->resolve.late_ncols;
	state->key_canon = palloc(dim->nkeys * sizeof(Scd2CanonType *));
	for (int i = 0; i < dim->nkeys; i++)
		state->key_canon[i] = scd2_canon_type(dim->keys[i].typid, batch->cxt);
	state->seq_canon = palloc((dim->nseq + 1) * sizeof(Scd2CanonType *));
	for (int i = 0; i < dim->nseq; i++)
		state->seq_canon[i] = scd2_canon_type(dim->seq[i].typid, batch->cxt);
	state->group_cxt = AllocSetContextCreate(batch->cxt, "scd2 key",
											 ALLOCSET_DEFAULT_SIZES);
	state->fold = scd2_fold_create(&batch->shape, batch->cxt);
	state->emitter = scd2_emitter_begin(batch);
	state->previous = palloc0((dim->nattrs + 1) * sizeof(Datum));
	state->previous_isnull = palloc0((dim->nattrs + 1) * sizeof(bool));

	if (batch->staged.ntuples > 0)
	{
		if (!batch->has_versions)
			flags |= SCD2_RESOLVE_NO_DIM;
		if (batch->has_inferred)
			flags |= SCD2_RESOLVE_INFERRED;
		if (!find_newest(batch))
			flags |= SCD2_RESOLVE_NO_LOG;
		else
		{
			values[0] = scd2_time_to_period(dim, batch->newest);
			nulls[0] = false;
			if (batch->undone != (Datum) 0)
				flags |= SCD2_RESOLVE_UNDONE;
		}

		scd2_progress_phase(SCD2_PHASE_CLASSIFY, batch->staged.ntuples);
		scd2_spi_register("scd2_staged", batch->staged.desc,
						  batch->staged.store, (double) batch->staged.ntuples);
		if (batch->located.store != NULL)
			scd2_spi_register(batch->located.name, batch->located.desc,
							  batch->located.store,
							  (double) batch->located.ntuples);
		serial_level = scd2_spi_serial_begin(scd2_rows_may_try(batch));
		if (batch->staged_by_tid)
			guc_level = scd2_spi_tid_join_begin();
		if (batch->is_late)
			scd2_store_register(&batch->states);
		scd2_spi_stream(batch->is_late ? "late resolve" : "resolve",
						batch->is_late ? scd2_plan_late_resolve(dim) :
						scd2_plan_resolve(dim, flags, batch->lacks),
						lengthof(types), types, values, nulls, true,
						(DestReceiver *) state);
		finish_key(state);
		if (batch->staged_by_tid)
			scd2_spi_planner_end(guc_level);
		scd2_spi_planner_end(serial_level);
		if (batch->located.store != NULL)
			scd2_spi_unregister(batch->located.name);
		if (batch->is_late)
			scd2_store_unregister(&batch->states);
		scd2_spi_unregister("scd2_staged");
	}
	scd2_store_end(&batch->staged);
	scd2_store_end(&batch->located);
	scd2_store_end(&batch->states);
	scd2_emit_folded(state->emitter, false, true);

	MemoryContextSwitchTo(oldcxt);
}
