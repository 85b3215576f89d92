/*-------------------------------------------------------------------------
 *
 * options.h
 *	  The parameters of create_dimension, read and checked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_OPTIONS_H
#define SCD2_OPTIONS_H

#include "registry.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/pg_list.h"

/* Where the lists of source columns by type are; the types 0, 1, 2, 3 and 6. */
#define SCD2_NTYPES 5
extern const int scd2_types[SCD2_NTYPES];

typedef struct Scd2Options
{
	/* the dimension's name, with its schema; relid: InvalidOid when absent */
	char	   *schema;
	char	   *name;
	char	   *label;			/* both, quoted */
	Oid			namespace;
	Oid			relid;

	Oid			source;
	char	   *source_label;
	TupleDesc	source_desc;	/* a copy */

	/* source columns, as char * */
	List	   *business_key;
	List	   *types[SCD2_NTYPES]; /* type2 resolved */
	List	   *sequence_by;
	char	   *effective_at;
	char	   *log_position;

	char	   *delete_when;	/* as given */
	char	   *delete_when_sql;	/* deparsed */
	char	   *mode;
	char	   *on_delete;
	char	   *on_late;		/* NULL: the default */
	char	   *on_duplicate;
	char	   *on_bad_row;
	char	   *on_drift;
	bool		ignore_null_updates;
	char	   *max_delete_fraction;	/* NULL: none */
	char	   *history;
	bool		change_log;
	char	   *surrogate_key;	/* default resolved */
	char	   *surrogate_key_type;
	char	   *period_type_name;
	char	   *open_end;
	char	   *initial_valid_from;
	char	   *time_zone;
	bool		unknown_member;
	bool		guard;

	/* of columns; row_hash: NULL leaves it out */
	char	   *valid_from;
	char	   *valid_to;
	char	   *is_current;
	char	   *row_hash;
	char	   *is_deleted;

	/* what follows from the above */
	Oid			period_type;
	Oid			effective_type;
	bool		keeps_source_time;
} Scd2Options;

/*
 * Read the arguments of a function that has create_dimension's parameters, and
 * check all that can be checked without a dimension.  Names are resolved with
 * the current search_path.
 */
extern Scd2Options *scd2_options_read(FunctionCallInfo fcinfo);

/* The registry's jsonb of them, as text. */
extern char *scd2_options_json(const Scd2Options *options);

/* Are closed versions kept in a table of their own? */
extern bool scd2_is_separate(const Scd2Options *options);

/* Number of a source column, or InvalidAttrNumber. */
extern AttrNumber scd2_source_attnum(const Scd2Options *options, const char *name);

/* Is "name" among the strings of "list"? */
extern bool scd2_list_has(const List *list, const char *name);

#endif							/* SCD2_OPTIONS_H */
