/*-------------------------------------------------------------------------
 *
 * stage.c
 *	  Reading the source, once, and setting aside what did not change.
 *
 * Each source row is converted to the dimension's types, checked (R19), and put
 * into the store "scd2_staged".  In mode snapshot most rows equal their key's
 * current version: these are found by fingerprint in a key set and only counted.
 * The entries of the set that no row hit are the keys that the snapshot lacks.
 *
 * In the other modes the set holds the batch's keys.  If they are many, one scan
 * of the dimension finds the current versions of them all; if they are few, or
 * too many for the memory allowed, the resolve statement finds them by index or
 * by a join that spills.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "stage.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "badrow.h"
#include "convert.h"
#include "keyset.h"
#include "plan.h"
#include "progress.h"
#include "spi.h"

typedef struct StageState
{
	DestReceiver pub;
	Scd2Batch  *batch;

	/* converters, NULL where none is needed; built from the first row's types */
	bool		ready;
	Scd2Converter **key_converters;
	Scd2Converter **attr_converters;
	Scd2Converter **seq_converters;
	Oid			effective_type;

	/* the row at hand */
	Datum	   *values;			/* layout.ncols, plus the spool's three */
	bool	   *isnull;
	bool		converting;		/* an error now is this row's fault */
	const char *column;			/* being converted */
	int64		ord;

	/* fingerprint: one hasher a chunk, and one over the chunks */
	int			nfingerprint;
	Scd2RowHasher **chunk_hashers;
	Scd2RowHasher *whole_hasher;
	Datum	   *fp_values;
	bool	   *fp_isnull;

	/* the dimension's keys (snapshot) or the batch's (other modes), or NULL */
	Scd2KeySet *keyset;
	Scd2RowHasher *key_hasher;
	Scd2RowHasher *row_hasher;
	uint64		seed;
	int			ncompared;
	int		   *compared;		/* indexes of the attributes that are compared */
	Datum	   *cmp_values;
	bool	   *cmp_isnull;
	int			npartitions;
	Scd2Store  *spools;			/* one a partition, if several */
} StageState;

/* ----------------------------------------------------------------
 * The dimension's current versions
 * ----------------------------------------------------------------
 */

static uint64
hash_compared(StageState *state, const Datum *attrs, const bool *isnull)
{
	for (int i = 0; i < state->ncompared; i++)
	{
		state->cmp_values[i] = attrs[state->compared[i]];
		state->cmp_isnull[i] = isnull[state->compared[i]];
	}
	return scd2_row_hash128(state->row_hasher, state->cmp_values,
							state->cmp_isnull, state->seed).low;
}

/*
 * Which attributes tell a version from a source row?  Type 0 shows the first
 * value, not the last: only the log knows whether that changed, and without one
 * it cannot matter.
 */
static void
prepare_compare(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	Oid		   *types = palloc(Max(dim->nattrs, dim->nkeys) * sizeof(Oid));

	state->compared = palloc(dim->nattrs * sizeof(int));
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 0 && !OidIsValid(dim->log))
			continue;
		types[state->ncompared] = dim->attrs[i].typid;
		state->compared[state->ncompared++] = i;
	}
	state->row_hasher = scd2_row_hasher(state->ncompared, types, batch->cxt);
	state->cmp_values = palloc(dim->nattrs * sizeof(Datum));
	state->cmp_isnull = palloc(dim->nattrs * sizeof(bool));

	for (int i = 0; i < dim->nkeys; i++)
		types[i] = dim->keys[i].typid;
	state->key_hasher = scd2_row_hasher(dim->nkeys, types, batch->cxt);
	state->seed = pg_prng_uint64(&pg_global_prng_state);
}

typedef void (*VersionCallback) (StageState *state, TupleTableSlot *slot,
								 Scd2Hash128 key);

/*
 * How large is the dimension?
 */
static void
estimate_dimension(const Scd2Dimension *dim, BlockNumber *pages, double *tuples)
{
	Relation	rel = table_open(dim->relid, NoLock);
	double		allvisfrac;

	table_relation_estimate_size(rel, NULL, pages, tuples, &allvisfrac);
	table_close(rel, NoLock);
}

/*
 * Call "callback" for each current version but the unknown member.  The slot
 * holds all columns up to "last_attnum" at least.
 */
static void
scan_versions(StageState *state, int last_attnum, VersionCallback callback)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	Relation	rel = table_open(dim->relid, NoLock);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan;
	Datum	   *keys = palloc(dim->nkeys * sizeof(Datum));
	bool	   *keys_isnull = palloc(dim->nkeys * sizeof(bool));
	MemoryContext oldcxt;

	last_attnum = Max(last_attnum, dim->is_current_attnum);
	for (int i = 0; i < dim->nkeys; i++)
		last_attnum = Max(last_attnum, dim->keys[i].attnum);

	/* the scan keeps what it needs in the context it begins in: not the row's */
	scan = table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
	oldcxt = MemoryContextSwitchTo(batch->row_cxt);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getsomeattrs(slot, last_attnum);
		if (slot->tts_isnull[dim->is_current_attnum - 1] ||
			!DatumGetBool(slot->tts_values[dim->is_current_attnum - 1]))
			continue;
		for (int i = 0; i < dim->nkeys; i++)
		{
			keys[i] = slot->tts_values[dim->keys[i].attnum - 1];
			keys_isnull[i] = slot->tts_isnull[dim->keys[i].attnum - 1];
		}
		if (keys_isnull[0])
			continue;
		callback(state, slot, scd2_row_hash128(state->key_hasher, keys,
											   keys_isnull, state->seed));
		scd2_progress_done_add(1);
		MemoryContextReset(batch->row_cxt);
	}
	table_endscan(scan);
	MemoryContextSwitchTo(oldcxt);

	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
}

/*
 * Snapshot: take a current version into the key set.
 */
static void
add_version(StageState *state, TupleTableSlot *slot, Scd2Hash128 key)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	Scd2KeyEntry entry = {0};

	for (int i = 0; i < state->ncompared; i++)
	{
		int			attnum = dim->attrs[state->compared[i]].attnum;

		state->cmp_values[i] = slot->tts_values[attnum - 1];
		state->cmp_isnull[i] = slot->tts_isnull[attnum - 1];
	}
	entry.key = key;
	entry.row = scd2_row_hash128(state->row_hasher, state->cmp_values,
								 state->cmp_isnull, state->seed).low;
	entry.tid = slot->tts_tid;
	if (dim->is_deleted_attnum != 0 &&
		DatumGetBool(slot->tts_values[dim->is_deleted_attnum - 1]))
		entry.flags |= SCD2_KEY_FLAGGED;
	else
		batch->open_keys++;
	scd2_keyset_add(state->keyset, &entry);
}

static void
build_keyset(StageState *state)
{
	Scd2Dimension *dim = state->batch->dim;
	BlockNumber pages;
	double		tuples;
	int			last_attnum = dim->is_deleted_attnum;

	for (int i = 0; i < state->ncompared; i++)
		last_attnum = Max(last_attnum, dim->attrs[state->compared[i]].attnum);

	estimate_dimension(dim, &pages, &tuples);
	state->keyset = scd2_keyset_create(get_hash_memory_limit(), tuples,
									   state->batch->cxt);
	scd2_progress_phase(SCD2_PHASE_VERSIONS, (int64) tuples);
	scan_versions(state, last_attnum, add_version);
	state->npartitions = scd2_keyset_finish(state->keyset);
}

/*
 * Other modes: note where a key of the batch has its current version.
 */
static void
locate_version(StageState *state, TupleTableSlot *slot, Scd2Hash128 key)
{
	Scd2KeyEntry *entry = scd2_keyset_lookup(state->keyset, key);

	if (entry != NULL)
		entry->tid = slot->tts_tid;
}

/* ----------------------------------------------------------------
 * Staging
 * ----------------------------------------------------------------
 */

static TupleDesc
staged_desc(const Scd2Dimension *dim, const Scd2StagedLayout *layout,
			int extra)
{
	TupleDesc	desc = CreateTemplateTupleDesc(layout->ncols + extra);

	scd2_desc_column(desc, layout->tid + 1, "tid", TIDOID, -1, InvalidOid);
	scd2_desc_column(desc, layout->ord + 1, "ord", INT8OID, -1, InvalidOid);
	scd2_desc_column(desc, layout->e + 1, "e", dim->period_type, -1, InvalidOid);
	if (layout->source_time >= 0)
		scd2_desc_column(desc, layout->source_time + 1, "source_time",
						 dim->effective_type, -1, InvalidOid);
	for (int i = 0; i < dim->nseq; i++)
		scd2_desc_column(desc, layout->seq + i + 1, psprintf("s%d", i + 1),
						 dim->seq[i].typid, dim->seq[i].typmod,
						 dim->seq[i].collation);
	scd2_desc_column(desc, layout->deleted + 1, "deleted", BOOLOID, -1, InvalidOid);
	scd2_desc_column(desc, layout->absent + 1, "absent", BOOLOID, -1, InvalidOid);
	scd2_desc_column(desc, layout->as_current + 1, "as_current", BOOLOID, -1,
					 InvalidOid);
	scd2_desc_column(desc, layout->fingerprint + 1, "fp", BYTEAOID, -1, InvalidOid);
	for (int i = 0; i < dim->nkeys; i++)
		scd2_desc_column(desc, layout->keys + i + 1, psprintf("k%d", i + 1),
						 dim->keys[i].typid, dim->keys[i].typmod,
						 dim->keys[i].collation);
	for (int i = 0; i < dim->nattrs; i++)
		scd2_desc_column(desc, layout->attrs + i + 1, psprintf("a%d", i + 1),
						 dim->attrs[i].typid, dim->attrs[i].typmod,
						 dim->attrs[i].collation);
	for (int i = 0; i < extra; i++)
		scd2_desc_column(desc, layout->ncols + i + 1, psprintf("h%d", i + 1),
						 INT8OID, -1, InvalidOid);
	return desc;
}

/*
 * What a row's fingerprint is made of has to match log_fingerprint and
 * version_columns in plan.c.
 */
static int
collect_fingerprint(StageState *state, Oid *types)
{
	Scd2Dimension *dim = state->batch->dim;
	const Scd2StagedLayout *layout = &state->batch->layout;
	bool		has_log = OidIsValid(dim->log);
	bool		deleted = DatumGetBool(state->values[layout->deleted]);
	int			n = 0;

#define ADD(col, typ) \
	do { \
		if (types != NULL) \
			types[n] = (typ); \
		else \
		{ \
			state->fp_values[n] = state->values[col]; \
			state->fp_isnull[n] = state->isnull[col]; \
		} \
		n++; \
	} while (0)

	if (has_log)
	{
		if (layout->source_time >= 0)
			ADD(layout->source_time, dim->effective_type);
		for (int i = 0; i < dim->nseq; i++)
			ADD(layout->seq + i, dim->seq[i].typid);
		ADD(layout->deleted, BOOLOID);
	}
	for (int i = 0; i < dim->nattrs; i++)
	{
		int			scd_type = dim->attrs[i].scd_type;

		if (has_log || scd_type == 2 || scd_type == 6)
		{
			ADD(layout->attrs + i, dim->attrs[i].typid);
			if (types == NULL && deleted)
				state->fp_isnull[n - 1] = true;
		}
	}
#undef ADD
	return n;
}

static void
prepare_fingerprint(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	int			most = dim->nattrs + dim->nseq + 2;
	Oid		   *types = palloc(most * sizeof(Oid));
	int			nchunks;

	state->fp_values = palloc(most * sizeof(Datum));
	state->fp_isnull = palloc(most * sizeof(bool));
	state->nfingerprint = collect_fingerprint(state, types);
	nchunks = (state->nfingerprint + SCD2_HASH_CHUNK - 1) / SCD2_HASH_CHUNK;
	state->chunk_hashers = palloc(nchunks * sizeof(Scd2RowHasher *));
	for (int i = 0; i < nchunks; i++)
		state->chunk_hashers[i] =
			scd2_row_hasher(Min(SCD2_HASH_CHUNK, state->nfingerprint - i * SCD2_HASH_CHUNK),
							types + i * SCD2_HASH_CHUNK, batch->cxt);
	if (nchunks > 1)
	{
		for (int i = 0; i < nchunks; i++)
			types[i] = BYTEAOID;
		state->whole_hasher = scd2_row_hasher(nchunks, types, batch->cxt);
	}
}

static void
set_fingerprint(StageState *state)
{
	const Scd2StagedLayout *layout = &state->batch->layout;
	Datum		hash = (Datum) 0;
	Datum		parts[MaxTupleAttributeNumber / SCD2_HASH_CHUNK + 1];
	bool		parts_isnull[MaxTupleAttributeNumber / SCD2_HASH_CHUNK + 1] = {0};
	int			nchunks;

	if (scd2_compares_state(state->batch->dim) || state->nfingerprint == 0)
		return;

	collect_fingerprint(state, NULL);
	nchunks = (state->nfingerprint + SCD2_HASH_CHUNK - 1) / SCD2_HASH_CHUNK;
	for (int i = 0; i < nchunks; i++)
		hash = parts[i] = scd2_row_hash_bytea(state->chunk_hashers[i],
											  state->fp_values + i * SCD2_HASH_CHUNK,
											  state->fp_isnull + i * SCD2_HASH_CHUNK);
	if (nchunks > 1)
		hash = scd2_row_hash_bytea(state->whole_hasher, parts, parts_isnull);
	state->values[layout->fingerprint] = hash;
	state->isnull[layout->fingerprint] = false;
}

/*
 * Put the hashes of the row at hand behind its columns, for stores that keep
 * them.
 */
static void
set_hashes(StageState *state, Scd2Hash128 key, uint64 row)
{
	int			n = state->batch->layout.ncols;

	state->values[n] = Int64GetDatum((int64) key.low);
	state->values[n + 1] = Int64GetDatum((int64) key.high);
	state->values[n + 2] = Int64GetDatum((int64) row);
	for (int i = 0; i < 3; i++)
		state->isnull[n + i] = false;
}

/*
 * Stage the row at hand.
 */
static void
stage_row(StageState *state)
{
	set_fingerprint(state);
	scd2_store_put(&state->batch->staged, state->values, state->isnull);
}

/*
 * A key comes again whose first row equalled its current version and was not
 * staged: now it has to be, for the two to be compared.
 */
static void
stage_equal_row(StageState *state, Scd2KeyEntry *entry)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	Datum	   *values = palloc0(layout->ncols * sizeof(Datum));
	bool	   *isnull = palloc(layout->ncols * sizeof(bool));

	memset(isnull, true, layout->ncols * sizeof(bool));
	values[layout->tid] = PointerGetDatum(&entry->tid);
	isnull[layout->tid] = false;
	values[layout->ord] = Int64GetDatum(0);
	isnull[layout->ord] = false;
	values[layout->e] = scd2_time_to_period(batch->dim, entry->time);
	isnull[layout->e] = false;
	values[layout->deleted] = BoolGetDatum(false);
	isnull[layout->deleted] = false;
	values[layout->absent] = BoolGetDatum(false);
	isnull[layout->absent] = false;
	values[layout->as_current] = BoolGetDatum(true);
	isnull[layout->as_current] = false;
	for (int i = 0; i < batch->dim->nkeys; i++)
	{
		values[layout->keys + i] = state->values[layout->keys + i];
		isnull[layout->keys + i] = false;
	}
	scd2_store_put(&batch->staged, values, isnull);
	entry->flags |= SCD2_KEY_STAGED;
	batch->counts.rows_unchanged--;
}

/*
 * Look the row at hand up among the current versions; stage it unless it equals
 * its own.
 */
static void
probe_row(StageState *state, Scd2Hash128 key, uint64 row)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	Scd2KeyEntry *entry = scd2_keyset_lookup(state->keyset, key);
	bool		deleted = DatumGetBool(state->values[layout->deleted]);
	Scd2Time	e = scd2_period_to_time(batch->dim, state->values[layout->e]);

	if (entry == NULL)
	{
		stage_row(state);
		return;
	}

	if (!deleted && entry->row == row && !(entry->flags & SCD2_KEY_FLAGGED) &&
		!(entry->flags & SCD2_KEY_STAGED) &&
		(!(entry->flags & SCD2_KEY_SEEN) || entry->time == e))
	{
		entry->flags |= SCD2_KEY_SEEN | SCD2_KEY_EQUAL;
		entry->time = e;
		batch->counts.rows_unchanged++;
		return;
	}

	if ((entry->flags & SCD2_KEY_EQUAL) && !(entry->flags & SCD2_KEY_STAGED))
		stage_equal_row(state, entry);
	entry->flags |= SCD2_KEY_SEEN | SCD2_KEY_STAGED;
	state->values[layout->tid] = PointerGetDatum(&entry->tid);
	state->isnull[layout->tid] = false;
	stage_row(state);
}

/*
 * Put the versions of the partition in memory that no source row hit among
 * the absent ones.
 */
static void
collect_absent(StageState *state)
{
	uint32		nentries;
	Scd2KeyEntry *entries = scd2_keyset_entries(state->keyset, &nentries);

	for (uint32 i = 0; i < nentries; i++)
	{
		if (!(entries[i].flags & (SCD2_KEY_SEEN | SCD2_KEY_FLAGGED)))
		{
			Datum		value = PointerGetDatum(&entries[i].tid);
			bool		isnull = false;

			scd2_store_put(&state->batch->absent, &value, &isnull);
		}
	}
}

/*
 * Probe the rows that were spooled for one partition after the other.
 */
static void
probe_spools(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(state->spools[0].desc,
													&TTSOpsMinimalTuple);

	for (int p = 0; p < state->npartitions; p++)
	{
		scd2_keyset_load(state->keyset, p);

		/* the slot owns a row that was on disk: not in the row's context */
		while (tuplestore_gettupleslot(state->spools[p].store, true, false, slot))
		{
			MemoryContext oldcxt = MemoryContextSwitchTo(batch->row_cxt);
			Scd2Hash128 key;

			CHECK_FOR_INTERRUPTS();
			slot_getallattrs(slot);
			memcpy(state->values, slot->tts_values,
				   layout->ncols * sizeof(Datum));
			memcpy(state->isnull, slot->tts_isnull,
				   layout->ncols * sizeof(bool));
			key.low = (uint64) DatumGetInt64(slot->tts_values[layout->ncols]);
			key.high = (uint64) DatumGetInt64(slot->tts_values[layout->ncols + 1]);
			probe_row(state, key,
					  (uint64) DatumGetInt64(slot->tts_values[layout->ncols + 2]));
			MemoryContextSwitchTo(oldcxt);
			MemoryContextReset(batch->row_cxt);
		}
		scd2_store_end(&state->spools[p]);
		collect_absent(state);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* ----------------------------------------------------------------
 * Reading the source
 * ----------------------------------------------------------------
 */

/*
 * The row at hand is bad; "reason" says why.
 */
static void
reject(StageState *state, int sqlstate, const char *reason)
{
	const Scd2StagedLayout *layout = &state->batch->layout;

	scd2_bad_row(state->batch, sqlstate, reason,
				 &state->values[layout->keys], &state->isnull[layout->keys],
				 &state->values[layout->attrs], &state->isnull[layout->attrs]);
}

static Scd2Converter **
make_converters(Scd2Batch *batch, TupleDesc source, int offset, int n,
				const Oid *types, const int32 *typmods, const Oid *collations)
{
	Scd2Converter **converters = palloc0(n * sizeof(Scd2Converter *));

	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(source, offset + i);

		converters[i] = scd2_converter(att->atttypid, att->atttypmod,
									   types[i], typmods[i], collations[i],
									   NameStr(att->attname), batch->cxt);
	}
	return converters;
}

static void
stage_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
	StageState *state = (StageState *) self;
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	int			most = Max(Max(dim->nkeys, dim->nattrs), dim->nseq) + 1;
	Oid		   *types = palloc(most * sizeof(Oid));
	int32	   *typmods = palloc(most * sizeof(int32));
	Oid		   *collations = palloc(most * sizeof(Oid));
	int			offset = 0;

#define MAKE(member, array, n) \
	for (int i = 0; i < (n); i++) \
	{ \
		types[i] = (array)[i].typid; \
		typmods[i] = (array)[i].typmod; \
		collations[i] = (array)[i].collation; \
	} \
	state->member = make_converters(batch, typeinfo, offset, (n), \
									types, typmods, collations); \
	offset += (n)

	MAKE(key_converters, dim->keys, dim->nkeys);
	MAKE(attr_converters, dim->attrs, dim->nattrs);
	if (dim->effective_at != NULL)
		state->effective_type = TupleDescAttr(typeinfo, offset++)->atttypid;
	MAKE(seq_converters, dim->seq, dim->nseq);
#undef MAKE

	MemoryContextSwitchTo(oldcxt);
}

/*
 * Convert one group of columns into values[into...]; false when "required" and
 * one is null.
 */
static bool
convert_columns(StageState *state, TupleTableSlot *slot, int from, int n,
				Scd2Converter **converters, int into, const char *required)
{
	bool		complete = true;

	for (int i = 0; i < n; i++)
	{
		Datum		value = slot->tts_values[from + i];
		bool		isnull = slot->tts_isnull[from + i];

		if (converters[i] != NULL)
		{
			state->column = NameStr(TupleDescAttr(slot->tts_tupleDescriptor,
												  from + i)->attname);
			state->converting = true;
			value = scd2_convert(converters[i], value, &isnull);
			state->converting = false;
		}
		state->values[into + i] = value;
		state->isnull[into + i] = isnull;
		if (isnull && required != NULL && complete)
		{
			complete = false;
			state->column = NameStr(TupleDescAttr(slot->tts_tupleDescriptor,
												  from + i)->attname);
		}
	}
	return complete;
}

/*
 * Set E, and the source's own time, from the column "col"; false if the row was
 * rejected.
 */
static bool
convert_time(StageState *state, TupleTableSlot *slot, int col)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	Datum		value = slot->tts_values[col];
	Datum		e;
	Scd2Time	t;

	if (slot->tts_isnull[col])
	{
		reject(state, ERRCODE_NOT_NULL_VIOLATION,
			   psprintf("column \"%s\" is null", dim->effective_at));
		return false;
	}
	if (!scd2_time_is_finite(value, state->effective_type))
	{
		reject(state, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
			   psprintf("column \"%s\" is not finite", dim->effective_at));
		return false;
	}

	state->column = dim->effective_at;
	state->converting = true;
	e = scd2_to_period(dim, value, state->effective_type);
	state->converting = false;

	t = scd2_period_to_time(dim, e);
	if (!scd2_time_is_finite(e, dim->period_type) ||
		(!dim->open_end_is_null && t >= scd2_period_to_time(dim, dim->open_end)))
	{
		reject(state, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
			   psprintf("column \"%s\" is at or past open_end", dim->effective_at));
		return false;
	}
	if (dim->has_initial &&
		t < scd2_period_to_time(dim, dim->initial_valid_from))
	{
		reject(state, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
			   psprintf("column \"%s\" is before initial_valid_from",
						dim->effective_at));
		return false;
	}

	state->values[layout->e] = e;
	state->isnull[layout->e] = false;
	if (layout->source_time >= 0)
	{
		state->values[layout->source_time] = value;
		state->isnull[layout->source_time] = false;
	}
	return true;
}

static void
spool_row(StageState *state, Scd2Hash128 key, uint64 row)
{
	int			p = scd2_keyset_partition(state->keyset, key);

	set_hashes(state, key, row);
	scd2_store_put(&state->spools[p], state->values, state->isnull);
}

static Scd2Hash128
hash_key(StageState *state)
{
	const Scd2StagedLayout *layout = &state->batch->layout;

	return scd2_row_hash128(state->key_hasher, &state->values[layout->keys],
							&state->isnull[layout->keys], state->seed);
}

/*
 * Modes other than snapshot: stage the row at hand, and note its key while the
 * set has room.
 */
static void
stage_keyed_row(StageState *state)
{
	Scd2Hash128 key = hash_key(state);

	set_hashes(state, key, 0);
	stage_row(state);

	if (state->keyset != NULL &&
		scd2_keyset_lookup(state->keyset, key) == NULL)
	{
		Scd2KeyEntry entry = {0};

		if (scd2_keyset_is_full(state->keyset))
		{
			scd2_keyset_free(state->keyset);
			state->keyset = NULL;
			return;
		}
		entry.key = key;
		ItemPointerSetInvalid(&entry.tid);
		scd2_keyset_add(state->keyset, &entry);
	}
}

static void
stage_source_row(StageState *state, TupleTableSlot *slot)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	int			attrs_from = dim->nkeys;
	int			time_from = attrs_from + dim->nattrs;
	int			seq_from = time_from + (dim->effective_at != NULL ? 1 : 0);
	int			deleted_from = seq_from + dim->nseq;
	bool		deleted = DatumGetBool(slot->tts_values[deleted_from]);
	bool		good;

	memset(state->isnull, true, layout->ncols * sizeof(bool));
	state->values[layout->ord] = Int64GetDatum(++state->ord);
	state->isnull[layout->ord] = false;
	state->values[layout->deleted] = BoolGetDatum(deleted);
	state->isnull[layout->deleted] = false;
	state->values[layout->absent] = BoolGetDatum(false);
	state->isnull[layout->absent] = false;
	state->values[layout->as_current] = BoolGetDatum(false);
	state->isnull[layout->as_current] = false;

	good = convert_columns(state, slot, 0, dim->nkeys, state->key_converters,
						   layout->keys, "key");
	if (!good)
	{
		reject(state, ERRCODE_NOT_NULL_VIOLATION,
			   psprintf("column \"%s\" is null", state->column));
		return;
	}

	/* a delete has no attributes (R5), whatever its row holds */
	if (!deleted)
		convert_columns(state, slot, attrs_from, dim->nattrs,
						state->attr_converters, layout->attrs, NULL);

	if (dim->effective_at == NULL)
	{
		state->values[layout->e] = batch->batch_e;
		state->isnull[layout->e] = false;
	}
	else if (!convert_time(state, slot, time_from))
		return;

	if (!convert_columns(state, slot, seq_from, dim->nseq,
						 state->seq_converters, layout->seq, "sequence"))
	{
		reject(state, ERRCODE_NOT_NULL_VIOLATION,
			   psprintf("column \"%s\" is null", state->column));
		return;
	}

	if (dim->mode != SCD2_MODE_SNAPSHOT)
		stage_keyed_row(state);
	else
	{
		Scd2Hash128 key = hash_key(state);
		uint64		row = deleted ? 0 :
			hash_compared(state, &state->values[layout->attrs],
						  &state->isnull[layout->attrs]);

		if (state->npartitions == 1)
			probe_row(state, key, row);
		else
			spool_row(state, key, row);
	}
}

static bool
stage_receive(TupleTableSlot *slot, DestReceiver *self)
{
	StageState *state = (StageState *) self;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->batch->row_cxt);

	CHECK_FOR_INTERRUPTS();
	state->batch->counts.rows_read++;
	slot_getallattrs(slot);
	stage_source_row(state, slot);
	scd2_progress_done_add(1);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->batch->row_cxt);
	return true;
}

static void
stage_shutdown(DestReceiver *self)
{
}

static void
stage_destroy(DestReceiver *self)
{
}

/*
 * An error while a value was converted: say which row it is in.
 */
static void
rethrow_conversion(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	ErrorData  *error;

	if (!state->converting)
		PG_RE_THROW();

	MemoryContextSwitchTo(batch->cxt);
	error = CopyErrorData();
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION &&
		ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)
		PG_RE_THROW();
	FlushErrorState();

	ereport(ERROR,
			(errcode(error->sqlerrcode),
			 errmsg("source \"%s\" has a row that dimension \"%s\" cannot take: %s",
					batch->source_label, batch->dim->label, error->message),
			 errdetail("Key %s: column \"%s\" does not convert.",
					   scd2_key_text(batch->dim,
									 &state->values[batch->layout.keys],
									 &state->isnull[batch->layout.keys]),
					   state->column),
			 errhint("Nothing was written. Correct the row in the source, or leave it out.")));
}

static void
read_source(StageState *state)
{
	Scd2Batch  *batch = state->batch;

	state->pub.receiveSlot = stage_receive;
	state->pub.rStartup = stage_startup;
	state->pub.rShutdown = stage_shutdown;
	state->pub.rDestroy = stage_destroy;
	state->pub.mydest = DestNone;

	scd2_progress_phase(SCD2_PHASE_SOURCE, 0);
	PG_TRY();
	{
		scd2_spi_stream("read", scd2_plan_read(batch->dim, batch->source),
						0, NULL, NULL, NULL, true, (DestReceiver *) state);
	}
	PG_CATCH();
	{
		rethrow_conversion(state);
	}
	PG_END_TRY();
}

/* ----------------------------------------------------------------
 * Where the batch's keys have their current versions
 * ----------------------------------------------------------------
 */

/*
 * Give each staged row the tid of its key's current version.
 */
static void
set_tids(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	Scd2Store	found;
	TupleTableSlot *slot = MakeSingleTupleTableSlot(batch->staged.desc,
													&TTSOpsMinimalTuple);

	scd2_store_begin(batch, &found, batch->staged.name,
					 staged_desc(batch->dim, layout, 0));
	while (tuplestore_gettupleslot(batch->staged.store, true, false, slot))
	{
		Scd2Hash128 key;
		Scd2KeyEntry *entry;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		key.low = (uint64) DatumGetInt64(slot->tts_values[layout->ncols]);
		key.high = (uint64) DatumGetInt64(slot->tts_values[layout->ncols + 1]);
		entry = scd2_keyset_lookup(state->keyset, key);
		if (ItemPointerIsValid(&entry->tid))
		{
			slot->tts_values[layout->tid] = PointerGetDatum(&entry->tid);
			slot->tts_isnull[layout->tid] = false;
		}
		scd2_store_put(&found, slot->tts_values, slot->tts_isnull);
	}
	ExecDropSingleTupleTableSlot(slot);
	scd2_store_end(&batch->staged);
	batch->staged = found;
}

/*
 * One scan of the dimension costs less than a probe of its index for each key
 * when there are more keys than half its pages: a probe touches an index leaf
 * and the version's page, and both in no order.
 */
static void
locate_versions(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	BlockNumber pages;
	double		tuples;
	uint32		nentries;

	if (state->keyset == NULL || !batch->has_versions)
		return;
	(void) scd2_keyset_entries(state->keyset, &nentries);
	estimate_dimension(batch->dim, &pages, &tuples);
	if (nentries < pages / 2)
		return;

	scd2_progress_phase(SCD2_PHASE_VERSIONS, (int64) tuples);
	scan_versions(state, 0, locate_version);
	set_tids(state);
	batch->staged_by_tid = true;
}

/* ----------------------------------------------------------------
 * Keys that a snapshot lacks
 * ----------------------------------------------------------------
 */

/* Stages what the "absent" statement returns: ctid, K. */
static bool
absent_receive(TupleTableSlot *slot, DestReceiver *self)
{
	StageState *state = (StageState *) self;
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->row_cxt);

	slot_getallattrs(slot);
	memset(state->isnull, true, layout->ncols * sizeof(bool));
	state->values[layout->tid] = slot->tts_values[0];
	state->values[layout->ord] = Int64GetDatum(++state->ord);
	state->values[layout->e] = batch->batch_e;
	state->values[layout->deleted] = BoolGetDatum(true);
	state->values[layout->absent] = BoolGetDatum(true);
	state->values[layout->as_current] = BoolGetDatum(false);
	state->isnull[layout->tid] = false;
	state->isnull[layout->ord] = false;
	state->isnull[layout->e] = false;
	state->isnull[layout->deleted] = false;
	state->isnull[layout->absent] = false;
	state->isnull[layout->as_current] = false;
	for (int i = 0; i < batch->dim->nkeys; i++)
	{
		state->values[layout->keys + i] = slot->tts_values[1 + i];
		state->isnull[layout->keys + i] = false;
	}
	scd2_store_put(&batch->staged, state->values, state->isnull);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(batch->row_cxt);
	return true;
}

static void
absent_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
}

static void
stage_absent(StageState *state)
{
	Scd2Batch  *batch = state->batch;

	if (batch->absent.ntuples > 0)
	{
		state->pub.receiveSlot = absent_receive;
		state->pub.rStartup = absent_startup;
		scd2_spi_register("scd2_absent", batch->absent.desc,
						  batch->absent.store, (double) batch->absent.ntuples);
		scd2_spi_tid_join(true);
		scd2_spi_stream("absent", scd2_plan_absent(batch->dim, batch->scope_sql),
						0, NULL, NULL, NULL, true, (DestReceiver *) state);
		scd2_spi_tid_join(false);
		scd2_spi_unregister("scd2_absent");
	}
	scd2_store_end(&batch->absent);

	/* with a scope, the guards count the open keys in it */
	if (batch->scope_sql != NULL)
	{
		bool		isnull;

		scd2_spi_read("open keys",
					  scd2_plan_open_keys(batch->dim, batch->scope_sql),
					  0, NULL, NULL, NULL);
		batch->open_keys = DatumGetInt64(scd2_spi_value(0, 1, &isnull));
	}
}

/*
 * One tuplestore a partition for the source's rows; together they take one
 * work_mem.
 */
static void
begin_spools(StageState *state)
{
	int			kbytes = Max(64, work_mem / state->npartitions);
	TupleDesc	desc = staged_desc(state->batch->dim, &state->batch->layout, 3);

	state->spools = palloc0(state->npartitions * sizeof(Scd2Store));
	for (int i = 0; i < state->npartitions; i++)
	{
		state->spools[i].desc = desc;
		state->spools[i].store = tuplestore_begin_heap(false, false, kbytes);
	}
}

static void
stage_snapshot(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	TupleDesc	desc = CreateTemplateTupleDesc(1);

	scd2_desc_column(desc, 1, "scd2_tid", TIDOID, -1, InvalidOid);
	scd2_store_begin(batch, &batch->absent, "scd2_absent", desc);
	scd2_store_begin(batch, &batch->staged, "scd2_staged",
					 staged_desc(batch->dim, &batch->layout, 0));
	batch->staged_by_tid = true;

	build_keyset(state);
	if (state->npartitions > 1)
		begin_spools(state);
	read_source(state);
	if (state->npartitions > 1)
		probe_spools(state);
	else
		collect_absent(state);
	scd2_keyset_free(state->keyset);
	stage_absent(state);
}

static void
stage_changes(StageState *state)
{
	Scd2Batch  *batch = state->batch;

	scd2_store_begin(batch, &batch->staged, "scd2_staged",
					 staged_desc(batch->dim, &batch->layout, 3));
	if (batch->has_versions)
		state->keyset = scd2_keyset_create(get_hash_memory_limit(), 0,
										   batch->cxt);
	read_source(state);
	locate_versions(state);
	if (state->keyset != NULL)
		scd2_keyset_free(state->keyset);
}

/*
 * Read the source into batch->staged; see stage.h.
 */
void
scd2_stage(Scd2Batch *batch)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	StageState *state = palloc0(sizeof(StageState));
	const Scd2StagedLayout *layout = &batch->layout;

	state->batch = batch;
	state->values = palloc0((layout->ncols + 3) * sizeof(Datum));
	state->isnull = palloc0((layout->ncols + 3) * sizeof(bool));
	prepare_fingerprint(state);
	prepare_compare(state);

	batch->has_versions =
		scd2_spi_read("has versions", scd2_plan_has_versions(batch->dim),
					  0, NULL, NULL, NULL) > 0;
	if (batch->dim->mode == SCD2_MODE_SNAPSHOT)
		stage_snapshot(state);
	else
		stage_changes(state);

	MemoryContextSwitchTo(oldcxt);
}
