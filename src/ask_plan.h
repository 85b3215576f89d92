/*-------------------------------------------------------------------------
 *
 * ask_plan.h
 *	  The SQL of calls that ask a dimension.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_ASK_PLAN_H
#define SCD2_ASK_PLAN_H

#include "access/tupdesc.h"

#include "registry.h"

/*
 * Rows of the dimension, whose columns "desc" has, dropped ones left out: those of
 * the time $1, of the period's type; or of the key $1, $2, ..., in order.
 */
extern char *scd2_ask_as_of_sql(const Scd2Dimension *dim, TupleDesc desc);
extern char *scd2_ask_history_sql(const Scd2Dimension *dim, TupleDesc desc);

/*
 * Surrogate key and valid_to of the newest version of the key $1, $2, ... that
 * began not after the last parameter.
 */
extern char *scd2_ask_lookup_sql(const Scd2Dimension *dim);

/* Has the dimension its unknown member? */
extern char *scd2_ask_unknown_sql(const Scd2Dimension *dim);

/* Types of the parameters: the key's, then "more" of the period's; palloc'd. */
extern Oid *scd2_ask_key_types(const Scd2Dimension *dim, int more);

/* Columns, from 0, of what follows; "other" is the version beside it. */
typedef struct Scd2AskPairLayout
{
	int			at;
	int			action;			/* 0: closed, 1: opened */
	int			keys;			/* first of nkeys */
	int			deleted;
	int			attrs;			/* first of nattrs */
	int			has_other;
	int			other_deleted;
	int			other_attrs;	/* first of nattrs */
	int			ncols;
} Scd2AskPairLayout;

extern void scd2_ask_pair_layout(const Scd2Dimension *dim,
								 Scd2AskPairLayout *layout);

/*
 * Versions that were opened or closed from $1 to $2, of the period's type, each
 * with the one that it followed, or that followed it; in order of time and key.
 */
extern char *scd2_ask_changes_sql(const Scd2Dimension *dim);

/* All versions that followed another one, with that one; in no order. */
extern char *scd2_ask_pairs_sql(const Scd2Dimension *dim);

/* Columns, from 0, of the chain of one key. */
typedef struct Scd2AskChainLayout
{
	int			valid_from;		/* of the period's type, as valid_to */
	int			valid_to;
	int			deleted;
	int			attrs;			/* first of nattrs */
} Scd2AskChainLayout;

extern void scd2_ask_chain_layout(const Scd2Dimension *dim,
								  Scd2AskChainLayout *layout);

/* The chain of the key $1, $2, ..., in order. */
extern char *scd2_ask_chain_sql(const Scd2Dimension *dim);

/* Keys, versions, versions a key: average, median, 99th percentile, most. */
extern char *scd2_ask_counts_sql(const Scd2Dimension *dim);

#endif							/* SCD2_ASK_PLAN_H */
