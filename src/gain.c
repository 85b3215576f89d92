/*-------------------------------------------------------------------------
 *
 * gain.c
 *	  Columns that a source has gained become columns of its dimension
 *	  (on_drift => 'add').
 *
 * All is done as the dimension's owner, but for the registry.  The new column is
 * the last one of the table, and of its view and function: what is built on these
 * goes on.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "gain.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "derived.h"
#include "drift.h"
#include "meddle.h"
#include "plan.h"
#include "scd2.h"
#include "spi.h"
#include "sqltext.h"

/* One of them. */
typedef struct Gained
{
	char	   *name;
	Oid			typid;
	int32		typmod;
	Oid			collation;
} Gained;

static void
run(const char *step, const char *sql)
{
	(void) scd2_spi_run(step, sql, 0, NULL, NULL, NULL);
}

static List *
find_gained(const Scd2Dimension *dim)
{
	Relation	rel = table_open(dim->source, NoLock);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, scd2_drift_gained(dim))
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), lfirst_int(lc) - 1);
		Gained	   *gained = palloc(sizeof(Gained));

		gained->name = pstrdup(NameStr(att->attname));
		gained->typid = att->atttypid;
		gained->typmod = att->atttypmod;
		gained->collation = att->attcollation;
		result = lappend(result, gained);
	}
	table_close(rel, NoLock);
	return result;
}

/* ----------------------------------------------------------------
 * Dimension and log
 * ----------------------------------------------------------------
 */

static void
check_free(const Scd2Dimension *dim, Oid relid, const Gained *gained)
{
	if (get_attnum(relid, gained->name) == InvalidAttrNumber)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_COLUMN),
			 errmsg("source \"%s\" of dimension \"%s\" has gained column \"%s\", whose name is taken",
					dim->source_label, dim->label, gained->name),
			 errdetail("Relation \"%s\" has a column of that name.",
					   scd2_relation_name(relid)),
			 errhint("Nothing was written. Rename one of them, read the source through a view without it, or register the dimension with on_drift => 'ignore'.")));
}

/* The limit of shape.c, for a statement that classifies a batch. */
static void
check_width(const Scd2Dimension *dim, int ngained)
{
	int			n = 16 + 2 * dim->nkeys + dim->nseq + 3 * ngained;

	for (int i = 0; i < dim->nattrs; i++)
		n += dim->attrs[i].scd_type == 0 ? 4 : dim->attrs[i].scd_type == 3 ? 5 : 3;
	if (n > MaxTupleAttributeNumber)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("dimension \"%s\" would have too many columns", dim->label),
				 errdetail("Its source has gained %d.", ngained),
				 errhint("Nothing was written. Read the source through a view with fewer columns, or register the dimension with on_drift => 'ignore'.")));
}

static void
add_column(Oid relid, const char *name, Oid typid, int32 typmod, Oid collation)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "ALTER TABLE %s ADD COLUMN %s %s",
					 scd2_relation_name(relid), quote_identifier(name),
					 scd2_type_name(typid, typmod));
	if (OidIsValid(collation) && collation != get_typcollation(typid))
		appendStringInfo(&buf, " COLLATE %s", generate_collation_name(collation));
	/* a domain's default is no value that was sent */
	if (getBaseType(typid) != typid)
		appendStringInfoString(&buf, " DEFAULT NULL");
	run("add column", buf.data);
}

/*
 * A version with "hash" as its hash, by which one can tell whether it is as it was
 * otherwise.
 */
static void
append_image(StringInfo buf, const Scd2Dimension *dim, const char *hash)
{
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, scd2_plan_open_columns(dim))
		exprs = lappend(exprs, strcmp(lfirst(lc), dim->row_hash) == 0 ?
						unconstify(char *, hash) : scd2_plan_column_of("d", lfirst(lc)));
	scd2_plan_row_hash(buf, exprs);
}

/*
 * Run the statement that writes hashes anew, and look whether what others put on the
 * table let it (R15): "hash" is what the versions of "where" are to have.
 */
static void
run_verified(const Scd2Dimension *dim, const char *sql, const char *hash,
			 const char *where, const char *meddlers)
{
	Tuplestorestate *before = tuplestore_begin_heap(true, false, work_mem);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	char	   *sk = scd2_plan_column_of("d", dim->sk_name);
	TupleDesc	desc = CreateTemplateTupleDesc(2);
	StringInfoData buf;
	uint64		n;

	TupleDescInitEntry(desc, 1, "sk", dim->sk_is_uuid ? UUIDOID : INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "image", BYTEAOID, -1, 0);
	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT %s AS sk, ", sk);
	append_image(&buf, dim, hash);
	appendStringInfo(&buf, " AS image\n  FROM %s AS d\n WHERE %s", dim->sql_name, where);
	SetTuplestoreDestReceiverParams(dest, before, CurrentMemoryContext, true, NULL, NULL);
	n = scd2_spi_stream("before hash", buf.data, 0, NULL, NULL, NULL, false, dest);
	dest->rDestroy(dest);

	run("hash anew", sql);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "SELECT 1\n  FROM scd2_before AS b\n WHERE NOT EXISTS (\n"
					 "           SELECT FROM %s AS d\n            WHERE %s"
					 " OPERATOR(pg_catalog.=) b.sk\n              AND ",
					 dim->sql_name, sk);
	append_image(&buf, dim, scd2_plan_column_of("d", dim->row_hash));
	appendStringInfoString(&buf, " OPERATOR(pg_catalog.=) b.image)\n LIMIT 1");
	scd2_spi_register("scd2_before", desc, before, (double) n);
	if (scd2_spi_run("check hashes", buf.data, 0, NULL, NULL, NULL) > 0)
		scd2_raise_not_written(dim, "hashes", meddlers);
	scd2_spi_unregister("scd2_before");
	tuplestore_end(before);
}

/*
 * row_hash is over all type 2 and 6 columns, so that one more changes it in every
 * version.  A hash that is wrong is left wrong, for scd2.check to find.
 */
static void
rewrite_hashes(const Scd2Dimension *dim, const List *gained)
{
	List	   *exprs = NIL;
	ListCell   *lc;
	StringInfoData buf;
	StringInfoData old;
	StringInfoData hash;
	StringInfoData where;
	char	   *meddlers;

	if (dim->row_hash == NULL)
		return;
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6)
			exprs = lappend(exprs, scd2_plan_column_of("d", dim->attrs[i].name));
	initStringInfo(&old);
	if (exprs != NIL)
		scd2_plan_row_hash(&old, exprs);
	foreach(lc, gained)
		exprs = lappend(exprs, scd2_plan_column_of("d", ((Gained *) lfirst(lc))->name));

	initStringInfo(&hash);
	scd2_plan_row_hash(&hash, exprs);
	initStringInfo(&where);
	appendStringInfo(&where, "%s IS NOT NULL",
					 scd2_plan_column_of("d", dim->keys[0].name));
	if (old.len > 0)
		appendStringInfo(&where, "\n   AND %s OPERATOR(pg_catalog.=) %s",
						 scd2_plan_column_of("d", dim->row_hash), old.data);
	initStringInfo(&buf);
	appendStringInfo(&buf, "UPDATE %s AS d\n   SET %s = %s\n WHERE %s", dim->sql_name,
					 quote_identifier(dim->row_hash), hash.data, where.data);

	meddlers = scd2_find_meddlers(dim->relid, CMD_UPDATE);
	if (meddlers == NULL)
		run("hash anew", buf.data);
	else
		run_verified(dim, buf.data, hash.data, where.data, meddlers);
}

/* ----------------------------------------------------------------
 * View and function
 * ----------------------------------------------------------------
 */

/*
 * Put the columns behind the others of a query's result, in place; false if it is
 * none that can have them, because somebody made it another.  It reads the
 * dimension, or a union of it and its history, or the history.
 */
static bool
extend_query(const Scd2Dimension *dim, Query *query, const List *gained)
{
	SetOperationStmt *set = (SetOperationStmt *) query->setOperations;
	int			varno = 0;
	Oid			relid = InvalidOid;
	AttrNumber	attnum = list_length(query->targetList);
	ListCell   *lc;

	if (query->commandType != CMD_SELECT ||
		query->groupClause != NIL || query->groupingSets != NIL ||
		query->distinctClause != NIL || query->hasAggs ||
		query->hasTargetSRFs || query->havingQual != NULL)
		return false;
	if (set != NULL && (set->op != SETOP_UNION || !set->all ||
						!IsA(set->larg, RangeTblRef) || !IsA(set->rarg, RangeTblRef)))
		return false;
	foreach(lc, query->targetList)
		if (((TargetEntry *) lfirst(lc))->resjunk)
			return false;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->rtekind == RTE_SUBQUERY)
		{
			ListCell   *column;

			attnum = list_length(rte->subquery->targetList);
			if (!extend_query(dim, rte->subquery, gained))
				return false;
			foreach(column, gained)
				rte->eref->colnames = lappend(rte->eref->colnames,
											  makeString(((Gained *) lfirst(column))->name));
		}
		else if (rte->rtekind == RTE_RELATION &&
				 (rte->relid == dim->relid ||
				  (dim->history != NULL && rte->relid == dim->history->relid)))
			relid = rte->relid;
		else
			continue;
		varno = foreach_current_index(lc) + 1;
	}
	if (varno == 0)
		return false;
	if (set != NULL)
		varno = ((RangeTblRef *) set->larg)->rtindex;

	foreach(lc, gained)
	{
		const Gained *column = lfirst(lc);
		ListCell   *other;

		foreach(other, query->targetList)
			if (strcmp(((TargetEntry *) lfirst(other))->resname, column->name) == 0)
				return false;
		attnum = OidIsValid(relid) ? get_attnum(relid, column->name) : attnum + 1;
		query->targetList =
			lappend(query->targetList,
					makeTargetEntry((Expr *) makeVar(varno, attnum, column->typid,
													 column->typmod,
													 column->collation, 0),
									list_length(query->targetList) + 1,
									pstrdup(column->name), false));
		if (set == NULL)
			continue;
		set->colTypes = lappend_oid(set->colTypes, column->typid);
		set->colTypmods = lappend_int(set->colTypmods, column->typmod);
		set->colCollations = lappend_oid(set->colCollations, column->collation);
	}
	return true;
}

static void
warn_left_alone(const Scd2Dimension *dim, const char *what, const char *label,
				const char *detail, const char *hint)
{
	ereport(WARNING,
			(errmsg("%s \"%s\" of dimension \"%s\" does not show the columns that its source has gained",
					what, label, dim->label),
			 errdetail_internal("%s", detail),
			 errhint("%s", hint)));
}

static void
extend_view(const Scd2Dimension *dim, Oid view, const List *gained)
{
	const Oid	types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(view)};
	char	   *label = scd2_relation_name(view);
	Relation	rel = table_open(view, AccessExclusiveLock);
	Query	   *query = copyObject(get_view_query(rel));
	char	   *options;
	ListCell   *lc;

	/* a column of the view may have been renamed */
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst(lc);

		if (!entry->resjunk)
			entry->resname = pstrdup(NameStr(TupleDescAttr(RelationGetDescr(rel),
														   foreach_current_index(lc))->attname));
	}
	table_close(rel, NoLock);

	if (!extend_query(dim, query, gained))
	{
		warn_left_alone(dim, "view", label,
						"It is not as scd2 made it any more.",
						"Add them with CREATE OR REPLACE VIEW.");
		return;
	}
	(void) scd2_spi_run("view options",
						"SELECT pg_catalog.array_to_string(reloptions, ', ')"
						" FROM pg_catalog.pg_class WHERE oid OPERATOR(pg_catalog.=) $1",
						1, types, values, NULL);
	options = scd2_spi_text(0, 1, CurrentMemoryContext);
	run("extend view", psprintf("CREATE OR REPLACE VIEW %s%s AS\n%s", label,
								options == NULL ? "" : psprintf(" WITH (%s)", options),
								pg_get_querydef(query, false)));
}

/*
 * Give a function the privileges that the one before it had.
 */
static void
restore_acl(Oid function, Oid owner, Acl *acl)
{
	Relation	rel = table_open(ProcedureRelationId, RowExclusiveLock);
	HeapTuple	old = SearchSysCacheCopy1(PROCOID, ObjectIdGetDatum(function));
	HeapTuple	tuple;
	Datum		values[Natts_pg_proc] = {0};
	bool		nulls[Natts_pg_proc] = {0};
	bool		replaces[Natts_pg_proc] = {0};
	Datum		made;
	bool		isnull;
	Oid		   *old_members = NULL;
	Oid		   *new_members = NULL;
	int			nold = 0;
	int			nnew = 0;

	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for function %u", function);
	made = SysCacheGetAttr(PROCOID, old, Anum_pg_proc_proacl, &isnull);
	if (!isnull)
		nold = aclmembers(DatumGetAclP(made), &old_members);
	if (acl != NULL)
		nnew = aclmembers(acl, &new_members);
	replaces[Anum_pg_proc_proacl - 1] = true;
	nulls[Anum_pg_proc_proacl - 1] = acl == NULL;
	values[Anum_pg_proc_proacl - 1] = PointerGetDatum(acl);
	tuple = heap_modify_tuple(old, RelationGetDescr(rel), values, nulls, replaces);
	CatalogTupleUpdate(rel, &tuple->t_self, tuple);
	updateAclDependencies(ProcedureRelationId, function, 0, owner,
						  nold, old_members, nnew, new_members);
	table_close(rel, RowExclusiveLock);
	CommandCounterIncrement();
}

static void
drop_function(void *arg)
{
	run("drop function", arg);
}

/*
 * A function's columns cannot be changed: it is made again.
 */
static void
extend_function(const Scd2Dimension *dim, const char *name, Oid function,
				const List *gained)
{
	const Oid	types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(function)};
	HeapTuple	proc = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	char	   *label;
	char	   *arguments;
	char	   *comment;
	Query	   *query = NULL;
	Acl		   *acl = NULL;
	Datum		value;
	bool		isnull;
	ErrorData  *error;
	StringInfoData result;
	ListCell   *lc;

	if (!HeapTupleIsValid(proc))
		elog(ERROR, "cache lookup failed for function %u", function);
	label = quote_qualified_identifier(get_namespace_name(((Form_pg_proc) GETSTRUCT(proc))->pronamespace),
									   name);
	value = SysCacheGetAttr(PROCOID, proc, Anum_pg_proc_proacl, &isnull);
	if (!isnull)
		acl = DatumGetAclPCopy(value);
	value = SysCacheGetAttr(PROCOID, proc, Anum_pg_proc_prosqlbody, &isnull);
	if (!isnull)
	{
		Node	   *body = stringToNode(TextDatumGetCString(value));

		if (IsA(body, List) && list_length((List *) body) == 1)
			body = linitial((List *) body);
		if (IsA(body, List) && list_length((List *) body) == 1)
			query = linitial_node(Query, (List *) body);
	}
	ReleaseSysCache(proc);
	if (query == NULL || !extend_query(dim, query, gained))
	{
		warn_left_alone(dim, "function", label,
						"It is not as scd2 made it any more.",
						"Make it again with them.");
		return;
	}

	(void) scd2_spi_run("function",
						"SELECT pg_catalog.pg_get_function_arguments($1),"
						" pg_catalog.pg_get_function_result($1),"
						" pg_catalog.obj_description($1, 'pg_proc')",
						1, types, values, NULL);
	arguments = scd2_spi_text(0, 1, CurrentMemoryContext);
	initStringInfo(&result);
	appendStringInfoString(&result, scd2_spi_text(0, 2, CurrentMemoryContext));
	comment = scd2_spi_text(0, 3, CurrentMemoryContext);
	/* TABLE(customer_sk bigint, ...) */
	result.data[--result.len] = '\0';
	foreach(lc, gained)
	{
		const Gained *column = lfirst(lc);

		/* a column called ts takes the parameter's name away */
		if (strcmp(column->name, "ts") == 0)
			arguments = "timestamptz";
		appendStringInfo(&result, ", %s %s", quote_identifier(column->name),
						 scd2_type_name(column->typid, -1));
	}
	appendStringInfoChar(&result, ')');

	error = scd2_spi_try(drop_function, psprintf("DROP FUNCTION %s(timestamptz)", label));
	if (error != NULL)
	{
		if (error->sqlerrcode != ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST)
			ReThrowError(error);
		warn_left_alone(dim, "function", label,
						error->detail != NULL ? error->detail : error->message,
						"It cannot change while others depend on it. Drop these, make the function again with the columns, and then these.");
		return;
	}
	run("extend function",
		psprintf("CREATE FUNCTION %s(%s)\nRETURNS %s\nLANGUAGE sql STABLE PARALLEL SAFE\nBEGIN ATOMIC\n%s;\nEND",
				 label, arguments, result.data, pg_get_querydef(query, false)));
	if (comment != NULL)
		run("comment", psprintf("COMMENT ON FUNCTION %s(timestamptz) IS %s", label,
								quote_literal_cstr(comment)));
	restore_acl(scd2_derived_find_function(dim->relid, name), dim->owner, acl);
}

/* ----------------------------------------------------------------
 * The registry
 * ----------------------------------------------------------------
 */

/*
 * Behind the tracked columns, because the others belong to them.
 */
static void
register_column(const Scd2Dimension *dim, const Gained *gained, int64 run_id)
{
	const Oid	types[] = {INT4OID, TEXTOID, TEXTOID, TEXTOID, OIDOID, INT8OID,
	INT2OID, INT2OID, INT2OID};
	Datum		values[] = {
		Int32GetDatum(dim->id),
		CStringGetTextDatum(gained->name),
		CStringGetTextDatum(scd2_type_name(gained->typid, -1)),
		CStringGetTextDatum(scd2_type_name(gained->typid, gained->typmod)),
		ObjectIdGetDatum(gained->typid),
		Int64GetDatum(run_id),
		Int16GetDatum(get_attnum(dim->relid, gained->name)),
		(Datum) 0,
		(Datum) 0
	};
	bool		nulls[lengthof(types)] = {0};

	nulls[7] = !OidIsValid(dim->log);
	if (!nulls[7])
		values[7] = Int16GetDatum(get_attnum(dim->log, gained->name));
	nulls[8] = dim->history == NULL;
	if (!nulls[8])
		values[8] = Int16GetDatum(get_attnum(dim->history->relid, gained->name));

#define RUN(sql) scd2_spi_run("register column", sql, lengthof(types), types, values, nulls)
	RUN("UPDATE scd2.registry_dimension SET"
		" source_columns = source_columns || $2, source_types = source_types || $3,"
		" options = pg_catalog.jsonb_set(options, '{type2}', options -> 'type2' || pg_catalog.to_jsonb($2)),"
		" next_column_id = next_column_id + 1 WHERE id = $1");
	RUN("UPDATE scd2.registry_column SET position = position + 1 "
		"WHERE dimension_id = $1 AND position >="
		" (SELECT min(position) FROM scd2.registry_column WHERE dimension_id = $1"
		" AND role IN ('previous', 'current', 'row_hash', 'valid_from'))");
	RUN("INSERT INTO scd2.registry_column (dimension_id, column_id, position, role, scd_type,"
		" column_name, source_column, log_column, history_column, data_type, since_run) "
		"SELECT $1, d.next_column_id - 1,"
		" (SELECT min(position) - 1 FROM scd2.registry_column WHERE dimension_id = $1"
		" AND role IN ('previous', 'current', 'row_hash', 'valid_from')),"
		" 'tracked', 2, $2, $2, CASE WHEN $8 IS NOT NULL THEN $2 END,"
		" CASE WHEN $9 IS NOT NULL THEN $2 END, $4, $6 "
		"FROM scd2.registry_dimension d WHERE d.id = $1");
	RUN("UPDATE scd2.registry_cache SET source_types = source_types || $5::regtype "
		"WHERE dimension_id = $1");
	RUN("INSERT INTO scd2.registry_cache_column (dimension_id, column_id, attnum, log_attnum, history_attnum) "
		"SELECT $1, d.next_column_id - 1, $7, $8, $9 FROM scd2.registry_dimension d WHERE d.id = $1");
#undef RUN
}

/*
 * Add what the source has gained; see gain.h.
 */
void
scd2_gain_columns(const Scd2Dimension *dim, int64 run_id)
{
	List	   *gained = find_gained(dim);
	Oid			views[SCD2_NVIEWS];
	char	   *name;
	Oid			function;
	ListCell   *lc;
	Scd2Rights	save;

	/* a run before this one may have added them meanwhile */
	if (gained == NIL)
		return;
	check_width(dim, list_length(gained));
	scd2_derived_find_objects(dim->id, views, &name);

	scd2_rights_enter(dim->owner, &save);
	foreach(lc, gained)
	{
		const Gained *column = lfirst(lc);

		check_free(dim, dim->relid, column);
		add_column(dim->relid, column->name, column->typid, column->typmod,
				   column->collation);
		if (dim->history != NULL)
		{
			check_free(dim, dim->history->relid, column);
			add_column(dim->history->relid, column->name, column->typid,
					   column->typmod, column->collation);
		}
		if (OidIsValid(dim->log))
		{
			int32		typmod = column->typmod;
			Oid			typid = getBaseTypeAndTypmod(column->typid, &typmod);

			check_free(dim, dim->log, column);
			add_column(dim->log, column->name, typid, typmod, column->collation);
		}
	}
	rewrite_hashes(dim, gained);
	if (dim->history != NULL)
		rewrite_hashes(dim->history, gained);
	for (int i = 0; i < lengthof(views); i++)
		if (OidIsValid(views[i]) && get_rel_relkind(views[i]) == RELKIND_VIEW)
			extend_view(dim, views[i], gained);
	function = name == NULL ? InvalidOid : scd2_derived_find_function(dim->relid, name);
	if (OidIsValid(function))
		extend_function(dim, name, function, gained);
	scd2_rights_leave(&save);

	scd2_registry_enter(&save);
	foreach(lc, gained)
		register_column(dim, lfirst(lc), run_id);
	scd2_rights_leave(&save);

	if (!scd2_notice)
		return;
	foreach(lc, gained)
		ereport(NOTICE,
				(errmsg("dimension \"%s\" tracks column \"%s\" from now on",
						dim->label, ((Gained *) lfirst(lc))->name),
				 errdetail("Its source has gained the column.")));
}
