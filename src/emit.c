/*-------------------------------------------------------------------------
 *
 * emit.c
 *	  From a folded key to the rows that write.c writes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "emit.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "chain.h"
#include "meddle.h"
#include "plan.h"
#include "preview.h"
#include "spi.h"
#include "versionrow.h"

struct Scd2Emitter
{
	Scd2Batch  *batch;
	Scd2VersionRow *row;
	Scd2ChainComparer *comparer;
	bool		log_is_whole;	/* has it changes of every version? */
	int			noverlay;		/* columns that every version shows alike */
	Datum		lacks;			/* int[] for the log, once it was needed */
	Datum	   *values;			/* scratch, wide enough for any store */
	bool	   *isnull;
};

static int
count_overlay(const Scd2Dimension *dim)
{
	return scd2_count_type(dim, 0) + scd2_count_type(dim, 1) +
		2 * scd2_count_type(dim, 3) + scd2_count_type(dim, 6);
}

/*
 * Add descriptors of the overlay's columns o1, o2, ...: in the order of
 * overlay_columns in plan.c.
 */
static int
describe_overlay(const Scd2Dimension *dim, TupleDesc desc, int attno)
{
	int			n = 0;

	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];
		int			copies = col->scd_type == 2 ? 0 : col->scd_type == 3 ? 2 : 1;

		while (copies-- > 0)
			scd2_desc_column(desc, attno++, psprintf("o%d", ++n),
							 col->typid, col->typmod, col->collation);
	}
	return attno;
}

static int
fill_overlay(const Scd2Dimension *dim, const Scd2FoldResult *result,
			 Datum *values, bool *isnull)
{
	int			n = 0;

	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 2)
			continue;
		values[n] = result->last[i];
		isnull[n++] = result->last_isnull[i];
		if (dim->attrs[i].scd_type == 3)
		{
			values[n] = result->previous[i];
			isnull[n++] = result->previous_isnull[i];
		}
	}
	return n;
}

/*
 * Begin the stores that a batch writes from; see plan.c for who reads them.
 */
Scd2Emitter *
scd2_emitter_begin(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	Scd2Emitter *emitter = palloc0(sizeof(Scd2Emitter));
	int			widest = 10 + 2 * dim->nkeys + 3 * dim->nattrs + dim->nseq;
	TupleDesc	desc;
	int			n;

	emitter->batch = batch;
	emitter->noverlay = count_overlay(dim);
	emitter->values = palloc(widest * sizeof(Datum));
	emitter->isnull = palloc(widest * sizeof(bool));

	emitter->row = scd2_version_row_create(dim, batch->cxt);

	desc = CreateTemplateTupleDesc(3 + dim->nkeys + emitter->noverlay);
	scd2_desc_column(desc, 1, "tid", TIDOID, -1, InvalidOid);
	scd2_desc_column(desc, 2, "valid_from", dim->period_type, -1, InvalidOid);
	scd2_desc_column(desc, 3, "valid_to", dim->period_type, -1, InvalidOid);
	n = scd2_describe_keys(dim, desc, 4);
	describe_overlay(dim, desc, n);
	scd2_store_begin(batch, &batch->closes, "scd2_close", desc);

	scd2_store_begin(batch, &batch->opens, "scd2_open",
					 scd2_version_row_desc(emitter->row, 0));

	desc = CreateTemplateTupleDesc(dim->nkeys + emitter->noverlay);
	n = scd2_describe_keys(dim, desc, 1);
	describe_overlay(dim, desc, n);
	scd2_store_begin(batch, &batch->overwrites, "scd2_overwrite", desc);

	desc = scd2_version_row_desc(emitter->row, 1);
	scd2_desc_column(desc, emitter->row->ncols + 1, "tid", TIDOID, -1, InvalidOid);
	scd2_store_begin(batch, &batch->revises, "scd2_revise", desc);
	scd2_store_begin(batch, &batch->grows, "scd2_grow", desc);
	scd2_store_begin(batch, &batch->removes, "scd2_remove", desc);
	if (dim->history != NULL)
	{
		scd2_store_begin(batch, &batch->history.opens, "scd2_history_open",
						 scd2_version_row_desc(emitter->row, 0));
		scd2_store_begin(batch, &batch->history.revises, "scd2_history_revise", desc);
		scd2_store_begin(batch, &batch->history.grows, "scd2_history_grow", desc);
		scd2_store_begin(batch, &batch->history.removes, "scd2_history_remove", desc);
	}

	desc = CreateTemplateTupleDesc(dim->nkeys);
	scd2_describe_keys(dim, desc, 1);
	scd2_store_begin(batch, &batch->chain_keys, "scd2_chain_keys", desc);

	if (OidIsValid(dim->log))
	{
		desc = CreateTemplateTupleDesc(dim->nkeys + 1 +
									   (dim->keeps_source_time ? 1 : 0) +
									   dim->nseq + 4 + dim->nattrs);
		n = scd2_describe_keys(dim, desc, 1);
		scd2_desc_column(desc, n++, "e", dim->period_type, -1, InvalidOid);
		if (dim->keeps_source_time)
			scd2_desc_column(desc, n++, "source_time", dim->effective_type, -1,
							 InvalidOid);
		for (int i = 0; i < dim->nseq; i++)
			scd2_desc_column(desc, n++, psprintf("s%d", i + 1),
							 dim->seq[i].typid, dim->seq[i].typmod,
							 dim->seq[i].collation);
		scd2_desc_column(desc, n++, "deleted", BOOLOID, -1, InvalidOid);
		for (int i = 0; i < dim->nattrs; i++)
			scd2_desc_column(desc, n++, psprintf("a%d", i + 1),
							 dim->attrs[i].typid, dim->attrs[i].typmod,
							 dim->attrs[i].collation);
		scd2_desc_column(desc, n++, "lacks", INT4ARRAYOID, -1, InvalidOid);
		scd2_desc_column(desc, n++, "ord", INT8OID, -1, InvalidOid);
		scd2_desc_column(desc, n++, "run", INT8OID, -1, InvalidOid);
		scd2_store_begin(batch, &batch->logged, "scd2_logged", desc);
	}

	return emitter;
}

static void
emit_close(Scd2Emitter *emitter, const Scd2KeyState *state,
		   const Scd2FoldVersion *version, const Scd2FoldResult *result)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	Datum		valid_to = scd2_time_to_period(dim, version->valid_to);
	int			n = 0;

	batch->counts.versions_closed++;
	if (batch->preview != NULL)
	{
		scd2_preview_action(batch, "close", state->keys, state->keys_isnull,
							&valid_to, state->attrs, state->attrs_isnull,
							NULL, NULL);
		return;
	}

	emitter->values[n] = state->current_tid;
	emitter->isnull[n++] = false;
	emitter->values[n] = scd2_time_to_period(dim, version->valid_from);
	emitter->isnull[n++] = false;
	emitter->values[n] = valid_to;
	emitter->isnull[n++] = false;
	for (int i = 0; i < dim->nkeys; i++)
	{
		emitter->values[n] = state->keys[i];
		emitter->isnull[n++] = state->keys_isnull[i];
	}
	n += fill_overlay(dim, result, emitter->values + n, emitter->isnull + n);
	Assert(n == batch->closes.desc->natts);
	scd2_store_put(&batch->closes, emitter->values, emitter->isnull);
}

/*
 * Put a new version where it belongs.
 */
static void
put_open(Scd2Batch *batch, const Scd2VersionRow *row)
{
	scd2_store_put(scd2_is_history_row(row) ? &batch->history.opens : &batch->opens,
				   row->values, row->isnull);
}

static void
emit_open(Scd2Emitter *emitter, const Scd2KeyState *state,
		  const Scd2FoldVersion *version, const Scd2FoldResult *result)
{
	Scd2Batch  *batch = emitter->batch;

	batch->counts.versions_opened++;
	scd2_version_row_fill(emitter->row, state->keys, state->keys_isnull, version,
						  result);
	if (batch->preview != NULL)
	{
		int			attrs = emitter->row->attrs;

		scd2_preview_action(batch, "open", state->keys, state->keys_isnull,
							&emitter->row->values[emitter->row->valid_from],
							NULL, NULL, emitter->row->values + attrs,
							emitter->row->isnull + attrs);
		return;
	}
	put_open(batch, emitter->row);
}

static void
emit_overwrite(Scd2Emitter *emitter, const Scd2KeyState *state,
			   const Scd2FoldResult *result)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	int			n = 0;

	if (batch->preview != NULL)
	{
		Datum	   *values = emitter->values;
		bool	   *isnull = emitter->isnull;

		for (int i = 0; i < dim->nattrs; i++)
		{
			bool		own = dim->attrs[i].scd_type == 2 ||
				dim->attrs[i].scd_type == 6;

			values[i] = own ? state->attrs[i] : result->last[i];
			isnull[i] = own ? state->attrs_isnull[i] : result->last_isnull[i];
		}
		scd2_preview_action(batch, "overwrite", state->keys,
							state->keys_isnull, NULL, state->attrs,
							state->attrs_isnull, values, isnull);
		return;
	}

	for (int i = 0; i < dim->nkeys; i++)
	{
		emitter->values[n] = state->keys[i];
		emitter->isnull[n++] = state->keys_isnull[i];
	}
	n += fill_overlay(dim, result, emitter->values + n, emitter->isnull + n);
	Assert(n == batch->overwrites.desc->natts);
	scd2_store_put(&batch->overwrites, emitter->values, emitter->isnull);
}

/*
 * Emit a key's folded chain: the close before the opens (R15).
 */
void
scd2_emit_chain(Scd2Emitter *emitter, const Scd2KeyState *state,
				const Scd2FoldResult *result)
{
	for (int i = 0; i < result->nversions; i++)
	{
		const Scd2FoldVersion *version = &result->versions[i];

		CHECK_FOR_INTERRUPTS();
		if (!version->preexisting)
			emit_open(emitter, state, version, result);
		else if (!version->is_open)
			emit_close(emitter, state, version, result);
	}
	if (!state->seen && result->nversions > 0)
		emitter->batch->counts.keys_new++;
	if (state->seen && result->overlay_changed && emitter->noverlay > 0)
		emit_overwrite(emitter, state, result);
}

/*
 * Emit a key whose chain is to be folded from the log.
 */
void
scd2_emit_chain_key(Scd2Emitter *emitter, const Datum *keys,
					const bool *keys_isnull)
{
	scd2_store_put(&emitter->batch->chain_keys, keys, keys_isnull);
	emitter->batch->counts.keys_rebuilt++;
}

/*
 * Does the row's interval reach beyond the stored version's?
 */
static bool
grows(const Scd2Dimension *dim, const Scd2StoredVersion *stored,
	  const Scd2VersionRow *row)
{
	int			to = row->valid_to;

	if (DatumGetBool(row->values[row->is_current]) &&
		(stored->isnull[row->is_current] ||
		 !DatumGetBool(stored->values[row->is_current])))
		return true;
	if (stored->isnull[to])
		return false;
	return row->isnull[to] ||
		scd2_period_to_time(dim, row->values[to]) >
		scd2_period_to_time(dim, stored->values[to]);
}

/* And does it end sooner? */
static bool
shrinks(const Scd2Dimension *dim, const Scd2StoredVersion *stored,
		const Scd2VersionRow *row)
{
	int			to = row->valid_to;

	if (row->isnull[to])
		return false;
	return stored->isnull[to] ||
		scd2_period_to_time(dim, row->values[to]) <
		scd2_period_to_time(dim, stored->values[to]);
}

static void
put_with_tid(Scd2Store *store, const Scd2VersionRow *row, const Datum *values,
			 const bool *isnull, const Scd2StoredVersion *stored)
{
	Datum	   *with_tid = palloc((row->ncols + 1) * sizeof(Datum));
	bool	   *with_isnull = palloc((row->ncols + 1) * sizeof(bool));

	memcpy(with_tid, values, row->ncols * sizeof(Datum));
	memcpy(with_isnull, isnull, row->ncols * sizeof(bool));
	with_tid[row->ncols] = PointerGetDatum(&stored->tid);
	with_isnull[row->ncols] = false;
	scd2_store_put(store, with_tid, with_isnull);
}

static void
put_remove(Scd2Batch *batch, const Scd2VersionRow *layout,
		   const Scd2StoredVersion *stored)
{
	put_with_tid(stored->in_history ? &batch->history.removes : &batch->removes,
				 layout, stored->values, stored->isnull, stored);
}

/*
 * A version that changes where it lies, or, with history => 'separate', goes to
 * the other table.
 */
static void
put_revise(Scd2Batch *batch, const Scd2VersionRow *layout,
		   const Scd2StoredVersion *stored, const Scd2VersionRow *row, bool same_sk)
{
	bool		longer = grows(batch->dim, stored, row);
	Scd2Store  *store;

	/* another row may have the surrogate key that is its own: see emit_remakes */
	if (stored->in_history != scd2_is_history_row(row) || !same_sk)
	{
		put_remove(batch, layout, stored);
		put_open(batch, row);
		return;
	}
	if (stored->in_history)
		store = longer ? &batch->history.grows : &batch->history.revises;
	else
		store = longer ? &batch->grows : &batch->revises;
	put_with_tid(store, layout, row->values, row->isnull, stored);
}

/*
 * Emit one difference between a key's versions and its fold; "arg" is the
 * emitter.  See chain.h.
 */
static void
emit_difference(void *arg, const Scd2Chain *chain,
				const Scd2StoredVersion *stored, const Scd2VersionRow *row)
{
	Scd2Emitter *emitter = arg;
	Scd2Batch  *batch = emitter->batch;
	const Scd2VersionRow *layout = emitter->row;
	const char *action;
	int			shown = layout->valid_from;
	bool		overwritten = false;

	if (stored == NULL)
	{
		action = "open";
		batch->counts.versions_opened++;
		put_open(batch, row);
	}
	else if (row == NULL)
	{
		action = "remove";
		batch->counts.versions_removed++;
		put_remove(batch, layout, stored);
	}
	else
	{
		bool		same_sk = scd2_chain_same_column(emitter->comparer, 0, stored, row);

		for (int col = layout->attrs; col < layout->valid_from && !overwritten; col++)
			overwritten = !scd2_chain_same_column(emitter->comparer, col, stored, row);
		if (!same_sk && !batch->removes_first)
		{
			/* what becomes of the row, emit_remakes will know */
			overwritten = false;
			batch->counts.versions_opened++;
			batch->counts.versions_removed++;
		}
		if (overwritten)
			batch->counts.rows_overwritten++;
		if ((same_sk || batch->removes_first) && shrinks(batch->dim, stored, row))
		{
			action = "close";
			shown = layout->valid_to;
			batch->counts.versions_closed++;
		}
		else
			action = "overwrite";
		put_revise(batch, layout, stored, row, same_sk);
	}

	if (batch->preview != NULL)
		scd2_preview_action(batch, action, chain->keys, chain->keys_isnull,
							row != NULL ? &row->values[shown] : &stored->values[shown],
							stored != NULL ? stored->values + layout->attrs : NULL,
							stored != NULL ? stored->isnull + layout->attrs : NULL,
							row != NULL && shown == layout->valid_from ?
							row->values + layout->attrs : NULL,
							row != NULL && shown == layout->valid_from ?
							row->isnull + layout->attrs : NULL);
}

/*
 * What the fold says of changes, counted.
 */
static void
count_outcome(Scd2RunCounts *counts, Scd2FoldOutcome outcome)
{
	switch (outcome)
	{
		case SCD2_FOLD_OPENED:
			break;
		case SCD2_FOLD_CLOSED:
			counts->rows_deleted++;
			break;
		case SCD2_FOLD_CONFIRMED:
			counts->rows_confirmed++;
			break;
		case SCD2_FOLD_OVERWROTE:
			break;
		case SCD2_FOLD_SUPERSEDED:
			counts->rows_skipped++;
			break;
		case SCD2_FOLD_IGNORED:
			counts->rows_unchanged++;
			break;
	}
}

void
scd2_count_outcomes(Scd2Batch *batch, const Scd2FoldResult *result,
					const char *kinds)
{
	for (int i = 0; i < result->nchanges; i++)
		if (kinds == NULL || kinds[i] == SCD2_CHAIN_NEW)
			count_outcome(&batch->counts, result->outcomes[i]);
}

/*
 * A key that has versions has changes; where somebody cleared the log, folding
 * from it would lose the key's history.
 */
static void
check_logged(const Scd2Emitter *emitter, const Scd2Chain *chain)
{
	const Scd2Dimension *dim = emitter->batch->dim;

	if (chain->nversions == 0)
		return;
	for (int i = 0; i < chain->result->nchanges; i++)
		if (chain->kinds[i] == SCD2_CHAIN_CHANGE)
			return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("change log of dimension \"%s\" has lost the changes of a key",
					dim->label),
			 errdetail("Key %s has versions, and no change that made them.",
					   scd2_key_text(dim, chain->keys, chain->keys_isnull)),
			 errhint("Nothing was written. A late change can only be placed among the changes before and after it: restore the rows of the log.")));
}

static void
emit_folded(void *arg, const Scd2Chain *chain)
{
	Scd2Emitter *emitter = arg;

	if (emitter->log_is_whole)
		check_logged(emitter, chain);
	scd2_count_outcomes(emitter->batch, chain->result, chain->kinds);
	if (chain->nversions == 0 && chain->result->nversions > 0)
		emitter->batch->counts.keys_new++;
	scd2_chain_compare(emitter->comparer, chain);
}

/*
 * Emit the rows of a table that are no version of any key, and not the unknown
 * member either: they go.
 */
static void
emit_strays(Scd2Batch *batch, const Scd2Dimension *place, Scd2Store *removes)
{
	batch->counts.versions_removed +=
		scd2_store_fill(batch, removes, "strays",
						scd2_plan_strays(place, place == batch->dim), 0, NULL, NULL, false);
}

/*
 * Emit the unknown member, where it is missing or is not what it should be.
 */
static void
emit_unknown(Scd2Emitter *emitter)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2VersionRow *row = emitter->row;
	Scd2Store	found;
	TupleTableSlot *slot;

	if (!scd2_has_unknown_member(batch->dim))
		return;
	scd2_version_row_fill_unknown(row);
	scd2_store_begin(batch, &found, "scd2_unknown", batch->removes.desc);
	(void) scd2_store_fill(batch, &found, "unknown member",
						   scd2_plan_unknown(batch->dim), 0, NULL, NULL, false);
	slot = MakeSingleTupleTableSlot(found.desc, &TTSOpsMinimalTuple);
	if (!tuplestore_gettupleslot(found.store, true, false, slot))
	{
		batch->counts.versions_opened++;
		put_open(batch, row);
	}
	else
	{
		Scd2StoredVersion stored = {0};
		bool		has_key = true;
		bool		in_place = true;
		bool		same = true;

		slot_getallattrs(slot);
		stored.values = slot->tts_values;
		stored.isnull = slot->tts_isnull;
		stored.tid = *(ItemPointer) DatumGetPointer(slot->tts_values[row->ncols]);
		for (int col = 0; col < row->ncols; col++)
		{
			bool		is_key = col >= row->keys && col < row->attrs;

			if (is_key && stored.isnull[col])
				has_key = false;
			if (scd2_chain_same_column(emitter->comparer, col, &stored, row))
				continue;
			same = false;
			if (is_key || col == row->valid_from)
				in_place = false;
		}
		if (!same && in_place)
		{
			batch->counts.rows_overwritten++;
			put_revise(batch, row, &stored, row, true);
		}
		else if (!same)
		{
			/* with a key it was taken for a version, which the log has not */
			if (!has_key)
			{
				batch->counts.versions_removed++;
				put_remove(batch, row, &stored);
			}
			batch->counts.versions_opened++;
			put_open(batch, row);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	scd2_store_end(&found);
}

/*
 * Put what a statement over a store returns in its place.
 */
static void
filter_store(Scd2Batch *batch, Scd2Store *store, const char *step, const char *sql)
{
	Scd2Store	kept;

	scd2_store_begin(batch, &kept, store->name, store->desc);
	(void) scd2_store_fill(batch, &kept, step, sql, 0, NULL, NULL, true);
	scd2_store_unregister(store);
	scd2_store_end(store);
	*store = kept;
}

/*
 * Rows that facts may refer to are not removed where they are but the version that
 * is to come, with something in them changed: they become it again (R25, R30).
 */
static void
emit_remakes(Scd2Batch *batch)
{
	Scd2Store  *opens = &batch->opens;
	Scd2Store  *removes = &batch->removes;
	Scd2Store  *remakes = &batch->remakes;
	uint64		n;

	if (opens->ntuples == 0 || removes->ntuples == 0)
		return;
	scd2_store_begin(batch, remakes, "scd2_remake", batch->grows.desc);
	scd2_store_register(opens);
	scd2_store_register(removes);
	n = scd2_store_fill(batch, remakes, "pair", scd2_plan_pairs(batch->dim), 0, NULL, NULL,
						true);
	if (n == 0)
	{
		scd2_store_unregister(removes);
		scd2_store_unregister(opens);
		return;
	}

	scd2_store_register(remakes);
	scd2_store_begin(batch, &batch->remade, "scd2_remade", removes->desc);
	(void) scd2_store_fill(batch, &batch->remade, "remade",
						   scd2_plan_matched(removes->name, "tid", true, remakes->name),
						   0, NULL, NULL, true);
	filter_store(batch, removes, "removes left",
				 scd2_plan_matched(removes->name, "tid", false, remakes->name));
	filter_store(batch, opens, "opens left",
				 scd2_plan_matched(opens->name, "c1", false, remakes->name));
	scd2_store_unregister(remakes);
	batch->counts.versions_opened -= n;
	batch->counts.versions_removed -= n;
	batch->counts.rows_overwritten += n;
}

/*
 * Fold the emitted keys from the log, or all, and emit what differs from their
 * versions; see emit.h.
 */
void
scd2_emit_folded(Scd2Emitter *emitter, bool all_keys, bool log_is_whole)
{
	Scd2Batch  *batch = emitter->batch;
	int			flags = SCD2_CHAIN_VERSIONS;

	emitter->log_is_whole = log_is_whole;

	if (!all_keys && batch->chain_keys.ntuples == 0)
		return;
	if (!all_keys)
		flags |= SCD2_CHAIN_KEYS;
	if (batch->logged.ntuples > 0)
		flags |= SCD2_CHAIN_LOGGED;
	batch->removes_first = batch->dim->history != NULL ||
		!scd2_is_referenced(batch->dim->relid);
	emitter->comparer = scd2_chain_comparer(batch->dim, emit_difference,
											emitter, batch->cxt);
	scd2_chain_fold(batch, "fold", flags, 0, emit_folded, emitter);
	if (all_keys)
	{
		emit_strays(batch, batch->dim, &batch->removes);
		if (batch->dim->history != NULL)
			emit_strays(batch, batch->dim->history, &batch->history.removes);
		emit_unknown(emitter);
	}
	if (!batch->removes_first)
		emit_remakes(batch);
}

/*
 * The numbers of the columns that the batch's source lacks, as the log keeps them.
 */
static Datum
lacked_ids(Scd2Emitter *emitter)
{
	const Scd2Dimension *dim = emitter->batch->dim;
	Datum	   *ids;
	int			n = 0;
	MemoryContext oldcxt;

	if (emitter->lacks != (Datum) 0)
		return emitter->lacks;
	oldcxt = MemoryContextSwitchTo(emitter->batch->cxt);
	ids = palloc((dim->nattrs + 1) * sizeof(Datum));
	if (emitter->batch->infers)
		ids[n++] = Int32GetDatum(SCD2_LACKS_INFERRED);
	for (int i = 0; i < dim->nattrs; i++)
		if (emitter->batch->lacks[i])
			ids[n++] = Int32GetDatum(dim->attrs[i].id);
	emitter->lacks = PointerGetDatum(construct_array(ids, n, INT4OID, sizeof(int32),
													 true, TYPALIGN_INT));
	MemoryContextSwitchTo(oldcxt);
	return emitter->lacks;
}

/*
 * Emit a change for the log, as it was sent.
 */
void
scd2_emit_log(Scd2Emitter *emitter, const Datum *row, const bool *row_isnull,
			  int64 run_id)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	int			n = 0;

	batch->has_changes = true;
	if (!OidIsValid(dim->log))
		return;

	batch->newest_logged = Max(batch->newest_logged,
							   scd2_period_to_time(dim, row[layout->e]));

#define COPY(from, count) \
	do { \
		memcpy(emitter->values + n, row + (from), (count) * sizeof(Datum)); \
		memcpy(emitter->isnull + n, row_isnull + (from), (count) * sizeof(bool)); \
		n += (count); \
	} while (0)

	COPY(layout->keys, dim->nkeys);
	COPY(layout->e, 1);
	if (layout->source_time >= 0)
		COPY(layout->source_time, 1);
	COPY(layout->seq, dim->nseq);
	COPY(layout->deleted, 1);
	COPY(layout->attrs, dim->nattrs);
#undef COPY
	emitter->isnull[n] = batch->lacks == NULL || DatumGetBool(row[layout->deleted]);
	emitter->values[n] = emitter->isnull[n] ? (Datum) 0 : lacked_ids(emitter);
	n++;
	emitter->values[n] = Int64GetDatum(batch->logged.ntuples + 1);
	emitter->isnull[n++] = false;
	emitter->values[n] = Int64GetDatum(run_id);
	emitter->isnull[n++] = false;
	Assert(n == batch->logged.desc->natts);
	scd2_store_put(&batch->logged, emitter->values, emitter->isnull);
}
