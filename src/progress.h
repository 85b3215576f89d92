/*-------------------------------------------------------------------------
 *
 * progress.h
 *	  How far a run is, for other sessions to read (R22).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PROGRESS_H
#define SCD2_PROGRESS_H

/* The view scd2.progress names these; keep them in step. */
typedef enum Scd2Phase
{
	SCD2_PHASE_LOCK = 1,		/* waiting for an earlier run */
	SCD2_PHASE_VERSIONS,		/* reading the current versions */
	SCD2_PHASE_SOURCE,			/* reading the source */
	SCD2_PHASE_CLASSIFY,		/* folding the staged keys */
	SCD2_PHASE_CLOSE,
	SCD2_PHASE_OPEN,
	SCD2_PHASE_OVERWRITE,
	SCD2_PHASE_LOG,
	SCD2_PHASE_FOLD,			/* folding keys from the log */
	SCD2_PHASE_REVISE,
	SCD2_PHASE_REMOVE,
	SCD2_PHASE_REKEY			/* looking for facts to set, and setting them */
} Scd2Phase;

extern void scd2_progress_start(Oid relid);
extern void scd2_progress_phase(Scd2Phase phase, int64 total);
extern void scd2_progress_done_add(int64 n);
extern void scd2_progress_end(void);

#endif							/* SCD2_PROGRESS_H */
