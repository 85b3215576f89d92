/*-------------------------------------------------------------------------
 *
 * why.c
 *	  A key's logged changes, each with what it did (SPEC section 7).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "ask.h"
#include "chain.h"
#include "convert.h"
#include "keyarg.h"
#include "preview.h"
#include "run.h"
#include "runs.h"

/* The function's columns, from 0. */
enum
{
	WHY_EFFECTIVE_AT, WHY_SEQUENCE, WHY_IS_DELETED, WHY_ATTRIBUTES, WHY_RUN,
	WHY_RECORDED_AT, WHY_OUTCOME, WHY_NCOLS
};

/* In the order of Scd2FoldOutcome. */
static const char *const outcomes[] = {"opened", "closed", "confirmed", "overwrote",
"superseded", "ignored"};

typedef struct WhyState
{
	Scd2Batch  *batch;
	Scd2RunSet	undone;
	Scd2Fold   *fold;
	TupleDesc	seq_desc;		/* NULL: there is no sequence */
	TupleDesc	attr_desc;		/* of all tracked columns */
	Scd2Store	changes;		/* as rows of the result; what they did is
								 * known at the end, but for undone ones */
	Tuplestorestate *store;
	TupleDesc	desc;
} WhyState;

static void
begin_key(void *arg)
{
	WhyState   *state = arg;

	scd2_fold_start(state->fold, NULL);
}

/*
 * The change's own time, where the period's type is coarser (R5), else E.
 */
static Datum
effective_at(const Scd2Dimension *dim, const Scd2ChainChange *change)
{
	if (change->has_source_time)
		return scd2_to_timestamptz(dim, change->source_time, dim->effective_type);
	return scd2_to_timestamptz(dim, scd2_time_to_period(dim, change->fold.effective_at),
							   dim->period_type);
}

/*
 * The tracked columns that the change has (R8).
 */
static Datum
attributes(const WhyState *state, const Scd2FoldChange *change)
{
	const Scd2Dimension *dim = state->batch->dim;
	Scd2Column *columns;
	Datum	   *values;
	bool	   *isnull;
	int			n = 0;

	if (change->lacks == NULL)
		return scd2_columns_jsonb(state->attr_desc, change->values, change->isnull);
	columns = palloc(dim->nattrs * sizeof(Scd2Column));
	values = palloc(dim->nattrs * sizeof(Datum));
	isnull = palloc(dim->nattrs * sizeof(bool));
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (change->lacks[i])
			continue;
		columns[n] = dim->attrs[i];
		values[n] = change->values[i];
		isnull[n++] = change->isnull[i];
	}
	return scd2_columns_jsonb(scd2_columns_desc(columns, n), values, isnull);
}

static void
add_change(void *arg, const Scd2ChainChange *change)
{
	WhyState   *state = arg;
	const Scd2Dimension *dim = state->batch->dim;
	bool		undone = scd2_runs_has(&state->undone, change->run);
	Datum		values[WHY_NCOLS];
	bool		isnull[WHY_NCOLS] = {0};

	if (!undone)
		scd2_fold_change(state->fold, &change->fold);
	values[WHY_EFFECTIVE_AT] = effective_at(dim, change);
	isnull[WHY_SEQUENCE] = state->seq_desc == NULL;
	if (state->seq_desc != NULL)
		values[WHY_SEQUENCE] = scd2_columns_jsonb(state->seq_desc, change->seq,
												  change->seq_isnull);
	values[WHY_IS_DELETED] = BoolGetDatum(change->fold.deleted);
	isnull[WHY_ATTRIBUTES] = change->fold.deleted;
	if (!change->fold.deleted)
		values[WHY_ATTRIBUTES] = attributes(state, &change->fold);
	values[WHY_RUN] = Int64GetDatum(change->run);
	values[WHY_RECORDED_AT] = TimestampTzGetDatum(change->recorded_at);
	isnull[WHY_OUTCOME] = !undone;
	if (undone)
		values[WHY_OUTCOME] = CStringGetTextDatum("undone");
	scd2_store_put(&state->changes, values, isnull);
}

static void
finish_key(void *arg, const Scd2Chain *chain)
{
	WhyState   *state = arg;
	const Scd2FoldResult *result = scd2_fold_finish(state->fold);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(state->desc, &TTSOpsMinimalTuple);
	int			n = 0;

	while (tuplestore_gettupleslot(state->changes.store, true, false, slot))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		if (slot->tts_isnull[WHY_OUTCOME])
		{
			Assert(n < result->nchanges);
			slot->tts_values[WHY_OUTCOME] =
				CStringGetTextDatum(outcomes[result->outcomes[n++]]);
			slot->tts_isnull[WHY_OUTCOME] = false;
		}
		tuplestore_putvalues(state->store, state->desc, slot->tts_values,
							 slot->tts_isnull);
	}
	ExecDropSingleTupleTableSlot(slot);
}

static TupleDesc
sequence_desc(const Scd2Dimension *dim)
{
	TupleDesc	desc;

	if (dim->nseq == 0)
		return NULL;
	desc = CreateTemplateTupleDesc(dim->nseq);
	for (int i = 0; i < dim->nseq; i++)
		scd2_desc_column(desc, i + 1, dim->seq[i].source_name, dim->seq[i].typid,
						 dim->seq[i].typmod, dim->seq[i].collation);
	return BlessTupleDesc(desc);
}

static void
why(Scd2Dimension *dim, const Datum *keys, ReturnSetInfo *rsinfo)
{
	const Scd2ChainReader reader = {begin_key, add_change, finish_key};
	Scd2Batch  *batch = scd2_batch_begin(dim);
	WhyState   *state = palloc0(sizeof(WhyState));
	TupleDesc	desc = CreateTemplateTupleDesc(dim->nkeys);
	bool	   *isnull = palloc0(dim->nkeys * sizeof(bool));
	int			guc_level;
	int			serial_level;

	state->batch = batch;
	state->undone = scd2_runs_set(batch->undone);
	batch->undone = (Datum) 0;	/* they are read, too */
	state->fold = scd2_fold_create(&batch->shape, batch->cxt);
	state->seq_desc = sequence_desc(dim);
	state->attr_desc = scd2_columns_desc(dim->attrs, dim->nattrs);
	state->store = rsinfo->setResult;
	state->desc = rsinfo->setDesc;
	scd2_store_begin(batch, &state->changes, "changes", state->desc);

	scd2_describe_keys(dim, desc, 1);
	scd2_store_begin(batch, &batch->chain_keys, "scd2_chain_keys", desc);
	scd2_store_put(&batch->chain_keys, keys, isnull);

	guc_level = scd2_spi_one_key_begin();
	serial_level = scd2_spi_serial_begin(true);
	scd2_chain_read(batch, "why", SCD2_CHAIN_KEYS | SCD2_CHAIN_ORIGIN, 0, &reader, state);
	scd2_spi_planner_end(serial_level);
	scd2_spi_planner_end(guc_level);
	scd2_store_end(&state->changes);
	scd2_batch_end(batch);
}

PG_FUNCTION_INFO_V1(scd2_why);

/*
 * scd2.why(dimension, VARIADIC key "any"): the key's logged changes in the order of
 * the fold (R5), each with its run and what it did, as far as is known now.
 */
Datum
scd2_why(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_registry_argument(fcinfo);
	Scd2Ask		ask;
	Datum	   *keys;

	InitMaterializedSRF(fcinfo, 0);
	scd2_ask_begin(&ask, relid, "what its changes did can only be told from a log");
	keys = palloc(ask.dim->nkeys * sizeof(Datum));
	scd2_key_args(fcinfo, 1, ask.dim, keys);
	why(ask.dim, keys, rsinfo);
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}
