/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  A dimension's definition as the registry has it: load, lock, and the runs
 *	  written under that lock.
 *
 * Statements here run as the registry's owner under a pinned search_path; none
 * of them reads or calls anything of a user's.  None runs under the caller's
 * snapshot (SPI's read-only mode): a caller who waited for a lock sees what was
 * committed meanwhile.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "history.h"
#include "names.h"
#include "period.h"
#include "registry.h"
#include "spi.h"
#include "sqltext.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* Words that options take, in the order of registry.h's enums. */
static const struct
{
	const char *option;
	const char *words[5];
}			option_words[] =
{
	{"mode", {"delta", "snapshot", "log"}},
	{"on_delete", {"close", "flag", "ignore", "error"}},
	{"on_late", {"rebuild", "skip", "error"}},
	{"on_duplicate", {"sequence", "latest", "error"}},
	{"on_bad_row", {"error", "quarantine"}},
	{"on_drift", {"error", "add", "ignore"}},
	{"history", {"inline", "separate"}},
	{"surrogate_key_type", {"bigint", "uuid"}},
	{"period_type", {"timestamptz", "timestamp", "date"}},
	{"open_end", {"9999-12-31", "infinity", "null"}},
};

/*
 * Number of a word among those that an option takes.
 */
int
scd2_registry_word(const char *option, const char *value)
{
	for (int i = 0; i < lengthof(option_words); i++)
	{
		if (strcmp(option_words[i].option, option) != 0)
			continue;
		for (int j = 0; option_words[i].words[j] != NULL; j++)
		{
			if (strcmp(option_words[i].words[j], value) == 0)
				return j;
		}
		return -1;
	}
	elog(ERROR, "option \"%s\" takes no words", option);
	return -1;					/* keep compiler quiet */
}

/*
 * The words that an option takes, as text.
 */
char *
scd2_registry_words(const char *option)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(option_words); i++)
	{
		if (strcmp(option_words[i].option, option) != 0)
			continue;
		for (int j = 0; option_words[i].words[j] != NULL; j++)
			appendStringInfo(&buf, "%s\"%s\"", j > 0 ? ", " : "",
							 option_words[i].words[j]);
	}
	return buf.data;
}

/*
 * A stored word; that it is one was checked when it was stored.
 */
static int
stored_word(const char *option, const char *value)
{
	int			word = value == NULL ? -1 : scd2_registry_word(option, value);

	if (word < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("registry has unknown value \"%s\" for \"%s\"",
						value == NULL ? "(null)" : value, option)));
	return word;
}

/*
 * Column "col" of row 0 as a boolean; null is false.
 */
static bool
result_bool(int col)
{
	bool		isnull;
	Datum		value = scd2_spi_value(0, col, &isnull);

	return !isnull && DatumGetBool(value);
}

/*
 * Column "col" of a row as an OID; null is InvalidOid.
 */
static Oid
result_oid(uint64 row, int col)
{
	bool		isnull;
	Datum		value = scd2_spi_value(row, col, &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(value);
}

/*
 * Column "col" of a row as an integer; null is "otherwise".
 */
static int
result_int(uint64 row, int col, int otherwise)
{
	bool		isnull;
	Datum		value = scd2_spi_value(row, col, &isnull);

	return isnull ? otherwise : DatumGetInt32(value);
}

/*
 * A call's first argument; see registry.h.
 */
Oid
scd2_registry_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("dimension is null"),
				 errhint("Name a registered dimension, e.g. 'gold.dim_customer'.")));
	return PG_GETARG_OID(0);
}

/*
 * The id of the registered dimension that "relid" is, or 0.  By the cache,
 * else, where a restore left the name uncached, by name.
 */
int32
scd2_registry_find(Oid relid)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {OIDOID, TEXTOID, TEXTOID};
	Datum		values[3];
	char	   *name = get_rel_name(relid);
	char	   *schema;
	int32		id = 0;
	Scd2Rights	save;

	if (name == NULL)
		return 0;
	schema = get_namespace_name(get_rel_namespace(relid));
	if (schema == NULL)
		return 0;

	values[0] = ObjectIdGetDatum(relid);
	values[1] = CStringGetTextDatum(schema);
	values[2] = CStringGetTextDatum(name);

	scd2_registry_enter(&save);
	scd2_spi_begin();
	if (scd2_spi_cached("find dimension", &plan,
						"SELECT d.id FROM scd2.registry_cache k"
						" JOIN scd2.registry_dimension d ON d.id = k.dimension_id"
						" WHERE k.relation = $1 AND d.state = 'registered' "
						"UNION ALL "
						"SELECT d.id FROM scd2.registry_dimension d"
						" WHERE d.schema_name = $2 AND d.table_name = $3 AND d.state = 'registered'"
						" AND EXISTS (SELECT FROM scd2.registry_resolved r"
						" WHERE r.dimension_id = d.id AND NOT r.is_cached AND r.relation = $1) "
						"LIMIT 1",
						3, types, values, NULL, false) > 0)
		id = result_int(0, 1, 0);
	scd2_spi_end();
	scd2_rights_leave(&save);

	return id;
}

/*
 * What a definition row says of period and policies; columns as in
 * load_definition's query.
 */
static void
load_options(Scd2Dimension *dim, MemoryContext cxt)
{
	char	   *value;
	char	   *text;

#define OPTION(col) scd2_spi_text(0, (col), CurrentMemoryContext)
	dim->delete_when = scd2_spi_text(0, 5, cxt);
	dim->mode = (Scd2Mode) stored_word("mode", OPTION(6));
	dim->on_delete = (Scd2OnDelete) stored_word("on_delete", OPTION(7));
	dim->on_duplicate = (Scd2OnDuplicate) stored_word("on_duplicate", OPTION(9));
	dim->on_bad_row = (Scd2OnBadRow) stored_word("on_bad_row", OPTION(10));
	dim->on_drift = (Scd2OnDrift) stored_word("on_drift", OPTION(11));
	dim->ignore_null_updates = result_bool(12);

	text = OPTION(13);
	dim->has_max_delete_fraction = text != NULL;
	if (text != NULL)
		dim->max_delete_fraction =
			DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(text)));

	dim->sk_is_uuid = stored_word("surrogate_key_type", OPTION(14)) == 1;
	dim->unknown_member = result_bool(15);

	value = OPTION(16);
	dim->period_type = scd2_period_type(value == NULL ? "" : value);
	if (!OidIsValid(dim->period_type))
		(void) stored_word("period_type", value);
	dim->time_zone = scd2_spi_text(0, 19, cxt);
	if (dim->time_zone == NULL)
		dim->time_zone = "UTC";

	value = OPTION(17);
	(void) stored_word("open_end", value);
	dim->open_end_is_null = !scd2_period_open_end(value, dim->period_type,
												  dim->time_zone, &dim->open_end);
	value = OPTION(18);
	dim->has_initial = value != NULL;
	if (value != NULL)
		dim->initial_valid_from = scd2_period_in(value, dim->period_type,
												 dim->time_zone);
	dim->effective_at = scd2_spi_text(0, 20, cxt);

	/* NULL: rebuild, or error without a change log */
	value = OPTION(8);
	if (value != NULL)
		dim->on_late = (Scd2OnLate) stored_word("on_late", value);
	else
		dim->on_late = result_bool(21) ? SCD2_LATE_REBUILD : SCD2_LATE_ERROR;
#undef OPTION
}

/*
 * The source's columns as they were at registration.
 */
static void
load_source_columns(Scd2Dimension *dim, MemoryContext cxt)
{
	Datum	   *names;
	Datum	   *types;
	bool	   *types_null;
	int			nnames;
	int			ntypes;
	bool		isnull;
	Datum		array;

	array = scd2_spi_value(0, 22, &isnull);
	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &names, NULL, &nnames);
	array = scd2_spi_value(0, 23, &isnull);
	if (isnull)
		ntypes = 0;
	else
		deconstruct_array(DatumGetArrayTypeP(array), OIDOID, sizeof(Oid), true, TYPALIGN_INT,
						  &types, &types_null, &ntypes);

	dim->nsource_columns = nnames;
	dim->source_column_names = MemoryContextAllocZero(cxt, sizeof(char *) * Max(nnames, 1));
	dim->source_column_types = MemoryContextAllocZero(cxt, sizeof(Oid) * Max(nnames, 1));
	for (int i = 0; i < nnames; i++)
	{
		dim->source_column_names[i] =
			MemoryContextStrdup(cxt, TextDatumGetCString(names[i]));
		if (i < ntypes && !types_null[i])
			dim->source_column_types[i] = DatumGetObjectId(types[i]);
	}
}

/*
 * Type of a source column at registration; InvalidOid: unknown.
 */
static Oid
registered_source_type(Scd2Dimension *dim, const char *name)
{
	for (int i = 0; i < dim->nsource_columns; i++)
	{
		if (name != NULL && strcmp(dim->source_column_names[i], name) == 0)
			return dim->source_column_types[i];
	}
	return InvalidOid;
}

/*
 * Number of a column now; see registry.h.
 */
AttrNumber
scd2_registry_column_now(Oid relid, int cached, const char *name,
						 char **name_now, MemoryContext cxt)
{
	AttrNumber	attnum = (AttrNumber) cached;
	HeapTuple	tuple = NULL;

	if (attnum == InvalidAttrNumber)
		attnum = get_attnum(relid, name);
	if (attnum != InvalidAttrNumber)
		tuple = SearchSysCacheAttNum(relid, attnum);	/* not a dropped one */
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, scd2_relation_name(relid)),
				 errdetail("scd2 keeps the dimension by it."),
				 errhint("Add it again and call scd2.drop_dimension and scd2.create_dimension.")));
	*name_now = MemoryContextStrdup(cxt, NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
	ReleaseSysCache(tuple);

	return attnum;
}

/*
 * The columns of dimension and log.
 */
static void
load_columns(Scd2Dimension *dim, MemoryContext cxt)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	int			nrows;

	values[0] = Int32GetDatum(dim->id);
	nrows = (int)
		scd2_spi_cached("load columns", &plan,
						"SELECT c.column_id, c.role, c.scd_type, c.column_name, c.source_column,"
						" c.log_column, c.base_id,"
						" COALESCE(k.registered_type, pg_catalog.to_regtype(c.registered_type))::oid,"
						" k.attnum::int, k.log_attnum::int, c.since_run, c.lacked "
						"FROM scd2.registry_column c "
						"LEFT JOIN scd2.registry_cache_column k"
						" ON k.dimension_id = c.dimension_id AND k.column_id = c.column_id "
						"WHERE c.dimension_id = $1 ORDER BY c.position",
						1, types, values, NULL, false);

	dim->keys = MemoryContextAllocZero(cxt, sizeof(Scd2Column) * Max(nrows, 1));
	dim->attrs = MemoryContextAllocZero(cxt, sizeof(Scd2Column) * Max(nrows, 1));
	dim->seq = MemoryContextAllocZero(cxt, sizeof(Scd2Sequence) * Max(nrows, 1));

	for (int row = 0; row < nrows; row++)
	{
		int			id = result_int(row, 1, 0);
		char	   *role = scd2_spi_text(row, 2, CurrentMemoryContext);
		char	   *name = scd2_spi_text(row, 4, CurrentMemoryContext);
		char	   *log_name = scd2_spi_text(row, 6, CurrentMemoryContext);
		AttrNumber	attnum = InvalidAttrNumber;
		AttrNumber	log_attnum = InvalidAttrNumber;
		char	   *log_now = NULL;
		char	   *now = NULL;
		Datum		value;
		bool		isnull;

		if (name != NULL)
			attnum = scd2_registry_column_now(dim->relid, result_int(row, 9, 0),
											  name, &now, cxt);
		if (log_name != NULL && OidIsValid(dim->log))
			log_attnum = scd2_registry_column_now(dim->log, result_int(row, 10, 0),
												  log_name, &log_now, cxt);

		if (strcmp(role, "key") == 0 || strcmp(role, "tracked") == 0)
		{
			Scd2Column *column = role[0] == 'k' ?
				&dim->keys[dim->nkeys++] : &dim->attrs[dim->nattrs++];

			column->id = id;
			column->name = now;
			column->source_name = scd2_spi_text(row, 5, cxt);
			column->log_name = log_now;
			column->scd_type = result_int(row, 3, -1);
			column->attnum = attnum;
			get_atttypetypmodcoll(dim->relid, attnum, &column->typid,
								  &column->typmod, &column->collation);
			column->registered_type = result_oid(row, 8);
			if (!OidIsValid(column->registered_type))
				column->registered_type = column->typid;
			column->source_type = registered_source_type(dim, column->source_name);
			value = scd2_spi_value(row, 11, &isnull);
			column->since_run = isnull ? 0 : DatumGetInt64(value);
			column->lacked = DatumGetBool(scd2_spi_value(row, 12, &isnull));
		}
		else if (strcmp(role, "previous") == 0 || strcmp(role, "current") == 0)
		{
			int			base = result_int(row, 7, 0);

			/* position puts them behind the tracked columns */
			for (int i = 0; i < dim->nattrs; i++)
			{
				if (dim->attrs[i].id == base)
				{
					dim->attrs[i].extra_attnum = attnum;
					dim->attrs[i].extra_name = now;
				}
			}
		}
		else if (strcmp(role, "log_sequence") == 0)
		{
			Scd2Sequence *seq = &dim->seq[dim->nseq++];

			seq->source_name = scd2_spi_text(row, 5, cxt);
			seq->log_name = log_now;
			if (OidIsValid(dim->log))
				get_atttypetypmodcoll(dim->log, log_attnum, &seq->typid,
									  &seq->typmod, &seq->collation);
			else
			{
				seq->typid = registered_source_type(dim, seq->source_name);
				seq->typmod = -1;
				seq->collation = get_typcollation(seq->typid);
			}
		}
		else if (strcmp(role, "surrogate_key") == 0)
		{
			dim->sk_name = now;
			dim->sk_attnum = attnum;
		}
		else if (strcmp(role, "valid_from") == 0)
		{
			dim->valid_from = now;
			dim->valid_from_attnum = attnum;
		}
		else if (strcmp(role, "valid_to") == 0)
		{
			dim->valid_to = now;
			dim->valid_to_attnum = attnum;
		}
		else if (strcmp(role, "is_current") == 0)
		{
			dim->is_current = now;
			dim->is_current_attnum = attnum;
		}
		else if (strcmp(role, "row_hash") == 0)
		{
			dim->row_hash = now;
			dim->row_hash_attnum = attnum;
		}
		else if (strcmp(role, "is_deleted") == 0)
		{
			dim->is_deleted = now;
			dim->is_deleted_attnum = attnum;
		}
		else if (strcmp(role, "log_id") == 0)
			dim->log_id = log_now;
		else if (strcmp(role, "log_effective_at") == 0)
			dim->log_effective_at = log_now;
		else if (strcmp(role, "log_source_time") == 0)
		{
			dim->keeps_source_time = true;
			dim->log_source_time = log_now;
		}
		else if (strcmp(role, "log_deleted") == 0)
			dim->log_deleted = log_now;
		else if (strcmp(role, "log_lacks") == 0)
			dim->log_lacks = log_now;
		else if (strcmp(role, "log_run") == 0)
			dim->log_run = log_now;
		else if (strcmp(role, "log_recorded_at") == 0)
			dim->log_recorded_at = log_now;
		else
			elog(ERROR, "unknown column role \"%s\"", role);
	}
}

/*
 * Load the definition of a registered dimension; see registry.h.
 */
Scd2Dimension *
scd2_registry_load(Oid relid, MemoryContext cxt)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	int32		id = scd2_registry_find(relid);
	Scd2Dimension *dim;
	Scd2Rights	save;
	MemoryContext oldcxt;
	char	   *source_schema;
	char	   *source_name;
	bool		separate;
	Oid			history;

	if (id == 0)
	{
		char	   *name = get_rel_name(relid);

		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 name == NULL ?
				 errmsg("relation with OID %u is not a dimension", relid) :
				 errmsg("relation \"%s\" is not a dimension", scd2_relation_name(relid)),
				 errhint("Register it with scd2.create_dimension.")));
	}

	dim = MemoryContextAllocZero(cxt, sizeof(Scd2Dimension));
	dim->id = id;
	dim->relid = relid;
	dim->owner = scd2_relation_owner(relid);

	oldcxt = MemoryContextSwitchTo(cxt);
	dim->sql_name = scd2_relation_name(relid);
	dim->label = dim->sql_name;
	MemoryContextSwitchTo(oldcxt);

	scd2_registry_enter(&save);
	scd2_spi_begin();

	values[0] = Int32GetDatum(id);
	if (scd2_spi_cached("load definition", &plan,
						"SELECT r.log::oid, r.source::oid, d.source_schema, d.source_name,"
						" d.delete_when,"
						" d.options ->> 'mode', d.options ->> 'on_delete', d.options ->> 'on_late',"
						" d.options ->> 'on_duplicate', d.options ->> 'on_bad_row', d.options ->> 'on_drift',"
						" (d.options ->> 'ignore_null_updates')::boolean, d.options ->> 'max_delete_fraction',"
						" d.options ->> 'surrogate_key_type', (d.options ->> 'unknown_member')::boolean,"
						" d.options ->> 'period_type', d.options ->> 'open_end',"
						" d.options ->> 'initial_valid_from', d.options ->> 'time_zone',"
						" d.options ->> 'effective_at', (d.options ->> 'change_log')::boolean,"
						" d.source_columns,"
						" ARRAY(SELECT COALESCE(k.source_types[u.o], pg_catalog.to_regtype(u.t))::oid"
						" FROM pg_catalog.unnest(d.source_types) WITH ORDINALITY u(t, o) ORDER BY u.o),"
						" d.options ->> 'history' = 'separate', r.history::oid,"
						" d.options ->> 'log_position' "
						"FROM scd2.registry_dimension d "
						"JOIN scd2.registry_resolved r ON r.dimension_id = d.id "
						"LEFT JOIN scd2.registry_cache k ON k.dimension_id = d.id "
						"WHERE d.id = $1",
						1, types, values, NULL, false) == 0)
		elog(ERROR, "dimension %d is gone from the registry", id);

	dim->log = result_oid(0, 1);
	dim->source = result_oid(0, 2);
	load_options(dim, cxt);
	load_source_columns(dim, cxt);

	oldcxt = MemoryContextSwitchTo(cxt);
	source_schema = scd2_spi_text(0, 3, cxt);
	source_name = scd2_spi_text(0, 4, cxt);
	if (OidIsValid(dim->source))
		dim->source_label = scd2_relation_name(dim->source);
	else
		dim->source_label = quote_qualified_identifier(source_schema, source_name);
	if (result_bool(21))
	{
		if (!OidIsValid(dim->log) || get_rel_name(dim->log) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("change log of dimension \"%s\" does not exist", dim->label),
					 errhint("Call scd2.drop_dimension, and register it anew.")));
		dim->log_sql_name = scd2_relation_name(dim->log);
	}
	MemoryContextSwitchTo(oldcxt);
	separate = result_bool(24);
	history = result_oid(0, 25);
	dim->log_position = scd2_spi_text(0, 26, cxt);

	load_columns(dim, cxt);

	dim->effective_type = TIMESTAMPTZOID;
	if (dim->effective_at != NULL)
		dim->effective_type =
			getBaseType(registered_source_type(dim, dim->effective_at));
	if (dim->log_position != NULL)
		dim->log_position_type = registered_source_type(dim, dim->log_position);
	if (separate)
		scd2_history_load(dim, history, cxt);

	scd2_spi_end();
	scd2_rights_leave(&save);

	return dim;
}

/*
 * Take the dimension's run lock; see registry.h.
 */
void
scd2_registry_lock(Scd2Dimension *dim, Scd2RunLock *lock)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	bool		isnull;
	Scd2Rights	save;

	scd2_check_ordinary_table(dim->relid);
	scd2_names_mend(dim->id);

	scd2_registry_enter(&save);
	scd2_spi_begin();

	/*
	 * The clock is read anew where the row was locked by another run first:
	 * PostgreSQL evaluates the SET list again over the row's new version.
	 */
	values[0] = Int32GetDatum(dim->id);
	if (scd2_spi_cached("lock", &plan,
						"UPDATE scd2.registry_lock SET"
						" last_run = pg_catalog.nextval('scd2.registry_run_id_seq'),"
						" recorded_at = GREATEST(pg_catalog.clock_timestamp(),"
						" recorded_at + interval '1 microsecond') "
						"WHERE dimension_id = $1 "
						"RETURNING last_run, recorded_at, last_batch_time, newest",
						1, types, values, NULL, false) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("relation \"%s\" is not a dimension any more", dim->label)));

	lock->run_id = DatumGetInt64(scd2_spi_value(0, 1, &isnull));
	lock->recorded_at = DatumGetTimestampTz(scd2_spi_value(0, 2, &isnull));
	lock->last_batch_time = DatumGetTimestampTz(scd2_spi_value(0, 3, &isnull));
	lock->has_last_batch_time = !isnull;
	lock->newest = DatumGetInt64(scd2_spi_value(0, 4, &isnull));
	lock->has_newest = !isnull;

	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Remember which columns a source lacks; see registry.h.
 */
void
scd2_registry_lacked(Scd2Dimension *dim, const bool *lacks)
{
	const Oid	types[] = {INT4OID, INT4OID};
	Datum		values[2];
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	values[0] = Int32GetDatum(dim->id);
	for (int i = 0; i < dim->nattrs; i++)
	{
		if (!lacks[i] || dim->attrs[i].lacked)
			continue;
		values[1] = Int32GetDatum(dim->attrs[i].id);
		(void) scd2_spi_run("note lost column",
							"UPDATE scd2.registry_column SET lacked = true"
							" WHERE dimension_id = $1 AND column_id = $2",
							2, types, values, NULL);
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Read what runs left behind; see registry.h.
 */
void
scd2_registry_peek(Scd2Dimension *dim, Scd2RunLock *lock)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	Scd2Rights	save;

	memset(lock, 0, sizeof(*lock));
	scd2_registry_enter(&save);
	scd2_spi_begin();
	values[0] = Int32GetDatum(dim->id);
	if (scd2_spi_cached("peek", &plan,
						"SELECT last_batch_time, newest "
						"FROM scd2.registry_lock WHERE dimension_id = $1",
						1, types, values, NULL, true) == 1)
	{
		bool		isnull;

		lock->last_batch_time = DatumGetTimestampTz(scd2_spi_value(0, 1, &isnull));
		lock->has_last_batch_time = !isnull;
		lock->newest = DatumGetInt64(scd2_spi_value(0, 2, &isnull));
		lock->has_newest = !isnull;
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Write the row of a finished run; see registry.h.
 */
void
scd2_registry_write_run(Scd2Dimension *dim, const Scd2RunLock *lock,
						const char *action, Oid source, const char *scope,
						Oid who, TimestampTz started_at, TimestampTz batch_time,
						const Scd2RunCounts *counts)
{
	static SPIPlanPtr insert_plan = NULL;
	static SPIPlanPtr lock_plan = NULL;
	Oid			types[24];
	Datum		values[24];
	bool		nulls[24] = {0};
	const int64 count[] = {
		counts->rows_read, counts->keys_new, counts->versions_opened,
		counts->versions_closed, counts->rows_unchanged, counts->rows_confirmed,
		counts->rows_replayed, counts->rows_overwritten, counts->rows_late,
		counts->rows_skipped, counts->rows_deleted, counts->rows_rejected,
		counts->keys_rebuilt, counts->facts_rekeyed
	};
	bool		has_batch_time = !TIMESTAMP_NOT_FINITE(batch_time);
	Scd2Rights	save;
	int			n = 0;

#define PARAM(type, value) \
	(types[n] = (type), values[n] = (value), n++)

	PARAM(INT8OID, Int64GetDatum(lock->run_id));
	PARAM(INT4OID, Int32GetDatum(dim->id));
	PARAM(TEXTOID, CStringGetTextDatum(dim->label));
	PARAM(TEXTOID, CStringGetTextDatum(action));
	if (OidIsValid(source))
		PARAM(TEXTOID, CStringGetTextDatum(scd2_relation_name(source)));
	else
	{
		nulls[n] = true;
		PARAM(TEXTOID, (Datum) 0);
	}
	nulls[n] = scope == NULL;
	PARAM(TEXTOID, scope == NULL ? (Datum) 0 : CStringGetTextDatum(scope));
	PARAM(TEXTOID, CStringGetTextDatum(GetUserNameFromId(who, false)));
	PARAM(TIMESTAMPTZOID, TimestampTzGetDatum(started_at));
	PARAM(TIMESTAMPTZOID, TimestampTzGetDatum(lock->recorded_at));
	nulls[n] = !has_batch_time;
	PARAM(TIMESTAMPTZOID, TimestampTzGetDatum(batch_time));
	for (int i = 0; i < lengthof(count); i++)
		PARAM(INT8OID, Int64GetDatum(count[i]));
#undef PARAM
	Assert(n == lengthof(types));

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_cached("record run", &insert_plan,
						   "INSERT INTO scd2.registry_run"
						   " (id, dimension_id, dimension_name, action, source, scope, who,"
						   " started_at, recorded_at, batch_time, finished_at,"
						   " rows_read, keys_new, versions_opened, versions_closed,"
						   " rows_unchanged, rows_confirmed, rows_replayed, rows_overwritten,"
						   " rows_late, rows_skipped, rows_deleted, rows_rejected,"
						   " keys_rebuilt, facts_rekeyed) "
						   "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, pg_catalog.clock_timestamp(),"
						   " $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)",
						   n, types, values, nulls, false);
	if (has_batch_time || lock->has_newest)
	{
		const Oid	lock_types[] = {INT4OID, TIMESTAMPTZOID, INT8OID};
		Datum		lock_values[3];
		bool		lock_nulls[3] = {false, !has_batch_time, !lock->has_newest};

		lock_values[0] = Int32GetDatum(dim->id);
		lock_values[1] = TimestampTzGetDatum(batch_time);
		lock_values[2] = Int64GetDatum(lock->newest);
		(void) scd2_spi_cached("record run", &lock_plan,
							   "UPDATE scd2.registry_lock"
							   " SET last_batch_time = GREATEST(last_batch_time, $2),"
							   " newest = GREATEST(newest, $3) "
							   "WHERE dimension_id = $1"
							   " AND (last_batch_time IS DISTINCT FROM GREATEST(last_batch_time, $2)"
							   " OR newest IS DISTINCT FROM GREATEST(newest, $3))",
							   3, lock_types, lock_values, lock_nulls, false);
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Raise unless "relid" is an ordinary table outside any inheritance tree; see
 * registry.h.
 */
void
scd2_check_ordinary_table(Oid relid)
{
	char		relkind = get_rel_relkind(relid);
	char	   *name = scd2_relation_name(relid);

	if (relkind == RELKIND_PARTITIONED_TABLE || get_rel_relispartition(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 relkind == RELKIND_PARTITIONED_TABLE ?
				 errmsg("dimension \"%s\" is a partitioned table", name) :
				 errmsg("dimension \"%s\" is a partition", name),
				 errhint("Keep the dimension in an ordinary table; partitioned ones are not supported yet.")));
	if (relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("dimension \"%s\" is not a table", name),
				 errhint("A dimension is an ordinary table.")));
	if (has_superclass(relid) ||
		(has_subclass(relid) && find_inheritance_children(relid, NoLock) != NIL))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("dimension \"%s\" is part of an inheritance tree", name),
				 errhint("Keep the dimension in a table without parents and children.")));
}
