/*-------------------------------------------------------------------------
 *
 * shape.c
 *	  The columns that a dimension and its log have (R1), from the options
 *	  alone.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "shape.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * A type's name for DDL.
 */
char *
scd2_type_name(Oid typid, int32 typmod)
{
	return format_type_with_typemod(typid, typmod);
}

/*
 * Add a column of a type without modifier.
 */
static Scd2ShapeColumn *
add_column(List **shape, const char *role, char *name, char *log_name, Oid typid)
{
	Scd2ShapeColumn *column = palloc0(sizeof(Scd2ShapeColumn));

	column->role = role;
	column->scd_type = -1;
	column->name = name;
	column->log_name = log_name;
	column->typid = column->log_typid = typid;
	column->typmod = column->log_typmod = -1;
	column->collation = get_typcollation(typid);
	column->not_null = column->log_not_null = true;
	*shape = lappend(*shape, column);

	return column;
}

/*
 * Add a column like one of the source.
 */
static Scd2ShapeColumn *
add_source_column(List **shape, const Scd2Options *options, const char *role,
				  char *source_name, char *name, char *log_name)
{
	AttrNumber	attnum = scd2_source_attnum(options, source_name);
	Form_pg_attribute attr = TupleDescAttr(options->source_desc, attnum - 1);
	Scd2ShapeColumn *column = add_column(shape, role, name, log_name, attr->atttypid);

	column->source_name = source_name;
	column->typmod = column->log_typmod = attr->atttypmod;
	column->collation = attr->attcollation;

	return column;
}

/*
 * A key column is of a type whose values have one canonical text (R14).
 */
static void
check_key_type(const Scd2Options *options, const Scd2ShapeColumn *column)
{
	Oid			base = getBaseType(column->typid);
	bool		allowed;

	switch (base)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BOOLOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case BYTEAOID:
		case UUIDOID:
			allowed = true;
			break;
		default:
			allowed = get_typtype(base) == TYPTYPE_ENUM;
	}
	if (!allowed)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key column \"%s\" of source \"%s\" is of type %s",
						column->source_name, options->source_label,
						format_type_be(column->typid)),
				 errdetail("A key is an integer, text, boolean, date, timestamp, float, numeric, bytea, uuid or enum, or a domain over one of these."),
				 errhint("Cast it in a view over the source, for example to text.")));

	if (OidIsValid(column->collation) &&
		!get_collation_isdeterministic(column->collation))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("key column \"%s\" of source \"%s\" has a nondeterministic collation",
						column->source_name, options->source_label),
				 errdetail("The collation is \"%s\".", get_collation_name(column->collation)),
				 errhint("Give it a deterministic one in a view over the source, for example with COLLATE \"C\".")));
}

/*
 * Tracked columns in source order.
 */
static void
add_tracked(List **shape, const Scd2Options *options)
{
	for (int i = 0; i < options->source_desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(options->source_desc, i);
		char	   *name = pstrdup(NameStr(attr->attname));

		if (attr->attisdropped)
			continue;
		for (int j = 0; j < SCD2_NTYPES; j++)
		{
			Scd2ShapeColumn *column;

			if (!scd2_list_has(options->types[j], name))
				continue;
			column = add_source_column(shape, options, "tracked", name, name, name);
			column->scd_type = scd2_types[j];
			column->not_null = column->log_not_null = false;

			/* a delete logs nulls, which a domain may refuse */
			column->log_typid = getBaseTypeAndTypmod(column->typid, &column->log_typmod);
		}
	}
}

/*
 * previous_<column> of type 3, current_<column> of type 6.
 */
static void
add_extra(List **shape, const Scd2Options *options, int scd_type,
		  const char *role)
{
	List	   *tracked = list_copy(*shape);
	ListCell   *cell;

	foreach(cell, tracked)
	{
		Scd2ShapeColumn *base = lfirst(cell);
		Scd2ShapeColumn *column;
		char	   *name;

		if (base->scd_type != scd_type)
			continue;
		name = psprintf("%s_%s", role, base->name);
		if (strlen(name) >= NAMEDATALEN)
			ereport(ERROR,
					(errcode(ERRCODE_NAME_TOO_LONG),
					 errmsg("column name \"%s\" is too long", name),
					 errdetail("It has %zu bytes; names have at most %d. Column \"%s\" of type %d needs it.",
							   strlen(name), NAMEDATALEN - 1, base->name, scd_type),
					 errhint("Give the column a shorter name in a view over the source.")));
		column = add_column(shape, role, name, NULL, base->typid);
		column->scd_type = scd_type;
		column->source_name = base->source_name;
		column->base = base;
		column->typmod = base->typmod;
		column->collation = base->collation;
		column->not_null = false;
	}
}

/*
 * No name stands for two columns.
 */
static void
check_names(const Scd2Options *options, const List *shape)
{
	ListCell   *cell;

	foreach(cell, shape)
	{
		Scd2ShapeColumn *a = lfirst(cell);

		for (int i = foreach_current_index(cell) + 1; i < list_length(shape); i++)
		{
			Scd2ShapeColumn *b = list_nth(shape, i);

			if (a->name != NULL && b->name != NULL && strcmp(a->name, b->name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("dimension \"%s\" would have two columns \"%s\"",
								options->label, a->name),
						 errdetail("One is for %s, the other for %s.", a->role, b->role),
						 errhint("Give scd2's column another name with columns => ... or surrogate_key => ..., or rename the source's in a view.")));
			if (a->log_name != NULL && b->log_name != NULL &&
				strcmp(a->log_name, b->log_name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("change log of dimension \"%s\" would have two columns \"%s\"",
								options->label, a->log_name),
						 errdetail("Names of this form are the log's own."),
						 errhint("Rename the source's column in a view over the source.")));
		}
	}
}

/*
 * A statement that classifies a batch holds each tracked column three times, as
 * sent, as it is and as it was (scd2_plan_resolve), and a statement's columns
 * are limited.  Better to hear of it now than at the first load.
 */
static void
check_width(const Scd2Options *options, const List *shape)
{
	int			n = 16;			/* what scd2 itself puts into a row */
	ListCell   *cell;

	foreach(cell, shape)
	{
		Scd2ShapeColumn *column = lfirst(cell);

		if (strcmp(column->role, "tracked") == 0)
			n += column->scd_type == 0 ? 4 : column->scd_type == 3 ? 5 : 3;
		else if (strcmp(column->role, "key") == 0)
			n += 2;				/* and to sort by */
		else if (strcmp(column->role, "log_sequence") == 0)
			n++;
	}
	if (n > MaxTupleAttributeNumber)
		ereport(ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("dimension \"%s\" would have too many columns",
						options->label),
				 errdetail("A batch's rows would have %d columns, at most %d are possible: one for a column of \"sequence_by\", two for one of the key, three for one of type 1, 2 or 6, four for one of type 0, five for one of type 3.",
						   n, MaxTupleAttributeNumber),
				 errhint("Track fewer columns, or several of them as one of type jsonb in a view over the source.")));
}

/*
 * The columns of dimension and log.
 */
List *
scd2_shape(const Scd2Options *options)
{
	List	   *shape = NIL;
	ListCell   *cell;
	Scd2ShapeColumn *column;
	bool		log = options->change_log;
	int			n = 0;

#define LOG_NAME(name) (log ? pstrdup(name) : NULL)

	(void) add_column(&shape, "surrogate_key", options->surrogate_key, NULL,
					  strcmp(options->surrogate_key_type, "uuid") == 0 ? UUIDOID : INT8OID);
	if (log)
		(void) add_column(&shape, "log_id", NULL, "scd2_id", INT8OID);

	foreach(cell, options->business_key)
	{
		char	   *name = lfirst(cell);

		column = add_source_column(&shape, options, "key", name, name, LOG_NAME(name));
		check_key_type(options, column);
		/* null for the unknown member only */
		column->not_null = !options->unknown_member;
	}

	if (log)
		(void) add_column(&shape, "log_effective_at", NULL, "scd2_effective_at",
						  options->period_type);
	if (options->keeps_source_time)
	{
		/*
		 * A change that the source gave no time, as a delete by absence, is
		 * the last of its E: null sorts there.  Without a log the registry
		 * only remembers that rows of one batch go by it.
		 */
		column = add_column(&shape, "log_source_time", NULL,
							log ? "scd2_source_time" : NULL,
							options->effective_type);
		column->log_not_null = false;
	}
	foreach(cell, options->sequence_by)
	{
		char	   *name = lfirst(cell);

		/* without a log the registry remembers the column alone */
		column = add_source_column(&shape, options, "log_sequence", name, NULL,
								   log ? psprintf("scd2_seq_%d", ++n) : NULL);
		column->log_typid = getBaseTypeAndTypmod(column->typid, &column->log_typmod);
		column->log_not_null = false;
		if (!OidIsValid(lookup_type_cache(column->log_typid, TYPECACHE_LT_OPR)->lt_opr))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" in \"sequence_by\" is of type %s, which has no order",
							name, format_type_be(column->typid))));
	}
	if (log)
		(void) add_column(&shape, "log_deleted", NULL, "scd2_deleted", BOOLOID);

	add_tracked(&shape, options);
	if (!log)
	{
		foreach(cell, shape)
			((Scd2ShapeColumn *) lfirst(cell))->log_name = NULL;
	}
	add_extra(&shape, options, 3, "previous");
	add_extra(&shape, options, 6, "current");

	if (options->row_hash != NULL)
	{
		column = add_column(&shape, "row_hash", options->row_hash, NULL, BYTEAOID);
		column->not_null = false;	/* the unknown member has none */
	}
	(void) add_column(&shape, "valid_from", options->valid_from, NULL, options->period_type);
	column = add_column(&shape, "valid_to", options->valid_to, NULL, options->period_type);
	column->not_null = strcmp(options->open_end, "null") != 0;
	(void) add_column(&shape, "is_current", options->is_current, NULL, BOOLOID);
	if (strcmp(options->on_delete, "flag") == 0)
		(void) add_column(&shape, "is_deleted", options->is_deleted, NULL, BOOLOID);

	if (log)
	{
		column = add_column(&shape, "log_lacks", NULL, "scd2_lacks", INT4ARRAYOID);
		column->log_not_null = false;
		(void) add_column(&shape, "log_run", NULL, "scd2_run", INT8OID);
		(void) add_column(&shape, "log_recorded_at", NULL, "scd2_recorded_at", TIMESTAMPTZOID);
	}
#undef LOG_NAME

	check_names(options, shape);
	check_width(options, shape);

	return shape;
}
