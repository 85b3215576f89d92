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

/* Take their time from the versions in batch->removes. */
extern void scd2_doom_versions(Scd2Batch *batch);

/*
 * Remove them, unless a row of any table refers to one: foreign_key_violation,
 * which names the table (R30).
 */
extern void scd2_remove_versions(Scd2Batch *batch);

#endif							/* SCD2_REMOVE_H */
