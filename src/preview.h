/*-------------------------------------------------------------------------
 *
 * preview.h
 *	  What apply would do, as rows (scd2.preview).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PREVIEW_H
#define SCD2_PREVIEW_H

#include "batch.h"

/*
 * One row of scd2.preview.  "old" and "new" are tracked columns' values; either
 * may be NULL.  effective_at is in the period's type.
 */
extern void scd2_preview_action(Scd2Batch *batch, const char *action,
								const Datum *keys, const bool *keys_isnull,
								const Datum *effective_at,
								const Datum *old_attrs, const bool *old_isnull,
								const Datum *new_attrs, const bool *new_isnull);

/* A bad row; the reason goes into "new" under the name reason. */
extern void scd2_preview_reject(Scd2Batch *batch,
								const Datum *keys, const bool *keys_isnull,
								const Datum *attrs, const bool *attrs_isnull,
								const char *reason);

/* A row type of columns by their names, and its values as a jsonb object. */
extern TupleDesc scd2_columns_desc(const Scd2Column *columns, int n);
extern Datum scd2_columns_jsonb(TupleDesc desc, const Datum *values,
								const bool *isnull);

/* The columns of a row of any type: a record of them, and their values. */
extern TupleDesc scd2_record_columns(Datum record, Datum **values, bool **isnull);

#endif							/* SCD2_PREVIEW_H */
