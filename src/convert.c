/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Source values to the dimension's types, source times to the period's (R17).
 *
 * Conversion happens here, row by row, and not in the statement that reads the
 * source, so that an error can name the row it is in (R19).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "convert.h"

#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

struct Scd2Converter
{
	ExprState  *state;
	ExprContext *econtext;
};

/*
 * Make a converter.  An assignment cast where there is one, so that too long a
 * text is an error and not cut; else whatever an explicit cast can do.
 */
Scd2Converter *
scd2_converter(Oid from, int32 from_typmod, Oid to, int32 to_typmod,
			   const char *column, MemoryContext cxt)
{
	MemoryContext oldcxt;
	CaseTestExpr *input;
	Node	   *expr;
	EState	   *estate;
	Scd2Converter *converter;

	if (from == to && (to_typmod == -1 || to_typmod == from_typmod))
		return NULL;

	oldcxt = MemoryContextSwitchTo(cxt);

	input = makeNode(CaseTestExpr);
	input->typeId = from;
	input->typeMod = from_typmod;
	input->collation = get_typcollation(from);

	expr = coerce_to_target_type(NULL, (Node *) input, from, to, to_typmod,
								 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	if (expr == NULL)
		expr = coerce_to_target_type(NULL, (Node *) input, from, to, to_typmod,
									 COERCION_EXPLICIT, COERCE_EXPLICIT_CAST,
									 -1);
	if (expr == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_CANNOT_COERCE),
				 errmsg("column \"%s\" of type %s cannot be converted to type %s",
						column, format_type_be(from), format_type_be(to)),
				 errhint("Convert it in a view over the source.")));

	estate = CreateExecutorState();
	converter = palloc(sizeof(Scd2Converter));
	converter->state = ExecPrepareExpr((Expr *) expr, estate);
	converter->econtext = CreateExprContext(estate);

	MemoryContextSwitchTo(oldcxt);
	return converter;
}

/*
 * Convert one value in the current memory context.
 */
Datum
scd2_convert(Scd2Converter *converter, Datum value, bool *isnull)
{
	converter->econtext->caseValue_datum = value;
	converter->econtext->caseValue_isNull = *isnull;
	return ExecEvalExpr(converter->state, converter->econtext, isnull);
}

/*
 * Convert a time to the period's type.
 */
Datum
scd2_to_period(const Scd2Dimension *dim, Datum value, Oid type)
{
	Datum		zone;

	if (type == dim->period_type)
		return value;

	zone = CStringGetTextDatum(dim->time_zone);
	if (type == DATEOID)
	{
		value = DirectFunctionCall1(date_timestamp, value);
		type = TIMESTAMPOID;
	}
	else if (type == TIMESTAMPTZOID)
	{
		/* the period is without zone, or we would not be here */
		value = DirectFunctionCall2(timestamptz_zone, zone, value);
		type = TIMESTAMPOID;
	}

	Assert(type == TIMESTAMPOID);
	if (dim->period_type == DATEOID)
		value = DirectFunctionCall1(timestamp_date, value);
	else if (dim->period_type == TIMESTAMPTZOID)
		value = DirectFunctionCall2(timestamp_zone, zone, value);

	return value;
}

/*
 * Convert a time to timestamptz.
 */
Datum
scd2_to_timestamptz(const Scd2Dimension *dim, Datum value, Oid type)
{
	if (type == DATEOID)
		value = DirectFunctionCall1(date_timestamp, value);
	if (type != TIMESTAMPTZOID)
		value = DirectFunctionCall2(timestamp_zone,
									CStringGetTextDatum(dim->time_zone), value);
	return value;
}
