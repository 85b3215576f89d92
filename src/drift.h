/*-------------------------------------------------------------------------
 *
 * drift.h
 *	  Does a source still look as the definition says?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_DRIFT_H
#define SCD2_DRIFT_H

#include "registry.h"

/*
 * Raise if "source" lacks a column that the dimension cannot do without, has one
 * of another type, or gained or lost one that on_drift does not let pass.  Returns
 * which tracked columns it lacks, in "cxt"; NULL: none.
 */
extern bool *scd2_check_drift(const Scd2Dimension *dim, Oid source,
							  const char *source_label, MemoryContext cxt);

/* Numbers of the columns that the registered source has gained. */
extern List *scd2_drift_gained(const Scd2Dimension *dim);

#endif							/* SCD2_DRIFT_H */
