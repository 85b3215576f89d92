/*-------------------------------------------------------------------------
 *
 * infer.h
 *	  Inferred members: versions of keys that only facts have told of (R31).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_INFER_H
#define SCD2_INFER_H

#include "link.h"
#include "run.h"

/*
 * Make an inferred member for each key of the unresolved facts of the links (all
 * of the run's dimension) that has no chain.  Within the run's locks and those of
 * all the dimension's facts, which are re-keyed; adds what it counted to *total.
 */
extern void scd2_infer_members(Scd2Run *run, List *links, Scd2RunCounts *total);

#endif							/* SCD2_INFER_H */
