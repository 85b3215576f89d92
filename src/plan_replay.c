/*-------------------------------------------------------------------------
 *
 * plan_replay.c
 *	  The SQL that finds out whether a row was applied before; as plan.c
 *	  otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_replay.h"

#include "sqltext.h"
#include "utils/builtins.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "
#define DIFFERS		" OPERATOR(pg_catalog.<>) "
#define AT_MOST		" OPERATOR(pg_catalog.<=) "
#define AFTER		" OPERATOR(pg_catalog.>) "

/*
 * The expressions over a log row that make a replay (R5); stage.c computes the
 * same over a source row as its fingerprint.  Columns that the batch lacks, if
 * any, do not count: that they are not sent any more makes no change of one that
 * was logged.
 */
List *
scd2_plan_log_fingerprint(const Scd2Dimension *dim, const char *alias,
						  const bool *lacks)
{
	List	   *exprs = NIL;

	if (dim->keeps_source_time)
		exprs = lappend(exprs, scd2_plan_column_of(alias, dim->log_source_time));
	for (int i = 0; i < dim->nseq; i++)
		exprs = lappend(exprs, scd2_plan_column_of(alias, dim->seq[i].log_name));
	exprs = lappend(exprs, scd2_plan_column_of(alias, dim->log_deleted));
	for (int i = 0; i < dim->nattrs; i++)
		if (lacks == NULL || !lacks[i])
			exprs = lappend(exprs, scd2_plan_column_of(alias, dim->attrs[i].log_name));
	return exprs;
}

/*
 * Changes of undone runs are none (R27).
 */
void
scd2_plan_not_undone(StringInfo buf, const Scd2Dimension *dim, int flags)
{
	if (flags & SCD2_RESOLVE_UNDONE)
		appendStringInfo(buf, "\n              AND %s OPERATOR(pg_catalog.<>) ALL ($2)",
						 scd2_plan_column_of("l", dim->log_run));
}

/*
 * "OR" conditions for a log row that lacks a column (R8): by scd2_lacks, or by its
 * run, where that was before the column's.
 */
static void
append_lacks(StringInfo buf, const Scd2Dimension *dim, const Scd2Column *col)
{
	appendStringInfo(buf, "coalesce(%d" EQUALS "ANY (%s), false)", col->id,
					 scd2_plan_column_of("l", dim->log_lacks));
	if (col->since_run > 0)
		appendStringInfo(buf, " OR %s OPERATOR(pg_catalog.<) " INT64_FORMAT,
						 scd2_plan_column_of("l", dim->log_run), col->since_run);
}

/*
 * A change is not equal to one that lacks a column which it has itself (R8).  A
 * delete has no attributes.
 */
static void
append_lacks_none(StringInfo buf, const Scd2Dimension *dim, const bool *lacks)
{
	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];

		if ((lacks != NULL && lacks[i]) || (col->since_run == 0 && !col->lacked))
			continue;
		appendStringInfoString(buf, "\n              AND (s.deleted OR NOT (");
		append_lacks(buf, dim, col);
		appendStringInfoString(buf, "))");
	}
}

/*
 * In mode log the very row comes again, which may have been read before a column
 * was gained: what its logged change lacks does not count.
 */
static void
append_same_row(StringInfo buf, const Scd2Dimension *dim, const bool *lacks)
{
	List	   *exprs = NIL;
	bool		any = false;

	appendStringInfoString(buf, "\n              AND (");
	scd2_plan_row_hash(buf, scd2_plan_log_fingerprint(dim, "l", lacks));
	appendStringInfoString(buf, EQUALS "s.fp");

	if (dim->keeps_source_time)
		exprs = lappend(exprs, "s.source_time");
	for (int i = 1; i <= dim->nseq; i++)
		exprs = lappend(exprs, psprintf("s.s%d", i));
	exprs = lappend(exprs, "s.deleted");
	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];
		StringInfoData expr;

		if (lacks != NULL && lacks[i])
			continue;
		initStringInfo(&expr);
		if (col->since_run == 0 && !col->lacked)
			appendStringInfo(&expr, "s.a%d", i + 1);
		else
		{
			any = true;
			appendStringInfoString(&expr, "CASE WHEN ");
			append_lacks(&expr, dim, col);
			appendStringInfo(&expr, " THEN NULL ELSE s.a%d END", i + 1);
		}
		exprs = lappend(exprs, expr.data);
	}
	if (any)
	{
		appendStringInfoString(buf, "\n                   OR ");
		scd2_plan_row_hash(buf, scd2_plan_log_fingerprint(dim, "l", lacks));
		appendStringInfoString(buf, EQUALS);
		scd2_plan_row_hash(buf, exprs);
	}
	appendStringInfoChar(buf, ')');
}

/*
 * A lateral item (alias t1, t2, ... by the column's place) with a type 0 column's
 * value in the last state (R5, R8): of the standing changes that are no deletes,
 * the last that has the column.  With ignore_null_updates a null is one only where
 * the key is new or comes back.
 */
void
scd2_plan_last_value(StringInfo buf, const Scd2Dimension *dim, int attr, int flags)
{
	const Scd2Column *col = &dim->attrs[attr];
	char	   *e = scd2_plan_column_of("l", dim->log_effective_at);

	appendStringInfo(buf, "\n  LEFT JOIN LATERAL ("
					 "\n           SELECT l.v"
					 "\n             FROM (SELECT l.*%s"
					 "\n                     FROM (SELECT DISTINCT ON (%s) %s AS e, %s::%s AS v, %s AS deleted,"
					 "\n                                  ",
					 dim->ignore_null_updates ?
					 ", coalesce(lag(l.deleted) OVER (ORDER BY l.e), true) AS afresh" : "",
					 e, e, scd2_plan_column_of("l", col->log_name),
					 format_type_be_qualified(col->typid),
					 scd2_plan_column_of("l", dim->log_deleted));
	append_lacks(buf, dim, col);
	appendStringInfo(buf, " AS lacks\n                             FROM %s AS l\n                            WHERE ",
					 dim->log_sql_name);
	if (flags & SCD2_RESOLVE_NO_LOG)
		appendStringInfoString(buf, "false");
	else
		scd2_plan_key_match(buf, dim, "l", true, "s");
	scd2_plan_not_undone(buf, dim, flags);
	if (dim->on_delete == SCD2_DELETE_IGNORE)
		appendStringInfo(buf, "\n              AND NOT %s",
						 scd2_plan_column_of("l", dim->log_deleted));
	appendStringInfo(buf, "\n                            ORDER BY %s DESC, ", e);
	if (dim->keeps_source_time)
		appendStringInfo(buf, "%s DESC, ", scd2_plan_column_of("l", dim->log_source_time));
	for (int i = 0; i < dim->nseq; i++)
		appendStringInfo(buf, "%s DESC, ", scd2_plan_column_of("l", dim->seq[i].log_name));
	appendStringInfo(buf, "%s DESC) AS l) AS l"
					 "\n            WHERE NOT l.deleted AND NOT l.lacks%s"
					 "\n            ORDER BY l.e DESC LIMIT 1) AS t%d ON true",
					 scd2_plan_column_of("l", dim->log_id),
					 dim->ignore_null_updates ? " AND (l.afresh OR l.v IS NOT NULL)" : "",
					 attr + 1);
}

/* The columns that make versions, less those that the batch lacks. */
static List *
version_columns(const Scd2Dimension *dim, const char *alias, const bool *lacks)
{
	List	   *exprs = NIL;

	for (int i = 0; i < dim->nattrs; i++)
		if ((dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6) &&
			(lacks == NULL || !lacks[i]))
			exprs = lappend(exprs, scd2_plan_column_of(alias, dim->attrs[i].name));
	return exprs;
}

/*
 * Has a table ("place") the version that the row would make at its E?
 */
static void
append_same_version(StringInfo buf, const Scd2Dimension *place,
					const bool *lacks)
{
	appendStringInfo(buf, "EXISTS (\n"
					 "           SELECT FROM %s AS v\n            WHERE ",
					 place->sql_name);
	scd2_plan_key_match(buf, place, "v", false, "s");
	appendStringInfoString(buf, "\n              AND ");
	scd2_append_ident(buf, "v", place->valid_from);
	appendStringInfoString(buf, AT_MOST "s.e AND (");
	scd2_append_ident(buf, "v", place->valid_to);
	appendStringInfoString(buf, AFTER "s.e");
	if (place->open_end_is_null)
	{
		appendStringInfoString(buf, " OR ");
		scd2_append_ident(buf, "v", place->valid_to);
		appendStringInfoString(buf, " IS NULL");
	}
	appendStringInfoChar(buf, ')');
	if (place->is_deleted != NULL)
	{
		appendStringInfoString(buf, "\n              AND NOT ");
		scd2_append_ident(buf, "v", place->is_deleted);
	}
	if (version_columns(place, "v", lacks) != NIL)
	{
		appendStringInfoString(buf, "\n              AND (s.deleted OR ");
		scd2_plan_row_hash(buf, version_columns(place, "v", lacks));
		appendStringInfoString(buf, EQUALS "s.fp)");
	}
	appendStringInfoChar(buf, ')');
}

/*
 * Was the row applied before?  With a log: an equal change is in it.  Without:
 * the version at its E is equal (R20).
 */
void
scd2_plan_replay(StringInfo buf, const Scd2Dimension *dim, int flags,
				 const bool *lacks)
{
	if (scd2_compares_state(dim))
		appendStringInfoString(buf, "false");
	else if (OidIsValid(dim->log))
	{
		if (flags & SCD2_RESOLVE_NO_LOG)
		{
			appendStringInfoString(buf, "false");
			return;
		}
		appendStringInfoString(buf, "CASE WHEN s.e" AT_MOST "n.newest THEN EXISTS (\n"
							   "           SELECT FROM ");
		appendStringInfo(buf, "%s AS l\n            WHERE ",
						 dim->log_sql_name);
		scd2_plan_key_match(buf, dim, "l", true, "s");
		appendStringInfoString(buf, "\n              AND ");
		scd2_append_ident(buf, "l", dim->log_effective_at);
		appendStringInfoString(buf, EQUALS "s.e");
		scd2_plan_not_undone(buf, dim, flags);
		if (dim->mode == SCD2_MODE_LOG)
			append_same_row(buf, dim, lacks);
		else
		{
			append_lacks_none(buf, dim, lacks);
			appendStringInfoString(buf, "\n              AND ");
			scd2_plan_row_hash(buf, scd2_plan_log_fingerprint(dim, "l", lacks));
			appendStringInfoString(buf, EQUALS "s.fp");
		}
		appendStringInfoString(buf, ")\n       ELSE false END");
	}
	else
	{
		appendStringInfo(buf, "CASE WHEN s.e" AT_MOST "coalesce(%s, %s) THEN s.deleted"
						 DIFFERS "%s",
						 scd2_plan_column_of("d", dim->valid_from),
						 scd2_plan_column_of("c", (dim->history != NULL ? dim->history : dim)->valid_to),
						 dim->history != NULL ? "(" : "");
		append_same_version(buf, dim, lacks);
		if (dim->history != NULL)
		{
			appendStringInfoString(buf, " OR ");
			append_same_version(buf, dim->history, lacks);
			appendStringInfoChar(buf, ')');
		}
		appendStringInfoString(buf, "\n       ELSE false END");
	}
}
