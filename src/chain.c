/*-------------------------------------------------------------------------
 *
 * chain.c
 *	  Keys folded from the log, beside the versions that they have.
 *
 * One statement returns a key's versions and then its changes in the order of
 * the fold, so that one sort and one pass serve late changes, rebuild, undo and
 * check alike (R10).  Where only the log is read and versions alone are asked for,
 * an index gives the order but among changes of equal (K, E), of which the last
 * one is found on the way.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "chain.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "badrow.h"
#include "progress.h"
#include "spi.h"

/*
 * The last in order so far of the changes of equal (K, E), by what orders them.
 * Its values are all that has to be kept: the others count for nothing (R5).
 */
typedef struct LastOfTime
{
	bool		any;			/* of this key? */
	Scd2Time	effective_at;
	SortSupport sorts;			/* norder, as ORDER BY compares */
	Datum	   *values;
	bool	   *isnull;
	bool		by_reference;	/* any of the values? */
	MemoryContext cxt;			/* of these */
} LastOfTime;

typedef struct ChainState
{
	DestReceiver pub;
	Scd2Batch  *batch;
	int			flags;
	Scd2ChainLayout layout;
	Scd2VersionRow *row;		/* the layout of stored versions */
	Scd2CanonType **key_canon;
	const Scd2ChainReader *reader;
	void	   *arg;
	ErrorContextCallback *context;	/* of errors that are a key's fault */

	MemoryContext key_cxt;		/* of the key at hand */
	MemoryContext row_cxt;
	TupleDesc	desc;
	bool		in_key;
	Datum	   *keys;
	bool	   *keys_isnull;
	Scd2Chain	chain;
	int			maxversions;
	bool	   *lacks;			/* natts, scratch */
	LastOfTime	last;			/* when the changes come unordered */
} ChainState;

static void
finish_key(ChainState *state)
{
	MemoryContext oldcxt;
	ErrorContextCallback *context = error_context_stack;

	if (!state->in_key)
		return;

	/* it is no fault of the statement's that happens to be running */
	error_context_stack = state->context;
	oldcxt = MemoryContextSwitchTo(state->key_cxt);
	state->chain.keys = state->keys;
	state->chain.keys_isnull = state->keys_isnull;
	state->reader->finish(state->arg, &state->chain);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->key_cxt);
	error_context_stack = context;

	state->in_key = false;
	state->chain.nversions = 0;
	state->chain.versions = NULL;
	state->maxversions = 0;
}

static void
begin_key(ChainState *state, TupleTableSlot *slot)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(state->key_cxt);
	const Scd2Dimension *dim = state->batch->dim;

	state->in_key = true;
	state->last.any = false;
	for (int i = 0; i < dim->nkeys; i++)
	{
		Form_pg_attribute att = TupleDescAttr(state->desc, state->layout.keys + i);

		/* null only where somebody wrote to the log by hand */
		state->keys_isnull[i] = slot->tts_isnull[state->layout.keys + i];
		state->keys[i] = state->keys_isnull[i] ? (Datum) 0 :
			datumCopy(slot->tts_values[state->layout.keys + i],
					  att->attbyval, att->attlen);
	}
	state->reader->begin(state->arg);
	MemoryContextSwitchTo(oldcxt);
}

static bool
same_key(const ChainState *state, const TupleTableSlot *slot)
{
	for (int i = 0; i < state->batch->dim->nkeys; i++)
		if (!scd2_canon_same(state->key_canon[i], state->keys[i],
							 state->keys_isnull[i],
							 slot->tts_values[state->layout.keys + i],
							 slot->tts_isnull[state->layout.keys + i]))
			return false;
	return true;
}

/*
 * A version: keep it as a row of the dimension.
 */
static void
add_version(ChainState *state, Scd2ChainKind kind, TupleTableSlot *slot)
{
	const Scd2Dimension *dim = state->batch->dim;
	const Scd2ChainLayout *from = &state->layout;
	const Scd2VersionRow *to = state->row;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->key_cxt);
	Scd2Chain  *chain = &state->chain;
	Scd2StoredVersion *stored;
	Datum	   *values;
	bool	   *isnull;
	HeapTuple	tuple;

	if (chain->nversions == state->maxversions)
	{
		state->maxversions = Max(8, state->maxversions * 2);
		chain->versions = chain->versions == NULL ?
			palloc(state->maxversions * sizeof(Scd2StoredVersion)) :
			repalloc_huge(chain->versions,
						  (Size) state->maxversions * sizeof(Scd2StoredVersion));
	}
	stored = &chain->versions[chain->nversions++];

	values = palloc(from->ncols * sizeof(Datum));
	isnull = palloc(from->ncols * sizeof(bool));
	tuple = ExecCopySlotHeapTuple(slot);
	heap_deform_tuple(tuple, state->desc, values, isnull);

	stored->values = palloc(to->ncols * sizeof(Datum));
	stored->isnull = palloc(to->ncols * sizeof(bool));
	stored->tid = *(ItemPointer) DatumGetPointer(values[from->tid]);
	stored->in_history = kind == SCD2_CHAIN_CLOSED;
	stored->valid_from = scd2_period_to_time(dim, values[from->e]);

#define MOVE(source, target, count) \
	(memcpy(stored->values + (target), values + (source), (count) * sizeof(Datum)), \
	 memcpy(stored->isnull + (target), isnull + (source), (count) * sizeof(bool)))

	MOVE(from->sk, 0, 1);
	MOVE(from->keys, to->keys, dim->nkeys);
	MOVE(from->attrs, to->attrs, dim->nattrs);
	MOVE(from->extras, to->extras,
		 (to->row_hash >= 0 ? to->row_hash : to->valid_from) - to->extras);
	if (to->row_hash >= 0)
		MOVE(from->row_hash, to->row_hash, 1);
	MOVE(from->e, to->valid_from, 1);
	MOVE(from->valid_to, to->valid_to, 1);
	MOVE(from->is_current, to->is_current, 1);
	if (to->is_deleted >= 0)
		MOVE(from->deleted, to->is_deleted, 1);
#undef MOVE
	MemoryContextSwitchTo(oldcxt);
}

/*
 * Which columns does the change lack (R8)?  NULL: none.  Sets "inferred" where it
 * is an inferred member's.
 */
static bool *
find_lacks(ChainState *state, TupleTableSlot *slot, bool *inferred)
{
	const Scd2Dimension *dim = state->batch->dim;
	const Scd2ChainLayout *layout = &state->layout;
	int64		run = PG_INT64_MAX;
	bool		any = false;
	int32	   *ids = NULL;
	int			nids = 0;

	/* a preview's changes are of no run yet */
	if (!slot->tts_isnull[layout->run] &&
		DatumGetInt64(slot->tts_values[layout->run]) > 0)
		run = DatumGetInt64(slot->tts_values[layout->run]);
	if (!slot->tts_isnull[layout->lacks])
	{
		ArrayType  *array = DatumGetArrayTypeP(slot->tts_values[layout->lacks]);

		ids = (int32 *) ARR_DATA_PTR(array);
		nids = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}
	for (int j = 0; j < nids; j++)
		*inferred |= ids[j] == SCD2_LACKS_INFERRED;
	for (int i = 0; i < dim->nattrs; i++)
	{
		state->lacks[i] = run < dim->attrs[i].since_run;
		for (int j = 0; j < nids && !state->lacks[i]; j++)
			state->lacks[i] = ids[j] == dim->attrs[i].id;
		any |= state->lacks[i];
	}
	return any ? state->lacks : NULL;
}

/*
 * Compare as ORDER BY does: by the default order of each column's type, under the
 * column's collation.
 */
static void
prepare_last(ChainState *state, TupleDesc desc)
{
	LastOfTime *last = &state->last;
	int			norder = state->layout.norder;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->batch->cxt);

	last->sorts = palloc0(norder * sizeof(SortSupportData));
	last->values = palloc0(norder * sizeof(Datum));
	last->isnull = palloc0(norder * sizeof(bool));
	last->cxt = AllocSetContextCreate(state->batch->cxt, "scd2 last of a time",
									  ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < norder; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, state->layout.order + i);
		SortSupport sort = &last->sorts[i];

		sort->ssup_cxt = state->batch->cxt;
		sort->ssup_collation = att->attcollation;
		sort->ssup_nulls_first = scd2_plan_orders_nulls_first(state->batch->dim, i);
		sort->ssup_attno = state->layout.order + i + 1;
		PrepareSortSupportFromOrderingOp(lookup_type_cache(att->atttypid,
														   TYPECACHE_LT_OPR)->lt_opr,
										 sort);
		last->by_reference |= !att->attbyval;
	}
	MemoryContextSwitchTo(oldcxt);
}

/*
 * Is a change the last in order of those of its time so far?
 */
static bool
is_last(ChainState *state, const Scd2FoldChange *change, TupleTableSlot *slot)
{
	LastOfTime *last = &state->last;
	const Datum *values = slot->tts_values + state->layout.order;
	const bool *isnull = slot->tts_isnull + state->layout.order;
	int			norder = state->layout.norder;

	if (last->any && change->effective_at == last->effective_at)
	{
		int			cmp = 0;

		for (int i = 0; i < norder && cmp == 0; i++)
			cmp = ApplySortComparator(values[i], isnull[i],
									  last->values[i], last->isnull[i],
									  &last->sorts[i]);
		if (cmp < 0)
			return false;
	}

	last->any = true;
	last->effective_at = change->effective_at;
	memcpy(last->values, values, norder * sizeof(Datum));
	memcpy(last->isnull, isnull, norder * sizeof(bool));
	if (last->by_reference)
	{
		MemoryContext oldcxt;

		MemoryContextReset(last->cxt);
		oldcxt = MemoryContextSwitchTo(last->cxt);
		for (int i = 0; i < norder; i++)
		{
			Form_pg_attribute att = TupleDescAttr(state->desc, state->layout.order + i);

			if (!isnull[i])
				last->values[i] = datumCopy(values[i], att->attbyval, att->attlen);
		}
		MemoryContextSwitchTo(oldcxt);
	}
	return true;
}

static void
add_change(ChainState *state, Scd2ChainKind kind, TupleTableSlot *slot)
{
	const Scd2ChainLayout *layout = &state->layout;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	Scd2ChainChange change = {0};
	bool		counts;

	change.kind = kind;
	if (!slot->tts_isnull[layout->run])
		change.run = DatumGetInt64(slot->tts_values[layout->run]);
	if (layout->source_time >= 0 && !slot->tts_isnull[layout->source_time])
	{
		change.has_source_time = true;
		change.source_time = slot->tts_values[layout->source_time];
	}
	if (state->flags & SCD2_CHAIN_ORIGIN)
	{
		change.seq = slot->tts_values + layout->seq;
		change.seq_isnull = slot->tts_isnull + layout->seq;
		change.recorded_at = slot->tts_isnull[layout->recorded_at] ? DT_NOBEGIN :
			DatumGetTimestampTz(slot->tts_values[layout->recorded_at]);
	}
	change.fold.effective_at = scd2_period_to_time(state->batch->dim,
												   slot->tts_values[layout->e]);
	change.fold.deleted = DatumGetBool(slot->tts_values[layout->deleted]);
	change.fold.values = slot->tts_values + layout->attrs;
	change.fold.isnull = slot->tts_isnull + layout->attrs;
	if (!change.fold.deleted)
		change.fold.lacks = find_lacks(state, slot, &change.inferred);
	if (!(state->flags & SCD2_CHAIN_UNORDERED))
		counts = true;
	else if (change.fold.deleted && state->batch->shape.ignore_deletes)
		counts = false;			/* R7: not among equal times either */
	else
		counts = is_last(state, &change.fold, slot);
	if (counts)
		state->reader->change(state->arg, &change);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
}

static void
chain_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
	ChainState *state = (ChainState *) self;

	Assert(typeinfo->natts == state->layout.ncols);
	state->desc = typeinfo;
	if (state->flags & SCD2_CHAIN_UNORDERED)
		prepare_last(state, typeinfo);
}

static bool
chain_receive(TupleTableSlot *slot, DestReceiver *self)
{
	ChainState *state = (ChainState *) self;
	Scd2ChainKind kind;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	if (state->in_key && !same_key(state, slot))
		finish_key(state);
	if (!state->in_key)
		begin_key(state, slot);

	kind = (Scd2ChainKind) DatumGetInt32(slot->tts_values[state->layout.kind]);
	if (kind == SCD2_CHAIN_VERSION || kind == SCD2_CHAIN_CLOSED)
		add_version(state, kind, slot);
	else
		add_change(state, kind, slot);
	scd2_progress_done_add(1);
	return true;
}

/*
 * Read keys from the log; see chain.h.
 */
void
scd2_chain_read(Scd2Batch *batch, const char *step, int flags,
				TimestampTz known_at, const Scd2ChainReader *reader, void *arg)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	const Scd2Dimension *dim = batch->dim;
	ChainState *state = palloc0(sizeof(ChainState));
	Oid			types[] = {INT8ARRAYOID, TIMESTAMPTZOID};
	Datum		values[] = {batch->undone, TimestampTzGetDatum(known_at)};
	bool		nulls[] = {batch->undone == (Datum) 0, false};
	int			guc_level;

	if (batch->undone != (Datum) 0)
		flags |= SCD2_CHAIN_UNDONE;
	state->batch = batch;
	state->flags = flags;
	state->reader = reader;
	state->arg = arg;
	state->context = error_context_stack;
	scd2_plan_chain_layout(dim, flags, &state->layout);
	state->row = scd2_version_row_create(dim, batch->cxt);
	state->key_canon = palloc(dim->nkeys * sizeof(Scd2CanonType *));
	for (int i = 0; i < dim->nkeys; i++)
		state->key_canon[i] = scd2_canon_type(dim->keys[i].typid, batch->cxt);
	state->keys = palloc0(dim->nkeys * sizeof(Datum));
	state->keys_isnull = palloc0(dim->nkeys * sizeof(bool));
	state->lacks = palloc0((dim->nattrs + 1) * sizeof(bool));
	state->key_cxt = AllocSetContextCreate(batch->cxt, "scd2 chain",
										   ALLOCSET_DEFAULT_SIZES);
	state->row_cxt = AllocSetContextCreate(batch->cxt, "scd2 change",
										   ALLOCSET_DEFAULT_SIZES);
	scd2_spi_receiver(&state->pub, chain_startup, chain_receive);

	scd2_progress_phase(SCD2_PHASE_FOLD, 0);
	if (flags & SCD2_CHAIN_KEYS)
		scd2_store_register(&batch->chain_keys);
	if (flags & SCD2_CHAIN_LOGGED)
		scd2_store_register(&batch->logged);
	guc_level = scd2_spi_serial_begin(scd2_rows_may_try(batch));
	scd2_spi_stream(step, scd2_plan_chain(dim, flags), lengthof(types), types,
					values, nulls, true, (DestReceiver *) state);
	finish_key(state);
	scd2_spi_planner_end(guc_level);
	if (flags & SCD2_CHAIN_LOGGED)
		scd2_store_unregister(&batch->logged);
	if (flags & SCD2_CHAIN_KEYS)
		scd2_store_unregister(&batch->chain_keys);

	MemoryContextSwitchTo(oldcxt);
}

/* ----------------------------------------------------------------
 * Folding
 * ----------------------------------------------------------------
 */

typedef struct FoldState
{
	Scd2Fold   *fold;
	Scd2ChainCallback callback;
	void	   *arg;
	char	   *kinds;
	Size		nkinds;
	Size		maxkinds;
} FoldState;

static void
fold_begin(void *arg)
{
	FoldState  *state = arg;

	scd2_fold_start(state->fold, NULL);
	state->nkinds = 0;
}

static void
fold_change(void *arg, const Scd2ChainChange *change)
{
	FoldState  *state = arg;

	if (state->nkinds == state->maxkinds)
	{
		state->maxkinds *= 2;
		state->kinds = repalloc_huge(state->kinds, state->maxkinds);
	}
	state->kinds[state->nkinds++] = (char) change->kind;
	scd2_fold_change(state->fold, &change->fold);
}

static void
fold_finish(void *arg, const Scd2Chain *chain)
{
	FoldState  *state = arg;
	Scd2Chain	folded = *chain;

	folded.result = scd2_fold_finish(state->fold);
	folded.kinds = state->kinds;
	state->callback(state->arg, &folded);
}

/*
 * Fold keys from the log; see chain.h.
 */
void
scd2_chain_fold(Scd2Batch *batch, const char *step, int flags,
				TimestampTz known_at, Scd2ChainCallback callback, void *arg)
{
	const Scd2ChainReader reader = {fold_begin, fold_change, fold_finish};
	FoldState	state = {0};

	state.fold = scd2_fold_create(&batch->shape, batch->cxt);
	state.callback = callback;
	state.arg = arg;
	state.maxkinds = 64;
	state.kinds = MemoryContextAlloc(batch->cxt, state.maxkinds);
	scd2_chain_read(batch, step, flags, known_at, &reader, &state);
}

/* ----------------------------------------------------------------
 * Comparing
 * ----------------------------------------------------------------
 */

struct Scd2ChainComparer
{
	Scd2VersionRow *row;
	Scd2CanonType **canon;		/* of each column of the row */
	Scd2DifferenceCallback callback;
	void	   *arg;
};

/*
 * Prepare for comparing; see chain.h.
 */
Scd2ChainComparer *
scd2_chain_comparer(const Scd2Dimension *dim, Scd2DifferenceCallback callback,
					void *arg, MemoryContext cxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2ChainComparer *comparer = palloc(sizeof(Scd2ChainComparer));
	TupleDesc	desc;

	comparer->row = scd2_version_row_create(dim, cxt);
	comparer->callback = callback;
	comparer->arg = arg;
	comparer->canon = palloc(comparer->row->ncols * sizeof(Scd2CanonType *));
	desc = scd2_version_row_desc(comparer->row, 0);
	for (int i = 0; i < desc->natts; i++)
		comparer->canon[i] = scd2_canon_type(TupleDescAttr(desc, i)->atttypid, cxt);
	MemoryContextSwitchTo(oldcxt);
	return comparer;
}

bool
scd2_chain_same_column(const Scd2ChainComparer *comparer, int col,
					   const Scd2StoredVersion *stored, const Scd2VersionRow *row)
{
	return scd2_canon_same(comparer->canon[col],
						   stored->values[col], stored->isnull[col],
						   row->values[col], row->isnull[col]);
}

/*
 * Compare a key's versions with its fold; see chain.h.
 */
void
scd2_chain_compare(Scd2ChainComparer *comparer, const Scd2Chain *chain)
{
	const Scd2FoldResult *result = chain->result;
	Scd2VersionRow *row = comparer->row;
	int			i = 0;
	int			j = 0;

	while (i < chain->nversions || j < result->nversions)
	{
		const Scd2StoredVersion *stored = i < chain->nversions ?
			&chain->versions[i] : NULL;
		const Scd2FoldVersion *version = j < result->nversions ?
			&result->versions[j] : NULL;
		bool		differs = false;

		CHECK_FOR_INTERRUPTS();
		if (version == NULL ||
			(stored != NULL && stored->valid_from < version->valid_from))
		{
			comparer->callback(comparer->arg, chain, stored, NULL);
			i++;
			continue;
		}

		scd2_version_row_fill(row, chain->keys, chain->keys_isnull, version, result);
		j++;
		if (stored == NULL || stored->valid_from > version->valid_from)
		{
			comparer->callback(comparer->arg, chain, NULL, row);
			continue;
		}
		i++;
		differs = stored->in_history != scd2_is_history_row(row);
		for (int col = 0; col < row->ncols && !differs; col++)
			differs = !scd2_chain_same_column(comparer, col, stored, row);
		if (differs)
			comparer->callback(comparer->arg, chain, stored, row);
	}
}
