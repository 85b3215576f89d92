/*-------------------------------------------------------------------------
 *
 * canonical_text.c
 *	  The parts of the canonical encoding that end in text: UTF-8 whatever the
 *	  database's encoding, output functions under pinned settings, numerics
 *	  taken apart, and the canonical text of R13.
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include "access/htup_details.h"
#include "canonical_int.h"
#include "catalog/namespace.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_namespace.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/bytea.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_locale.h"
#include "utils/syscache.h"
#include "utils/uuid.h"

typedef struct EnumLabel
{
	Oid			oid;			/* hash key, must be first */
	NameData	label;
} EnumLabel;

/*
 * What numeric.c says of a numeric on disk.  Its structs are private to it, but
 * pg_upgrade keeps every bit of them, so they cannot change.
 */
#define DIGIT_BASE				10000
#define DIGIT_LENGTH			4
#define HEADER_SHORT			0x8000	/* set in specials, too */
#define HEADER_SIGN_MASK		0xC000
#define HEADER_NEGATIVE			0x4000
#define HEADER_SPECIAL			0xC000
#define HEADER_NAN				0xC000
#define HEADER_INFINITY			0xD000
#define HEADER_EXT_MASK			0xF000
#define SHORT_NEGATIVE			0x2000
#define SHORT_WEIGHT_SIGN		0x0040
#define SHORT_WEIGHT_MASK		0x003F

/*
 * Has text that is not ASCII to be converted?  The bytes of a SQL_ASCII
 * database have no known encoding and are taken as they are.
 */
bool
scd2_canon_needs_conversion(void)
{
	int			encoding = GetDatabaseEncoding();

	return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

/* Are these bytes of the database's encoding what their UTF-8 would be? */
bool
scd2_canon_is_utf8(const char *s, int len)
{
	const char *end = s + len;

	if (!scd2_canon_needs_conversion())
		return true;

	/* every server encoding has ASCII in the bytes below 128 and nothing else */
	for (; end - s >= (ptrdiff_t) sizeof(uint64); s += sizeof(uint64))
	{
		uint64		chunk;

		memcpy(&chunk, s, sizeof(chunk));
		if (chunk & UINT64CONST(0x8080808080808080))
			return false;
	}
	for (; s < end; s++)
	{
		if (IS_HIGHBIT_SET(*s))
			return false;
	}
	return true;
}

/*
 * Append text as UTF-8.  False, and nothing appended, when it holds a character
 * that the conversion does not know.
 *
 * The conversion is the one of pg_catalog: the usual way in would take a user's
 * own when search_path names its schema first.
 */
bool
scd2_canon_put_utf8(StringInfo buf, const char *s, int len)
{
	static Oid	conversion = InvalidOid;
	int			encoding = GetDatabaseEncoding();
	char	   *converted;
	int			done;

	if (scd2_canon_is_utf8(s, len))
	{
		memcpy(canon_reserve(buf, len), s, len);
		return true;
	}

	/* a built-in conversion never goes away, so look once */
	if (!OidIsValid(conversion))
		conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE, encoding, PG_UTF8);
	if (!OidIsValid(conversion))
		return false;

	converted = MemoryContextAllocHuge(CurrentMemoryContext,
									   (Size) len * MAX_CONVERSION_GROWTH + 1);
	done = DatumGetInt32(OidFunctionCall6(conversion,
										  Int32GetDatum(encoding),
										  Int32GetDatum(PG_UTF8),
										  CStringGetDatum(s),
										  CStringGetDatum(converted),
										  Int32GetDatum(len),
										  BoolGetDatum(true)));
	if (done == len)
	{
		Size		converted_len = strlen(converted);

		if (converted_len >= MaxAllocSize)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("text of %d bytes is too long to be hashed in UTF-8",
							len)));
		memcpy(canon_reserve(buf, (int) converted_len), converted, converted_len);
	}
	pfree(converted);
	return done == len;
}

/* Append a framed text value. */
void
scd2_canon_put_text(StringInfo buf, const char *s, int len)
{
	int			start = buf->len;

	if (likely(scd2_canon_is_utf8(s, len)))
	{
		canon_put_tag_bytes(buf, TAG_TEXT, s, len);
		return;
	}

	canon_put_tag_u32(buf, TAG_TEXT, 0);
	if (scd2_canon_put_utf8(buf, s, len))
		canon_store_u32(buf->data + start + 1, buf->len - start - 5);
	else
	{
		buf->len = start;
		canon_put_tag_bytes(buf, TAG_TEXT_UNCONVERTED, s, len);
	}
}

/* Set one setting until the nest level ends. */
static void
pin(const char *name, const char *value)
{
	(void) set_config_option(name, value,
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/*
 * Set what output functions look at, unless it is so already, which is the case
 * inside apply.  Returns the nest level to end, or 0.
 */
static int
pin_settings(CanonSettings settings)
{
	int			nestlevel;

	if (settings == SETTINGS_NONE)
		return 0;

	if (settings == SETTINGS_FLOAT)
	{
		if (extra_float_digits > 0)
			return 0;
		nestlevel = NewGUCNestLevel();
		pin("extra_float_digits", "1");
		return nestlevel;
	}

	/* every positive number of extra_float_digits gives the same output */
	if (DateStyle == USE_ISO_DATES &&
		IntervalStyle == INTSTYLE_POSTGRES &&
		extra_float_digits > 0 &&
		bytea_output == BYTEA_OUTPUT_HEX &&
		strcmp(pg_get_timezone_name(session_timezone), "UTC") == 0 &&
		strcmp(locale_monetary, "C") == 0 &&
		strcmp(namespace_search_path, "pg_catalog, pg_temp") == 0)
		return 0;

	nestlevel = NewGUCNestLevel();
	pin("datestyle", "ISO");
	pin("intervalstyle", "postgres");
	pin("extra_float_digits", "1");
	pin("bytea_output", "hex");
	pin("timezone", "UTC");
	pin("lc_monetary", "C");
	pin("search_path", "pg_catalog, pg_temp");
	return nestlevel;
}

/* The output of a value under pinned settings, palloc'd. */
char *
scd2_canon_output(Scd2CanonType *type, Datum value)
{
	int			nestlevel;
	char	   *result;

	if (!type->output_ready)
	{
		Oid			function;
		bool		isvarlena;

		getTypeOutputInfo(type->typid, &function, &isvarlena);
		fmgr_info_cxt(function, &type->output, type->cxt);
		type->output_ready = true;
	}

	nestlevel = pin_settings(type->settings);
	result = OutputFunctionCall(&type->output, value);
	if (nestlevel > 0)
		AtEOXact_GUC(true, nestlevel);
	return result;
}

/* Append the framed output of a value. */
void
scd2_canon_put_output(StringInfo buf, Scd2CanonType *type, Datum value)
{
	char	   *text = scd2_canon_output(type, value);

	canon_put_u8(buf, TAG_OUTPUT);
	scd2_canon_put_text(buf, text, strlen(text));
	pfree(text);
}

/* The label of an enum's value, looked up once. */
void
scd2_canon_enum_label(Scd2CanonType *type, Datum value,
					  const char **label, int *len)
{
	Oid			oid = DatumGetObjectId(value);
	EnumLabel  *entry;

	if (type->labels == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(EnumLabel);
		ctl.hcxt = type->cxt;
		type->labels = hash_create("scd2 enum labels", 16, &ctl,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}

	entry = hash_search(type->labels, &oid, HASH_FIND, NULL);
	if (entry == NULL)
	{
		HeapTuple	tuple = SearchSysCache1(ENUMOID, ObjectIdGetDatum(oid));

		if (!HeapTupleIsValid(tuple))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("invalid internal value for enum: %u", oid)));
		entry = hash_search(type->labels, &oid, HASH_ENTER, NULL);
		entry->label = ((Form_pg_enum) GETSTRUCT(tuple))->enumlabel;
		ReleaseSysCache(tuple);
	}
	*label = NameStr(entry->label);
	*len = strlen(*label);
}

/* The n'th digit of a numeric. */
static inline int16
numeric_digit(const CanonNumeric *num, int n)
{
	int16		digit;

	memcpy(&digit, num->digits + n * sizeof(int16), sizeof(digit));
	return digit;
}

/* Take a numeric apart; a short varlena header is fine. */
void
scd2_canon_numeric(const struct varlena *num, CanonNumeric *result)
{
	const char *data = VARDATA_ANY(num);
	int			len = VARSIZE_ANY_EXHDR(num);
	uint16		header;

	memcpy(&header, data, sizeof(header));
	data += sizeof(header);
	len -= sizeof(header);

	result->weight = 0;
	result->ndigits = 0;
	result->digits = data;

	if ((header & HEADER_SIGN_MASK) == HEADER_SPECIAL)
	{
		uint16		special = header & HEADER_EXT_MASK;

		result->sign = special == HEADER_NAN ? SIGN_NAN :
			special == HEADER_INFINITY ? SIGN_INFINITY : SIGN_MINUS_INFINITY;
		return;
	}

	if (header & HEADER_SHORT)
	{
		result->sign = (header & SHORT_NEGATIVE) ? SIGN_NEGATIVE : SIGN_POSITIVE;
		result->weight = header & SHORT_WEIGHT_MASK;
		if (header & SHORT_WEIGHT_SIGN)
			result->weight -= SHORT_WEIGHT_MASK + 1;
	}
	else
	{
		int16		weight;

		result->sign = (header & HEADER_NEGATIVE) ? SIGN_NEGATIVE : SIGN_POSITIVE;
		memcpy(&weight, data, sizeof(weight));
		result->weight = weight;
		result->digits += sizeof(weight);
		len -= sizeof(weight);
	}
	result->ndigits = len / (int) sizeof(int16);

	/* numeric.c strips these itself; equality must not hang on it */
	while (result->ndigits > 0 && numeric_digit(result, 0) == 0)
	{
		result->digits += sizeof(int16);
		result->ndigits--;
		result->weight--;
	}
	while (result->ndigits > 0 && numeric_digit(result, result->ndigits - 1) == 0)
		result->ndigits--;
	if (result->ndigits == 0)
	{
		result->sign = SIGN_POSITIVE;
		result->weight = 0;
	}
}

/* Is this an integer within the range of int8? */
bool
scd2_canon_numeric_int64(const CanonNumeric *num, int64 *result)
{
	int64		value = 0;

	if (num->sign > SIGN_NEGATIVE)
		return false;
	if (num->ndigits > num->weight + 1)
	{
		*result = 0;
		return num->ndigits == 0;
	}

	/* summed up below zero, where there is room for one more number */
	for (int i = 0; i <= num->weight && num->ndigits > 0; i++)
	{
		int16		digit = i < num->ndigits ? numeric_digit(num, i) : 0;

		if (pg_mul_s64_overflow(value, DIGIT_BASE, &value) ||
			pg_sub_s64_overflow(value, digit, &value))
			return false;
	}
	if (num->sign == SIGN_POSITIVE)
	{
		if (value == PG_INT64_MIN)
			return false;
		value = -value;
	}
	*result = value;
	return true;
}

/* Append a framed number. */
void
scd2_canon_put_number(StringInfo buf, const struct varlena *num)
{
	CanonNumeric number;
	int64		integer;
	char	   *p;

	scd2_canon_numeric(num, &number);
	if (scd2_canon_numeric_int64(&number, &integer))
	{
		canon_put_tag_u64(buf, TAG_INTEGER, (uint64) integer);
		return;
	}

	p = canon_reserve(buf, 6 + 2 * number.ndigits);
	*p++ = TAG_NUMERIC;
	*p++ = (char) number.sign;
	canon_store_u16(p, (uint16) number.weight);
	canon_store_u16(p + 2, (uint16) number.ndigits);
	p += 4;
	for (int i = 0; i < number.ndigits; i++, p += 2)
		canon_store_u16(p, (uint16) numeric_digit(&number, i));
}

/* Append the four decimal digits of one digit of base 10000. */
static inline void
put_digit(StringInfo buf, int digit)
{
	char	   *p = canon_reserve(buf, DIGIT_LENGTH);

	for (int i = DIGIT_LENGTH - 1; i >= 0; i--)
	{
		p[i] = (char) ('0' + digit % 10);
		digit /= 10;
	}
}

/*
 * Append a numeric's canonical text: no trailing zeros, no exponent, no point
 * when nothing follows it.
 */
void
scd2_canon_numeric_text(StringInfo buf, const CanonNumeric *num)
{
	int			first;
	int			skip;

	switch (num->sign)
	{
		case SIGN_NAN:
			appendStringInfoString(buf, "NaN");
			return;
		case SIGN_INFINITY:
			appendStringInfoString(buf, "Infinity");
			return;
		case SIGN_MINUS_INFINITY:
			appendStringInfoString(buf, "-Infinity");
			return;
		case SIGN_NEGATIVE:
			appendStringInfoChar(buf, '-');
			break;
		case SIGN_POSITIVE:
			break;
	}

	/* before the point */
	first = buf->len;
	for (int i = 0; i <= num->weight && num->ndigits > 0; i++)
		put_digit(buf, i < num->ndigits ? numeric_digit(num, i) : 0);
	for (skip = 0; first + skip < buf->len && buf->data[first + skip] == '0'; skip++)
		 /* leading zeros, three at most */ ;
	if (skip > 0)
	{
		buf->len -= skip;
		memmove(buf->data + first, buf->data + first + skip, buf->len - first);
	}
	if (buf->len == first)
		canon_put_u8(buf, '0');

	/* after it */
	if (num->ndigits > num->weight + 1)
	{
		canon_put_u8(buf, '.');
		for (int i = num->weight + 1; i < num->ndigits; i++)
			put_digit(buf, i < 0 ? 0 : numeric_digit(num, i));
		while (buf->data[buf->len - 1] == '0')
			buf->len--;
	}
}

/* Append text as UTF-8, or as it is where there is no such thing. */
static void
put_utf8_or_raw(StringInfo buf, const char *s, int len)
{
	if (!scd2_canon_put_utf8(buf, s, len))
		memcpy(canon_reserve(buf, len), s, len);
}

static void
put_uuid_text(StringInfo buf, const pg_uuid_t *uuid)
{
	static const char hex[] = "0123456789abcdef";
	char	   *p = canon_reserve(buf, 36);

	for (int i = 0; i < UUID_LEN; i++)
	{
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*p++ = '-';
		*p++ = hex[uuid->data[i] >> 4];
		*p++ = hex[uuid->data[i] & 0x0F];
	}
}

/* See canonical_int.h. */
void
scd2_canon_text(StringInfo buf, Scd2CanonType *type, Datum value)
{
	switch (type->kind)
	{
		case KIND_BOOL:
			/* as the cast to text has it */
			appendStringInfoString(buf, DatumGetBool(value) ? "true" : "false");
			break;

		case KIND_INT2:
			appendStringInfo(buf, "%d", DatumGetInt16(value));
			break;

		case KIND_INT4:
			appendStringInfo(buf, "%d", DatumGetInt32(value));
			break;

		case KIND_INT8:
			appendStringInfo(buf, INT64_FORMAT, DatumGetInt64(value));
			break;

		case KIND_NUMERIC:
			{
				struct varlena *num = PG_DETOAST_DATUM_PACKED(value);
				CanonNumeric number;

				scd2_canon_numeric(num, &number);
				scd2_canon_numeric_text(buf, &number);
				if ((Pointer) num != DatumGetPointer(value))
					pfree(num);
				break;
			}

		case KIND_TEXT:
		case KIND_JSON:
		case KIND_BPCHAR:
			{
				struct varlena *text = PG_DETOAST_DATUM_PACKED(value);
				const char *data = VARDATA_ANY(text);
				int			len = VARSIZE_ANY_EXHDR(text);

				if (type->kind == KIND_BPCHAR)
					len = bpchartruelen(unconstify(char *, data), len);
				put_utf8_or_raw(buf, data, len);
				if ((Pointer) text != DatumGetPointer(value))
					pfree(text);
				break;
			}

		case KIND_NAME:
			put_utf8_or_raw(buf, NameStr(*DatumGetName(value)),
							strnlen(NameStr(*DatumGetName(value)), NAMEDATALEN));
			break;

		case KIND_CSTRING:
			put_utf8_or_raw(buf, DatumGetCString(value),
							strlen(DatumGetCString(value)));
			break;

		case KIND_ENUM:
			{
				const char *label;
				int			len;

				scd2_canon_enum_label(type, value, &label, &len);
				put_utf8_or_raw(buf, label, len);
				break;
			}

		case KIND_CHAR:
			{
				unsigned char c = (unsigned char) DatumGetChar(value);

				/* as from PostgreSQL 16 on; before, the bare byte came out */
				if (IS_HIGHBIT_SET(c))
					appendStringInfo(buf, "\\%03o", c);
				else if (c != '\0')
					appendStringInfoChar(buf, (char) c);
				break;
			}

		case KIND_UUID:
			put_uuid_text(buf, DatumGetUUIDP(value));
			break;

		default:
			{
				char	   *text = scd2_canon_output(type, value);

				put_utf8_or_raw(buf, text, strlen(text));
				pfree(text);
				break;
			}
	}
}
