/*-------------------------------------------------------------------------
 *
 * emit.c
 *	  From a folded key to the rows that write.c writes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "emit.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "plan.h"
#include "preview.h"

struct Scd2Emitter
{
	Scd2Batch  *batch;
	Scd2KeyHasher *key_hasher;
	int			noverlay;		/* columns that every version shows alike */
	Datum	   *values;			/* scratch, wide enough for any store */
	bool	   *isnull;
	Datum	   *hash_values;
	bool	   *hash_isnull;
};

static int
count_overlay(const Scd2Dimension *dim)
{
	return scd2_count_type(dim, 0) + scd2_count_type(dim, 1) +
		2 * scd2_count_type(dim, 3) + scd2_count_type(dim, 6);
}

/*
 * Add descriptors of the key columns, from attribute number "attno" on.
 */
static int
describe_keys(const Scd2Dimension *dim, TupleDesc desc, int attno)
{
	for (int i = 0; i < dim->nkeys; i++)
		scd2_desc_column(desc, attno++, psprintf("k%d", i + 1),
						 dim->keys[i].typid, dim->keys[i].typmod,
						 dim->keys[i].collation);
	return attno;
}

/*
 * Add descriptors of the overlay's columns o1, o2, ...: in the order of
 * overlay_columns in plan.c.
 */
static int
describe_overlay(const Scd2Dimension *dim, TupleDesc desc, int attno)
{
	int			n = 0;

	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];
		int			copies = col->scd_type == 2 ? 0 : col->scd_type == 3 ? 2 : 1;

		while (copies-- > 0)
			scd2_desc_column(desc, attno++, psprintf("o%d", ++n),
							 col->typid, col->typmod, col->collation);
	}
	return attno;
}

static int
fill_overlay(const Scd2Dimension *dim, const Scd2FoldResult *result,
			 Datum *values, bool *isnull)
{
	int			n = 0;

	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 2)
			continue;
		values[n] = result->last[i];
		isnull[n++] = result->last_isnull[i];
		if (dim->attrs[i].scd_type == 3)
		{
			values[n] = result->previous[i];
			isnull[n++] = result->previous_isnull[i];
		}
	}
	return n;
}

static TupleDesc
open_desc(const Scd2Dimension *dim)
{
	int			extras = scd2_count_type(dim, 3) + scd2_count_type(dim, 6);
	int			ncols = 1 + dim->nkeys + dim->nattrs + extras +
		(dim->row_hash != NULL ? 1 : 0) + 3 + (dim->is_deleted != NULL ? 1 : 0);
	TupleDesc	desc = CreateTemplateTupleDesc(ncols);
	int			n = 1;

#define ADD(typid, typmod, collation) \
	(scd2_desc_column(desc, n, psprintf("c%d", n), typid, typmod, collation), n++)

	ADD(dim->sk_is_uuid ? UUIDOID : INT8OID, -1, InvalidOid);
	for (int i = 0; i < dim->nkeys; i++)
		ADD(dim->keys[i].typid, dim->keys[i].typmod, dim->keys[i].collation);
	for (int i = 0; i < dim->nattrs; i++)
		ADD(dim->attrs[i].typid, dim->attrs[i].typmod, dim->attrs[i].collation);
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL)
			ADD(dim->attrs[i].typid, dim->attrs[i].typmod,
				dim->attrs[i].collation);
	if (dim->row_hash != NULL)
		ADD(BYTEAOID, -1, InvalidOid);
	ADD(dim->period_type, -1, InvalidOid);
	ADD(dim->period_type, -1, InvalidOid);
	ADD(BOOLOID, -1, InvalidOid);
	if (dim->is_deleted != NULL)
		ADD(BOOLOID, -1, InvalidOid);
#undef ADD
	Assert(n == ncols + 1);
	return desc;
}

/*
 * Begin the stores that a batch writes from; see plan.c for who reads them.
 */
Scd2Emitter *
scd2_emitter_begin(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	Scd2Emitter *emitter = palloc0(sizeof(Scd2Emitter));
	int			widest = 8 + 2 * dim->nkeys + 3 * dim->nattrs + dim->nseq;
	Oid		   *types = palloc((dim->nkeys + dim->nattrs + 1) * sizeof(Oid));
	Oid		   *registered = palloc((dim->nkeys + 1) * sizeof(Oid));
	TupleDesc	desc;
	int			n;

	emitter->batch = batch;
	emitter->noverlay = count_overlay(dim);
	emitter->values = palloc(widest * sizeof(Datum));
	emitter->isnull = palloc(widest * sizeof(bool));
	emitter->hash_values = palloc((dim->nkeys + dim->nattrs + 1) * sizeof(Datum));
	emitter->hash_isnull = palloc((dim->nkeys + dim->nattrs + 1) * sizeof(bool));

	for (int i = 0; i < dim->nkeys; i++)
	{
		types[i] = dim->keys[i].typid;
		registered[i] = dim->keys[i].registered_type;
	}
	types[dim->nkeys] = registered[dim->nkeys] = dim->period_type;
	emitter->key_hasher = scd2_key_hasher(dim->nkeys + 1, types, registered,
										  batch->cxt);

	batch->version_attrs = palloc((dim->nattrs + 1) * sizeof(int));
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6)
		{
			types[batch->nversion_attrs] = dim->attrs[i].typid;
			batch->version_attrs[batch->nversion_attrs++] = i;
		}
	}
	batch->version_hasher = scd2_row_hasher(batch->nversion_attrs, types,
											batch->cxt);

	desc = CreateTemplateTupleDesc(3 + dim->nkeys + emitter->noverlay);
	scd2_desc_column(desc, 1, "tid", TIDOID, -1, InvalidOid);
	scd2_desc_column(desc, 2, "valid_from", dim->period_type, -1, InvalidOid);
	scd2_desc_column(desc, 3, "valid_to", dim->period_type, -1, InvalidOid);
	n = describe_keys(dim, desc, 4);
	describe_overlay(dim, desc, n);
	scd2_store_begin(batch, &batch->closes, "scd2_close", desc);

	scd2_store_begin(batch, &batch->opens, "scd2_open", open_desc(dim));

	desc = CreateTemplateTupleDesc(dim->nkeys + emitter->noverlay);
	n = describe_keys(dim, desc, 1);
	describe_overlay(dim, desc, n);
	scd2_store_begin(batch, &batch->overwrites, "scd2_overwrite", desc);

	if (OidIsValid(dim->log))
	{
		desc = CreateTemplateTupleDesc(dim->nkeys + 1 +
									   (dim->keeps_source_time ? 1 : 0) +
									   dim->nseq + 1 + dim->nattrs);
		n = describe_keys(dim, desc, 1);
		scd2_desc_column(desc, n++, "e", dim->period_type, -1, InvalidOid);
		if (dim->keeps_source_time)
			scd2_desc_column(desc, n++, "source_time", dim->effective_type, -1,
							 InvalidOid);
		for (int i = 0; i < dim->nseq; i++)
			scd2_desc_column(desc, n++, psprintf("s%d", i + 1),
							 dim->seq[i].typid, dim->seq[i].typmod,
							 dim->seq[i].collation);
		scd2_desc_column(desc, n++, "deleted", BOOLOID, -1, InvalidOid);
		for (int i = 0; i < dim->nattrs; i++)
			scd2_desc_column(desc, n++, psprintf("a%d", i + 1),
							 dim->attrs[i].typid, dim->attrs[i].typmod,
							 dim->attrs[i].collation);
		scd2_store_begin(batch, &batch->logged, "scd2_logged", desc);
	}

	return emitter;
}

/*
 * The surrogate key of a version (R13).
 */
static Datum
surrogate_key(Scd2Emitter *emitter, const Scd2KeyState *state, Datum valid_from)
{
	Scd2Dimension *dim = emitter->batch->dim;
	int64		key;

	memcpy(emitter->hash_values, state->keys, dim->nkeys * sizeof(Datum));
	memcpy(emitter->hash_isnull, state->keys_isnull, dim->nkeys * sizeof(bool));
	emitter->hash_values[dim->nkeys] = valid_from;
	emitter->hash_isnull[dim->nkeys] = false;

	if (dim->sk_is_uuid)
		return UUIDPGetDatum(scd2_key_hash_uuid(emitter->key_hasher,
												emitter->hash_values,
												emitter->hash_isnull));

	key = scd2_key_hash64(emitter->key_hasher, emitter->hash_values,
						  emitter->hash_isnull);
	if (key == -1 || key == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("surrogate key " INT64_FORMAT " of dimension \"%s\" is reserved",
						key, dim->label),
				 errdetail("Key %s hashes to it.",
						   scd2_key_text(dim, state->keys, state->keys_isnull)),
				 errhint("Register the dimension with surrogate_key_type => 'uuid'.")));
	return Int64GetDatum(key);
}

/*
 * All tracked columns of a version as the dimension shows them.
 */
static void
fill_attrs(const Scd2Dimension *dim, const Scd2FoldVersion *version,
		   const Scd2FoldResult *result, Datum *values, bool *isnull)
{
	for (int i = 0; i < dim->nattrs; i++)
	{
		bool		own = dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6;

		values[i] = own ? version->values[i] : result->last[i];
		isnull[i] = own ? version->isnull[i] : result->last_isnull[i];
	}
}

static void
emit_close(Scd2Emitter *emitter, const Scd2KeyState *state,
		   const Scd2FoldVersion *version, const Scd2FoldResult *result)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	Datum		valid_to = scd2_time_to_period(dim, version->valid_to);
	int			n = 0;

	batch->counts.versions_closed++;
	if (batch->preview != NULL)
	{
		scd2_preview_action(batch, "close", state->keys, state->keys_isnull,
							&valid_to, state->attrs, state->attrs_isnull,
							NULL, NULL);
		return;
	}

	emitter->values[n] = state->current_tid;
	emitter->isnull[n++] = false;
	emitter->values[n] = scd2_time_to_period(dim, version->valid_from);
	emitter->isnull[n++] = false;
	emitter->values[n] = valid_to;
	emitter->isnull[n++] = false;
	for (int i = 0; i < dim->nkeys; i++)
	{
		emitter->values[n] = state->keys[i];
		emitter->isnull[n++] = state->keys_isnull[i];
	}
	n += fill_overlay(dim, result, emitter->values + n, emitter->isnull + n);
	Assert(n == batch->closes.desc->natts);
	scd2_store_put(&batch->closes, emitter->values, emitter->isnull);
}

static void
emit_open(Scd2Emitter *emitter, const Scd2KeyState *state,
		  const Scd2FoldVersion *version, const Scd2FoldResult *result)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	Datum		valid_from = scd2_time_to_period(dim, version->valid_from);
	Datum	   *values = emitter->values;
	bool	   *isnull = emitter->isnull;
	int			n = 0;
	int			attrs;

	batch->counts.versions_opened++;

	values[n] = surrogate_key(emitter, state, valid_from);
	isnull[n++] = false;
	for (int i = 0; i < dim->nkeys; i++)
	{
		values[n] = state->keys[i];
		isnull[n++] = state->keys_isnull[i];
	}
	attrs = n;
	fill_attrs(dim, version, result, values + n, isnull + n);
	n += dim->nattrs;

	if (batch->preview != NULL)
	{
		scd2_preview_action(batch, "open", state->keys, state->keys_isnull,
							&valid_from, NULL, NULL,
							values + attrs, isnull + attrs);
		return;
	}

	/*
	 * The columns previous_* and current_*, in the order of open_columns in
	 * plan.c.
	 */
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 3)
		{
			values[n] = result->previous[i];
			isnull[n++] = result->previous_isnull[i];
		}
		else if (dim->attrs[i].scd_type == 6)
		{
			values[n] = result->last[i];
			isnull[n++] = result->last_isnull[i];
		}
	}
	if (dim->row_hash != NULL)
	{
		for (int i = 0; i < batch->nversion_attrs; i++)
		{
			emitter->hash_values[i] = values[attrs + batch->version_attrs[i]];
			emitter->hash_isnull[i] = isnull[attrs + batch->version_attrs[i]];
		}
		values[n] = scd2_row_hash_bytea(batch->version_hasher,
										emitter->hash_values,
										emitter->hash_isnull);
		isnull[n++] = false;
	}
	values[n] = valid_from;
	isnull[n++] = false;
	values[n] = version->is_open ? dim->open_end :
		scd2_time_to_period(dim, version->valid_to);
	isnull[n++] = version->is_open && dim->open_end_is_null;
	values[n] = BoolGetDatum(version->is_open);
	isnull[n++] = false;
	if (dim->is_deleted != NULL)
	{
		values[n] = BoolGetDatum(version->is_deleted);
		isnull[n++] = false;
	}
	Assert(n == batch->opens.desc->natts);
	scd2_store_put(&batch->opens, values, isnull);
}

static void
emit_overwrite(Scd2Emitter *emitter, const Scd2KeyState *state,
			   const Scd2FoldResult *result)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	int			n = 0;

	if (batch->preview != NULL)
	{
		Datum	   *values = emitter->values;
		bool	   *isnull = emitter->isnull;

		for (int i = 0; i < dim->nattrs; i++)
		{
			bool		own = dim->attrs[i].scd_type == 2 ||
				dim->attrs[i].scd_type == 6;

			values[i] = own ? state->attrs[i] : result->last[i];
			isnull[i] = own ? state->attrs_isnull[i] : result->last_isnull[i];
		}
		scd2_preview_action(batch, "overwrite", state->keys,
							state->keys_isnull, NULL, state->attrs,
							state->attrs_isnull, values, isnull);
		return;
	}

	for (int i = 0; i < dim->nkeys; i++)
	{
		emitter->values[n] = state->keys[i];
		emitter->isnull[n++] = state->keys_isnull[i];
	}
	n += fill_overlay(dim, result, emitter->values + n, emitter->isnull + n);
	Assert(n == batch->overwrites.desc->natts);
	scd2_store_put(&batch->overwrites, emitter->values, emitter->isnull);
}

/*
 * Emit a key's folded chain: the close before the opens (R15).
 */
void
scd2_emit_chain(Scd2Emitter *emitter, const Scd2KeyState *state,
				const Scd2FoldResult *result)
{
	for (int i = 0; i < result->nversions; i++)
	{
		const Scd2FoldVersion *version = &result->versions[i];

		CHECK_FOR_INTERRUPTS();
		if (!version->preexisting)
			emit_open(emitter, state, version, result);
		else if (!version->is_open)
			emit_close(emitter, state, version, result);
	}
	if (!state->seen && result->nversions > 0)
		emitter->batch->counts.keys_new++;
	if (state->seen && result->overlay_changed && emitter->noverlay > 0)
		emit_overwrite(emitter, state, result);
}

/*
 * Emit a change for the log, as it was sent.
 */
void
scd2_emit_log(Scd2Emitter *emitter, const Datum *row, const bool *row_isnull)
{
	Scd2Batch  *batch = emitter->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	int			n = 0;

	batch->has_changes = true;
	if (!OidIsValid(dim->log) || batch->preview != NULL)
		return;

	batch->newest_logged = Max(batch->newest_logged,
							   scd2_period_to_time(dim, row[layout->e]));

#define COPY(from, count) \
	do { \
		memcpy(emitter->values + n, row + (from), (count) * sizeof(Datum)); \
		memcpy(emitter->isnull + n, row_isnull + (from), (count) * sizeof(bool)); \
		n += (count); \
	} while (0)

	COPY(layout->keys, dim->nkeys);
	COPY(layout->e, 1);
	if (layout->source_time >= 0)
		COPY(layout->source_time, 1);
	COPY(layout->seq, dim->nseq);
	COPY(layout->deleted, 1);
	COPY(layout->attrs, dim->nattrs);
#undef COPY
	Assert(n == batch->logged.desc->natts);
	scd2_store_put(&batch->logged, emitter->values, emitter->isnull);
}
