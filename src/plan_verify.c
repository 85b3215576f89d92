/*-------------------------------------------------------------------------
 *
 * plan_verify.c
 *	  The SQL that looks whether triggers and rules let apply write what it
 *	  meant to (R15); as plan.c otherwise.
 *
 * Run only where a table has row triggers that run before, or rules.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_verify.h"

#include "plan.h"
#include "plan_replay.h"
#include "sqltext.h"
#include "utils/builtins.h"

#define EQUALS		" OPERATOR(pg_catalog.=) "
#define DIFFERS		" OPERATOR(pg_catalog.<>) "

/*
 * What apply leaves alone in a version that it updates, and the two columns that
 * a close changes, given as expressions.
 */
static List *
image(const Scd2Dimension *dim, const char *valid_to, const char *is_current)
{
	List	   *exprs = list_make1(scd2_plan_column_of("d", dim->sk_name));

	for (int i = 0; i < dim->nkeys; i++)
		exprs = lappend(exprs, scd2_plan_column_of("d", dim->keys[i].name));
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6)
			exprs = lappend(exprs, scd2_plan_column_of("d", dim->attrs[i].name));
	if (dim->row_hash != NULL)
		exprs = lappend(exprs, scd2_plan_column_of("d", dim->row_hash));
	exprs = lappend(exprs, scd2_plan_column_of("d", dim->valid_from));
	if (dim->is_deleted != NULL)
		exprs = lappend(exprs, scd2_plan_column_of("d", dim->is_deleted));
	exprs = lappend(exprs, unconstify(char *, valid_to));
	exprs = lappend(exprs, unconstify(char *, is_current));
	return exprs;
}

/*
 * Asked before anything is written: the versions that will be updated, as they
 * are to be afterwards, less the columns that every version shows alike.
 */
char *
scd2_plan_before(const Scd2Dimension *dim)
{
	char	   *sk = scd2_plan_column_of("d", dim->sk_name);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT %s AS sk, ", sk);
	scd2_plan_row_hash(&buf, image(dim, "c.valid_to", "false"));
	appendStringInfo(&buf, " AS image\n  FROM scd2_close AS c\n  JOIN %s AS d ON d.ctid"
					 EQUALS "c.tid", dim->sql_name);
	if (scd2_has_overlay(dim) && dim->history != NULL)
	{
		const Scd2Dimension *history = dim->history;

		appendStringInfo(&buf, "\nUNION ALL\nSELECT %s, ",
						 scd2_plan_column_of("d", history->sk_name));
		scd2_plan_row_hash(&buf, image(history, scd2_plan_column_of("d", history->valid_to),
									   scd2_plan_column_of("d", history->is_current)));
		appendStringInfo(&buf, "\n  FROM scd2_overwrite AS w\n  JOIN %s AS d ON ",
						 history->sql_name);
		scd2_plan_key_match(&buf, history, "d", false, "w");
	}
	if (scd2_has_overlay(dim))
	{
		appendStringInfo(&buf, "\nUNION ALL\nSELECT %s, ", sk);
		scd2_plan_row_hash(&buf, image(dim, scd2_plan_column_of("d", dim->valid_to),
									   scd2_plan_column_of("d", dim->is_current)));
		appendStringInfo(&buf, "\n  FROM scd2_overwrite AS w\n  JOIN %s AS d ON ",
						 dim->sql_name);
		scd2_plan_key_match(&buf, dim, "d", false, "w");
		appendStringInfoString(&buf, "\n WHERE NOT EXISTS (SELECT FROM scd2_close AS c WHERE c.tid"
							   EQUALS "d.ctid)");
	}
	return buf.data;
}

static void
append_no_image(StringInfo buf, const Scd2Dimension *place, const char *further)
{
	appendStringInfo(buf, "NOT EXISTS (\n           SELECT FROM %s AS d"
					 "\n            WHERE %s" EQUALS "b.sk%s\n              AND ",
					 place->sql_name, scd2_plan_column_of("d", place->sk_name), further);
	scd2_plan_row_hash(buf, image(place, scd2_plan_column_of("d", place->valid_to),
								  scd2_plan_column_of("d", place->is_current)));
	appendStringInfoString(buf, EQUALS "b.image)");
}

/*
 * Updated versions that are not what they were to be.
 */
char *
scd2_plan_check_updated(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT 1\n  FROM scd2_before AS b\n WHERE ");
	if (dim->history == NULL)
		append_no_image(&buf, dim, "");
	else
	{
		/* the image tells which of the two it should be in */
		append_no_image(&buf, dim, psprintf(" AND %s", scd2_plan_column_of("d", dim->is_current)));
		appendStringInfoString(&buf, "\n   AND ");
		append_no_image(&buf, dim->history,
						psprintf(" AND NOT %s",
								 scd2_plan_column_of("d", dim->history->is_current)));
	}
	appendStringInfoString(&buf, "\n LIMIT 1");
	return buf.data;
}

static void
append_wrong_overlay(StringInfo buf, const Scd2Dimension *place, const char *store)
{
	List	   *names = scd2_plan_overlay_columns(place);
	List	   *mine = NIL;
	List	   *theirs = NIL;
	ListCell   *lc;

	foreach(lc, names)
	{
		mine = lappend(mine, scd2_plan_column_of("d", (char *) lfirst(lc)));
		theirs = lappend(theirs, psprintf("w.o%d", foreach_current_index(lc) + 1));
	}
	appendStringInfo(buf, "SELECT 1\n  FROM %s AS w\n  JOIN %s AS d ON ", store,
					 place->sql_name);
	scd2_plan_key_match(buf, place, "d", false, "w");
	if (strcmp(store, "scd2_close") == 0)
		appendStringInfo(buf, " AND %s" EQUALS "w.valid_from",
						 scd2_plan_column_of("d", place->valid_from));
	appendStringInfoString(buf, "\n WHERE ");
	scd2_plan_row_hash(buf, mine);
	appendStringInfoString(buf, DIFFERS "\n       ");
	scd2_plan_row_hash(buf, theirs);
}

/*
 * Versions of which the columns that every version shows alike are not what
 * they were to be.
 */
char *
scd2_plan_check_overlay(const Scd2Dimension *dim)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_wrong_overlay(&buf, dim->history != NULL ? dim->history : dim, "scd2_close");
	appendStringInfoString(&buf, "\nUNION ALL\n");
	append_wrong_overlay(&buf, dim, "scd2_overwrite");
	if (dim->history != NULL)
	{
		appendStringInfoString(&buf, "\nUNION ALL\n");
		append_wrong_overlay(&buf, dim->history, "scd2_overwrite");
	}
	appendStringInfoString(&buf, "\n LIMIT 1");
	return buf.data;
}

/*
 * Inserted versions that are not what they were to be; "store" has them as they
 * were, or revised ones.
 */
char *
scd2_plan_check_opened(const Scd2Dimension *dim, const char *store)
{
	List	   *names = scd2_plan_open_columns(dim);
	List	   *mine = NIL;
	List	   *theirs = NIL;
	StringInfoData buf;
	ListCell   *lc;

	foreach(lc, names)
	{
		mine = lappend(mine, scd2_plan_column_of("d", (char *) lfirst(lc)));
		theirs = lappend(theirs, psprintf("o.c%d",
										  foreach_current_index(lc) + 1));
	}

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT 1\n  FROM %s AS o"
					 "\n WHERE NOT EXISTS (\n           SELECT FROM %s AS d"
					 "\n            WHERE ", store, dim->sql_name);
	scd2_append_ident(&buf, "d", dim->sk_name);
	appendStringInfoString(&buf, EQUALS "o.c1\n              AND ");
	scd2_plan_row_hash(&buf, mine);
	appendStringInfoString(&buf, EQUALS);
	scd2_plan_row_hash(&buf, theirs);
	appendStringInfoString(&buf, ")\n LIMIT 1");
	return buf.data;
}

/*
 * Changes that are not in the log as they were sent; $1 is when they were recorded.
 */
char *
scd2_plan_check_logged(const Scd2Dimension *dim)
{
	List	   *theirs = NIL;
	StringInfoData buf;

	/* in the order of scd2_plan_log_fingerprint */
	if (dim->keeps_source_time)
		theirs = lappend(theirs, "g.source_time");
	for (int i = 1; i <= dim->nseq; i++)
		theirs = lappend(theirs, psprintf("g.s%d", i));
	theirs = lappend(theirs, "g.deleted");
	for (int i = 1; i <= dim->nattrs; i++)
		theirs = lappend(theirs, psprintf("g.a%d", i));

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT 1\n  FROM scd2_logged AS g"
					 "\n WHERE NOT EXISTS (\n           SELECT FROM %s AS l"
					 "\n            WHERE ", dim->log_sql_name);
	scd2_plan_key_match(&buf, dim, "l", true, "g");
	appendStringInfo(&buf, "\n              AND %s" EQUALS "g.e AND %s" EQUALS
					 "g.run AND %s" EQUALS "$1\n              AND ",
					 scd2_plan_column_of("l", dim->log_effective_at),
					 scd2_plan_column_of("l", dim->log_run),
					 scd2_plan_column_of("l", dim->log_recorded_at));
	scd2_plan_row_hash(&buf, scd2_plan_log_fingerprint(dim, "l", NULL));
	appendStringInfoString(&buf, EQUALS);
	scd2_plan_row_hash(&buf, theirs);
	appendStringInfoString(&buf, ")\n LIMIT 1");
	return buf.data;
}
