/*-------------------------------------------------------------------------
 *
 * derived.c
 *	  The tables, indexes, views and functions that belong to a dimension (R1).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "derived.h"
#include "period.h"
#include "spi.h"
#include "sqltext.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

/*
 * The column of a role; NULL: there is none.
 */
static Scd2ShapeColumn *
column_of(const List *shape, const char *role)
{
	ListCell   *cell;

	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (strcmp(column->role, role) == 0)
			return column;
	}
	return NULL;
}

/*
 * <dimension><suffix>, or an error that names it.
 */
static char *
derived_name(const Scd2Options *options, const char *suffix, const char *what)
{
	char	   *name = psprintf("%s%s", options->name, suffix);

	if (strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("name \"%s\" of the %s is too long", name, what),
				 errdetail("It has %zu bytes; names have at most %d.",
						   strlen(name), NAMEDATALEN - 1),
				 errhint("Give the dimension a shorter name.")));
	return name;
}

static void
check_relation_free(const Scd2Options *options, const char *name,
					const char *what)
{
	if (OidIsValid(get_relname_relid(name, options->namespace)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists",
						quote_qualified_identifier(options->schema, name)),
				 errdetail("The %s of dimension \"%s\" needs the name.", what, options->label),
				 errhint("Rename or drop it, or give the dimension another name.")));
}

/*
 * Names of log, views, history and function.
 */
void
scd2_derived_names(const Scd2Options *options, Oid kept_log, Oid kept_history,
				   Scd2DerivedNames *names)
{
	Oid			argument = TIMESTAMPTZOID;
	oidvector  *arguments = buildoidvector(&argument, 1);

	names->log = NULL;
	if (options->change_log && !OidIsValid(kept_log))
	{
		names->log = derived_name(options, "_log", "change log");
		check_relation_free(options, names->log, "change log");
	}

	names->view = derived_name(options, "_current", "view of current rows");
	check_relation_free(options, names->view, "view of current rows");

	names->history = NULL;
	names->versions = NULL;
	if (scd2_is_separate(options))
	{
		if (!OidIsValid(kept_history))
		{
			names->history = derived_name(options, "_history", "history table");
			check_relation_free(options, names->history, "history table");
		}
		names->versions = derived_name(options, "_versions", "view of all versions");
		check_relation_free(options, names->versions, "view of all versions");
	}

	names->function = derived_name(options, "_as_of", "as-of function");
	if (SearchSysCacheExists3(PROCNAMEARGSNSP, CStringGetDatum(names->function),
							  PointerGetDatum(arguments),
							  ObjectIdGetDatum(options->namespace)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_FUNCTION),
				 errmsg("function \"%s(timestamptz)\" already exists",
						quote_qualified_identifier(options->schema, names->function)),
				 errdetail("Dimension \"%s\" needs the name.", options->label),
				 errhint("Rename or drop it, or give the dimension another name.")));
}

/*
 * name type COLLATE ... NOT NULL
 */
static void
append_column(StringInfo buf, const char *name, Oid typid, int32 typmod,
			  Oid collation, bool not_null)
{
	appendStringInfo(buf, "    %s %s", quote_identifier(name),
					 scd2_type_name(typid, typmod));
	if (OidIsValid(collation) && collation != get_typcollation(typid))
		appendStringInfo(buf, " COLLATE %s", generate_collation_name(collation));
	if (not_null)
		appendStringInfoString(buf, " NOT NULL");
}

/*
 * Append the key columns, separated by commas.
 */
static void
append_key(StringInfo buf, const List *shape)
{
	ListCell   *cell;
	bool		first = true;

	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (strcmp(column->role, "key") != 0)
			continue;
		appendStringInfo(buf, "%s%s", first ? "" : ", ", quote_identifier(column->name));
		first = false;
	}
}

/*
 * CREATE TABLE gold.dim_customer (
 *     customer_sk bigint NOT NULL,
 *     customer_id integer,
 *     ...
 *     is_current boolean NOT NULL,
 *     PRIMARY KEY (customer_sk)
 * ) WITH (fillfactor = 80)
 *
 * The fillfactor leaves room for the new version of a row that a close makes,
 * so that it is HOT (DESIGN.md section 3).  A history's rows are only added to.
 */
static Oid
create_versions(const Scd2Options *options, const List *shape, const char *name,
				const char *with, const char *comment)
{
	char	   *label = quote_qualified_identifier(options->schema, name);
	StringInfoData buf;
	ListCell   *cell;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE TABLE %s (\n", label);
	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (column->name == NULL)
			continue;
		append_column(&buf, column->name, column->typid, column->typmod,
					  column->collation, column->not_null);
		appendStringInfoString(&buf, ",\n");
	}
	appendStringInfo(&buf, "    PRIMARY KEY (%s)\n)%s",
					 quote_identifier(options->surrogate_key), with);
	(void) scd2_spi_run("create table", buf.data, 0, NULL, NULL, NULL);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "COMMENT ON TABLE %s IS %s", label,
					 quote_literal_cstr(comment));
	(void) scd2_spi_run("comment", buf.data, 0, NULL, NULL, NULL);

	return get_relname_relid(name, options->namespace);
}

Oid
scd2_derived_table(const Scd2Options *options, const List *shape)
{
	return create_versions(options, shape, options->name, " WITH (fillfactor = 80)",
						   psprintf("dimension of %s, kept by scd2: one row a %s",
									options->source_label,
									scd2_is_separate(options) ? "key" : "version"));
}

Oid
scd2_derived_history(const Scd2Options *options, const List *shape,
					 const char *name)
{
	return create_versions(options, shape, name, "",
						   psprintf("closed versions of dimension %s, kept by scd2",
									options->label));
}

/*
 * CREATE TABLE gold.dim_customer_log (
 *     scd2_id bigint GENERATED BY DEFAULT AS IDENTITY,
 *     customer_id integer NOT NULL,
 *     scd2_effective_at timestamp with time zone NOT NULL,
 *     ...
 *     PRIMARY KEY (scd2_id)
 * )
 * CREATE INDEX ON gold.dim_customer_log (customer_id, scd2_effective_at)
 */
Oid
scd2_derived_log(const Scd2Options *options, const List *shape,
				 const char *name)
{
	char	   *label = quote_qualified_identifier(options->schema, name);
	StringInfoData buf;
	ListCell   *cell;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE TABLE %s (\n", label);
	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (column->log_name == NULL)
			continue;
		append_column(&buf, column->log_name, column->log_typid,
					  column->log_typmod, column->collation, column->log_not_null);
		if (strcmp(column->role, "log_id") == 0)
			appendStringInfoString(&buf, " GENERATED BY DEFAULT AS IDENTITY");
		appendStringInfoString(&buf, ",\n");
	}
	appendStringInfoString(&buf, "    PRIMARY KEY (scd2_id)\n)");
	(void) scd2_spi_run("create log", buf.data, 0, NULL, NULL, NULL);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "CREATE INDEX ON %s (", label);
	append_key(&buf, shape);
	appendStringInfoString(&buf, ", scd2_effective_at)");
	(void) scd2_spi_run("index log", buf.data, 0, NULL, NULL, NULL);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "COMMENT ON TABLE %s IS %s", label,
					 quote_literal_cstr(psprintf("change log of dimension %s, kept by scd2: append-only",
												 options->label)));
	(void) scd2_spi_run("comment", buf.data, 0, NULL, NULL, NULL);

	return get_relname_relid(name, options->namespace);
}

/*
 * Has "relid" a usable unique index on exactly these columns, in this order?
 */
static bool
has_unique_index(Oid relid, const List *attnums, bool partial)
{
	Relation	rel = table_open(relid, AccessShareLock);
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *cell;
	bool		found = false;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (form->indisunique && form->indisvalid && form->indimmediate &&
			RelationGetIndexExpressions(index) == NIL &&
			(RelationGetIndexPredicate(index) != NIL) == partial &&
			form->indnkeyatts == list_length(attnums))
		{
			bool		same = true;

			for (int i = 0; i < form->indnkeyatts; i++)
				same = same && form->indkey.values[i] == list_nth_int(attnums, i);
			found = found || same;
		}
		index_close(index, AccessShareLock);
	}
	table_close(rel, AccessShareLock);

	return found;
}

/*
 * CREATE UNIQUE INDEX ON gold.dim_customer (customer_id, valid_from)
 *
 * and with guard
 *
 * CREATE UNIQUE INDEX ON gold.dim_customer (customer_id) WHERE is_current
 *
 * A table that is taken up may have them already.
 */
void
scd2_derived_indexes(const Scd2Options *options, const List *shape, Oid relid,
					 bool guard)
{
	char	   *label = scd2_relation_name(relid);
	List	   *attnums = NIL;
	ListCell   *cell;
	StringInfoData buf;

	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (strcmp(column->role, "key") == 0)
			attnums = lappend_int(attnums, get_attnum(relid, column->name));
	}

	initStringInfo(&buf);
	if (guard && !has_unique_index(relid, attnums, true))
	{
		appendStringInfo(&buf, "CREATE UNIQUE INDEX ON %s (", label);
		append_key(&buf, shape);
		appendStringInfo(&buf, ") WHERE %s", quote_identifier(options->is_current));
		(void) scd2_spi_run("create guard", buf.data, 0, NULL, NULL, NULL);
	}

	attnums = lappend_int(attnums, get_attnum(relid, options->valid_from));
	if (!has_unique_index(relid, attnums, false))
	{
		resetStringInfo(&buf);
		appendStringInfo(&buf, "CREATE UNIQUE INDEX ON %s (", label);
		append_key(&buf, shape);
		appendStringInfo(&buf, ", %s)", quote_identifier(options->valid_from));
		(void) scd2_spi_run("create index", buf.data, 0, NULL, NULL, NULL);
	}
}

/*
 * Append the dimension's columns, each with the alias d.
 */
static void
append_select_list(StringInfo buf, const List *shape)
{
	ListCell   *cell;
	bool		first = true;

	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (column->name == NULL)
			continue;
		appendStringInfo(buf, "%sd.%s", first ? "" : ", ", quote_identifier(column->name));
		first = false;
	}
}

/*
 * CREATE VIEW gold.dim_customer_current AS
 * SELECT d.customer_sk, ...
 *   FROM gold.dim_customer d
 *  WHERE d.is_current AND d.customer_id IS NOT NULL
 *
 * A null key is the unknown member's, which is in no view.
 */
void
scd2_derived_view(const Scd2Options *options, const List *shape,
				  const char *name)
{
	char	   *label = quote_qualified_identifier(options->schema, name);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE VIEW %s AS\nSELECT ", label);
	append_select_list(&buf, shape);
	appendStringInfo(&buf, "\n  FROM %s d\n WHERE d.%s AND d.%s IS NOT NULL",
					 options->label, quote_identifier(options->is_current),
					 quote_identifier(column_of(shape, "key")->name));
	(void) scd2_spi_run("create view", buf.data, 0, NULL, NULL, NULL);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "COMMENT ON VIEW %s IS %s", label,
					 quote_literal_cstr(psprintf("current rows of dimension %s", options->label)));
	(void) scd2_spi_run("comment", buf.data, 0, NULL, NULL, NULL);
}

/*
 * (SELECT d.customer_sk, ... FROM gold.dim_customer d
 * UNION ALL
 * SELECT d.customer_sk, ... FROM gold.dim_customer_history d)
 *
 * Conditions stand outside: with one inside, the planner could not look a key up
 * by the indexes of both for each row of another table.
 */
static void
append_from(StringInfo buf, const Scd2Options *options, const List *shape,
			Oid history)
{
	if (!OidIsValid(history))
	{
		appendStringInfoString(buf, options->label);
		return;
	}
	appendStringInfoString(buf, "(SELECT ");
	append_select_list(buf, shape);
	appendStringInfo(buf, " FROM %s d\nUNION ALL\nSELECT ", options->label);
	append_select_list(buf, shape);
	appendStringInfo(buf, " FROM %s d)", scd2_relation_name(history));
}

/*
 * CREATE VIEW gold.dim_customer_versions AS
 * SELECT d.customer_sk, ...
 *   FROM (SELECT d.customer_sk, ... FROM gold.dim_customer d
 *         UNION ALL
 *         SELECT d.customer_sk, ... FROM gold.dim_customer_history d) d
 *  WHERE d.customer_id IS NOT NULL
 */
void
scd2_derived_versions(const Scd2Options *options, const List *shape,
					  const char *name, Oid history)
{
	char	   *label = quote_qualified_identifier(options->schema, name);
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE VIEW %s AS\nSELECT ", label);
	append_select_list(&buf, shape);
	appendStringInfoString(&buf, "\n  FROM ");
	append_from(&buf, options, shape, history);
	appendStringInfo(&buf, " d\n WHERE d.%s IS NOT NULL",
					 quote_identifier(column_of(shape, "key")->name));
	(void) scd2_spi_run("create view", buf.data, 0, NULL, NULL, NULL);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "COMMENT ON VIEW %s IS %s", label,
					 quote_literal_cstr(psprintf("current and closed versions of dimension %s", options->label)));
	(void) scd2_spi_run("comment", buf.data, 0, NULL, NULL, NULL);
}

/*
 * CREATE FUNCTION gold.dim_customer_as_of(ts timestamptz)
 * RETURNS TABLE (customer_sk bigint, ...)
 * LANGUAGE sql STABLE PARALLEL SAFE
 * BEGIN ATOMIC
 *     SELECT d.customer_sk, ...
 *       FROM gold.dim_customer d
 *      WHERE d.valid_from <= $1 AND d.valid_to > $1 AND d.customer_id IS NOT NULL;
 * END
 *
 * With a history (InvalidOid: none) from both, as in the view of all versions.
 * Not STRICT and without SET, so that the planner inlines it (R28); $1 is
 * converted to the period's type by the dimension's time zone.
 */
void
scd2_derived_function(const Scd2Options *options, const List *shape,
					  const char *name, Oid history)
{
	char	   *label = quote_qualified_identifier(options->schema, name);
	const char *from = quote_identifier(options->valid_from);
	const char *to = quote_identifier(options->valid_to);
	const char *parameter = "ts ";
	char	   *at = "$1";
	StringInfoData columns;
	StringInfoData buf;
	ListCell   *cell;

	if (options->period_type != TIMESTAMPTZOID)
	{
		at = psprintf("pg_catalog.timezone(%s, $1)", quote_literal_cstr(options->time_zone));
		if (options->period_type == DATEOID)
			at = psprintf("%s::date", at);
	}

	initStringInfo(&columns);
	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (column->name == NULL)
			continue;
		/* a column called ts takes the parameter's name away */
		if (strcmp(column->name, "ts") == 0)
			parameter = "";
		appendStringInfo(&columns, "%s%s %s", columns.len == 0 ? "" : ", ",
						 quote_identifier(column->name),
						 scd2_type_name(column->typid, -1));
	}

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE FUNCTION %s(%stimestamptz)\nRETURNS TABLE (%s)\n"
					 "LANGUAGE sql STABLE PARALLEL SAFE\nBEGIN ATOMIC\n    SELECT ",
					 label, parameter, columns.data);
	append_select_list(&buf, shape);
	appendStringInfoString(&buf, "\n      FROM ");
	append_from(&buf, options, shape, history);
	appendStringInfo(&buf, " d\n     WHERE d.%s <= %s AND ", from, at);
	if (strcmp(options->open_end, "null") == 0)
		appendStringInfo(&buf, "(d.%s > %s OR d.%s IS NULL)", to, at, to);
	else
		appendStringInfo(&buf, "d.%s > %s", to, at);
	appendStringInfo(&buf, " AND d.%s IS NOT NULL;\nEND",
					 quote_identifier(column_of(shape, "key")->name));
	(void) scd2_spi_run("create function", buf.data, 0, NULL, NULL, NULL);

	resetStringInfo(&buf);
	appendStringInfo(&buf, "COMMENT ON FUNCTION %s(timestamptz) IS %s", label,
					 quote_literal_cstr(psprintf("the version of each key of dimension %s at a time", options->label)));
	(void) scd2_spi_run("comment", buf.data, 0, NULL, NULL, NULL);
}

/*
 * INSERT INTO gold.dim_customer (customer_sk, valid_from, valid_to, is_current)
 * VALUES (-1, '-infinity', '9999-12-31 00:00:00+00', true)
 * ON CONFLICT (customer_sk) DO NOTHING
 *
 * Where a domain refuses its nulls, the table does without.
 */
void
scd2_derived_unknown_member(const Scd2Options *options, const List *shape)
{
	MemoryContext oldcontext = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;
	Scd2ShapeColumn *is_deleted = column_of(shape, "is_deleted");
	Oid			types[1];
	Datum		values[1];
	bool		nulls[1];
	StringInfoData buf;

	types[0] = options->period_type;
	nulls[0] = !scd2_period_open_end(options->open_end, options->period_type,
									 options->time_zone, &values[0]);

	initStringInfo(&buf);
	appendStringInfo(&buf, "INSERT INTO %s (%s, ", options->label,
					 quote_identifier(options->surrogate_key));
	appendStringInfo(&buf, "%s, ", quote_identifier(options->valid_from));
	appendStringInfo(&buf, "%s, ", quote_identifier(options->valid_to));
	appendStringInfoString(&buf, quote_identifier(options->is_current));
	if (is_deleted != NULL)
		appendStringInfo(&buf, ", %s", quote_identifier(is_deleted->name));
	appendStringInfo(&buf, ") VALUES (%s, '-infinity', $1, true%s) ON CONFLICT (%s) DO NOTHING",
					 strcmp(options->surrogate_key_type, "uuid") == 0 ?
					 "'00000000-0000-0000-0000-000000000000'" : "-1",
					 is_deleted != NULL ? ", false" : "",
					 quote_identifier(options->surrogate_key));

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(oldcontext);
	PG_TRY();
	{
		(void) scd2_spi_run("insert unknown member", buf.data, 1, types, values, nulls);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcontext);
		CurrentResourceOwner = oldowner;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(oldcontext);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcontext);
		CurrentResourceOwner = oldowner;

		if (error->sqlerrcode != ERRCODE_NOT_NULL_VIOLATION &&
			error->sqlerrcode != ERRCODE_CHECK_VIOLATION)
			ReThrowError(error);
		ereport(NOTICE,
				(errmsg("dimension \"%s\" has no unknown member", options->label),
				 errdetail_internal("%s", error->message)));
	}
	PG_END_TRY();
}

/*
 * Views and function; see derived.h.
 */
void
scd2_derived_find_objects(int32 id, Oid *views, char **function)
{
	const Oid	types[] = {INT4OID};
	Datum		values[] = {Int32GetDatum(id)};
	MemoryContext cxt = CurrentMemoryContext;
	Scd2Rights	save;

	for (int i = 0; i < SCD2_NVIEWS; i++)
		views[i] = InvalidOid;
	*function = NULL;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	if (scd2_spi_run("look for objects",
					 "SELECT r.view::oid, r.versions::oid, d.function_name FROM scd2.registry_dimension d "
					 "JOIN scd2.registry_resolved r ON r.dimension_id = d.id WHERE d.id = $1",
					 1, types, values, NULL) > 0)
	{
		for (int i = 0; i < SCD2_NVIEWS; i++)
		{
			bool		isnull;
			Datum		value = scd2_spi_value(0, i + 1, &isnull);

			views[i] = isnull ? InvalidOid : DatumGetObjectId(value);
		}
		*function = scd2_spi_text(0, 3, cxt);
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Lock the views; see derived.h.
 */
void
scd2_derived_lock_views(int32 id)
{
	Oid			views[SCD2_NVIEWS];
	char	   *function;

	scd2_derived_find_objects(id, views, &function);
	for (int i = 0; i < SCD2_NVIEWS; i++)
		if (OidIsValid(views[i]))
			LockRelationOid(views[i], AccessExclusiveLock);
}

/*
 * The as-of function by its name and its dependency on the dimension: its
 * schema may have been renamed since, and types that would hold its OID are
 * not for a registry (R4).
 */
Oid
scd2_derived_find_function(Oid relid, const char *name)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		HeapTuple	proc;

		if (form->classid != ProcedureRelationId)
			continue;
		proc = SearchSysCache1(PROCOID, ObjectIdGetDatum(form->objid));
		if (!HeapTupleIsValid(proc))
			continue;
		if (strcmp(NameStr(((Form_pg_proc) GETSTRUCT(proc))->proname), name) == 0 &&
			((Form_pg_proc) GETSTRUCT(proc))->pronargs == 1 &&
			((Form_pg_proc) GETSTRUCT(proc))->proargtypes.values[0] == TIMESTAMPTZOID)
			result = form->objid;
		ReleaseSysCache(proc);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);

	return result;
}
