/*-------------------------------------------------------------------------
 *
 * plan_late.c
 *	  The SQL of late batches, from a definition alone; as plan.c otherwise.
 *
 * scd2_states has what was known of each key at the batch's time (present, a1, ...)
 * and at the next snapshot's (next_present, n1, ...); see states.h.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_late.h"

#include "plan_history.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define AT_MOST		" OPERATOR(pg_catalog.<=) "
#define AFTER		" OPERATOR(pg_catalog.>) "

/*
 * The column of a version, as alias "v", that a scope reads, as it was when the
 * batch's time was the present: columns that every version shows now had the
 * state's values, and the version was the open one.
 */
static char *
column_then(const Scd2Dimension *dim, AttrNumber attnum, const char *name)
{
	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];

		if ((attnum == col->attnum && (col->scd_type == 1 || col->scd_type == 3)) ||
			(attnum == col->extra_attnum && col->scd_type == 6))
			return psprintf("t.a%d AS %s", i + 1, quote_identifier(name));
	}
	if (attnum == dim->is_current_attnum)
		return psprintf("true AS %s", quote_identifier(name));
	return scd2_plan_column_of("v", name);
}

/*
 * Keys that were there at the batch's time, $1 in the period's type; with a scope
 * those that were in it then.
 */
static void
append_open(StringInfo buf, const Scd2Dimension *dim, const char *scope_sql,
			List *scope_columns)
{
	ListCell   *lc;

	appendStringInfoString(buf, "\n  FROM scd2_states AS t\n WHERE t.present");
	if (scope_sql == NULL)
		return;
	appendStringInfoString(buf, "\n   AND EXISTS (\n           SELECT FROM (\n                  SELECT");
	foreach(lc, scope_columns)
		appendStringInfo(buf, "%s %s", foreach_current_index(lc) > 0 ? "," : "",
						 column_then(dim, lfirst_int(lc),
									 get_attname(dim->relid, lfirst_int(lc), false)));
	appendStringInfo(buf, "\n                    FROM %s AS v\n                   WHERE ",
					 scd2_plan_versions(dim));
	scd2_plan_key_match(buf, dim, "v", false, "t");
	appendStringInfo(buf, "\n                     AND %s" AT_MOST "$1 AND (%s" AFTER "$1",
					 scd2_plan_column_of("v", dim->valid_from),
					 scd2_plan_column_of("v", dim->valid_to));
	if (dim->open_end_is_null)
		appendStringInfo(buf, " OR %s IS NULL", scd2_plan_column_of("v", dim->valid_to));
	appendStringInfo(buf, ")) AS d\n            WHERE (%s))", scope_sql);
}

char *
scd2_plan_late_open_keys(const Scd2Dimension *dim, const char *scope_sql,
						 List *scope_columns)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT count(*)");
	append_open(&buf, dim, scope_sql, scope_columns);
	return buf.data;
}

/*
 * Of those, the ones that the late snapshot lacks.
 */
char *
scd2_plan_late_absent(const Scd2Dimension *dim, const char *scope_sql,
					  List *scope_columns)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "%st.k%d", i > 1 ? ", " : "", i);
	append_open(&buf, dim, scope_sql, scope_columns);
	appendStringInfoString(&buf, "\n   AND NOT EXISTS (SELECT FROM scd2_staged AS s WHERE ");
	scd2_plan_same_key(&buf, dim, "s", "t");
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* ", NULL" or a column of the states, for each column of a type */
static void
append_columns(StringInfo buf, const Scd2Dimension *dim, int scd_type,
			   const char *prefix)
{
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (scd_type >= 0 && dim->attrs[i].scd_type != scd_type)
			continue;
		if (prefix != NULL)
			appendStringInfo(buf, ", t.%s%d", prefix, i + 1);
		else
			appendStringInfo(buf, ", NULL::%s",
							 format_type_be_qualified(dim->attrs[i].typid));
	}
}

/*
 * What was known of each staged row's key: the columns of the resolve statement
 * (plan.h), with the state at the batch's time in place of the current version, and
 * the state at the next snapshot's behind them.
 */
char *
scd2_plan_late_resolve(const Scd2Dimension *dim)
{
	const char *period = format_type_be_qualified(dim->period_type);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	scd2_plan_staged_columns(&buf, dim, "s");
	appendStringInfo(&buf, ",\n       CASE WHEN t.present THEN '(0,1)'::pg_catalog.tid END, NULL::%s",
					 period);
	if (dim->is_deleted != NULL)
		appendStringInfoString(&buf, ", false");
	append_columns(&buf, dim, -1, "a");
	append_columns(&buf, dim, 3, NULL);
	appendStringInfo(&buf, ",\n       NULL::%s", period);
	append_columns(&buf, dim, -1, NULL);
	append_columns(&buf, dim, 3, NULL);
	appendStringInfo(&buf, ",\n       NULL::%s AS newest, false AS replay", period);
	append_columns(&buf, dim, 0, "a");
	appendStringInfoString(&buf, ",\n       t.next_present, t.next_logged");
	append_columns(&buf, dim, -1, "n");
	appendStringInfoString(&buf, "\n  FROM scd2_staged AS s\n  LEFT JOIN scd2_states AS t ON ");
	scd2_plan_same_key(&buf, dim, "s", "t");
	appendStringInfoString(&buf, "\n ORDER BY ");
	scd2_plan_staged_order(&buf, dim, "s");
	return buf.data;
}
