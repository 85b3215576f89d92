/*-------------------------------------------------------------------------
 *
 * stage.c
 *	  Reading the source, once, and setting aside what did not change.
 *
 * Each source row, as read.c has converted it, is put into the store
 * "scd2_staged".  In mode snapshot most rows equal their key's
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
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "convert.h"
#include "fingerprint.h"
#include "keyset.h"
#include "plan.h"
#include "progress.h"
#include "read.h"
#include "scan.h"
#include "spi.h"

typedef struct StageState
{
	DestReceiver pub;
	Scd2Batch  *batch;

	/* the row at hand: layout.ncols, and room for three hashes */
	Datum	   *values;
	bool	   *isnull;
	int64		ord;			/* of the last row */

	Scd2Fingerprint *fingerprint;

	/* the dimension's keys (snapshot) or the batch's (other modes), or NULL */
	Scd2KeySet *keyset;
	Scd2RowHasher *key_hasher;
	Scd2RowHasher *row_hasher;
	uint64		seed;
	int			ncompared;
	int			last_attnum;	/* the last column that add_version looks at */
	bool		versions_tell;	/* does a row that equals its key's version
								 * equal its state? */
	int		   *compared;		/* indexes of the attributes that are compared */
	Datum	   *cmp_values;
	bool	   *cmp_isnull;
	int			nkept;			/* columns that keep_version keeps */
	AttrNumber *kept_attnums;
	Datum	   *kept_values;
	bool	   *kept_isnull;
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
 * value, not the last: only the log knows whether that changed, so with one a
 * row that equals its version may still be a change (R5).  Without one it
 * cannot matter.
 */
static void
prepare_compare(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	Oid		   *types = palloc(Max(dim->nattrs, dim->nkeys) * sizeof(Oid));

	state->versions_tell = !OidIsValid(dim->log) || scd2_count_type(dim, 0) == 0;
	state->compared = palloc(dim->nattrs * sizeof(int));
	for (int i = 0; i < dim->nattrs; i++)
	{
		/* what the column's first run says of it counts, null too (R8) */
		if (dim->attrs[i].since_run > 0 && dim->attrs[i].since_run == batch->run_id)
			state->versions_tell = false;
		if ((dim->attrs[i].scd_type == 0 && !OidIsValid(dim->log)) ||
			(batch->lacks != NULL && batch->lacks[i]))
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

static bool
all_null(const bool *isnull, int n)
{
	for (int i = 0; i < n; i++)
		if (!isnull[i])
			return false;
	return true;
}

/*
 * Snapshot: take a current version into the key set.
 */
static void
add_version(void *arg, TupleTableSlot *slot, const Datum *keys,
			const bool *keys_isnull)
{
	StageState *state = arg;
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	Scd2KeyEntry entry = {0};

	if (!scd2_version_is_current(dim, slot))
		return;
	slot_getsomeattrs(slot, state->last_attnum);
	for (int i = 0; i < state->ncompared; i++)
	{
		int			attnum = dim->attrs[state->compared[i]].attnum;

		state->cmp_values[i] = slot->tts_values[attnum - 1];
		state->cmp_isnull[i] = slot->tts_isnull[attnum - 1];
	}
	entry.key = scd2_row_hash128(state->key_hasher, keys, keys_isnull,
								 state->seed);
	entry.row = scd2_row_hash128(state->row_hasher, state->cmp_values,
								 state->cmp_isnull, state->seed).low;
	/* an inferred member looks like one that has no value: the log tells */
	if (batch->has_inferred && all_null(state->cmp_isnull, state->ncompared))
		entry.row = ~entry.row;
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

	state->last_attnum = dim->is_deleted_attnum;
	for (int i = 0; i < state->ncompared; i++)
		state->last_attnum = Max(state->last_attnum,
								 dim->attrs[state->compared[i]].attnum);

	scd2_dimension_size(dim, &pages, &tuples);
	state->keyset = scd2_keyset_create(get_hash_memory_limit(), tuples,
									   state->batch->cxt);
	scd2_progress_phase(SCD2_PHASE_VERSIONS, (int64) tuples);
	scd2_scan_versions(state->batch, add_version, state);
	state->npartitions = scd2_keyset_finish(state->keyset);
}

/*
 * Other modes: keep a current version that the batch has a key of.  It is at
 * hand now; fetching it again for each staged row would cost more than the scan.
 */
static void
keep_version(void *arg, TupleTableSlot *slot, const Datum *keys,
			 const bool *keys_isnull)
{
	StageState *state = arg;
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	Scd2Hash128 key = scd2_row_hash128(state->key_hasher, keys, keys_isnull,
									   state->seed);
	int			n = 0;

	if (scd2_keyset_lookup(state->keyset, key) == NULL ||
		!scd2_version_is_current(dim, slot))
		return;
	slot_getallattrs(slot);

	state->kept_values[n] = PointerGetDatum(&slot->tts_tid);
	state->kept_isnull[n++] = false;
	for (int i = 0; i < state->nkept; i++)
	{
		state->kept_values[n] = slot->tts_values[state->kept_attnums[i] - 1];
		state->kept_isnull[n++] = slot->tts_isnull[state->kept_attnums[i] - 1];
	}
	scd2_store_put(&batch->located, state->kept_values, state->kept_isnull);
}

/*
 * Begin the store of the batch's current versions: ctid, and those columns of
 * the dimension that the resolve statement asks of "d", under their names.
 */
static void
begin_located(StageState *state)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	AttrNumber *attnums = palloc((dim->nkeys + 2 * dim->nattrs + 2) * sizeof(AttrNumber));
	int			n = 0;
	TupleDesc	desc;
	Relation	rel;

	for (int i = 0; i < dim->nkeys; i++)
		attnums[n++] = dim->keys[i].attnum;
	attnums[n++] = dim->valid_from_attnum;
	if (dim->is_deleted_attnum != 0)
		attnums[n++] = dim->is_deleted_attnum;
	for (int i = 0; i < dim->nattrs; i++)
	{
		attnums[n++] = dim->attrs[i].attnum;
		if (dim->attrs[i].scd_type == 3)
			attnums[n++] = dim->attrs[i].extra_attnum;
	}
	state->nkept = n;
	state->kept_attnums = attnums;
	state->kept_values = palloc((n + 1) * sizeof(Datum));
	state->kept_isnull = palloc((n + 1) * sizeof(bool));

	rel = table_open(dim->relid, NoLock);
	desc = CreateTemplateTupleDesc(n + 1);
	scd2_desc_column(desc, 1, "ctid", TIDOID, -1, InvalidOid);
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnums[i] - 1);

		scd2_desc_column(desc, i + 2, NameStr(att->attname), att->atttypid,
						 att->atttypmod, att->attcollation);
	}
	table_close(rel, NoLock);
	scd2_store_begin(batch, &batch->located, "scd2_located", desc);
}

/* ----------------------------------------------------------------
 * Staging
 * ----------------------------------------------------------------
 */

/*
 * Describe staged rows; see stage.h.
 */
TupleDesc
scd2_staged_desc(const Scd2Dimension *dim, const Scd2StagedLayout *layout,
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
	if (layout->raw >= 0)
		scd2_desc_column(desc, layout->raw + 1, "raw", RECORDOID, -1, InvalidOid);
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
	if (state->fingerprint != NULL)
	{
		int			col = state->batch->layout.fingerprint;

		state->values[col] = scd2_fingerprint(state->fingerprint, state->values,
											  state->isnull);
		state->isnull[col] = false;
	}
	scd2_store_put(&state->batch->staged, state->values, state->isnull);
}

/*
 * The time of the row at hand: the source's own where the period is coarser, else E.
 */
static int64
row_time(const StageState *state)
{
	const Scd2Dimension *dim = state->batch->dim;
	const Scd2StagedLayout *layout = &state->batch->layout;

	if (layout->source_time < 0)
		return scd2_period_to_time(dim, state->values[layout->e]);
	if (dim->effective_type == DATEOID)
		return DatumGetDateADT(state->values[layout->source_time]);
	return DatumGetTimestamp(state->values[layout->source_time]);
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
	if (layout->source_time >= 0)
	{
		Oid			type = batch->dim->effective_type;
		Datum		time = type == DATEOID ?
			DateADTGetDatum((DateADT) entry->time) : TimestampGetDatum(entry->time);

		values[layout->source_time] = time;
		isnull[layout->source_time] = false;
		values[layout->e] = scd2_to_period(batch->dim, time, type);
	}
	else
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
	int64		time;

	if (state->isnull[layout->deleted])
	{
		/* rejected; it only keeps its key from being absent */
		if (entry != NULL)
			entry->flags |= SCD2_KEY_SEEN;
		return;
	}
	if (entry == NULL)
	{
		stage_row(state);
		return;
	}

	time = row_time(state);
	if (state->versions_tell && !deleted && entry->row == row &&
		!(entry->flags & SCD2_KEY_FLAGGED) &&
		!(entry->flags & SCD2_KEY_STAGED) &&
		(!(entry->flags & SCD2_KEY_SEEN) || entry->time == time))
	{
		entry->flags |= SCD2_KEY_SEEN | SCD2_KEY_EQUAL;
		entry->time = time;
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
		CHECK_FOR_INTERRUPTS();
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
 * What becomes of a source row
 * ----------------------------------------------------------------
 */

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
		scd2_keyset_add(state->keyset, &entry);
	}
}

/*
 * Snapshot: a partition's rows wait for its versions to be in memory.
 */
static void
spool_row(StageState *state, Scd2Hash128 key, uint64 row)
{
	int			p = scd2_keyset_partition(state->keyset, key);

	set_hashes(state, key, row);
	scd2_store_put(&state->spools[p], state->values, state->isnull);
}

/*
 * Takes each row of the source as read.c has converted it.  Of a rejected row
 * only the key counts: a snapshot does not lack it (R19).
 */
static void
stage_source_row(void *arg, Datum *values, bool *isnull, bool rejected)
{
	StageState *state = arg;
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	bool		deleted = DatumGetBool(values[layout->deleted]);
	Scd2Hash128 key;
	uint64		row;

	state->values = values;
	state->isnull = isnull;
	if (batch->dim->mode != SCD2_MODE_SNAPSHOT || batch->retry != NULL)
	{
		if (!rejected)
			stage_keyed_row(state);
		return;
	}

	key = hash_key(state);
	row = deleted || rejected ? 0 :
		hash_compared(state, &values[layout->attrs], &isnull[layout->attrs]);
	isnull[layout->deleted] = rejected;
	if (state->npartitions == 1)
		probe_row(state, key, row);
	else
		spool_row(state, key, row);
}

static void
read_source(StageState *state)
{
	scd2_progress_phase(SCD2_PHASE_SOURCE, 0);
	state->ord = scd2_read_source(state->batch, stage_source_row, state);
}

/* ----------------------------------------------------------------
 * Where the batch's keys have their current versions
 * ----------------------------------------------------------------
 */

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
	scd2_dimension_size(batch->dim, &pages, &tuples);
	if (nentries < pages / 2)
		return;

	scd2_progress_phase(SCD2_PHASE_VERSIONS, (int64) tuples);
	begin_located(state);
	scd2_scan_versions(batch, keep_version, state);
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
	if (layout->source_time >= 0 && batch->dim->effective_at == NULL)
	{
		state->values[layout->source_time] = TimestampTzGetDatum(batch->batch_time);
		state->isnull[layout->source_time] = false;
	}
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
stage_absent(StageState *state)
{
	Scd2Batch  *batch = state->batch;

	if (batch->absent.ntuples > 0)
	{
		int			guc_level;

		scd2_spi_receiver(&state->pub, NULL, absent_receive);
		scd2_spi_register("scd2_absent", batch->absent.desc,
						  batch->absent.store, (double) batch->absent.ntuples);
		guc_level = scd2_spi_tid_join_begin();
		scd2_spi_stream("absent", scd2_plan_absent(batch->dim, batch->scope_sql),
						0, NULL, NULL, NULL, true, (DestReceiver *) state);
		scd2_spi_planner_end(guc_level);
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
	TupleDesc	desc = scd2_staged_desc(state->batch->dim, &state->batch->layout, 3);

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
					 scd2_staged_desc(batch->dim, &batch->layout, 0));
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
					 scd2_staged_desc(batch->dim, &batch->layout, 0));
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
	state->fingerprint = scd2_fingerprint_create(batch);
	prepare_compare(state);

	batch->has_versions =
		scd2_spi_read("has versions", scd2_plan_has_versions(batch->dim),
					  0, NULL, NULL, NULL) > 0;
	if (batch->dim->mode == SCD2_MODE_SNAPSHOT && batch->retry == NULL)
		stage_snapshot(state);
	else
		stage_changes(state);

	MemoryContextSwitchTo(oldcxt);
}
