/*-------------------------------------------------------------------------
 *
 * write.h
 *	  Writing what a batch came to: close, open, overwrite, log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_WRITE_H
#define SCD2_WRITE_H

#include "batch.h"

/* Does the batch write anything at all? */
extern bool scd2_writes_anything(const Scd2Batch *batch);

/* Write the batch's stores and free them. */
extern void scd2_write(Scd2Batch *batch);

#endif							/* SCD2_WRITE_H */
