/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *	  What makes a staged row a replay, as one hash (R5).
 *
 * The resolve statement compares it with scd2.row_hash over rows of the log, or
 * over versions where there is no log.  What goes in, and in which parts, has to
 * match plan_replay.c.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "fingerprint.h"

#include "catalog/pg_type.h"

#include "plan.h"

struct Scd2Fingerprint
{
	int			n;
	int		   *columns;		/* of the staged row */
	bool	   *is_attr;		/* null in a delete, which has no attributes */
	int			deleted;		/* the column that says so */
	int			nchunks;
	Scd2RowHasher **chunk_hashers;
	Scd2RowHasher *whole_hasher;	/* over the chunks' hashes, if several */
	Datum	   *values;
	bool	   *isnull;
	Datum	   *parts;
	bool	   *parts_isnull;
};

/*
 * Prepare to fingerprint a batch's rows.
 */
Scd2Fingerprint *
scd2_fingerprint_create(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	bool		has_log = OidIsValid(dim->log);
	int			most = dim->nattrs + dim->nseq + 2;
	Oid		   *types = palloc(most * sizeof(Oid));
	Scd2Fingerprint *fp;

	if (scd2_compares_state(dim))
		return NULL;

	fp = palloc0(sizeof(Scd2Fingerprint));
	fp->columns = palloc(most * sizeof(int));
	fp->is_attr = palloc0(most * sizeof(bool));
	fp->values = palloc(most * sizeof(Datum));
	fp->isnull = palloc(most * sizeof(bool));
	fp->deleted = layout->deleted;

#define ADD(column, type) \
	(types[fp->n] = (type), fp->columns[fp->n++] = (column))

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

		if ((has_log || scd_type == 2 || scd_type == 6) &&
			(batch->lacks == NULL || !batch->lacks[i]))
		{
			fp->is_attr[fp->n] = true;
			ADD(layout->attrs + i, dim->attrs[i].typid);
		}
	}
#undef ADD

	if (fp->n == 0)
		return NULL;

	fp->nchunks = (fp->n + SCD2_HASH_CHUNK - 1) / SCD2_HASH_CHUNK;
	fp->chunk_hashers = palloc(fp->nchunks * sizeof(Scd2RowHasher *));
	fp->parts = palloc(fp->nchunks * sizeof(Datum));
	fp->parts_isnull = palloc0(fp->nchunks * sizeof(bool));
	for (int i = 0; i < fp->nchunks; i++)
	{
		int			from = i * SCD2_HASH_CHUNK;

		fp->chunk_hashers[i] = scd2_row_hasher(Min(SCD2_HASH_CHUNK, fp->n - from),
											   types + from, batch->cxt);
	}
	if (fp->nchunks > 1)
	{
		for (int i = 0; i < fp->nchunks; i++)
			types[i] = BYTEAOID;
		fp->whole_hasher = scd2_row_hasher(fp->nchunks, types, batch->cxt);
	}
	return fp;
}

/*
 * Fingerprint a staged row.
 */
Datum
scd2_fingerprint(Scd2Fingerprint *fp, const Datum *values, const bool *isnull)
{
	bool		deleted = DatumGetBool(values[fp->deleted]);

	for (int i = 0; i < fp->n; i++)
	{
		fp->values[i] = values[fp->columns[i]];
		fp->isnull[i] = isnull[fp->columns[i]] || (deleted && fp->is_attr[i]);
	}
	for (int i = 0; i < fp->nchunks; i++)
		fp->parts[i] = scd2_row_hash_bytea(fp->chunk_hashers[i],
										   fp->values + i * SCD2_HASH_CHUNK,
										   fp->isnull + i * SCD2_HASH_CHUNK);
	if (fp->nchunks == 1)
		return fp->parts[0];
	return scd2_row_hash_bytea(fp->whole_hasher, fp->parts, fp->parts_isnull);
}
