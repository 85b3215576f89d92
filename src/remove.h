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

/* What has been found out of versions that go, between the next two. */
typedef struct Scd2Removal
{
	List	   *keys;			/* foreign keys that refer to the dimension */
	Scd2Store	doomed;			/* if there are any */
} Scd2Removal;

/*
 * Lock them: from now on nothing can begin to refer to one, and what does so
 * already is committed.
 */
extern void scd2_lock_doomed(Scd2Batch *batch, Scd2Removal *removal);

/*
 * Remove them, unless a row of any table refers to one: foreign_key_violation,
 * which names the table (R30).
 */
extern void scd2_remove_versions(Scd2Batch *batch, Scd2Removal *removal);

/*
 * With history => 'separate' versions leave a table without being gone.  Raise
 * when a foreign key refers to the dimension or its history (R30).
 */
extern void scd2_refuse_references(const Scd2Dimension *dim);

/* Take versions, to which nothing can refer, out of a table ("place") at once. */
extern void scd2_take_out_versions(Scd2Batch *batch, const Scd2Dimension *place,
								   const Scd2Store *store);

#endif							/* SCD2_REMOVE_H */
