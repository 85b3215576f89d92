/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *	  What makes a staged row a replay, as one hash (R5).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_FINGERPRINT_H
#define SCD2_FINGERPRINT_H

#include "batch.h"

typedef struct Scd2Fingerprint Scd2Fingerprint;

/* NULL where the batch needs none: where states are compared, not changes. */
extern Scd2Fingerprint *scd2_fingerprint_create(Scd2Batch *batch);

/* The fingerprint of a staged row, a bytea in the current memory context. */
extern Datum scd2_fingerprint(Scd2Fingerprint *fp, const Datum *values,
							  const bool *isnull);

#endif							/* SCD2_FINGERPRINT_H */
