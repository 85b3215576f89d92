/*-------------------------------------------------------------------------
 *
 * emit.h
 *	  From a folded key to the rows that write.c writes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_EMIT_H
#define SCD2_EMIT_H

#include "batch.h"

typedef struct Scd2Emitter Scd2Emitter;

/* Where a key stood before the batch. */
typedef struct Scd2KeyState
{
	const Datum *keys;			/* nkeys, none null */
	const bool *keys_isnull;
	bool		seen;			/* does it have any version? */
	Datum		current_tid;	/* of the current version */
	const Datum *attrs;			/* the newest version's, if seen */
	const bool *attrs_isnull;
} Scd2KeyState;

/* Begins the batch's output stores. */
extern Scd2Emitter *scd2_emitter_begin(Scd2Batch *batch);

/* Emit what the fold found for a key. */
extern void scd2_emit_chain(Scd2Emitter *emitter, const Scd2KeyState *state,
							const Scd2FoldResult *result);

/* Emit a key whose chain is folded from the log, once. */
extern void scd2_emit_chain_key(Scd2Emitter *emitter, const Datum *keys,
								const bool *keys_isnull);

/*
 * At the end: fold those keys, or all of the dimension's and the log's, with
 * what the batch logs, and emit what differs from their versions (R16, R25).
 * Where the log is to be whole, a key with versions and without changes is an
 * error, data_corrupted.
 */
extern void scd2_emit_folded(Scd2Emitter *emitter, bool all_keys,
							 bool log_is_whole);

/*
 * Count what changes did: all of a fold's, or with "kinds" those that the batch
 * brought.
 */
extern void scd2_count_outcomes(Scd2Batch *batch, const Scd2FoldResult *result,
								const char *kinds);

/*
 * Emit a change for the log; "row" is a staged row's values.  It is a change of
 * run "run_id": the batch's own, or an earlier one whose snapshot told of it (R20),
 * so that it counts no longer when that one is undone (R27).
 */
extern void scd2_emit_log(Scd2Emitter *emitter, const Datum *row,
						  const bool *row_isnull, int64 run_id);

#endif							/* SCD2_EMIT_H */
