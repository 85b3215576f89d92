/*-------------------------------------------------------------------------
 *
 * diff.c
 *	  scd2.diff: rows in one relation and not in the other (R26).
 *
 * As multisets and by sameness (R12), for any two relations of equal column names.
 * One statement, whose aggregation and joins spill where the relations are large.
 * With the caller's rights; it only reads (R28).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "batch.h"
#include "plan.h"
#include "preview.h"
#include "registry.h"
#include "spi.h"
#include "sqltext.h"

/*
 * The names of a relation's columns.
 */
static List *
column_names(Oid relid)
{
	Relation	rel;
	List	   *names = NIL;
	char		relkind = get_rel_relkind(relid);

	if (relkind != RELKIND_RELATION && relkind != RELKIND_VIEW &&
		relkind != RELKIND_MATVIEW && relkind != RELKIND_FOREIGN_TABLE &&
		relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(relkind == '\0' ? ERRCODE_UNDEFINED_TABLE :
						 ERRCODE_WRONG_OBJECT_TYPE),
				 relkind == '\0' ?
				 errmsg("relation with OID %u does not exist", relid) :
				 errmsg("relation \"%s\" is not a table or view",
						scd2_relation_name(relid))));

	rel = relation_open(relid, AccessShareLock);
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), i);

		if (!att->attisdropped)
			names = lappend(names, makeString(pstrdup(NameStr(att->attname))));
	}
	relation_close(rel, NoLock);
	return names;
}

/* The names in one list and not in the other, or NULL. */
static char *
missing(const List *names, const List *others)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, names)
		if (!list_member(others, lfirst(lc)))
			appendStringInfo(&buf, "%s\"%s\"", buf.len > 0 ? ", " : "",
							 strVal(lfirst(lc)));
	return buf.len > 0 ? buf.data : NULL;
}

static void
check_columns(Oid a, Oid b, const List *a_names, const List *b_names)
{
	char	   *only_a = missing(a_names, b_names);
	char	   *only_b = missing(b_names, a_names);

	if (only_a == NULL && only_b == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("relations \"%s\" and \"%s\" do not have the same columns",
					scd2_relation_name(a), scd2_relation_name(b)),
			 errdetail_internal("%s%s%s",
								only_a == NULL ? "" :
								psprintf(_("Only the first has %s."), only_a),
								only_a != NULL && only_b != NULL ? " " : "",
								only_b == NULL ? "" :
								psprintf(_("Only the second has %s."), only_b)),
			 errhint("Compare views that have the same columns.")));
}

static List *
column_exprs(const List *names)
{
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, names)
		exprs = lappend(exprs, scd2_plan_column_of("x", strVal(lfirst(lc))));
	return exprs;
}

/* What says of a row x whether it is the same as another. */
static void
append_hash(StringInfo buf, List *exprs)
{
	if (exprs == NIL)
		appendStringInfoString(buf, "'\\x'::pg_catalog.bytea");
	else
		scd2_plan_row_hash(buf, exprs);
}

/*
 * The rows of one side that it has more of, each once, with the number of copies.
 * "s.*" is the row also where one of its columns is called s.
 */
static void
append_side(StringInfo buf, const char *side, Oid relid, List *exprs,
			const char *more)
{
	ListCell   *lc;

	appendStringInfo(buf, "(SELECT DISTINCT ON (h.hash) '%s', (SELECT CASE WHEN true THEN (s.*) END FROM (SELECT ",
					 side);
	foreach(lc, exprs)
		appendStringInfo(buf, "%s%s", foreach_current_index(lc) > 0 ? ", " : "",
						 (char *) lfirst(lc));
	appendStringInfo(buf, ") AS s), pg_catalog.abs(h.copies)\n   FROM hashes AS h\n"
					 "   JOIN %s AS x ON h.hash OPERATOR(pg_catalog.=) ",
					 scd2_relation_name(relid));
	append_hash(buf, exprs);
	appendStringInfo(buf, "\n  WHERE h.copies OPERATOR(pg_catalog.%s) 0)", more);
}

/*
 * Copies of a row that one side has and the other has not.  Rows are shown in a
 * second pass, so that the first handles no more than their hashes.
 */
static char *
plan_diff(Oid a, Oid b, const List *a_names)
{
	List	   *exprs = column_exprs(a_names);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "WITH hashes AS (\n  SELECT d.hash, pg_catalog.sum(d.n) AS copies\n    FROM (SELECT ");
	append_hash(&buf, exprs);
	appendStringInfo(&buf, " AS hash, 1 AS n FROM %s AS x\n          UNION ALL\n          SELECT ",
					 scd2_relation_name(a));
	append_hash(&buf, exprs);
	appendStringInfo(&buf, ", -1 FROM %s AS x) AS d\n   GROUP BY d.hash\n"
					 "  HAVING pg_catalog.sum(d.n) OPERATOR(pg_catalog.<>) 0)\n",
					 scd2_relation_name(b));
	append_side(&buf, "a", a, exprs, ">");
	appendStringInfoString(&buf, "\nUNION ALL\n");
	append_side(&buf, "b", b, exprs, "<");
	return buf.data;
}

/*
 * The rows that were found, as jsonb.  That is tried in subtransactions, which a
 * statement with parallel workers could not begin.
 */
static void
put_rows(Tuplestorestate *rows, TupleDesc desc, Tuplestorestate *store, TupleDesc store_desc)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 row",
											  ALLOCSET_DEFAULT_SIZES);

	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
		Datum		values[3];
		bool		isnull[3] = {0};
		Datum	   *columns;
		bool	   *columns_isnull;
		TupleDesc	row_desc;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		values[0] = slot->tts_values[0];
		row_desc = scd2_record_columns(slot->tts_values[1], &columns, &columns_isnull);
		values[1] = scd2_columns_jsonb(row_desc, columns, columns_isnull);
		values[2] = slot->tts_values[2];
		tuplestore_putvalues(store, store_desc, values, isnull);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(cxt);
	}
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextDelete(cxt);
}

PG_FUNCTION_INFO_V1(scd2_diff);

/*
 * scd2.diff(a, b): rows in one and not in the other, with the number of copies.
 */
Datum
scd2_diff(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	Oid			a = PG_GETARG_OID(0);
	Oid			b = PG_GETARG_OID(1);
	MemoryContext cxt = CurrentMemoryContext;
	Tuplestorestate *rows;
	TupleDesc	desc = CreateTemplateTupleDesc(3);
	List	   *a_names;
	List	   *b_names;
	Scd2Rights	rights;

	InitMaterializedSRF(fcinfo, 0);
	a_names = column_names(a);
	b_names = column_names(b);
	check_columns(a, b, a_names, b_names);

	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);
	scd2_settings_enter(&rights);
	scd2_desc_column(desc, 1, "side", TEXTOID, -1, DEFAULT_COLLATION_OID);
	scd2_desc_column(desc, 2, "row", RECORDOID, -1, InvalidOid);
	scd2_desc_column(desc, 3, "copies", INT8OID, -1, InvalidOid);
	rows = tuplestore_begin_heap(false, false, work_mem);
	SetTuplestoreDestReceiverParams(dest, rows, cxt, true, NULL, NULL);
	scd2_spi_stream("diff", plan_diff(a, b, a_names), 0, NULL, NULL, NULL, true, dest);
	put_rows(rows, desc, rsinfo->setResult, rsinfo->setDesc);
	tuplestore_end(rows);
	scd2_rights_leave(&rights);
	scd2_spi_end();
	dest->rDestroy(dest);
	PG_RETURN_VOID();
}
