/*-------------------------------------------------------------------------
 *
 * canonical_int.h
 *	  What the files of the canonical encoding share with each other, and with
 *	  nobody else but hash.c: how a type is encoded, the tags, the writers.
 *
 * THE FORMAT IS FROZEN (R14).  Row hashes and uuid keys that users have stored
 * are hashes over it: a tag never changes its number or what follows it.
 *
 * A value is one tag byte and what the tag says follows, so that a sequence of
 * values reads back one way only.  Numbers are little-endian.  "bytes" is a
 * uint32 length and that many bytes; "value" is a whole tagged value.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CANONICAL_INT_H
#define SCD2_CANONICAL_INT_H

#include "canonical.h"
#include "fmgr.h"
#include "port/pg_bswap.h"

typedef enum CanonTag
{
	TAG_NULL = 0,				/* nothing follows */
	TAG_FALSE = 1,				/* nothing */
	TAG_TRUE = 2,				/* nothing */
	TAG_INTEGER = 3,			/* int64: every integer, integral numeric in range */
	TAG_NUMERIC = 4,			/* CanonSign byte, int16 weight, uint16 n, n times
								 * uint16: digits of base 10000, none at either
								 * end zero */
	TAG_FLOAT = 5,				/* the bits of a float8; one NaN, no minus zero */
	TAG_TEXT = 6,				/* bytes: UTF-8; text, varchar, char(n), name, enum */
	TAG_TEXT_UNCONVERTED = 7,	/* bytes: text that UTF-8 has no code for, as it is */
	TAG_CHAR = 8,				/* byte: the type "char" */
	TAG_BYTEA = 9,				/* bytes */
	TAG_UUID = 10,				/* 16 bytes */
	TAG_DATE = 11,				/* int32: days since 2000; ends are infinities */
	TAG_TIME = 12,				/* int64: microseconds since midnight */
	TAG_TIMETZ = 13,			/* int64 as TAG_TIME, int32 seconds west of UTC */
	TAG_TIMESTAMP = 14,			/* int64: microseconds since 2000 */
	TAG_TIMESTAMPTZ = 15,		/* int64: the same, in UTC */
	TAG_INTERVAL = 16,			/* int64 days, a month being 30; int64 microseconds,
								 * within 0 and a day */
	TAG_MONEY = 17,				/* int64 */
	TAG_OID = 18,				/* uint32: oid and the reg* types */
	TAG_XID = 19,				/* uint32 */
	TAG_CID = 20,				/* uint32 */
	TAG_XID8 = 21,				/* uint64 */
	TAG_TID = 22,				/* uint32 block, uint16 offset */
	TAG_PG_LSN = 23,			/* uint64 */
	TAG_ACLITEM = 24,			/* uint32 grantee, grantor, privileges, grant options */
	TAG_MACADDR = 25,			/* 6 bytes */
	TAG_MACADDR8 = 26,			/* 8 bytes */
	TAG_INET = 27,				/* byte 4 or 6, byte bits, 4 or 16 bytes; cidr too */
	TAG_BIT = 28,				/* uint32 bits, the bytes they fill; bit and varbit */
	TAG_ARRAY = 29,				/* byte dimensions, for each int32 length and int32
								 * lower bound, the elements' values */
	TAG_RECORD = 30,			/* uint32 columns, their values */
	TAG_RANGE = 31,				/* CanonRange byte, value of each finite bound */
	TAG_MULTIRANGE = 32,		/* uint32 ranges, each as after TAG_RANGE */
	TAG_JSONB = 33,				/* one item: a value (TAG_NULL, FALSE, TRUE, INTEGER,
								 * NUMERIC, TEXT, TEXT_UNCONVERTED), TAG_JSONB_ARRAY
								 * or TAG_JSONB_OBJECT */
	TAG_JSONB_ARRAY = 34,		/* uint32 items, the items */
	TAG_JSONB_OBJECT = 35,		/* uint32 pairs, each the key's value and an item;
								 * shorter keys first, then by bytes */
	TAG_TSVECTOR = 36,			/* uint32 lexemes by bytes, each a text value, uint32
								 * positions, each uint16 position and byte weight */
	TAG_TSQUERY = 37,			/* uint32 items, each an operand (byte 0, a text
								 * value) or an operator (its byte; phrase: int16
								 * distance) */
	TAG_OUTPUT = 38				/* a text value: the type's output */
} CanonTag;

typedef enum CanonSign
{
	SIGN_POSITIVE = 0,
	SIGN_NEGATIVE = 1,
	SIGN_NAN = 2,
	SIGN_INFINITY = 3,
	SIGN_MINUS_INFINITY = 4
} CanonSign;

/* Bits of the byte that begins a range. */
#define CANON_RANGE_EMPTY		0x01
#define CANON_RANGE_LOWER_INC	0x02
#define CANON_RANGE_UPPER_INC	0x04
#define CANON_RANGE_LOWER_INF	0x08
#define CANON_RANGE_UPPER_INF	0x10

/* How a value is read; several kinds may write one tag. */
typedef enum CanonKind
{
	KIND_BOOL,
	KIND_INT2,
	KIND_INT4,
	KIND_INT8,
	KIND_NUMERIC,
	KIND_FLOAT4,
	KIND_FLOAT8,
	KIND_TEXT,
	KIND_BPCHAR,
	KIND_NAME,
	KIND_CSTRING,
	KIND_ENUM,
	KIND_CHAR,
	KIND_BYTEA,
	KIND_UUID,
	KIND_DATE,
	KIND_TIME,
	KIND_TIMETZ,
	KIND_TIMESTAMP,
	KIND_TIMESTAMPTZ,
	KIND_INTERVAL,
	KIND_MONEY,
	KIND_OID,
	KIND_XID,
	KIND_CID,
	KIND_XID8,
	KIND_TID,
	KIND_PG_LSN,
	KIND_ACLITEM,
	KIND_MACADDR,
	KIND_MACADDR8,
	KIND_INET,
	KIND_BIT,
	KIND_ARRAY,
	KIND_RECORD,
	KIND_RANGE,
	KIND_MULTIRANGE,
	KIND_JSONB,
	KIND_TSVECTOR,
	KIND_TSQUERY,
	KIND_JSON,					/* output is the stored text itself */
	KIND_OUTPUT
} CanonKind;

/* The settings that a type's output function may look at. */
typedef enum CanonSettings
{
	SETTINGS_NONE,
	SETTINGS_FLOAT,				/* extra_float_digits only */
	SETTINGS_ALL				/* unknown: all of them */
} CanonSettings;

typedef struct CanonRecord CanonRecord;

struct Scd2CanonType
{
	CanonKind	kind;
	Oid			typid;			/* never a domain */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	MemoryContext cxt;			/* where all this lives */

	/* arrays: of the elements; ranges and multiranges: of the bounds */
	Scd2CanonType *element;

	/* ranges and multiranges: the range type's entry in the type cache */
	struct TypeCacheEntry *range;

	/* composites: the row type last seen */
	CanonRecord *record;

	/* enums: labels seen, by OID */
	struct HTAB *labels;

	/* output function and what it depends on */
	FmgrInfo	output;
	bool		output_ready;
	CanonSettings settings;

	/* scd2_canon_same's buffers; data is NULL until needed */
	StringInfoData scratch[2];
};

/* A numeric taken apart, in place. */
typedef struct CanonNumeric
{
	CanonSign	sign;
	int			weight;			/* of the first digit, in powers of 10000 */
	int			ndigits;		/* none at either end is zero; 0 for zero */
	const char *digits;			/* int16 each, not aligned */
} CanonNumeric;

/* canonical_text.c */
extern bool scd2_canon_needs_conversion(void);
extern bool scd2_canon_is_utf8(const char *s, int len);
extern bool scd2_canon_put_utf8(StringInfo buf, const char *s, int len);
extern void scd2_canon_put_text(StringInfo buf, const char *s, int len);
extern void scd2_canon_put_output(StringInfo buf, Scd2CanonType *type, Datum value);
extern char *scd2_canon_output(Scd2CanonType *type, Datum value);
extern void scd2_canon_enum_label(Scd2CanonType *type, Datum value,
								  const char **label, int *len);
extern void scd2_canon_numeric(const struct varlena *num, CanonNumeric *result);
extern bool scd2_canon_numeric_int64(const CanonNumeric *num, int64 *result);
extern void scd2_canon_put_number(StringInfo buf, const struct varlena *num);
extern void scd2_canon_numeric_text(StringInfo buf, const CanonNumeric *num);

/*
 * Append a value's canonical text (R13) in UTF-8, unframed.
 */
extern void scd2_canon_text(StringInfo buf, Scd2CanonType *type, Datum value);

/* canonical_nested.c */
extern void scd2_canon_put_array(StringInfo buf, Scd2CanonType *type, Datum value);
extern void scd2_canon_put_record(StringInfo buf, Scd2CanonType *type, Datum value);
extern void scd2_canon_put_range(StringInfo buf, Scd2CanonType *type, Datum value);
extern void scd2_canon_put_multirange(StringInfo buf, Scd2CanonType *type, Datum value);
extern void scd2_canon_put_jsonb(StringInfo buf, Datum value);
extern void scd2_canon_put_tsvector(StringInfo buf, Datum value);
extern void scd2_canon_put_tsquery(StringInfo buf, Datum value);

/*
 * Make room for "n" more bytes and return where they go.  Unlike stringinfo's
 * own functions these leave no zero byte behind the data: nobody reads an
 * encoding as a C string.
 */
static inline char *
canon_reserve(StringInfo buf, int n)
{
	char	   *result;

	if (unlikely(n >= buf->maxlen - buf->len))
		enlargeStringInfo(buf, n);
	result = buf->data + buf->len;
	buf->len += n;
	return result;
}

static inline void
canon_store_u16(char *p, uint16 v)
{
#ifdef WORDS_BIGENDIAN
	v = pg_bswap16(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline void
canon_store_u32(char *p, uint32 v)
{
#ifdef WORDS_BIGENDIAN
	v = pg_bswap32(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline void
canon_store_u64(char *p, uint64 v)
{
#ifdef WORDS_BIGENDIAN
	v = pg_bswap64(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline void
canon_put_u8(StringInfo buf, uint8 v)
{
	*canon_reserve(buf, 1) = (char) v;
}

static inline void
canon_put_u16(StringInfo buf, uint16 v)
{
	canon_store_u16(canon_reserve(buf, 2), v);
}

static inline void
canon_put_u32(StringInfo buf, uint32 v)
{
	canon_store_u32(canon_reserve(buf, 4), v);
}

static inline void
canon_put_u64(StringInfo buf, uint64 v)
{
	canon_store_u64(canon_reserve(buf, 8), v);
}

/* A tag and a fixed number of bytes, in one go. */
static inline void
canon_put_tag_u32(StringInfo buf, CanonTag tag, uint32 v)
{
	char	   *p = canon_reserve(buf, 5);

	p[0] = (char) tag;
	canon_store_u32(p + 1, v);
}

static inline void
canon_put_tag_u64(StringInfo buf, CanonTag tag, uint64 v)
{
	char	   *p = canon_reserve(buf, 9);

	p[0] = (char) tag;
	canon_store_u64(p + 1, v);
}

/* A tag, the length, the bytes. */
static inline void
canon_put_tag_bytes(StringInfo buf, CanonTag tag, const char *s, int len)
{
	canon_put_tag_u32(buf, tag, (uint32) len);
	memcpy(canon_reserve(buf, len), s, len);
}

#endif							/* SCD2_CANONICAL_INT_H */
