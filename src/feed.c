/*-------------------------------------------------------------------------
 *
 * feed.c
 *	  What a copy of a dimension has to do to follow its runs (SPEC section 7).
 *
 * A run's changes in the log do not tell what it did to versions: late ones and
 * undone runs do more than they say.  So the keys that the log tells something new
 * of are folded twice, as it was known after the one run and after the other, and
 * their versions compared.  "Known" goes by the time of recording, not by the
 * number of the run: what a late snapshot or an undo logs for the next snapshot
 * bears that one's number (R20).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "ask.h"
#include "chain.h"
#include "plan.h"
#include "preview.h"
#include "rebuild.h"
#include "run.h"
#include "runs.h"

#define FROM_START	0			/* for after_run */
#define TO_LAST		PG_INT64_MAX	/* for until_run */

/* A version that is not as it was: its place in the one chain and the other. */
typedef struct FeedChange
{
	int			before;			/* -1: it is new */
	int			after;			/* -1: it is gone */
} FeedChange;

/* The key's versions at one of the two times. */
typedef struct FeedSide
{
	Scd2Fold   *fold;
	const Scd2FoldResult *result;
	Scd2VersionRow *row;
} FeedSide;

typedef struct FeedState
{
	Scd2Batch  *batch;
	TimestampTz known_before;	/* the copy knows what was recorded up to here */
	Scd2RunSet	undone;			/* runs undone since, and before */
	bool		all_differ;		/* rows have got another column */
	FeedSide	before;
	FeedSide	after;
	Scd2CanonType **canon;		/* of each column of a row */
	TupleDesc	row_desc;		/* by the dimension's names */
	Oid			sk_type;
	int			nchanges;
	int			maxchanges;
	FeedChange *changes;		/* of the key */
	Tuplestorestate *store;
	TupleDesc	desc;
	MemoryContext row_cxt;
} FeedState;

static void
begin_key(void *arg)
{
	FeedState  *state = arg;

	scd2_fold_start(state->before.fold, NULL);
	scd2_fold_start(state->after.fold, NULL);
	state->nchanges = 0;
}

static void
add_change(void *arg, const Scd2ChainChange *change)
{
	FeedState  *state = arg;

	if (change->recorded_at <= state->known_before)
		scd2_fold_change(state->before.fold, &change->fold);
	if (!scd2_runs_has(&state->undone, change->run))
		scd2_fold_change(state->after.fold, &change->fold);
}

static void
note_change(FeedState *state, int before, int after)
{
	if (state->nchanges == state->maxchanges)
	{
		state->maxchanges *= 2;
		state->changes = repalloc_huge(state->changes,
									   (Size) state->maxchanges * sizeof(FeedChange));
	}
	state->changes[state->nchanges].before = before;
	state->changes[state->nchanges++].after = after;
}

static void
fill_row(const FeedSide *side, const Scd2Chain *chain, int version)
{
	scd2_version_row_fill(side->row, chain->keys, chain->keys_isnull,
						  &side->result->versions[version], side->result);
}

/* Is column "col" of the two rows the same (R12)? */
static bool
same_column(const FeedState *state, int col)
{
	const Scd2VersionRow *a = state->before.row;
	const Scd2VersionRow *b = state->after.row;

	return scd2_canon_same(state->canon[col], a->values[col], a->isnull[col],
						   b->values[col], b->isnull[col]);
}

/*
 * A version that begins when it did before.
 */
static void
compare_version(FeedState *state, const Scd2Chain *chain, int before, int after)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	bool		differs = state->all_differ;
	bool		same_sk;

	fill_row(&state->before, chain, before);
	fill_row(&state->after, chain, after);
	same_sk = same_column(state, 0);
	for (int col = 1; col < state->after.row->ncols && !differs; col++)
		differs = !same_column(state, col);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);

	/* a copy knows a version by its surrogate key */
	if (!same_sk)
	{
		note_change(state, before, -1);
		note_change(state, -1, after);
	}
	else if (differs)
		note_change(state, before, after);
}

static void
put_row(FeedState *state, const Scd2Chain *chain, const char *change,
		const FeedSide *side, int version)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	Datum		values[3];
	bool		isnull[3] = {0};

	CHECK_FOR_INTERRUPTS();
	fill_row(side, chain, version);
	values[0] = CStringGetTextDatum(change);
	values[1] = CStringGetTextDatum(scd2_value_text(side->row->values[0],
													state->sk_type));
	values[2] = scd2_columns_jsonb(state->row_desc, side->row->values,
								   side->row->isnull);
	tuplestore_putvalues(state->store, state->desc, values, isnull);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
}

/*
 * Compare the key's two chains.  What goes comes first, and what is new last, so
 * that a copy that takes one row after the other never has two versions of a time.
 */
static void
finish_key(void *arg, const Scd2Chain *chain)
{
	FeedState  *state = arg;
	const Scd2FoldResult *before = scd2_fold_finish(state->before.fold);
	const Scd2FoldResult *after = scd2_fold_finish(state->after.fold);
	int			i = 0;
	int			j = 0;

	state->before.result = before;
	state->after.result = after;
	while (i < before->nversions || j < after->nversions)
	{
		CHECK_FOR_INTERRUPTS();
		if (j == after->nversions ||
			(i < before->nversions &&
			 before->versions[i].valid_from < after->versions[j].valid_from))
			note_change(state, i++, -1);
		else if (i == before->nversions ||
				 before->versions[i].valid_from > after->versions[j].valid_from)
			note_change(state, -1, j++);
		else
			compare_version(state, chain, i++, j++);
	}

	for (int n = 0; n < state->nchanges; n++)
		if (state->changes[n].after < 0)
			put_row(state, chain, "delete", &state->before, state->changes[n].before);
	for (int n = 0; n < state->nchanges; n++)
		if (state->changes[n].before >= 0 && state->changes[n].after >= 0)
			put_row(state, chain, "update", &state->after, state->changes[n].after);
	for (int n = 0; n < state->nchanges; n++)
		if (state->changes[n].before < 0)
			put_row(state, chain, "insert", &state->after, state->changes[n].after);
}

/* A row's columns by the dimension's names. */
static TupleDesc
named_row_desc(const Scd2VersionRow *row)
{
	TupleDesc	desc = scd2_version_row_desc(row, 0);
	ListCell   *lc;

	foreach(lc, scd2_plan_open_columns(row->dim))
		namestrcpy(&TupleDescAttr(desc, foreach_current_index(lc))->attname,
				   (char *) lfirst(lc));
	return BlessTupleDesc(desc);
}

static FeedState *
begin_feed(Scd2Batch *batch, ReturnSetInfo *rsinfo)
{
	Scd2Dimension *dim = batch->dim;
	FeedState  *state = palloc0(sizeof(FeedState));

	state->batch = batch;
	state->store = rsinfo->setResult;
	state->desc = rsinfo->setDesc;
	state->before.fold = scd2_fold_create(&batch->shape, batch->cxt);
	state->before.row = scd2_version_row_create(dim, batch->cxt);
	state->after.fold = scd2_fold_create(&batch->shape, batch->cxt);
	state->after.row = scd2_version_row_create(dim, batch->cxt);
	state->sk_type = dim->sk_is_uuid ? UUIDOID : INT8OID;
	state->row_desc = named_row_desc(state->after.row);
	state->canon = palloc(state->row_desc->natts * sizeof(Scd2CanonType *));
	for (int i = 0; i < state->row_desc->natts; i++)
		state->canon[i] = scd2_canon_type(TupleDescAttr(state->row_desc, i)->atttypid,
										  batch->cxt);
	state->maxchanges = 64;
	state->changes = palloc(state->maxchanges * sizeof(FeedChange));
	state->row_cxt = AllocSetContextCreate(batch->cxt, "scd2 feed row",
										   ALLOCSET_DEFAULT_SIZES);
	return state;
}

/*
 * The keys whose chains may differ, into batch->chain_keys.  Runs that were undone
 * before the copy was fed are none of them.
 */
static void
find_keys(Scd2Batch *batch, const Scd2RunSpan *span, const Scd2RunSet *undone)
{
	Scd2RunSet	before = scd2_runs_set(batch->undone);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	TupleDesc	desc = CreateTemplateTupleDesc(batch->dim->nkeys);
	Oid			types[] = {TIMESTAMPTZOID, TIMESTAMPTZOID, INT8ARRAYOID};
	Datum		values[3];
	Datum	   *since = palloc((undone->n + 1) * sizeof(Datum));
	int			nsince = 0;

	for (int i = 0; i < undone->n; i++)
		if (!scd2_runs_has(&before, undone->ids[i]))
			since[nsince++] = Int64GetDatum(undone->ids[i]);
	values[0] = TimestampTzGetDatum(span->after);
	values[1] = TimestampTzGetDatum(span->until);
	values[2] = PointerGetDatum(construct_array(since, nsince, INT8OID, sizeof(int64),
												FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));

	scd2_describe_keys(batch->dim, desc, 1);
	scd2_store_begin(batch, &batch->chain_keys, "scd2_chain_keys", desc);
	SetTuplestoreDestReceiverParams(dest, batch->chain_keys.store, batch->cxt, true,
									NULL, NULL);
	batch->chain_keys.ntuples =
		scd2_spi_stream("touched keys", scd2_plan_touched_keys(batch->dim, nsince > 0),
						3, types, values, NULL, true, dest);
	dest->rDestroy(dest);
}

/*
 * Numbers of other dimensions' runs are refused, though they could be compared: who
 * remembers the newest of all may have seen it before an older one of this dimension
 * was committed, and would never be fed that one.
 */
static void
check_runs(const Scd2Dimension *dim, int64 after_run, int64 until_run,
		   const Scd2RunSpan *span)
{
	bool		no_first = after_run != FROM_START && !span->has_first;

	if (no_first || (until_run != TO_LAST && !span->has_second))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dimension \"%s\" has no run " INT64_FORMAT, dim->label,
						no_first ? after_run : until_run),
				 errhint("The view scd2.runs lists its runs. A copy that begins is fed after run 0.")));
	if (until_run < after_run)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("until_run " INT64_FORMAT " is before after_run " INT64_FORMAT,
						until_run, after_run)));
	if (span->altered != 0 && after_run != FROM_START)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dimension \"%s\" was altered after run " INT64_FORMAT,
						dim->label, after_run),
				 errdetail("Run " INT64_FORMAT " altered it. Its versions before that are not known any more.",
						   span->altered),
				 errhint("Empty the copy, and feed it from the beginning with after_run => 0.")));
}

static void
feed(Scd2Dimension *dim, int64 after_run, int64 until_run, ReturnSetInfo *rsinfo)
{
	const Scd2ChainReader reader = {begin_key, add_change, finish_key};
	Scd2Batch  *batch;
	FeedState  *state;
	Scd2RunSpan span;
	int			guc_level;
	bool		all_keys;

	scd2_runs_span(dim, after_run, until_run, &span);
	check_runs(dim, after_run, until_run, &span);
	if (span.after == span.until)
		return;

	batch = scd2_batch_begin(dim);
	batch->undone = scd2_runs_undone(dim, span.after);
	state = begin_feed(batch, rsinfo);
	state->known_before = span.after;
	state->undone = scd2_runs_set(scd2_runs_undone(dim, span.until));
	for (int i = 0; i < dim->nattrs; i++)
		state->all_differ = state->all_differ ||
			(dim->attrs[i].since_run > after_run && dim->attrs[i].since_run <= until_run);

	all_keys = state->all_differ || after_run == FROM_START;
	if (!all_keys)
		find_keys(batch, &span, &state->undone);
	guc_level = scd2_spi_serial_begin(true);
	scd2_chain_read(batch, "feed", SCD2_CHAIN_ORIGIN | SCD2_CHAIN_KNOWN_AT |
					(all_keys ? 0 : SCD2_CHAIN_KEYS), span.until, &reader, state);
	scd2_spi_planner_end(guc_level);
	scd2_batch_end(batch);
}

PG_FUNCTION_INFO_V1(scd2_feed);

/*
 * scd2.feed(dim anyelement, after_run bigint, until_run bigint): what the runs after
 * the one, up to the other or the last, did to the dimension's versions, net: rows
 * to delete, update and insert, by surrogate key.  A row that is to be deleted is
 * given as it was, the others as they are.  After run 0, or null: everything.
 */
Datum
scd2_feed(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_row_argument(fcinfo);
	Scd2Ask		ask;

	InitMaterializedSRF(fcinfo, 0);
	scd2_ask_begin(&ask, relid, "what its runs did can only be told from a log");
	feed(ask.dim, PG_ARGISNULL(1) ? FROM_START : PG_GETARG_INT64(1),
		 PG_ARGISNULL(2) ? TO_LAST : PG_GETARG_INT64(2), rsinfo);
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}
