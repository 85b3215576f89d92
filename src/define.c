/*-------------------------------------------------------------------------
 *
 * define.c
 *	  create_dimension and drop_dimension (R1, R3); alter_dimension and
 *	  adoption come later.
 *
 * A new dimension's objects are made with the caller's rights, who owns them.
 * What is added to a table that is taken up is made with its owner's rights.
 * The registry is written as its owner, after ownership was checked.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "derived.h"
#include "names.h"
#include "options.h"
#include "registry.h"
#include "shape.h"
#include "spi.h"
#include "sqltext.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(scd2_create_dimension);
PG_FUNCTION_INFO_V1(scd2_drop_dimension);
PG_FUNCTION_INFO_V1(scd2_alter_dimension);
PG_FUNCTION_INFO_V1(scd2_adopt_report);

/* A dimension that was dropped from the registry and left something behind. */
typedef struct Kept
{
	int32		id;				/* 0: nothing */
	Oid			log;
	Oid			history;
} Kept;

/*
 * What the registry remembers of a table, or, where "relid" is none, of a log:
 * a log alone is kept when its table was dropped.
 */
static Kept
find_kept(Oid relid, Oid log)
{
	const Oid	types[] = {OIDOID, OIDOID};
	Datum		values[2];
	Kept		kept = {0};
	Scd2Rights	save;

	values[0] = ObjectIdGetDatum(relid);
	values[1] = ObjectIdGetDatum(log);

	scd2_registry_enter(&save);
	scd2_spi_begin();
	if (scd2_spi_run("look for a kept table",
					 "SELECT r.dimension_id, r.log::oid, r.history::oid FROM scd2.registry_resolved r "
					 "WHERE (r.state = 'kept' AND r.relation = $1)"
					 " OR (r.state = 'gone' AND r.log = $2) "
					 "ORDER BY r.state DESC, r.dimension_id DESC LIMIT 1",
					 2, types, values, NULL) > 0)
	{
		bool		isnull;
		Datum		value;

		kept.id = DatumGetInt32(scd2_spi_value(0, 1, &isnull));
		value = scd2_spi_value(0, 2, &isnull);
		kept.log = isnull ? InvalidOid : DatumGetObjectId(value);
		value = scd2_spi_value(0, 3, &isnull);
		kept.history = isnull ? InvalidOid : DatumGetObjectId(value);
	}
	scd2_spi_end();
	scd2_rights_leave(&save);

	return kept;
}

/*
 * A table, history or log that is taken up has every column that the definition
 * gives it, of the same type.  Further columns are the owner's own.
 */
static void
check_kept_columns(const Scd2Options *options, const List *shape, Oid relid,
				   bool is_log)
{
	StringInfoData detail;
	ListCell   *cell;

	initStringInfo(&detail);
	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);
		char	   *name = is_log ? column->log_name : column->name;
		Oid			wanted = is_log ? column->log_typid : column->typid;
		int32		wanted_typmod = is_log ? column->log_typmod : column->typmod;
		AttrNumber	attnum;
		Oid			typid;
		int32		typmod;
		Oid			collation;

		if (name == NULL)
			continue;
		attnum = get_attnum(relid, name);
		if (attnum <= 0)
		{
			appendStringInfo(&detail, "%sColumn \"%s\" is missing.",
							 detail.len > 0 ? " " : "", name);
			continue;
		}
		get_atttypetypmodcoll(relid, attnum, &typid, &typmod, &collation);
		if (typid != wanted || typmod != wanted_typmod || collation != column->collation)
			appendStringInfo(&detail, "%sColumn \"%s\" is of type %s, not %s%s.",
							 detail.len > 0 ? " " : "", name,
							 format_type_with_typemod(typid, typmod),
							 format_type_with_typemod(wanted, wanted_typmod),
							 collation != column->collation ? ", or of another collation" : "");
	}
	if (detail.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 is_log ?
				 errmsg("kept change log \"%s\" does not fit the definition of dimension \"%s\"",
						scd2_relation_name(relid), options->label) :
				 relid != options->relid ?
				 errmsg("kept history table \"%s\" does not fit the definition of dimension \"%s\"",
						scd2_relation_name(relid), options->label) :
				 errmsg("kept table \"%s\" does not fit the definition of dimension \"%s\"",
						scd2_relation_name(relid), options->label),
				 errdetail_internal("%s", detail.data),
				 errhint("Register it as it was, or rename it.")));
}

/*
 * Has the relation any row, the unknown member aside?
 */
static bool
has_rows(Oid relid, const char *key)
{
	StringInfoData buf;
	bool		result;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT FROM %s", scd2_relation_name(relid));
	if (key != NULL)
		appendStringInfo(&buf, " WHERE %s IS NOT NULL", quote_identifier(key));
	appendStringInfoString(&buf, " LIMIT 1");

	scd2_spi_begin();
	result = scd2_spi_run("look for rows", buf.data, 0, NULL, NULL, NULL) > 0;
	scd2_spi_end();

	return result;
}

/*
 * Versions that were folded by one definition are not those of another.
 */
static void
check_kept_definition(const Scd2Options *options, int32 id)
{
	const Oid	types[] = {INT4OID, TEXTOID};
	Datum		values[2];
	Scd2Rights	save;
	char	   *differences = NULL;
	MemoryContext cxt = CurrentMemoryContext;

	values[0] = Int32GetDatum(id);
	values[1] = CStringGetTextDatum(scd2_options_json(options));

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_run("compare definitions",
						"SELECT pg_catalog.string_agg(pg_catalog.format('%s was %s.', o, d.options -> o), ' ') "
						"FROM scd2.registry_dimension d, pg_catalog.unnest(ARRAY["
						"'business_key', 'type0', 'type1', 'type2', 'type3', 'type6', 'effective_at',"
						" 'sequence_by', 'on_delete', 'ignore_null_updates', 'surrogate_key_type',"
						" 'period_type', 'open_end', 'initial_valid_from', 'time_zone', 'history']) o "
						"WHERE d.id = $1 AND d.options -> o IS DISTINCT FROM $2::jsonb -> o",
						2, types, values, NULL);
	differences = scd2_spi_text(0, 1, cxt);
	scd2_spi_end();
	scd2_rights_leave(&save);

	if (differences != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" holds versions made by another definition", options->label),
				 errdetail_internal("%s", differences),
				 errhint("Register it as it was, or rename it.")));
}

/*
 * May the existing table become this dimension?  Returns what the registry
 * kept of it.
 */
static Kept
check_existing(const Scd2Options *options)
{
	Kept		kept;

	scd2_check_ordinary_table(options->relid);
	scd2_check_relation_owner(options->relid);

	/* held to the end: nobody registers or applies meanwhile */
	LockRelationOid(options->relid, AccessExclusiveLock);
	scd2_check_ordinary_table(options->relid);
	scd2_check_relation_owner(options->relid);

	if (scd2_registry_find(options->relid) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("dimension \"%s\" is registered already", options->label),
				 errhint("Change it with scd2.alter_dimension, or drop it with scd2.drop_dimension first.")));

	kept = find_kept(options->relid, InvalidOid);
	if (kept.id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("adopting table \"%s\" is not supported yet", options->label),
				 errdetail("The table exists, and the registry does not know it."),
				 errhint("Rename the table, or give the dimension another name.")));
	return kept;
}

/*
 * A log or history that a dropped dimension left: it is taken up when it fits and
 * belongs to the same owner.
 */
static void
check_kept_part(const Scd2Options *options, const List *shape, Oid relid,
				bool is_log, Oid owner)
{
	if (scd2_relation_owner(relid) != owner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 is_log ?
				 errmsg("kept change log \"%s\" belongs to another owner",
						scd2_relation_name(relid)) :
				 errmsg("kept history table \"%s\" belongs to another owner",
						scd2_relation_name(relid)),
				 errdetail("It belongs to role \"%s\", the dimension to role \"%s\".",
						   GetUserNameFromId(scd2_relation_owner(relid), true),
						   GetUserNameFromId(owner, true)),
				 errhint("Change its owner, or rename it.")));
	scd2_check_ordinary_table(relid);
	check_kept_columns(options, shape, relid, is_log);
}

/*
 * A list of strings as text[].
 */
static Datum
text_array(const List *list)
{
	Datum	   *values = palloc(sizeof(Datum) * Max(list_length(list), 1));
	ListCell   *cell;

	foreach(cell, list)
		values[foreach_current_index(cell)] = CStringGetTextDatum((char *) lfirst(cell));

	return PointerGetDatum(construct_array(values, list_length(list), TEXTOID, -1,
										   false, TYPALIGN_INT));
}

/*
 * Give each column the number that the registry has for it, or a new one.
 * Numbers are for ever, because log rows refer to them.  Returns the next free
 * number.
 */
static int
number_columns(const List *shape, int32 id)
{
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	uint64		nrows;
	int			next = 1;
	ListCell   *cell;
	bool		isnull;

	values[0] = Int32GetDatum(id);
	nrows = scd2_spi_run("number columns",
						 "SELECT c.column_id, c.role, c.source_column, d.next_column_id,"
						 " COALESCE(c.since_run, 0), c.lacked "
						 "FROM scd2.registry_column c "
						 "JOIN scd2.registry_dimension d ON d.id = c.dimension_id "
						 "WHERE c.dimension_id = $1",
						 1, types, values, NULL);
	for (uint64 row = 0; row < nrows; row++)
	{
		int			column_id = DatumGetInt32(scd2_spi_value(row, 1, &isnull));
		char	   *role = scd2_spi_text(row, 2, CurrentMemoryContext);
		char	   *source = scd2_spi_text(row, 3, CurrentMemoryContext);

		next = DatumGetInt32(scd2_spi_value(row, 4, &isnull));
		foreach(cell, shape)
		{
			Scd2ShapeColumn *column = lfirst(cell);

			if (strcmp(column->role, role) == 0 &&
				(source == NULL ? column->source_name == NULL :
				 column->source_name != NULL && strcmp(column->source_name, source) == 0))
			{
				column->id = column_id;
				column->since_run = DatumGetInt64(scd2_spi_value(row, 5, &isnull));
				column->lacked = DatumGetBool(scd2_spi_value(row, 6, &isnull));
			}
		}
	}

	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (column->id == 0)
			column->id = next++;
	}
	return next;
}

static void
insert_column(const Scd2ShapeColumn *column, int32 id, int position, bool separate)
{
	Oid			types[] = {INT4OID, INT4OID, INT4OID, TEXTOID, INT4OID, TEXTOID,
	TEXTOID, TEXTOID, INT4OID, TEXTOID, TEXTOID, TEXTOID, INT8OID, BOOLOID};
	Datum		values[lengthof(types)];
	bool		nulls[lengthof(types)] = {0};
	bool		is_key = strcmp(column->role, "key") == 0;

#define TEXT_OR_NULL(n, value) \
	(nulls[n] = (value) == NULL, values[n] = nulls[n] ? (Datum) 0 : CStringGetTextDatum(value))

	values[0] = Int32GetDatum(id);
	values[1] = Int32GetDatum(column->id);
	values[2] = Int32GetDatum(position);
	values[3] = CStringGetTextDatum(column->role);
	values[4] = Int32GetDatum(column->scd_type);
	nulls[4] = column->scd_type < 0;
	TEXT_OR_NULL(5, column->name);
	TEXT_OR_NULL(6, column->source_name);
	TEXT_OR_NULL(7, column->log_name);
	nulls[8] = column->base == NULL;
	values[8] = nulls[8] ? (Datum) 0 : Int32GetDatum(column->base->id);
	values[9] = column->name != NULL ?
		CStringGetTextDatum(scd2_type_name(column->typid, column->typmod)) :
		CStringGetTextDatum(scd2_type_name(column->log_typid, column->log_typmod));
	nulls[10] = !is_key;
	values[10] = is_key ? CStringGetTextDatum(scd2_type_name(column->typid, -1)) : (Datum) 0;
	TEXT_OR_NULL(11, separate ? column->name : NULL);
#undef TEXT_OR_NULL
	nulls[12] = column->since_run == 0;
	values[12] = Int64GetDatum(column->since_run);
	values[13] = BoolGetDatum(column->lacked);

	(void) scd2_spi_run("register column",
						"INSERT INTO scd2.registry_column (dimension_id, column_id, position, role, scd_type,"
						" column_name, source_column, log_column, base_id, data_type, registered_type,"
						" history_column, since_run, lacked) "
						"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
						lengthof(types), types, values, nulls);
}

/*
 * Write the definition: a new one, or, where "kept" has one, in its place, so
 * that its runs and column numbers go on.
 */
static void
register_dimension(const Scd2Options *options, const List *shape,
				   const Scd2DerivedNames *names, Oid log, Oid history,
				   int32 kept)
{
	Oid			types[] = {TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID,
		TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTARRAYOID, TEXTARRAYOID,
	INT4OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, INT4OID};
	Datum		values[lengthof(types)];
	bool		nulls[lengthof(types)] = {0};
	Oid			source_namespace = get_rel_namespace(options->source);
	List	   *source_names = NIL;
	List	   *source_types = NIL;
	ListCell   *cell;
	Scd2Rights	save;
	bool		isnull;
	int32		id;

	scd2_registry_enter(&save);
	scd2_spi_begin();

	for (int i = 0; i < options->source_desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(options->source_desc, i);

		if (attr->attisdropped)
			continue;
		source_names = lappend(source_names, NameStr(attr->attname));
		source_types = lappend(source_types, scd2_type_name(attr->atttypid, -1));
	}

	values[0] = CStringGetTextDatum(options->schema);
	values[1] = CStringGetTextDatum(options->name);

	/* a session's temporary schema has another name in the next one */
	values[2] = CStringGetTextDatum(isTempNamespace(source_namespace) ? "pg_temp" :
									get_namespace_name(source_namespace));
	values[3] = CStringGetTextDatum(get_rel_name(options->source));
	nulls[4] = nulls[5] = !OidIsValid(log);
	if (OidIsValid(log))
	{
		values[4] = CStringGetTextDatum(get_namespace_name(get_rel_namespace(log)));
		values[5] = CStringGetTextDatum(get_rel_name(log));
	}
	values[6] = CStringGetTextDatum(options->schema);
	values[7] = CStringGetTextDatum(names->view);
	values[8] = CStringGetTextDatum(names->function);
	values[9] = CStringGetTextDatum(scd2_options_json(options));
	nulls[10] = options->delete_when_sql == NULL;
	if (options->delete_when_sql != NULL)
		values[10] = CStringGetTextDatum(options->delete_when_sql);
	values[11] = text_array(source_names);
	values[12] = text_array(source_types);
	values[13] = Int32GetDatum(number_columns(shape, kept));
	nulls[14] = nulls[15] = nulls[16] = nulls[17] = !OidIsValid(history);
	if (OidIsValid(history))
	{
		values[14] = CStringGetTextDatum(get_namespace_name(get_rel_namespace(history)));
		values[15] = CStringGetTextDatum(get_rel_name(history));
		values[16] = CStringGetTextDatum(options->schema);
		values[17] = CStringGetTextDatum(names->versions);
	}
	values[18] = Int32GetDatum(kept);

	if (kept == 0)
		(void) scd2_spi_run("register dimension",
							"INSERT INTO scd2.registry_dimension (schema_name, table_name, source_schema,"
							" source_name, log_schema, log_name, view_schema, view_name, function_name,"
							" options, delete_when, source_columns, source_types, next_column_id,"
							" history_schema, history_name, versions_schema, versions_name) "
							"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13, $14,"
							" $15, $16, $17, $18) "
							"RETURNING id",
							lengthof(types) - 1, types, values, nulls);
	else
		(void) scd2_spi_run("register dimension",
							"WITH c AS (DELETE FROM scd2.registry_column WHERE dimension_id = $19),"
							" k AS (DELETE FROM scd2.registry_cache WHERE dimension_id = $19),"
							" kc AS (DELETE FROM scd2.registry_cache_column WHERE dimension_id = $19) "
							"UPDATE scd2.registry_dimension SET state = 'registered',"
							" schema_name = $1, table_name = $2, source_schema = $3, source_name = $4,"
							" log_schema = $5, log_name = $6, view_schema = $7, view_name = $8,"
							" function_name = $9, options = $10::jsonb, delete_when = $11,"
							" source_columns = $12, source_types = $13, next_column_id = $14,"
							" history_schema = $15, history_name = $16,"
							" versions_schema = $17, versions_name = $18,"
							" registered_at = pg_catalog.clock_timestamp() "
							"WHERE id = $19 RETURNING id",
							lengthof(types), types, values, nulls);
	id = DatumGetInt32(scd2_spi_value(0, 1, &isnull));

	foreach(cell, shape)
		insert_column(lfirst(cell), id, foreach_current_index(cell) + 1,
					  OidIsValid(history));

	values[0] = Int32GetDatum(id);
	types[0] = INT4OID;
	(void) scd2_spi_run("register lock",
						"INSERT INTO scd2.registry_lock (dimension_id) VALUES ($1) "
						"ON CONFLICT (dimension_id) DO UPDATE"
						" SET log_mark = NULL, log_next = NULL, log_waits = NULL",
						1, types, values, NULL);

	scd2_spi_end();
	scd2_rights_leave(&save);

	scd2_names_resolve();
}

/*
 * SELECT scd2.create_dimension('gold.dim_customer', source => ..., ...)
 */
Datum
scd2_create_dimension(PG_FUNCTION_ARGS)
{
	Scd2Options *options = scd2_options_read(fcinfo);
	List	   *shape = scd2_shape(options);
	bool		exists = OidIsValid(options->relid);
	Kept		kept = {0};
	Oid			log = InvalidOid;
	Oid			history = InvalidOid;
	Oid			owner;
	Scd2DerivedNames names;
	Scd2Activity activity;
	Scd2Rights	save;

	scd2_activity_push(&activity, "creating", options->label);

	/* look before anything is made */
	if (exists)
	{
		kept = check_existing(options);
		owner = scd2_relation_owner(options->relid);
	}
	else
	{
		Oid			existing_log;

		owner = GetUserId();
		existing_log = get_relname_relid(psprintf("%s_log", options->name),
										 options->namespace);
		if (options->change_log && OidIsValid(existing_log))
			kept = find_kept(InvalidOid, existing_log);
	}
	if (!options->change_log)
		kept.log = InvalidOid;
	if (!scd2_is_separate(options) || !exists)
		kept.history = InvalidOid;
	scd2_derived_names(options, kept.log, kept.history, &names);

	/* from here on as the owner, whose objects these become */
	if (exists && owner != GetUserId())
		scd2_rights_enter(owner, &save);
	else
		scd2_settings_enter(&save);

	if (exists)
		check_kept_columns(options, shape, options->relid, false);
	if (OidIsValid(kept.log))
		check_kept_part(options, shape, kept.log, true, owner);
	if (OidIsValid(kept.history))
		check_kept_part(options, shape, kept.history, false, owner);
	if (exists && (has_rows(options->relid, linitial(options->business_key)) ||
				   (OidIsValid(kept.history) && has_rows(kept.history, NULL))))
	{
		check_kept_definition(options, kept.id);
		if (scd2_is_separate(options) && !OidIsValid(kept.history))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("history table of kept table \"%s\" does not exist",
							options->label),
					 errdetail("The table holds current versions only, and the closed ones are gone."),
					 errhint("Restore the history table, or rename the table.")));
		if (options->change_log && !OidIsValid(kept.log))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("making a change log from the versions of \"%s\" is not supported yet",
							options->label),
					 errhint("Register it with change_log => false.")));
	}
	if (!exists && OidIsValid(kept.log) && has_rows(kept.log, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("making dimension \"%s\" from its kept change log is not supported yet",
						options->label),
				 errdetail("Log \"%s\" holds changes.", scd2_relation_name(kept.log)),
				 errhint("Rename the log.")));

	scd2_spi_begin();
	if (!exists)
		options->relid = scd2_derived_table(options, shape);
	scd2_derived_indexes(options, shape, options->relid, options->guard);
	history = kept.history;
	if (scd2_is_separate(options))
	{
		if (!OidIsValid(history))
			history = scd2_derived_history(options, shape, names.history);
		scd2_derived_indexes(options, shape, history, false);
		scd2_derived_versions(options, shape, names.versions, history);
	}
	log = kept.log;
	if (options->change_log && !OidIsValid(log))
		log = scd2_derived_log(options, shape, names.log);
	scd2_derived_view(options, shape, names.view);
	scd2_derived_function(options, shape, names.function, history);
	if (options->unknown_member)
		scd2_derived_unknown_member(options, shape);
	scd2_spi_end();

	scd2_rights_leave(&save);

	register_dimension(options, shape, &names, log, history, kept.id);

	scd2_activity_pop(&activity);

	PG_RETURN_OID(options->relid);
}

static void
drop_view(Oid view)
{
	if (OidIsValid(view) && get_rel_relkind(view) == RELKIND_VIEW)
		(void) scd2_spi_run("drop view",
							psprintf("DROP VIEW %s", scd2_relation_name(view)),
							0, NULL, NULL, NULL);
}

/*
 * DROP VIEW, DROP FUNCTION and, unless it is kept, DROP TABLE.
 */
static void
drop_objects(Oid relid, const Oid *views, const char *function_name,
			 bool keep_table)
{
	Oid			function;

	scd2_spi_begin();
	for (int i = 0; i < SCD2_NVIEWS; i++)
		drop_view(views[i]);
	function = function_name == NULL ? InvalidOid :
		scd2_derived_find_function(relid, function_name);
	if (OidIsValid(function))
	{
		HeapTuple	proc = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
		char	   *schema;

		if (!HeapTupleIsValid(proc))
			elog(ERROR, "cache lookup failed for function %u", function);
		schema = get_namespace_name(((Form_pg_proc) GETSTRUCT(proc))->pronamespace);
		ReleaseSysCache(proc);
		(void) scd2_spi_run("drop function",
							psprintf("DROP FUNCTION %s(timestamptz)",
									 quote_qualified_identifier(schema, function_name)),
							0, NULL, NULL, NULL);
	}
	if (!keep_table)
		(void) scd2_spi_run("drop table",
							psprintf("DROP TABLE %s", scd2_relation_name(relid)),
							0, NULL, NULL, NULL);
	scd2_spi_end();
}

/*
 * SELECT scd2.drop_dimension('gold.dim_customer', keep_table => true)
 */
Datum
scd2_drop_dimension(PG_FUNCTION_ARGS)
{
	Oid			relid;
	bool		keep_table;
	int32		id;
	const Oid	types[] = {INT4OID, BOOLOID};
	Datum		values[2];
	Oid			views[SCD2_NVIEWS];
	char	   *function_name;
	Relation	rel;
	Scd2Activity activity;
	Scd2Rights	save;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" must not be null",
						PG_ARGISNULL(0) ? "dimension" : "keep_table")));
	relid = PG_GETARG_OID(0);
	keep_table = PG_GETARG_BOOL(1);

	id = scd2_registry_find(relid);
	if (id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 get_rel_name(relid) == NULL ?
				 errmsg("relation with OID %u is not a dimension", relid) :
				 errmsg("relation \"%s\" is not a dimension", scd2_relation_name(relid))));
	scd2_check_relation_owner(relid);

	/* waits for a running apply, but one of this session does not wait for us */
	scd2_derived_lock_views(id);
	LockRelationOid(relid, AccessExclusiveLock);
	rel = table_open(relid, NoLock);
	CheckTableNotInUse(rel, "drop dimension");
	table_close(rel, NoLock);

	/* then look again */
	id = scd2_registry_find(relid);
	if (id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("relation with OID %u is not a dimension any more", relid)));
	scd2_check_relation_owner(relid);

	scd2_activity_push(&activity, "dropping", scd2_relation_name(relid));

	scd2_derived_find_objects(id, views, &function_name);
	scd2_settings_enter(&save);
	drop_objects(relid, views, function_name, keep_table);
	scd2_rights_leave(&save);

	/* the event trigger has seen a drop of the table, unless it is off */
	values[0] = Int32GetDatum(id);
	values[1] = BoolGetDatum(keep_table);
	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_run("unregister",
						"UPDATE scd2.registry_dimension SET"
						" state = CASE WHEN $2 THEN 'kept' ELSE 'gone' END WHERE id = $1",
						2, types, values, NULL);
	if (!keep_table)
		(void) scd2_spi_run("unregister",
							"UPDATE scd2.registry_cache SET relation = NULL WHERE dimension_id = $1",
							1, types, values, NULL);
	scd2_spi_end();
	scd2_rights_leave(&save);
	scd2_names_sweep();

	scd2_activity_pop(&activity);

	PG_RETURN_VOID();
}

/*
 * alter_dimension: the registry's form is there, the folding again is not.
 */
Datum
scd2_alter_dimension(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("alter_dimension is not supported yet"),
			 errhint("Drop the dimension with scd2.drop_dimension and register it anew.")));
	PG_RETURN_NULL();
}

/*
 * adopt_report: comes with adoption.
 */
Datum
scd2_adopt_report(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("adopt_report is not supported yet")));
	PG_RETURN_NULL();
}
