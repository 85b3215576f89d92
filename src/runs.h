/*-------------------------------------------------------------------------
 *
 * runs.h
 *	  What earlier runs of a dimension were, and which of them were undone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_RUNS_H
#define SCD2_RUNS_H

#include "registry.h"

/*
 * The runs that were undone, by undos recorded not later than known_at
 * (DT_NOEND: all), as a bigint[]; 0 if there are none.  In the current memory
 * context.
 */
extern Datum scd2_runs_undone(const Scd2Dimension *dim, TimestampTz known_at);

/* The same list and one more run. */
extern Datum scd2_runs_undone_and(Datum undone, int64 run_id);

/*
 * The batch_time and id of the first snapshot after "after", not undone, of the same
 * scope or of all (R20); with "run_id" (else 0) one of the same time that was
 * loaded after that run, too.  False if there is none.
 */
extern bool scd2_runs_next_snapshot(const Scd2Dimension *dim, TimestampTz after,
									int64 run_id, const char *scope,
									TimestampTz *batch_time, int64 *next_id);

/* Did any run make inferred members (R31)? */
extern bool scd2_runs_have_inferred(const Scd2Dimension *dim);

/* Runs as a list of their numbers, in order. */
typedef struct Scd2RunSet
{
	int			n;
	int64	   *ids;
} Scd2RunSet;

/* Such a bigint[], or 0, as a list in the current memory context. */
extern Scd2RunSet scd2_runs_set(Datum runs);
extern bool scd2_runs_has(const Scd2RunSet *set, int64 run_id);

/* What lies between two runs. */
typedef struct Scd2RunSpan
{
	TimestampTz after;			/* when the last one up to the first was
								 * recorded, else DT_NOBEGIN */
	TimestampTz until;			/* the same for the second */
	bool		has_first;		/* are they runs of the dimension at all? */
	bool		has_second;
	int64		altered;		/* first alter run after the first, or 0 */
} Scd2RunSpan;

extern void scd2_runs_span(const Scd2Dimension *dim, int64 after_run,
						   int64 until_run, Scd2RunSpan *span);

/* A run, as undo needs to know it. */
typedef struct Scd2PastRun
{
	char	   *action;
	bool		is_undone;
	bool		is_last;		/* none of apply or retry, not undone, came after it */
	bool		has_batch_time;
	TimestampTz batch_time;
	char	   *scope;			/* or NULL */
} Scd2PastRun;

/* False if the dimension has no such run. */
extern bool scd2_runs_find(const Scd2Dimension *dim, int64 run_id,
						   Scd2PastRun *run);

/*
 * Mark a run undone by another, and forget its batch_time.  As the registry's
 * owner; within the run lock.
 */
extern void scd2_runs_mark_undone(const Scd2Dimension *dim, int64 run_id,
								  int64 undone_by);

#endif							/* SCD2_RUNS_H */
