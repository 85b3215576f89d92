/*-------------------------------------------------------------------------
 *
 * late.h
 *	  Staging a batch whose time is before that of the last run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_LATE_H
#define SCD2_LATE_H

#include "batch.h"

/*
 * Is the batch's time before the last run's, where that time is the rows' E?
 * Then its rows are compared with what was known at that time (R5, R20).
 */
extern bool scd2_is_late_batch(const Scd2Batch *batch);

/*
 * Read the source into batch->staged, and what was known at the batch's time and at
 * the next snapshot's into batch->states.  In place of scd2_stage.
 */
extern void scd2_stage_late(Scd2Batch *batch);

#endif							/* SCD2_LATE_H */
