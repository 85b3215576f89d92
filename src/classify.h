/*-------------------------------------------------------------------------
 *
 * classify.h
 *	  What each staged key's changes do to it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CLASSIFY_H
#define SCD2_CLASSIFY_H

#include "batch.h"

/*
 * Turn batch->staged into batch->closes, opens, overwrites and logged (or rows
 * of a preview).
 */
extern void scd2_classify(Scd2Batch *batch);

#endif							/* SCD2_CLASSIFY_H */
