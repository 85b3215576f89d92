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
#include "drift.h"
#include "plan.h"
#include "progress.h"
#include "report.h"
#include "spi.h"
#include "sqltext.h"
#include "stage.h"
#include "write.h"

/* ----------------------------------------------------------------
 * Making a batch
 * ----------------------------------------------------------------
 */

/*
 * Read the parameters; see apply.h.
 */
void
scd2_apply_args(FunctionCallInfo fcinfo, Scd2ApplyArgs *args)
{
	memset(args, 0, sizeof(*args));
	args->relid = scd2_registry_argument(fcinfo);
	if (!PG_ARGISNULL(1))
		args->source = PG_GETARG_OID(1);
	args->has_batch_time = !PG_ARGISNULL(2);
	if (args->has_batch_time)
		args->batch_time = PG_GETARG_TIMESTAMPTZ(2);
	if (!PG_ARGISNULL(3))
		args->scope = text_to_cstring(PG_GETARG_TEXT_PP(3));
	args->force = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
}

/*
 * Describe the dimension to the fold.
 */
static void
describe_shape(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	Scd2FoldShape *shape = &batch->shape;

	shape->natts = dim->nattrs;
	shape->scd_type = palloc(dim->nattrs + 1);
	shape->canon = palloc((dim->nattrs + 1) * sizeof(Scd2CanonType *));
	shape->typlen = palloc((dim->nattrs + 1) * sizeof(int16));
	shape->typbyval = palloc((dim->nattrs + 1) * sizeof(bool));
	for (int i = 0; i < dim->nattrs; i++)
	{
		shape->scd_type[i] = dim->attrs[i].scd_type;
		shape->canon[i] = scd2_canon_type(dim->attrs[i].typid, batch->cxt);
		get_typlenbyval(dim->attrs[i].typid, &shape->typlen[i],
						&shape->typbyval[i]);
	}
	shape->flag_deletes = dim->on_delete == SCD2_DELETE_FLAG;
	shape->ignore_deletes = dim->on_delete == SCD2_DELETE_IGNORE;
	shape->ignore_null_updates = dim->ignore_null_updates;
	shape->has_initial = dim->has_initial;
	if (dim->has_initial)
		shape->initial_valid_from = scd2_period_to_time(dim, dim->initial_valid_from);
}

/*
 * scd2 reads its own columns as they lie there, so they have to be of the types
 * that it gave them; and previous_*, current_* and, where it is read, the log of
 * those of the column they belong to.
 */
static void
check_column_type(Oid relid, AttrNumber attnum, Oid wanted)
{
	Oid			typid = get_atttype(relid, attnum);

	if (getBaseType(typid) != getBaseType(wanted))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, and should be of type %s",
						get_attname(relid, attnum, false), scd2_relation_name(relid),
						format_type_be(typid), format_type_be(wanted)),
				 errhint("Change its type back.")));
}

static void
check_column_types(const Scd2Dimension *dim)
{
	check_column_type(dim->relid, dim->sk_attnum,
					  dim->sk_is_uuid ? UUIDOID : INT8OID);
	check_column_type(dim->relid, dim->valid_from_attnum, dim->period_type);
	check_column_type(dim->relid, dim->valid_to_attnum, dim->period_type);
	check_column_type(dim->relid, dim->is_current_attnum, BOOLOID);
	if (dim->is_deleted != NULL)
		check_column_type(dim->relid, dim->is_deleted_attnum, BOOLOID);
	if (dim->row_hash != NULL)
		check_column_type(dim->relid, dim->row_hash_attnum, BYTEAOID);
	if (OidIsValid(dim->log))
		check_column_type(dim->log, get_attnum(dim->log, dim->log_effective_at),
						  dim->period_type);

	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *column = &dim->attrs[i];

		if (column->extra_name != NULL)
			check_column_type(dim->relid, column->extra_attnum, column->typid);
		if (column->scd_type == 0 && OidIsValid(dim->log))
			check_column_type(dim->log, get_attnum(dim->log, column->log_name),
							  column->typid);
	}
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
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("source with OID %u does not exist", source)));
	batch->source = source;
	batch->source_label = scd2_relation_name(source);
	if (relkind != RELKIND_RELATION && relkind != RELKIND_VIEW &&
		relkind != RELKIND_MATVIEW && relkind != RELKIND_FOREIGN_TABLE &&
		relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("source \"%s\" is not a table or view",
						batch->source_label)));
	if (source == batch->dim->relid)
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
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "scd2 batch",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2Batch  *batch = palloc0(sizeof(Scd2Batch));

	batch->dim = dim;
	batch->cxt = cxt;
	batch->row_cxt = AllocSetContextCreate(cxt, "scd2 row",
										   ALLOCSET_DEFAULT_SIZES);
	batch->force = args->force;
	batch->newest_logged = PG_INT64_MIN;

	scd2_check_ordinary_table(dim->relid);
	check_column_types(dim);
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
		batch->scope_sql = scd2_parse_condition(args->scope, dim->relid, "d", "scope");
		SetUserIdAndSecContext(userid, sec_context);
	}

	describe_shape(batch);
	batch->has_overlay = scd2_has_overlay(dim);
	scd2_plan_layout(dim, &batch->layout, NULL);

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

	if (dim->mode != SCD2_MODE_SNAPSHOT || batch->force ||
		!dim->has_max_delete_fraction || batch->counts.rows_deleted == 0)
		return;
	/* divided, since 29 / 100 is 0.29, but 0.29 * 100 is less than 29 */
	if ((double) batch->counts.rows_deleted / (double) batch->open_keys <=
		dim->max_delete_fraction)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("source \"%s\" would close more keys of dimension \"%s\" than max_delete_fraction allows",
					batch->source_label, dim->label),
			 errdetail("It would close " INT64_FORMAT " of " INT64_FORMAT " open keys; max_delete_fraction is %g.",
					   batch->counts.rows_deleted, batch->open_keys,
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
	int			code = ERRCODE_DATETIME_VALUE_OUT_OF_RANGE;

	if (!batch->has_last_batch_time || !scd2_compares_state(dim) ||
		batch->batch_time >= batch->last_batch_time)
		return;
	if (!snapshot && !(batch->preview != NULL ? batch->has_changes :
					   scd2_writes_anything(batch)))
		return;
	if (snapshot && dim->effective_at == NULL)
		code = ERRCODE_FEATURE_NOT_SUPPORTED;
	ereport(ERROR,
			(errcode(code),
			 errmsg("batch_time is before that of the last run of dimension \"%s\": the batch is late",
					dim->label),
			 errdetail("It is %s, and the last run's is %s.",
					   pstrdup(timestamptz_to_str(batch->batch_time)),
					   pstrdup(timestamptz_to_str(batch->last_batch_time))),
			 code == ERRCODE_FEATURE_NOT_SUPPORTED ?
			 errhint("Nothing was written. This version of scd2 applies snapshots in order only.") :
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
	scd2_check_drift(batch->dim, batch->source, batch->source_label);
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

/*
 * Deferred constraints on what we write cannot fire inside a
 * security-restricted operation: make them immediate for the rest of the
 * transaction (R30).  Those in a schema that the caller may not use he cannot
 * set; what he writes fires them only where it changes a key they refer to.
 */
static void
set_constraints_immediate(const Scd2Dimension *dim)
{
	Oid			types[] = {OIDOID, OIDOID};
	Datum		values[] = {ObjectIdGetDatum(dim->relid),
	ObjectIdGetDatum(dim->log)};
	StringInfoData sql;
	uint64		n;

	n = scd2_spi_read("constraints",
					  "SELECT DISTINCT pg_catalog.format('%I.%I', n.nspname, c.conname)\n"
					  "  FROM pg_catalog.pg_constraint AS c\n"
					  "  JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.connamespace\n"
					  " WHERE c.condeferrable\n"
					  "   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')\n"
					  "   AND (c.conrelid OPERATOR(pg_catalog.=) ANY (ARRAY[$1, $2])\n"
					  "        OR c.confrelid OPERATOR(pg_catalog.=) ANY (ARRAY[$1, $2]))",
					  2, types, values, NULL);
	if (n == 0)
		return;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SET CONSTRAINTS ");
	for (uint64 row = 0; row < n; row++)
		appendStringInfo(&sql, "%s%s", row > 0 ? ", " : "",
						 scd2_spi_text(row, 1, CurrentMemoryContext));
	appendStringInfoString(&sql, " IMMEDIATE");
	scd2_spi_run("constraints", sql.data, 0, NULL, NULL, NULL);
}

/*
 * A run that is under way in this session.
 */
typedef struct Running
{
	Oid			relid;
	struct Running *outer;
} Running;

static Running *running = NULL;

/*
 * A trigger on the dimension, or a function in its source, could call apply for
 * it once more.  But two runs go one after the other (R18), and the lock of the
 * run is the transaction's own.
 */
static void
check_not_running(Oid relid)
{
	for (Running *run = running; run != NULL; run = run->outer)
	{
		if (run->relid == relid)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("cannot apply to dimension \"%s\" while this session is applying to it",
							scd2_relation_name(relid)),
					 errdetail("A trigger or a function that the run calls has called scd2.apply."),
					 errhint("Call it after the run.")));
	}
}

static void
apply(const Scd2ApplyArgs *args, Running *run)
{
	TimestampTz started_at = GetCurrentTimestamp();
	Oid			caller = GetUserId();
	Scd2Dimension *dim;
	Scd2RunLock lock;
	Scd2Batch  *batch;
	Scd2Rights	rights;
	Scd2Activity activity;
	Relation	rel;
	Relation	log = NULL;
	bool		wrote;

	dim = scd2_registry_load(args->relid, CurrentMemoryContext);
	scd2_registry_check_owner(dim);
	check_not_running(dim->relid);
	running = run;
	scd2_activity_push(&activity, "applying", dim->label);
	scd2_progress_start(dim->relid);
	scd2_progress_phase(SCD2_PHASE_LOCK, 0);

	/* no DDL while we work; then wait for an earlier run, and look again */
	LockRelationOid(dim->relid, RowExclusiveLock);
	scd2_registry_lock(dim, &lock);
	dim = scd2_registry_load(args->relid, CurrentMemoryContext);
	scd2_registry_check_owner(dim);

	/* open, so that nothing that the run calls alters, empties or drops them */
	rel = table_open(dim->relid, NoLock);
	if (OidIsValid(dim->log))
	{
		log = try_table_open(dim->log, RowExclusiveLock);
		if (log == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("change log of dimension \"%s\" does not exist any more",
							dim->label)));
	}
	set_constraints_immediate(dim);

	/* the snapshot is taken after the lock: it sees all that the last run did */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());

	batch = scd2_batch_create(dim, args, lock.recorded_at);
	batch->run_id = lock.run_id;
	batch->recorded_at = lock.recorded_at;
	batch->has_last_batch_time = lock.has_last_batch_time;
	batch->last_batch_time = lock.last_batch_time;
	batch->has_newest = lock.has_newest;
	batch->newest = lock.newest;

	scd2_rights_enter(dim->owner, &rights);
	scd2_batch_prepare(batch);
	wrote = scd2_writes_anything(batch);
	scd2_write(batch);
	scd2_rights_leave(&rights);

	PopActiveSnapshot();
	if (log != NULL)
		table_close(log, NoLock);
	table_close(rel, NoLock);

	if (batch->newest_logged != PG_INT64_MIN)
	{
		lock.newest = batch->has_newest ?
			Max(batch->newest, batch->newest_logged) : batch->newest_logged;
		lock.has_newest = true;
	}
	scd2_registry_write_run(dim, &lock, "apply", batch->source, batch->scope,
							caller, started_at, batch->batch_time,
							&batch->counts);
	scd2_report_last_run(lock.run_id);
	scd2_report_notice(dim, lock.run_id, "apply to", &batch->counts, wrote);

	scd2_progress_end();
	scd2_activity_pop(&activity);
	MemoryContextDelete(batch->cxt);
}

PG_FUNCTION_INFO_V1(scd2_apply);

/*
 * CALL scd2.apply(dimension, source, batch_time, scope, force)
 */
Datum
scd2_apply(PG_FUNCTION_ARGS)
{
	Scd2ApplyArgs args;
	Running		run;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "scd2 apply",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);

	scd2_apply_args(fcinfo, &args);

	PushActiveSnapshot(GetTransactionSnapshot());
	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);

	run.relid = args.relid;
	run.outer = running;
	PG_TRY();
	{
		apply(&args, &run);
	}
	PG_FINALLY();
	{
		running = run.outer;
	}
	PG_END_TRY();

	scd2_spi_end();
	PopActiveSnapshot();

	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
	PG_RETURN_VOID();
}
