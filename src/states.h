/*-------------------------------------------------------------------------
 *
 * states.h
 *	  What was known of keys at two times, from the log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_STATES_H
#define SCD2_STATES_H

#include "batch.h"

/*
 * Columns (from 0) of the store: K, then for each time: present, attributes; and
 * whether a change is logged at the second time.
 */
typedef struct Scd2StatesLayout
{
	int			keys;			/* first of nkeys */
	int			present;
	int			attrs;			/* first of nattrs */
	int			next_present;
	int			next_logged;
	int			next_attrs;		/* first of nattrs */
	int			ncols;
} Scd2StatesLayout;

extern void scd2_states_layout(const Scd2Dimension *dim,
							   Scd2StatesLayout *layout);

/*
 * Put what was known at batch_time "at", and at the later "next", into a store
 * called scd2_states: of the keys in batch->chain_keys, or else of all in the log.
 * For dimensions without effective_at.  A key's state is its last standing change
 * at that time, deletes being absence, null for "not sent" filled (R5); type 0
 * columns, too, have their last value.  Changes of "not_by" (0: of no run) count as
 * known, but not as logged at "next".
 */
extern void scd2_states(Scd2Batch *batch, bool all_keys, TimestampTz at,
						TimestampTz next, int64 not_by, Scd2Store *store);

#endif							/* SCD2_STATES_H */
