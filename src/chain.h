/*-------------------------------------------------------------------------
 *
 * chain.h
 *	  Keys folded from the log, beside the versions that they have.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CHAIN_H
#define SCD2_CHAIN_H

#include "storage/itemptr.h"

#include "batch.h"
#include "plan_chain.h"
#include "versionrow.h"

/* A version as it lies in the dimension: a row as of versionrow.h. */
typedef struct Scd2StoredVersion
{
	ItemPointerData tid;
	bool		in_history;		/* is it in the table of closed versions? */
	Scd2Time	valid_from;
	Datum	   *values;
	bool	   *isnull;
} Scd2StoredVersion;

/* A change, as the statement returns it. */
typedef struct Scd2ChainChange
{
	Scd2ChainKind kind;			/* in the log, or of the batch */
	Scd2FoldChange fold;
	int64		run;			/* 0: a preview's */
	bool		inferred;		/* of an inferred member: tells nothing (R31) */
	bool		has_source_time;
	Datum		source_time;
	const Datum *seq;			/* nseq; with SCD2_CHAIN_ORIGIN, as what follows */
	const bool *seq_isnull;
	TimestampTz recorded_at;
} Scd2ChainChange;

/* One key. */
typedef struct Scd2Chain
{
	const Datum *keys;			/* none null */
	const bool *keys_isnull;
	int			nversions;
	Scd2StoredVersion *versions;	/* by valid_from */
	const Scd2FoldResult *result;	/* NULL in scd2_chain_read */
	const char *kinds;			/* Scd2ChainKind of each change */
} Scd2Chain;

typedef void (*Scd2ChainCallback) (void *arg, const Scd2Chain *chain);

/*
 * Fold keys from the log and call callback(arg, chain) for each, in a memory
 * context that is reset afterwards.  "flags" are those of plan_chain.h, less
 * SCD2_CHAIN_UNDONE, which follows from batch->undone; "known_at" counts with
 * SCD2_CHAIN_KNOWN_AT.  With SCD2_CHAIN_UNORDERED some of the changes that count
 * for nothing (R5, R7) are left out.  Stores of the batch that the statement reads
 * have to be there.  Memory: one key's versions and changes' outcomes.
 */
extern void scd2_chain_fold(Scd2Batch *batch, const char *step, int flags,
							TimestampTz known_at, Scd2ChainCallback callback,
							void *arg);

/*
 * The same without the fold: begin, each change in order, and finish are called
 * for each key.
 */
typedef struct Scd2ChainReader
{
	void		(*begin) (void *arg);
	void		(*change) (void *arg, const Scd2ChainChange *change);
	void		(*finish) (void *arg, const Scd2Chain *chain);
} Scd2ChainReader;

extern void scd2_chain_read(Scd2Batch *batch, const char *step, int flags,
							TimestampTz known_at,
							const Scd2ChainReader *reader, void *arg);

/*
 * Compare a key's versions with its fold.  Calls callback(arg, chain, stored,
 * row) where they differ, by valid_from: stored is NULL for a version that is to
 * come, row for one that is to go.
 */
typedef struct Scd2ChainComparer Scd2ChainComparer;
typedef void (*Scd2DifferenceCallback) (void *arg, const Scd2Chain *chain,
										const Scd2StoredVersion *stored,
										const Scd2VersionRow *row);

extern Scd2ChainComparer *scd2_chain_comparer(const Scd2Dimension *dim,
											  Scd2DifferenceCallback callback,
											  void *arg, MemoryContext cxt);
extern void scd2_chain_compare(Scd2ChainComparer *comparer,
							   const Scd2Chain *chain);

/* Is column "col" of a stored version the same as in the row (R12)? */
extern bool scd2_chain_same_column(const Scd2ChainComparer *comparer, int col,
								   const Scd2StoredVersion *stored,
								   const Scd2VersionRow *row);

#endif							/* SCD2_CHAIN_H */
