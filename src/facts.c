/*-------------------------------------------------------------------------
 *
 * facts.c
 *	  Setting the surrogate keys of facts, and letting them follow.
 *
 * Versions are read as the dimension's owner and facts written as their own
 * (R34).  Where that is one role, a resolve joins the dimension directly; else
 * the versions come in a store.  What a batch changed is small, and always comes
 * in one: as the segments of each changed key's time, gaps included, so that one
 * join tells what each fact should have.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "facts.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "convert.h"
#include "meddle.h"
#include "period.h"
#include "plan_fact.h"
#include "progress.h"
#include "spi.h"

/* ----------------------------------------------------------------
 * Segments
 * ----------------------------------------------------------------
 */

typedef struct SegmentState
{
	DestReceiver pub;
	const Scd2Dimension *dim;
	Scd2CanonType **key_canon;
	MemoryContext key_cxt;
	Scd2Store	store;			/* k1, ..., sk, vf, vt: null vt is no end */
	bool		has_unknown;
	pg_uuid_t	nil;

	/* the key at hand */
	bool		in_key;
	Datum	   *values;			/* a row of the store */
	bool	   *isnull;
	Datum		reached;		/* its segments so far end here */
	bool		at_end;			/* for good */

	bool		has_earliest;
	Datum		earliest;		/* no segment begins before */
} SegmentState;

static TupleDesc
versions_desc(const Scd2Dimension *dim)
{
	TupleDesc	desc = CreateTemplateTupleDesc(dim->nkeys + 3);
	int			n = scd2_describe_keys(dim, desc, 1);

	scd2_desc_column(desc, n++, "sk", dim->sk_is_uuid ? UUIDOID : INT8OID, -1, InvalidOid);
	scd2_desc_column(desc, n++, "vf", dim->period_type, -1, InvalidOid);
	scd2_desc_column(desc, n++, "vt", dim->period_type, -1, InvalidOid);
	return desc;
}

/*
 * A segment from where the last one ended; without "sk" a gap.
 */
static void
put_segment(SegmentState *state, const Datum *sk, const Datum *ends)
{
	const Scd2Dimension *dim = state->dim;
	int			n = dim->nkeys;

	if (sk != NULL)
		state->values[n] = *sk;
	else
		state->values[n] = dim->sk_is_uuid ? UUIDPGetDatum(&state->nil) : Int64GetDatum(-1);
	state->isnull[n++] = sk == NULL && !state->has_unknown;
	state->values[n] = state->reached;
	state->isnull[n++] = false;
	state->values[n] = ends != NULL ? *ends : (Datum) 0;
	state->isnull[n++] = ends == NULL;
	scd2_store_put(&state->store, state->values, state->isnull);
	state->at_end = ends == NULL;
	if (ends != NULL)
		state->reached = *ends;
}

static void
finish_key(SegmentState *state)
{
	if (state->in_key && !state->at_end)
		put_segment(state, NULL, NULL);
	state->in_key = false;
}

/* Row: K, the time from which on its chain changed. */
static void
begin_key(SegmentState *state, TupleTableSlot *slot)
{
	const Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt;

	MemoryContextReset(state->key_cxt);
	oldcxt = MemoryContextSwitchTo(state->key_cxt);
	for (int i = 0; i < dim->nkeys; i++)
	{
		int16		typlen;
		bool		typbyval;

		get_typlenbyval(dim->keys[i].typid, &typlen, &typbyval);
		state->values[i] = datumCopy(slot->tts_values[i], typbyval, typlen);
		state->isnull[i] = false;
	}
	MemoryContextSwitchTo(oldcxt);
	state->reached = slot->tts_values[dim->nkeys];
	state->at_end = false;
	state->in_key = true;
	if (!state->has_earliest ||
		scd2_period_cmp(state->reached, state->earliest, dim->period_type) < 0)
		state->earliest = state->reached;
	state->has_earliest = true;
}

/*
 * Row: K, changed from, SK, valid_from, valid_to; no version where SK is null.
 * Versions that are to be removed last no time by now.
 */
static bool
segments_receive(TupleTableSlot *slot, DestReceiver *self)
{
	SegmentState *state = (SegmentState *) self;
	const Scd2Dimension *dim = state->dim;
	Datum	   *row;
	bool	   *isnull;
	bool		open;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	for (int i = 0; i < dim->nkeys && state->in_key; i++)
		if (!scd2_canon_same(state->key_canon[i], state->values[i], false,
							 slot->tts_values[i], false))
			finish_key(state);
	if (!state->in_key)
		begin_key(state, slot);

	row = slot->tts_values + dim->nkeys + 1;
	isnull = slot->tts_isnull + dim->nkeys + 1;
	if (isnull[0] || isnull[1] || state->at_end)
		return true;
	open = isnull[2];
	if (!open && (scd2_period_cmp(row[2], row[1], dim->period_type) <= 0 ||
				  scd2_period_cmp(row[2], state->reached, dim->period_type) <= 0))
		return true;
	if (scd2_period_cmp(row[1], state->reached, dim->period_type) > 0)
		put_segment(state, NULL, &row[1]);
	put_segment(state, &row[0], open ? NULL : &row[2]);
	return true;
}

/*
 * The stores of versions that change a chain, beside batch->closes; NULL ends.
 */
static const Scd2Store **
changing_stores(const Scd2Batch *batch)
{
	const Scd2Store *const stores[] = {
		&batch->opens, &batch->revises, &batch->grows, &batch->removes,
		&batch->history.opens, &batch->history.revises, &batch->history.grows,
		&batch->history.removes, &batch->remade
	};
	const Scd2Store **found = palloc((lengthof(stores) + 1) * sizeof(Scd2Store *));
	int			n = 0;

	for (int i = 0; i < lengthof(stores); i++)
		if (stores[i]->ntuples > 0)
			found[n++] = stores[i];
	found[n] = NULL;
	return found;
}

/*
 * The keys whose chain the batch changed.
 */
static void
find_touched(Scd2Batch *batch, const Scd2Store **stores, Scd2Store *touched)
{
	const Scd2Dimension *dim = batch->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(dim->nkeys + 1);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	int			n = scd2_describe_keys(dim, desc, 1);
	List	   *names = NIL;

	scd2_desc_column(desc, n, "e", dim->period_type, -1, InvalidOid);
	scd2_store_begin(batch, touched, "scd2_touched", desc);
	SetTuplestoreDestReceiverParams(dest, touched->store, batch->cxt, true, NULL, NULL);
	scd2_store_register(&batch->closes);
	for (int i = 0; stores[i] != NULL; i++)
	{
		scd2_store_register(stores[i]);
		names = lappend(names, unconstify(char *, stores[i]->name));
	}
	touched->ntuples = scd2_spi_stream("changed keys", scd2_plan_fact_touched(dim, names),
									   0, NULL, NULL, NULL, false, dest);
	for (int i = 0; stores[i] != NULL; i++)
		scd2_store_unregister(stores[i]);
	scd2_store_unregister(&batch->closes);
	dest->rDestroy(dest);
}

/*
 * Has the dimension the unknown member, which facts without a version get?
 */
static bool
has_unknown(const Scd2Dimension *dim)
{
	bool		isnull;

	(void) scd2_spi_run("unknown member", scd2_plan_has_unknown(dim), 0, NULL, NULL, NULL);
	return DatumGetBool(scd2_spi_value(0, 1, &isnull));
}

/*
 * The segments of the changed keys, as the dimension's owner.
 */
static SegmentState *
find_segments(Scd2Batch *batch, const Scd2Store **stores)
{
	Scd2Dimension *dim = batch->dim;
	SegmentState *state = palloc0(sizeof(SegmentState));
	Scd2Store	touched;

	state->dim = dim;
	state->key_cxt = AllocSetContextCreate(batch->cxt, "scd2 key", ALLOCSET_SMALL_SIZES);
	state->key_canon = palloc(dim->nkeys * sizeof(Scd2CanonType *));
	for (int i = 0; i < dim->nkeys; i++)
		state->key_canon[i] = scd2_canon_type(dim->keys[i].typid, batch->cxt);
	state->values = palloc((dim->nkeys + 3) * sizeof(Datum));
	state->isnull = palloc((dim->nkeys + 3) * sizeof(bool));
	state->has_unknown = has_unknown(dim);

	find_touched(batch, stores, &touched);
	scd2_store_begin(batch, &state->store, "scd2_segments", versions_desc(dim));
	scd2_spi_receiver(&state->pub, NULL, segments_receive);
	scd2_store_register(&touched);
	scd2_spi_stream("segments", scd2_plan_fact_touched_versions(dim), 0, NULL, NULL,
					NULL, false, (DestReceiver *) state);
	scd2_store_unregister(&touched);
	finish_key(state);
	scd2_store_end(&touched);
	return state;
}

/* ----------------------------------------------------------------
 * Re-keying
 * ----------------------------------------------------------------
 */

/*
 * A time of the fact's type that no touched event is before, so that an index or
 * partitions help.  Two days of leeway where it is converted, for time zones and
 * their changes.  False: none.
 */
static bool
find_bound(const SegmentState *state, const Scd2Link *link, Datum *bound)
{
	Scd2Dimension as_fact = *state->dim;
	TimestampTz t;

	*bound = state->earliest;
	if (link->event_type == state->dim->period_type)
		return true;
	if (!scd2_period_is_finite(state->earliest, state->dim->period_type))
		return false;
	t = DatumGetTimestampTz(scd2_to_timestamptz(state->dim, state->earliest,
												state->dim->period_type));
	if (t < MIN_TIMESTAMP + 4 * USECS_PER_DAY)
		return false;
	as_fact.period_type = link->event_type;
	*bound = scd2_to_period(&as_fact, TimestampTzGetDatum(t - 2 * USECS_PER_DAY),
							TIMESTAMPTZOID);
	return true;
}

/*
 * Is there any fact to be moved?  As the fact's owner.
 */
static bool
any_moved(const SegmentState *state, const Scd2Link *link)
{
	Oid			types[] = {link->event_type};
	Datum		values[1];
	bool		bounded = find_bound(state, link, &values[0]);
	Scd2Rights	rights;
	bool		moved;

	scd2_rights_enter(link->owner, &rights);
	PushActiveSnapshot(GetTransactionSnapshot());
	moved = scd2_spi_exists("look for facts", scd2_plan_fact_moved(state->dim, link, bounded),
							bounded ? 1 : 0, types, values, NULL);
	PopActiveSnapshot();
	scd2_rights_leave(&rights);
	return moved;
}

static void
raise_not_keyed(const Scd2Link *link, const char *meddlers)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("surrogate keys of fact \"%s\" were not written as they should be",
					link->sql_name),
			 errdetail_internal("%s", meddlers),
			 errhint("Nothing was written. scd2 needs to write column \"%s\" unchanged: drop the trigger or rule, or let it leave that alone.",
					 link->sk_name)));
}

static uint64
rekey(const SegmentState *state, const Scd2Link *link)
{
	Oid			types[] = {link->event_type};
	Datum		values[1];
	bool		bounded = find_bound(state, link, &values[0]);
	char	   *meddlers;
	uint64		written;
	Scd2Rights	rights;

	scd2_rights_enter(link->owner, &rights);
	written = scd2_spi_run("re-key", scd2_plan_fact_rekey(state->dim, link, bounded),
						   bounded ? 1 : 0, types, values, NULL);
	meddlers = scd2_find_meddlers(link->fact, CMD_UPDATE);
	scd2_rights_leave(&rights);
	if (meddlers != NULL)
	{
		CommandCounterIncrement();
		if (any_moved(state, link))
			raise_not_keyed(link, meddlers);
	}
	return written;
}

/*
 * Let facts follow; see facts.h.
 *
 * Most batches move no fact, and then no other dimension's run is kept waiting.
 * Where one does, the facts are locked together and in one order (R18), and a new
 * snapshot sees what others did to them meanwhile.
 */
void
scd2_rekey_facts(Scd2Batch *batch)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	const Scd2Store **stores = changing_stores(batch);
	SegmentState *state;
	List	   *links = NIL;
	List	   *facts = NIL;
	ListCell   *lc;

	if (batch->closes.ntuples > 0 || stores[0] != NULL)
		links = scd2_links_open(batch->dim->id, RowExclusiveLock);
	if (links != NIL)
	{
		scd2_progress_phase(SCD2_PHASE_REKEY, 0);
		CommandCounterIncrement();
		state = find_segments(batch, stores);
		scd2_store_register(&state->store);
		foreach(lc, links)
		{
			const Scd2Link *link = lfirst(lc);

			if (!list_member_oid(facts, link->fact) && state->has_earliest &&
				any_moved(state, link))
				facts = lappend_oid(facts, link->fact);
		}
		if (facts != NIL)
		{
			scd2_links_lock(facts);
			foreach(lc, links)
				if (list_member_oid(facts, ((Scd2Link *) lfirst(lc))->fact))
					batch->counts.facts_rekeyed += rekey(state, lfirst(lc));
		}
		scd2_store_unregister(&state->store);
		scd2_store_end(&state->store);
	}
	MemoryContextSwitchTo(oldcxt);
}

/* ----------------------------------------------------------------
 * Resolving
 * ----------------------------------------------------------------
 */

/*
 * All versions in a store, as the dimension's owner.
 */
static void
take_versions(Scd2Batch *batch, Scd2Store *versions)
{
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	Scd2Rights	rights;

	scd2_store_begin(batch, versions, "scd2_versions", versions_desc(batch->dim));
	SetTuplestoreDestReceiverParams(dest, versions->store, batch->cxt, true, NULL, NULL);
	scd2_rights_enter(batch->dim->owner, &rights);
	versions->ntuples = scd2_spi_stream("versions", scd2_plan_fact_versions(batch->dim),
										0, NULL, NULL, NULL, true, dest);
	scd2_rights_leave(&rights);
	dest->rDestroy(dest);
	scd2_store_register(versions);
}

/*
 * Resolve a link's facts; see facts.h.
 */
void
scd2_resolve_facts(Scd2Batch *batch, const Scd2Link *link, bool recheck)
{
	const Scd2Dimension *dim = batch->dim;
	Scd2VersionsFrom from = has_privs_of_role(link->owner, dim->owner) ?
		SCD2_FROM_DIMENSION : SCD2_FROM_STORE;
	Scd2Store	versions = {0};
	Scd2Rights	rights;
	bool		unknown;
	char	   *meddlers;
	uint64		unfound;

	scd2_progress_phase(SCD2_PHASE_REKEY, 0);
	scd2_rights_enter(dim->owner, &rights);
	unknown = has_unknown(dim);
	scd2_rights_leave(&rights);
	if (from == SCD2_FROM_STORE)
		take_versions(batch, &versions);

	scd2_rights_enter(link->owner, &rights);
	batch->counts.facts_rekeyed +=
		scd2_spi_run_at("resolve facts", scd2_plan_fact_resolve(dim, link, from, recheck));
	unfound = scd2_spi_run_at("unknown facts",
							  scd2_plan_fact_unknown(dim, link, from, unknown, recheck));
	batch->counts.facts_rekeyed += unfound;
	batch->counts.facts_unknown += unfound;
	meddlers = scd2_find_meddlers(link->fact, CMD_UPDATE);
	if (meddlers != NULL &&
		(scd2_spi_run_at("check facts",
						 scd2_plan_fact_resolve(dim, link, from, recheck)) > 0 ||
		 scd2_spi_run_at("check facts",
						 scd2_plan_fact_unknown(dim, link, from, unknown, recheck)) > 0))
		raise_not_keyed(link, meddlers);
	scd2_rights_leave(&rights);

	if (versions.store != NULL)
	{
		scd2_store_unregister(&versions);
		scd2_store_end(&versions);
	}
}
