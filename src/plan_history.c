/*-------------------------------------------------------------------------
 *
 * plan_history.c
 *	  The SQL over the dimension and its history, with history => 'separate',
 *	  and over surrogate keys that are there twice; as plan.c otherwise.
 *
 * The dimension has current versions only, its history closed ones only.  What
 * is done to a table alone is planned by the functions of plan.c and its kin,
 * given dim->history.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_history.h"

#include "sqltext.h"
#include "utils/builtins.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "

/*
 * SELECT h.customer_sk, ... FROM gold.dim_customer_history AS h, under the
 * dimension's names.
 */
static void
append_place(StringInfo buf, const Scd2Dimension *dim, const Scd2Dimension *place,
			 const char *alias)
{
	List	   *names = scd2_plan_open_columns(dim);
	List	   *mine = scd2_plan_open_columns(place);
	ListCell   *lc;

	appendStringInfo(buf, "SELECT %s.ctid", alias);
	foreach(lc, names)
	{
		const char *name = lfirst(lc);
		const char *my_name = list_nth(mine, foreach_current_index(lc));

		appendStringInfo(buf, ", %s", scd2_plan_column_of(alias, my_name));
		if (strcmp(name, my_name) != 0)
			appendStringInfo(buf, " AS %s", quote_identifier(name));
	}
	appendStringInfo(buf, ", %s AS scd2_in_history FROM %s AS %s",
					 place == dim ? "false" : "true", place->sql_name, alias);
}

/*
 * All versions; see plan_history.h.
 */
char *
scd2_plan_versions(const Scd2Dimension *dim)
{
	StringInfoData buf;

	if (dim->history == NULL)
		return dim->sql_name;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '(');
	append_place(&buf, dim, dim, "p");
	appendStringInfoString(&buf, "\n        UNION ALL\n        ");
	append_place(&buf, dim, dim->history, "h");
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

char *
scd2_plan_in_history(const Scd2Dimension *dim, const char *alias)
{
	return dim->history == NULL ? "false" : psprintf("%s.scd2_in_history", alias);
}

/*
 * The value that a closed version has in a column; "overlay" lists the columns
 * that every version shows alike.
 */
static char *
closed_value(const Scd2Dimension *dim, const char *name, const List *overlay)
{
	ListCell   *lc;

	if (strcmp(name, dim->valid_to) == 0)
		return "c.valid_to";
	if (strcmp(name, dim->is_current) == 0)
		return "false";
	foreach(lc, overlay)
		if (strcmp(name, (char *) lfirst(lc)) == 0)
			return psprintf("c.o%d", foreach_current_index(lc) + 1);
	return scd2_plan_column_of("d", name);
}

/*
 * WITH moved AS (
 *     DELETE FROM gold.dim_customer AS d
 *      USING scd2_close AS c
 *      WHERE d.ctid = c.tid
 *     RETURNING d.customer_sk, ..., c.valid_to, false
 * )
 * INSERT INTO gold.dim_customer_history (customer_sk, ..., valid_to, is_current)
 * SELECT m.c1, ...
 *   FROM moved AS m
 *
 * One statement, so that the version is never in both tables, nor in none.  It
 * counts what was inserted: what could not be deleted is not among it.
 */
char *
scd2_plan_move(const Scd2Dimension *dim)
{
	List	   *names = scd2_plan_open_columns(dim);
	List	   *history_names = scd2_plan_open_columns(dim->history);
	List	   *overlay = scd2_plan_overlay_columns(dim);
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "WITH moved AS (\n    DELETE FROM %s AS d\n     USING scd2_close AS c"
					 "\n     WHERE d.ctid" EQUALS "c.tid\n    RETURNING ", dim->sql_name);
	foreach(lc, names)
		appendStringInfo(&buf, "%s%s AS c%d", foreach_current_index(lc) > 0 ? ", " : "",
						 closed_value(dim, lfirst(lc), overlay),
						 foreach_current_index(lc) + 1);
	appendStringInfo(&buf, "\n)\nINSERT INTO %s (", dim->history->sql_name);
	foreach(lc, history_names)
		appendStringInfo(&buf, "%s%s", foreach_current_index(lc) > 0 ? ", " : "",
						 quote_identifier((char *) lfirst(lc)));
	appendStringInfoString(&buf, ")\nSELECT ");
	for (int i = 1; i <= list_length(names); i++)
		appendStringInfo(&buf, "%sm.c%d", i > 1 ? ", " : "", i);
	appendStringInfoString(&buf, "\n  FROM moved AS m");
	return buf.data;
}

/*
 * Versions that go, or come back into the other table; see plan_history.h.
 */
char *
scd2_plan_take_out(const Scd2Dimension *place, const char *store)
{
	return psprintf("DELETE FROM %s AS d\n USING %s AS r\n WHERE d.ctid" EQUALS "r.tid",
					place->sql_name, store);
}

/*
 * Which versions, of the dimension and of the batch, have a surrogate key that
 * is there twice?  Returns K, valid_from, surrogate key.
 */
char *
scd2_plan_collision(const Scd2Dimension *dim, const char *store)
{
	int			valid_from = list_length(scd2_plan_open_columns(dim)) -
		(dim->is_deleted != NULL ? 3 : 2);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s, ", scd2_plan_column_of("d", dim->keys[i].name));
	appendStringInfo(&buf, "%s::pg_catalog.text, %s::pg_catalog.text"
					 "\n  FROM %s AS o\n  JOIN %s AS d ON %s"
					 EQUALS "o.c1\nUNION ALL\nSELECT ",
					 scd2_plan_column_of("d", dim->valid_from),
					 scd2_plan_column_of("d", dim->sk_name), store,
					 dim->sql_name, scd2_plan_column_of("d", dim->sk_name));
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "o.c%d, ", i + 2);
	appendStringInfo(&buf, "o.c%d::pg_catalog.text, o.c1::pg_catalog.text"
					 "\n  FROM (SELECT o.*, count(*) OVER (PARTITION BY o.c1) AS copies"
					 " FROM %s AS o) AS o"
					 "\n WHERE o.copies > 1"
					 "\n    OR EXISTS (SELECT FROM %s AS d WHERE %s" EQUALS "o.c1)",
					 valid_from, store, dim->sql_name,
					 scd2_plan_column_of("d", dim->sk_name));
	return buf.data;
}

static void
append_side(StringInfo buf, const Scd2Dimension *place)
{
	appendStringInfoString(buf, "SELECT ");
	for (int i = 0; i < place->nkeys; i++)
		appendStringInfo(buf, "%s, ", scd2_plan_column_of("d", place->keys[i].name));
	appendStringInfo(buf, "%s::pg_catalog.text, %s::pg_catalog.text"
					 "\n  FROM n\n  JOIN %s AS d ON %s" EQUALS "n.sk",
					 scd2_plan_column_of("d", place->valid_from),
					 scd2_plan_column_of("d", place->sk_name), place->sql_name,
					 scd2_plan_column_of("d", place->sk_name));
}

/*
 * Each table's primary key sees to its own surrogate keys; that of a version in
 * the other table it does not know (R13).
 */
char *
scd2_plan_in_both(const Scd2Dimension *dim)
{
	const Scd2Dimension *history = dim->history;
	char	   *sk = scd2_plan_column_of("d", dim->sk_name);
	char	   *history_sk = scd2_plan_column_of("h", history->sk_name);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "WITH n AS MATERIALIZED (\n"
					 "    SELECT o.c1 AS sk FROM scd2_open AS o"
					 " WHERE EXISTS (SELECT FROM %s AS h WHERE %s" EQUALS "o.c1)\n"
					 "    UNION ALL\n"
					 "    SELECT o.c1 FROM scd2_history_open AS o"
					 " WHERE EXISTS (SELECT FROM %s AS d WHERE %s" EQUALS "o.c1)\n)\n",
					 history->sql_name, history_sk, dim->sql_name, sk);
	append_side(&buf, dim);
	appendStringInfoString(&buf, "\nUNION ALL\n");
	append_side(&buf, history);
	return buf.data;
}
