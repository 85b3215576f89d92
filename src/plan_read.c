/*-------------------------------------------------------------------------
 *
 * plan_read.c
 *	  The SQL that reads a source; otherwise like plan.c.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "plan_read.h"

#include "plan.h"
#include "sqltext.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static char *
plan_read(const Scd2Dimension *dim, const char *from, const bool *lacks,
		  const Scd2LogPos *pos, bool raw)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "SELECT ");
	for (int i = 0; i < dim->nkeys; i++)
	{
		if (i > 0)
			appendStringInfoString(&buf, ",\n       ");
		scd2_append_ident(&buf, "src", dim->keys[i].source_name);
	}
	for (int i = 0; i < dim->nattrs; i++)
	{
		appendStringInfoString(&buf, ",\n       ");
		if (lacks != NULL && lacks[i])
			appendStringInfo(&buf, "NULL::%s AS %s",
							 format_type_be_qualified(getBaseType(dim->attrs[i].typid)),
							 quote_identifier(dim->attrs[i].source_name));
		else
			scd2_append_ident(&buf, "src", dim->attrs[i].source_name);
	}
	if (dim->effective_at != NULL)
	{
		appendStringInfoString(&buf, ",\n       ");
		scd2_append_ident(&buf, "src", dim->effective_at);
	}
	for (int i = 0; i < dim->nseq; i++)
	{
		appendStringInfoString(&buf, ",\n       ");
		scd2_append_ident(&buf, "src", dim->seq[i].source_name);
	}
	appendStringInfo(&buf, ",\n       %s AS scd2_deleted",
					 dim->delete_when != NULL ?
					 psprintf("(%s) IS TRUE", dim->delete_when) : "false");
	/* the row itself, also where one of its columns is called src */
	if (raw)
		appendStringInfoString(&buf, ",\n       CASE WHEN true THEN (src.*) END AS scd2_raw");
	if (pos != NULL && pos->active)
	{
		appendStringInfoString(&buf, ",\n       ");
		scd2_append_ident(&buf, "src", dim->log_position);
	}
	appendStringInfo(&buf, "\n  FROM %s AS src", from);
	if (pos != NULL && pos->active && pos->mark != NULL)
	{
		char	   *position = scd2_plan_column_of("src", dim->log_position);

		appendStringInfo(&buf, "\n WHERE %s %s $1\n    OR %s IS NULL", position,
						 scd2_operator_name(pos->greater), position);
	}
	return buf.data;
}

/*
 * Read the source, once (R17); in mode log what is above $1, the mark.  A row
 * without position would never be above, and is a bad one.  The order of columns
 * is a contract with read.c: K, tracked columns, E, S, deleted, where bad rows are
 * quarantined the whole row, position.  Columns that the source lacks, if any, are
 * null.
 */
char *
scd2_plan_read(const Scd2Dimension *dim, Oid source, const bool *lacks,
			   const Scd2LogPos *pos)
{
	return plan_read(dim, scd2_relation_name(source), lacks, pos,
					 dim->on_bad_row == SCD2_BAD_ROW_QUARANTINE);
}

/*
 * Read a rejected row, $1, once more: as a row of the source, which "by_text" says
 * that it is already; else it is jsonb.
 */
char *
scd2_plan_read_rejected(const Scd2Dimension *dim, Oid source,
						const bool *lacks, bool by_text)
{
	return plan_read(dim, by_text ?
					 "pg_catalog.jsonb_populate_record($1, '{}'::pg_catalog.jsonb)" :
					 psprintf("pg_catalog.jsonb_populate_record(NULL::%s, $1)",
							  scd2_relation_name(source)), lacks, NULL, false);
}
