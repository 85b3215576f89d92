/*-------------------------------------------------------------------------
 *
 * quarantine.h
 *	  The rejected rows of a dimension, in the registry.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_QUARANTINE_H
#define SCD2_QUARANTINE_H

#include "batch.h"

/*
 * Write batch->rejected into the registry.  Of a retry: those rows stay, with the
 * new reason, and the others that it read are taken back: they are kept, but count
 * no longer.
 */
extern void scd2_write_rejected(Scd2Batch *batch);

/*
 * A run does not exist any more (R27): what it rejected was never read, and what it
 * took back is rejected again.
 */
extern void scd2_undo_rejected(const Scd2Dimension *dim, int64 run_id);

/*
 * The dimension's rejected rows, in groups that belong to one batch time each,
 * oldest first, or in one group where rows have times of their own.
 */
extern Scd2Retry *scd2_retry_begin(const Scd2Dimension *dim, MemoryContext cxt);

/*
 * Go to the next group.  False if there is none; else *batch_time is the time of
 * its runs, unless rows have times of their own.
 */
extern bool scd2_retry_group(Scd2Retry *retry, TimestampTz *batch_time);

/*
 * The next row of the group, in the current memory context; false at its end.
 * *row_text has each value's text, or is 0 where row_data says all.
 */
extern bool scd2_retry_next(Scd2Retry *retry, int64 *id, Datum *row_data,
							Datum *row_text);

extern void scd2_retry_end(Scd2Retry *retry);

#endif							/* SCD2_QUARANTINE_H */
