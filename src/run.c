/*-------------------------------------------------------------------------
 *
 * run.c
 *	  The frame of a run: lock, rights, record; and the batch that it works on.
 *
 * Whatever changes a dimension's chains does so within a run, so that each takes
 * the same lock, the same snapshot and the same record (R18, R21).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "run.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "history.h"
#include "link.h"
#include "names.h"
#include "plan.h"
#include "progress.h"
#include "report.h"
#include "runs.h"
#include "spi.h"
#include "sqltext.h"

/* ----------------------------------------------------------------
 * A batch
 * ----------------------------------------------------------------
 */

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

/*
 * Begin a batch; see run.h.
 */
Scd2Batch *
scd2_batch_begin(Scd2Dimension *dim)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "scd2 batch",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2Batch  *batch = palloc0(sizeof(Scd2Batch));

	batch->dim = dim;
	batch->cxt = cxt;
	batch->owner = CurrentResourceOwner;
	batch->row_cxt = AllocSetContextCreate(cxt, "scd2 row",
										   ALLOCSET_DEFAULT_SIZES);
	batch->newest_logged = PG_INT64_MIN;
	scd2_check_ordinary_table(dim->relid);
	if (dim->history != NULL)
		scd2_history_check(dim);
	check_column_types(dim);
	describe_shape(batch);
	batch->has_overlay = scd2_has_overlay(dim);
	scd2_plan_layout(dim, &batch->layout, NULL);
	if (OidIsValid(dim->log))
	{
		batch->undone = scd2_runs_undone(dim, DT_NOEND);
		batch->has_inferred = scd2_runs_have_inferred(dim);
	}

	MemoryContextSwitchTo(oldcxt);
	return batch;
}

/*
 * End a batch; see run.h.
 */
void
scd2_batch_end(Scd2Batch *batch)
{
	Scd2Store  *const stores[] = {
		&batch->staged, &batch->located, &batch->absent, &batch->states,
		&batch->closes, &batch->opens, &batch->overwrites, &batch->logged,
		&batch->chain_keys, &batch->revises, &batch->grows, &batch->removes,
		&batch->held, &batch->remakes, &batch->remade,
		&batch->history.opens, &batch->history.revises, &batch->history.grows,
		&batch->history.removes, &batch->rejected
	};

	for (int i = 0; i < lengthof(stores); i++)
		scd2_store_end(stores[i]);
	MemoryContextDelete(batch->cxt);
}

/* ----------------------------------------------------------------
 * A run
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
	List	   *relids = scd2_link_relations(dim->id);
	Oid			types[] = {OIDARRAYOID};
	Datum		values[1];
	Datum	   *oids;
	int			noids = 0;
	ListCell   *lc;
	StringInfoData sql;
	uint64		n;

	oids = palloc((list_length(relids) + 3) * sizeof(Datum));
	oids[noids++] = ObjectIdGetDatum(dim->relid);
	if (OidIsValid(dim->log))
		oids[noids++] = ObjectIdGetDatum(dim->log);
	if (dim->history != NULL)
		oids[noids++] = ObjectIdGetDatum(dim->history->relid);
	foreach(lc, relids)
		oids[noids++] = ObjectIdGetDatum(lfirst_oid(lc));
	values[0] = PointerGetDatum(construct_array(oids, noids, OIDOID, sizeof(Oid), true,
												TYPALIGN_INT));

	/* all there are now, whatever the transaction's snapshot shows */
	PushActiveSnapshot(GetLatestSnapshot());
	n = scd2_spi_read("constraints",
					  "SELECT DISTINCT pg_catalog.format('%I.%I', n.nspname, c.conname)\n"
					  "  FROM pg_catalog.pg_constraint AS c\n"
					  "  JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.connamespace\n"
					  " WHERE c.condeferrable\n"
					  "   AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')\n"
					  "   AND (c.conrelid OPERATOR(pg_catalog.=) ANY ($1)\n"
					  "        OR c.confrelid OPERATOR(pg_catalog.=) ANY ($1))",
					  1, types, values, NULL);
	PopActiveSnapshot();
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

typedef struct RunKind
{
	const char *action;			/* as scd2.runs has it */
	const char *doing;			/* for the error context */
	const char *notice;			/* for the NOTICE */
} RunKind;

static const RunKind run_kinds[] = {
	[SCD2_RUN_APPLY] = {"apply", "applying", "apply to"},
	[SCD2_RUN_REBUILD] = {"rebuild", "rebuilding", "rebuild of"},
	[SCD2_RUN_UNDO] = {"undo", "undoing a run of", "undo in"},
	[SCD2_RUN_RETRY] = {"retry", "retrying rejected rows of", "retry for"},
	[SCD2_RUN_RESOLVE] = {"resolve", "resolving facts of", "resolve by"},
};

/*
 * A run, and what is kept for its end.
 */
typedef struct RunFrame
{
	Scd2Run		run;
	const RunKind *kind;
	Running		entry;
	Oid			caller;
	TimestampTz started_at;
	Relation	rel;
	Relation	log;
	Relation	history;
} RunFrame;

static void
begin_run(RunFrame *frame, Oid relid, const RunKind *kind, bool check_owner,
		  const Scd2RunAlter *alter, void *arg)
{
	Scd2Run    *run = &frame->run;
	Scd2Activity activity;
	bool		alters;

	frame->kind = kind;
	frame->caller = GetUserId();
	frame->started_at = GetCurrentTimestamp();
	run->dim = scd2_registry_load(relid, CurrentMemoryContext);
	if (check_owner)
		scd2_registry_check_owner(run->dim);
	check_not_running(relid);
	frame->entry.relid = relid;
	frame->entry.outer = running;
	running = &frame->entry;
	scd2_activity_push(&activity, kind->doing, run->dim->label);
	scd2_progress_start(relid);
	scd2_progress_phase(SCD2_PHASE_LOCK, 0);

	/* no DDL while we work; then wait for an earlier run, and look again */
	alters = alter != NULL && alter->needed(run->dim, arg);
	LockRelationOid(relid, alters ? AccessExclusiveLock : RowExclusiveLock);
	scd2_registry_lock(run->dim, &run->lock);
	run->dim = scd2_registry_load(relid, CurrentMemoryContext);
	if (check_owner)
		scd2_registry_check_owner(run->dim);
	if (alters)
	{
		set_constraints_immediate(run->dim);
		alter->alter(run, arg);
		run->dim = scd2_registry_load(relid, CurrentMemoryContext);
	}

	/* open, so that nothing that the run calls alters, empties or drops them */
	frame->rel = table_open(relid, NoLock);
	if (OidIsValid(run->dim->log))
	{
		frame->log = try_table_open(run->dim->log, RowExclusiveLock);
		if (frame->log == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("change log of dimension \"%s\" does not exist any more",
							run->dim->label)));
	}
	if (run->dim->history != NULL)
	{
		frame->history = try_table_open(run->dim->history->relid, RowExclusiveLock);
		if (frame->history == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("history table of dimension \"%s\" does not exist any more",
							run->dim->label)));
	}
	set_constraints_immediate(run->dim);
	scd2_logpos_begin(run->dim, &run->pos);
	scd2_activity_pop(&activity);
}

static void
do_run(RunFrame *frame, Scd2RunBody body, void *arg)
{
	Scd2Run    *run = &frame->run;
	Scd2Activity activity;

	scd2_activity_push(&activity, frame->kind->doing, run->dim->label);

	/* the snapshot is taken after the lock: it sees all that the last run did */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	body(run, arg);
	PopActiveSnapshot();

	if (frame->history != NULL)
		table_close(frame->history, NoLock);
	if (frame->log != NULL)
		table_close(frame->log, NoLock);
	table_close(frame->rel, NoLock);

	scd2_registry_write_run(run->dim, &run->lock, frame->kind->action,
							run->batch->source, run->batch->scope, frame->caller,
							frame->started_at,
							run->batch->source_label != NULL ?
							run->batch->batch_time : DT_NOEND,
							&run->batch->counts);
	scd2_logpos_end(run->dim, &run->batch->pos, run->lock.run_id);
	scd2_report_last_run(run->lock.run_id);
	scd2_report_notice(run->dim, run->lock.run_id, frame->kind->notice,
					   &run->batch->counts, run->wrote);

	scd2_activity_pop(&activity);
	scd2_batch_end(run->batch);
}

static void
run_all(const List *relids, Scd2RunKind kind, bool check_owner,
		const Scd2RunAlter *alter, Scd2RunBody body, void *arg)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "scd2 run",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	int			nframes = list_length(relids);
	RunFrame   *frames = palloc0(nframes * sizeof(RunFrame));
	Running    *outer = running;

	PushActiveSnapshot(GetTransactionSnapshot());
	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);

	PG_TRY();
	{
		for (int i = 0; i < nframes; i++)
			begin_run(&frames[i], list_nth_oid(relids, i), &run_kinds[kind],
					  check_owner, alter, arg);
		for (int i = 0; i < nframes; i++)
			do_run(&frames[i], body, arg);
		scd2_progress_end();
	}
	PG_FINALLY();
	{
		running = outer;
	}
	PG_END_TRY();

	scd2_spi_end();
	PopActiveSnapshot();

	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}

/*
 * Do a run; see run.h.
 */
void
scd2_run(Oid relid, Scd2RunKind kind, Scd2RunBody body, void *arg)
{
	scd2_run_altering(relid, kind, NULL, body, arg);
}

void
scd2_run_altering(Oid relid, Scd2RunKind kind, const Scd2RunAlter *alter,
				  Scd2RunBody body, void *arg)
{
	run_all(list_make1_oid(relid), kind, true, alter, body, arg);
}

void
scd2_run_several(const List *relids, Scd2RunKind kind, Scd2RunBody body, void *arg)
{
	run_all(relids, kind, false, NULL, body, arg);
}

/*
 * The batch of a run; see run.h.
 */
void
scd2_run_adopt(Scd2Run *run, Scd2Batch *batch)
{
	run->batch = batch;
	batch->run_id = run->lock.run_id;
	batch->recorded_at = run->lock.recorded_at;
	batch->has_last_batch_time = run->lock.has_last_batch_time;
	batch->last_batch_time = run->lock.last_batch_time;
	batch->has_newest = run->lock.has_newest;
	batch->newest = run->lock.newest;
}

/*
 * Add up what the batches of one run counted; see run.h.
 */
void
scd2_run_add_counts(Scd2RunCounts *total, const Scd2RunCounts *counts)
{
	int64	   *to = (int64 *) total;
	const int64 *from = (const int64 *) counts;

	StaticAssertStmt(sizeof(Scd2RunCounts) % sizeof(int64) == 0,
					 "Scd2RunCounts has counts only");
	for (int i = 0; i < sizeof(Scd2RunCounts) / sizeof(int64); i++)
		to[i] += from[i];
}

/*
 * Remember what the batch logged; see run.h.
 */
void
scd2_run_logged(Scd2Run *run)
{
	const Scd2Batch *batch = run->batch;

	if (batch->newest_logged == PG_INT64_MIN)
		return;
	run->lock.newest = batch->has_newest ?
		Max(batch->newest, batch->newest_logged) : batch->newest_logged;
	run->lock.has_newest = true;
}
