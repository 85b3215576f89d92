/*-------------------------------------------------------------------------
 *
 * fold.h
 *	  The fold: a key's ordered changes in, its versions out (SPEC section 3).
 *
 * Pure and streaming: no SPI, no catalog access, memory for one key at a time.
 * Every path that makes versions (apply, rebuild, undo) goes through it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_FOLD_H
#define SCD2_FOLD_H

#include "canonical.h"

/* Times are in the period type's own unit: days for date, else microseconds. */
typedef int64 Scd2Time;

/* What the fold has to know of a dimension.  Built once, read only. */
typedef struct Scd2FoldShape
{
	int			natts;			/* tracked columns */
	int8	   *scd_type;		/* 0, 1, 2, 3 or 6, for each */
	Scd2CanonType **canon;		/* sameness, for each */
	int16	   *typlen;			/* for datumCopy */
	bool	   *typbyval;
	bool		flag_deletes;	/* on_delete => 'flag' */
	bool		ignore_deletes; /* on_delete => 'ignore' */
	bool		ignore_null_updates;
	bool		has_initial;	/* initial_valid_from is set */
	Scd2Time	initial_valid_from;
} Scd2FoldShape;

/*
 * One change of the key being folded.  The fold copies what it keeps.
 *
 * "lacks" says which columns were not part of the change at all (R8), unlike a
 * null of ignore_null_updates, which is a column that came without a value:
 * with nothing before it such a null is null, and counts as a value from then
 * on.  Values that are lacking are not looked at.
 */
typedef struct Scd2FoldChange
{
	Scd2Time	effective_at;
	bool		deleted;		/* values are not looked at */
	bool		always_opens;	/* a seed from an adopted version (R2); as the
								 * key's first version it keeps its E, whatever
								 * initial_valid_from says */
	Datum	   *values;			/* natts */
	bool	   *isnull;			/* natts */
	bool	   *lacks;			/* natts, or NULL: lacks none (R8) */
} Scd2FoldChange;

/*
 * Where a key stands before the changes that are fed (all of them later, and
 * no replays).  NULL instead of this: a key that never had a version; a key of
 * which only deletes were logged is one.
 *
 * A fold cannot start midway where all changes so far lacked a column (R8): the
 * first value of it fills versions that the start does not tell of.  Fold such
 * a key from its first change.
 */
typedef struct Scd2FoldStart
{
	bool		open;			/* is a version open (flagged ones included)? */
	bool		is_deleted;		/* the open version is a flagged one */
	Scd2Time	valid_from;		/* of the open version */

	/*
	 * By tracked column.  Type 2 and 6: the newest version's value; type 0: the
	 * first change's; type 1 and 3: the last change's.
	 */
	Datum	   *values;
	bool	   *isnull;
	Datum	   *previous;		/* type 3 columns: previous_*; may be NULL
								 * where there are none */
	bool	   *previous_isnull;
} Scd2FoldStart;

/* One version.  Values live until the next scd2_fold_start. */
typedef struct Scd2FoldVersion
{
	Scd2Time	valid_from;
	bool		is_open;		/* no end */
	Scd2Time	valid_to;		/* if not open */
	bool		is_deleted;		/* a flagged version */
	bool		preexisting;	/* the start's open version, perhaps ended now */
	int			opened_by;		/* index of the change that opened it, -1 if preexisting */
	Datum	   *values;			/* natts; only types 2 and 6 count, the
								 * rest is in the result.  Versions may share
								 * one array */
	bool	   *isnull;
} Scd2FoldVersion;

/* What one change did, in the order in which they were fed. */
typedef enum Scd2FoldOutcome
{
	SCD2_FOLD_OPENED,
	SCD2_FOLD_CLOSED,			/* a delete that closed, and perhaps opened a
								 * flagged version */
	SCD2_FOLD_CONFIRMED,		/* opened and closed nothing */
	SCD2_FOLD_OVERWROTE,		/* the same, but a type 1, 3 or 6 "current"
								 * value changed, or a column of any type that
								 * all changes before lacked was filled */
	SCD2_FOLD_SUPERSEDED,		/* a later one of equal E stands instead */
	SCD2_FOLD_IGNORED			/* a delete that found nothing open (or
								 * flagged), or on_delete => 'ignore' */
} Scd2FoldOutcome;

/* A key's folded chain.  Lives until the next scd2_fold_start. */
typedef struct Scd2FoldResult
{
	int			nversions;
	Scd2FoldVersion *versions;	/* in time order; the preexisting one first */
	int			nchanges;
	Scd2FoldOutcome *outcomes;	/* nchanges */

	/*
	 * What every version of the key shows: type 0 the first value, type 1, 3
	 * and 6 the last.  For type 6 that is current_<column>.  Type 2: unused.
	 */
	Datum	   *last;
	bool	   *last_isnull;
	Datum	   *previous;		/* type 3 */
	bool	   *previous_isnull;
	bool		overlay_changed;	/* last or previous differ from the
									 * start's, so that older versions must be
									 * overwritten; false without a start */
} Scd2FoldResult;

typedef struct Scd2Fold Scd2Fold;

/* A fold over one shape; its memory is a child of "parent". */
extern Scd2Fold *scd2_fold_create(const Scd2FoldShape *shape,
								  MemoryContext parent);

/* Begin a key.  Frees the last one's memory.  "start" is copied. */
extern void scd2_fold_start(Scd2Fold *fold, const Scd2FoldStart *start);

/*
 * Feed the next change, in the order of R5: effective_at never goes down, and
 * of equal ones the last stands.
 */
extern void scd2_fold_change(Scd2Fold *fold, const Scd2FoldChange *change);

/* End the key. */
extern const Scd2FoldResult *scd2_fold_finish(Scd2Fold *fold);

#endif							/* SCD2_FOLD_H */
