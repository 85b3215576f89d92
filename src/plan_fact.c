/*-------------------------------------------------------------------------
 *
 * plan_fact.c
 *	  The SQL that sets and follows the surrogate keys of facts; as plan.c
 *	  otherwise.
 *
 * A fact is of the version of its key that is valid at its event time, converted
 * to the period's type as AT TIME ZONE does in the dimension's zone.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_fact.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "plan_history.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "
#define AT_MOST		" OPERATOR(pg_catalog.<=) "
#define AFTER		" OPERATOR(pg_catalog.>) "

/* The = of enums does not take a domain over one. */
static const char *
enum_cast(Oid typid)
{
	Oid			base = getBaseType(typid);

	return base != typid && type_is_enum(base) ?
		psprintf("::%s", format_type_be_qualified(base)) : "";
}

/* A key column of versions: by its name, or k1, k2, ... of a store. */
static char *
version_key(const Scd2Dimension *dim, const char *alias, bool stored, int key)
{
	return stored ? psprintf("%s.k%d", alias, key + 1) :
		scd2_plan_column_of(alias, dim->keys[key].name);
}

/*
 * A key column of the fact: with the dimension's collation, where its own is
 * another one, by which different keys might be equal.
 */
static char *
fact_key(const Scd2Dimension *dim, const Scd2Link *link, int key)
{
	Oid			collation = dim->keys[key].collation;
	char	   *column = psprintf("%s%s", scd2_plan_column_of("f", link->keys[key].name),
								  enum_cast(link->keys[key].typid));

	if (!OidIsValid(collation) || collation == link->keys[key].collation)
		return column;
	return psprintf("%s COLLATE %s", column, generate_collation_name(collation));
}

/* d.customer_id = f.customer_id AND ... */
static void
append_key_match(StringInfo buf, const Scd2Dimension *dim, const Scd2Link *link,
				 const char *alias, bool stored)
{
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(buf, "%s%s%s" EQUALS "%s", i > 0 ? " AND " : "",
						 version_key(dim, alias, stored, i),
						 enum_cast(dim->keys[i].typid), fact_key(dim, link, i));
}

/*
 * The fact's event time in the period's type; null where that cannot hold it.
 */
static char *
event_expr(const Scd2Dimension *dim, const Scd2Link *link)
{
	Oid			from = link->event_type;
	Oid			to = dim->period_type;
	char	   *column = scd2_plan_column_of("f", link->event_time);
	char	   *zone = quote_literal_cstr(dim->time_zone);
	char	   *expr = column;

	if (from == to)
		return expr;
	if (from == DATEOID)
		expr = psprintf("%s::pg_catalog.timestamp", expr);
	else if (from == TIMESTAMPTZOID)
		expr = psprintf("pg_catalog.timezone(%s, %s)", zone, expr);
	/* now it is a wall time */
	if (to == DATEOID)
		return psprintf("%s::pg_catalog.date", expr);
	if (to == TIMESTAMPTZOID)
		expr = psprintf("pg_catalog.timezone(%s, %s)", zone, expr);
	return psprintf("CASE WHEN %s OPERATOR(pg_catalog.<) '294276-01-01'"
					" AND %s" AFTER "'4713-01-03 BC'"
					" OR NOT pg_catalog.isfinite(%s) THEN %s END",
					column, column, column, expr);
}

/*
 * Is a version the one of the fact's key at its event time?
 */
static void
append_at(StringInfo buf, const Scd2Dimension *dim, const Scd2Link *link,
		  const char *alias, Scd2VersionsFrom from)
{
	bool		stored = from == SCD2_FROM_STORE;
	const char *valid_from = stored ? psprintf("%s.vf", alias) :
		scd2_plan_column_of(alias, dim->valid_from);
	const char *valid_to = stored ? psprintf("%s.vt", alias) :
		scd2_plan_column_of(alias, dim->valid_to);
	char	   *event = event_expr(dim, link);

	append_key_match(buf, dim, link, alias, stored);
	appendStringInfo(buf, "\n   AND %s" AT_MOST "%s\n   AND ", valid_from, event);
	if (dim->open_end_is_null)
		appendStringInfo(buf, "(%s" AFTER "%s OR %s IS NULL)", valid_to, event, valid_to);
	else
		appendStringInfo(buf, "%s" AFTER "%s", valid_to, event);
}

static const char *
versions_from(const Scd2Dimension *dim, Scd2VersionsFrom from)
{
	return from == SCD2_FROM_STORE ? "scd2_versions" : scd2_plan_versions(dim);
}

static char *
version_sk(const Scd2Dimension *dim, const char *alias, Scd2VersionsFrom from)
{
	return from == SCD2_FROM_STORE ? psprintf("%s.sk", alias) :
		scd2_plan_column_of(alias, dim->sk_name);
}

/* Is a fact not resolved? */
static char *
unresolved(const Scd2Dimension *dim, const Scd2Link *link)
{
	char	   *sk = scd2_plan_column_of("f", link->sk_name);

	return psprintf("(%s IS NULL OR %s" EQUALS "%s)", sk, sk, scd2_plan_unknown_sk(dim));
}

char *
scd2_plan_has_unknown(const Scd2Dimension *dim)
{
	return psprintf("SELECT EXISTS (SELECT FROM %s AS d WHERE %s" EQUALS "%s)",
					dim->sql_name, scd2_plan_column_of("d", dim->sk_name),
					scd2_plan_unknown_sk(dim));
}

/* k1, ..., sk, vf, vt */
static void
append_version_columns(StringInfo buf, const Scd2Dimension *dim, bool keys)
{
	for (int i = 0; keys && i < dim->nkeys; i++)
		appendStringInfo(buf, "%s AS k%d, ",
						 scd2_plan_column_of("d", dim->keys[i].name), i + 1);
	appendStringInfo(buf, "%s AS sk, %s AS vf, %s AS vt",
					 scd2_plan_column_of("d", dim->sk_name),
					 scd2_plan_column_of("d", dim->valid_from),
					 scd2_plan_column_of("d", dim->valid_to));
}

char *
scd2_plan_fact_versions(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	append_version_columns(&buf, dim, true);
	appendStringInfo(&buf, "\n  FROM %s AS d\n WHERE %s IS NOT NULL",
					 scd2_plan_versions(dim),
					 scd2_plan_column_of("d", dim->keys[0].name));
	return buf.data;
}

/*
 * SELECT t.k1, t.e, d.customer_sk AS sk, d.valid_from AS vf, d.valid_to AS vt
 *   FROM scd2_touched AS t
 *   LEFT JOIN gold.dim_customer AS d ON d.customer_id = t.k1
 *  ORDER BY t.k1, d.valid_from
 */
char *
scd2_plan_fact_touched_versions(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "t.k%d, ", i);
	appendStringInfoString(&buf, "t.e, ");
	append_version_columns(&buf, dim, false);
	appendStringInfo(&buf, "\n  FROM scd2_touched AS t\n  LEFT JOIN %s AS d ON ",
					 scd2_plan_versions(dim));
	scd2_plan_key_match(&buf, dim, "d", false, "t");
	appendStringInfoString(&buf, "\n ORDER BY ");
	scd2_plan_key_order(&buf, dim, "t");
	appendStringInfo(&buf, ", %s", scd2_plan_column_of("d", dim->valid_from));
	return buf.data;
}

/*
 * SELECT x.k1, min(x.e) AS e
 *   FROM (SELECT s.k1, s.valid_to AS e FROM scd2_close AS s
 *         UNION ALL SELECT s.c2, s.c7 FROM scd2_open AS s WHERE s.c2 IS NOT NULL ...) AS x
 *  GROUP BY x.k1
 *
 * A version that is closed changes from its end on; one that is opened, revised
 * or removed from its beginning.
 */
char *
scd2_plan_fact_touched(const Scd2Dimension *dim, List *stores)
{
	int			valid_from = list_length(scd2_plan_open_columns(dim)) -
		(dim->is_deleted != NULL ? 3 : 2);
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "x.k%d, ", i);
	appendStringInfoString(&buf, "pg_catalog.min(x.e) AS e\n  FROM (SELECT ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "s.k%d, ", i);
	appendStringInfoString(&buf, "s.valid_to AS e FROM scd2_close AS s");
	foreach(lc, stores)
	{
		appendStringInfoString(&buf, "\n        UNION ALL SELECT ");
		for (int i = 1; i <= dim->nkeys; i++)
			appendStringInfo(&buf, "s.c%d, ", i + 1);
		appendStringInfo(&buf, "s.c%d FROM %s AS s WHERE s.c2 IS NOT NULL",
						 valid_from, (char *) lfirst(lc));
	}
	appendStringInfoString(&buf, ") AS x\n GROUP BY ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "%sx.k%d", i > 1 ? ", " : "", i);
	return buf.data;
}

/*
 * UPDATE gold.fact_orders AS f
 *    SET customer_sk = d.customer_sk
 *   FROM gold.dim_customer AS d
 *  WHERE d.customer_id = f.customer_id
 *    AND d.valid_from <= f.order_ts
 *    AND d.valid_to > f.order_ts
 *    AND (f.customer_sk IS NULL OR f.customer_sk = -1)
 */
char *
scd2_plan_fact_resolve(const Scd2Dimension *dim, const Scd2Link *link,
					   Scd2VersionsFrom from, bool recheck)
{
	char	   *right = version_sk(dim, "d", from);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS f\n   SET %s = %s\n  FROM %s AS d\n WHERE ",
					 link->sql_name, quote_identifier(link->sk_name), right,
					 versions_from(dim, from));
	append_at(&buf, dim, link, "d", from);
	if (recheck)
		appendStringInfo(&buf, "\n   AND %s IS DISTINCT FROM %s",
						 scd2_plan_column_of("f", link->sk_name), right);
	else
		appendStringInfo(&buf, "\n   AND %s", unresolved(dim, link));
	return buf.data;
}

/*
 * UPDATE gold.fact_orders AS f
 *    SET customer_sk = -1
 *  WHERE f.customer_sk IS NULL
 *
 * After the statement above and under its snapshot, so that these are the facts
 * that have no version.  With "recheck" those that are set have to be asked.
 */
char *
scd2_plan_fact_unknown(const Scd2Dimension *dim, const Scd2Link *link,
					   Scd2VersionsFrom from, bool has_unknown, bool recheck)
{
	char	   *sk = scd2_plan_column_of("f", link->sk_name);
	char	   *unknown = scd2_plan_unknown_sk(dim);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS f\n   SET %s = %s\n WHERE ", link->sql_name,
					 quote_identifier(link->sk_name), has_unknown ? unknown : "NULL");
	if (!recheck && has_unknown)
		appendStringInfo(&buf, "%s IS NULL", sk);
	else if (!recheck)
		appendStringInfo(&buf, "%s" EQUALS "%s", sk, unknown);
	else
	{
		if (has_unknown)
			appendStringInfo(&buf, "%s IS DISTINCT FROM %s", sk, unknown);
		else
			appendStringInfo(&buf, "%s IS NOT NULL", sk);
		appendStringInfo(&buf, "\n   AND NOT EXISTS (SELECT FROM %s AS d WHERE ",
						 versions_from(dim, from));
		append_at(&buf, dim, link, "d", from);
		appendStringInfoChar(&buf, ')');
	}
	return buf.data;
}

static void
append_moved(StringInfo buf, const Scd2Dimension *dim, const Scd2Link *link, bool bounded)
{
	char	   *event = event_expr(dim, link);

	append_key_match(buf, dim, link, "s", true);
	appendStringInfo(buf, "\n   AND s.vf" AT_MOST "%s"
					 "\n   AND (s.vt" AFTER "%s OR s.vt IS NULL)"
					 "\n   AND %s IS DISTINCT FROM s.sk",
					 event, event, scd2_plan_column_of("f", link->sk_name));
	if (bounded)
		appendStringInfo(buf, "\n   AND %s OPERATOR(pg_catalog.>=) $1",
						 scd2_plan_column_of("f", link->event_time));
}

char *
scd2_plan_fact_moved(const Scd2Dimension *dim, const Scd2Link *link, bool bounded)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT\n  FROM %s AS f, scd2_segments AS s\n WHERE ",
					 link->sql_name);
	append_moved(&buf, dim, link, bounded);
	return buf.data;
}

/*
 * UPDATE gold.fact_orders AS f
 *    SET customer_sk = s.sk
 *   FROM scd2_segments AS s
 *  WHERE s.k1 = f.customer_id
 *    AND s.vf <= f.order_ts
 *    AND (s.vt > f.order_ts OR s.vt IS NULL)
 *    AND f.customer_sk IS DISTINCT FROM s.sk
 *    AND f.order_ts >= $1
 */
char *
scd2_plan_fact_rekey(const Scd2Dimension *dim, const Scd2Link *link, bool bounded)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS f\n   SET %s = s.sk\n  FROM scd2_segments AS s\n WHERE ",
					 link->sql_name, quote_identifier(link->sk_name));
	append_moved(&buf, dim, link, bounded);
	return buf.data;
}

/*
 * SELECT f.customer_id AS k1, min(f.order_ts) AS e
 *   FROM gold.fact_orders AS f
 *  WHERE (f.customer_sk IS NULL OR f.customer_sk = -1)
 *    AND f.customer_id IS NOT NULL AND isfinite(f.order_ts)
 *    AND ($1 IS NULL OR f.order_ts < $1) AND ($2 IS NULL OR f.order_ts >= $2)
 *  GROUP BY 1
 */
char *
scd2_plan_fact_unresolved(const Scd2Dimension *dim, const Scd2Link *link)
{
	char	   *event = event_expr(dim, link);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s AS k%d, ", fact_key(dim, link, i), i + 1);
	appendStringInfo(&buf, "pg_catalog.min(%s) AS e\n  FROM %s AS f\n WHERE %s",
					 event, link->sql_name, unresolved(dim, link));
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "\n   AND %s IS NOT NULL",
						 scd2_plan_column_of("f", link->keys[i].name));
	appendStringInfo(&buf, "\n   AND pg_catalog.isfinite(%s)"
					 "\n   AND ($1 IS NULL OR %s OPERATOR(pg_catalog.<) $1)"
					 "\n   AND ($2 IS NULL OR %s OPERATOR(pg_catalog.>=) $2)\n GROUP BY ",
					 event, event, event);
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "%s%d", i > 1 ? ", " : "", i);
	return buf.data;
}

/*
 * SELECT u.k1, min(u.e)
 *   FROM scd2_unresolved AS u
 *  WHERE NOT EXISTS (SELECT FROM gold.dim_customer AS d WHERE d.customer_id = u.k1)
 *  GROUP BY 1
 */
char *
scd2_plan_fact_to_infer(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "u.k%d, ", i);
	appendStringInfo(&buf, "pg_catalog.min(u.e)\n  FROM scd2_unresolved AS u"
					 "\n WHERE NOT EXISTS (SELECT FROM %s AS d WHERE ",
					 scd2_plan_versions(dim));
	scd2_plan_key_match(&buf, dim, "d", false, "u");
	appendStringInfoString(&buf, ")\n GROUP BY ");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, "%s%d", i > 1 ? ", " : "", i);
	return buf.data;
}

/*
 * A fact that was not resolved yet and has no version is not wrong.
 */
char *
scd2_plan_fact_wrong(const Scd2Dimension *dim, const Scd2Link *link, bool has_unknown)
{
	char	   *sk = scd2_plan_column_of("f", link->sk_name);
	char	   *right = scd2_plan_column_of("d", dim->sk_name);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT %s::pg_catalog.text, coalesce(%s::pg_catalog.text, %s),"
					 " %s::pg_catalog.text, %s::pg_catalog.text,\n       pg_catalog.jsonb_build_object(",
					 sk, right,
					 has_unknown ? psprintf("%s::pg_catalog.text", scd2_plan_unknown_sk(dim)) :
					 "NULL",
					 scd2_plan_column_of("d", dim->valid_from),
					 scd2_plan_column_of("f", link->event_time));
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s%s, coalesce(pg_catalog.to_jsonb(%s), pg_catalog.to_jsonb(%s))",
						 i > 0 ? ", " : "", quote_literal_cstr(dim->keys[i].name),
						 scd2_plan_column_of("d", dim->keys[i].name),
						 scd2_plan_column_of("f", link->keys[i].name));
	appendStringInfo(&buf, ")\n  FROM %s AS f\n  LEFT JOIN %s AS d ON ", link->sql_name,
					 scd2_plan_versions(dim));
	append_at(&buf, dim, link, "d", SCD2_FROM_DIMENSION);
	appendStringInfo(&buf, "\n WHERE %s IS DISTINCT FROM %s\n   AND NOT (%s IS NULL AND %s)",
					 sk, right, right, unresolved(dim, link));
	return buf.data;
}
