/*-------------------------------------------------------------------------
 *
 * remove.h
 *	  Removing versions that a fold has no more.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_REMOVE_H
#define SCD2_REMOVE_H

#include "batch.h"

/* Where they may: take their time from the versions in batch->removes. */
extern void scd2_doom_versions(Scd2Batch *batch);

/*
 * Remove them, unless a row of any table refers to one: foreign_key_violation,
 * which names the table (R30).
 */
extern void scd2_remove_versions(Scd2Batch *batch);

/*
 * With history => 'separate' versions leave a table without being gone.  Raise
 * when a foreign key refers to the dimension or its history (R30).
 */
extern void scd2_refuse_references(const Scd2Dimension *dim);

/* Take versions, to which nothing can refer, out of a table ("place") at once. */
extern void scd2_take_out_versions(Scd2Batch *batch, const Scd2Dimension *place,
								   const Scd2Store *store);

#endif							/* SCD2_REMOVE_H */
