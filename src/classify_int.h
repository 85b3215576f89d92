/*-------------------------------------------------------------------------
 *
 * classify_int.h
 *	  The rows of one key, for the files that classify them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CLASSIFY_INT_H
#define SCD2_CLASSIFY_INT_H

#include "tcop/dest.h"

#include "batch.h"
#include "emit.h"
#include "plan.h"

typedef struct ClassifyRow
{
	Datum	   *values;			/* resolve layout's columns */
	bool	   *isnull;
	bool		dropped;		/* counts for nothing */
	bool		read_before;	/* mode log: dropped, being in the log already */
} ClassifyRow;

typedef struct ClassifyState
{
	DestReceiver pub;
	Scd2Batch  *batch;
	Scd2ResolveLayout resolve;
	TupleDesc	desc;			/* of the resolve statement */
	Scd2CanonType **key_canon;
	Scd2CanonType **seq_canon;

	ErrorContextCallback *context;	/* of errors that are a key's fault */

	MemoryContext group_cxt;	/* of the key at hand */
	int			nrows;
	int			maxrows;
	ClassifyRow *rows;
	bool		from_log;		/* its chain is folded from the log */

	Scd2Fold   *fold;
	Scd2Emitter *emitter;
	Datum	   *previous;		/* natts, scratch for the fold's start */
	bool	   *previous_isnull;
} ClassifyState;

static inline bool
row_flag(const ClassifyRow *row, int col)
{
	return !row->isnull[col] && DatumGetBool(row->values[col]);
}

/* Let a row count for nothing: bad by R19, or skipped by a policy. */
extern void scd2_classify_bad_row(ClassifyState *state, ClassifyRow *row,
								  const char *reason);
extern void scd2_classify_skip_row(ClassifyState *state, ClassifyRow *row);

/* What the batch alone says of a key's rows, which come sorted by position. */
extern void scd2_classify_on_delete(ClassifyState *state);
extern void scd2_classify_duplicates(ClassifyState *state);
extern int	scd2_classify_standing(const ClassifyState *state);

#endif							/* SCD2_CLASSIFY_INT_H */
