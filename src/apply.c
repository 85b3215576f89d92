/*-------------------------------------------------------------------------
 *
 * apply.c
 *	  CALL scd2.apply: lock, stage, classify, write, say so.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "apply.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "badrow.h"
#include "classify.h"
#include "convert.h"
#include "derived.h"
#include "drift.h"
#include "gain.h"
#include "late.h"
#include "plan.h"
#include "quarantine.h"
#include "run.h"
#include "spi.h"
#include "sqltext.h"
#include "stage.h"
#include "write.h"

/* ----------------------------------------------------------------
 * Making a batch
 * ----------------------------------------------------------------
 */

static void
raise_no_source(Oid source)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("source with OID %u does not exist", source)));
}

/*
 * Read the parameters; see apply.h.
 */
void
scd2_apply_args(FunctionCallInfo fcinfo, Scd2ApplyArgs *args)
{
	memset(args, 0, sizeof(*args));
	args->relid = scd2_registry_argument(fcinfo);
	if (!PG_ARGISNULL(1))
	{
		args->source = PG_GETARG_OID(1);
		if (!OidIsValid(args->source))
			raise_no_source(args->source);
	}
	args->has_batch_time = !PG_ARGISNULL(2);
	if (args->has_batch_time)
		args->batch_time = PG_GETARG_TIMESTAMPTZ(2);
	if (!PG_ARGISNULL(3))
		args->scope = text_to_cstring(PG_GETARG_TEXT_PP(3));
	args->force = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
}

static void
set_source(Scd2Batch *batch, Oid source)
{
	char		relkind;

	if (!OidIsValid(source))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("source \"%s\" of dimension \"%s\" does not exist",
						batch->dim->source_label, batch->dim->label),
				 errhint("Make it again under its name, or name another source.")));

	/* kept to the end of the transaction, as a query's would be */
	LockRelationOid(source, AccessShareLock);
	relkind = get_rel_relkind(source);
	if (relkind == '\0')
		raise_no_source(source);
	batch->source = source;
	batch->source_label = scd2_relation_name(source);
	if (relkind != RELKIND_RELATION && relkind != RELKIND_VIEW &&
		relkind != RELKIND_MATVIEW && relkind != RELKIND_FOREIGN_TABLE &&
		relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("source \"%s\" is not a table or view",
						batch->source_label)));
	if (source == batch->dim->relid ||
		(batch->dim->history != NULL && source == batch->dim->history->relid))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimension \"%s\" cannot be its own source",
						batch->dim->label)));
}

/*
 * batch_time becomes the E of rows without a time and of absent keys, so it is
 * held to the same bounds (R19).
 */
static void
set_batch_time(Scd2Batch *batch, TimestampTz batch_time)
{
	Scd2Dimension *dim = batch->dim;
	Scd2Time	t;

	batch->batch_time = batch_time;
	if (TIMESTAMP_NOT_FINITE(batch_time))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("batch_time of dimension \"%s\" is not finite",
						dim->label)));
	batch->batch_e = scd2_to_period(dim, TimestampTzGetDatum(batch_time),
									TIMESTAMPTZOID);
	t = scd2_period_to_time(dim, batch->batch_e);
	if ((!dim->open_end_is_null &&
		 t >= scd2_period_to_time(dim, dim->open_end)) ||
		(dim->has_initial &&
		 t < scd2_period_to_time(dim, dim->initial_valid_from)))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("batch_time of dimension \"%s\" is out of bounds",
						dim->label),
				 errdetail("It is %s, and has to be before open_end and not before initial_valid_from.",
						   timestamptz_to_str(batch_time))));
}

/*
 * Make a batch; see apply.h.
 */
Scd2Batch *
scd2_batch_create(Scd2Dimension *dim, const Scd2ApplyArgs *args,
				  TimestampTz now)
{
	Scd2Batch  *batch = scd2_batch_begin(dim);
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);

	batch->force = args->force;
	set_source(batch, OidIsValid(args->source) ? args->source : dim->source);
	set_batch_time(batch, args->has_batch_time ? args->batch_time : now);

	batch->scope = args->scope;
	if (args->scope != NULL)
	{
		Oid			userid;
		int			sec_context;

		if (dim->mode != SCD2_MODE_SNAPSHOT)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("scope is only for dimensions of mode \"snapshot\""),
					 errdetail("It says which keys a snapshot speaks of; dimension \"%s\" does not take absent keys for deletes.",
							   dim->label)));

		/*
		 * The caller's search_path, because it is his text, but the owner's
		 * rights, because parsing can run functions (R34).
		 */
		GetUserIdAndSecContext(&userid, &sec_context);
		SetUserIdAndSecContext(dim->owner,
							   sec_context | SECURITY_RESTRICTED_OPERATION);
		batch->scope_sql = scd2_parse_condition_columns(args->scope, dim->relid, "d",
														"scope", &batch->scope_columns);
		SetUserIdAndSecContext(userid, sec_context);
	}

	MemoryContextSwitchTo(oldcxt);
	return batch;
}

/* ----------------------------------------------------------------
 * Staging and classifying
 * ----------------------------------------------------------------
 */

/*
 * A snapshot that came out empty closes every key; refuse it (section 2).
 */
static void
check_empty_snapshot(Scd2Batch *batch)
{
	if (batch->dim->mode != SCD2_MODE_SNAPSHOT || batch->force ||
		batch->retry != NULL ||
		batch->counts.rows_read > 0 || batch->open_keys == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("source \"%s\" is empty, and would close every key of dimension \"%s\"",
					batch->source_label, batch->dim->label),
			 errdetail("Open keys: " INT64_FORMAT ".", batch->open_keys),
			 errhint("Nothing was written. If the snapshot is right, apply it with force => true.")));
}

static void
check_delete_fraction(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;

	int64		deleted = batch->is_late ? batch->late_absent :
		batch->counts.rows_deleted;

	if (dim->mode != SCD2_MODE_SNAPSHOT || batch->force || batch->retry != NULL ||
		!dim->has_max_delete_fraction || deleted == 0)
		return;
	/* divided, since 29 / 100 is 0.29, but 0.29 * 100 is less than 29 */
	if ((double) deleted / (double) batch->open_keys <=
		dim->max_delete_fraction)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("source \"%s\" would close more keys of dimension \"%s\" than max_delete_fraction allows",
					batch->source_label, dim->label),
			 errdetail("It would close " INT64_FORMAT " of " INT64_FORMAT " open keys; max_delete_fraction is %g.",
					   deleted, batch->open_keys,
					   dim->max_delete_fraction),
			 errhint("Nothing was written. If the snapshot is right, apply it with force => true.")));
}

/*
 * Some modes take batches in the order of their times only (R20).
 */
static void
check_batch_time(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	bool		snapshot = dim->mode == SCD2_MODE_SNAPSHOT;

	if (!batch->has_last_batch_time || !scd2_compares_state(dim) ||
		batch->retry != NULL ||
		batch->batch_time >= batch->last_batch_time)
		return;
	if (snapshot && scd2_is_late_batch(batch))
		return;
	if (!snapshot && !(batch->preview != NULL ? batch->has_changes :
					   scd2_writes_anything(batch)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("batch_time is before that of the last run of dimension \"%s\": the batch is late",
					dim->label),
			 errdetail("It is %s, and the last run's is %s.",
					   pstrdup(timestamptz_to_str(batch->batch_time)),
					   pstrdup(timestamptz_to_str(batch->last_batch_time))),
			 snapshot && dim->effective_at == NULL ?
			 errhint("Nothing was written. Late snapshots need a change log.") :
			 errhint("Nothing was written. Apply batches in the order of their times.")));
}

/*
 * Stage and classify; see apply.h.
 */
void
scd2_batch_prepare(Scd2Batch *batch)
{
	if (batch->dim->mode == SCD2_MODE_SNAPSHOT)
		check_batch_time(batch);
	batch->lacks = scd2_check_drift(batch->dim, batch->source,
									batch->source_label, batch->cxt);
	if (scd2_is_late_batch(batch))
		scd2_stage_late(batch);
	else
		scd2_stage(batch);
	if (batch->preview == NULL)
		check_empty_snapshot(batch);
	scd2_classify(batch);
	if (batch->preview == NULL)
	{
		scd2_bad_rows_raise(batch);
		check_delete_fraction(batch);
	}
	check_batch_time(batch);
}

/* ----------------------------------------------------------------
 * Applying
 * ----------------------------------------------------------------
 */

static void
apply(Scd2Run *run, void *arg)
{
	Scd2Batch  *batch = scd2_batch_create(run->dim, arg, run->lock.recorded_at);
	Scd2Rights	rights;

	scd2_run_adopt(run, batch);
	if (batch->source == run->dim->source)
		batch->pos = run->pos;
	scd2_rights_enter(run->dim->owner, &rights);
	scd2_batch_prepare(batch);
	run->wrote = scd2_writes_anything(batch);
	scd2_write(batch);
	scd2_rights_leave(&rights);
	scd2_write_rejected(batch);
	if (batch->lacks != NULL)
		scd2_registry_lacked(run->dim, batch->lacks);
	scd2_run_logged(run);
}

/*
 * Has the source gained columns that are to be added?  It is kept from gaining
 * more, to the end of the transaction as a query's would be.
 */
static bool
gains_columns(const Scd2Dimension *dim, void *arg)
{
	const Scd2ApplyArgs *args = arg;

	if (dim->on_drift != SCD2_DRIFT_ADD || !OidIsValid(dim->source) ||
		(OidIsValid(args->source) && args->source != dim->source))
		return false;
	LockRelationOid(dim->source, AccessShareLock);
	if (scd2_drift_gained(dim) == NIL)
		return false;
	scd2_derived_lock_views(dim->id);
	return true;
}

static void
add_columns(Scd2Run *run, void *arg)
{
	scd2_gain_columns(run->dim, run->lock.run_id);
}

PG_FUNCTION_INFO_V1(scd2_apply);

/*
 * CALL scd2.apply(dimension, source, batch_time, scope, force)
 */
Datum
scd2_apply(PG_FUNCTION_ARGS)
{
	const Scd2RunAlter alter = {gains_columns, add_columns};
	Scd2ApplyArgs args;

	scd2_apply_args(fcinfo, &args);
	scd2_run_altering(args.relid, SCD2_RUN_APPLY, &alter, apply, &args);
	PG_RETURN_VOID();
}
