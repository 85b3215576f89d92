/*-------------------------------------------------------------------------
 *
 * plan_fact.h
 *	  The SQL that sets and follows the surrogate keys of facts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_FACT_H
#define SCD2_PLAN_FACT_H

#include "link.h"
#include "plan.h"

/* As whom a statement over a fact finds the versions. */
typedef enum Scd2VersionsFrom
{
	SCD2_FROM_DIMENSION,		/* in its tables */
	SCD2_FROM_STORE				/* in scd2_versions: k1, ..., sk, vf, vt */
} Scd2VersionsFrom;

/* Has the dimension the unknown member's row? */
extern char *scd2_plan_has_unknown(const Scd2Dimension *dim);

/* Rows of scd2_versions; only of the keys in scd2_touched, by key and time. */
extern char *scd2_plan_fact_versions(const Scd2Dimension *dim);
extern char *scd2_plan_fact_touched_versions(const Scd2Dimension *dim);

/*
 * The keys whose chain changes by what is in a batch's stores, with the time from
 * which on: in scd2_close, and in those of whole versions, given by name.
 */
extern char *scd2_plan_fact_touched(const Scd2Dimension *dim, List *stores);

/*
 * Set facts to the version at their event time, and those that have none to the
 * unknown member, or to null.  Without "recheck" those that are neither null nor
 * the unknown member's are left alone.
 */
extern char *scd2_plan_fact_resolve(const Scd2Dimension *dim, const Scd2Link *link,
									Scd2VersionsFrom from, bool recheck);
extern char *scd2_plan_fact_unknown(const Scd2Dimension *dim, const Scd2Link *link,
									Scd2VersionsFrom from, bool has_unknown,
									bool recheck);

/*
 * Is there a fact of another version than scd2_segments says, and make it of that
 * one.  $1: a time before which none is touched; used with "bounded".
 */
extern char *scd2_plan_fact_moved(const Scd2Dimension *dim, const Scd2Link *link,
								  bool bounded);
extern char *scd2_plan_fact_rekey(const Scd2Dimension *dim, const Scd2Link *link,
								  bool bounded);

/*
 * The keys of unresolved facts with their earliest event time before $1 and not
 * before $2, both of the period's type or null; and those of them (in
 * scd2_unresolved: k1, ..., e, of the dimension's types) that have no version.
 */
extern char *scd2_plan_fact_unresolved(const Scd2Dimension *dim, const Scd2Link *link);
extern char *scd2_plan_fact_to_infer(const Scd2Dimension *dim);

/*
 * Facts with another surrogate key than they should have: that one and the right
 * one as text, the right version's valid_from, the event time as text, the key
 * as jsonb.
 */
extern char *scd2_plan_fact_wrong(const Scd2Dimension *dim, const Scd2Link *link,
								  bool has_unknown);

#endif							/* SCD2_PLAN_FACT_H */
