/*-------------------------------------------------------------------------
 *
 * plan_chain.h
 *	  The SQL that folds keys from the log and writes what then differs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_CHAIN_H
#define SCD2_PLAN_CHAIN_H

#include "plan.h"

/* What goes into the chain statement. */
#define SCD2_CHAIN_VERSIONS		0x01	/* the keys' versions, before their changes */
#define SCD2_CHAIN_LOGGED		0x02	/* changes in the store scd2_logged, too */
#define SCD2_CHAIN_KEYS			0x04	/* only keys in the store scd2_chain_keys */
#define SCD2_CHAIN_UNDONE		0x08	/* not the changes of the runs $1 */
#define SCD2_CHAIN_KNOWN_AT		0x10	/* none recorded later than $2 */
#define SCD2_CHAIN_ORIGIN		0x20	/* S of each change, and when it was
										 * recorded; only for those in the log */

/*
 * Changes of equal (K, E) in no order, with what orders them (R5): an index of
 * the log then gives the order that is left, without a sort.  Not with versions
 * or logged ones.
 */
#define SCD2_CHAIN_UNORDERED	0x40

/* What a row of the chain statement is. */
typedef enum Scd2ChainKind
{
	SCD2_CHAIN_CLOSED = -1,		/* a version in the history table */
	SCD2_CHAIN_VERSION,			/* a version */
	SCD2_CHAIN_CHANGE,			/* a change in the log */
	SCD2_CHAIN_NEW				/* a change that the batch will log */
} Scd2ChainKind;

/* Columns of the chain statement, from 0. */
typedef struct Scd2ChainLayout
{
	int			kind;			/* Scd2ChainKind, integer */
	int			keys;			/* first of nkeys */
	int			e;				/* a version's valid_from */
	int			source_time;	/* -1: not kept */
	int			deleted;		/* a version's is_deleted */
	int			lacks;			/* ids of columns */
	int			run;
	int			attrs;			/* first of nattrs */
	int			seq;			/* first of nseq; the two only with origin */
	int			recorded_at;
	int			tid;			/* from here on only with versions */
	int			sk;
	int			extras;			/* previous_* and current_*, in order */
	int			row_hash;		/* -1: none */
	int			valid_to;
	int			is_current;
	int			order;			/* first of norder, only when unordered */
	int			norder;
	int			ncols;
} Scd2ChainLayout;

extern void scd2_plan_chain_layout(const Scd2Dimension *dim, int flags,
								   Scd2ChainLayout *layout);
extern char *scd2_plan_chain(const Scd2Dimension *dim, int flags);

/* Do nulls of the n-th column of its "order" go first?  They go last in others. */
extern bool scd2_plan_orders_nulls_first(const Scd2Dimension *dim, int n);

extern char *scd2_plan_strays(const Scd2Dimension *place, bool has_unknown);
extern char *scd2_plan_unknown(const Scd2Dimension *dim);
extern char *scd2_plan_pairs(const Scd2Dimension *dim);
extern char *scd2_plan_matched(const char *store, const char *column, bool matched,
							   const char *other);
extern char *scd2_plan_revise(const Scd2Dimension *dim, const char *store,
							  bool remakes);
extern char *scd2_plan_doom(const Scd2Dimension *dim, const char *store,
							bool hide, bool returning);
extern char *scd2_plan_lock_doomed(const Scd2Dimension *dim, const char *store,
								   List *attnums);
extern char *scd2_plan_remove(const Scd2Dimension *dim, const char *store);

/* The keys touched between two times, or by runs; each once. */
extern char *scd2_plan_touched_keys(const Scd2Dimension *dim, bool has_undone);

/* The keys of a run, $1; and those given by a user, each once. */
extern char *scd2_plan_run_keys(const Scd2Dimension *dim);
extern char *scd2_plan_given_keys(const Scd2Dimension *dim);

#endif							/* SCD2_PLAN_CHAIN_H */
