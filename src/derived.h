/*-------------------------------------------------------------------------
 *
 * derived.h
 *	  The tables, indexes, views and functions that belong to a dimension.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_DERIVED_H
#define SCD2_DERIVED_H

#include "shape.h"

/* Names that a dimension's objects get; NULL: it has none. */
typedef struct Scd2DerivedNames
{
	char	   *log;
	char	   *view;
	char	   *function;
	char	   *history;		/* with history => 'separate' */
	char	   *versions;
} Scd2DerivedNames;

/*
 * The derived names; raises where one is longer than a name can be or taken.
 * "kept_log" and "kept_history" may have their names: they are taken up.
 */
extern void scd2_derived_names(const Scd2Options *options, Oid kept_log,
							   Oid kept_history, Scd2DerivedNames *names);

/*
 * Make the objects, as the current user and under pinned settings.  Connected
 * to SPI.  "relid" is the dimension.
 */
extern Oid	scd2_derived_table(const Scd2Options *options, const List *shape);
extern Oid	scd2_derived_log(const Scd2Options *options, const List *shape,
							 const char *name);
extern Oid	scd2_derived_history(const Scd2Options *options, const List *shape,
								 const char *name);
extern void scd2_derived_indexes(const Scd2Options *options, const List *shape,
								 Oid relid, bool guard);
extern void scd2_derived_view(const Scd2Options *options, const List *shape,
							  const char *name);
extern void scd2_derived_versions(const Scd2Options *options, const List *shape,
								  const char *name, Oid history);
extern void scd2_derived_function(const Scd2Options *options, const List *shape,
								  const char *name, Oid history);
extern void scd2_derived_unknown_member(const Scd2Options *options,
										const List *shape);

/* The view of current rows, and that of all versions. */
#define SCD2_NVIEWS	2

/*
 * The views of a dimension (InvalidOid: none), by its id, and its as-of function's
 * name, or NULL.
 */
extern void scd2_derived_find_objects(int32 id, Oid *views, char **function);

/*
 * Lock the views, before the dimension is locked: who reads through a view locks
 * it first, and would wait for us while we wait for him.
 */
extern void scd2_derived_lock_views(int32 id);

/* The dimension's as-of function of that name, wherever it was moved; or InvalidOid. */
extern Oid	scd2_derived_find_function(Oid relid, const char *name);

#endif							/* SCD2_DERIVED_H */
