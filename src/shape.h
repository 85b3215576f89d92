/*-------------------------------------------------------------------------
 *
 * shape.h
 *	  The columns that a dimension and its log have, from the options alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_SHAPE_H
#define SCD2_SHAPE_H

#include "options.h"

/* A column of the dimension, of its log, or of both. */
typedef struct Scd2ShapeColumn
{
	const char *role;			/* as in scd2.registry_column */
	int			scd_type;		/* -1: none */
	char	   *name;			/* in the dimension, or NULL */
	char	   *log_name;		/* in the log, or NULL */
	char	   *source_name;	/* or NULL */
	struct Scd2ShapeColumn *base;	/* of previous and current */
	Oid			typid;
	int32		typmod;
	Oid			collation;
	Oid			log_typid;		/* a domain's base type where a delete logs null */
	int32		log_typmod;
	bool		not_null;
	bool		log_not_null;
	int			id;				/* the registry's, once it has one */
	int64		since_run;		/* as in registry.h */
	bool		lacked;
} Scd2ShapeColumn;

/* The columns, as Scd2ShapeColumn *, in the order of R1. */
extern List *scd2_shape(const Scd2Options *options);

/* A type as DDL and the registry name it, under the pinned search_path. */
extern char *scd2_type_name(Oid typid, int32 typmod);

#endif							/* SCD2_SHAPE_H */
