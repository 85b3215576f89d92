/*-------------------------------------------------------------------------
 *
 * facts.h
 *	  Setting the surrogate keys of facts, and letting them follow.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_FACTS_H
#define SCD2_FACTS_H

#include "batch.h"
#include "link.h"

/*
 * Let the facts of the dimension follow what the batch did to its chains: those
 * whose version at their event time is another one now, and no others (R30).  In
 * the batch's rights, after all but the removal is written; counts them.  Errors:
 * triggered_data_change_violation where a trigger of a fact came in between.
 */
extern void scd2_rekey_facts(Scd2Batch *batch);

/*
 * Set the unresolved facts of a link, with "recheck" all that are wrong (R29).
 * In the caller's rights, under the active snapshot; counts them.
 */
extern void scd2_resolve_facts(Scd2Batch *batch, const Scd2Link *link, bool recheck);

#endif							/* SCD2_FACTS_H */
