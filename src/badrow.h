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
 * Note a bad row; "values" are a staged row's, as far as they are known.  "reason"
 * is a clause such as: column "x" is null.  Where bad rows are quarantined it is
 * put into batch->rejected: its arrival ("ord"), key, row_data, reason.
 */
extern void scd2_bad_row(Scd2Batch *batch, int sqlstate, const char *reason,
						 const Datum *values, const bool *isnull);

/* Are bad rows kept, instead of failing the batch? */
extern bool scd2_quarantines(const Scd2Batch *batch);

/*
 * May scd2_spi_try be called for a row of the batch: because it may be bad, or is
 * shown as json?
 */
extern bool scd2_rows_may_try(const Scd2Batch *batch);

/* Fail the batch if any row was bad, naming the first ones. */
extern void scd2_bad_rows_raise(Scd2Batch *batch);

#endif							/* SCD2_BADROW_H */
