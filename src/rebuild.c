/*-------------------------------------------------------------------------
 *
 * rebuild.c
 *	  The dimension from its log: scd2.rebuild and scd2.rebuild_apply.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
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
#include "emit.h"
#include "keyarg.h"
#include "progress.h"
#include "run.h"
#include "runs.h"
#include "spi.h"
#include "write.h"

static void
check_has_log(const Scd2Dimension *dim)
{
	if (OidIsValid(dim->log))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("dimension \"%s\" has no change log", dim->label),
			 errdetail("It was registered with change_log => false, and can only be rebuilt from a log."),
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
} RebuildState;

/*
 * Where the columns of a version row are in the dimension.
 */
static AttrNumber *
find_attnums(const Scd2Dimension *dim, const Scd2VersionRow *row)
{
	AttrNumber *attnums = palloc(row->ncols * sizeof(AttrNumber));
	int			extra = row->extras;

	attnums[0] = dim->sk_attnum;
	for (int i = 0; i < dim->nkeys; i++)
		attnums[row->keys + i] = dim->keys[i].attnum;
	for (int i = 0; i < dim->nattrs; i++)
	{
		attnums[row->attrs + i] = dim->attrs[i].attnum;
		if (dim->attrs[i].extra_name != NULL)
			attnums[extra++] = dim->attrs[i].extra_attnum;
	}
	if (row->row_hash >= 0)
		attnums[row->row_hash] = dim->row_hash_attnum;
	attnums[row->valid_from] = dim->valid_from_attnum;
	attnums[row->valid_to] = dim->valid_to_attnum;
	attnums[row->is_current] = dim->is_current_attnum;
	if (row->is_deleted >= 0)
		attnums[row->is_deleted] = dim->is_deleted_attnum;
	return attnums;
}

static void
return_chain(void *arg, const Scd2Chain *chain)
{
	RebuildState *state = arg;
	const Scd2VersionRow *row = state->row;

	for (int i = 0; i < chain->result->nversions; i++)
	{
		CHECK_FOR_INTERRUPTS();
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

/*
 * As the caller, but in a security-restricted operation and with row security
 * off: the chain of a part of the changes would be another one.
 */
static void
rebuild(Oid relid, ArrayType *keys, bool has_known_at, TimestampTz known_at,
		Tuplestorestate *store, TupleDesc desc)
{
	RebuildState *state = palloc0(sizeof(RebuildState));
	Scd2Dimension *dim;
	Scd2Batch  *batch;
	Scd2Rights	rights;
	Scd2Activity activity;

	LockRelationOid(relid, AccessShareLock);
	dim = scd2_registry_load(relid, CurrentMemoryContext);
	scd2_activity_push(&activity, "rebuilding", dim->label);
	check_has_log(dim);
	LockRelationOid(dim->log, AccessShareLock);
	batch = scd2_batch_begin(dim);
	batch->undone = scd2_runs_undone(dim, has_known_at ? known_at : DT_NOEND);

	state->store = store;
	state->desc = desc;
	state->row = scd2_version_row_create(dim, batch->cxt);
	state->attnums = find_attnums(dim, state->row);
	state->values = palloc0(desc->natts * sizeof(Datum));
	state->isnull = palloc(desc->natts * sizeof(bool));
	memset(state->isnull, true, desc->natts * sizeof(bool));

	scd2_rights_enter(GetUserId(), &rights);
	if (keys != NULL)
		scd2_keys_from_array(batch, keys);
	scd2_chain_fold(batch, "rebuild",
					(keys != NULL ? SCD2_CHAIN_KEYS : 0) |
					(has_known_at ? SCD2_CHAIN_KNOWN_AT : 0),
					known_at, return_chain, state);
	scd2_rights_leave(&rights);
	scd2_activity_pop(&activity);
	scd2_batch_end(batch);
}

/*
 * The dimension whose row type a function's first argument has.
 */
static Oid
row_argument(FunctionCallInfo fcinfo)
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

PG_FUNCTION_INFO_V1(scd2_rebuild);

/*
 * scd2.rebuild(dim anyelement, keys text[], known_at timestamptz): the chains
 * folded from the log, in one pass; writes nothing (R24).
 */
Datum
scd2_rebuild(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = row_argument(fcinfo);
	MemoryContext cxt;
	MemoryContext oldcxt;

	InitMaterializedSRF(fcinfo, 0);
	cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 rebuild",
								ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(cxt);
	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);
	rebuild(relid, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1),
			!PG_ARGISNULL(2), PG_ARGISNULL(2) ? 0 : PG_GETARG_TIMESTAMPTZ(2),
			rsinfo->setResult, rsinfo->setDesc);
	scd2_spi_end();
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
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

	check_has_log(run->dim);
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
