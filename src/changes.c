/*-------------------------------------------------------------------------
 *
 * changes.c
 *	  Versions beside those that they follow: what opened and closed in a time,
 *	  and which columns cause versions (SPEC section 7).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "ask.h"
#include "ask_plan.h"
#include "canonical.h"
#include "convert.h"
#include "plan.h"
#include "preview.h"
#include "rebuild.h"

/* From this share of the versions on, a column is said to cause nearly all. */
#define NEARLY_ALL	0.8

/* ... where there are that many to judge by. */
#define ENOUGH		3

typedef struct PairState
{
	DestReceiver pub;
	Scd2Dimension *dim;
	Scd2AskPairLayout layout;
	Scd2CanonType **canon;
	Tuplestorestate *store;
	TupleDesc	desc;
	TupleDesc	key_desc;
	MemoryContext row_cxt;

	/* stats */
	int64		npairs;
	int64	   *differing;		/* by tracked column: in how many */
	int64	   *sole;			/* and where no other column differs */
} PairState;

static PairState *
begin_pairs(Scd2Dimension *dim, ReturnSetInfo *rsinfo,
			bool (*receive) (TupleTableSlot *slot, DestReceiver *self))
{
	PairState  *state = palloc0(sizeof(PairState));

	state->dim = dim;
	scd2_ask_pair_layout(dim, &state->layout);
	state->canon = palloc((dim->nattrs + 1) * sizeof(Scd2CanonType *));
	for (int i = 0; i < dim->nattrs; i++)
		state->canon[i] = scd2_canon_type(dim->attrs[i].typid, CurrentMemoryContext);
	state->store = rsinfo->setResult;
	state->desc = rsinfo->setDesc;
	state->key_desc = scd2_columns_desc(dim->keys, dim->nkeys);
	state->row_cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 row",
										   ALLOCSET_DEFAULT_SIZES);
	state->differing = palloc0((dim->nattrs + 1) * sizeof(int64));
	state->sole = palloc0((dim->nattrs + 1) * sizeof(int64));
	scd2_spi_receiver(&state->pub, NULL, receive);
	return state;
}

/* Does a column of type 2 or 6 differ between the two (R12)? */
static bool
differs(const PairState *state, int att, const TupleTableSlot *slot)
{
	int			a = state->layout.attrs + att;
	int			b = state->layout.other_attrs + att;
	int			type = state->dim->attrs[att].scd_type;

	return (type == 2 || type == 6) &&
		!scd2_canon_same(state->canon[att], slot->tts_values[a], slot->tts_isnull[a],
						 slot->tts_values[b], slot->tts_isnull[b]);
}

/* ----------------------------------------------------------------
 * scd2.changes
 * ----------------------------------------------------------------
 */

/*
 * One row.  "own" and "other" are texts, or NULL; what a version has is new where it
 * opened, and old where it closed.
 */
static void
put_change(PairState *state, TupleTableSlot *slot, Datum key, const char *column,
		   const char *own, const char *other)
{
	bool		opened = DatumGetInt32(slot->tts_values[state->layout.action]) == 1;
	const char *texts[] = {column, opened ? other : own, opened ? own : other};
	Datum		values[6];
	bool		isnull[6] = {0};

	values[0] = scd2_to_timestamptz(state->dim, slot->tts_values[state->layout.at],
									state->dim->period_type);
	values[1] = CStringGetTextDatum(opened ? "opened" : "closed");
	values[2] = key;
	for (int i = 0; i < lengthof(texts); i++)
	{
		isnull[3 + i] = texts[i] == NULL;
		values[3 + i] = texts[i] == NULL ? (Datum) 0 : CStringGetTextDatum(texts[i]);
	}
	tuplestore_putvalues(state->store, state->desc, values, isnull);
}

static char *
attr_text(const PairState *state, const TupleTableSlot *slot, int first, int att)
{
	return slot->tts_isnull[first + att] ? NULL :
		scd2_value_text(slot->tts_values[first + att], state->dim->attrs[att].typid);
}

static bool
change_receive(TupleTableSlot *slot, DestReceiver *self)
{
	PairState  *state = (PairState *) self;
	const Scd2Dimension *dim = state->dim;
	const Scd2AskPairLayout *layout = &state->layout;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	bool		has_other;
	bool		deleted;
	bool		other_deleted;
	bool		any = false;
	Datum		key;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	has_other = DatumGetBool(slot->tts_values[layout->has_other]);
	deleted = DatumGetBool(slot->tts_values[layout->deleted]);
	other_deleted = has_other && DatumGetBool(slot->tts_values[layout->other_deleted]);
	key = scd2_columns_jsonb(state->key_desc, slot->tts_values + layout->keys,
							 slot->tts_isnull + layout->keys);
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (has_other && !differs(state, i, slot))
			continue;
		any = true;
		put_change(state, slot, key, dim->attrs[i].name,
				   attr_text(state, slot, layout->attrs, i),
				   has_other ? attr_text(state, slot, layout->other_attrs, i) : NULL);
	}
	if (dim->is_deleted != NULL && deleted != other_deleted)
	{
		any = true;
		put_change(state, slot, key, dim->is_deleted, deleted ? "true" : "false",
				   !has_other ? NULL : other_deleted ? "true" : "false");
	}
	if (!any)
		put_change(state, slot, key, NULL, NULL, NULL);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

/*
 * The first value of the period's type that is not before "t": a day begins at its
 * midnight.
 */
static Datum
period_from(const Scd2Dimension *dim, TimestampTz t)
{
	Datum		value = scd2_to_period(dim, TimestampTzGetDatum(t), TIMESTAMPTZOID);

	if (dim->period_type == DATEOID && !TIMESTAMP_NOT_FINITE(t) &&
		DatumGetTimestampTz(scd2_to_timestamptz(dim, value, DATEOID)) < t)
		value = DateADTGetDatum(DatumGetDateADT(value) + 1);
	return value;
}

PG_FUNCTION_INFO_V1(scd2_changes);

/*
 * scd2.changes(dim anyelement, since timestamptz, until timestamptz): versions
 * opened and closed from the one valid time up to the other, a row for each column
 * in which the version differs from the one before it, or after it.  Where there is
 * none beside it, each tracked column; where no column differs, one row without.
 */
Datum
scd2_changes(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_row_argument(fcinfo);
	Scd2Ask		ask;
	PairState  *state;
	Oid			types[2];
	Datum		values[2];

	InitMaterializedSRF(fcinfo, 0);
	scd2_ask_begin(&ask, relid, NULL);
	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		state = begin_pairs(ask.dim, rsinfo, change_receive);
		types[0] = types[1] = ask.dim->period_type;
		values[0] = period_from(ask.dim, PG_GETARG_TIMESTAMPTZ(1));
		values[1] = period_from(ask.dim, PG_GETARG_TIMESTAMPTZ(2));
		scd2_spi_stream("changes", scd2_ask_changes_sql(ask.dim), 2, types, values,
						NULL, true, (DestReceiver *) state);
	}
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}

/* ----------------------------------------------------------------
 * scd2.stats
 * ----------------------------------------------------------------
 */

static void
put_stat(PairState *state, const char *section, const char *name, Datum value,
		 bool isnull, const char *hint)
{
	Datum		values[4] = {CStringGetTextDatum(section), CStringGetTextDatum(name), value};
	bool		nulls[4] = {false, false, isnull, hint == NULL};

	if (hint != NULL)
		values[3] = CStringGetTextDatum(hint);
	tuplestore_putvalues(state->store, state->desc, values, nulls);
}

static bool
cause_receive(TupleTableSlot *slot, DestReceiver *self)
{
	PairState  *state = (PairState *) self;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	int			ndiffering = 0;
	int			last = 0;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	for (int i = 0; i < state->dim->nattrs; i++)
	{
		if (!differs(state, i, slot))
			continue;
		state->differing[i]++;
		ndiffering++;
		last = i;
	}
	if (ndiffering == 1)
		state->sole[last]++;
	state->npairs++;
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

static void
put_counts(PairState *state)
{
	static const char *const names[] = {"keys", "versions", "average", "median",
	"99th percentile", "most"};

	(void) scd2_spi_read("counts", scd2_ask_counts_sql(state->dim), 0, NULL, NULL, NULL);
	for (int i = 0; i < lengthof(names); i++)
	{
		bool		isnull;
		Datum		value = scd2_spi_value(0, i + 1, &isnull);

		put_stat(state, "versions_per_key", names[i], value, isnull, NULL);
	}
}

static void
put_growth(PairState *state)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(state->dim->relid)};
	uint64		n;

	n = scd2_spi_read("growth",
					  "SELECT r.id::text, r.versions_opened::numeric FROM scd2.runs AS r"
					  " WHERE r.dimension::oid OPERATOR(pg_catalog.=) $1 AND r.undone_by IS NULL"
					  " ORDER BY r.id",
					  1, types, values, NULL);
	for (uint64 row = 0; row < n; row++)
	{
		bool		isnull;
		Datum		value = scd2_spi_value(row, 2, &isnull);

		put_stat(state, "growth_per_run", scd2_spi_text(row, 1, CurrentMemoryContext),
				 value, isnull, NULL);
	}
}

static void
put_causes(PairState *state)
{
	const Scd2Dimension *dim = state->dim;
	int			nversioned = scd2_count_type(dim, 2) + scd2_count_type(dim, 6);

	scd2_spi_stream("causes", scd2_ask_pairs_sql(dim), 0, NULL, NULL, NULL, true,
					(DestReceiver *) state);
	for (int i = 0; i < dim->nattrs; i++)
	{
		char	   *hint = NULL;

		if (dim->attrs[i].scd_type != 2 && dim->attrs[i].scd_type != 6)
			continue;
		if (nversioned > 1 && state->npairs >= ENOUGH &&
			state->sole[i] >= NEARLY_ALL * state->npairs)
			hint = psprintf("It alone causes " INT64_FORMAT " of " INT64_FORMAT
							" versions that follow another one. If its history is of no use, make it type 1.",
							state->sole[i], state->npairs);
		put_stat(state, "column_causes", dim->attrs[i].name,
				 NumericGetDatum(int64_to_numeric(state->differing[i])), false, hint);
	}
}

PG_FUNCTION_INFO_V1(scd2_stats);

/*
 * scd2.stats(dimension): versions a key, versions opened by each run that was not
 * undone, and in how many versions each column differs from the one before.
 */
Datum
scd2_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_registry_argument(fcinfo);
	Scd2Ask		ask;
	PairState  *state;

	InitMaterializedSRF(fcinfo, 0);
	scd2_ask_begin(&ask, relid, NULL);
	state = begin_pairs(ask.dim, rsinfo, cause_receive);
	put_counts(state);
	put_growth(state);
	put_causes(state);
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}
