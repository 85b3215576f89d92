/*-------------------------------------------------------------------------
 *
 * fold_test.c
 *	  Calls the fold from SQL, for test/property/parts/fold.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "portability/instr_time.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "fold.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fold_test);
PG_FUNCTION_INFO_V1(fold_test_time);

/* A dimension and one key's changes, as given by SQL. */
typedef struct TestCase
{
	Scd2FoldShape shape;
	Oid		   *types;
	Oid		   *typoutput;
	int			nchanges;
	Scd2FoldChange *changes;
} TestCase;

static const char *const outcome_names[] = {
	"opened", "closed", "confirmed", "overwrote", "superseded", "ignored"
};

static Datum *
array_elements(Datum array, Oid type, bool **nulls, int *n)
{
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;

	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	deconstruct_array(DatumGetArrayTypeP(array), type, typlen, typbyval,
					  typalign, &values, nulls, n);
	return values;
}

/*
 * Arguments: attribute types oid[], scd types int[], on_delete text,
 * ignore_null_updates bool, initial bigint or null, then per change: E bigint[],
 * deleted bool[], always_opens bool[], and flat, natts a change: values text[],
 * lacks bool[].
 */
static TestCase *
read_case(FunctionCallInfo fcinfo)
{
	TestCase   *test = palloc0(sizeof(TestCase));
	Scd2FoldShape *shape = &test->shape;
	char	   *on_delete = text_to_cstring(PG_GETARG_TEXT_PP(2));
	bool	   *nulls;
	bool	   *value_nulls;
	int			n;
	Datum	   *types;
	Datum	   *scd_types;
	Datum	   *times;
	Datum	   *deleted;
	Datum	   *opens;
	Datum	   *texts;
	Datum	   *lacks;

	types = array_elements(PG_GETARG_DATUM(0), OIDOID, &nulls, &shape->natts);
	scd_types = array_elements(PG_GETARG_DATUM(1), INT4OID, &nulls, &n);
	if (n != shape->natts)
		elog(ERROR, "lengths differ");

	test->types = palloc(n * sizeof(Oid));
	test->typoutput = palloc(n * sizeof(Oid));
	shape->scd_type = palloc(n * sizeof(int8));
	shape->canon = palloc(n * sizeof(Scd2CanonType *));
	shape->typlen = palloc(n * sizeof(int16));
	shape->typbyval = palloc(n * sizeof(bool));
	for (int i = 0; i < n; i++)
	{
		bool		varlena;

		test->types[i] = DatumGetObjectId(types[i]);
		getTypeOutputInfo(test->types[i], &test->typoutput[i], &varlena);
		shape->scd_type[i] = DatumGetInt32(scd_types[i]);
		shape->canon[i] = scd2_canon_type(test->types[i], CurrentMemoryContext);
		get_typlenbyval(test->types[i], &shape->typlen[i], &shape->typbyval[i]);
	}
	shape->flag_deletes = strcmp(on_delete, "flag") == 0;
	shape->ignore_deletes = strcmp(on_delete, "ignore") == 0;
	shape->ignore_null_updates = PG_GETARG_BOOL(3);
	shape->has_initial = !PG_ARGISNULL(4);
	if (shape->has_initial)
		shape->initial_valid_from = PG_GETARG_INT64(4);

	times = array_elements(PG_GETARG_DATUM(5), INT8OID, &nulls, &test->nchanges);
	deleted = array_elements(PG_GETARG_DATUM(6), BOOLOID, &nulls, &n);
	opens = array_elements(PG_GETARG_DATUM(7), BOOLOID, &nulls, &n);
	texts = array_elements(PG_GETARG_DATUM(8), TEXTOID, &value_nulls, &n);
	lacks = array_elements(PG_GETARG_DATUM(9), BOOLOID, &nulls, &n);
	if (n != test->nchanges * shape->natts)
		elog(ERROR, "lengths differ");

	test->changes = palloc0(test->nchanges * sizeof(Scd2FoldChange));
	for (int c = 0; c < test->nchanges; c++)
	{
		Scd2FoldChange *change = &test->changes[c];
		bool		lacks_any = false;

		change->effective_at = DatumGetInt64(times[c]);
		change->deleted = DatumGetBool(deleted[c]);
		change->always_opens = DatumGetBool(opens[c]);
		change->values = palloc0(shape->natts * sizeof(Datum));
		change->isnull = palloc(shape->natts * sizeof(bool));
		change->lacks = palloc(shape->natts * sizeof(bool));
		for (int i = 0; i < shape->natts; i++)
		{
			int			flat = c * shape->natts + i;
			Oid			typinput;
			Oid			ioparam;

			change->lacks[i] = DatumGetBool(lacks[flat]);
			lacks_any |= change->lacks[i];
			change->isnull[i] = value_nulls[flat];
			getTypeInputInfo(test->types[i], &typinput, &ioparam);
			if (!change->isnull[i])
				change->values[i] =
					OidInputFunctionCall(typinput,
										 TextDatumGetCString(texts[flat]),
										 ioparam, -1);
			/* what is lacking must not be looked at */
			if (change->lacks[i])
			{
				change->values[i] = (Datum) 1;
				change->isnull[i] = false;
			}
		}
		if (!lacks_any)
			change->lacks = NULL;
	}
	return test;
}

/* ,"1":"value" for the columns of the types that "mask" has a bit for */
static void
append_values(StringInfo out, TestCase *test, int mask,
			  const Datum *values, const bool *isnull)
{
	const char *separator = "";

	appendStringInfoChar(out, '{');
	for (int i = 0; i < test->shape.natts; i++)
	{
		if (!(mask & (1 << test->shape.scd_type[i])))
			continue;
		appendStringInfo(out, "%s\"c%d\":", separator, i + 1);
		separator = ",";
		if (isnull[i])
			appendStringInfoString(out, "null");
		else
		{
			char	   *text = OidOutputFunctionCall(test->typoutput[i],
													 values[i]);

			if (test->types[i] == INT4OID || test->types[i] == NUMERICOID)
				appendStringInfoString(out, text);
			else
				escape_json(out, text);
		}
	}
	appendStringInfoChar(out, '}');
}

/*
 * Does every column have a value after these changes, or nothing at all?  Only
 * then can another fold go on from there (fold.h).
 */
static bool
can_split(TestCase *test, int begin, int end, const Scd2FoldResult *result,
		  bool *known)
{
	bool		any = false;

	for (int c = begin; c < end; c++)
	{
		Scd2FoldChange *change = &test->changes[c];

		if (change->deleted ||
			result->outcomes[c - begin] == SCD2_FOLD_SUPERSEDED)
			continue;
		any = true;
		for (int i = 0; i < test->shape.natts; i++)
			if (!change->lacks || !change->lacks[i])
				known[i] = true;
	}
	for (int i = 0; i < test->shape.natts; i++)
		if (!known[i] && any)
			return false;
	return true;
}

/* Do older versions show something else now?  What overlay_changed has to say. */
static bool
overlay_differs(TestCase *test, const Scd2FoldStart *start,
				const Scd2FoldResult *result)
{
	for (int i = 0; i < test->shape.natts; i++)
	{
		int8		type = test->shape.scd_type[i];

		if (type != 2 &&
			!scd2_canon_same(test->shape.canon[i],
							 start->values[i], start->isnull[i],
							 result->last[i], result->last_isnull[i]))
			return true;
		if (type == 3 &&
			!scd2_canon_same(test->shape.canon[i],
							 start->previous[i], start->previous_isnull[i],
							 result->previous[i], result->previous_isnull[i]))
			return true;
	}
	return false;
}

/*
 * Fold a key's changes, beginning anew after each of the numbers of changes in
 * the last argument, where that can be done.  Changes of equal time stay
 * together: a start is before all that follows.
 */
Datum
fold_test(PG_FUNCTION_ARGS)
{
	TestCase   *test = read_case(fcinfo);
	Scd2FoldShape *shape = &test->shape;
	int			natts = shape->natts;
	Scd2Fold   *fold = scd2_fold_create(shape, CurrentMemoryContext);
	StringInfoData outcomes;
	StringInfoData out;
	List	   *versions = NIL;
	Scd2FoldStart start = {0};
	bool		has_start = false;
	bool	   *known = palloc0(natts * sizeof(bool));
	const Scd2FoldResult *result = NULL;
	bool	   *nulls;
	int			nsplits;
	Datum	   *splits;
	int			begin = 0;
	ListCell   *lc;
	const char *separator = "";

	splits = array_elements(PG_GETARG_DATUM(10), INT4OID, &nulls, &nsplits);
	initStringInfo(&outcomes);
	start.values = palloc0(natts * sizeof(Datum));
	start.isnull = palloc0(natts * sizeof(bool));
	start.previous = palloc0(natts * sizeof(Datum));
	start.previous_isnull = palloc0(natts * sizeof(bool));

	for (int s = 0; s <= nsplits; s++)
	{
		int			end = s < nsplits ? DatumGetInt32(splits[s]) : test->nchanges;

		if (end < begin || (end == begin && s < nsplits))
			continue;
		while (end < test->nchanges && end > 0 &&
			   test->changes[end].effective_at == test->changes[end - 1].effective_at)
			end++;

		for (;;)
		{
			scd2_fold_start(fold, has_start ? &start : NULL);
			for (int c = begin; c < end; c++)
			{
				/* the caller's copy may go as soon as it was fed */
				Scd2FoldChange fed = test->changes[c];

				fed.values = palloc(natts * sizeof(Datum));
				fed.isnull = palloc(natts * sizeof(bool));
				for (int i = 0; i < natts; i++)
				{
					fed.isnull[i] = test->changes[c].isnull[i];
					fed.values[i] = test->changes[c].values[i];
					if (!fed.isnull[i] && !shape->typbyval[i] &&
						!(fed.lacks && fed.lacks[i]))
						fed.values[i] = datumCopy(fed.values[i], false,
												  shape->typlen[i]);
				}
				scd2_fold_change(fold, &fed);
				for (int i = 0; i < natts; i++)
					if (!fed.isnull[i] && !shape->typbyval[i] &&
						!(fed.lacks && fed.lacks[i]))
					{
						memset(DatumGetPointer(fed.values[i]), 0x7f,
							   datumGetSize(fed.values[i], false, shape->typlen[i]));
						pfree(DatumGetPointer(fed.values[i]));
					}
				memset(fed.values, 0x7f, natts * sizeof(Datum));
				memset(fed.isnull, true, natts * sizeof(bool));
			}
			result = scd2_fold_finish(fold);
			if (end >= test->nchanges || can_split(test, begin, end, result, known))
				break;
			end++;
			while (end < test->nchanges &&
				   test->changes[end].effective_at == test->changes[end - 1].effective_at)
				end++;
		}

		for (int c = 0; c < result->nchanges; c++)
			appendStringInfo(&outcomes, "%s\"%s\"", begin + c ? "," : "",
							 outcome_names[result->outcomes[c]]);
		if (result->overlay_changed !=
			(has_start && overlay_differs(test, &start, result)))
			elog(ERROR, "overlay_changed is wrong");

		for (int v = 0; v < result->nversions; v++)
		{
			Scd2FoldVersion *version = &result->versions[v];
			StringInfoData text;

			if (version->preexisting)
			{
				if (v != 0 || !has_start || !start.open ||
					version->valid_from != start.valid_from ||
					version->is_deleted != start.is_deleted)
					elog(ERROR, "a preexisting version is not the start's");
				versions = list_delete_last(versions);
			}
			initStringInfo(&text);
			appendStringInfo(&text, "{\"from\":" INT64_FORMAT ",\"to\":",
							 version->valid_from);
			if (version->is_open)
				appendStringInfoString(&text, "null");
			else
				appendStringInfo(&text, INT64_FORMAT, version->valid_to);
			appendStringInfo(&text, ",\"deleted\":%s,\"values\":",
							 version->is_deleted ? "true" : "false");
			append_values(&text, test, 1 << 2 | 1 << 6,
						  version->values, version->isnull);
			appendStringInfoChar(&text, '}');
			versions = lappend(versions, text.data);
		}

		/* what the next fold begins with */
		if (result->nversions > 0)
		{
			Scd2FoldVersion *newest = &result->versions[result->nversions - 1];

			has_start = true;
			start.open = newest->is_open;
			start.is_deleted = newest->is_deleted;
			start.valid_from = newest->valid_from;
			for (int i = 0; i < natts; i++)
			{
				if (shape->scd_type[i] != 2 && shape->scd_type[i] != 6)
					continue;
				start.isnull[i] = newest->isnull[i];
				if (!start.isnull[i])
					start.values[i] = datumCopy(newest->values[i],
												shape->typbyval[i], shape->typlen[i]);
			}
		}
		for (int i = 0; i < natts && has_start; i++)
		{
			if (shape->scd_type[i] == 2)
				continue;
			if (shape->scd_type[i] == 3)
			{
				start.previous_isnull[i] = result->previous_isnull[i];
				if (!start.previous_isnull[i])
					start.previous[i] = datumCopy(result->previous[i],
												  shape->typbyval[i], shape->typlen[i]);
			}
			if (shape->scd_type[i] != 6)
			{
				start.isnull[i] = result->last_isnull[i];
				if (!start.isnull[i])
					start.values[i] = datumCopy(result->last[i],
												shape->typbyval[i], shape->typlen[i]);
			}
		}
		begin = end;
	}

	initStringInfo(&out);
	appendStringInfoString(&out, "{\"versions\":[");
	foreach(lc, versions)
	{
		appendStringInfo(&out, "%s%s", separator, (char *) lfirst(lc));
		separator = ",";
	}
	appendStringInfo(&out, "],\"outcomes\":[%s],\"last\":", outcomes.data);
	append_values(&out, test, 1 << 0 | 1 << 1 | 1 << 3 | 1 << 6,
				  result->last, result->last_isnull);
	appendStringInfoString(&out, ",\"previous\":");
	append_values(&out, test, 1 << 3, result->previous, result->previous_isnull);
	appendStringInfoChar(&out, '}');
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

/*
 * Nanoseconds a change: the arguments of fold_test, of which the last is how
 * often.  The first change makes the start, each round feeds one more key of one
 * change.  Negative: all changes as one key, from nothing, that often.
 */
Datum
fold_test_time(PG_FUNCTION_ARGS)
{
	TestCase   *test = read_case(fcinfo);
	Scd2FoldShape *shape = &test->shape;
	Scd2Fold   *fold = scd2_fold_create(shape, CurrentMemoryContext);
	int			rounds = PG_GETARG_INT32(10);
	Scd2FoldStart start = {0};
	instr_time	begin;
	instr_time	duration;
	double		changes = 0;

	start.open = true;
	start.valid_from = test->changes[0].effective_at;
	start.values = start.previous = test->changes[0].values;
	start.isnull = start.previous_isnull = test->changes[0].isnull;

	INSTR_TIME_SET_CURRENT(begin);
	if (rounds > 0)
	{
		for (int r = 0; r < rounds; r++)
		{
			scd2_fold_start(fold, test->nchanges > 1 ? &start : NULL);
			scd2_fold_change(fold, &test->changes[test->nchanges > 1 ?
												  1 + r % (test->nchanges - 1) : 0]);
			scd2_fold_finish(fold);
			changes++;
		}
	}
	else
	{
		for (int r = 0; r < -rounds; r++)
		{
			scd2_fold_start(fold, NULL);
			for (int c = 0; c < test->nchanges; c++)
				scd2_fold_change(fold, &test->changes[c]);
			scd2_fold_finish(fold);
			changes += test->nchanges;
		}
	}
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, begin);
	PG_RETURN_FLOAT8(INSTR_TIME_GET_DOUBLE(duration) * 1e9 / changes);
}
