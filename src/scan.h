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

/* Is called with a version's slot and its key; allocates as it likes. */
typedef void (*Scd2VersionCallback) (void *arg, TupleTableSlot *slot,
									 const Datum *keys,
									 const bool *keys_isnull);

/*
 * Call "callback" for each current version but the unknown member, under the
 * active snapshot.  The slot holds all columns up to "last_attnum" at least.
 */
extern void scd2_scan_versions(Scd2Batch *batch, int last_attnum,
							   Scd2VersionCallback callback, void *arg);

#endif							/* SCD2_SCAN_H */
