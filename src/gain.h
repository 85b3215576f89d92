/*-------------------------------------------------------------------------
 *
 * gain.h
 *	  Columns that a source has gained become columns of its dimension
 *	  (on_drift => 'add').
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_GAIN_H
#define SCD2_GAIN_H

#include "registry.h"

/*
 * Add the columns that the registered source has gained to dimension, log, view
 * and function, tracked as type 2 from "run_id" on.  The caller holds
 * AccessExclusiveLock on the dimension and the run lock, and has a definition
 * that is not right any more afterwards.  Errors: duplicate_column,
 * too_many_columns, and whatever ALTER TABLE raises.
 */
extern void scd2_gain_columns(const Scd2Dimension *dim, int64 run_id);

#endif							/* SCD2_GAIN_H */
