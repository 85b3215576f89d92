/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Looking a dimension over for what scd2 never writes (R32).
 *
 * Three statements, all under the caller's snapshot: one reads the chains in
 * the order of (K, valid_from), narrow because it sorts; one reads what is
 * hashed, wide and unsorted; one reads the rows with a null key, of which the
 * unknown member alone may exist.  A fourth looks the gaps between versions up
 * in the log.  They run with the caller's rights, write nothing and need no
 * transaction id (R28).
 *
 * What it does not find, because only the log can tell: columns of type 0, 1,
 * 3 and 6 that are not what the changes say.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "batch.h"
#include "check_fact.h"
#include "check_log.h"
#include "check_plan.h"
#include "history.h"
#include "period.h"
#include "preview.h"
#include "spi.h"
#include "versionrow.h"
#include "sqltext.h"

/* scd2.assert_valid names this many */
#define NAMED_VIOLATIONS	5

/* Later than every time, dates included: the end of what does not end. */
#define NO_END		PG_INT64_MAX

/* A version, as far as its neighbours matter to it. */
typedef struct Version
{
	Scd2Time	from;
	Scd2Time	to;
	int64		sk;
	pg_uuid_t	sk_uuid;
} Version;

typedef struct CheckState
{
	DestReceiver pub;
	Scd2Dimension *dim;
	Tuplestorestate *store;		/* violations */
	TupleDesc	desc;
	TupleDesc	key_desc;
	MemoryContext row_cxt;		/* reset for each row */

	/* the chain at hand */
	Scd2CanonType **key_canon;
	MemoryContext key_cxt;
	int16	   *key_typlen;
	bool	   *key_typbyval;
	bool		has_key;		/* is there a chain at hand? */
	Datum	   *keys;
	bool		has_last;
	bool		has_current;
	Version		current;		/* the newest that is_current */
	Version		last;			/* the one that ends last */

	/* gaps, for the log to explain */
	bool		gaps_matter;
	Tuplestorestate *gaps;
	TupleDesc	gaps_desc;
	int64		ngaps;

	/* what is hashed */
	Scd2KeyHasher *key_hasher;
	Scd2RowHasher *row_hasher;

	int			nunknown;		/* that are right but for their end */
	bool		has_unknown;	/* is there one, right or wrong? */
} CheckState;

/* ----------------------------------------------------------------
 * Reporting
 * ----------------------------------------------------------------
 */

/* A row of scd2.check. */
static TupleDesc
violation_desc(void)
{
	TupleDesc	desc = CreateTemplateTupleDesc(5);

	scd2_desc_column(desc, 1, "violation", TEXTOID, -1, DEFAULT_COLLATION_OID);
	scd2_desc_column(desc, 2, "key", JSONBOID, -1, InvalidOid);
	scd2_desc_column(desc, 3, "surrogate_key", TEXTOID, -1, DEFAULT_COLLATION_OID);
	scd2_desc_column(desc, 4, "valid_from", TEXTOID, -1, DEFAULT_COLLATION_OID);
	scd2_desc_column(desc, 5, "detail", TEXTOID, -1, DEFAULT_COLLATION_OID);
	return desc;
}

static char *
period_text(const CheckState *state, Datum value)
{
	return scd2_value_text(value, state->dim->period_type);
}

static char *
time_text(const CheckState *state, Scd2Time t)
{
	if (t == NO_END)
		return state->dim->open_end_is_null ? "null" :
			period_text(state, state->dim->open_end);
	return period_text(state, scd2_time_to_period(state->dim, t));
}

static char *
surrogate_key_text(const CheckState *state, Datum value)
{
	return OidOutputFunctionCall(state->dim->sk_is_uuid ? F_UUID_OUT : F_INT8OUT,
								 value);
}

static Datum
version_sk(const CheckState *state, const Version *version)
{
	return state->dim->sk_is_uuid ? UUIDPGetDatum(&version->sk_uuid) :
		Int64GetDatum(version->sk);
}

/*
 * Report a version; "sk" and "from" may be null.
 */
static void
report(CheckState *state, const char *violation,
	   const Datum *keys, const bool *keys_isnull,
	   const Datum *sk, const Datum *from, const char *detail)
{
	Datum		values[5];
	bool		isnull[5] = {0};

	values[0] = CStringGetTextDatum(violation);
	values[1] = scd2_columns_jsonb(state->key_desc, keys, keys_isnull);
	isnull[2] = sk == NULL;
	if (sk != NULL)
		values[2] = CStringGetTextDatum(surrogate_key_text(state, *sk));
	isnull[3] = from == NULL;
	if (from != NULL)
		values[3] = CStringGetTextDatum(period_text(state, *from));
	values[4] = CStringGetTextDatum(detail);
	tuplestore_putvalues(state->store, state->desc, values, isnull);
}

/*
 * Report a version of the chain at hand.
 */
static void
report_version(CheckState *state, const char *violation,
			   const Version *version, const char *detail)
{
	Datum		sk = version_sk(state, version);
	Datum		from = scd2_time_to_period(state->dim, version->from);
	bool	   *no_nulls = palloc0(state->dim->nkeys * sizeof(bool));

	report(state, violation, state->keys, no_nulls, &sk, &from, detail);
}

/* ----------------------------------------------------------------
 * Chains
 * ----------------------------------------------------------------
 */

/*
 * The chain at hand has nothing from state->last's end to "ends" (NO_END: for
 * good).  Whether that is legal, the log knows.
 */
static void
note_gap(CheckState *state, Scd2Time ends)
{
	Scd2Dimension *dim = state->dim;
	int			n = 0;
	Datum	   *values;
	bool	   *isnull;

	if (!state->gaps_matter)
		return;

	values = palloc((dim->nkeys + 4) * sizeof(Datum));
	isnull = palloc0((dim->nkeys + 4) * sizeof(bool));
	for (; n < dim->nkeys; n++)
		values[n] = state->keys[n];
	values[n++] = scd2_time_to_period(dim, state->last.to);
	values[n++] = version_sk(state, &state->last);
	values[n++] = scd2_time_to_period(dim, state->last.from);
	isnull[n] = ends == NO_END;
	if (ends != NO_END)
		values[n] = scd2_time_to_period(dim, ends);
	tuplestore_putvalues(state->gaps, state->gaps_desc, values, isnull);
	state->ngaps++;
}

static void
finish_chain(CheckState *state)
{
	if (state->has_last && state->last.to != NO_END)
		note_gap(state, NO_END);
	state->has_key = false;
	state->has_last = false;
	state->has_current = false;
}

static void
start_chain(CheckState *state, const Datum *keys)
{
	Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt;

	MemoryContextReset(state->key_cxt);
	oldcxt = MemoryContextSwitchTo(state->key_cxt);
	for (int i = 0; i < dim->nkeys; i++)
		state->keys[i] = datumCopy(keys[i], state->key_typbyval[i],
								   state->key_typlen[i]);
	MemoryContextSwitchTo(oldcxt);
	state->has_key = true;
}

static bool
is_same_key(const CheckState *state, const Datum *keys)
{
	if (!state->has_key)
		return false;
	for (int i = 0; i < state->dim->nkeys; i++)
		if (!scd2_canon_same(state->key_canon[i], state->keys[i], false,
							 keys[i], false))
			return false;
	return true;
}

/*
 * The end of a version, NO_END where it is open.  "valid" is cleared if valid_to
 * is neither open_end nor a time before it.
 */
static Scd2Time
version_end(const Scd2Dimension *dim, Datum valid_to, bool isnull, bool *valid)
{
	if (isnull)
	{
		*valid = dim->open_end_is_null;
		return NO_END;
	}
	if (!dim->open_end_is_null)
	{
		int			cmp = scd2_period_cmp(valid_to, dim->open_end, dim->period_type);

		*valid = cmp <= 0;
		if (cmp >= 0)
			return NO_END;
	}
	else if (!scd2_period_is_finite(valid_to, dim->period_type) &&
			 scd2_period_to_time(dim, valid_to) > 0)
	{
		*valid = false;
		return NO_END;
	}
	return scd2_period_to_time(dim, valid_to);
}

/*
 * Does is_current say what valid_to says?  NULL if it does.
 */
static char *
wrong_current(const CheckState *state, Datum valid_to, bool valid_to_isnull,
			  bool is_current, bool is_current_isnull)
{
	const Scd2Dimension *dim = state->dim;
	bool		valid = true;
	Scd2Time	to = version_end(dim, valid_to, valid_to_isnull, &valid);

	if (valid && !is_current_isnull && is_current == (to == NO_END))
		return NULL;
	return psprintf("%s is %s, but %s is %s; that of open versions is %s.",
					dim->is_current,
					is_current_isnull ? "null" : is_current ? "true" : "false",
					dim->valid_to,
					valid_to_isnull ? "null" : period_text(state, valid_to),
					time_text(state, NO_END));
}

/*
 * Does a version lie in the other table than its is_current says?  NULL if not.
 */
static char *
wrong_table(const CheckState *state, bool is_current, bool in_history)
{
	const Scd2Dimension *dim = state->dim;

	if (dim->history == NULL || is_current != in_history)
		return NULL;
	return psprintf("It lies in %s, and %s is %s.",
					in_history ? dim->history->sql_name : dim->sql_name,
					dim->is_current, is_current ? "true" : "false");
}

/*
 * Compare a version with those of its key that begin before it.
 */
static void
check_version(CheckState *state, const Datum *keys, const Version *version,
			  bool is_current)
{
	bool		lasts = version->to > version->from;

	if (!is_same_key(state, keys))
	{
		finish_chain(state);
		start_chain(state, keys);
	}

	if (version->to == version->from)
		report_version(state, "empty", version,
					   psprintf("It ends at %s, where it begins.",
								time_text(state, version->to)));
	else if (!lasts)
		report_version(state, "inverted", version,
					   psprintf("It ends at %s, before it begins.",
								time_text(state, version->to)));

	if (is_current)
	{
		if (state->has_current)
			report_version(state, "several_current", &state->current,
						   psprintf("The version from %s is current, too.",
									time_text(state, version->from)));
		state->has_current = true;
		state->current = *version;
	}

	/* what lasts no time overlaps nothing and fills no gap */
	if (!lasts)
		return;
	if (state->has_last)
	{
		if (state->last.to > version->from)
			report_version(state, "overlap", version,
						   psprintf("The version from %s lasts until %s.",
									time_text(state, state->last.from),
									time_text(state, state->last.to)));
		else if (state->last.to < version->from)
			note_gap(state, version->from);
	}
	if (!state->has_last || version->to > state->last.to)
		state->last = *version;
	state->has_last = true;
}

/* Row: K, valid_from, SK, valid_to, is_current, in history? */
static bool
chain_receive(TupleTableSlot *slot, DestReceiver *self)
{
	CheckState *state = (CheckState *) self;
	Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	Datum	   *row;
	bool	   *isnull;
	Datum	   *sk;
	bool		valid;
	char	   *wrong;
	Version		version = {0};

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	row = slot->tts_values + dim->nkeys;
	isnull = slot->tts_isnull + dim->nkeys;
	sk = isnull[1] ? NULL : &row[1];

	wrong = wrong_current(state, row[2], isnull[2], DatumGetBool(row[3]), isnull[3]);
	if (wrong == NULL)
		wrong = wrong_table(state, DatumGetBool(row[3]), DatumGetBool(row[4]));
	if (wrong != NULL)
		report(state, "is_current", slot->tts_values, slot->tts_isnull, sk,
			   isnull[0] ? NULL : &row[0], wrong);

	if (isnull[0])
		report(state, "inverted", slot->tts_values, slot->tts_isnull, sk, NULL,
			   "It has no beginning.");
	else
	{
		version.from = scd2_period_to_time(dim, row[0]);
		version.to = version_end(dim, row[2], isnull[2], &valid);
		if (sk != NULL && dim->sk_is_uuid)
			version.sk_uuid = *DatumGetUUIDP(*sk);
		else if (sk != NULL)
			version.sk = DatumGetInt64(*sk);
		check_version(state, slot->tts_values, &version,
					  !isnull[3] && DatumGetBool(row[3]));
	}

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

/* Row: K, starts, SK, valid_from, ends. */
static bool
gaps_receive(TupleTableSlot *slot, DestReceiver *self)
{
	CheckState *state = (CheckState *) self;
	Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	Datum	   *row;
	bool	   *isnull;
	char	   *starts;
	char	   *ends;
	char	   *why;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	row = slot->tts_values + dim->nkeys;
	isnull = slot->tts_isnull + dim->nkeys;
	starts = period_text(state, row[0]);
	ends = isnull[3] ? "" : psprintf(" until %s", period_text(state, row[3]));
	if (dim->on_delete == SCD2_DELETE_FLAG)
		why = "deletes are flagged";
	else if (dim->on_delete == SCD2_DELETE_IGNORE)
		why = "deletes are ignored";
	else
		why = psprintf("the log has no delete at %s", starts);
	report(state, "gap", slot->tts_values, slot->tts_isnull, &row[1], &row[2],
		   psprintf("No version follows from %s%s, and %s.", starts, ends, why));

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

/* ----------------------------------------------------------------
 * Hashes, and the unknown member
 * ----------------------------------------------------------------
 */

static void
check_surrogate_key(CheckState *state, TupleTableSlot *slot, const Datum *sk,
					const Datum *from)
{
	Scd2Dimension *dim = state->dim;
	Datum		right;

	/* K and valid_from lie side by side */
	if (dim->sk_is_uuid)
	{
		right = UUIDPGetDatum(scd2_key_hash_uuid(state->key_hasher,
												 slot->tts_values,
												 slot->tts_isnull));
		if (sk != NULL && memcmp(DatumGetUUIDP(*sk), DatumGetUUIDP(right),
								 UUID_LEN) == 0)
			return;
	}
	else
	{
		int64		hash = scd2_key_hash64(state->key_hasher, slot->tts_values,
										   slot->tts_isnull);

		if (sk != NULL && DatumGetInt64(*sk) == hash)
			return;
		right = Int64GetDatum(hash);
	}
	report(state, "surrogate_key", slot->tts_values, slot->tts_isnull, sk, from,
		   psprintf("It should be %s.", surrogate_key_text(state, right)));
}

static char *
bytea_text(Datum value)
{
	return OidOutputFunctionCall(F_BYTEAOUT, value);
}

/* Row: K, valid_from, SK, row_hash, what it is the hash of. */
static bool
hashed_receive(TupleTableSlot *slot, DestReceiver *self)
{
	CheckState *state = (CheckState *) self;
	Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	Datum	   *row;
	bool	   *isnull;
	Datum	   *from;
	Datum	   *sk;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	row = slot->tts_values + dim->nkeys;
	isnull = slot->tts_isnull + dim->nkeys;
	from = isnull[0] ? NULL : &row[0];
	sk = isnull[1] ? NULL : &row[1];

	if (from != NULL)
		check_surrogate_key(state, slot, sk, from);

	if (dim->row_hash != NULL)
	{
		Datum		right = scd2_row_hash_bytea(state->row_hasher, row + 3,
												isnull + 3);

		if (isnull[2])
			report(state, "row_hash", slot->tts_values, slot->tts_isnull, sk,
				   from, psprintf("It is null, and should be %s.",
								  bytea_text(right)));
		else if (!datumIsEqual(right, PointerGetDatum(PG_DETOAST_DATUM(row[2])),
							   false, -1))
			report(state, "row_hash", slot->tts_values, slot->tts_isnull, sk,
				   from, psprintf("It is %s, and should be %s.",
								  bytea_text(row[2]), bytea_text(right)));
	}

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

/* Row: K, valid_from, SK, valid_to, is_current, is it blank?, in history? */
static bool
unknown_receive(TupleTableSlot *slot, DestReceiver *self)
{
	CheckState *state = (CheckState *) self;
	Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);
	pg_uuid_t	nil = {0};
	Datum	   *row;
	bool	   *isnull;
	Datum	   *from;
	Datum	   *sk;
	bool		is_unknown;
	char	   *wrong = NULL;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	row = slot->tts_values + dim->nkeys;
	isnull = slot->tts_isnull + dim->nkeys;
	from = isnull[0] ? NULL : &row[0];
	sk = isnull[1] ? NULL : &row[1];

	is_unknown = sk != NULL && (dim->sk_is_uuid ?
								memcmp(DatumGetUUIDP(*sk), &nil, UUID_LEN) == 0 :
								DatumGetInt64(*sk) == -1);
	state->has_unknown |= is_unknown;
	if (!is_unknown)
		wrong = psprintf("Its key is null, as only that of the unknown member may be, which has %s.",
						 dim->sk_is_uuid ? "the nil UUID" : "-1");
	else if (isnull[4] || !DatumGetBool(row[4]))
		wrong = "It is the unknown member's, whose other columns are null.";
	else if (from == NULL || scd2_period_is_finite(*from, dim->period_type) ||
			 scd2_period_to_time(dim, *from) > 0)
		wrong = "It is the unknown member's, which begins at -infinity.";
	if (wrong != NULL)
		report(state, "surrogate_key", slot->tts_values, slot->tts_isnull, sk,
			   from, wrong);
	else
	{
		wrong = wrong_current(state, row[2], isnull[2], DatumGetBool(row[3]),
							  isnull[3]);
		if (wrong == NULL && !DatumGetBool(row[3]))
			wrong = "It is the unknown member's, which has no end.";
		if (wrong == NULL)
			wrong = wrong_table(state, true, DatumGetBool(row[5]));
		if (wrong != NULL)
			report(state, "is_current", slot->tts_values, slot->tts_isnull, sk,
				   from, wrong);
		if (state->nunknown++ > 0)
			report(state, "several_current", slot->tts_values, slot->tts_isnull,
				   sk, from, "There is another unknown member.");
	}

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

/* ----------------------------------------------------------------
 * All of it
 * ----------------------------------------------------------------
 */

static void
run(CheckState *state, const char *step, const char *sql,
	bool (*receive) (TupleTableSlot *slot, DestReceiver *self))
{
	scd2_spi_receiver(&state->pub, NULL, receive);
	scd2_spi_stream(step, sql, 0, NULL, NULL, NULL, true, (DestReceiver *) state);
}

static void
prepare_chains(CheckState *state)
{
	Scd2Dimension *dim = state->dim;
	int			n = 1;

	state->key_cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 key",
										   ALLOCSET_SMALL_SIZES);
	state->keys = palloc(dim->nkeys * sizeof(Datum));
	state->key_canon = palloc(dim->nkeys * sizeof(Scd2CanonType *));
	state->key_typlen = palloc(dim->nkeys * sizeof(int16));
	state->key_typbyval = palloc(dim->nkeys * sizeof(bool));
	for (int i = 0; i < dim->nkeys; i++)
	{
		state->key_canon[i] = scd2_canon_type(dim->keys[i].typid,
											  CurrentMemoryContext);
		get_typlenbyval(dim->keys[i].typid, &state->key_typlen[i],
						&state->key_typbyval[i]);
	}

	/* without a log every gap is legal */
	state->gaps_matter = OidIsValid(dim->log);
	if (!state->gaps_matter)
		return;
	state->gaps_desc = CreateTemplateTupleDesc(dim->nkeys + 4);
	for (int i = 0; i < dim->nkeys; i++)
		scd2_desc_column(state->gaps_desc, n++, psprintf("k%d", i + 1),
						 dim->keys[i].typid, dim->keys[i].typmod,
						 dim->keys[i].collation);
	scd2_desc_column(state->gaps_desc, n++, "starts", dim->period_type, -1,
					 InvalidOid);
	scd2_desc_column(state->gaps_desc, n++, "sk",
					 dim->sk_is_uuid ? UUIDOID : INT8OID, -1, InvalidOid);
	scd2_desc_column(state->gaps_desc, n++, "valid_from", dim->period_type, -1,
					 InvalidOid);
	scd2_desc_column(state->gaps_desc, n++, "ends", dim->period_type, -1,
					 InvalidOid);
	state->gaps = tuplestore_begin_heap(true, false, work_mem);
}

static void
check_chains(CheckState *state)
{
	Scd2Dimension *dim = state->dim;
	MemoryContext oldcxt;

	prepare_chains(state);
	run(state, "chains", scd2_check_chain_sql(dim), chain_receive);
	oldcxt = MemoryContextSwitchTo(state->row_cxt);
	finish_chain(state);
	MemoryContextSwitchTo(oldcxt);

	if (!state->gaps_matter)
		return;

	/* even if there are none: rights are to depend on no data */
	scd2_spi_register("scd2_gaps", state->gaps_desc, state->gaps,
					  (double) state->ngaps);
	if (dim->on_delete == SCD2_DELETE_FLAG || dim->on_delete == SCD2_DELETE_IGNORE)
		run(state, "gaps", "SELECT g.* FROM scd2_gaps AS g", gaps_receive);
	else
		run(state, "gaps", scd2_check_gaps_sql(dim), gaps_receive);
	scd2_spi_unregister("scd2_gaps");
	tuplestore_end(state->gaps);
}

static void
check_hashes(CheckState *state)
{
	Scd2Dimension *dim = state->dim;
	Oid		   *types = palloc((dim->nkeys + dim->nattrs + 1) * sizeof(Oid));
	Oid		   *registered = palloc((dim->nkeys + 1) * sizeof(Oid));
	int			n = 0;

	for (int i = 0; i < dim->nkeys; i++)
	{
		types[i] = dim->keys[i].typid;
		registered[i] = dim->keys[i].registered_type;
	}
	types[dim->nkeys] = registered[dim->nkeys] = dim->period_type;
	state->key_hasher = scd2_key_hasher(dim->nkeys + 1, types, registered,
										CurrentMemoryContext);
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6)
			types[n++] = dim->attrs[i].typid;
	state->row_hasher = scd2_row_hasher(n, types, CurrentMemoryContext);

	run(state, "hashes", scd2_check_hashed_sql(dim), hashed_receive);
}

/*
 * Facts that match nothing need the unknown member.
 */
static void
check_unknown(CheckState *state)
{
	Scd2VersionRow *row;

	run(state, "unknown member", scd2_check_unknown_sql(state->dim), unknown_receive);
	if (state->has_unknown || !scd2_has_unknown_member(state->dim))
		return;
	row = scd2_version_row_create(state->dim, CurrentMemoryContext);
	scd2_version_row_fill_unknown(row);
	report(state, "surrogate_key", row->values + row->keys, row->isnull + row->keys,
		   &row->values[0], &row->values[row->valid_from],
		   "The unknown member is missing.");
}

static void
report_log(void *arg, const Datum *keys, const bool *keys_isnull,
		   const Datum *sk, const Datum *valid_from, const char *detail)
{
	report(arg, "log", keys, keys_isnull, sk, valid_from, detail);
}

static void
report_fact(void *arg, Datum key, const char *surrogate_key, const char *valid_from,
			const char *detail)
{
	CheckState *state = arg;
	Datum		values[5] = {CStringGetTextDatum("fact"), key};
	bool		isnull[5] = {false, false, surrogate_key == NULL, valid_from == NULL};

	if (surrogate_key != NULL)
		values[2] = CStringGetTextDatum(surrogate_key);
	if (valid_from != NULL)
		values[3] = CStringGetTextDatum(valid_from);
	values[4] = CStringGetTextDatum(detail);
	tuplestore_putvalues(state->store, state->desc, values, isnull);
}

/*
 * Put every violation of a dimension into "store".
 *
 * As the caller, but in a security-restricted operation and with row security
 * off: a check that sees a part of the rows could only deceive.
 */
static void
check(Oid relid, Tuplestorestate *store, TupleDesc desc)
{
	CheckState *state = palloc0(sizeof(CheckState));
	Scd2Rights	rights;
	Scd2Activity activity;

	scd2_spi_begin();

	/* SPI has a context of its own, which goes with it: work there */
	LockRelationOid(relid, AccessShareLock);
	state->dim = scd2_registry_load(relid, CurrentMemoryContext);
	scd2_check_ordinary_table(relid);
	if (state->dim->history != NULL)
		scd2_history_check(state->dim);
	state->store = store;
	state->desc = desc;
	state->key_desc = scd2_columns_desc(state->dim->keys, state->dim->nkeys);
	state->row_cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 row",
										   ALLOCSET_DEFAULT_SIZES);

	scd2_activity_push(&activity, "checking", state->dim->label);
	scd2_rights_enter(GetUserId(), &rights);
	check_chains(state);
	check_hashes(state);
	if (OidIsValid(state->dim->log))
		scd2_check_log(state->dim, report_log, state);
	check_unknown(state);
	scd2_check_facts(state->dim, state->row_cxt, report_fact, state);
	scd2_rights_leave(&rights);
	scd2_activity_pop(&activity);

	scd2_spi_end();
}

PG_FUNCTION_INFO_V1(scd2_check);

/*
 * scd2.check(dimension): a row for each violation.
 */
Datum
scd2_check(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_registry_argument(fcinfo);

	InitMaterializedSRF(fcinfo, 0);
	check(relid, rsinfo->setResult, rsinfo->setDesc);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(scd2_assert_valid);

/*
 * CALL scd2.assert_valid(dimension): raises if there is any.
 */
Datum
scd2_assert_valid(PG_FUNCTION_ARGS)
{
	Tuplestorestate *store;
	TupleTableSlot *slot;
	TupleDesc	desc = violation_desc();
	Oid			relid = scd2_registry_argument(fcinfo);
	StringInfoData detail;
	int64		count;

	store = tuplestore_begin_heap(false, false, work_mem);
	PushActiveSnapshot(GetTransactionSnapshot());
	check(relid, store, desc);
	PopActiveSnapshot();

	count = tuplestore_tuple_count(store);
	if (count == 0)
	{
		tuplestore_end(store);
		PG_RETURN_VOID();
	}

	initStringInfo(&detail);
	slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	for (int i = 0; i < NAMED_VIOLATIONS &&
		 tuplestore_gettupleslot(store, true, false, slot); i++)
	{
		slot_getallattrs(slot);
		appendStringInfo(&detail, "%s%s: key %s",
						 i > 0 ? "\n" : "",
						 TextDatumGetCString(slot->tts_values[0]),
						 JsonbToCString(NULL, &DatumGetJsonbP(slot->tts_values[1])->root, 0));
		if (!slot->tts_isnull[3])
			appendStringInfo(&detail, ", version from %s",
							 TextDatumGetCString(slot->tts_values[3]));
		appendStringInfo(&detail, ". %s",
						 TextDatumGetCString(slot->tts_values[4]));
	}
	if (count > NAMED_VIOLATIONS)
		appendStringInfo(&detail, "\n... and " INT64_FORMAT " more.",
						 count - NAMED_VIOLATIONS);
	ereport(ERROR,
			(errcode(ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION),
			 errmsg_plural("dimension \"%s\" has " INT64_FORMAT " violation",
						   "dimension \"%s\" has " INT64_FORMAT " violations",
						   (unsigned long) count,
						   scd2_relation_name(relid), count),
			 errdetail_internal("%s", detail.data),
			 errhint("scd2.check lists them all.")));
}
