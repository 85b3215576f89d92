/*-------------------------------------------------------------------------
 *
 * badrow.c
 *	  Source rows that cannot be applied (R19).
 *
 * With on_bad_row => 'error' a batch is looked through to its end before it
 * fails, so that the message can say how many rows are bad and name the first.
 * With 'quarantine' they are kept, as the source's rows, for quarantine.c to write.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "badrow.h"

#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "preview.h"

#define NAMED_ROWS	5

struct Scd2BadRows
{
	int64		count;
	int			sqlstate;		/* of the first */
	StringInfoData first;		/* lines about the first NAMED_ROWS */
};

/*
 * The source's row as it was read.  A row that is known only to equal the current
 * version was not kept: what is known of it, under the source's names.
 */
static TupleDesc
row_columns(Scd2Batch *batch, const Datum *values, const bool *isnull,
			Datum **columns, bool **columns_isnull)
{
	const Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	TupleDesc	desc;
	int			n = 0;

	if (layout->raw >= 0 && !isnull[layout->raw])
		return scd2_record_columns(values[layout->raw], columns, columns_isnull);

	n = dim->nkeys + dim->nattrs + dim->nseq + (dim->effective_at != NULL ? 1 : 0);
	desc = CreateTemplateTupleDesc(n);
	*columns = palloc(n * sizeof(Datum));
	*columns_isnull = palloc(n * sizeof(bool));
	n = 0;

#define ADD(name, col, typid) \
	do { \
		(*columns)[n] = values[col]; \
		(*columns_isnull)[n++] = isnull[col]; \
		scd2_desc_column(desc, n, name, typid, -1, InvalidOid); \
	} while (0)

	for (int i = 0; i < dim->nkeys; i++)
		ADD(dim->keys[i].source_name, layout->keys + i, dim->keys[i].typid);
	for (int i = 0; i < dim->nattrs; i++)
		ADD(dim->attrs[i].source_name, layout->attrs + i, dim->attrs[i].typid);
	if (dim->effective_at != NULL)
		ADD(dim->effective_at, layout->e, dim->period_type);
	for (int i = 0; i < dim->nseq; i++)
		ADD(dim->seq[i].source_name, layout->seq + i, dim->seq[i].typid);
#undef ADD
	return BlessTupleDesc(desc);
}

/*
 * May jsonb not give a value back as it was: json's own text, an array's bounds, or
 * what a type of a user's makes of itself?
 */
static bool
changes_in_jsonb(Oid type, Datum value)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);

	if (OidIsValid(element))
	{
		ArrayType  *array = DatumGetArrayTypeP(value);

		for (int i = 0; i < ARR_NDIM(array); i++)
			if (ARR_LBOUND(array)[i] != 1)
				return true;
		base = getBaseType(element);
	}
	return base == JSONOID || get_typtype(base) == TYPTYPE_COMPOSITE ||
		(base >= FirstNormalObjectId && !type_is_enum(base));
}

/*
 * A row's values as text, in a jsonb object, where jsonb alone would not give each
 * back; else 0.
 */
static Datum
row_text(TupleDesc desc, const Datum *values, const bool *isnull)
{
	TupleDesc	text_desc = CreateTemplateTupleDesc(desc->natts);
	Datum	   *texts = palloc0(desc->natts * sizeof(Datum));
	bool		needed = false;

	for (int i = 0; i < desc->natts && !needed; i++)
		needed = !isnull[i] && !TupleDescAttr(desc, i)->attisdropped &&
			changes_in_jsonb(TupleDescAttr(desc, i)->atttypid, values[i]);
	if (!needed)
		return (Datum) 0;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		scd2_desc_column(text_desc, i + 1, NameStr(att->attname), TEXTOID, -1,
						 DEFAULT_COLLATION_OID);
		TupleDescAttr(text_desc, i)->attisdropped = att->attisdropped;
		if (!isnull[i] && !att->attisdropped)
			texts[i] = CStringGetTextDatum(scd2_value_text(values[i], att->atttypid));
	}
	return scd2_columns_jsonb(BlessTupleDesc(text_desc), texts, isnull);
}

/*
 * Keep a row for quarantine; of one that was rejected before, which is there, only
 * the reason.
 */
static void
keep_row(Scd2Batch *batch, const char *reason, const Datum *values,
		 const bool *isnull)
{
	const Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	Datum		row[5] = {values[layout->ord], (Datum) 0, (Datum) 0,
	CStringGetTextDatum(reason), (Datum) 0};
	bool		row_isnull[5] = {false, true, true, false, true};

	if (batch->rejected.store == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
		TupleDesc	desc = CreateTemplateTupleDesc(5);

		scd2_desc_column(desc, 1, "ord", INT8OID, -1, InvalidOid);
		scd2_desc_column(desc, 2, "key", JSONBOID, -1, InvalidOid);
		scd2_desc_column(desc, 3, "row_data", JSONBOID, -1, InvalidOid);
		scd2_desc_column(desc, 4, "reason", TEXTOID, -1, DEFAULT_COLLATION_OID);
		scd2_desc_column(desc, 5, "row_text", JSONBOID, -1, InvalidOid);
		scd2_store_begin(batch, &batch->rejected, "scd2_rejected", desc);
		MemoryContextSwitchTo(oldcxt);
	}
	if (batch->retry == NULL)
	{
		Datum	   *columns;
		bool	   *columns_isnull;
		TupleDesc	desc = row_columns(batch, values, isnull, &columns, &columns_isnull);

		row[1] = scd2_columns_jsonb(scd2_columns_desc(dim->keys, dim->nkeys),
									values + layout->keys, isnull + layout->keys);
		row[2] = scd2_columns_jsonb(desc, columns, columns_isnull);
		row[4] = row_text(desc, columns, columns_isnull);
		row_isnull[1] = row_isnull[2] = false;
		row_isnull[4] = row[4] == (Datum) 0;
	}
	scd2_store_put(&batch->rejected, row, row_isnull);
}

/*
 * Note a bad row; see badrow.h.
 */
void
scd2_bad_row(Scd2Batch *batch, int sqlstate, const char *reason,
			 const Datum *values, const bool *isnull)
{
	const Scd2StagedLayout *layout = &batch->layout;
	const Datum *keys = values + layout->keys;
	const bool *keys_isnull = isnull + layout->keys;
	Scd2BadRows *bad = batch->bad_rows;

	batch->counts.rows_rejected++;

	if (batch->preview != NULL)
	{
		scd2_preview_reject(batch, keys, keys_isnull, values + layout->attrs,
							isnull + layout->attrs, reason);
		return;
	}
	if (scd2_quarantines(batch))
	{
		keep_row(batch, reason, values, isnull);
		return;
	}

	if (bad == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);

		bad = palloc0(sizeof(Scd2BadRows));
		bad->sqlstate = sqlstate;
		initStringInfo(&bad->first);
		batch->bad_rows = bad;
		MemoryContextSwitchTo(oldcxt);
	}

	if (bad->count++ < NAMED_ROWS)
	{
		char	   *key = scd2_key_text(batch->dim, keys, keys_isnull);

		appendStringInfo(&bad->first, "%sKey %s: %s.",
						 bad->count > 1 ? "\n" : "", key, reason);
	}
}

/*
 * Are bad rows kept, instead of failing the batch?
 */
bool
scd2_quarantines(const Scd2Batch *batch)
{
	return batch->retry != NULL ||
		batch->dim->on_bad_row == SCD2_BAD_ROW_QUARANTINE;
}

/*
 * May a row need a subtransaction?  See badrow.h.
 */
bool
scd2_rows_may_try(const Scd2Batch *batch)
{
	return batch->preview != NULL || scd2_quarantines(batch);
}

/*
 * Fail the batch if any row was bad.
 */
void
scd2_bad_rows_raise(Scd2Batch *batch)
{
	Scd2BadRows *bad = batch->bad_rows;

	if (bad == NULL)
		return;

	ereport(ERROR,
			(errcode(bad->sqlstate),
			 errmsg_plural("source \"%s\" has " INT64_FORMAT " row that dimension \"%s\" cannot take",
						   "source \"%s\" has " INT64_FORMAT " rows that dimension \"%s\" cannot take",
						   (unsigned long) bad->count,
						   batch->source_label, bad->count, batch->dim->label),
			 errdetail_internal("%s%s", bad->first.data,
								bad->count > NAMED_ROWS ?
								psprintf("\n... and " INT64_FORMAT " more.",
										 bad->count - NAMED_ROWS) : ""),
			 errhint("Nothing was written. Correct the rows in the source, or leave them out.")));
}
