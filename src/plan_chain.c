/*-------------------------------------------------------------------------
 *
 * plan_chain.c
 *	  The SQL that folds keys from the log and writes what then differs; as
 *	  plan.c otherwise.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_chain.h"

#include "catalog/pg_type.h"
#include "plan_history.h"
#include "sqltext.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "
#define AT_MOST		" OPERATOR(pg_catalog.<=) "

/*
 * What orders changes of equal (K, E), as columns of the subquery: the source's
 * own time, the sequence, arrival (R5).  Where E is the batch's time, the last
 * load of an instant stands, and the sequence counts within one batch, whose
 * changes are logged in its order.
 */
static List *
order_columns(const Scd2Dimension *dim)
{
	List	   *names = NIL;

	if (dim->keeps_source_time)
		names = lappend(names, "source_time");
	if (dim->effective_at != NULL)
		for (int i = 1; i <= dim->nseq; i++)
			names = lappend(names, psprintf("s%d", i));
	return lappend(names, "id");
}

/*
 * Do nulls of the n-th of those go first?  Only an inferred member has no sequence:
 * any other change of its time stands (R31).
 */
bool
scd2_plan_orders_nulls_first(const Scd2Dimension *dim, int n)
{
	int			first = dim->keeps_source_time ? 1 : 0;

	return dim->effective_at != NULL && n >= first && n < first + dim->nseq;
}

/*
 * Lay out the columns of the chain statement.
 */
void
scd2_plan_chain_layout(const Scd2Dimension *dim, int flags,
					   Scd2ChainLayout *layout)
{
	int			n = 0;

	layout->kind = n++;
	layout->keys = n;
	n += dim->nkeys;
	layout->e = n++;
	layout->source_time = dim->keeps_source_time ? n++ : -1;
	layout->deleted = n++;
	layout->lacks = n++;
	layout->run = n++;
	layout->attrs = n;
	n += dim->nattrs;
	if (flags & SCD2_CHAIN_ORIGIN)
	{
		Assert(!(flags & (SCD2_CHAIN_VERSIONS | SCD2_CHAIN_LOGGED)));
		layout->seq = n;
		n += dim->nseq;
		layout->recorded_at = n++;
	}
	if (flags & SCD2_CHAIN_VERSIONS)
	{
		layout->tid = n++;
		layout->sk = n++;
		layout->extras = n;
		n += scd2_count_type(dim, 3) + scd2_count_type(dim, 6);
		layout->row_hash = dim->row_hash != NULL ? n++ : -1;
		layout->valid_to = n++;
		layout->is_current = n++;
	}
	layout->order = n;
	layout->norder = flags & SCD2_CHAIN_UNORDERED ? list_length(order_columns(dim)) : 0;
	n += layout->norder;
	layout->ncols = n;
}

/* ", NULL::type AS name" */
static void
append_null(StringInfo buf, Oid typid, const char *name)
{
	appendStringInfo(buf, ", NULL::%s AS %s", format_type_be_qualified(typid), name);
}

/*
 * A column of the log, as the dimension's type: somebody may have widened only
 * the dimension's.
 */
static char *
logged(const Scd2Dimension *dim, const char *name, Oid wanted)
{
	Oid			typid = get_atttype(dim->log, get_attnum(dim->log, name));
	char	   *column = scd2_plan_column_of("l", name);

	return typid == wanted ? column :
		psprintf("%s::%s", column, format_type_be_qualified(wanted));
}

static void
append_logged(StringInfo buf, const Scd2Dimension *dim, const char *name,
			  Oid wanted, const char *as)
{
	appendStringInfo(buf, ", %s AS %s", logged(dim, name, wanted), as);
}

static void
append_keys_join(StringInfo buf, const Scd2Dimension *dim, int flags,
				 const char *relation, const char *alias, bool log_names)
{
	if (flags & SCD2_CHAIN_KEYS)
	{
		appendStringInfo(buf, "\n          FROM scd2_chain_keys AS k\n          JOIN %s AS %s ON ",
						 relation, alias);
		scd2_plan_key_match(buf, dim, alias, log_names, "k");
	}
	else
		appendStringInfo(buf, "\n          FROM %s AS %s", relation, alias);
}

/* "d.k1 IS NULL OR d.k2 IS NULL", and the like */
static void
append_null_key(StringInfo buf, const Scd2Dimension *dim, const char *is,
				const char *link)
{
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(buf, "%s%s IS %s", i > 0 ? link : "",
						 scd2_plan_column_of("d", dim->keys[i].name), is);
}

static void
append_versions(StringInfo buf, const Scd2Dimension *dim, int flags)
{
	int			extra = 0;

	if (dim->history == NULL)
		appendStringInfo(buf, "SELECT %d AS kind", SCD2_CHAIN_VERSION);
	else
		appendStringInfo(buf, "SELECT CASE WHEN %s THEN %d ELSE %d END AS kind",
						 scd2_plan_in_history(dim, "d"), SCD2_CHAIN_CLOSED,
						 SCD2_CHAIN_VERSION);
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(buf, ", %s AS k%d",
						 scd2_plan_column_of("d", dim->keys[i].name), i + 1);
	appendStringInfo(buf, ", %s AS e", scd2_plan_column_of("d", dim->valid_from));
	if (dim->keeps_source_time)
		append_null(buf, dim->effective_type, "source_time");
	for (int i = 0; i < dim->nseq; i++)
		append_null(buf, dim->seq[i].typid, psprintf("s%d", i + 1));
	append_null(buf, INT8OID, "id");
	append_null(buf, INT8OID, "ord");
	appendStringInfo(buf, ", %s AS deleted", dim->is_deleted != NULL ?
					 scd2_plan_column_of("d", dim->is_deleted) : "false");
	append_null(buf, INT4ARRAYOID, "lacks");
	append_null(buf, INT8OID, "run");
	for (int i = 0; i < dim->nattrs; i++)
		appendStringInfo(buf, ", %s AS a%d",
						 scd2_plan_column_of("d", dim->attrs[i].name), i + 1);
	appendStringInfo(buf, ", d.ctid AS tid, %s AS sk",
					 scd2_plan_column_of("d", dim->sk_name));
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL)
			appendStringInfo(buf, ", %s AS x%d",
							 scd2_plan_column_of("d", dim->attrs[i].extra_name), ++extra);
	if (dim->row_hash != NULL)
		appendStringInfo(buf, ", %s AS hash",
						 scd2_plan_column_of("d", dim->row_hash));
	appendStringInfo(buf, ", %s AS valid_to, %s AS is_current",
					 scd2_plan_column_of("d", dim->valid_to),
					 scd2_plan_column_of("d", dim->is_current));
	append_keys_join(buf, dim, flags, scd2_plan_versions(dim), "d", false);
	if (!(flags & SCD2_CHAIN_KEYS))
	{
		appendStringInfoString(buf, "\n         WHERE ");
		append_null_key(buf, dim, "NOT NULL", " AND ");
	}
}

/* The columns that only versions have. */
static void
append_no_version(StringInfo buf, const Scd2Dimension *dim)
{
	int			extra = 0;

	append_null(buf, TIDOID, "tid");
	append_null(buf, dim->sk_is_uuid ? UUIDOID : INT8OID, "sk");
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL)
			append_null(buf, dim->attrs[i].typid, psprintf("x%d", ++extra));
	if (dim->row_hash != NULL)
		append_null(buf, BYTEAOID, "hash");
	append_null(buf, dim->period_type, "valid_to");
	append_null(buf, BOOLOID, "is_current");
}

static void
append_log(StringInfo buf, const Scd2Dimension *dim, int flags)
{
	const char *where = "WHERE";

	appendStringInfo(buf, "SELECT %d AS kind", SCD2_CHAIN_CHANGE);
	for (int i = 0; i < dim->nkeys; i++)
		append_logged(buf, dim, dim->keys[i].log_name, dim->keys[i].typid,
					  psprintf("k%d", i + 1));
	append_logged(buf, dim, dim->log_effective_at, dim->period_type, "e");
	if (dim->keeps_source_time)
		append_logged(buf, dim, dim->log_source_time, dim->effective_type,
					  "source_time");
	for (int i = 0; i < dim->nseq; i++)
		append_logged(buf, dim, dim->seq[i].log_name, dim->seq[i].typid,
					  psprintf("s%d", i + 1));
	append_logged(buf, dim, dim->log_id, INT8OID, "id");
	append_null(buf, INT8OID, "ord");
	append_logged(buf, dim, dim->log_deleted, BOOLOID, "deleted");
	append_logged(buf, dim, dim->log_lacks, INT4ARRAYOID, "lacks");
	append_logged(buf, dim, dim->log_run, INT8OID, "run");
	for (int i = 0; i < dim->nattrs; i++)
		append_logged(buf, dim, dim->attrs[i].log_name, dim->attrs[i].typid,
					  psprintf("a%d", i + 1));
	if (flags & SCD2_CHAIN_ORIGIN)
		append_logged(buf, dim, dim->log_recorded_at, TIMESTAMPTZOID, "recorded_at");
	if (flags & SCD2_CHAIN_VERSIONS)
		append_no_version(buf, dim);
	append_keys_join(buf, dim, flags, dim->log_sql_name, "l", true);
	if (flags & SCD2_CHAIN_UNDONE)
	{
		appendStringInfo(buf, "\n         %s %s OPERATOR(pg_catalog.<>) ALL ($1)",
						 where, scd2_plan_column_of("l", dim->log_run));
		where = "AND";
	}
	if (flags & SCD2_CHAIN_KNOWN_AT)
		appendStringInfo(buf, "\n         %s %s" AT_MOST "$2", where,
						 scd2_plan_column_of("l", dim->log_recorded_at));
}

static void
append_new(StringInfo buf, const Scd2Dimension *dim, int flags)
{
	appendStringInfo(buf, "SELECT %d AS kind", SCD2_CHAIN_NEW);
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(buf, ", g.k%d AS k%d", i, i);
	appendStringInfoString(buf, ", g.e AS e");
	if (dim->keeps_source_time)
		appendStringInfoString(buf, ", g.source_time AS source_time");
	for (int i = 1; i <= dim->nseq; i++)
		appendStringInfo(buf, ", g.s%d AS s%d", i, i);
	append_null(buf, INT8OID, "id");
	appendStringInfoString(buf, ", g.ord AS ord, g.deleted AS deleted, g.lacks AS lacks");
	appendStringInfoString(buf, ", g.run AS run");
	for (int i = 1; i <= dim->nattrs; i++)
		appendStringInfo(buf, ", g.a%d AS a%d", i, i);
	if (flags & SCD2_CHAIN_VERSIONS)
		append_no_version(buf, dim);
	appendStringInfoString(buf, "\n          FROM scd2_logged AS g");
	if (flags & SCD2_CHAIN_KEYS)
	{
		appendStringInfoString(buf, "\n         WHERE EXISTS (SELECT FROM scd2_chain_keys AS k WHERE ");
		scd2_plan_same_key(buf, dim, "k", "g");
		appendStringInfoChar(buf, ')');
	}
}

/*
 * All that is known of the keys, in the order of the fold (R5): their versions,
 * then their changes.  Changes that are not logged yet arrived last.
 */
char *
scd2_plan_chain(const Scd2Dimension *dim, int flags)
{
	StringInfoData buf;
	int			extra = scd2_count_type(dim, 3) + scd2_count_type(dim, 6);
	ListCell   *lc;

	Assert(!(flags & SCD2_CHAIN_UNORDERED) ||
		   !(flags & (SCD2_CHAIN_VERSIONS | SCD2_CHAIN_LOGGED)));
	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT c.kind");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(&buf, ", c.k%d", i);
	appendStringInfo(&buf, ", c.e%s, c.deleted, c.lacks, c.run",
					 dim->keeps_source_time ? ", c.source_time" : "");
	for (int i = 1; i <= dim->nattrs; i++)
		appendStringInfo(&buf, ", c.a%d", i);
	if (flags & SCD2_CHAIN_ORIGIN)
	{
		for (int i = 1; i <= dim->nseq; i++)
			appendStringInfo(&buf, ", c.s%d", i);
		appendStringInfoString(&buf, ", c.recorded_at");
	}
	if (flags & SCD2_CHAIN_VERSIONS)
	{
		appendStringInfoString(&buf, ", c.tid, c.sk");
		for (int i = 1; i <= extra; i++)
			appendStringInfo(&buf, ", c.x%d", i);
		appendStringInfo(&buf, "%s, c.valid_to, c.is_current",
						 dim->row_hash != NULL ? ", c.hash" : "");
	}
	if (flags & SCD2_CHAIN_UNORDERED)
		foreach(lc, order_columns(dim))
			appendStringInfo(&buf, ", c.%s", (char *) lfirst(lc));
	appendStringInfoString(&buf, "\n  FROM (");
	if (flags & SCD2_CHAIN_VERSIONS)
	{
		append_versions(&buf, dim, flags);
		appendStringInfoString(&buf, "\n        UNION ALL\n        ");
	}
	append_log(&buf, dim, flags);
	if (flags & SCD2_CHAIN_LOGGED)
	{
		appendStringInfoString(&buf, "\n        UNION ALL\n        ");
		append_new(&buf, dim, flags);
	}
	appendStringInfoString(&buf, ") AS c\n ORDER BY ");
	scd2_plan_key_order(&buf, dim, "c");
	if (flags & SCD2_CHAIN_VERSIONS)
		appendStringInfo(&buf, ", c.kind OPERATOR(pg_catalog.>) %d", SCD2_CHAIN_VERSION);
	appendStringInfoString(&buf, ", c.e");
	if (flags & SCD2_CHAIN_UNORDERED)
		return buf.data;
	foreach(lc, order_columns(dim))
		appendStringInfo(&buf, ", c.%s%s", (char *) lfirst(lc),
						 scd2_plan_orders_nulls_first(dim, foreach_current_index(lc)) ?
						 " NULLS FIRST" : "");
	appendStringInfoString(&buf, ", c.ord");
	/* versions that somebody put in twice: the same one each time is one too many */
	if (flags & SCD2_CHAIN_VERSIONS)
		appendStringInfoString(&buf, ", c.tid");
	return buf.data;
}

/* SELECT d.customer_sk AS c1, ..., d.ctid AS tid FROM gold.dim_customer AS d */
static void
append_rows(StringInfo buf, const Scd2Dimension *place)
{
	List	   *names = scd2_plan_open_columns(place);
	ListCell   *lc;

	appendStringInfoString(buf, "SELECT ");
	foreach(lc, names)
		appendStringInfo(buf, "%s AS c%d, ",
						 scd2_plan_column_of("d", (char *) lfirst(lc)),
						 foreach_current_index(lc) + 1);
	appendStringInfo(buf, "d.ctid AS tid\n  FROM %s AS d", place->sql_name);
}

static void
append_is_unknown(StringInfo buf, const Scd2Dimension *dim)
{
	appendStringInfo(buf, "%s" EQUALS "%s",
					 scd2_plan_column_of("d", dim->sk_name),
					 scd2_plan_unknown_sk(dim));
}

/*
 * Rows of a table with a null key, which only the unknown member may have, and it
 * is none that was closed: as the columns of scd2_remove.
 */
char *
scd2_plan_strays(const Scd2Dimension *place, bool has_unknown)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_rows(&buf, place);
	appendStringInfoString(&buf, "\n WHERE (");
	append_null_key(&buf, place, "NULL", " OR ");
	appendStringInfoChar(&buf, ')');
	if (has_unknown)
	{
		appendStringInfoString(&buf, "\n   AND (");
		append_is_unknown(&buf, place);
		appendStringInfoString(&buf, ") IS NOT TRUE");
	}
	return buf.data;
}

/*
 * The unknown member, or what has its surrogate key: as the columns of scd2_remove.
 */
char *
scd2_plan_unknown(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_rows(&buf, dim);
	appendStringInfoString(&buf, "\n WHERE ");
	append_is_unknown(&buf, dim);
	return buf.data;
}

static void
append_with_keys(StringInfo buf, const Scd2Dimension *dim, const char *store)
{
	appendStringInfoString(buf, "SELECT s.*");
	for (int i = 1; i <= dim->nkeys; i++)
		appendStringInfo(buf, ", s.c%d AS k%d", i + 1, i);
	appendStringInfo(buf, ", pg_catalog.count(*) OVER (PARTITION BY s.c1) AS copies\n      FROM %s AS s",
					 store);
}

/*
 * Versions that are to come beside rows that are to go and have their surrogate
 * key, or, where no row has it, that are of their key and begin when they do: such
 * a row is the version, with something in it changed.  The version's columns, and the
 * row's tid.
 */
char *
scd2_plan_pairs(const Scd2Dimension *dim)
{
	int			ncols = list_length(scd2_plan_open_columns(dim));
	int			valid_from = ncols - (dim->is_deleted != NULL ? 3 : 2);
	StringInfoData buf;
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 1; i <= ncols; i++)
		appendStringInfo(&columns, "o.c%d, ", i);
	appendStringInfoString(&columns, "r.tid");

	initStringInfo(&buf);
	appendStringInfoString(&buf, "WITH o AS MATERIALIZED (\n    ");
	append_with_keys(&buf, dim, "scd2_open");
	appendStringInfoString(&buf, "\n), r AS MATERIALIZED (\n    ");
	append_with_keys(&buf, dim, "scd2_remove");
	/* of versions with one surrogate key none: that is an error */
	appendStringInfo(&buf, "\n)\nSELECT %s\n  FROM o\n  JOIN r ON r.c1" EQUALS "o.c1"
					 "\n WHERE o.copies" EQUALS "1 AND r.copies" EQUALS "1"
					 "\nUNION ALL\n(SELECT DISTINCT ON (o.c1) %s\n  FROM o\n  JOIN r ON ",
					 columns.data, columns.data);
	scd2_plan_same_key(&buf, dim, "o", "r");
	appendStringInfo(&buf, " AND o.c%d" EQUALS "r.c%d\n WHERE o.copies" EQUALS "1"
					 "\n   AND NOT EXISTS (SELECT FROM r AS x WHERE x.c1" EQUALS "o.c1)"
					 "\n   AND NOT EXISTS (SELECT FROM o AS x WHERE x.c1" EQUALS "r.c1)"
					 "\n ORDER BY o.c1, r.tid)", valid_from, valid_from);
	return buf.data;
}

/*
 * Rows of a store that have one in "other" with the same value in a column, or
 * that have none.
 */
char *
scd2_plan_matched(const char *store, const char *column, bool matched,
				  const char *other)
{
	return psprintf("SELECT s.*\n  FROM %s AS s\n WHERE %sEXISTS (SELECT FROM %s AS x WHERE x.%s"
					EQUALS "s.%s)", store, matched ? "" : "NOT ", other, column, column);
}

/*
 * Revise versions in place: all but the key and valid_from, by which a version is
 * the same one; with "remakes" these, too.  "store" has the columns of scd2_open,
 * and tid.
 */
char *
scd2_plan_revise(const Scd2Dimension *dim, const char *store, bool remakes)
{
	List	   *names = scd2_plan_open_columns(dim);
	StringInfoData buf;
	ListCell   *lc;
	bool		first = true;

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS d\n   SET ", dim->sql_name);
	foreach(lc, names)
	{
		const char *name = lfirst(lc);
		int			n = foreach_current_index(lc);

		if (!remakes &&
			((n >= 1 && n <= dim->nkeys) || strcmp(name, dim->valid_from) == 0))
			continue;
		appendStringInfo(&buf, "%s%s = r.c%d", first ? "" : ",\n       ",
						 quote_identifier(name), n + 1);
		first = false;
	}
	appendStringInfo(&buf, "\n  FROM %s AS r\n WHERE d.ctid" EQUALS "r.tid", store);
	return buf.data;
}

/*
 * Versions that will be removed or remade get out of the way at once, so that
 * neither readers within the transaction nor a constraint find them beside those
 * that come.  With "hide" they lose their key, as the unknown member has none, and
 * else their time.  With "returning" the store's rows come back, with the tids that
 * the rows then have.
 */
char *
scd2_plan_doom(const Scd2Dimension *dim, const char *store, bool hide,
			   bool returning)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS d\n   SET ", dim->sql_name);
	if (!hide)
		appendStringInfo(&buf, "%s = %s,\n       %s = false",
						 quote_identifier(dim->valid_to),
						 scd2_plan_column_of("d", dim->valid_from),
						 quote_identifier(dim->is_current));
	for (int i = 0; hide && i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s%s = NULL", i > 0 ? ",\n       " : "",
						 quote_identifier(dim->keys[i].name));
	appendStringInfo(&buf, "\n  FROM %s AS r\n WHERE d.ctid" EQUALS "r.tid", store);
	if (!returning)
		return buf.data;
	appendStringInfoString(&buf, "\nRETURNING ");
	for (int i = 1; i <= list_length(scd2_plan_open_columns(dim)); i++)
		appendStringInfo(&buf, "r.c%d, ", i);
	appendStringInfoString(&buf, "d.ctid");
	return buf.data;
}

/*
 * Lock versions that are to go, so that no key that refers to them can come any
 * more.  The columns, by number, are those that keys refer to.
 */
char *
scd2_plan_lock_doomed(const Scd2Dimension *dim, const char *store, List *attnums)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	foreach(lc, attnums)
		appendStringInfo(&buf, "%s%s AS c%d", foreach_current_index(lc) > 0 ? ", " : "",
						 scd2_plan_column_of("d", get_attname(dim->relid, lfirst_int(lc), false)),
						 lfirst_int(lc));
	appendStringInfo(&buf, "\n  FROM %s AS r\n  JOIN %s AS d ON %s" EQUALS "r.c1"
					 "\n   FOR UPDATE OF d", store,
					 dim->sql_name, scd2_plan_column_of("d", dim->sk_name));
	return buf.data;
}

/*
 * And remove them, when nothing refers to them.
 */
char *
scd2_plan_remove(const Scd2Dimension *dim, const char *store)
{
	return psprintf("DELETE FROM %s AS d\n USING %s AS r\n WHERE %s" EQUALS "r.c1",
					dim->sql_name, store, scd2_plan_column_of("d", dim->sk_name));
}

static char *
distinct_keys(const Scd2Dimension *dim, const char *relation, const char *alias,
			  bool log_names)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT DISTINCT ");
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s%s AS k%d", i > 0 ? ", " : "",
						 log_names ? logged(dim, dim->keys[i].log_name, dim->keys[i].typid) :
						 psprintf("%s.k%d", alias, i + 1), i + 1);
	appendStringInfo(&buf, "\n  FROM %s AS %s", relation, alias);
	return buf.data;
}

/*
 * The keys that the log tells something new of since $1, up to $2, or of runs that
 * are undone since, $3.  Arrival grows with the time of recording, so that older
 * changes need not be read to find the newer ones.
 */
char *
scd2_plan_touched_keys(const Scd2Dimension *dim, bool has_undone)
{
	const char *id = scd2_plan_column_of("l", dim->log_id);
	const char *at = scd2_plan_column_of("l", dim->log_recorded_at);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "%s\n WHERE (%s OPERATOR(pg_catalog.>) $1 AND %s" AT_MOST "$2"
					 "\n   AND %s OPERATOR(pg_catalog.>) COALESCE((SELECT %s FROM %s AS l"
					 " WHERE %s" AT_MOST "$1 ORDER BY %s DESC LIMIT 1), 0))",
					 distinct_keys(dim, dim->log_sql_name, "l", true), at, at, id, id,
					 dim->log_sql_name, at, id);
	if (has_undone)
		appendStringInfo(&buf, "\n    OR %s" EQUALS "ANY ($3)",
						 scd2_plan_column_of("l", dim->log_run));
	return buf.data;
}

/*
 * The keys of a run, $1.
 */
char *
scd2_plan_run_keys(const Scd2Dimension *dim)
{
	return psprintf("%s\n WHERE %s" EQUALS "$1",
					distinct_keys(dim, dim->log_sql_name, "l", true),
					scd2_plan_column_of("l", dim->log_run));
}

/*
 * The keys that a caller names, each once.
 */
char *
scd2_plan_given_keys(const Scd2Dimension *dim)
{
	return distinct_keys(dim, "scd2_given", "g", false);
}
