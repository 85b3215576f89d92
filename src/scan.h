/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  One pass over a dimension's current versions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_SCAN_H
#define SCD2_SCAN_H

#include "storage/block.h"

#include "batch.h"

/* How large is the dimension?  Estimates, as the planner makes them. */
extern void scd2_dimension_size(const Scd2Dimension *dim, BlockNumber *pages,
								double *tuples);

/*
 * Is called with a version's slot and its key; allocates as it likes.  The slot
 * has its columns only up to the key's: most versions are of no interest, and
 * the columns behind cost most of the scan.
 */
typedef void (*Scd2VersionCallback) (void *arg, TupleTableSlot *slot,
									 const Datum *keys,
									 const bool *keys_isnull);

/* Is the version in the slot its key's current one? */
extern bool scd2_version_is_current(const Scd2Dimension *dim,
									TupleTableSlot *slot);

/*
 * Call "callback" for each version but the unknown member, under the active
 * snapshot.
 */
extern void scd2_scan_versions(Scd2Batch *batch, Scd2VersionCallback callback,
							   void *arg);

#endif							/* SCD2_SCAN_H */
