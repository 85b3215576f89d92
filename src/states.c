/*-------------------------------------------------------------------------
 *
 * states.c
 *	  What was known of keys at two times, from the log.
 *
 * A version does not tell it: it shows the last values of type 1 columns and the
 * first of type 0.  But the fold does, over a shape in which every column is of
 * type 1: its last values are the state, and it is there while a version is open.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "states.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "chain.h"
#include "convert.h"

typedef struct StatesState
{
	Scd2Batch  *batch;
	Scd2StatesLayout layout;
	Scd2FoldShape shape;
	Scd2Fold   *at_fold;
	Scd2Fold   *next_fold;
	TimestampTz at;
	TimestampTz next;
	Scd2Time	at_e;
	Scd2Time	next_e;
	int64		not_by;
	bool		next_logged;
	Scd2Store  *store;
	Datum	   *values;
	bool	   *isnull;
} StatesState;

/*
 * Lay out the store; see states.h.
 */
void
scd2_states_layout(const Scd2Dimension *dim, Scd2StatesLayout *layout)
{
	int			n = dim->nkeys;

	layout->keys = 0;
	layout->present = n++;
	layout->attrs = n;
	n += dim->nattrs;
	layout->next_present = n++;
	layout->next_logged = n++;
	layout->next_attrs = n;
	n += dim->nattrs;
	layout->ncols = n;
}

static TupleDesc
states_desc(const Scd2Dimension *dim, const Scd2StatesLayout *layout)
{
	TupleDesc	desc = CreateTemplateTupleDesc(layout->ncols);

	scd2_describe_keys(dim, desc, layout->keys + 1);
	scd2_desc_column(desc, layout->present + 1, "present", BOOLOID, -1, InvalidOid);
	scd2_desc_column(desc, layout->next_present + 1, "next_present", BOOLOID, -1,
					 InvalidOid);
	scd2_desc_column(desc, layout->next_logged + 1, "next_logged", BOOLOID, -1,
					 InvalidOid);
	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];

		scd2_desc_column(desc, layout->attrs + i + 1, psprintf("a%d", i + 1),
						 col->typid, col->typmod, col->collation);
		scd2_desc_column(desc, layout->next_attrs + i + 1, psprintf("n%d", i + 1),
						 col->typid, col->typmod, col->collation);
	}
	return desc;
}

/*
 * Where a change lies: before a time, at it (0), or after.  By the batch's own
 * time where the period is coarser.
 */
static int
compare_time(const Scd2Dimension *dim, const Scd2ChainChange *change,
			 TimestampTz t, Scd2Time e)
{
	if (dim->keeps_source_time && change->has_source_time)
	{
		TimestampTz source_time = DatumGetTimestampTz(change->source_time);

		return source_time < t ? -1 : source_time > t;
	}
	return change->fold.effective_at < e ? -1 : change->fold.effective_at > e;
}

/*
 * Does a change hold its key's state, whatever is put before it?  Not where it
 * takes a value from there (R8): what was known counts, and that was another.
 */
static bool
tells_all(const Scd2FoldShape *shape, const Scd2FoldChange *change)
{
	if (change->deleted)
		return true;
	for (int i = 0; i < shape->natts; i++)
	{
		if (change->lacks != NULL && change->lacks[i])
			return false;
		if (change->isnull[i] && shape->ignore_null_updates)
			return false;
	}
	return true;
}

static void
begin_states(void *arg)
{
	StatesState *state = arg;

	scd2_fold_start(state->at_fold, NULL);
	scd2_fold_start(state->next_fold, NULL);
	state->next_logged = false;
}

static void
add_change(void *arg, const Scd2ChainChange *change)
{
	StatesState *state = arg;
	const Scd2Dimension *dim = state->batch->dim;
	int			order = compare_time(dim, change, state->next, state->next_e);

	/* that a fact refers to a key tells nothing of it (R31) */
	if (order > 0 || change->inferred)
		return;
	scd2_fold_change(state->next_fold, &change->fold);
	/* at the very time of that run, later loads alone told of the key again */
	if (order == 0 && change->run != state->not_by &&
		(state->next > state->at || change->run > state->not_by))
		state->next_logged = tells_all(&state->shape, &change->fold);
	if (compare_time(dim, change, state->at, state->at_e) <= 0)
		scd2_fold_change(state->at_fold, &change->fold);
}

static void
put_state(StatesState *state, Scd2Fold *fold, int present, int attrs)
{
	const Scd2FoldResult *result = scd2_fold_finish(fold);
	int			natts = state->batch->dim->nattrs;

	state->values[present] = BoolGetDatum(result->nversions > 0 &&
										  result->versions[result->nversions - 1].is_open);
	state->isnull[present] = false;
	memcpy(state->values + attrs, result->last, natts * sizeof(Datum));
	memcpy(state->isnull + attrs, result->last_isnull, natts * sizeof(bool));
}

static void
finish_states(void *arg, const Scd2Chain *chain)
{
	StatesState *state = arg;
	const Scd2StatesLayout *layout = &state->layout;
	int			nkeys = state->batch->dim->nkeys;

	memcpy(state->values + layout->keys, chain->keys, nkeys * sizeof(Datum));
	memcpy(state->isnull + layout->keys, chain->keys_isnull, nkeys * sizeof(bool));
	put_state(state, state->at_fold, layout->present, layout->attrs);
	put_state(state, state->next_fold, layout->next_present, layout->next_attrs);
	state->values[layout->next_logged] = BoolGetDatum(state->next_logged);
	state->isnull[layout->next_logged] = false;
	scd2_store_put(state->store, state->values, state->isnull);
}

/*
 * Find the states; see states.h.
 */
void
scd2_states(Scd2Batch *batch, bool all_keys, TimestampTz at, TimestampTz next,
			int64 not_by, Scd2Store *store)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	Scd2Dimension *dim = batch->dim;
	StatesState *state = palloc0(sizeof(StatesState));
	const Scd2ChainReader reader = {begin_states, add_change, finish_states};

	state->batch = batch;
	state->at = at;
	state->next = next;
	state->at_e = scd2_period_to_time(dim, scd2_to_period(dim, TimestampTzGetDatum(at),
														  TIMESTAMPTZOID));
	state->next_e = scd2_period_to_time(dim, scd2_to_period(dim, TimestampTzGetDatum(next),
															TIMESTAMPTZOID));
	state->not_by = not_by;
	state->store = store;
	scd2_states_layout(dim, &state->layout);
	state->values = palloc(state->layout.ncols * sizeof(Datum));
	state->isnull = palloc(state->layout.ncols * sizeof(bool));
	scd2_store_begin(batch, store, "scd2_states", states_desc(dim, &state->layout));

	state->shape = batch->shape;
	state->shape.flag_deletes = false;
	state->shape.has_initial = false;
	state->shape.scd_type = palloc(dim->nattrs + 1);
	memset(state->shape.scd_type, 1, dim->nattrs + 1);
	state->at_fold = scd2_fold_create(&state->shape, batch->cxt);
	state->next_fold = scd2_fold_create(&state->shape, batch->cxt);

	scd2_chain_read(batch, "states", all_keys ? 0 : SCD2_CHAIN_KEYS, 0, &reader, state);
	MemoryContextSwitchTo(oldcxt);
}
