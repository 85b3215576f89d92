/*-------------------------------------------------------------------------
 *
 * badrow.h
 *	  Source rows that cannot be applied (R19).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_BADROW_H
#define SCD2_BADROW_H

#include "batch.h"

/*
 * Note a bad row.  "keys" has nkeys values of the dimension's types, "attrs"
 * natts or is NULL.  "reason" is a clause such as: column "x" is null.
 */
extern void scd2_bad_row(Scd2Batch *batch, int sqlstate, const char *reason,
						 const Datum *keys, const bool *keys_isnull,
						 const Datum *attrs, const bool *attrs_isnull);

/* Fail the batch if any row was bad, naming the first ones. */
extern void scd2_bad_rows_raise(Scd2Batch *batch);

#endif							/* SCD2_BADROW_H */
