/*-------------------------------------------------------------------------
 *
 * stage.h
 *	  Reading the source, once, and setting aside what did not change.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_STAGE_H
#define SCD2_STAGE_H

#include "batch.h"

/*
 * Read the source into batch->staged: every row that needs a closer look, and
 * for a snapshot a row for each key that it lacks.
 */
extern void scd2_stage(Scd2Batch *batch);

/* Describe staged rows, and "extra" columns of hashes behind them. */
extern TupleDesc scd2_staged_desc(const Scd2Dimension *dim,
								  const Scd2StagedLayout *layout, int extra);

#endif							/* SCD2_STAGE_H */
