/*-------------------------------------------------------------------------
 *
 * spi.c
 *	  The one way in and out of SPI: connect, parameters, results, tuplestores
 *	  as named relations, error context.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "spi.h"

#include "access/xact.h"
#include "nodes/params.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/queryenvironment.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

static void
activity_callback(void *arg)
{
	Scd2Activity *activity = (Scd2Activity *) arg;

	errcontext("%s \"%s\"", activity->verb, activity->label);
}

/*
 * Begin an activity that error contexts name until scd2_activity_pop.
 */
void
scd2_activity_push(Scd2Activity *activity, const char *verb, const char *label)
{
	activity->verb = verb;
	activity->label = label;
	activity->callback.callback = activity_callback;
	activity->callback.arg = activity;
	activity->callback.previous = error_context_stack;
	error_context_stack = &activity->callback;
}

/*
 * End it.  After an error there is nothing to end: whoever catches it restores
 * the stack of contexts.
 */
void
scd2_activity_pop(Scd2Activity *activity)
{
	error_context_stack = activity->callback.previous;
}

static void
step_callback(void *arg)
{
	errcontext("step \"%s\"", (const char *) arg);
}

/*
 * Connect to SPI.  Every call is matched by one of scd2_spi_end; an error in
 * between disconnects by itself.
 */
void
scd2_spi_begin(void)
{
	int			rc = SPI_connect();

	if (rc != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed: %s", SPI_result_code_string(rc));
}

/*
 * Disconnect; frees all results that were not copied out.
 */
void
scd2_spi_end(void)
{
	int			rc = SPI_finish();

	if (rc != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed: %s", SPI_result_code_string(rc));
}

static uint64
execute(const char *step, const char *sql, int nargs,
		const Oid *types, const Datum *values, const bool *nulls,
		bool read_only, uint64 limit, DestReceiver *dest)
{
	SPIExecuteOptions options = {0};
	ErrorContextCallback context;
	int			rc;

	if (nargs > 0)
	{
		ParamListInfo params = makeParamList(nargs);

		for (int i = 0; i < nargs; i++)
		{
			params->params[i].value = values[i];
			params->params[i].isnull = nulls != NULL && nulls[i];
			params->params[i].pflags = PARAM_FLAG_CONST;
			params->params[i].ptype = types[i];
		}
		options.params = params;
	}
	options.read_only = read_only;
	options.tcount = limit;
	options.dest = dest;

	context.callback = step_callback;
	context.arg = unconstify(char *, step);
	context.previous = error_context_stack;
	error_context_stack = &context;

	rc = SPI_execute_extended(sql, &options);
	if (rc < 0)
		elog(ERROR, "SPI_execute_extended failed: %s: %s",
			 SPI_result_code_string(rc), sql);

	error_context_stack = context.previous;

	return SPI_processed;
}

/*
 * Run one statement that may write.  It sees all that was committed or done in
 * this transaction before it, as READ COMMITTED does.
 */
uint64
scd2_spi_run(const char *step, const char *sql, int nargs,
			 const Oid *types, const Datum *values, const bool *nulls)
{
	return execute(step, sql, nargs, types, values, nulls, false, 0, NULL);
}

/*
 * Run one statement under the active snapshot; it must not write.
 */
uint64
scd2_spi_read(const char *step, const char *sql, int nargs,
			  const Oid *types, const Datum *values, const bool *nulls)
{
	return execute(step, sql, nargs, types, values, nulls, true, 0, NULL);
}

/*
 * Is there a row?  Without LIMIT, which would make the planner hope for an early
 * one: most often there is none.
 */
bool
scd2_spi_exists(const char *step, const char *sql, int nargs,
				const Oid *types, const Datum *values, const bool *nulls)
{
	return execute(step, sql, nargs, types, values, nulls, true, 1, NULL) > 0;
}

/*
 * Run one statement under the active snapshot; see spi.h.
 */
uint64
scd2_spi_run_at(const char *step, const char *sql)
{
	ErrorContextCallback context;
	SPIPlanPtr	plan;
	int			rc;

	context.callback = step_callback;
	context.arg = unconstify(char *, step);
	context.previous = error_context_stack;
	error_context_stack = &context;

	plan = SPI_prepare(sql, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), sql);
	rc = SPI_execute_snapshot(plan, NULL, NULL, GetActiveSnapshot(),
							  InvalidSnapshot, false, true, 0);
	if (rc < 0)
		elog(ERROR, "SPI_execute_snapshot failed: %s: %s",
			 SPI_result_code_string(rc), sql);
	SPI_freeplan(plan);

	error_context_stack = context.previous;

	return SPI_processed;
}

/*
 * Run one statement whose rows go to "dest".
 */
uint64
scd2_spi_stream(const char *step, const char *sql, int nargs,
				const Oid *types, const Datum *values, const bool *nulls,
				bool read_only, DestReceiver *dest)
{
	return execute(step, sql, nargs, types, values, nulls, read_only, 0, dest);
}

static void
receiver_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
receiver_end(DestReceiver *self)
{
}

/*
 * Make a receiver; see spi.h.
 */
void
scd2_spi_receiver(DestReceiver *dest,
				  void (*startup) (DestReceiver *self, int operation,
								   TupleDesc typeinfo),
				  bool (*receive) (TupleTableSlot *slot, DestReceiver *self))
{
	dest->receiveSlot = receive;
	dest->rStartup = startup != NULL ? startup : receiver_startup;
	dest->rShutdown = receiver_end;
	dest->rDestroy = receiver_end;
	dest->mydest = DestNone;
}

static uint64
execute_kept(const char *step, SPIPlanPtr *plan, const char *sql,
			 int nargs, const Oid *types, const Datum *values,
			 const bool *nulls, bool read_only, int cursor_options)
{
	ErrorContextCallback context;
	char		spi_nulls[INDEX_MAX_KEYS + 1];
	int			rc;

	Assert(nargs <= lengthof(spi_nulls));

	context.callback = step_callback;
	context.arg = unconstify(char *, step);
	context.previous = error_context_stack;
	error_context_stack = &context;

	if (*plan == NULL)
	{
		SPIPlanPtr	prepared = SPI_prepare_cursor(sql, nargs, unconstify(Oid *, types),
												 cursor_options);

		if (prepared == NULL)
			elog(ERROR, "SPI_prepare failed: %s: %s",
				 SPI_result_code_string(SPI_result), sql);
		if (SPI_keepplan(prepared) != 0)
			elog(ERROR, "SPI_keepplan failed: %s", sql);
		*plan = prepared;
	}

	for (int i = 0; i < nargs; i++)
		spi_nulls[i] = nulls != NULL && nulls[i] ? 'n' : ' ';

	rc = SPI_execute_plan(*plan, unconstify(Datum *, values), spi_nulls,
						  read_only, 0);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s: %s",
			 SPI_result_code_string(rc), sql);

	error_context_stack = context.previous;

	return SPI_processed;
}

/*
 * Run a statement of fixed text, planned once a session.  The plan cache sees
 * to it that a plan whose tables changed is made again.
 */
uint64
scd2_spi_cached(const char *step, SPIPlanPtr *plan, const char *sql,
				int nargs, const Oid *types, const Datum *values,
				const bool *nulls, bool read_only)
{
	return execute_kept(step, plan, sql, nargs, types, values, nulls, read_only, 0);
}

/*
 * The same with one plan for all parameters; see spi.h.
 */
uint64
scd2_spi_generic(const char *step, SPIPlanPtr *plan, const char *sql, int nargs,
				 const Oid *types, const Datum *values)
{
	return execute_kept(step, plan, sql, nargs, types, values, NULL, true,
						CURSOR_OPT_GENERIC_PLAN);
}

/*
 * A value of the last statement's result: row from 0, column from 1.  Valid
 * until scd2_spi_end; copy what is to live longer.
 */
Datum
scd2_spi_value(uint64 row, int col, bool *isnull)
{
	Assert(SPI_tuptable != NULL && row < SPI_tuptable->numvals);
	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc,
						 col, isnull);
}

/*
 * The same as text in "cxt", or NULL.
 */
char *
scd2_spi_text(uint64 row, int col, MemoryContext cxt)
{
	char	   *value;

	Assert(SPI_tuptable != NULL && row < SPI_tuptable->numvals);
	value = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, col);
	return value == NULL ? NULL : MemoryContextStrdup(cxt, value);
}

/*
 * Make a tuplestore readable under "name" by the statements that follow, with
 * its size known to the planner.  It hides tables of that name where they are
 * not qualified, so all generated SQL qualifies (DESIGN.md section 4).  The
 * tuplestore needs EXEC_FLAG_REWIND; every scan of it starts at its beginning.
 */
void
scd2_spi_register(const char *name, TupleDesc desc,
				  Tuplestorestate *store, double ntuples)
{
	EphemeralNamedRelation enr = palloc0(sizeof(EphemeralNamedRelationData));
	int			rc;

	enr->md.name = pstrdup(name);
	enr->md.reliddesc = InvalidOid;
	enr->md.tupdesc = desc;
	enr->md.enrtype = ENR_NAMED_TUPLESTORE;
	enr->md.enrtuples = ntuples;
	enr->reldata = store;

	rc = SPI_register_relation(enr);
	if (rc != SPI_OK_REL_REGISTER)
		elog(ERROR, "SPI_register_relation failed: %s",
			 SPI_result_code_string(rc));
}

/*
 * Take the name away again; the tuplestore is the caller's to end.
 */
void
scd2_spi_unregister(const char *name)
{
	int			rc = SPI_unregister_relation(name);

	if (rc != SPI_OK_REL_UNREGISTER)
		elog(ERROR, "SPI_unregister_relation failed: %s",
			 SPI_result_code_string(rc));
}

/*
 * Call fn(arg) in a subtransaction; see spi.h.  As plpgsql does for a block with
 * an exception handler.
 */
ErrorData *
scd2_spi_try(void (*fn) (void *arg), void *arg)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		fn(arg);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();

	return error;
}

static void
set_for_now(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Hold joins to nested loops; see spi.h.  A join by ctid is then a TID scan for
 * each staged row, which the planner thinks dearer than it is (DESIGN.md section 3).
 */
int
scd2_spi_tid_join_begin(void)
{
	int			guc_level = NewGUCNestLevel();

	set_for_now("enable_hashjoin", "off");
	set_for_now("enable_mergejoin", "off");
	set_for_now("enable_nestloop", "on");
	set_for_now("enable_tidscan", "on");
	return guc_level;
}

/*
 * Do without parallel workers; see spi.h.  From 17 on subtransactions may begin
 * within a parallel operation.
 */
int
scd2_spi_serial_begin(bool needed)
{
	int			guc_level = NewGUCNestLevel();

	if (needed && COMPAT_NO_PARALLEL_TRY)
		set_for_now("max_parallel_workers_per_gather", "0");
	return guc_level;
}

/*
 * Read by an index; see spi.h.
 */
int
scd2_spi_one_key_begin(void)
{
	int			guc_level = NewGUCNestLevel();

	set_for_now("enable_seqscan", "off");
	set_for_now("enable_indexscan", "on");
	return guc_level;
}

/*
 * Let the planner go again.  After an error settings return by themselves.
 */
void
scd2_spi_planner_end(int guc_level)
{
	AtEOXact_GUC(true, guc_level);
}
