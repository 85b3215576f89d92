/*-------------------------------------------------------------------------
 *
 * plan.h
 *	  The SQL of every step of apply, from a definition alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_H
#define SCD2_PLAN_H

#include "batch.h"

/* What is known when the resolve statement is made. */
#define SCD2_RESOLVE_BY_TID		0x01	/* staged rows carry their version's tid */
#define SCD2_RESOLVE_NO_DIM		0x02	/* the dimension has no version yet */
#define SCD2_RESOLVE_NO_LOG		0x04	/* the log has no change yet */
#define SCD2_RESOLVE_LOCATED	0x08	/* scd2_located has the current versions */
#define SCD2_RESOLVE_UNDONE		0x10	/* the log has changes of undone runs */
#define SCD2_RESOLVE_INFERRED	0x20	/* the log has inferred members */

/*
 * Columns of the resolve statement, from 0: the staged row's, then these.
 * Groups of natts columns: the attributes of the current version, of the newest
 * closed one.
 */
typedef struct Scd2ResolveLayout
{
	int			cur_tid;		/* null: no current version */
	int			cur_valid_from;
	int			cur_is_deleted; /* -1: no such column */
	int			cur_attrs;
	int			cur_previous;	/* one for each type 3 column, in order */
	int			closed_to;		/* null: no closed version either */
	int			closed_attrs;
	int			closed_previous;
	int			newest;			/* the key's newest logged E */
	int			replay;			/* is the row in the log already? */
	int			inferred;		/* is the key's only version an inferred member? */
	int			last_type0;		/* last logged values of type 0 columns, in
								 * order; -1: not asked for */
	int			ncols;

	/* of a late batch alone: what was known at the next snapshot's time */
	int			next_present;
	int			next_logged;
	int			next_attrs;
	int			late_ncols;
} Scd2ResolveLayout;

extern void scd2_plan_layout(const Scd2Dimension *dim,
							 Scd2StagedLayout *staged,
							 Scd2ResolveLayout *resolve);

extern char *scd2_plan_absent(const Scd2Dimension *dim, const char *scope_sql);
extern char *scd2_plan_open_keys(const Scd2Dimension *dim,
								 const char *scope_sql);
extern char *scd2_plan_has_versions(const Scd2Dimension *dim);
extern char *scd2_plan_newest(const Scd2Dimension *dim);
extern char *scd2_plan_resolve(const Scd2Dimension *dim, int flags,
								const bool *lacks);
extern char *scd2_plan_close(const Scd2Dimension *dim);
extern char *scd2_plan_open(const Scd2Dimension *dim, const char *store);
extern char *scd2_plan_overwrite(const Scd2Dimension *dim);
extern char *scd2_plan_log(const Scd2Dimension *dim);

/* Is the row's state compared, instead of the log being searched (R5)? */
extern bool scd2_compares_state(const Scd2Dimension *dim);

/* Do columns of type 0, 1, 3 or 6 exist, which every version shows? */
extern bool scd2_has_overlay(const Scd2Dimension *dim);

/* May any column of type "scd_type" be among the dimension's? */
extern int	scd2_count_type(const Scd2Dimension *dim, int scd_type);

/*
 * Pieces of statements.  Lists are of SQL expressions, or of columns' names.
 */
extern void scd2_plan_key_match(StringInfo buf, const Scd2Dimension *dim,
								const char *left, bool log_names,
								const char *right);
extern void scd2_plan_same_key(StringInfo buf, const Scd2Dimension *dim,
							   const char *left, const char *right);
extern void scd2_plan_key_order(StringInfo buf, const Scd2Dimension *dim,
								const char *alias);
extern void scd2_plan_staged_columns(StringInfo buf, const Scd2Dimension *dim,
									 const char *alias);
extern void scd2_plan_staged_order(StringInfo buf, const Scd2Dimension *dim,
								   const char *alias);
extern void scd2_plan_row_hash(StringInfo buf, List *exprs);
extern char *scd2_plan_column_of(const char *alias, const char *name);
extern char *scd2_plan_unknown_sk(const Scd2Dimension *dim);
extern List *scd2_plan_open_columns(const Scd2Dimension *dim);
extern List *scd2_plan_overlay_columns(const Scd2Dimension *dim);

#endif							/* SCD2_PLAN_H */
