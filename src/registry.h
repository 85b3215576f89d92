/*-------------------------------------------------------------------------
 *
 * registry.h
 *	  A dimension's definition: load, lock, write.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_REGISTRY_H
#define SCD2_REGISTRY_H

#include "access/attnum.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "nodes/pg_list.h"

typedef enum Scd2Mode
{
	SCD2_MODE_DELTA,
	SCD2_MODE_SNAPSHOT,
	SCD2_MODE_LOG
} Scd2Mode;

typedef enum Scd2OnDelete
{
	SCD2_DELETE_CLOSE,
	SCD2_DELETE_FLAG,
	SCD2_DELETE_IGNORE,
	SCD2_DELETE_ERROR
} Scd2OnDelete;

typedef enum Scd2OnLate
{
	SCD2_LATE_REBUILD,
	SCD2_LATE_SKIP,
	SCD2_LATE_ERROR
} Scd2OnLate;

typedef enum Scd2OnDuplicate
{
	SCD2_DUPLICATE_SEQUENCE,
	SCD2_DUPLICATE_LATEST,
	SCD2_DUPLICATE_ERROR
} Scd2OnDuplicate;

typedef enum Scd2OnBadRow
{
	SCD2_BAD_ROW_ERROR,
	SCD2_BAD_ROW_QUARANTINE
} Scd2OnBadRow;

typedef enum Scd2OnDrift
{
	SCD2_DRIFT_ERROR,
	SCD2_DRIFT_ADD,
	SCD2_DRIFT_IGNORE
} Scd2OnDrift;

/* A business key or tracked column. */
typedef struct Scd2Column
{
	int			id;				/* the registry's number, never reused within a dimension */
	char	   *name;			/* in the dimension, now */
	char	   *source_name;	/* in the source, matched by name (R4) */
	char	   *log_name;		/* in the log, now; NULL without log */
	int			scd_type;		/* 0, 1, 2, 3, 6; -1 for a key column */
	Oid			typid;			/* of the dimension's column, now */
	int32		typmod;
	Oid			collation;
	AttrNumber	attnum;			/* in the dimension */
	AttrNumber	extra_attnum;	/* of previous_* (type 3) or current_* (type 6), else 0 */
	char	   *extra_name;		/* its name now, or NULL */
	Oid			registered_type;	/* key columns: type at registration (R13) */
	Oid			source_type;	/* as the registered source has it: to see drift */
	int64		since_run;		/* changes of earlier runs lack it (R8); 0: from the
								 * start */
	bool		lacked;			/* did a run's source lack it? */
} Scd2Column;

/* A column of sequence_by. */
typedef struct Scd2Sequence
{
	char	   *source_name;
	char	   *log_name;		/* scd2_seq_1 ..., now; NULL without log */
	Oid			typid;			/* in the log; as the source had it at registration */
	int32		typmod;
	Oid			collation;
} Scd2Sequence;

/*
 * A dimension's definition, as of one statement.  Lives in the memory context
 * given to scd2_registry_load.
 */
typedef struct Scd2Dimension
{
	int32		id;
	Oid			relid;
	Oid			owner;
	Oid			source;			/* registered source; InvalidOid when it is gone */
	char	   *source_label;	/* its schema-qualified name, for messages */
	Oid			log;			/* InvalidOid: change_log => false */
	char	   *label;			/* schema.name for messages, unquoted where possible */
	char	   *sql_name;		/* quoted, for SQL */
	char	   *log_sql_name;	/* quoted, or NULL */

	/*
	 * history => 'separate': the same definition as the table of closed
	 * versions has it, with relid, sql_name and the names and numbers of columns
	 * from there; else NULL.
	 */
	struct Scd2Dimension *history;

	int			nkeys;
	Scd2Column *keys;
	int			nattrs;
	Scd2Column *attrs;			/* tracked columns in source order */
	int			nseq;
	Scd2Sequence *seq;

	char	   *effective_at;	/* source column, or NULL: the batch's time */
	Oid			effective_type; /* date, timestamp or timestamptz; without
								 * effective_at timestamptz, the batch's */
	bool		keeps_source_time;	/* the log has scd2_source_time, of
									 * effective_type, because several source
									 * times (without effective_at: batch
									 * times) may be one E (R5) */
	char	   *log_source_time;	/* its name now, or NULL */
	char	   *log_position;	/* mode log: source column, else NULL */
	Oid			log_position_type;	/* as the registered source has it */
	char	   *delete_when;	/* deparsed under search_path pg_catalog, or NULL */

	Scd2Mode	mode;
	Scd2OnDelete on_delete;
	Scd2OnLate	on_late;		/* default resolved */
	Scd2OnDuplicate on_duplicate;
	Scd2OnBadRow on_bad_row;
	Scd2OnDrift on_drift;
	bool		ignore_null_updates;
	bool		has_max_delete_fraction;
	double		max_delete_fraction;

	bool		sk_is_uuid;
	bool		unknown_member;
	Oid			period_type;
	char	   *time_zone;
	bool		open_end_is_null;
	Datum		open_end;		/* of period_type, unless null; infinity included */
	bool		has_initial;
	Datum		initial_valid_from; /* of period_type */

	/* the dimension's other columns: names now and numbers; 0/NULL where left out */
	char	   *sk_name;
	AttrNumber	sk_attnum;
	char	   *valid_from;
	AttrNumber	valid_from_attnum;
	char	   *valid_to;
	AttrNumber	valid_to_attnum;
	char	   *is_current;
	AttrNumber	is_current_attnum;
	char	   *row_hash;		/* NULL: left out */
	AttrNumber	row_hash_attnum;
	char	   *is_deleted;		/* NULL unless on_delete => 'flag' */
	AttrNumber	is_deleted_attnum;

	/* the log's own columns, names now */
	char	   *log_id;
	char	   *log_effective_at;
	char	   *log_deleted;
	char	   *log_lacks;		/* int[] of Scd2Column.id, null: lacks none */
	char	   *log_run;
	char	   *log_recorded_at;

	/*
	 * The source's columns at registration or the last alter, for drift: names
	 * and types of all of them, tracked or not.
	 */
	int			nsource_columns;
	char	  **source_column_names;
	Oid		   *source_column_types;
} Scd2Dimension;

/*
 * Load the definition of a registered dimension.  Follows renames and moves
 * (R4), and resolves by name what a restore left uncached.  Takes no lock on
 * the registry; the caller holds one on the relation.  Errors:
 * undefined_object when "relid" is not a registered dimension.
 */
extern Scd2Dimension *scd2_registry_load(Oid relid, MemoryContext cxt);

/*
 * Number of a column now: the cached one while it lives, else by name.  Its name
 * now goes to *name_now.  Errors: undefined_column.
 */
extern AttrNumber scd2_registry_column_now(Oid relid, int cached,
										   const char *name, char **name_now,
										   MemoryContext cxt);

/* The dimension that a call's first argument names; null is an error. */
extern Oid	scd2_registry_argument(FunctionCallInfo fcinfo);

/* The id of the registered dimension that "relid" is, or 0. */
extern int32 scd2_registry_find(Oid relid);

/*
 * Times that runs leave behind, read and kept under the dimension's run lock
 * (R18).
 */
typedef struct Scd2RunLock
{
	int64		run_id;			/* of the run that begins */
	TimestampTz recorded_at;	/* its recording time: later than every earlier run's */
	bool		has_last_batch_time;
	TimestampTz last_batch_time;	/* the newest batch_time of an earlier run that was not undone */
	bool		has_newest;		/* is "newest" known? */
	int64		newest;			/* no logged change has a later E, in the unit
								 * of the period's type */
} Scd2RunLock;

/*
 * Read what runs left behind without taking the lock, for a preview.  run_id
 * and recorded_at are not set.
 */
extern void scd2_registry_peek(Scd2Dimension *dim, Scd2RunLock *lock);

/*
 * Take the dimension's run lock until the end of the transaction: updates its
 * row, so that two runs go one after the other and a REPEATABLE READ caller
 * whose snapshot is older than the last run gets a serialization failure.
 * Draws the run's id and recording time.
 */
extern void scd2_registry_lock(Scd2Dimension *dim, Scd2RunLock *lock);

/* Remember that a run's source lacks the tracked columns that "lacks" tells. */
extern void scd2_registry_lacked(Scd2Dimension *dim, const bool *lacks);

/* What a run counted (SPEC section 11, view runs). */
typedef struct Scd2RunCounts
{
	int64		rows_read;
	int64		keys_new;
	int64		versions_opened;
	int64		versions_closed;
	int64		rows_unchanged;
	int64		rows_confirmed;
	int64		rows_replayed;
	int64		rows_overwritten;
	int64		rows_late;
	int64		rows_skipped;
	int64		rows_deleted;
	int64		rows_rejected;
	int64		keys_rebuilt;
	int64		facts_rekeyed;
	int64		versions_removed;	/* this and the next: said, but not kept */
	int64		facts_unknown;	/* of facts_rekeyed: those that have no version */
} Scd2RunCounts;

/*
 * Write the row of a finished run, as the registry's owner.  "source" is the
 * relation that was read (InvalidOid: none), "scope" may be NULL, batch_time
 * and lock->newest are stored as the newest for Scd2RunLock.
 */
extern void scd2_registry_write_run(Scd2Dimension *dim, const Scd2RunLock *lock,
									const char *action, Oid source,
									const char *scope, Oid who,
									TimestampTz started_at,
									TimestampTz batch_time,
									const Scd2RunCounts *counts);

/*
 * Raise unless the current user has the privileges of "owner" (R34):
 * insufficient_privilege, naming the dimension.
 */
extern void scd2_registry_check_owner(Scd2Dimension *dim);

/*
 * Raise unless the current user may see the definition, as in the view
 * scd2.dimensions: insufficient_privilege.
 */
extern void scd2_registry_check_seen(const Scd2Dimension *dim);

/* The same as check_owner for a relation that need not be registered; and who owns one. */
extern void scd2_check_relation_owner(Oid relid);
extern Oid	scd2_relation_owner(Oid relid);

/*
 * Raise unless "relid" is an ordinary table outside any inheritance tree:
 * wrong_object_type with a hint.  create_dimension asks, and apply does, in
 * case that it became one.
 */
extern void scd2_check_ordinary_table(Oid relid);

/* Switch to the dimension owner's rights, and back (R34). */
typedef struct Scd2Rights
{
	Oid			userid;
	int			sec_context;
	int			guc_level;
} Scd2Rights;

/*
 * From here on run as "owner" in a security-restricted operation with
 * search_path pg_catalog, pg_temp and the settings pinned on which output
 * depends.  An error restores everything by itself.
 */
extern void scd2_rights_enter(Oid owner, Scd2Rights *save);
extern void scd2_rights_leave(const Scd2Rights *save);

/* Pin the settings but not the rights; scd2_rights_leave ends it. */
extern void scd2_settings_enter(Scd2Rights *save);

/*
 * Run as the registry's owner, for statements over its own tables alone;
 * scd2_rights_leave ends it.
 */
extern void scd2_registry_enter(Scd2Rights *save);

/*
 * Parse "text" as one boolean expression over a row of "relid", under the
 * current search_path, and return it deparsed with every name qualified, so
 * that it means the same under search_path pg_catalog.  Columns are qualified
 * in the result with "alias", unless that is NULL: beside another relation its
 * columns could be called alike.  "what" (delete_when, scope) is for messages.  Errors:
 * syntax_error and whatever the parser raises; datatype_mismatch when not
 * boolean.
 */
extern char *scd2_parse_condition(const char *text, Oid relid,
								  const char *alias, const char *what);

/* The same, telling the numbers of the columns it reads. */
extern char *scd2_parse_condition_columns(const char *text, Oid relid,
										  const char *alias, const char *what,
										  List **columns);

/*
 * Number of "value" among the words that the option takes, in the order of the
 * enums above; -1: it takes none of that name.  scd2_registry_words lists them
 * for a hint, palloc'd.
 */
extern int	scd2_registry_word(const char *option, const char *value);
extern char *scd2_registry_words(const char *option);

#endif							/* SCD2_REGISTRY_H */
