/*-------------------------------------------------------------------------
 *
 * options.c
 *	  The parameters of create_dimension, read and checked (SPEC section 2).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <ctype.h>

#include "logpos.h"
#include "options.h"
#include "period.h"
#include "registry.h"
#include "sqltext.h"

#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/varlena.h"

const int	scd2_types[SCD2_NTYPES] = {0, 1, 2, 3, 6};

/* create_dimension's parameters in order. */
typedef enum Parameter
{
	P_DIMENSION,
	P_SOURCE,
	P_BUSINESS_KEY,
	P_TYPE0,
	P_TYPE1,
	P_TYPE2,
	P_TYPE3,
	P_TYPE6,
	P_EFFECTIVE_AT,
	P_SEQUENCE_BY,
	P_DELETE_WHEN,
	P_MODE,
	P_LOG_POSITION,
	P_ON_DELETE,
	P_ON_LATE,
	P_ON_DUPLICATE,
	P_ON_BAD_ROW,
	P_ON_DRIFT,
	P_IGNORE_NULL_UPDATES,
	P_MAX_DELETE_FRACTION,
	P_HISTORY,
	P_CHANGE_LOG,
	P_SURROGATE_KEY,
	P_SURROGATE_KEY_TYPE,
	P_PERIOD_TYPE,
	P_OPEN_END,
	P_INITIAL_VALID_FROM,
	P_TIME_ZONE,
	P_UNKNOWN_MEMBER,
	P_GUARD,
	P_COLUMNS,
	NPARAMETERS
} Parameter;

static const struct
{
	const char *name;
	bool		nullable;
}			parameters[NPARAMETERS] =
{
	[P_DIMENSION] = {"dimension", false},
	[P_SOURCE] = {"source", false},
	[P_BUSINESS_KEY] = {"business_key", false},
	[P_TYPE0] = {"type0", false},
	[P_TYPE1] = {"type1", false},
	[P_TYPE2] = {"type2", true},
	[P_TYPE3] = {"type3", false},
	[P_TYPE6] = {"type6", false},
	[P_EFFECTIVE_AT] = {"effective_at", true},
	[P_SEQUENCE_BY] = {"sequence_by", false},
	[P_DELETE_WHEN] = {"delete_when", true},
	[P_MODE] = {"mode", false},
	[P_LOG_POSITION] = {"log_position", true},
	[P_ON_DELETE] = {"on_delete", false},
	[P_ON_LATE] = {"on_late", true},
	[P_ON_DUPLICATE] = {"on_duplicate", false},
	[P_ON_BAD_ROW] = {"on_bad_row", false},
	[P_ON_DRIFT] = {"on_drift", false},
	[P_IGNORE_NULL_UPDATES] = {"ignore_null_updates", false},
	[P_MAX_DELETE_FRACTION] = {"max_delete_fraction", true},
	[P_HISTORY] = {"history", false},
	[P_CHANGE_LOG] = {"change_log", false},
	[P_SURROGATE_KEY] = {"surrogate_key", true},
	[P_SURROGATE_KEY_TYPE] = {"surrogate_key_type", false},
	[P_PERIOD_TYPE] = {"period_type", false},
	[P_OPEN_END] = {"open_end", false},
	[P_INITIAL_VALID_FROM] = {"initial_valid_from", true},
	[P_TIME_ZONE] = {"time_zone", false},
	[P_UNKNOWN_MEMBER] = {"unknown_member", false},
	[P_GUARD] = {"guard", false},
	[P_COLUMNS] = {"columns", false},
};

/* Where the lists of types are among the parameters. */
static const Parameter type_parameters[SCD2_NTYPES] =
{
	P_TYPE0, P_TYPE1, P_TYPE2, P_TYPE3, P_TYPE6
};

/*
 * A text argument, or NULL.
 */
static char *
text_argument(FunctionCallInfo fcinfo, Parameter parameter)
{
	if (PG_ARGISNULL(parameter))
		return NULL;
	return text_to_cstring(PG_GETARG_TEXT_PP(parameter));
}

/*
 * A text argument that is one of a few words.
 */
static char *
word_argument(FunctionCallInfo fcinfo, Parameter parameter)
{
	char	   *value = text_argument(fcinfo, parameter);

	if (value != NULL && scd2_registry_word(parameters[parameter].name, value) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\": \"%s\"",
						parameters[parameter].name, value),
				 errhint("Use one of %s.",
						 scd2_registry_words(parameters[parameter].name))));
	return value;
}

/*
 * A name that a column of the dimension is to have.
 */
static void
check_column_name(const char *name, const char *parameter)
{
	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("column name in \"%s\" is empty", parameter)));
	if (strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("column name \"%s\" is too long", name),
				 errdetail("It has %zu bytes; names have at most %d.",
						   strlen(name), NAMEDATALEN - 1)));
}

/*
 * Is "name" among the strings of "list"?
 */
bool
scd2_list_has(const List *list, const char *name)
{
	ListCell   *cell;

	foreach(cell, list)
	{
		if (strcmp((char *) lfirst(cell), name) == 0)
			return true;
	}
	return false;
}

/*
 * Number of a source column by its exact name.
 */
AttrNumber
scd2_source_attnum(const Scd2Options *options, const char *name)
{
	for (int i = 0; i < options->source_desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(options->source_desc, i);

		if (!attr->attisdropped && strcmp(NameStr(attr->attname), name) == 0)
			return attr->attnum;
	}
	return InvalidAttrNumber;
}

/*
 * Raise unless the source has column "name".
 */
static void
check_source_column(const Scd2Options *options, const char *name,
					Parameter parameter)
{
	const char *similar = NULL;

	if (scd2_source_attnum(options, name) != InvalidAttrNumber)
		return;

	for (int i = 0; i < options->source_desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(options->source_desc, i);

		if (!attr->attisdropped && pg_strcasecmp(NameStr(attr->attname), name) == 0)
			similar = NameStr(attr->attname);
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of source \"%s\" does not exist",
					name, options->source_label),
			 errdetail("It is named in \"%s\".", parameters[parameter].name),
			 similar != NULL ?
			 errhint("Perhaps you meant \"%s\": names are compared as they are.", similar) : 0));
}

/*
 * A text[] argument as a list of source columns; NIL when null.
 */
static List *
columns_argument(FunctionCallInfo fcinfo, const Scd2Options *options,
				 Parameter parameter)
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			n;
	List	   *result = NIL;

	if (PG_ARGISNULL(parameter))
		return NIL;

	array = PG_GETARG_ARRAYTYPE_P(parameter);
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("\"%s\" must be a one-dimensional array",
						parameters[parameter].name)));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"%s\" must not contain nulls",
							parameters[parameter].name)));
		name = TextDatumGetCString(values[i]);
		if (scd2_list_has(result, name))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" appears twice in \"%s\"",
							name, parameters[parameter].name)));
		check_source_column(options, name, parameter);
		result = lappend(result, name);
	}
	return result;
}

/*
 * The dimension's name: where it is, or where it is to be created.
 */
static void
read_dimension_name(FunctionCallInfo fcinfo, Scd2Options *options)
{
	text	   *name = PG_GETARG_TEXT_PP(P_DIMENSION);
	RangeVar   *var = makeRangeVarFromNameList(textToQualifiedNameList(name));

	/* list elements are cut at 63 bytes there: see that none was (R1) */
	if (var->relname != NULL)
	{
		char	   *given = text_to_cstring(name);
		size_t		longest = 0;
		size_t		part = 0;
		bool		quoted = false;

		for (char *p = given; *p != '\0'; p++)
		{
			if (*p == '"')
				quoted = !quoted;
			else if (*p == '.' && !quoted)
				part = 0;
			else if (!quoted && isspace((unsigned char) *p))
				continue;
			else
			{
				part++;
				longest = Max(longest, part);
			}
		}
		if (longest >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("dimension name \"%s\" is too long", given),
					 errdetail("Names have at most %d bytes.", NAMEDATALEN - 1)));
	}

	options->relid = RangeVarGetRelid(var, NoLock, true);
	if (OidIsValid(options->relid))
		options->namespace = get_rel_namespace(options->relid);
	else
		options->namespace = RangeVarGetCreationNamespace(var);

	options->schema = get_namespace_name(options->namespace);
	options->name = pstrdup(var->relname);
	options->label = quote_qualified_identifier(options->schema, options->name);

	if (isAnyTempNamespace(options->namespace))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("dimension \"%s\" would be a temporary table", options->name),
				 errhint("Name it with its schema.")));
	if (IsCatalogNamespace(options->namespace) ||
		strcmp(options->schema, "scd2") == 0 ||
		strcmp(options->schema, "information_schema") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_SCHEMA_NAME),
				 errmsg("dimension \"%s\" cannot be kept in a system schema", options->label),
				 errhint("Choose a schema of your own.")));
}

/*
 * The source, and its columns.
 */
static void
read_source(FunctionCallInfo fcinfo, Scd2Options *options)
{
	Relation	rel;

	options->source = PG_GETARG_OID(P_SOURCE);
	if (get_rel_name(options->source) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("source with OID %u does not exist", options->source)));
	options->source_label = scd2_relation_name(options->source);

	if (options->source == options->relid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimension \"%s\" cannot be its own source", options->label)));

	switch (get_rel_relkind(options->source))
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
		case RELKIND_FOREIGN_TABLE:
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("source \"%s\" is not a table or view", options->source_label)));
	}
	if (isOtherTempNamespace(get_rel_namespace(options->source)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("source \"%s\" is a temporary table of another session",
						options->source_label)));

	rel = table_open(options->source, AccessShareLock);
	options->source_desc = CreateTupleDescCopy(RelationGetDescr(rel));
	table_close(rel, NoLock);
}

/*
 * A column is in one type only, and not in the key.
 */
static void
check_types(const Scd2Options *options)
{
	for (int i = 0; i < SCD2_NTYPES; i++)
	{
		ListCell   *cell;

		foreach(cell, options->types[i])
		{
			char	   *name = lfirst(cell);

			if (scd2_list_has(options->business_key, name))
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is in the business key and in \"%s\"",
								name, parameters[type_parameters[i]].name),
						 errhint("A key column never changes; leave it out of the types.")));
			for (int j = i + 1; j < SCD2_NTYPES; j++)
			{
				if (scd2_list_has(options->types[j], name))
					ereport(ERROR,
							(errcode(ERRCODE_DUPLICATE_COLUMN),
							 errmsg("column \"%s\" is in \"%s\" and in \"%s\"", name,
									parameters[type_parameters[i]].name,
									parameters[type_parameters[j]].name),
							 errhint("A column has one type; type 6 is type 2 and the current value.")));
			}
		}
	}
}

/*
 * type2 left out: every source column that nothing else names or uses.
 */
static void
resolve_type2(Scd2Options *options, const List *condition_columns)
{
	for (int i = 0; i < options->source_desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(options->source_desc, i);
		char	   *name = NameStr(attr->attname);
		bool		used;

		if (attr->attisdropped)
			continue;
		used = scd2_list_has(options->business_key, name) ||
			scd2_list_has(options->sequence_by, name) ||
			(options->effective_at != NULL && strcmp(options->effective_at, name) == 0) ||
			(options->log_position != NULL && strcmp(options->log_position, name) == 0) ||
			list_member_int(condition_columns, attr->attnum);
		for (int j = 0; j < SCD2_NTYPES; j++)
			used = used || scd2_list_has(options->types[j], name);
		if (!used)
			options->types[2] = lappend(options->types[2], pstrdup(name));
	}
}

/*
 * columns: other names for scd2's own columns.
 */
static void
read_column_names(FunctionCallInfo fcinfo, Scd2Options *options)
{
	Jsonb	   *columns = PG_GETARG_JSONB_P(P_COLUMNS);
	JsonbIterator *it;
	JsonbValue	value;
	JsonbIteratorToken token;
	char	  **target = NULL;
	char	   *key = NULL;
	struct
	{
		const char *key;
		char	  **name;
	}			names[] =
	{
		{"valid_from", &options->valid_from},
		{"valid_to", &options->valid_to},
		{"is_current", &options->is_current},
		{"row_hash", &options->row_hash},
		{"is_deleted", &options->is_deleted},
	};

	for (int i = 0; i < lengthof(names); i++)
		*names[i].name = pstrdup(names[i].key);

	if (!JB_ROOT_IS_OBJECT(columns))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"columns\" must be a JSON object"),
				 errhint("For example '{\"valid_from\": \"begins\"}'.")));

	it = JsonbIteratorInit(&columns->root);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
		{
			key = pnstrdup(value.val.string.val, value.val.string.len);
			target = NULL;
			for (int i = 0; i < lengthof(names); i++)
			{
				if (strcmp(names[i].key, key) == 0)
					target = names[i].name;
			}
			if (target == NULL)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("unknown key \"%s\" in \"columns\"", key),
						 errhint("Known are \"valid_from\", \"valid_to\", \"is_current\", \"row_hash\" and \"is_deleted\".")));
		}
		else if (token == WJB_VALUE)
		{
			if (value.type == jbvNull && target == &options->row_hash)
				*target = NULL;
			else if (value.type == jbvString)
			{
				*target = pnstrdup(value.val.string.val, value.val.string.len);
				check_column_name(*target, "columns");
			}
			else
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("value of \"%s\" in \"columns\" must be a string", key),
						 errdetail("Only \"row_hash\" can be null, which leaves it out.")));
		}
	}
}

/*
 * surrogate_key, or <name without dim_>_sk.
 */
static void
read_surrogate_key(FunctionCallInfo fcinfo, Scd2Options *options)
{
	options->surrogate_key = text_argument(fcinfo, P_SURROGATE_KEY);
	if (options->surrogate_key != NULL)
	{
		check_column_name(options->surrogate_key, "surrogate_key");
		return;
	}

	options->surrogate_key =
		psprintf("%s_sk", strncmp(options->name, "dim_", 4) == 0 ?
				 options->name + 4 : options->name);
	if (strlen(options->surrogate_key) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("surrogate key name \"%s\" is too long", options->surrogate_key),
				 errdetail("It has %zu bytes; names have at most %d.",
						   strlen(options->surrogate_key), NAMEDATALEN - 1),
				 errhint("Give a shorter name with surrogate_key => ....")));
}

/*
 * The caller reads what he registers: on the whole source or on each column
 * that apply reads.
 */
static void
check_source_rights(const Scd2Options *options, const List *condition_columns)
{
	List	   *names = list_concat_copy(options->business_key, options->sequence_by);
	ListCell   *cell;
	bool		allowed = true;

	if (pg_class_aclcheck(options->source, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;

	for (int i = 0; i < SCD2_NTYPES; i++)
		names = list_concat(names, options->types[i]);
	if (options->effective_at != NULL)
		names = lappend(names, options->effective_at);
	if (options->log_position != NULL)
		names = lappend(names, options->log_position);
	foreach(cell, names)
		allowed = allowed &&
			pg_attribute_aclcheck(options->source,
								  scd2_source_attnum(options, lfirst(cell)),
								  GetUserId(), ACL_SELECT) == ACLCHECK_OK;
	foreach(cell, condition_columns)
		allowed = allowed &&
			pg_attribute_aclcheck(options->source, lfirst_int(cell),
								  GetUserId(), ACL_SELECT) == ACLCHECK_OK;
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for source \"%s\"", options->source_label),
				 errhint("Grant SELECT on it to role \"%s\".",
						 GetUserNameFromId(GetUserId(), false))));
}

/*
 * Are closed versions kept in a table of their own?
 */
bool
scd2_is_separate(const Scd2Options *options)
{
	return strcmp(options->history, "separate") == 0;
}

/*
 * Mode log reads rows again that it has read before, and knows them as replays
 * (R5): by their own time, and by the log.
 */
static void
check_log_mode(const Scd2Options *options)
{
	Form_pg_attribute attr;
	char	   *reason;

	if (strcmp(options->mode, "log") != 0)
	{
		if (options->log_position != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"log_position\" needs mode \"log\"")));
		return;
	}
	if (options->log_position == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mode \"log\" needs \"log_position\""),
				 errhint("Name the source column that grows with insertion.")));
	if (options->effective_at == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mode \"log\" needs \"effective_at\""),
				 errdetail("Rows are read again until none can be committed below them. Without a time of their own they would be new changes each time."),
				 errhint("Name the source column with the time of the change, or use mode \"delta\".")));
	if (!options->change_log)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mode \"log\" needs a change log"),
				 errdetail("Rows are read again until none can be committed below them, and the change log tells which were applied."),
				 errhint("Leave out change_log => false, or use mode \"delta\".")));

	attr = TupleDescAttr(options->source_desc,
						 scd2_source_attnum(options, options->log_position) - 1);
	scd2_logpos_check_type(attr->atttypid, attr->attcollation, options->log_position);

	reason = scd2_logpos_untracked(options->source, options->log_position);
	if (reason != NULL)
		ereport(WARNING,
				(errmsg("each apply to dimension \"%s\" will read all of source \"%s\"",
						options->label, options->source_label),
				 errdetail_internal("%s", reason),
				 errhint("Nothing is lost or applied twice. To read what is new only, take positions from a sequence with CACHE 1, and insert into a table of this database.")));
}

/*
 * effective_at, time_zone, open_end and initial_valid_from make a period.
 */
static void
check_period(Scd2Options *options)
{
	bool		source_has_zone;
	bool		period_has_zone;

	options->period_type = scd2_period_type(options->period_type_name);

	if (!scd2_zone_is_known(options->time_zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", options->time_zone),
				 errhint("Use a name from pg_timezone_names, such as \"Europe/Berlin\".")));

	/* without effective_at the batch's time counts, which has a zone */
	options->effective_type = TIMESTAMPTZOID;
	if (options->effective_at != NULL)
	{
		AttrNumber	attnum = scd2_source_attnum(options, options->effective_at);
		Oid			typid = TupleDescAttr(options->source_desc, attnum - 1)->atttypid;

		options->effective_type = getBaseType(typid);
		if (options->effective_type != DATEOID &&
			options->effective_type != TIMESTAMPOID &&
			options->effective_type != TIMESTAMPTZOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" in \"effective_at\" is of type %s",
							options->effective_at, format_type_be(typid)),
					 errhint("It must be date, timestamp or timestamptz.")));
	}

	source_has_zone = options->effective_type == TIMESTAMPTZOID;
	period_has_zone = options->period_type == TIMESTAMPTZOID;
	if (source_has_zone && !period_has_zone &&
		!scd2_zone_is_steady(options->time_zone))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("period type \"%s\" does not go with time zone \"%s\"",
						options->period_type_name, options->time_zone),
				 options->effective_at != NULL ?
				 errdetail("Column \"%s\" has a time zone, and where clocks are set back two of its times would be one.",
						   options->effective_at) :
				 errdetail("The batch's time has a time zone, and where clocks are set back two times would be one."),
				 errhint("Use period_type => 'timestamptz', or a time zone without daylight saving, such as \"UTC\".")));

	/* R5: several times of the source may be one E */
	options->keeps_source_time =
		(options->period_type == DATEOID && options->effective_type != DATEOID) ||
		(source_has_zone != period_has_zone && !scd2_zone_is_fixed(options->time_zone));

	if (options->initial_valid_from != NULL)
	{
		Datum		initial;
		Datum		open_end;

		/* "now", "today", "infinity" and the like are no fixed time */
		if (!isdigit((unsigned char) options->initial_valid_from[0]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid value for \"initial_valid_from\": \"%s\"",
							options->initial_valid_from),
					 errhint("Give a date or a time, such as '1900-01-01'.")));
		initial = scd2_period_in(options->initial_valid_from,
								 options->period_type, options->time_zone);
		if (scd2_period_open_end(options->open_end, options->period_type,
								 options->time_zone, &open_end) &&
			scd2_period_cmp(initial, open_end, options->period_type) >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"initial_valid_from\" is not before \"open_end\""),
					 errdetail("initial_valid_from is \"%s\", open_end is \"%s\".",
							   options->initial_valid_from, options->open_end)));
	}
}

/*
 * delete_when, parsed with the caller's search_path, because it is his text,
 * but with the rights of the dimension's owner, because parsing can run
 * functions of the source's types (R34).
 */
static void
read_delete_when(Scd2Options *options, List **columns)
{
	Oid			userid;
	int			sec_context;

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(OidIsValid(options->relid) ?
						   scd2_relation_owner(options->relid) : userid,
						   sec_context | SECURITY_RESTRICTED_OPERATION);
	options->delete_when_sql =
		scd2_parse_condition_columns(options->delete_when, options->source,
									 NULL, "delete_when", columns);
	SetUserIdAndSecContext(userid, sec_context);
}

/*
 * Read and check create_dimension's arguments; see options.h.
 */
Scd2Options *
scd2_options_read(FunctionCallInfo fcinfo)
{
	Scd2Options *options = palloc0(sizeof(Scd2Options));
	List	   *condition_columns = NIL;

	for (int i = 0; i < NPARAMETERS; i++)
	{
		if (PG_ARGISNULL(i) && !parameters[i].nullable)
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("\"%s\" must not be null", parameters[i].name)));
	}

	read_dimension_name(fcinfo, options);
	read_source(fcinfo, options);

	options->business_key = columns_argument(fcinfo, options, P_BUSINESS_KEY);
	if (options->business_key == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"business_key\" must name at least one column")));
	for (int i = 0; i < SCD2_NTYPES; i++)
		options->types[i] = columns_argument(fcinfo, options, type_parameters[i]);
	options->sequence_by = columns_argument(fcinfo, options, P_SEQUENCE_BY);
	options->effective_at = text_argument(fcinfo, P_EFFECTIVE_AT);
	if (options->effective_at != NULL)
		check_source_column(options, options->effective_at, P_EFFECTIVE_AT);
	options->log_position = text_argument(fcinfo, P_LOG_POSITION);
	if (options->log_position != NULL)
		check_source_column(options, options->log_position, P_LOG_POSITION);
	check_types(options);

	options->mode = word_argument(fcinfo, P_MODE);
	options->on_delete = word_argument(fcinfo, P_ON_DELETE);
	options->on_late = word_argument(fcinfo, P_ON_LATE);
	options->on_duplicate = word_argument(fcinfo, P_ON_DUPLICATE);
	options->on_bad_row = word_argument(fcinfo, P_ON_BAD_ROW);
	options->on_drift = word_argument(fcinfo, P_ON_DRIFT);
	options->ignore_null_updates = PG_GETARG_BOOL(P_IGNORE_NULL_UPDATES);
	options->history = word_argument(fcinfo, P_HISTORY);
	options->change_log = PG_GETARG_BOOL(P_CHANGE_LOG);
	options->surrogate_key_type = word_argument(fcinfo, P_SURROGATE_KEY_TYPE);
	options->period_type_name = word_argument(fcinfo, P_PERIOD_TYPE);
	options->open_end = word_argument(fcinfo, P_OPEN_END);
	options->initial_valid_from = text_argument(fcinfo, P_INITIAL_VALID_FROM);
	options->time_zone = text_argument(fcinfo, P_TIME_ZONE);
	options->unknown_member = PG_GETARG_BOOL(P_UNKNOWN_MEMBER);
	options->guard = PG_GETARG_BOOL(P_GUARD);

	if (!PG_ARGISNULL(P_MAX_DELETE_FRACTION))
	{
		Datum		fraction = PG_GETARG_DATUM(P_MAX_DELETE_FRACTION);

		options->max_delete_fraction =
			DatumGetCString(DirectFunctionCall1(numeric_out, fraction));

		/* NaN sorts after 1 */
		if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, fraction,
											  NumericGetDatum(int64_to_numeric(0)))) < 0 ||
			DatumGetInt32(DirectFunctionCall2(numeric_cmp, fraction,
											  NumericGetDatum(int64_to_numeric(1)))) > 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"max_delete_fraction\" must be between 0 and 1"),
					 errdetail("It is %s.", options->max_delete_fraction)));
	}

	if (options->sequence_by != NIL && strcmp(options->mode, "snapshot") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"sequence_by\" does not go with mode \"snapshot\""),
				 errdetail("A snapshot has one row a key.")));
	if (!options->change_log && options->on_late != NULL &&
		strcmp(options->on_late, "rebuild") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("on_late \"rebuild\" needs a change log")));

	options->delete_when = text_argument(fcinfo, P_DELETE_WHEN);
	if (options->delete_when != NULL)
		read_delete_when(options, &condition_columns);

	if (PG_ARGISNULL(P_TYPE2))
		resolve_type2(options, condition_columns);
	check_source_rights(options, condition_columns);

	read_surrogate_key(fcinfo, options);
	read_column_names(fcinfo, options);
	check_period(options);
	check_log_mode(options);

	return options;
}
