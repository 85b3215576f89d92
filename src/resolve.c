/*-------------------------------------------------------------------------
 *
 * resolve.c
 *	  CALL scd2.resolve: the surrogate keys of facts by their event time.
 *
 * A run of each dimension that the fact follows, because it waits for one that is
 * under way, and none may change the versions meanwhile (R29).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "facts.h"
#include "infer.h"
#include "link.h"
#include "run.h"
#include "sqltext.h"

typedef struct ResolveCall
{
	Oid			fact;
	bool		recheck;
	bool		locked;			/* are the facts? */
	const List *dimensions;		/* of the runs */
} ResolveCall;

/*
 * In the locks of all the runs: lock the fact.  With inferred members the other
 * facts of the dimensions may be re-keyed, too, and all have to be locked at once.
 */
static void
lock_facts(ResolveCall *call)
{
	List	   *facts = list_make1_oid(call->fact);
	bool		infers = false;
	ListCell   *lc;

	if (call->locked)
		return;
	foreach(lc, scd2_links_of_fact(call->fact))
		infers |= ((Scd2Link *) lfirst(lc))->infer;
	if (infers)
	{
		foreach(lc, call->dimensions)
		{
			ListCell   *other;

			foreach(other, scd2_links_of_dimension(scd2_registry_find(lfirst_oid(lc))))
				facts = list_append_unique_oid(facts, ((Scd2Link *) lfirst(other))->fact);
		}
	}
	/* relations before links, as DDL that the registry follows does */
	foreach(lc, facts)
		LockRelationOid(lfirst_oid(lc), RowExclusiveLock);
	scd2_links_lock(facts);
	call->locked = true;
}

static void
resolve(Scd2Run *run, void *arg)
{
	ResolveCall *call = arg;
	Scd2RunCounts total = {0};
	List	   *links = NIL;
	List	   *inferring = NIL;
	Scd2Batch  *batch;
	ListCell   *lc;

	lock_facts(call);
	foreach(lc, scd2_links_open(run->dim->id, RowExclusiveLock))
	{
		Scd2Link   *link = lfirst(lc);

		if (link->fact != call->fact)
			continue;
		links = lappend(links, link);
		if (link->infer)
			inferring = lappend(inferring, link);
	}
	if (inferring != NIL)
		scd2_infer_members(run, inferring, &total);

	batch = scd2_batch_begin(run->dim);
	scd2_run_adopt(run, batch);
	batch->counts = total;
	batch->source = call->fact;
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	foreach(lc, links)
		scd2_resolve_facts(batch, lfirst(lc), call->recheck);
	PopActiveSnapshot();
	run->wrote = batch->counts.facts_rekeyed > 0 || total.versions_opened > 0;
}

/*
 * The dimensions that the links follow, by their ids: in this order runs lock.
 */
static int
by_dimension(const ListCell *a, const ListCell *b)
{
	int32		id_a = ((const Scd2Link *) lfirst(a))->dimension_id;
	int32		id_b = ((const Scd2Link *) lfirst(b))->dimension_id;

	return id_a < id_b ? -1 : id_a > id_b;
}

static List *
find_dimensions(Oid fact)
{
	List	   *links = scd2_links_of_fact(fact);
	List	   *relids = NIL;
	ListCell   *lc;

	if (links == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" is not a registered fact", scd2_relation_name(fact)),
				 errhint("Register it with scd2.register_fact.")));
	list_sort(links, by_dimension);
	foreach(lc, links)
		relids = list_append_unique_oid(relids, ((Scd2Link *) lfirst(lc))->dimension);
	return relids;
}

PG_FUNCTION_INFO_V1(scd2_resolve);

/*
 * CALL scd2.resolve(fact, recheck)
 */
Datum
scd2_resolve(PG_FUNCTION_ARGS)
{
	ResolveCall call = {0};

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"fact\" must not be null")));
	call.fact = PG_GETARG_OID(0);
	call.recheck = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	PushActiveSnapshot(GetTransactionSnapshot());
	scd2_link_check_owner(call.fact);
	call.dimensions = find_dimensions(call.fact);
	PopActiveSnapshot();
	scd2_run_several(call.dimensions, SCD2_RUN_RESOLVE, resolve, &call);
	PG_RETURN_VOID();
}
