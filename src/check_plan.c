/*-------------------------------------------------------------------------
 *
 * check_plan.c
 *	  The SQL of scd2.check, from a definition alone.
 *
 * The statements run under a pinned search_path and name everything with its
 * schema all the same, as plan.c's do.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "check_plan.h"

#include "plan.h"
#include "plan_history.h"
#include "sqltext.h"
#include "utils/builtins.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "

/*
 * K, valid_from and SK with which all statements over the dimension begin.  The
 * casts do nothing, unless somebody changed a column's type.
 */
static void
append_head(StringInfo buf, const Scd2Dimension *dim)
{
	appendStringInfoString(buf, "SELECT ");
	for (int i = 0; i < dim->nkeys; i++)
	{
		scd2_append_ident(buf, "d", dim->keys[i].name);
		appendStringInfoString(buf, ", ");
	}
	scd2_append_ident(buf, "d", dim->valid_from);
	appendStringInfo(buf, "::%s, ", format_type_be_qualified(dim->period_type));
	scd2_append_ident(buf, "d", dim->sk_name);
	appendStringInfoString(buf, dim->sk_is_uuid ? "::pg_catalog.uuid" :
						   "::pg_catalog.int8");
}

static void
append_period_end(StringInfo buf, const Scd2Dimension *dim)
{
	appendStringInfoString(buf, ", ");
	scd2_append_ident(buf, "d", dim->valid_to);
	appendStringInfo(buf, "::%s, ", format_type_be_qualified(dim->period_type));
	scd2_append_ident(buf, "d", dim->is_current);
	appendStringInfoString(buf, "::pg_catalog.bool");
}

static void
append_null_keys(StringInfo buf, const Scd2Dimension *dim, bool null)
{
	for (int i = 0; i < dim->nkeys; i++)
	{
		if (i > 0)
			appendStringInfoString(buf, null ? " OR " : " AND ");
		scd2_append_ident(buf, "d", dim->keys[i].name);
		appendStringInfoString(buf, null ? " IS NULL" : " IS NOT NULL");
	}
}

/*
 * SELECT d.customer_id, d.valid_from, d.customer_sk, d.valid_to, d.is_current,
 *        false
 *   FROM gold.dim_customer AS d
 *  WHERE d.customer_id IS NOT NULL
 *  ORDER BY d.customer_id, d.valid_from
 *
 * Instead of "false" whether it lies in the history, if that is separate.  Text
 * by bytes, which groups keys as well as any collation and is faster.
 */
char *
scd2_check_chain_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_head(&buf, dim);
	append_period_end(&buf, dim);
	appendStringInfo(&buf, ", %s\n  FROM %s AS d\n WHERE ",
					 scd2_plan_in_history(dim, "d"), scd2_plan_versions(dim));
	append_null_keys(&buf, dim, false);
	appendStringInfoString(&buf, "\n ORDER BY ");
	for (int i = 0; i < dim->nkeys; i++)
	{
		scd2_append_ident(&buf, "d", dim->keys[i].name);
		if (OidIsValid(dim->keys[i].collation))
			appendStringInfoString(&buf, " COLLATE pg_catalog.\"C\"");
		appendStringInfoString(&buf, ", ");
	}
	appendStringInfo(&buf, "%d", dim->nkeys + 1);
	return buf.data;
}

/*
 * SELECT d.customer_id, d.valid_from, d.customer_sk, d.row_hash, d.segment, ...
 *   FROM gold.dim_customer AS d
 *  WHERE d.customer_id IS NOT NULL
 *
 * The hashed columns are those of type 2 and 6.
 */
char *
scd2_check_hashed_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_head(&buf, dim);
	if (dim->row_hash != NULL)
	{
		appendStringInfoString(&buf, ", ");
		scd2_append_ident(&buf, "d", dim->row_hash);
		appendStringInfoString(&buf, "::pg_catalog.bytea");
		for (int i = 0; i < dim->nattrs; i++)
		{
			if (dim->attrs[i].scd_type != 2 && dim->attrs[i].scd_type != 6)
				continue;
			appendStringInfoString(&buf, ", ");
			scd2_append_ident(&buf, "d", dim->attrs[i].name);
		}
	}
	appendStringInfo(&buf, "\n  FROM %s AS d\n WHERE ", scd2_plan_versions(dim));
	append_null_keys(&buf, dim, false);
	return buf.data;
}

/*
 * SELECT d.customer_id, d.valid_from, d.customer_sk, d.valid_to, d.is_current,
 *        num_nonnulls(d.customer_id, d.segment, ..., d.row_hash) = 0, false
 *   FROM gold.dim_customer AS d
 *  WHERE d.customer_id IS NULL
 */
char *
scd2_check_unknown_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_head(&buf, dim);
	append_period_end(&buf, dim);
	appendStringInfoString(&buf, ",\n       true");
	for (int i = 0; i < dim->nkeys; i++)
	{
		appendStringInfoString(&buf, " AND ");
		scd2_append_ident(&buf, "d", dim->keys[i].name);
		appendStringInfoString(&buf, " IS NULL");
	}

	/* not IS NULL, which is true of a row of nulls, too */
	for (int i = 0; i < dim->nattrs; i++)
	{
		appendStringInfoString(&buf, " AND pg_catalog.num_nonnulls(");
		scd2_append_ident(&buf, "d", dim->attrs[i].name);
		if (dim->attrs[i].extra_name != NULL)
		{
			appendStringInfoString(&buf, ", ");
			scd2_append_ident(&buf, "d", dim->attrs[i].extra_name);
		}
		appendStringInfoString(&buf, ")" EQUALS "0");
	}
	if (dim->row_hash != NULL)
	{
		appendStringInfoString(&buf, " AND ");
		scd2_append_ident(&buf, "d", dim->row_hash);
		appendStringInfoString(&buf, " IS NULL");
	}
	if (dim->is_deleted != NULL)
	{
		appendStringInfoString(&buf, " AND ");
		scd2_append_ident(&buf, "d", dim->is_deleted);
		appendStringInfoString(&buf, " IS FALSE");
	}
	appendStringInfo(&buf, ", %s\n  FROM %s AS d\n WHERE ",
					 scd2_plan_in_history(dim, "d"), scd2_plan_versions(dim));
	append_null_keys(&buf, dim, true);
	return buf.data;
}

/*
 * Gaps at whose start the log has no delete; a run that was undone has none.
 *
 * SELECT g.k1, g.starts, g.sk, g.valid_from, g.ends
 *   FROM scd2_gaps AS g
 *  WHERE NOT EXISTS (
 *            SELECT FROM gold.dim_customer_log AS l
 *             WHERE l.customer_id = g.k1
 *               AND l.scd2_effective_at = g.starts
 *               AND l.scd2_deleted
 *               AND NOT EXISTS (
 *                       SELECT FROM scd2.runs AS r
 *                        WHERE r.id = l.scd2_run
 *                          AND r.undone_by IS NOT NULL))
 */
char *
scd2_check_gaps_sql(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "g.k%d, ", i + 1);
	appendStringInfo(&buf, "g.starts, g.sk, g.valid_from, g.ends"
					 "\n  FROM scd2_gaps AS g"
					 "\n WHERE NOT EXISTS ("
					 "\n           SELECT FROM %s AS l"
					 "\n            WHERE ", dim->log_sql_name);
	scd2_plan_key_match(&buf, dim, "l", true, "g");
	appendStringInfoString(&buf, "\n              AND ");
	scd2_append_ident(&buf, "l", dim->log_effective_at);
	appendStringInfoString(&buf, EQUALS "g.starts\n              AND ");
	scd2_append_ident(&buf, "l", dim->log_deleted);
	appendStringInfoString(&buf, "\n              AND NOT EXISTS ("
						   "\n                      SELECT FROM scd2.runs AS r"
						   "\n                       WHERE r.id" EQUALS);
	scd2_append_ident(&buf, "l", dim->log_run);
	appendStringInfoString(&buf, "\n                         AND r.undone_by IS NOT NULL))");
	return buf.data;
}
