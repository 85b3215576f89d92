/*-------------------------------------------------------------------------
 *
 * keyarg.c
 *	  Keys that a caller names.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "keyarg.h"

#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "convert.h"
#include "plan_chain.h"
#include "spi.h"

static void
check_shape(const Scd2Dimension *dim, ArrayType *array)
{
	int			ndim = ARR_NDIM(array);

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("keys of dimension \"%s\" cannot be null", dim->label)));
	if (ndim == 0 || (ndim == 1 && dim->nkeys == 1) ||
		(ndim == 2 && ARR_DIMS(array)[1] == dim->nkeys))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("keys do not fit the business key of dimension \"%s\"",
					dim->label),
			 errdetail_plural("Its key has %d column.", "Its key has %d columns.",
							  dim->nkeys, dim->nkeys),
			 dim->nkeys == 1 ?
			 errhint("Name keys as '{1,2}'.") :
			 errhint("Name each key in a row of its own, as '{{1,a},{2,b}}'.")));
}

/*
 * Take keys from an array; see keyarg.h.
 */
void
scd2_keys_from_array(Scd2Batch *batch, ArrayType *array)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	const Scd2Dimension *dim = batch->dim;
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	TupleDesc	desc = CreateTemplateTupleDesc(dim->nkeys);
	Scd2Store	given;
	Datum	   *elements;
	int			nelements;
	Datum	   *values = palloc(dim->nkeys * sizeof(Datum));
	bool	   *isnull = palloc0(dim->nkeys * sizeof(bool));

	check_shape(dim, array);
	scd2_describe_keys(dim, desc, 1);
	scd2_store_begin(batch, &given, "scd2_given", desc);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  &nelements);
	for (int i = 0; i < nelements; i += dim->nkeys)
	{
		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < dim->nkeys; k++)
		{
			Oid			input;
			Oid			ioparam;

			getTypeInputInfo(dim->keys[k].typid, &input, &ioparam);
			values[k] = OidInputFunctionCall(input, TextDatumGetCString(elements[i + k]),
											 ioparam, dim->keys[k].typmod);
		}
		scd2_store_put(&given, values, isnull);
	}

	desc = CreateTemplateTupleDesc(dim->nkeys);
	scd2_describe_keys(dim, desc, 1);
	if (batch->chain_keys.store == NULL)
		scd2_store_begin(batch, &batch->chain_keys, "scd2_chain_keys", desc);
	SetTuplestoreDestReceiverParams(dest, batch->chain_keys.store, batch->cxt, true,
									NULL, NULL);
	scd2_store_register(&given);
	batch->chain_keys.ntuples +=
		scd2_spi_stream("given keys", scd2_plan_given_keys(dim), 0, NULL, NULL,
						NULL, true, dest);
	scd2_store_unregister(&given);
	scd2_store_end(&given);
	dest->rDestroy(dest);
	MemoryContextSwitchTo(oldcxt);
}

/* ----------------------------------------------------------------
 * VARIADIC "any"
 * ----------------------------------------------------------------
 */

struct Scd2KeyReader
{
	const Scd2Dimension *dim;
	MemoryContext cxt;
	Oid		   *from;			/* what the converters convert */
	Scd2Converter **converters; /* NULL: nothing to convert */
	bool	   *needs_settings;
};

/* Names the key's column in errors that converting raises. */
typedef struct KeyColumn
{
	const Scd2Dimension *dim;
	int			number;
} KeyColumn;

static void
key_column_callback(void *arg)
{
	KeyColumn  *column = arg;

	errcontext("key column \"%s\" of dimension \"%s\"",
			   column->dim->keys[column->number].name, column->dim->label);
}

/*
 * Make a reader; see keyarg.h.
 */
Scd2KeyReader *
scd2_key_reader(const Scd2Dimension *dim, MemoryContext cxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2KeyReader *reader = palloc(sizeof(Scd2KeyReader));

	reader->dim = dim;
	reader->cxt = cxt;
	reader->from = palloc0(dim->nkeys * sizeof(Oid));
	reader->converters = palloc0(dim->nkeys * sizeof(Scd2Converter *));
	reader->needs_settings = palloc0(dim->nkeys * sizeof(bool));
	MemoryContextSwitchTo(oldcxt);
	return reader;
}

static void
check_count(const Scd2Dimension *dim, int given)
{
	StringInfoData names;

	if (given == dim->nkeys)
		return;
	initStringInfo(&names);
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", dim->keys[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("key does not fit the business key of dimension \"%s\"",
					dim->label),
			 errdetail_plural("Its key is (%s); %d value was given.",
							  "Its key is (%s); %d values were given.",
							  given, names.data, given),
			 errhint("Give one value for each column, in this order.")));
}

static bool
is_time(Oid type)
{
	char		category;
	bool		preferred;

	get_type_category_preferred(getBaseType(type), &category, &preferred);
	return category == TYPCATEGORY_DATETIME || category == TYPCATEGORY_TIMESPAN;
}

/*
 * Prepare for values of another type than before.
 */
static void
find_converter(Scd2KeyReader *reader, int number, Oid from)
{
	const Scd2Column *column = &reader->dim->keys[number];

	if (!can_coerce_type(1, &from, &column->typid, COERCION_EXPLICIT))
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("a value of type %s cannot be converted to type %s",
						format_type_be(from), format_type_be(column->typid))));
	reader->converters[number] = scd2_converter(from, -1, column->typid,
												column->typmod, column->name,
												reader->cxt);
	reader->needs_settings[number] = reader->converters[number] != NULL &&
		(is_time(from) || is_time(column->typid));
	reader->from[number] = from;
}

/*
 * Read a call's key; see keyarg.h.
 */
void
scd2_key_reader_read(Scd2KeyReader *reader, FunctionCallInfo fcinfo, int first,
					 Datum *values, bool *isnull)
{
	const Scd2Dimension *dim = reader->dim;
	Datum	   *args;
	Oid		   *types;
	bool	   *nulls;
	int			nargs = extract_variadic_args(fcinfo, first, true, &args, &types,
											  &nulls);
	ErrorContextCallback context;
	KeyColumn	column = {dim, 0};

	/* VARIADIC NULL */
	if (nargs < 0)
	{
		memset(isnull, true, dim->nkeys * sizeof(bool));
		return;
	}
	check_count(dim, nargs);

	context.callback = key_column_callback;
	context.arg = &column;
	context.previous = error_context_stack;
	error_context_stack = &context;
	for (int i = 0; i < dim->nkeys; i++)
	{
		column.number = i;
		values[i] = args[i];
		isnull[i] = nulls[i];
		if (isnull[i])
			continue;
		if (reader->from[i] != types[i])
			find_converter(reader, i, types[i]);
		if (reader->converters[i] == NULL)
			continue;
		if (reader->needs_settings[i])
		{
			Scd2Rights	rights;

			scd2_settings_enter(&rights);
			values[i] = scd2_convert(reader->converters[i], values[i], &isnull[i]);
			scd2_rights_leave(&rights);
		}
		else
			values[i] = scd2_convert(reader->converters[i], values[i], &isnull[i]);
	}
	error_context_stack = context.previous;
}

/*
 * Read the key of one call; see keyarg.h.
 */
void
scd2_key_args(FunctionCallInfo fcinfo, int first, const Scd2Dimension *dim,
			  Datum *values)
{
	bool	   *isnull = palloc(dim->nkeys * sizeof(bool));

	scd2_key_reader_read(scd2_key_reader(dim, CurrentMemoryContext), fcinfo, first,
						 values, isnull);
	for (int i = 0; i < dim->nkeys; i++)
		if (isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("key column \"%s\" of dimension \"%s\" cannot be null",
							dim->keys[i].name, dim->label)));
}
