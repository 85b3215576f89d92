/*-------------------------------------------------------------------------
 *
 * run.h
 *	  The frame of a run: lock, rights, record; and the batch that it works on.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_RUN_H
#define SCD2_RUN_H

#include "batch.h"

/*
 * Begin a batch over a loaded definition, without a source.  Memory comes from a
 * new context, batch->cxt.  Errors: wrong_object_type, datatype_mismatch where
 * somebody changed scd2's own columns.
 */
extern Scd2Batch *scd2_batch_begin(Scd2Dimension *dim);

/* Free it: its stores, which may have files, and its memory. */
extern void scd2_batch_end(Scd2Batch *batch);

/* What kind of a run; scd2.runs.action. */
typedef enum Scd2RunKind
{
	SCD2_RUN_APPLY,
	SCD2_RUN_REBUILD,
	SCD2_RUN_UNDO,
	SCD2_RUN_RETRY,
	SCD2_RUN_RESOLVE
} Scd2RunKind;

/* A run that is under way; the body sets batch and wrote. */
typedef struct Scd2Run
{
	Scd2Dimension *dim;			/* as it is under the lock */
	Scd2RunLock lock;
	Scd2LogPos	pos;			/* mode log: as it was before the snapshot */
	Scd2Batch  *batch;
	bool		wrote;			/* did it write anything? */
} Scd2Run;

typedef void (*Scd2RunBody) (Scd2Run *run, void *arg);

/*
 * For runs that may have to alter the dimension first.  "needed" is asked before
 * any lock of the dimension is held, because a weaker one cannot be made stronger
 * without a deadlock; where it says so, the run locks out everybody else, and
 * calls "alter" once it has the run lock.  Neither has the relations open.
 */
typedef struct Scd2RunAlter
{
	bool		(*needed) (const Scd2Dimension *dim, void *arg);
	void		(*alter) (Scd2Run *run, void *arg);
} Scd2RunAlter;

/*
 * Call body(run, arg) within a run of the dimension: the caller's rights are
 * checked, the run lock is taken, the relations are held open, the snapshot sees
 * all that the last run did; afterwards the run is recorded and said (R18, R21).
 * The body switches rights itself.  Errors: insufficient_privilege,
 * serialization_failure, object_in_use within another run of the dimension.
 */
extern void scd2_run(Oid relid, Scd2RunKind kind, Scd2RunBody body, void *arg);
extern void scd2_run_altering(Oid relid, Scd2RunKind kind,
							  const Scd2RunAlter *alter, Scd2RunBody body,
							  void *arg);

/*
 * One run of each of several dimensions.  The locks of all are taken first, in
 * the given order; the caller gives them by id, so that two never wait for each
 * other.  Does not check that the caller has their owners' roles.
 */
extern void scd2_run_several(const List *relids, Scd2RunKind kind,
							 Scd2RunBody body, void *arg);

/* Make "batch" the run's. */
extern void scd2_run_adopt(Scd2Run *run, Scd2Batch *batch);

/* Where a run works on several batches: add one's counts to all. */
extern void scd2_run_add_counts(Scd2RunCounts *total, const Scd2RunCounts *counts);

/* After writing: the newest E of the log, for the next run. */
extern void scd2_run_logged(Scd2Run *run);

#endif							/* SCD2_RUN_H */
