/*-------------------------------------------------------------------------
 *
 * plan.c
 *	  The SQL of every step of apply, from a definition alone.
 *
 * These are the very texts that apply executes and that scd2.sql shows (R23).
 * They name everything with its schema and take equality from pg_catalog, since
 * they run under a pinned search_path but are read, and perhaps tried out, under
 * any.  Relations called scd2_... without a schema are the batch's tuplestores.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "plan_replay.h"
#include "sqltext.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "
#define DIFFERS		" OPERATOR(pg_catalog.<>) "
#define AT_MOST		" OPERATOR(pg_catalog.<=) "

/*
 * Is a change compared with the state of its key, instead of being looked for
 * in the log (R5)?
 */
bool
scd2_compares_state(const Scd2Dimension *dim)
{
	return dim->mode == SCD2_MODE_SNAPSHOT || dim->effective_at == NULL;
}

/*
 * How many tracked columns have a type.
 */
int
scd2_count_type(const Scd2Dimension *dim, int scd_type)
{
	int			n = 0;

	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == scd_type)
			n++;
	return n;
}

/*
 * Are there columns that every version of a key shows alike, so that a change
 * may have to overwrite older versions (R8)?  Type 0 columns are among them: a
 * first value that was lacking may come later.
 */
bool
scd2_has_overlay(const Scd2Dimension *dim)
{
	return scd2_count_type(dim, 2) < dim->nattrs;
}

/*
 * Lay out the columns of staged rows and of the resolve statement.
 */
void
scd2_plan_layout(const Scd2Dimension *dim, Scd2StagedLayout *staged,
				 Scd2ResolveLayout *resolve)
{
	int			n = 0;
	int			ntype3 = scd2_count_type(dim, 3);
	int			ntype0 = scd2_count_type(dim, 0);

	staged->tid = n++;
	staged->ord = n++;
	staged->e = n++;
	staged->source_time = dim->keeps_source_time ? n++ : -1;
	staged->seq = n;
	n += dim->nseq;
	staged->deleted = n++;
	staged->absent = n++;
	staged->as_current = n++;
	staged->fingerprint = n++;
	staged->raw = dim->on_bad_row == SCD2_BAD_ROW_QUARANTINE ? n++ : -1;
	staged->keys = n;
	n += dim->nkeys;
	staged->attrs = n;
	n += dim->nattrs;
	staged->ncols = n;

	if (resolve == NULL)
		return;

	resolve->cur_tid = n++;
	resolve->cur_valid_from = n++;
	resolve->cur_is_deleted = dim->is_deleted != NULL ? n++ : -1;
	resolve->cur_attrs = n;
	n += dim->nattrs;
	resolve->cur_previous = n;
	n += ntype3;
	resolve->closed_to = n++;
	resolve->closed_attrs = n;
	n += dim->nattrs;
	resolve->closed_previous = n;
	n += ntype3;
	resolve->newest = n++;
	resolve->replay = n++;
	resolve->last_type0 = -1;
	if (ntype0 > 0 && scd2_compares_state(dim) && OidIsValid(dim->log))
	{
		resolve->last_type0 = n;
		n += ntype0;
	}
	resolve->next_present = n++;
	resolve->next_logged = n++;
	resolve->next_attrs = n;
	resolve->ncols = resolve->next_present;
	resolve->late_ncols = n + dim->nattrs;
}

/*
 * The = of enums does not take a domain over one; a cast to a domain's base type
 * is free, and an index is used through it.
 */
static const char *
key_cast(const Scd2Dimension *dim, int key)
{
	Oid			base = getBaseType(dim->keys[key].typid);

	return base != dim->keys[key].typid && type_is_enum(base) ?
		psprintf("::%s", format_type_be_qualified(base)) : "";
}

/*
 * d.k1 = s.k1 AND ..., for the columns of a relation of the dimension's or the
 * log's column names (alias "left") and a batch's tuplestore (alias "right").
 */
void
scd2_plan_key_match(StringInfo buf, const Scd2Dimension *dim, const char *left,
					bool log_names, const char *right)
{
	for (int i = 0; i < dim->nkeys; i++)
	{
		if (i > 0)
			appendStringInfoString(buf, " AND ");
		scd2_append_ident(buf, left, log_names ? dim->keys[i].log_name :
						  dim->keys[i].name);
		appendStringInfo(buf, "%s" EQUALS "%s.k%d%s", key_cast(dim, i), right,
						 i + 1, key_cast(dim, i));
	}
}

/*
 * The same for the columns k1, k2, ... of two of the batch's tuplestores.
 */
void
scd2_plan_same_key(StringInfo buf, const Scd2Dimension *dim, const char *left,
				   const char *right)
{
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(buf, "%s%s.k%d%s" EQUALS "%s.k%d%s", i > 0 ? " AND " : "",
						 left, i + 1, key_cast(dim, i), right, i + 1,
						 key_cast(dim, i));
}

/*
 * scd2.row_hash over a list of expressions, in parts where it is too long for
 * one call.
 */
void
scd2_plan_row_hash(StringInfo buf, List *exprs)
{
	int			n = list_length(exprs);

	appendStringInfoString(buf, "scd2.row_hash(");
	for (int i = 0; i < n; i++)
	{
		if (n > SCD2_HASH_CHUNK && i % SCD2_HASH_CHUNK == 0)
			appendStringInfoString(buf, i > 0 ? "), scd2.row_hash(" :
								   "scd2.row_hash(");
		else if (i > 0)
			appendStringInfoString(buf, ", ");
		appendStringInfoString(buf, (char *) list_nth(exprs, i));
	}
	if (n > SCD2_HASH_CHUNK)
		appendStringInfoChar(buf, ')');
	appendStringInfoChar(buf, ')');
}

char *
scd2_plan_column_of(const char *alias, const char *name)
{
	return psprintf("%s.%s", alias, quote_identifier(name));
}

/*
 * Condition for current versions that count: no unknown member, and with
 * "open" no flagged ones either.
 */
static void
append_current(StringInfo buf, const Scd2Dimension *dim, const char *alias,
			   bool open)
{
	scd2_append_ident(buf, alias, dim->is_current);
	if (open && dim->is_deleted != NULL)
	{
		appendStringInfoString(buf, " AND NOT ");
		scd2_append_ident(buf, alias, dim->is_deleted);
	}
}

/*
 * Keys that a snapshot lacks: the current versions that no source row hit, in
 * scope.
 */
char *
scd2_plan_absent(const Scd2Dimension *dim, const char *scope_sql)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT d.ctid");
	for (int i = 0; i < dim->nkeys; i++)
	{
		appendStringInfoString(&buf, ", ");
		scd2_append_ident(&buf, "d", dim->keys[i].name);
	}
	appendStringInfo(&buf,
					 "\n  FROM scd2_absent AS a"
					 "\n  JOIN %s AS d ON d.ctid" EQUALS "a.scd2_tid",
					 dim->sql_name);
	if (scope_sql != NULL)
		appendStringInfo(&buf, "\n WHERE (%s)", scope_sql);
	return buf.data;
}

/*
 * How many keys are open in scope, for the delete guards.
 */
char *
scd2_plan_open_keys(const Scd2Dimension *dim, const char *scope_sql)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT count(*)\n  FROM %s AS d\n WHERE ",
					 dim->sql_name);
	append_current(&buf, dim, "d", true);
	appendStringInfoString(&buf, "\n   AND ");
	scd2_append_ident(&buf, "d", dim->keys[0].name);
	appendStringInfo(&buf, " IS NOT NULL\n   AND (%s)", scope_sql);
	return buf.data;
}

/*
 * Does the dimension have any version?
 */
char *
scd2_plan_has_versions(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT 1\n  FROM %s AS d\n WHERE ", dim->sql_name);
	scd2_append_ident(&buf, "d", dim->keys[0].name);
	appendStringInfoString(&buf, " IS NOT NULL");
	if (dim->history != NULL)
		appendStringInfo(&buf, "\nUNION ALL\nSELECT 1\n  FROM %s AS h",
						 dim->history->sql_name);
	appendStringInfoString(&buf, "\n LIMIT 1");
	return buf.data;
}

/*
 * The newest E of all in the log, where no run has left it behind.
 */
char *
scd2_plan_newest(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT max(%s)\n  FROM %s AS l",
					 scd2_plan_column_of("l", dim->log_effective_at), dim->log_sql_name);
	return buf.data;
}

static void
append_version_columns(StringInfo buf, const Scd2Dimension *dim,
					   const char *alias)
{
	for (int i = 0; i < dim->nattrs; i++)
	{
		appendStringInfoString(buf, ", ");
		scd2_append_ident(buf, alias, dim->attrs[i].name);
	}
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type == 3)
		{
			appendStringInfoString(buf, ", ");
			scd2_append_ident(buf, alias, dim->attrs[i].extra_name);
		}
	}
}

/* The table that closed versions lie in. */
static const Scd2Dimension *
closed_place(const Scd2Dimension *dim)
{
	return dim->history != NULL ? dim->history : dim;
}

static bool
is_text_type(Oid typid)
{
	Oid			base = getBaseType(typid);

	return base == TEXTOID || base == VARCHAROID || base == BPCHAROID;
}

/*
 * k1, k2, ... to order by: text by bytes, which groups keys as well as any
 * collation and is faster.
 */
void
scd2_plan_key_order(StringInfo buf, const Scd2Dimension *dim, const char *alias)
{
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(buf, "%s%s.k%d%s", i > 0 ? ", " : "", alias, i + 1,
						 is_text_type(dim->keys[i].typid) ?
						 " COLLATE pg_catalog.\"C\"" : "");
}

/*
 * All columns of staged rows, in the order of their layout.
 */
void
scd2_plan_staged_columns(StringInfo buf, const Scd2Dimension *dim,
						 const char *alias)
{
	appendStringInfo(buf, "%s.tid, %s.ord, %s.e, ", alias, alias, alias);
	if (dim->keeps_source_time)
		appendStringInfo(buf, "%s.source_time, ", alias);
	for (int i = 1; i <= dim->nseq; i++)
		appendStringInfo(buf, "%s.s%d, ", alias, i);
	appendStringInfo(buf, "%s.deleted, %s.absent, %s.as_current, %s.fp",
					 alias, alias, alias, alias);
	if (dim->on_bad_row == SCD2_BAD_ROW_QUARANTINE)
		appendStringInfo(buf, ", %s.raw", alias);
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(buf, ", %s.k%d", alias, i);
	for (int i = 1; i <= dim->nattrs; i++)
		appendStringInfo(buf, ", %s.a%d", alias, i);
}

/*
 * Staged rows in the order of the fold (R5).
 */
void
scd2_plan_staged_order(StringInfo buf, const Scd2Dimension *dim,
					   const char *alias)
{
	scd2_plan_key_order(buf, dim, alias);
	appendStringInfo(buf, ", %s.e, ", alias);
	if (dim->keeps_source_time)
		appendStringInfo(buf, "%s.source_time, ", alias);
	for (int i = 1; i <= dim->nseq; i++)
		appendStringInfo(buf, "%s.s%d, ", alias, i);
	appendStringInfo(buf, "%s.ord", alias);
}

/*
 * Where does each staged row's key stand?  Its current version (by tid where
 * the key set found it, else by key), else its newest closed one, and the newest
 * logged E: what is not after that is late (section 1); "lacks" tells the columns
 * that the batch lacks, or is NULL; $1 is the newest one of
 * all keys, $2
 * are the runs that were undone.  In the order of the fold (R5).
 */
char *
scd2_plan_resolve(const Scd2Dimension *dim, int flags, const bool *lacks)
{
	StringInfoData buf;
	const Scd2Dimension *closed = closed_place(dim);
	bool		has_log = OidIsValid(dim->log);
	bool		ask_type0 = scd2_count_type(dim, 0) > 0 &&
		scd2_compares_state(dim) && has_log;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	scd2_plan_staged_columns(&buf, dim, "s");
	appendStringInfoString(&buf, ",\n       d.ctid, ");
	scd2_append_ident(&buf, "d", dim->valid_from);
	if (dim->is_deleted != NULL)
	{
		appendStringInfoString(&buf, ", ");
		scd2_append_ident(&buf, "d", dim->is_deleted);
	}
	append_version_columns(&buf, dim, "d");
	appendStringInfoString(&buf, ",\n       ");
	scd2_append_ident(&buf, "c", closed->valid_to);
	append_version_columns(&buf, closed, "c");
	appendStringInfo(&buf, ",\n       %s AS newest,\n       ",
					 has_log ? "n.newest" :
					 psprintf("coalesce(%s, %s)",
							  scd2_plan_column_of("d", dim->valid_from),
							  scd2_plan_column_of("c", closed->valid_to)));
	scd2_plan_replay(&buf, dim, flags, lacks);
	appendStringInfoString(&buf, " AS replay");
	for (int i = 0; ask_type0 && i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == 0)
			appendStringInfo(&buf, ", t%d.v", i + 1);

	appendStringInfo(&buf, "\n  FROM scd2_staged AS s"
					 "\n  LEFT JOIN %s AS d ON ",
					 flags & SCD2_RESOLVE_LOCATED ? "scd2_located" : dim->sql_name);
	if (flags & SCD2_RESOLVE_NO_DIM)
		appendStringInfoString(&buf, "false");
	else if (flags & SCD2_RESOLVE_LOCATED)
		scd2_plan_key_match(&buf, dim, "d", false, "s");
	else
	{
		if (flags & SCD2_RESOLVE_BY_TID)
			appendStringInfoString(&buf, "d.ctid" EQUALS "s.tid");
		else
			scd2_plan_key_match(&buf, dim, "d", false, "s");
		appendStringInfoString(&buf, " AND ");
		append_current(&buf, dim, "d", false);
	}

	appendStringInfoString(&buf, "\n  LEFT JOIN LATERAL (\n"
						   "           SELECT v.*\n             FROM ");
	appendStringInfo(&buf, "%s AS v\n            WHERE ", closed->sql_name);
	if (flags & SCD2_RESOLVE_NO_DIM)
		appendStringInfoString(&buf, "false");
	else
	{
		appendStringInfoString(&buf, "d.ctid IS NULL AND ");
		scd2_plan_key_match(&buf, closed, "v", false, "s");
	}
	appendStringInfoString(&buf, "\n            ORDER BY ");
	scd2_append_ident(&buf, "v", closed->valid_from);
	appendStringInfoString(&buf, " DESC LIMIT 1) AS c ON true");

	if (has_log)
	{
		appendStringInfoString(&buf, "\n  LEFT JOIN LATERAL (\n"
							   "           SELECT max(");
		scd2_append_ident(&buf, "l", dim->log_effective_at);
		appendStringInfo(&buf, ") AS newest\n             FROM %s AS l"
						 "\n            WHERE ", dim->log_sql_name);
		if (flags & SCD2_RESOLVE_NO_LOG)
			appendStringInfoString(&buf, "false");
		else
		{
			/* a row above all that is logged needs no look at the log */
			appendStringInfoString(&buf, "s.e" AT_MOST "$1 AND ");
			scd2_plan_key_match(&buf, dim, "l", true, "s");
			scd2_plan_not_undone(&buf, dim, flags);
		}
		appendStringInfoString(&buf, ") AS n ON true");
	}
	for (int i = 0; ask_type0 && i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == 0)
			scd2_plan_last_value(&buf, dim, i, flags);

	appendStringInfoString(&buf, "\n ORDER BY ");
	scd2_plan_staged_order(&buf, dim, "s");
	return buf.data;
}

/*
 * SET list entries for the columns that every version shows, from alias "from".
 */
List *
scd2_plan_overlay_columns(const Scd2Dimension *dim)
{
	List	   *names = NIL;

	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];

		if (col->scd_type == 0 || col->scd_type == 1 || col->scd_type == 3)
			names = lappend(names, col->name);
		if (col->scd_type == 3 || col->scd_type == 6)
			names = lappend(names, col->extra_name);
	}
	return names;
}

static void
append_overlay_set(StringInfo buf, const Scd2Dimension *dim, const char *from,
				   bool first)
{
	List	   *names = scd2_plan_overlay_columns(dim);
	ListCell   *lc;

	foreach(lc, names)
	{
		if (!first)
			appendStringInfoString(buf, ",\n       ");
		first = false;
		appendStringInfo(buf, "%s = %s.o%d",
						 quote_identifier((char *) lfirst(lc)), from,
						 foreach_current_index(lc) + 1);
	}
}

/*
 * Close: the first of the two copies that each changed row is staged as (R15).
 * By ctid, and no index holds a column that it changes, so that it is HOT.
 */
char *
scd2_plan_close(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS d\n   SET ", dim->sql_name);
	appendStringInfo(&buf, "%s = c.valid_to,\n       ",
					 quote_identifier(dim->valid_to));
	appendStringInfo(&buf, "%s = false", quote_identifier(dim->is_current));
	append_overlay_set(&buf, dim, "c", false);
	appendStringInfoString(&buf, "\n  FROM scd2_close AS c"
						   "\n WHERE d.ctid" EQUALS "c.tid");
	return buf.data;
}

/*
 * Names of the dimension's columns in the order of scd2_open's.
 */
List *
scd2_plan_open_columns(const Scd2Dimension *dim)
{
	List	   *names = list_make1(dim->sk_name);

	for (int i = 0; i < dim->nkeys; i++)
		names = lappend(names, dim->keys[i].name);
	for (int i = 0; i < dim->nattrs; i++)
		names = lappend(names, dim->attrs[i].name);
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL)
			names = lappend(names, dim->attrs[i].extra_name);
	if (dim->row_hash != NULL)
		names = lappend(names, dim->row_hash);
	names = lappend(names, dim->valid_from);
	names = lappend(names, dim->valid_to);
	names = lappend(names, dim->is_current);
	if (dim->is_deleted != NULL)
		names = lappend(names, dim->is_deleted);
	return names;
}

/*
 * Open: the second copy.  The tuplestore's columns are called c1, c2, ...
 */
char *
scd2_plan_open(const Scd2Dimension *dim, const char *store)
{
	List	   *names = scd2_plan_open_columns(dim);
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "INSERT INTO %s (", dim->sql_name);
	foreach(lc, names)
	{
		if (foreach_current_index(lc) > 0)
			appendStringInfoString(&buf, ", ");
		appendStringInfoString(&buf, quote_identifier((char *) lfirst(lc)));
	}
	appendStringInfoString(&buf, ")\nSELECT ");
	for (int i = 1; i <= list_length(names); i++)
		appendStringInfo(&buf, "%so.c%d", i > 1 ? ", " : "", i);
	appendStringInfo(&buf, "\n  FROM %s AS o", store);
	return buf.data;
}

/*
 * Overwrite what every version of a key shows alike, where it differs (R8,
 * R12).
 */
char *
scd2_plan_overwrite(const Scd2Dimension *dim)
{
	List	   *names = scd2_plan_overlay_columns(dim);
	List	   *mine = NIL;
	List	   *theirs = NIL;
	StringInfoData buf;
	ListCell   *lc;

	foreach(lc, names)
	{
		mine = lappend(mine, scd2_plan_column_of("d", (char *) lfirst(lc)));
		theirs = lappend(theirs, psprintf("w.o%d",
										  foreach_current_index(lc) + 1));
	}

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS d\n   SET ", dim->sql_name);
	append_overlay_set(&buf, dim, "w", true);
	appendStringInfoString(&buf, "\n  FROM scd2_overwrite AS w\n WHERE ");
	scd2_plan_key_match(&buf, dim, "d", false, "w");
	appendStringInfoString(&buf, "\n   AND ");
	scd2_plan_row_hash(&buf, mine);
	appendStringInfoString(&buf, DIFFERS "\n       ");
	scd2_plan_row_hash(&buf, theirs);
	return buf.data;
}

/*
 * Log the accepted changes, in the order of their arrival.
 */
char *
scd2_plan_log(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "INSERT INTO %s (", dim->log_sql_name);
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s, ", quote_identifier(dim->keys[i].log_name));
	appendStringInfo(&buf, "%s, ", quote_identifier(dim->log_effective_at));
	if (dim->keeps_source_time)
		appendStringInfo(&buf, "%s, ", quote_identifier(dim->log_source_time));
	for (int i = 0; i < dim->nseq; i++)
		appendStringInfo(&buf, "%s, ", quote_identifier(dim->seq[i].log_name));
	appendStringInfo(&buf, "%s, ", quote_identifier(dim->log_deleted));
	for (int i = 0; i < dim->nattrs; i++)
		appendStringInfo(&buf, "%s, ",
						 quote_identifier(dim->attrs[i].log_name));
	appendStringInfo(&buf, "%s, ", quote_identifier(dim->log_lacks));
	appendStringInfo(&buf, "%s, ", quote_identifier(dim->log_run));
	appendStringInfo(&buf, "%s)\nSELECT ",
					 quote_identifier(dim->log_recorded_at));
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "g.k%d, ", i);
	appendStringInfoString(&buf, "g.e, ");
	if (dim->keeps_source_time)
		appendStringInfoString(&buf, "g.source_time, ");
	for (int i = 1; i <= dim->nseq; i++)
		appendStringInfo(&buf, "g.s%d, ", i);
	appendStringInfoString(&buf, "g.deleted, ");
	for (int i = 1; i <= dim->nattrs; i++)
		appendStringInfo(&buf, "g.a%d, ", i);
	appendStringInfoString(&buf, "g.lacks, g.run, $1\n  FROM scd2_logged AS g");
	return buf.data;
}
