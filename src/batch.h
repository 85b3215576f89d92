/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  One batch on its way through apply or preview.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_BATCH_H
#define SCD2_BATCH_H

#include "executor/tuptable.h"
#include "utils/resowner.h"
#include "utils/tuplestore.h"

#include "fold.h"
#include "hash.h"
#include "logpos.h"
#include "registry.h"

/* Rows for a later statement: a tuplestore that SQL sees under a name. */
typedef struct Scd2Store
{
	const char *name;
	TupleDesc	desc;
	Tuplestorestate *store;
	int64		ntuples;
} Scd2Store;

/* functions take at most 100 arguments; longer lists are hashed in parts */
#define SCD2_HASH_CHUNK	90

/*
 * Column numbers (from 0) of the staged rows, in this order: tid of the key's
 * current version where the key set knows it, arrival, E, source's own time (if
 * kept), S, deleted, absent, as_current, fingerprint, the source's row (if kept),
 * K, tracked columns.
 */
typedef struct Scd2StagedLayout
{
	int			tid;
	int			ord;
	int			e;
	int			source_time;	/* -1: not kept */
	int			seq;			/* first of nseq */
	int			deleted;
	int			absent;			/* a key that a snapshot lacks */
	int			as_current;		/* equal to the current version: attributes
								 * are that one's */
	int			fingerprint;	/* row_hash of what makes a replay (R5) */
	int			raw;			/* the source's whole row, where bad ones are
								 * quarantined; -1: not kept */
	int			keys;			/* first of nkeys */
	int			attrs;			/* first of nattrs */
	int			ncols;
} Scd2StagedLayout;

/*
 * The change of an inferred member lacks every column, and says so among their
 * ids by this one, which no column has (R31).
 */
#define SCD2_LACKS_INFERRED	0

/* Versions to write to the table of closed versions, as those of a batch. */
typedef struct Scd2HistoryWrites
{
	Scd2Store	opens;
	Scd2Store	revises;
	Scd2Store	grows;
	Scd2Store	removes;
} Scd2HistoryWrites;

typedef struct Scd2Preview Scd2Preview;
typedef struct Scd2BadRows Scd2BadRows;
typedef struct Scd2Retry Scd2Retry;

typedef struct Scd2Batch
{
	Scd2Dimension *dim;
	Oid			source;
	char	   *source_label;	/* for messages */
	TimestampTz batch_time;
	Datum		batch_e;		/* batch_time in the period's type */
	bool		has_last_batch_time;
	TimestampTz last_batch_time;
	char	   *scope;			/* as the caller wrote it, or NULL */
	char	   *scope_sql;		/* parsed and deparsed */
	List	   *scope_columns;	/* numbers of the columns that it reads */
	bool		force;
	Scd2LogPos	pos;			/* mode log */
	bool	   *lacks;			/* by tracked column: does the source lack it
								 * (R8)?  NULL: it lacks none */
	Datum		undone;			/* bigint[] of undone runs, or 0: none */
	bool		has_inferred;	/* did a run ever make inferred members (R31)? */
	bool		infers;			/* are the changes to log such ones? */

	bool		has_newest;		/* is "newest" known? */
	Scd2Time	newest;			/* no logged change has a later E */
	Scd2Time	newest_logged;	/* the newest E that this batch logs */
	bool		has_changes;	/* was any change accepted? */

	int64		run_id;			/* 0 in a preview */
	TimestampTz recorded_at;

	MemoryContext cxt;			/* the batch's */
	ResourceOwner owner;		/* of its stores' files */
	MemoryContext row_cxt;		/* reset for each row */

	Scd2FoldShape shape;
	bool		has_overlay;	/* are there columns of type 0, 1, 3 or 6? */

	Scd2StagedLayout layout;
	Scd2Store	staged;			/* rows that need a closer look */
	bool		staged_by_tid;	/* do they carry their key's current version? */
	Scd2Store	located;		/* else, if begun, the current versions of all
								 * staged keys */
	bool		has_versions;	/* has the dimension any? */
	Scd2Store	absent;			/* tids that a snapshot lacks */

	/* a batch before the last run's time, compared with what was known then */
	bool		is_late;
	bool		has_next;		/* did a later snapshot tell of the keys again? */
	TimestampTz next;			/* its batch_time */
	int64		next_id;		/* and the run */
	Scd2Store	states;			/* see states.h */
	int64		late_absent;	/* keys that a late snapshot lacks */

	int64		open_keys;		/* in the dimension, not flagged; snapshot only */

	Scd2Store	closes;			/* versions that end */
	Scd2Store	opens;			/* versions to insert */
	Scd2Store	overwrites;		/* keys whose older versions change */
	Scd2Store	logged;			/* changes for the log */

	/* keys whose chain is folded from the log (R16), and what then differs */
	Scd2Store	chain_keys;
	Scd2Store	revises;		/* versions that end sooner, or only look
								 * otherwise */
	Scd2Store	grows;			/* versions that end later, or become current */
	Scd2Store	removes;		/* versions that go */
	bool		removes_first;	/* before any comes: no foreign key refers to them */
	Scd2Store	held;			/* else, those of them that rows refer to */
	Scd2Store	remakes;		/* versions that become other ones: as of opens,
								 * and the tid of the row */
	Scd2Store	remade;			/* and as they were, as of removes: facts of
								 * those keys, too, may find other versions */

	/*
	 * The same for the history, where that is separate.  What changes tables
	 * goes from the one and is inserted in the other.
	 */
	Scd2HistoryWrites history;

	Scd2BadRows *bad_rows;
	Scd2Store	rejected;		/* rows for quarantine, see badrow.h */
	Scd2Retry  *retry;			/* the rows are those that earlier runs
								 * rejected; else NULL */
	Scd2Preview *preview;		/* NULL unless this is a preview */

	Scd2RunCounts counts;
} Scd2Batch;

extern void scd2_store_begin(Scd2Batch *batch, Scd2Store *store,
							 const char *name, TupleDesc desc);
extern void scd2_store_put(Scd2Store *store, const Datum *values,
						   const bool *isnull);
extern void scd2_store_end(Scd2Store *store);

/* Append the rows that a statement returns, detoasted, and tell how many. */
extern uint64 scd2_store_fill(Scd2Batch *batch, Scd2Store *store, const char *step,
							  const char *sql, int nargs, const Oid *types,
							  const Datum *values, bool read_only);

/* Between the two, statements see the store under its name. */
extern void scd2_store_register(const Scd2Store *store);
extern void scd2_store_unregister(const Scd2Store *store);

/* Copy a store's columns into a fresh tuple descriptor, one by one. */
extern void scd2_desc_column(TupleDesc desc, int attno, const char *name,
							 Oid typid, int32 typmod, Oid collation);

/*
 * Fill in the key's columns k1, k2, ... from attribute number "attno" on; returns
 * the number after them.
 */
extern int	scd2_describe_keys(const Scd2Dimension *dim, TupleDesc desc,
							   int attno);

/* A value's text, for messages. */
extern char *scd2_value_text(Datum value, Oid type);

/* The key as text for messages. */
extern char *scd2_key_text(const Scd2Dimension *dim, const Datum *values,
						   const bool *isnull);

/* Between the period's type and the fold's times. */
extern Scd2Time scd2_period_to_time(const Scd2Dimension *dim, Datum value);
extern Datum scd2_time_to_period(const Scd2Dimension *dim, Scd2Time t);

#endif							/* SCD2_BATCH_H */
