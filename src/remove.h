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

/*
 * Remove those of the versions in batch->removes that no row of any table refers
 * to, and keep the others in batch->held (R30).
 */
extern void scd2_remove_free_versions(Scd2Batch *batch);

/*
 * Get versions in batch->held, and those that become others (batch->remakes), out of
 * the way of those that come; the latter are then in batch->grows, too.
 */
extern void scd2_doom_versions(Scd2Batch *batch);

/*
 * Remove the held versions, unless a row of any table still refers to one:
 * foreign_key_violation, which names the table (R30).
 */
extern void scd2_remove_held_versions(Scd2Batch *batch);

/*
 * With history => 'separate' versions leave a table without being gone.  Raise
 * when a foreign key refers to the dimension or its history (R30).
 */
extern void scd2_refuse_references(const Scd2Dimension *dim);

/* Take versions, to which nothing can refer, out of a table ("place") at once. */
extern void scd2_take_out_versions(Scd2Batch *batch, const Scd2Dimension *place,
								   const Scd2Store *store);

#endif							/* SCD2_REMOVE_H */
