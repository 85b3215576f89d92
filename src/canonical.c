/*-------------------------------------------------------------------------
 *
 * canonical.c
 *	  The frozen, type-aware encoding of values: which type is encoded how, the
 *	  plain types, and sameness (R12).
 *
 * Values that are equal under the default btree or hash operator class of their
 * type get the same encoding; where a type's equality is looser than that of
 * its bits, the case below says how.  canonical_int.h holds the format.
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include <math.h>
#include <sys/socket.h>

#include "access/detoast.h"
#include "canonical_int.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/itemptr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/cash.h"
#include "utils/date.h"
#include "utils/inet.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "utils/uuid.h"
#include "utils/varbit.h"

/* Fewer bytes than this are cheaper to copy than to hash apart. */
#define LARGE_VALUE		(64 * 1024)

/* A scratch buffer that grew beyond this is given back. */
#define SCRATCH_KEPT	(64 * 1024)

static uint64 generation = 1;	/* 0 is nobody's */
static bool callbacks_registered = false;

static void
catalog_changed(Datum arg, int cacheid, uint32 hashvalue)
{
	generation++;
}

static void
relation_changed(Datum arg, Oid relid)
{
	generation++;
}

/* See canonical.h. */
uint64
scd2_canon_generation(void)
{
	if (!callbacks_registered)
	{
		CacheRegisterSyscacheCallback(TYPEOID, catalog_changed, (Datum) 0);
		CacheRegisterSyscacheCallback(ENUMOID, catalog_changed, (Datum) 0);
		CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
		callbacks_registered = true;
	}
	return generation;
}

/*
 * How a built-in type is encoded.  False: it is not one of those with a way of
 * their own.
 */
static bool
builtin_kind(Oid typid, CanonKind *kind, CanonSettings *settings)
{
	*settings = SETTINGS_ALL;
	switch (typid)
	{
		case BOOLOID:
			*kind = KIND_BOOL;
			return true;
		case INT2OID:
			*kind = KIND_INT2;
			return true;
		case INT4OID:
			*kind = KIND_INT4;
			return true;
		case INT8OID:
			*kind = KIND_INT8;
			return true;
		case NUMERICOID:
			*kind = KIND_NUMERIC;
			return true;
		case FLOAT4OID:
			*kind = KIND_FLOAT4;
			*settings = SETTINGS_FLOAT;
			return true;
		case FLOAT8OID:
			*kind = KIND_FLOAT8;
			*settings = SETTINGS_FLOAT;
			return true;
		case TEXTOID:
		case VARCHAROID:
			*kind = KIND_TEXT;
			return true;
		case BPCHAROID:
			*kind = KIND_BPCHAR;
			return true;
		case NAMEOID:
			*kind = KIND_NAME;
			return true;
		case UNKNOWNOID:
		case CSTRINGOID:
			*kind = KIND_CSTRING;
			return true;
		case CHAROID:
			*kind = KIND_CHAR;
			return true;
		case BYTEAOID:
			*kind = KIND_BYTEA;
			return true;
		case UUIDOID:
			*kind = KIND_UUID;
			return true;
		case DATEOID:
			*kind = KIND_DATE;
			return true;
		case TIMEOID:
			*kind = KIND_TIME;
			return true;
		case TIMETZOID:
			*kind = KIND_TIMETZ;
			return true;
		case TIMESTAMPOID:
			*kind = KIND_TIMESTAMP;
			return true;
		case TIMESTAMPTZOID:
			*kind = KIND_TIMESTAMPTZ;
			return true;
		case INTERVALOID:
			*kind = KIND_INTERVAL;
			return true;
		case MONEYOID:
			*kind = KIND_MONEY;
			return true;
		case OIDOID:
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
			*kind = KIND_OID;
			return true;
		case XIDOID:
			*kind = KIND_XID;
			return true;
		case CIDOID:
			*kind = KIND_CID;
			return true;
		case XID8OID:
			*kind = KIND_XID8;
			return true;
		case TIDOID:
			*kind = KIND_TID;
			return true;
		case PG_LSNOID:
			*kind = KIND_PG_LSN;
			return true;
		case ACLITEMOID:
			*kind = KIND_ACLITEM;
			return true;
		case MACADDROID:
			*kind = KIND_MACADDR;
			return true;
		case MACADDR8OID:
			*kind = KIND_MACADDR8;
			return true;
		case INETOID:
		case CIDROID:
			*kind = KIND_INET;
			return true;
		case BITOID:
		case VARBITOID:
			*kind = KIND_BIT;
			return true;
		case RECORDOID:
			*kind = KIND_RECORD;
			return true;
		case ANYARRAYOID:
			*kind = KIND_ARRAY;
			return true;
		case JSONBOID:
			*kind = KIND_JSONB;
			return true;
		case TSVECTOROID:
			*kind = KIND_TSVECTOR;
			return true;
		case TSQUERYOID:
			*kind = KIND_TSQUERY;
			return true;
		case JSONOID:
			*kind = KIND_JSON;
			return true;
		case XMLOID:
		case JSONPATHOID:
		case PG_SNAPSHOTOID:
		case TXID_SNAPSHOTOID:
		case REFCURSOROID:
			*kind = KIND_OUTPUT;
			*settings = SETTINGS_NONE;
			return true;
		case POINTOID:
		case LINEOID:
		case LSEGOID:
		case BOXOID:
		case PATHOID:
		case POLYGONOID:
		case CIRCLEOID:
			*kind = KIND_OUTPUT;
			*settings = SETTINGS_FLOAT;
			return true;
		default:
			return false;
	}
}

/* See canonical.h. */
Scd2CanonType *
scd2_canon_type(Oid typid, MemoryContext cxt)
{
	MemoryContext oldcxt;
	Scd2CanonType *type;

	check_stack_depth();

	oldcxt = MemoryContextSwitchTo(cxt);
	type = palloc0(sizeof(Scd2CanonType));
	type->typid = getBaseType(typid);
	type->cxt = cxt;
	get_typlenbyvalalign(type->typid, &type->typlen, &type->typbyval,
						 &type->typalign);

	if (builtin_kind(type->typid, &type->kind, &type->settings))
		 /* done */ ;
	else if (type->typid == OIDVECTOROID || type->typid == INT2VECTOROID)
	{
		/* equal as arrays are, though not seen as arrays by the catalogs */
		type->kind = KIND_ARRAY;
		type->element = scd2_canon_type(type->typid == OIDVECTOROID ? OIDOID : INT2OID,
										cxt);
	}
	else if (OidIsValid(get_element_type(type->typid)))
	{
		type->kind = KIND_ARRAY;
		type->element = scd2_canon_type(get_element_type(type->typid), cxt);
	}
	else
	{
		switch (get_typtype(type->typid))
		{
			case TYPTYPE_ENUM:
				type->kind = KIND_ENUM;
				break;
			case TYPTYPE_COMPOSITE:
				type->kind = KIND_RECORD;
				break;
			case TYPTYPE_RANGE:
				type->kind = KIND_RANGE;
				type->range = lookup_type_cache(type->typid,
												TYPECACHE_RANGE_INFO);
				break;
			case TYPTYPE_MULTIRANGE:
				type->kind = KIND_MULTIRANGE;
				type->range = lookup_type_cache(type->typid,
												TYPECACHE_MULTIRANGE_INFO)->rngtype;
				break;
			default:
				type->kind = KIND_OUTPUT;
				break;
		}
		if (type->range != NULL)
			type->element = scd2_canon_type(type->range->rngelemtype->type_id, cxt);
	}

	MemoryContextSwitchTo(oldcxt);
	return type;
}

/*
 * The bits of a float8 that stand for all that are equal to it.  float4 goes the
 * same way: the two compare with each other in one operator family.
 */
static inline uint64
float_bits(double v)
{
	uint64		bits;

	if (isnan(v))
		return UINT64CONST(0x7FF8000000000000);
	if (v == 0.0)
		return 0;
	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* A month is 30 days and a day 24 hours to interval's operators, so to us. */
static void
put_interval(StringInfo buf, const Interval *v)
{
	int64		days = (int64) v->month * DAYS_PER_MONTH + v->day +
		v->time / USECS_PER_DAY;
	int64		rest = v->time % USECS_PER_DAY;
	char	   *p = canon_reserve(buf, 17);

	if (rest < 0)
	{
		rest += USECS_PER_DAY;
		days--;
	}
	p[0] = TAG_INTERVAL;
	canon_store_u64(p + 1, (uint64) days);
	canon_store_u64(p + 9, (uint64) rest);
}

/*
 * inet and cidr are equal when family, netmask length and all bits of the
 * address are; whether it is a cidr does not count.
 */
static void
put_inet(StringInfo buf, Datum value)
{
	inet	   *address = DatumGetInetPP(value);
	int			size = ip_addrsize(address);
	char	   *p = canon_reserve(buf, 3 + size);

	p[0] = TAG_INET;
	p[1] = ip_family(address) == PGSQL_AF_INET ? 4 : 6;
	p[2] = (char) ip_bits(address);
	memcpy(p + 3, ip_addr(address), size);
	if ((Pointer) address != DatumGetPointer(value))
		pfree(address);
}

static void
put_bit(StringInfo buf, Datum value)
{
	VarBit	   *bits = DatumGetVarBitP(value);

	/* the bits that fill up the last byte are always zero */
	canon_put_tag_u32(buf, TAG_BIT, (uint32) VARBITLEN(bits));
	memcpy(canon_reserve(buf, VARBITBYTES(bits)), VARBITS(bits),
		   VARBITBYTES(bits));
	if ((Pointer) bits != DatumGetPointer(value))
		pfree(bits);
}

static void
put_aclitem(StringInfo buf, const AclItem *item)
{
	char	   *p = canon_reserve(buf, 17);

	p[0] = TAG_ACLITEM;
	canon_store_u32(p + 1, item->ai_grantee);
	canon_store_u32(p + 5, item->ai_grantor);
	/* taken apart because PostgreSQL 16 made room for more of each */
	canon_store_u32(p + 9, (uint32) ACLITEM_GET_PRIVS(*item));
	canon_store_u32(p + 13, (uint32) ACLITEM_GET_GOPTIONS(*item));
}

static void
put_fixed(StringInfo buf, CanonTag tag, const void *data, int len)
{
	char	   *p = canon_reserve(buf, 1 + len);

	p[0] = (char) tag;
	memcpy(p + 1, data, len);
}

/*
 * A varlena of plain bytes.  With "data" not NULL, a large one is left to the
 * caller, as scd2_canon_append_large says.
 */
static void
put_varlena(StringInfo buf, CanonKind kind, Datum value,
			const char **data, Size *datalen)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	const char *bytes = VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);

	if (kind == KIND_JSON)
		canon_put_u8(buf, TAG_OUTPUT);

	/* trailing blanks of char(n) mean nothing */
	if (kind == KIND_BPCHAR)
		len = bpchartruelen(unconstify(char *, bytes), len);

	if (data != NULL && len >= LARGE_VALUE &&
		(kind == KIND_BYTEA || scd2_canon_is_utf8(bytes, len)))
	{
		canon_put_tag_u32(buf, kind == KIND_BYTEA ? TAG_BYTEA : TAG_TEXT,
						  (uint32) len);
		*data = bytes;
		*datalen = len;
		return;
	}

	if (kind == KIND_BYTEA)
		canon_put_tag_bytes(buf, TAG_BYTEA, bytes, len);
	else
		scd2_canon_put_text(buf, bytes, len);

	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
}

/* See canonical.h. */
void
scd2_canon_append(StringInfo buf, Scd2CanonType *type, Datum value, bool isnull)
{
	if (isnull)
	{
		canon_put_u8(buf, TAG_NULL);
		return;
	}

	switch (type->kind)
	{
		case KIND_BOOL:
			canon_put_u8(buf, DatumGetBool(value) ? TAG_TRUE : TAG_FALSE);
			break;

		case KIND_INT2:
			canon_put_tag_u64(buf, TAG_INTEGER, (uint64) (int64) DatumGetInt16(value));
			break;

		case KIND_INT4:
			canon_put_tag_u64(buf, TAG_INTEGER, (uint64) (int64) DatumGetInt32(value));
			break;

		case KIND_INT8:
			canon_put_tag_u64(buf, TAG_INTEGER, (uint64) DatumGetInt64(value));
			break;

		case KIND_NUMERIC:
			{
				struct varlena *num = PG_DETOAST_DATUM_PACKED(value);

				scd2_canon_put_number(buf, num);
				if ((Pointer) num != DatumGetPointer(value))
					pfree(num);
				break;
			}

		case KIND_FLOAT4:
			canon_put_tag_u64(buf, TAG_FLOAT, float_bits(DatumGetFloat4(value)));
			break;

		case KIND_FLOAT8:
			canon_put_tag_u64(buf, TAG_FLOAT, float_bits(DatumGetFloat8(value)));
			break;

		case KIND_TEXT:
		case KIND_BPCHAR:
		case KIND_BYTEA:
		case KIND_JSON:
			put_varlena(buf, type->kind, value, NULL, NULL);
			break;

		case KIND_NAME:
			scd2_canon_put_text(buf, NameStr(*DatumGetName(value)),
								strnlen(NameStr(*DatumGetName(value)), NAMEDATALEN));
			break;

		case KIND_CSTRING:
			scd2_canon_put_text(buf, DatumGetCString(value),
								strlen(DatumGetCString(value)));
			break;

		case KIND_ENUM:
			{
				const char *label;
				int			len;

				scd2_canon_enum_label(type, value, &label, &len);
				scd2_canon_put_text(buf, label, len);
				break;
			}

		case KIND_CHAR:
			{
				char	   *p = canon_reserve(buf, 2);

				p[0] = TAG_CHAR;
				p[1] = DatumGetChar(value);
				break;
			}

		case KIND_UUID:
			put_fixed(buf, TAG_UUID, DatumGetUUIDP(value)->data, UUID_LEN);
			break;

		case KIND_DATE:
			canon_put_tag_u32(buf, TAG_DATE, (uint32) DatumGetDateADT(value));
			break;

		case KIND_TIME:
			canon_put_tag_u64(buf, TAG_TIME, (uint64) DatumGetTimeADT(value));
			break;

		case KIND_TIMETZ:
			/* one instant in two zones is two values to timetz */
			canon_put_tag_u64(buf, TAG_TIMETZ,
							  (uint64) DatumGetTimeTzADTP(value)->time);
			canon_put_u32(buf, (uint32) DatumGetTimeTzADTP(value)->zone);
			break;

		case KIND_TIMESTAMP:
			canon_put_tag_u64(buf, TAG_TIMESTAMP,
							  (uint64) DatumGetTimestamp(value));
			break;

		case KIND_TIMESTAMPTZ:
			canon_put_tag_u64(buf, TAG_TIMESTAMPTZ,
							  (uint64) DatumGetTimestampTz(value));
			break;

		case KIND_INTERVAL:
			put_interval(buf, DatumGetIntervalP(value));
			break;

		case KIND_MONEY:
			canon_put_tag_u64(buf, TAG_MONEY, (uint64) DatumGetCash(value));
			break;

		case KIND_OID:
			canon_put_tag_u32(buf, TAG_OID, DatumGetObjectId(value));
			break;

		case KIND_XID:
			canon_put_tag_u32(buf, TAG_XID, DatumGetTransactionId(value));
			break;

		case KIND_CID:
			canon_put_tag_u32(buf, TAG_CID, DatumGetCommandId(value));
			break;

		case KIND_XID8:
			canon_put_tag_u64(buf, TAG_XID8, DatumGetUInt64(value));
			break;

		case KIND_TID:
			{
				ItemPointer tid = (ItemPointer) DatumGetPointer(value);

				canon_put_tag_u32(buf, TAG_TID,
								  ItemPointerGetBlockNumberNoCheck(tid));
				canon_put_u16(buf, ItemPointerGetOffsetNumberNoCheck(tid));
				break;
			}

		case KIND_PG_LSN:
			canon_put_tag_u64(buf, TAG_PG_LSN, DatumGetLSN(value));
			break;

		case KIND_ACLITEM:
			put_aclitem(buf, DatumGetAclItemP(value));
			break;

		case KIND_MACADDR:
			put_fixed(buf, TAG_MACADDR, DatumGetPointer(value), 6);
			break;

		case KIND_MACADDR8:
			put_fixed(buf, TAG_MACADDR8, DatumGetPointer(value), 8);
			break;

		case KIND_INET:
			put_inet(buf, value);
			break;

		case KIND_BIT:
			put_bit(buf, value);
			break;

		case KIND_ARRAY:
			scd2_canon_put_array(buf, type, value);
			break;

		case KIND_RECORD:
			check_stack_depth();
			scd2_canon_put_record(buf, type, value);
			break;

		case KIND_RANGE:
			scd2_canon_put_range(buf, type, value);
			break;

		case KIND_MULTIRANGE:
			scd2_canon_put_multirange(buf, type, value);
			break;

		case KIND_JSONB:
			scd2_canon_put_jsonb(buf, value);
			break;

		case KIND_TSVECTOR:
			scd2_canon_put_tsvector(buf, value);
			break;

		case KIND_TSQUERY:
			scd2_canon_put_tsquery(buf, value);
			break;

		case KIND_OUTPUT:
			scd2_canon_put_output(buf, type, value);
			break;
	}
}

/* See canonical.h. */
void
scd2_canon_append_large(StringInfo buf, Scd2CanonType *type,
						Datum value, bool isnull,
						const char **data, Size *len)
{
	*len = 0;
	if (!isnull &&
		(type->kind == KIND_TEXT || type->kind == KIND_BPCHAR ||
		 type->kind == KIND_BYTEA || type->kind == KIND_JSON))
		put_varlena(buf, type->kind, value, data, len);
	else
		scd2_canon_append(buf, type, value, isnull);
}

/* Are the bits of two values of a type equal, as they lie there? */
static inline bool
same_image(Scd2CanonType *type, Datum a, Datum b)
{
	Pointer		pa;
	Pointer		pb;
	Size		size;

	if (type->typbyval || DatumGetPointer(a) == DatumGetPointer(b))
		return a == b;

	pa = DatumGetPointer(a);
	pb = DatumGetPointer(b);
	if (type->typlen > 0)
		return memcmp(pa, pb, type->typlen) == 0;
	if (type->typlen == -2)
		return strcmp(pa, pb) == 0;

	/* an equal pointer into a TOAST table leads to equal values */
	size = VARSIZE_ANY(pa);
	return size == VARSIZE_ANY(pb) && memcmp(pa, pb, size) == 0;
}

/* Sameness of text and bytea: that of the bytes, known without a collation. */
static bool
same_bytes(CanonKind kind, Datum a, Datum b)
{
	struct varlena *va;
	struct varlena *vb;
	int			len_a;
	int			len_b;
	bool		result;

	/* values in a TOAST table tell their length without being fetched */
	if (kind != KIND_BPCHAR &&
		toast_raw_datum_size(a) != toast_raw_datum_size(b))
		return false;

	va = PG_DETOAST_DATUM_PACKED(a);
	vb = PG_DETOAST_DATUM_PACKED(b);
	len_a = VARSIZE_ANY_EXHDR(va);
	len_b = VARSIZE_ANY_EXHDR(vb);
	if (kind == KIND_BPCHAR)
	{
		len_a = bpchartruelen(VARDATA_ANY(va), len_a);
		len_b = bpchartruelen(VARDATA_ANY(vb), len_b);
	}
	result = len_a == len_b &&
		memcmp(VARDATA_ANY(va), VARDATA_ANY(vb), len_a) == 0;

	if ((Pointer) va != DatumGetPointer(a))
		pfree(va);
	if ((Pointer) vb != DatumGetPointer(b))
		pfree(vb);
	return result;
}

static bool
same_numeric(Datum a, Datum b)
{
	struct varlena *va = PG_DETOAST_DATUM_PACKED(a);
	struct varlena *vb = PG_DETOAST_DATUM_PACKED(b);
	CanonNumeric na;
	CanonNumeric nb;
	bool		result;

	scd2_canon_numeric(va, &na);
	scd2_canon_numeric(vb, &nb);
	result = na.sign == nb.sign && na.weight == nb.weight &&
		na.ndigits == nb.ndigits &&
		memcmp(na.digits, nb.digits, na.ndigits * sizeof(int16)) == 0;

	if ((Pointer) va != DatumGetPointer(a))
		pfree(va);
	if ((Pointer) vb != DatumGetPointer(b))
		pfree(vb);
	return result;
}

/* Encode a value into one of the type's two buffers. */
static StringInfo
encode_scratch(Scd2CanonType *type, int which, Datum value)
{
	StringInfo	buf = &type->scratch[which];

	if (buf->data != NULL && buf->maxlen > SCRATCH_KEPT)
	{
		pfree(buf->data);
		buf->data = NULL;
	}
	if (buf->data == NULL)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(type->cxt);

		initStringInfo(buf);
		MemoryContextSwitchTo(oldcxt);
	}
	buf->len = 0;
	scd2_canon_append(buf, type, value, false);
	return buf;
}

/* See canonical.h. */
bool
scd2_canon_same(Scd2CanonType *type,
				Datum a, bool a_isnull,
				Datum b, bool b_isnull)
{
	StringInfo	ea;
	StringInfo	eb;

	if (a_isnull || b_isnull)
		return a_isnull && b_isnull;
	if (same_image(type, a, b))
		return true;

	/* some types have no two images of one value, others can be told at sight */
	switch (type->kind)
	{
		case KIND_BOOL:
			return DatumGetBool(a) == DatumGetBool(b);

		case KIND_INT2:
			return DatumGetInt16(a) == DatumGetInt16(b);

		case KIND_INT4:
		case KIND_DATE:
			return DatumGetInt32(a) == DatumGetInt32(b);

		case KIND_INT8:
		case KIND_TIME:
		case KIND_TIMESTAMP:
		case KIND_TIMESTAMPTZ:
		case KIND_MONEY:
			return DatumGetInt64(a) == DatumGetInt64(b);

		case KIND_FLOAT4:
			return float_bits(DatumGetFloat4(a)) == float_bits(DatumGetFloat4(b));

		case KIND_FLOAT8:
			return float_bits(DatumGetFloat8(a)) == float_bits(DatumGetFloat8(b));

		case KIND_NUMERIC:
			return same_numeric(a, b);

		case KIND_TEXT:
		case KIND_BPCHAR:
		case KIND_JSON:
			/* some encodings have two codes for one character of UTF-8 */
			if (scd2_canon_needs_conversion())
				break;
			return same_bytes(type->kind, a, b);

		case KIND_BYTEA:
			return same_bytes(type->kind, a, b);

		case KIND_UUID:
		case KIND_MACADDR:
		case KIND_MACADDR8:
			return false;

		default:
			break;
	}

	ea = encode_scratch(type, 0, a);
	eb = encode_scratch(type, 1, b);
	return ea->len == eb->len && memcmp(ea->data, eb->data, ea->len) == 0;
}
