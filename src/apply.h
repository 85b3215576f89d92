/*-------------------------------------------------------------------------
 *
 * apply.h
 *	  The steps that apply and preview share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_APPLY_H
#define SCD2_APPLY_H

#include "fmgr.h"

#include "batch.h"

/* The parameters of scd2.apply and scd2.preview, as they were given. */
typedef struct Scd2ApplyArgs
{
	Oid			relid;
	Oid			source;			/* InvalidOid: the registered one */
	bool		has_batch_time;
	TimestampTz batch_time;
	char	   *scope;			/* or NULL */
	bool		force;
} Scd2ApplyArgs;

/* Read them from a function's arguments 1 to 5. */
extern void scd2_apply_args(FunctionCallInfo fcinfo, Scd2ApplyArgs *args);

/*
 * Make a batch of a loaded definition and checked rights.  batch_time defaults
 * to "now".  Memory comes from a new context, batch->cxt.
 */
extern Scd2Batch *scd2_batch_create(Scd2Dimension *dim,
									const Scd2ApplyArgs *args,
									TimestampTz now);

/*
 * Stage and classify a batch under the owner's rights, and hold it to the
 * delete guards and the rules on bad rows.  Needs SPI and an active snapshot.
 */
extern void scd2_batch_prepare(Scd2Batch *batch);

#endif							/* SCD2_APPLY_H */
