/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  The surrogate key of a version (SPEC section 7), fit for use in a query.
 *
 * What a call finds out, its plan above all, is kept for the calls that follow,
 * until something happens to the dimension's tables or to a schema's name.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "ask_plan.h"
#include "convert.h"
#include "history.h"
#include "keyarg.h"
#include "period.h"
#include "plan_fact.h"
#include "spi.h"
#include "sqltext.h"

typedef struct LookupState
{
	dlist_node	node;
	bool		valid;			/* has nothing changed meanwhile? */
	bool		complete;		/* did begin_lookup come to its end? */
	MemoryContext cxt;			/* its own, deleted when it is not valid */
	MemoryContextCallback callback;
	Oid			relid;
	Oid			userid;			/* who asks: rights are his */
	Scd2Dimension *dim;
	Scd2KeyReader *reader;
	bool		has_unknown;
	SPIPlanPtr	plan;
	char	   *sql;
	Oid		   *types;
	Datum	   *values;			/* K, then the time */
	bool	   *isnull;
} LookupState;

/* All that there are, so that invalidations find them. */
static dlist_head lookups = DLIST_STATIC_INIT(lookups);

static void
forget_lookup(void *arg)
{
	LookupState *state = arg;

	dlist_delete(&state->node);
	if (state->plan != NULL)
		SPI_freeplan(state->plan);
}

static void
relation_changed(Datum arg, Oid relid)
{
	dlist_iter	iter;

	dlist_foreach(iter, &lookups)
	{
		LookupState *state = dlist_container(LookupState, node, iter.cur);

		if (!OidIsValid(relid) || relid == state->relid || state->dim == NULL ||
			(state->dim->history != NULL && relid == state->dim->history->relid))
			state->valid = false;
	}
}

static void
schema_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	relation_changed(arg, InvalidOid);
}

static void
check_type(const Scd2Dimension *dim, bool wants_uuid)
{
	if (dim->sk_is_uuid == wants_uuid)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("surrogate keys of dimension \"%s\" are of type %s",
					dim->label, dim->sk_is_uuid ? "uuid" : "bigint"),
			 errhint("Call scd2.%s.", dim->sk_is_uuid ? "lookup_uuid" : "lookup")));
}

/*
 * Find out all that the calls to come need.
 */
static LookupState *
begin_lookup(FunctionCallInfo fcinfo, Oid relid)
{
	static bool registered = false;
	MemoryContext cxt = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "scd2 lookup",
											  ALLOCSET_SMALL_SIZES);
	LookupState *state = MemoryContextAllocZero(cxt, sizeof(LookupState));
	MemoryContext oldcxt;
	Scd2Rights	rights;
	int			guc_level;
	bool		isnull;

	if (!registered)
	{
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACEOID, schema_changed, (Datum) 0);
		registered = true;
	}
	fcinfo->flinfo->fn_extra = state;
	state->cxt = cxt;
	state->relid = relid;
	state->userid = GetUserId();
	dlist_push_head(&lookups, &state->node);
	state->callback.func = forget_lookup;
	state->callback.arg = state;
	MemoryContextRegisterResetCallback(cxt, &state->callback);

	LockRelationOid(relid, AccessShareLock);
	state->valid = true;
	state->dim = scd2_registry_load(relid, cxt);
	scd2_check_ordinary_table(relid);
	if (state->dim->history != NULL)
		scd2_history_check(state->dim);
	state->reader = scd2_key_reader(state->dim, cxt);

	/* -1 for a version that row security hides would be a lie */
	scd2_rights_enter(GetUserId(), &rights);
	(void) check_enable_rls(relid, InvalidOid, false);
	if (state->dim->history != NULL)
		(void) check_enable_rls(state->dim->history->relid, InvalidOid, false);
	scd2_spi_begin();
	guc_level = scd2_spi_one_key_begin();
	(void) scd2_spi_read("unknown member", scd2_plan_has_unknown(state->dim), 0, NULL,
						 NULL, NULL);
	state->has_unknown = DatumGetBool(scd2_spi_value(0, 1, &isnull));
	scd2_spi_planner_end(guc_level);
	scd2_spi_end();
	scd2_rights_leave(&rights);

	oldcxt = MemoryContextSwitchTo(cxt);
	state->sql = scd2_ask_lookup_sql(state->dim);
	state->types = scd2_ask_key_types(state->dim, 1);
	state->values = palloc0((state->dim->nkeys + 1) * sizeof(Datum));
	state->isnull = palloc0((state->dim->nkeys + 1) * sizeof(bool));
	MemoryContextSwitchTo(oldcxt);
	state->complete = true;
	return state;
}

/*
 * The version at the time that state->values ends with, and its surrogate key.
 */
static bool
probe(LookupState *state, Datum *sk)
{
	const Scd2Dimension *dim = state->dim;
	MemoryContext cxt = CurrentMemoryContext;
	bool		first = state->plan == NULL;
	int			guc_level = 0;
	Datum		valid_to;
	bool		isnull;
	bool		found;

	scd2_spi_begin();
	if (first)
		guc_level = scd2_spi_one_key_begin();
	found = scd2_spi_generic("lookup", &state->plan, state->sql, dim->nkeys + 1,
							 state->types, state->values) > 0;
	if (first)
		scd2_spi_planner_end(guc_level);
	if (found)
	{
		valid_to = scd2_spi_value(0, 2, &isnull);
		found = isnull ||
			scd2_period_cmp(valid_to, state->values[dim->nkeys], dim->period_type) > 0;
	}
	if (found)
	{
		*sk = scd2_spi_value(0, 1, &isnull);
		if (dim->sk_is_uuid)
		{
			MemoryContext oldcxt = MemoryContextSwitchTo(cxt);

			*sk = datumCopy(*sk, false, UUID_LEN);
			MemoryContextSwitchTo(oldcxt);
		}
	}
	scd2_spi_end();
	return found;
}

static Datum
lookup(FunctionCallInfo fcinfo, bool wants_uuid)
{
	Oid			relid = scd2_registry_argument(fcinfo);
	LookupState *state = fcinfo->flinfo->fn_extra;
	Scd2Dimension *dim;
	bool		known = !PG_ARGISNULL(1);
	Datum		sk;

	if (state != NULL && (!state->valid || !state->complete ||
						  state->relid != relid ||
						  state->userid != GetUserId()))
	{
		fcinfo->flinfo->fn_extra = NULL;
		MemoryContextDelete(state->cxt);
		state = NULL;
	}
	if (state == NULL)
		state = begin_lookup(fcinfo, relid);
	dim = state->dim;
	check_type(dim, wants_uuid);

	scd2_key_reader_read(state->reader, fcinfo, 2, state->values, state->isnull);
	for (int i = 0; i < dim->nkeys; i++)
		known = known && !state->isnull[i];
	if (known)
	{
		state->values[dim->nkeys] = scd2_to_period(dim, PG_GETARG_DATUM(1),
												   TIMESTAMPTZOID);
		if (probe(state, &sk))
			PG_RETURN_DATUM(sk);
	}
	if (!state->has_unknown)
		PG_RETURN_NULL();
	if (wants_uuid)
		PG_RETURN_UUID_P((pg_uuid_t *) palloc0(UUID_LEN));
	PG_RETURN_INT64(-1);
}

PG_FUNCTION_INFO_V1(scd2_lookup);
PG_FUNCTION_INFO_V1(scd2_lookup_uuid);

/*
 * scd2.lookup(dimension, ts, VARIADIC key "any"): the surrogate key of the key's
 * version at a time, else that of the unknown member, which stands for a null key
 * or time, too.  Null where there is none.
 */
Datum
scd2_lookup(PG_FUNCTION_ARGS)
{
	return lookup(fcinfo, false);
}

Datum
scd2_lookup_uuid(PG_FUNCTION_ARGS)
{
	return lookup(fcinfo, true);
}
