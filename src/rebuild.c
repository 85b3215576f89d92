/*-------------------------------------------------------------------------
 *
 * rebuild.c
 *	  The dimension from its log: scd2.rebuild and scd2.rebuild_apply.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "chain.h"
#include "convert.h"
#include "emit.h"
#include "keyarg.h"
#include "period.h"
#include "progress.h"
#include "rebuild.h"
#include "run.h"
#include "runs.h"
#include "spi.h"
#include "write.h"

/*
 * Raise without a log; see rebuild.h.
 */
void
scd2_check_has_log(const Scd2Dimension *dim, const char *why)
{
	if (OidIsValid(dim->log))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("dimension \"%s\" has no change log", dim->label),
			 errdetail("It was registered with change_log => false, and %s.", why),
			 errhint("Register it with change_log => true.")));
}

/* ----------------------------------------------------------------
 * scd2.rebuild
 * ----------------------------------------------------------------
 */

typedef struct RebuildState
{
	Scd2VersionRow *row;
	AttrNumber *attnums;		/* of the row's columns in the dimension */
	Tuplestorestate *store;
	TupleDesc	desc;
	Datum	   *values;			/* a row of the dimension */
	bool	   *isnull;

	bool		has_as_of;		/* only versions at a time */
	Scd2Time	as_of;
	bool		open_at;		/* are open ones, once begun, valid then? */
} RebuildState;

static bool
is_wanted(const RebuildState *state, const Scd2FoldVersion *version)
{
	if (!state->has_as_of)
		return true;
	return version->valid_from <= state->as_of &&
		(version->is_open ? state->open_at : version->valid_to > state->as_of);
}

static void
return_chain(void *arg, const Scd2Chain *chain)
{
	RebuildState *state = arg;
	const Scd2VersionRow *row = state->row;

	for (int i = 0; i < chain->result->nversions; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_wanted(state, &chain->result->versions[i]))
			continue;
		scd2_version_row_fill(state->row, chain->keys, chain->keys_isnull,
							  &chain->result->versions[i], chain->result);
		for (int col = 0; col < row->ncols; col++)
		{
			state->values[state->attnums[col] - 1] = row->values[col];
			state->isnull[state->attnums[col] - 1] = row->isnull[col];
		}
		tuplestore_putvalues(state->store, state->desc, state->values, state->isnull);
	}
}

static void
set_as_of(RebuildState *state, const Scd2Dimension *dim, TimestampTz as_of)
{
	Datum		at = scd2_to_period(dim, TimestampTzGetDatum(as_of), TIMESTAMPTZOID);

	state->has_as_of = true;
	state->as_of = scd2_period_to_time(dim, at);
	state->open_at = dim->open_end_is_null ||
		scd2_period_cmp(dim->open_end, at, dim->period_type) > 0;
}

/*
 * As the caller, but in a security-restricted operation and with row security
 * off: the chain of a part of the changes would be another one.
 */
static void
rebuild(Oid relid, ArrayType *keys, const TimestampTz *known_at,
		const TimestampTz *as_of, Tuplestorestate *store, TupleDesc desc)
{
	RebuildState *state = palloc0(sizeof(RebuildState));
	Scd2Dimension *dim;
	Scd2Batch  *batch;
	Scd2Rights	rights;
	Scd2Activity activity;

	LockRelationOid(relid, AccessShareLock);
	dim = scd2_registry_load(relid, CurrentMemoryContext);
	scd2_activity_push(&activity, "rebuilding", dim->label);
	scd2_check_has_log(dim, "can only be rebuilt from a log");
	LockRelationOid(dim->log, AccessShareLock);
	batch = scd2_batch_begin(dim);
	batch->undone = scd2_runs_undone(dim, known_at != NULL ? *known_at : DT_NOEND);

	state->store = store;
	state->desc = desc;
	state->row = scd2_version_row_create(dim, batch->cxt);
	state->attnums = scd2_version_row_attnums(state->row);
	state->values = palloc0(desc->natts * sizeof(Datum));
	state->isnull = palloc(desc->natts * sizeof(bool));
	memset(state->isnull, true, desc->natts * sizeof(bool));
	if (as_of != NULL)
		set_as_of(state, dim, *as_of);

	scd2_rights_enter(GetUserId(), &rights);
	if (keys != NULL)
		scd2_keys_from_array(batch, keys);
	scd2_chain_fold(batch, "rebuild", SCD2_CHAIN_UNORDERED |
					(keys != NULL ? SCD2_CHAIN_KEYS : 0) |
					(known_at != NULL ? SCD2_CHAIN_KNOWN_AT : 0),
					known_at != NULL ? *known_at : 0, return_chain, state);
	scd2_rights_leave(&rights);
	scd2_activity_pop(&activity);
	scd2_batch_end(batch);
}

/*
 * The dimension of a row type; see rebuild.h.
 */
Oid
scd2_row_argument(FunctionCallInfo fcinfo)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	Oid			relid = OidIsValid(type) ? get_typ_typrelid(type) : InvalidOid;

	if (!OidIsValid(relid) || get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("type %s is not that of a dimension's rows",
						OidIsValid(type) ? format_type_be(type) : "unknown"),
				 errhint("Pass a null of the dimension's row type, e.g. NULL::gold.dim_customer.")));
	return relid;
}

/*
 * Return folded versions; see rebuild.h.
 */
void
scd2_rebuild_rows(FunctionCallInfo fcinfo, ArrayType *keys,
				  const TimestampTz *known_at, const TimestampTz *as_of)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_row_argument(fcinfo);
	MemoryContext cxt;
	MemoryContext oldcxt;

	InitMaterializedSRF(fcinfo, 0);
	cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 rebuild",
								ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(cxt);
	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);
	rebuild(relid, keys, known_at, as_of, rsinfo->setResult, rsinfo->setDesc);
	scd2_spi_end();
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}

PG_FUNCTION_INFO_V1(scd2_rebuild);

/*
 * scd2.rebuild(dim anyelement, keys text[], known_at timestamptz): the chains
 * folded from the log, in one pass; writes nothing (R24).
 */
Datum
scd2_rebuild(PG_FUNCTION_ARGS)
{
	TimestampTz known_at = PG_ARGISNULL(2) ? 0 : PG_GETARG_TIMESTAMPTZ(2);

	scd2_rebuild_rows(fcinfo, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1),
					  PG_ARGISNULL(2) ? NULL : &known_at, NULL);
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------
 * scd2.rebuild_apply
 * ----------------------------------------------------------------
 */

static void
rebuild_apply(Scd2Run *run, void *arg)
{
	ArrayType  *keys = arg;
	Scd2Batch  *batch;
	Scd2Rights	rights;
	Scd2Emitter *emitter;

	scd2_check_has_log(run->dim, "can only be rebuilt from a log");
	batch = scd2_batch_begin(run->dim);
	scd2_run_adopt(run, batch);

	scd2_rights_enter(run->dim->owner, &rights);
	emitter = scd2_emitter_begin(batch);
	if (keys != NULL)
		scd2_keys_from_array(batch, keys);
	scd2_emit_folded(emitter, keys == NULL, false);
	run->wrote = scd2_writes_anything(batch);
	scd2_write(batch);
	scd2_rights_leave(&rights);
}

PG_FUNCTION_INFO_V1(scd2_rebuild_apply);

/*
 * CALL scd2.rebuild_apply(dimension, keys): makes the dimension equal to what
 * its log says, writing only what differs (R25).
 */
Datum
scd2_rebuild_apply(PG_FUNCTION_ARGS)
{
	scd2_run(scd2_registry_argument(fcinfo), SCD2_RUN_REBUILD, rebuild_apply,
			 PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1));
	PG_RETURN_VOID();
}
