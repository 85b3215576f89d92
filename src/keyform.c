/*-------------------------------------------------------------------------
 *
 * keyform.c
 *	  How a surrogate key hashes a column whose type changed: conversions back
 *	  to the type at registration, where they are exact (R13).
 *
 * Exact means: the value's text is that of the registered type's value.  So an
 * integer key that became text still finds 5 in '5', and not in '05'.
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include <math.h>

#include "canonical_int.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "keyform.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

static inline bool
is_integer(CanonKind kind)
{
	return kind == KIND_INT2 || kind == KIND_INT4 || kind == KIND_INT8;
}

static inline bool
is_float(CanonKind kind)
{
	return kind == KIND_FLOAT4 || kind == KIND_FLOAT8;
}

static inline bool
is_text(CanonKind kind)
{
	return kind == KIND_TEXT || kind == KIND_BPCHAR || kind == KIND_NAME ||
		kind == KIND_CSTRING || kind == KIND_ENUM;
}

static inline bool
is_timestamp(CanonKind kind)
{
	return kind == KIND_TIMESTAMP || kind == KIND_TIMESTAMPTZ;
}

static int64
integer_value(CanonKind kind, Datum value)
{
	return kind == KIND_INT2 ? DatumGetInt16(value) :
		kind == KIND_INT4 ? DatumGetInt32(value) : DatumGetInt64(value);
}

static double
float_value(CanonKind kind, Datum value)
{
	return kind == KIND_FLOAT4 ? DatumGetFloat4(value) : DatumGetFloat8(value);
}

/*
 * Is this text that a finite numeric is written as, and within its limits?
 * Trailing zeros are: a numeric(10,2) that became text is '1.50'.
 */
static bool
is_numeric_text(const char *s)
{
	const char *start = s + (*s == '-');
	int			before = strspn(start, "0123456789");
	int			after = 0;

	if (before == 0 || before > 131072 || (start[0] == '0' && before > 1))
		return false;
	if (start[before] == '.')
	{
		after = strspn(start + before + 1, "0123456789");
		if (after == 0 || after > 16383)
			return false;
		after++;
	}
	if (start[before + after] != '\0')
		return false;

	/* there is no minus zero */
	return *s != '-' || strspn(start, "0.") < before + after;
}

/* The numeric that a text stands for, palloc'd. */
static struct varlena *
numeric_from_text(const char *s)
{
	return (struct varlena *)
		DatumGetPointer(DirectFunctionCall3(numeric_in,
											CStringGetDatum(s),
											ObjectIdGetDatum(InvalidOid),
											Int32GetDatum(-1)));
}

/* The text of a float, read as a numeric; or itself: are they that text? */
static bool
float_has_text(Scd2CanonType *type, Datum value, const char *text)
{
	char	   *own = scd2_canon_output(type, value);
	CanonNumeric number;
	StringInfoData canonical;

	if (strcmp(own, text) == 0)
		return true;
	initStringInfo(&canonical);
	scd2_canon_numeric(numeric_from_text(own), &number);
	scd2_canon_numeric_text(&canonical, &number);
	return canonical.len == strlen(text) &&
		memcmp(canonical.data, text, canonical.len) == 0;
}

/* To an integer type.  "text" is the value's canonical text. */
static bool
to_integer(CanonKind to, CanonKind from, Datum value, const char *text,
		   Datum *result)
{
	int64		v;

	if (is_integer(from))
		v = integer_value(from, value);
	else if (is_float(from))
	{
		double		d = float_value(from, value);

		/* 2^63 is the first that does not fit */
		if (isnan(d) || d != rint(d) ||
			d < -9223372036854775808.0 || d >= 9223372036854775808.0)
			return false;
		v = (int64) d;
	}
	else if (from == KIND_NUMERIC || is_text(from))
	{
		CanonNumeric number;

		if (!is_numeric_text(text) || strchr(text, '.') != NULL)
			return false;
		scd2_canon_numeric(numeric_from_text(text), &number);
		if (!scd2_canon_numeric_int64(&number, &v))
			return false;
	}
	else
		return false;

	switch (to)
	{
		case KIND_INT2:
			*result = Int16GetDatum((int16) v);
			return v == (int16) v;
		case KIND_INT4:
			*result = Int32GetDatum((int32) v);
			return v == (int32) v;
		default:
			*result = Int64GetDatum(v);
			return true;
	}
}

/* To numeric. */
static bool
to_numeric(CanonKind from, Datum value, const char *text, Datum *result)
{
	if (is_integer(from))
		*result = NumericGetDatum(int64_to_numeric(integer_value(from, value)));
	else if (is_float(from) || is_numeric_text(text) ||
			 strcmp(text, "NaN") == 0 || strcmp(text, "Infinity") == 0 ||
			 strcmp(text, "-Infinity") == 0)
		*result = PointerGetDatum(numeric_from_text(text));
	else
		return false;
	return true;
}

/* To float4 or float8. */
static bool
to_float(Scd2CanonType *to, CanonKind from, Datum value, const char *text,
		 Datum *result)
{
	double		d;
	char	   *end;

	if (is_float(from))
	{
		d = float_value(from, value);
		if (to->kind == KIND_FLOAT4)
		{
			*result = Float4GetDatum((float4) d);
			return isnan(d) || (double) (float4) d == d;
		}
		*result = Float8GetDatum(d);
		return true;
	}
	if (!is_integer(from) && from != KIND_NUMERIC && !is_text(from))
		return false;

	/* what strtod knows beyond this, PostgreSQL does not write */
	if (text[strspn(text, "0123456789+-.e")] != '\0' &&
		strcmp(text, "NaN") != 0 && strcmp(text, "Infinity") != 0 &&
		strcmp(text, "-Infinity") != 0)
		return false;

	if (to->kind == KIND_FLOAT4)
		*result = Float4GetDatum(strtof(text, &end));
	else
		*result = Float8GetDatum(strtod(text, &end));

	/* too large or too small shows in the float's own text */
	return end != text && *end == '\0' && float_has_text(to, *result, text);
}

/* To bool. */
static bool
to_bool(CanonKind from, Datum value, const char *text, Datum *result)
{
	if (is_integer(from))
	{
		int64		v = integer_value(from, value);

		*result = BoolGetDatum(v == 1);
		return v == 0 || v == 1;
	}
	*result = BoolGetDatum(strcmp(text, "true") == 0);
	return is_text(from) &&
		(strcmp(text, "true") == 0 || strcmp(text, "false") == 0);
}

/* To uuid. */
static bool
to_uuid(CanonKind from, const char *text, Datum *result)
{
	if (!is_text(from) || strlen(text) != 36)
		return false;
	for (int i = 0; i < 36; i++)
	{
		bool		dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : strchr("0123456789abcdef", text[i]) == NULL)
			return false;
	}
	*result = DirectFunctionCall1(uuid_in, CStringGetDatum(text));
	return true;
}

/* Between date, timestamp and timestamptz; the zone is UTC. */
static bool
to_datetime(CanonKind to, CanonKind from, Datum value, Datum *result)
{
	if (is_timestamp(to) && is_timestamp(from))
		*result = value;
	else if (to == KIND_DATE && is_timestamp(from))
	{
		Timestamp	ts = DatumGetTimestamp(value);

		if (TIMESTAMP_IS_NOBEGIN(ts))
			*result = DateADTGetDatum(DATEVAL_NOBEGIN);
		else if (TIMESTAMP_IS_NOEND(ts))
			*result = DateADTGetDatum(DATEVAL_NOEND);
		else if (ts % USECS_PER_DAY != 0)
			return false;
		else
			*result = DateADTGetDatum((DateADT) (ts / USECS_PER_DAY));
	}
	else if (is_timestamp(to) && from == KIND_DATE)
	{
		DateADT		date = DatumGetDateADT(value);
		Timestamp	ts;

		if (DATE_IS_NOBEGIN(date))
			TIMESTAMP_NOBEGIN(ts);
		else if (DATE_IS_NOEND(date))
			TIMESTAMP_NOEND(ts);
		else if (pg_mul_s64_overflow(date, USECS_PER_DAY, &ts) ||
				 !IS_VALID_TIMESTAMP(ts))
			return false;
		*result = TimestampGetDatum(ts);
	}
	else
		return false;
	return true;
}

/* See keyform.h. */
Scd2KeyForm
scd2_key_form(Scd2KeyColumn *column, Datum value, Datum *converted, StringInfo text)
{
	Scd2CanonType *to = column->registered;
	CanonKind	from = column->type->kind;
	bool		held = false;

	/* the text types hash alike; other types differ by more than their kind */
	if (to->typid == column->type->typid || (is_text(to->kind) && is_text(from)))
		return FORM_AS_IS;

	/* the usual change, so without the way through text */
	if (is_integer(to->kind) && is_integer(from))
		return to_integer(to->kind, from, value, NULL, converted) ?
			FORM_REGISTERED : FORM_AS_IS;

	text->len = 0;
	scd2_canon_text(text, column->type, value);
	appendStringInfoChar(text, '\0');
	text->len--;
	if (is_text(to->kind))
		return FORM_TEXT;
	if (strlen(text->data) != text->len)
		return FORM_AS_IS;

	switch (to->kind)
	{
		case KIND_INT2:
		case KIND_INT4:
		case KIND_INT8:
			held = to_integer(to->kind, from, value, text->data, converted);
			break;
		case KIND_NUMERIC:
			held = to_numeric(from, value, text->data, converted);
			break;
		case KIND_FLOAT4:
		case KIND_FLOAT8:
			held = to_float(to, from, value, text->data, converted);
			break;
		case KIND_BOOL:
			held = to_bool(from, value, text->data, converted);
			break;
		case KIND_UUID:
			held = to_uuid(from, text->data, converted);
			break;
		case KIND_DATE:
		case KIND_TIMESTAMP:
		case KIND_TIMESTAMPTZ:
			held = to_datetime(to->kind, from, value, converted);
			break;
		default:
			break;
	}
	return held ? FORM_REGISTERED : FORM_AS_IS;
}
