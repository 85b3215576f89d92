/*-------------------------------------------------------------------------
 *
 * ask_plan.c
 *	  The SQL of calls that ask a dimension, from a definition alone; as plan.c
 *	  otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "ask_plan.h"

#include "plan.h"
#include "plan_history.h"
#include "sqltext.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "
#define LESS		" OPERATOR(pg_catalog.<) "
#define AT_MOST		" OPERATOR(pg_catalog.<=) "
#define AT_LEAST	" OPERATOR(pg_catalog.>=) "
#define GREATER		" OPERATOR(pg_catalog.>) "

/* ----------------------------------------------------------------
 * Rows
 * ----------------------------------------------------------------
 */

static void
append_columns(StringInfo buf, TupleDesc desc, const char *alias)
{
	bool		first = true;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		appendStringInfo(buf, "%s%s", first ? "" : ", ",
						 scd2_plan_column_of(alias, NameStr(att->attname)));
		first = false;
	}
}

/*
 * The same columns in the history, by the names that they have there; those of a
 * user's own are the dimension's alone.
 */
static void
append_history_columns(StringInfo buf, const Scd2Dimension *dim, TupleDesc desc)
{
	List	   *names = scd2_plan_open_columns(dim);
	List	   *history_names = scd2_plan_open_columns(dim->history);
	bool		first = true;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		char	   *column = NULL;
		ListCell   *lc;

		if (att->attisdropped)
			continue;
		foreach(lc, names)
			if (strcmp(NameStr(att->attname), (char *) lfirst(lc)) == 0)
				column = scd2_plan_column_of("h", list_nth(history_names,
														   foreach_current_index(lc)));
		if (column == NULL)
			column = psprintf("NULL::%s", format_type_be_qualified(att->atttypid));
		appendStringInfo(buf, "%s%s", first ? "" : ", ", column);
		first = false;
	}
}

/*
 * SELECT d.customer_sk, ... FROM gold.dim_customer AS d, or from
 * (SELECT p.customer_sk, ... FROM gold.dim_customer AS p
 *  UNION ALL
 *  SELECT h.customer_sk, ... FROM gold.dim_customer_history AS h) AS d
 */
static void
append_rows(StringInfo buf, const Scd2Dimension *dim, TupleDesc desc)
{
	appendStringInfoString(buf, "SELECT ");
	append_columns(buf, desc, "d");
	appendStringInfoString(buf, "\n  FROM ");
	if (dim->history == NULL)
		appendStringInfoString(buf, dim->sql_name);
	else
	{
		appendStringInfoString(buf, "(SELECT ");
		append_columns(buf, desc, "p");
		appendStringInfo(buf, " FROM %s AS p\n        UNION ALL\n        SELECT ",
						 dim->sql_name);
		append_history_columns(buf, dim, desc);
		appendStringInfo(buf, " FROM %s AS h)", dim->history->sql_name);
	}
	appendStringInfoString(buf, " AS d");
}

/*
 * ... WHERE d.valid_from <= $1 AND (d.valid_to > $1 OR d.valid_to IS NULL)
 *       AND d.customer_id IS NOT NULL
 */
char *
scd2_ask_as_of_sql(const Scd2Dimension *dim, TupleDesc desc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_rows(&buf, dim, desc);
	appendStringInfo(&buf, "\n WHERE %s" AT_MOST "$1 AND ",
					 scd2_plan_column_of("d", dim->valid_from));
	if (dim->open_end_is_null)
		appendStringInfo(&buf, "(%s IS NULL OR %s" GREATER "$1)",
						 scd2_plan_column_of("d", dim->valid_to),
						 scd2_plan_column_of("d", dim->valid_to));
	else
		appendStringInfo(&buf, "%s" GREATER "$1",
						 scd2_plan_column_of("d", dim->valid_to));
	appendStringInfo(&buf, " AND %s IS NOT NULL",
					 scd2_plan_column_of("d", dim->keys[0].name));
	return buf.data;
}

/* JOIN (SELECT $1 AS k1, ...) AS k ON */
static void
append_parameters(StringInfo buf, const Scd2Dimension *dim)
{
	appendStringInfoString(buf, "\n  JOIN (SELECT ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(buf, "%s$%d AS k%d", i > 1 ? ", " : "", i, i);
	appendStringInfoString(buf, ") AS k ON ");
}

/* ... d.customer_id = k.k1 AND ... */
static void
append_key_join(StringInfo buf, const Scd2Dimension *dim)
{
	append_parameters(buf, dim);
	scd2_plan_key_match(buf, dim, "d", false, "k");
}

/*
 * ... JOIN (SELECT $1 AS k1) AS k ON d.customer_id = k.k1 ORDER BY d.valid_from
 */
char *
scd2_ask_history_sql(const Scd2Dimension *dim, TupleDesc desc)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_rows(&buf, dim, desc);
	append_key_join(&buf, dim);
	appendStringInfo(&buf, "\n ORDER BY %s",
					 scd2_plan_column_of("d", dim->valid_from));
	return buf.data;
}

/*
 * SELECT d.customer_sk, d.valid_to FROM gold.dim_customer AS d
 *   JOIN (SELECT $1 AS k1) AS k ON d.customer_id = k.k1
 *  WHERE d.valid_from <= $2
 *  ORDER BY d.valid_from DESC LIMIT 1
 *
 * One probe of the index over (K, valid_from), however long the chain is.
 */
char *
scd2_ask_lookup_sql(const Scd2Dimension *dim)
{
	const char *from = scd2_plan_column_of("d", dim->valid_from);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT %s::%s, %s::%s\n  FROM %s AS d",
					 scd2_plan_column_of("d", dim->sk_name),
					 dim->sk_is_uuid ? "pg_catalog.uuid" : "pg_catalog.int8",
					 scd2_plan_column_of("d", dim->valid_to),
					 format_type_be_qualified(dim->period_type),
					 scd2_plan_versions(dim));
	append_key_join(&buf, dim);
	appendStringInfo(&buf, "\n WHERE %s" AT_MOST "$%d\n ORDER BY %s DESC\n LIMIT 1",
					 from, dim->nkeys + 1, from);
	return buf.data;
}

char *
scd2_ask_unknown_sql(const Scd2Dimension *dim)
{
	return psprintf("SELECT EXISTS (SELECT FROM %s AS d WHERE %s" EQUALS "%s)",
					dim->sql_name, scd2_plan_column_of("d", dim->sk_name),
					dim->sk_is_uuid ? "'00000000-0000-0000-0000-000000000000'::pg_catalog.uuid" :
					"'-1'::pg_catalog.int8");
}

Oid *
scd2_ask_key_types(const Scd2Dimension *dim, int more)
{
	Oid		   *types = palloc((dim->nkeys + more) * sizeof(Oid));

	for (int i = 0; i < dim->nkeys; i++)
		types[i] = dim->keys[i].typid;
	for (int i = 0; i < more; i++)
		types[dim->nkeys + i] = dim->period_type;
	return types;
}

/* ----------------------------------------------------------------
 * Versions beside those that they follow
 * ----------------------------------------------------------------
 */

/*
 * (SELECT v.customer_id AS k1, v.valid_from AS vf, v.valid_to AS vt,
 *         v.is_current AS cur, v.is_deleted AS deleted, v.name AS a1, ...
 *    FROM gold.dim_customer AS v WHERE v.customer_id IS NOT NULL)
 */
static void
append_side(StringInfo buf, const Scd2Dimension *dim)
{
	const char *type = format_type_be_qualified(dim->period_type);

	appendStringInfoString(buf, "(SELECT ");
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(buf, "%s AS k%d, ",
						 scd2_plan_column_of("v", dim->keys[i].name), i + 1);
	appendStringInfo(buf, "%s::%s AS vf, %s::%s AS vt, %s AS cur, %s AS deleted",
					 scd2_plan_column_of("v", dim->valid_from), type,
					 scd2_plan_column_of("v", dim->valid_to), type,
					 scd2_plan_column_of("v", dim->is_current),
					 dim->is_deleted != NULL ?
					 scd2_plan_column_of("v", dim->is_deleted) : "false");
	for (int i = 0; i < dim->nattrs; i++)
		appendStringInfo(buf, ", %s AS a%d",
						 scd2_plan_column_of("v", dim->attrs[i].name), i + 1);
	appendStringInfo(buf, "\n          FROM %s AS v WHERE %s IS NOT NULL)",
					 scd2_plan_versions(dim),
					 scd2_plan_column_of("v", dim->keys[0].name));
}

/*
 * Lay out the columns; see ask_plan.h.
 */
void
scd2_ask_pair_layout(const Scd2Dimension *dim, Scd2AskPairLayout *layout)
{
	int			n = 0;

	layout->at = n++;
	layout->action = n++;
	layout->keys = n;
	n += dim->nkeys;
	layout->deleted = n++;
	layout->attrs = n;
	n += dim->nattrs;
	layout->has_other = n++;
	layout->other_deleted = n++;
	layout->other_attrs = n;
	n += dim->nattrs;
	layout->ncols = n;
}

static void
append_pair_columns(StringInfo buf, const Scd2Dimension *dim, const char *at,
					int action)
{
	appendStringInfo(buf, "SELECT %s AS at, %d AS action", at, action);
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(buf, ", d.k%d", i);
	appendStringInfoString(buf, ", d.deleted");
	for (int i = 1; i <= dim->nattrs; i++)
		appendStringInfo(buf, ", d.a%d", i);
	appendStringInfoString(buf, ", o.vf IS NOT NULL AS has_other, o.deleted AS other_deleted");
	for (int i = 1; i <= dim->nattrs; i++)
		appendStringInfo(buf, ", o.a%d AS o%d", i, i);
	appendStringInfoString(buf, "\n          FROM ");
	append_side(buf, dim);
	appendStringInfoString(buf, " AS d");
}

static void
append_followed(StringInfo buf, const Scd2Dimension *dim, const char *join)
{
	appendStringInfo(buf, "\n          %s ", join);
	append_side(buf, dim);
	appendStringInfoString(buf, " AS o\n            ON ");
	scd2_plan_same_key(buf, dim, "o", "d");
	appendStringInfoString(buf, " AND o.vt" EQUALS "d.vf AND NOT o.cur");
}

/*
 * Versions with those that they followed: d.valid_from = o.valid_to; and closed
 * ones with those that followed them.  An open version's valid_to is no time.
 */
char *
scd2_ask_changes_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT x.*\n  FROM (");
	append_pair_columns(&buf, dim, "d.vf", 1);
	append_followed(&buf, dim, "LEFT JOIN");
	appendStringInfoString(&buf, "\n         WHERE d.vf" AT_LEAST "$1 AND d.vf" LESS "$2"
						   "\n        UNION ALL\n        ");
	append_pair_columns(&buf, dim, "d.vt", 0);
	appendStringInfoString(&buf, "\n          LEFT JOIN ");
	append_side(&buf, dim);
	appendStringInfoString(&buf, " AS o\n            ON ");
	scd2_plan_same_key(&buf, dim, "o", "d");
	appendStringInfoString(&buf, " AND o.vf" EQUALS "d.vt"
						   "\n         WHERE NOT d.cur AND d.vt" AT_LEAST "$1 AND d.vt" LESS "$2) AS x"
						   "\n ORDER BY x.at, ");
	scd2_plan_key_order(&buf, dim, "x");
	appendStringInfoString(&buf, ", x.action");
	return buf.data;
}

char *
scd2_ask_pairs_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_pair_columns(&buf, dim, "d.vf", 1);
	append_followed(&buf, dim, "JOIN");
	return buf.data;
}

/* ----------------------------------------------------------------
 * One key's chain
 * ----------------------------------------------------------------
 */

/*
 * Lay out the columns; see ask_plan.h.
 */
void
scd2_ask_chain_layout(const Scd2Dimension *dim, Scd2AskChainLayout *layout)
{
	layout->valid_from = dim->nkeys;
	layout->valid_to = dim->nkeys + 1;
	layout->deleted = dim->nkeys + 3;
	layout->attrs = dim->nkeys + 4;
}

/*
 * SELECT d.* FROM (...) AS d JOIN (SELECT $1 AS k1) AS k ON d.k1 = k.k1
 *  ORDER BY d.vf, d.vt
 */
char *
scd2_ask_chain_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT d.*\n  FROM ");
	append_side(&buf, dim);
	appendStringInfoString(&buf, " AS d");
	append_parameters(&buf, dim);
	scd2_plan_same_key(&buf, dim, "d", "k");
	appendStringInfoString(&buf, "\n ORDER BY d.vf, d.vt");
	return buf.data;
}

/* ----------------------------------------------------------------
 * Counts
 * ----------------------------------------------------------------
 */

char *
scd2_ask_counts_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT pg_catalog.count(*)::numeric,"
						   " COALESCE(pg_catalog.sum(c.n), 0)::numeric,"
						   "\n       pg_catalog.round(pg_catalog.avg(c.n), 2),"
						   "\n       pg_catalog.percentile_disc(0.5) WITHIN GROUP (ORDER BY c.n)::numeric,"
						   "\n       pg_catalog.percentile_disc(0.99) WITHIN GROUP (ORDER BY c.n)::numeric,"
						   "\n       pg_catalog.max(c.n)::numeric"
						   "\n  FROM (SELECT pg_catalog.count(*) AS n\n          FROM ");
	append_side(&buf, dim);
	appendStringInfoString(&buf, " AS d\n         GROUP BY ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "%sd.k%d", i > 1 ? ", " : "", i);
	appendStringInfoString(&buf, ") AS c");
	return buf.data;
}
