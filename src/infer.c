/*-------------------------------------------------------------------------
 *
 * infer.c
 *	  Inferred members: versions of keys that only facts have told of (R31).
 *
 * An inferred member is a change in the log that lacks every column, at the
 * earliest event time of the key's facts.  The fold gives it the values of the
 * first real change, which therefore opens nothing: it completes the member.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "infer.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "convert.h"
#include "emit.h"
#include "plan_fact.h"
#include "spi.h"
#include "write.h"

typedef struct InferState
{
	DestReceiver pub;
	Scd2Batch  *batch;
	Scd2Emitter *emitter;
	Datum	   *row;			/* a staged row */
	bool	   *row_isnull;
} InferState;

/* As the statement returns a key column: a domain is its base type. */
static Oid
key_type(const Scd2Link *link, int key)
{
	return getBaseType(link->keys[key].typid);
}

/*
 * The keys of a link's unresolved facts, as they are there, as the fact's owner.
 */
static void
read_unresolved(Scd2Batch *batch, const Scd2Link *link, Scd2Store *store)
{
	const Scd2Dimension *dim = batch->dim;
	Oid			types[] = {dim->period_type, dim->period_type};
	Datum		values[] = {dim->open_end, dim->initial_valid_from};
	bool		nulls[] = {dim->open_end_is_null, !dim->has_initial};
	TupleDesc	desc = CreateTemplateTupleDesc(dim->nkeys + 1);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	Scd2Rights	rights;

	for (int i = 0; i < dim->nkeys; i++)
		scd2_desc_column(desc, i + 1, psprintf("k%d", i + 1), key_type(link, i), -1,
						 link->keys[i].collation);
	scd2_desc_column(desc, dim->nkeys + 1, "e", dim->period_type, -1, InvalidOid);
	scd2_store_begin(batch, store, "scd2_fact_keys", desc);
	SetTuplestoreDestReceiverParams(dest, store->store, batch->cxt, true, NULL, NULL);
	scd2_rights_enter(link->owner, &rights);
	store->ntuples = scd2_spi_stream("unresolved", scd2_plan_fact_unresolved(dim, link),
									 lengthof(types), types, values, nulls, true, dest);
	scd2_rights_leave(&rights);
	dest->rDestroy(dest);
}

/*
 * Convert them to the dimension's types, as its owner: a domain may check them.
 */
static void
convert_keys(Scd2Batch *batch, const Scd2Link *link, Scd2Store *from, Scd2Store *to)
{
	const Scd2Dimension *dim = batch->dim;
	Scd2Converter **converters = palloc(dim->nkeys * sizeof(Scd2Converter *));
	TupleTableSlot *slot = MakeSingleTupleTableSlot(from->desc, &TTSOpsMinimalTuple);
	Scd2Rights	rights;

	scd2_rights_enter(dim->owner, &rights);
	for (int i = 0; i < dim->nkeys; i++)
		converters[i] = scd2_converter(key_type(link, i), -1, dim->keys[i].typid,
									   dim->keys[i].typmod, link->keys[i].name,
									   batch->cxt);
	while (tuplestore_gettupleslot(from->store, true, false, slot))
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(batch->row_cxt);

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		for (int i = 0; i < dim->nkeys; i++)
			if (converters[i] != NULL)
				slot->tts_values[i] = scd2_convert(converters[i], slot->tts_values[i],
												   &slot->tts_isnull[i]);
		scd2_store_put(to, slot->tts_values, slot->tts_isnull);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(batch->row_cxt);
	}
	scd2_rights_leave(&rights);
	ExecDropSingleTupleTableSlot(slot);
}

/* Row: K, the earliest event time. */
static bool
infer_receive(TupleTableSlot *slot, DestReceiver *self)
{
	InferState *state = (InferState *) self;
	Scd2Batch  *batch = state->batch;
	const Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	memcpy(state->row + layout->keys, slot->tts_values, dim->nkeys * sizeof(Datum));
	memset(state->row_isnull + layout->keys, false, dim->nkeys * sizeof(bool));
	state->row[layout->e] = dim->has_initial ? dim->initial_valid_from :
		slot->tts_values[dim->nkeys];
	scd2_emit_log(state->emitter, state->row, state->row_isnull, batch->run_id);
	scd2_emit_chain_key(state->emitter, state->row + layout->keys,
						state->row_isnull + layout->keys);
	return true;
}

/*
 * A staged row that lacks all: no sequence, and where several source times may be
 * one E, the first of them, so that any real change of that time comes after it.
 */
static void
prepare_row(InferState *state)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	state->row = palloc0(layout->ncols * sizeof(Datum));
	state->row_isnull = palloc(layout->ncols * sizeof(bool));
	memset(state->row_isnull, true, layout->ncols * sizeof(bool));
	state->row_isnull[layout->e] = false;
	state->row[layout->deleted] = BoolGetDatum(false);
	state->row_isnull[layout->deleted] = false;
	if (layout->source_time >= 0)
	{
		state->row[layout->source_time] = batch->dim->effective_type == DATEOID ?
			DateADTGetDatum(DATEVAL_NOBEGIN) : TimestampGetDatum(DT_NOBEGIN);
		state->row_isnull[layout->source_time] = false;
	}
	batch->lacks = palloc((batch->dim->nattrs + 1) * sizeof(bool));
	memset(batch->lacks, true, (batch->dim->nattrs + 1) * sizeof(bool));
	batch->infers = true;
}

/*
 * Make them; see infer.h.
 */
void
scd2_infer_members(Scd2Run *run, List *links, Scd2RunCounts *total)
{
	MemoryContext oldcxt = CurrentMemoryContext;
	Scd2Batch  *batch;
	InferState *state;
	Scd2Store	unresolved;
	Scd2Rights	rights;
	TupleDesc	desc;
	ListCell   *lc;

	/* what the batch's statements see by name goes with the connection */
	scd2_spi_begin();
	MemoryContextSwitchTo(oldcxt);
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	batch = scd2_batch_begin(run->dim);
	MemoryContextSwitchTo(batch->cxt);
	scd2_run_adopt(run, batch);

	desc = CreateTemplateTupleDesc(run->dim->nkeys + 1);
	scd2_desc_column(desc, scd2_describe_keys(run->dim, desc, 1), "e",
					 run->dim->period_type, -1, InvalidOid);
	scd2_store_begin(batch, &unresolved, "scd2_unresolved", desc);
	foreach(lc, links)
	{
		Scd2Store	keys;

		read_unresolved(batch, lfirst(lc), &keys);
		convert_keys(batch, lfirst(lc), &keys, &unresolved);
		scd2_store_end(&keys);
	}

	if (unresolved.ntuples > 0)
	{
		scd2_rights_enter(run->dim->owner, &rights);
		state = palloc0(sizeof(InferState));
		state->batch = batch;
		state->emitter = scd2_emitter_begin(batch);
		prepare_row(state);
		scd2_store_register(&unresolved);
		scd2_spi_receiver(&state->pub, NULL, infer_receive);
		scd2_spi_stream("infer", scd2_plan_fact_to_infer(run->dim), 0, NULL, NULL, NULL,
						true, (DestReceiver *) state);
		scd2_store_unregister(&unresolved);
		scd2_emit_folded(state->emitter, false, false);
		scd2_write(batch);
		scd2_rights_leave(&rights);
		scd2_run_logged(run);
	}
	scd2_store_end(&unresolved);

	scd2_run_add_counts(total, &batch->counts);
	PopActiveSnapshot();
	scd2_spi_end();
	MemoryContextSwitchTo(oldcxt);
	scd2_batch_end(batch);
}
