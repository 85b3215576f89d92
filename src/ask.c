/*-------------------------------------------------------------------------
 *
 * ask.c
 *	  Rows of a dimension: as of a time, and of one key (SPEC section 7).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "ask.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "ask_plan.h"
#include "convert.h"
#include "history.h"
#include "keyarg.h"
#include "rebuild.h"

/*
 * Begin and end; see ask.h.
 */
void
scd2_ask_begin(Scd2Ask *ask, Oid relid, const char *why_log)
{
	scd2_spi_begin();
	LockRelationOid(relid, AccessShareLock);
	ask->dim = scd2_registry_load(relid, CurrentMemoryContext);
	scd2_activity_push(&ask->activity, "reading", ask->dim->label);
	scd2_check_ordinary_table(relid);
	if (ask->dim->history != NULL)
		scd2_history_check(ask->dim);
	if (why_log != NULL)
	{
		scd2_check_has_log(ask->dim, why_log);
		LockRelationOid(ask->dim->log, AccessShareLock);
	}
	scd2_rights_enter(GetUserId(), &ask->rights);
}

void
scd2_ask_end(Scd2Ask *ask)
{
	scd2_rights_leave(&ask->rights);
	scd2_activity_pop(&ask->activity);
	scd2_spi_end();
}

/* ----------------------------------------------------------------
 * Rows
 * ----------------------------------------------------------------
 */

typedef struct RowsState
{
	DestReceiver pub;
	Tuplestorestate *store;
	TupleDesc	desc;			/* the dimension's, dropped columns included */
	Datum	   *values;
	bool	   *isnull;
} RowsState;

static bool
rows_receive(TupleTableSlot *slot, DestReceiver *self)
{
	RowsState  *state = (RowsState *) self;
	int			n = 0;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	for (int i = 0; i < state->desc->natts; i++)
	{
		state->isnull[i] = true;
		if (TupleDescAttr(state->desc, i)->attisdropped)
			continue;
		state->values[i] = slot->tts_values[n];
		state->isnull[i] = slot->tts_isnull[n++];
	}
	tuplestore_putvalues(state->store, state->desc, state->values, state->isnull);
	return true;
}

static void
return_rows(ReturnSetInfo *rsinfo, const char *step, const char *sql, int nargs,
			const Oid *types, const Datum *values)
{
	RowsState  *state = palloc0(sizeof(RowsState));

	state->store = rsinfo->setResult;
	state->desc = rsinfo->setDesc;
	state->values = palloc0(state->desc->natts * sizeof(Datum));
	state->isnull = palloc(state->desc->natts * sizeof(bool));
	scd2_spi_receiver(&state->pub, NULL, rows_receive);
	scd2_spi_stream(step, sql, nargs, types, values, NULL, true,
					(DestReceiver *) state);
}

PG_FUNCTION_INFO_V1(scd2_as_of);

/*
 * scd2.as_of(dim anyelement, ts timestamptz, known_at timestamptz): the version of
 * each key at a time; with known_at as it was known then, from the log.
 */
Datum
scd2_as_of(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_row_argument(fcinfo);
	Scd2Ask		ask;

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		TimestampTz ts = PG_GETARG_TIMESTAMPTZ(1);
		TimestampTz known_at = PG_GETARG_TIMESTAMPTZ(2);

		scd2_rebuild_rows(fcinfo, NULL, &known_at, &ts);
		PG_RETURN_VOID();
	}

	InitMaterializedSRF(fcinfo, 0);
	scd2_ask_begin(&ask, relid, NULL);
	if (!PG_ARGISNULL(1))
	{
		Datum		at = scd2_to_period(ask.dim, PG_GETARG_DATUM(1), TIMESTAMPTZOID);

		return_rows(rsinfo, "as of", scd2_ask_as_of_sql(ask.dim, rsinfo->setDesc), 1,
					&ask.dim->period_type, &at);
	}
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(scd2_history);

/*
 * scd2.history(dim anyelement, VARIADIC key "any"): one key's chain, in order.
 */
Datum
scd2_history(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_row_argument(fcinfo);
	Scd2Ask		ask;
	Datum	   *keys;
	int			guc_level;

	InitMaterializedSRF(fcinfo, 0);
	scd2_ask_begin(&ask, relid, NULL);
	keys = palloc(ask.dim->nkeys * sizeof(Datum));
	scd2_key_args(fcinfo, 1, ask.dim, keys);
	guc_level = scd2_spi_one_key_begin();
	return_rows(rsinfo, "history", scd2_ask_history_sql(ask.dim, rsinfo->setDesc),
				ask.dim->nkeys, scd2_ask_key_types(ask.dim, 0), keys);
	scd2_spi_planner_end(guc_level);
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}
