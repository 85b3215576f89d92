/*-------------------------------------------------------------------------
 *
 * hash.c
 *	  Row hashes and surrogate keys (R12, R13), for C and as SQL functions.
 *
 * A row hash is XXH3-128 over the row's canonical encoding.  A bigint surrogate
 * key is Apache Spark's xxhash64: XXH64 of each column that is not null, seeded
 * with the one before it.  Spark's own code reads integers as little-endian
 * bytes and is plain XXH64 then, so the library's function serves.
 *
 * Results are stored by users and never change (R14).
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include <math.h>
#include <xxhash.h>

#include "canonical_int.h"
#include "catalog/pg_type.h"
#include "hash.h"
#include "keyform.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Where Spark's xxhash64 begins. */
#define SPARK_SEED		42

/* What Spark counts from 1970, PostgreSQL counts from 2000. */
#define EPOCH_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* Rows whose encoding grows beyond this are hashed piece by piece. */
#define FLUSH_AT		(1024 * 1024)

struct Scd2RowHasher
{
	int			ncols;
	Scd2CanonType **columns;
	MemoryContext cxt;
	MemoryContext scratch;		/* reset for each row */
	StringInfoData buf;
	XXH3_state_t *state;		/* NULL until a row is large */
	MemoryContextCallback free_state;
};

struct Scd2KeyHasher
{
	int			ncols;
	Scd2KeyColumn  *columns;
	MemoryContext scratch;		/* reset for each key */
	StringInfoData buf;
	StringInfoData text;
};

/* What a call of surrogate_key_as or surrogate_uuid_as keeps. */
typedef struct KeyCallSite
{
	MemoryContext cxt;
	uint64		generation;
	Oid			registered[FUNC_MAX_ARGS];
	Scd2KeyHasher *hasher;
} KeyCallSite;

/* What a call of same keeps. */
typedef struct SameCallSite
{
	MemoryContext cxt;
	uint64		generation;
	Scd2CanonType *type;
} SameCallSite;

/* What a call of one of the SQL functions keeps from row to row. */
typedef struct CallSite
{
	MemoryContext cxt;
	uint64		generation;		/* of the catalogs, when types were looked up */
	bool		is_array;		/* called with VARIADIC array */
	Oid			element;		/* is_array: of it */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			capacity;		/* is_array: columns the hasher is ready for */
	void	   *hasher;
} CallSite;

PG_FUNCTION_INFO_V1(scd2_row_hash);
PG_FUNCTION_INFO_V1(scd2_surrogate_key);
PG_FUNCTION_INFO_V1(scd2_surrogate_key_as);
PG_FUNCTION_INFO_V1(scd2_surrogate_uuid_as);
PG_FUNCTION_INFO_V1(scd2_same);

/*
 * Resolve a list of types; neighbours of one type share.
 */
static Scd2CanonType **
resolve_types(int ncols, const Oid *types, MemoryContext cxt)
{
	Scd2CanonType **result;

	result = MemoryContextAlloc(cxt, sizeof(Scd2CanonType *) * Max(ncols, 1));
	for (int i = 0; i < ncols; i++)
	{
		if (i > 0 && types[i] == types[i - 1])
			result[i] = result[i - 1];
		else
			result[i] = scd2_canon_type(types[i], cxt);
	}
	return result;
}

/* ------------------------------------------------------------------------
 * Row hashes
 * ------------------------------------------------------------------------
 */

static void
free_state(void *arg)
{
	XXH3_freeState((XXH3_state_t *) arg);
}

/* See hash.h. */
Scd2RowHasher *
scd2_row_hasher(int ncols, const Oid *types, MemoryContext cxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2RowHasher *hasher = palloc0(sizeof(Scd2RowHasher));

	hasher->ncols = ncols;
	hasher->columns = resolve_types(ncols, types, cxt);
	hasher->cxt = cxt;
	hasher->scratch = AllocSetContextCreate(cxt, "scd2 row hash",
											ALLOCSET_DEFAULT_SIZES);
	initStringInfo(&hasher->buf);
	MemoryContextSwitchTo(oldcxt);
	return hasher;
}

/* Begin to hash piece by piece. */
static void
start_stream(Scd2RowHasher *hasher, uint64 seed)
{
	if (hasher->state == NULL)
	{
		hasher->state = XXH3_createState();
		if (hasher->state == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
		/* the library allocates by malloc: free it with the hasher */
		hasher->free_state.func = free_state;
		hasher->free_state.arg = hasher->state;
		MemoryContextRegisterResetCallback(hasher->cxt, &hasher->free_state);
	}
	XXH3_128bits_reset_withSeed(hasher->state, seed);
}

/* Make a hasher's buffer empty, and small when it had grown. */
static void
empty_buffer(StringInfo buf, MemoryContext cxt)
{
	if (unlikely(buf->maxlen > FLUSH_AT * 2))
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(cxt);

		pfree(buf->data);
		initStringInfo(buf);
		MemoryContextSwitchTo(oldcxt);
	}
	buf->len = 0;
}

/* See hash.h. */
Scd2Hash128
scd2_row_hash128(Scd2RowHasher *hasher, const Datum *values, const bool *isnull,
				 uint64 seed)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(hasher->scratch);
	StringInfo	buf = &hasher->buf;
	bool		streaming = false;
	XXH128_hash_t hash;
	Scd2Hash128 result;

	empty_buffer(buf, hasher->cxt);
	for (int i = 0; i < hasher->ncols; i++)
	{
		const char *data = NULL;
		Size		len;

		scd2_canon_append_large(buf, hasher->columns[i], values[i], isnull[i],
								&data, &len);
		if (unlikely(len > 0 || buf->len >= FLUSH_AT))
		{
			if (!streaming)
				start_stream(hasher, seed);
			streaming = true;
			XXH3_128bits_update(hasher->state, buf->data, buf->len);
			if (len > 0)
				XXH3_128bits_update(hasher->state, data, len);
			empty_buffer(buf, hasher->cxt);
			MemoryContextReset(hasher->scratch);
		}
	}

	if (streaming)
	{
		XXH3_128bits_update(hasher->state, buf->data, buf->len);
		hash = XXH3_128bits_digest(hasher->state);
	}
	else
		hash = XXH3_128bits_withSeed(buf->data, buf->len, seed);

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(hasher->scratch);
	result.low = hash.low64;
	result.high = hash.high64;
	return result;
}

/* A hash in the byte order that xxHash calls canonical. */
static void
store_hash(void *p, Scd2Hash128 hash)
{
	XXH128_hash_t xxh;
	XXH128_canonical_t canonical;

	xxh.low64 = hash.low;
	xxh.high64 = hash.high;
	XXH128_canonicalFromHash(&canonical, xxh);
	memcpy(p, canonical.digest, sizeof(canonical.digest));
}

/* See hash.h. */
Datum
scd2_row_hash_bytea(Scd2RowHasher *hasher, const Datum *values, const bool *isnull)
{
	bytea	   *result = palloc(VARHDRSZ + sizeof(Scd2Hash128));

	SET_VARSIZE(result, VARHDRSZ + sizeof(Scd2Hash128));
	store_hash(VARDATA(result), scd2_row_hash128(hasher, values, isnull, 0));
	return PointerGetDatum(result);
}

/* ------------------------------------------------------------------------
 * Surrogate keys
 * ------------------------------------------------------------------------
 */

/* See hash.h. */
Scd2KeyHasher *
scd2_key_hasher(int ncols, const Oid *types, const Oid *registered,
				MemoryContext cxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2KeyHasher *hasher = palloc0(sizeof(Scd2KeyHasher));
	Scd2CanonType **now = resolve_types(ncols, types, cxt);

	hasher->ncols = ncols;
	hasher->columns = palloc(sizeof(Scd2KeyColumn) * Max(ncols, 1));
	for (int i = 0; i < ncols; i++)
	{
		hasher->columns[i].type = now[i];
		hasher->columns[i].registered = registered[i] == types[i] ? now[i] :
			scd2_canon_type(registered[i], cxt);
	}
	hasher->scratch = AllocSetContextCreate(cxt, "scd2 surrogate key",
											ALLOCSET_SMALL_SIZES);
	initStringInfo(&hasher->buf);
	initStringInfo(&hasher->text);
	MemoryContextSwitchTo(oldcxt);
	return hasher;
}

static inline uint64
hash_int(int32 v, uint64 seed)
{
	char		bytes[4];

	canon_store_u32(bytes, (uint32) v);
	return XXH64(bytes, sizeof(bytes), seed);
}

static inline uint64
hash_long(int64 v, uint64 seed)
{
	char		bytes[8];

	canon_store_u64(bytes, (uint64) v);
	return XXH64(bytes, sizeof(bytes), seed);
}

/* Minus zero is zero, and there is one NaN, as in Spark. */
static uint64
hash_float(float v, uint64 seed)
{
	uint32		bits;

	if (v == 0)
		return hash_int(0, seed);
	if (isnan(v))
		return hash_int(0x7FC00000, seed);
	memcpy(&bits, &v, sizeof(bits));
	return hash_int((int32) bits, seed);
}

static uint64
hash_double(double v, uint64 seed)
{
	uint64		bits;

	if (v == 0)
		return hash_long(0, seed);
	if (isnan(v))
		return hash_long(INT64CONST(0x7FF8000000000000), seed);
	memcpy(&bits, &v, sizeof(bits));
	return hash_long((int64) bits, seed);
}

/*
 * Infinities, which Spark does not have, go by their text and so meet no other
 * value.
 */
static uint64
hash_infinity(bool negative, uint64 seed)
{
	const char *text = negative ? "-infinity" : "infinity";

	return XXH64(text, strlen(text), seed);
}

/*
 * Hash one value as Spark's xxhash64 does, or by its canonical text where Spark
 * has no such type.
 */
static uint64
hash_key_value(Scd2CanonType *type, Datum value, uint64 seed, StringInfo text)
{
	switch (type->kind)
	{
		case KIND_BOOL:
			return hash_int(DatumGetBool(value) ? 1 : 0, seed);

		case KIND_INT2:
			return hash_int(DatumGetInt16(value), seed);

		case KIND_INT4:
			return hash_int(DatumGetInt32(value), seed);

		case KIND_INT8:
			return hash_long(DatumGetInt64(value), seed);

		case KIND_FLOAT4:
			return hash_float(DatumGetFloat4(value), seed);

		case KIND_FLOAT8:
			return hash_double(DatumGetFloat8(value), seed);

		case KIND_DATE:
			{
				DateADT		date = DatumGetDateADT(value);

				if (DATE_NOT_FINITE(date))
					return hash_infinity(DATE_IS_NOBEGIN(date), seed);
				return hash_int(date + EPOCH_DAYS, seed);
			}

		case KIND_TIMESTAMP:
		case KIND_TIMESTAMPTZ:
			{
				Timestamp	ts = DatumGetTimestamp(value);

				if (TIMESTAMP_NOT_FINITE(ts))
					return hash_infinity(TIMESTAMP_IS_NOBEGIN(ts), seed);

				/*
				 * The last 29 years before 294277 do not fit Spark's count.
				 * They wrap around to numbers before any timestamp.
				 */
				return hash_long((int64) ((uint64) ts +
										  (uint64) EPOCH_DAYS * USECS_PER_DAY),
								 seed);
			}

		case KIND_TEXT:
		case KIND_BPCHAR:
		case KIND_BYTEA:
			{
				struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
				const char *data = VARDATA_ANY(v);
				int			len = VARSIZE_ANY_EXHDR(v);

				if (type->kind == KIND_BPCHAR)
					len = bpchartruelen(unconstify(char *, data), len);
				if (type->kind == KIND_BYTEA || scd2_canon_is_utf8(data, len))
					return XXH64(data, len, seed);
				break;
			}

		default:
			break;
	}

	text->len = 0;
	scd2_canon_text(text, type, value);
	return XXH64(text->data, text->len, seed);
}

/* See hash.h. */
int64
scd2_key_hash64(Scd2KeyHasher *hasher, const Datum *values, const bool *isnull)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(hasher->scratch);
	uint64		hash = SPARK_SEED;

	for (int i = 0; i < hasher->ncols; i++)
	{
		Scd2KeyColumn  *column = &hasher->columns[i];
		Datum		converted;

		/* as in Spark, a null leaves the hash as it is */
		if (isnull[i])
			continue;

		if (likely(column->type == column->registered))
		{
			hash = hash_key_value(column->type, values[i], hash, &hasher->text);
			continue;
		}
		switch (scd2_key_form(column, values[i], &converted, &hasher->text))
		{
			case FORM_AS_IS:
				hash = hash_key_value(column->type, values[i], hash, &hasher->text);
				break;
			case FORM_REGISTERED:
				hash = hash_key_value(column->registered, converted, hash,
									  &hasher->text);
				break;
			case FORM_TEXT:
				hash = XXH64(hasher->text.data, hasher->text.len, hash);
				break;
		}
	}

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(hasher->scratch);
	return (int64) hash;
}

/* See hash.h. */
pg_uuid_t *
scd2_key_hash_uuid(Scd2KeyHasher *hasher, const Datum *values, const bool *isnull)
{
	pg_uuid_t  *result = palloc(sizeof(pg_uuid_t));
	MemoryContext oldcxt = MemoryContextSwitchTo(hasher->scratch);
	StringInfo	buf = &hasher->buf;
	XXH128_hash_t xxh;
	Scd2Hash128 hash;

	buf->len = 0;
	for (int i = 0; i < hasher->ncols; i++)
	{
		Scd2KeyColumn  *column = &hasher->columns[i];
		Scd2KeyForm		form = FORM_AS_IS;
		Datum		converted = (Datum) 0;

		if (!isnull[i] && column->type != column->registered)
			form = scd2_key_form(column, values[i], &converted, &hasher->text);
		if (form == FORM_TEXT)
			canon_put_tag_bytes(buf, TAG_TEXT, hasher->text.data, hasher->text.len);
		else if (form == FORM_REGISTERED)
			scd2_canon_append(buf, column->registered, converted, false);
		else
			scd2_canon_append(buf, column->type, values[i], isnull[i]);
	}

	xxh = XXH3_128bits_withSeed(buf->data, buf->len, 0);
	hash.low = xxh.low64;
	hash.high = xxh.high64;
	store_hash(result->data, hash);

	/* RFC 9562: version 8, its own variant */
	result->data[6] = (result->data[6] & 0x0F) | 0x80;
	result->data[8] = (result->data[8] & 0x3F) | 0x80;

	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(hasher->scratch);
	return result;
}

/* ------------------------------------------------------------------------
 * SQL functions
 * ------------------------------------------------------------------------
 */

static void *
make_row_hasher(int ncols, const Oid *types, MemoryContext cxt)
{
	return scd2_row_hasher(ncols, types, cxt);
}

static void *
make_key_hasher(int ncols, const Oid *types, MemoryContext cxt)
{
	return scd2_key_hasher(ncols, types, types, cxt);
}

/*
 * The types of a call's arguments, or of the array behind VARIADIC, and a hasher
 * for them.  Built at the first call from a query's expression, and again when
 * the catalogs changed: plpgsql keeps expressions through a transaction.
 */
static CallSite *
get_call_site(FunctionCallInfo fcinfo,
			  void *(*make_hasher) (int, const Oid *, MemoryContext))
{
	CallSite   *site = fcinfo->flinfo->fn_extra;
	uint64		generation = scd2_canon_generation();
	Oid			types[FUNC_MAX_ARGS];

	if (site != NULL && site->generation == generation)
		return site;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(CallSite));
		site->cxt = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "scd2 hash",
										  ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = site;
	}

	/* should what follows fail, the next call begins again */
	site->generation = 0;
	site->hasher = NULL;
	site->capacity = 0;
	MemoryContextReset(site->cxt);

	for (int i = 0; i < PG_NARGS(); i++)
	{
		types[i] = get_fn_expr_argtype(fcinfo->flinfo, i);
		if (!OidIsValid(types[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("could not determine data type of argument %d", i + 1)));
	}

	site->is_array = get_fn_expr_variadic(fcinfo->flinfo);
	if (site->is_array)
	{
		/* the parser lets only arrays pass, and domains over them */
		site->element = get_base_element_type(types[0]);
		if (!OidIsValid(site->element))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("VARIADIC argument must be an array")));
		get_typlenbyvalalign(site->element, &site->typlen, &site->typbyval,
							 &site->typalign);
	}
	else
		site->hasher = make_hasher(PG_NARGS(), types, site->cxt);
	site->generation = generation;
	return site;
}

/*
 * The elements of the array given with VARIADIC, each of which is a column, as
 * for concat() and format().  Sees to it that the hasher is ready for as many.
 */
static int
get_array_columns(FunctionCallInfo fcinfo, CallSite *site,
				  void *(*make_hasher) (int, const Oid *, MemoryContext),
				  Datum **values, bool **isnull)
{
	int			ncols;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), site->element,
					  site->typlen, site->typbyval, site->typalign,
					  values, isnull, &ncols);
	if (site->hasher == NULL || ncols > site->capacity)
	{
		int			capacity = Max(ncols, 16);
		Oid		   *types = palloc(sizeof(Oid) * capacity);

		for (int i = 0; i < capacity; i++)
			types[i] = site->element;
		MemoryContextReset(site->cxt);
		site->hasher = make_hasher(capacity, types, site->cxt);
		site->capacity = capacity;
		pfree(types);
	}
	return ncols;
}

/* Copy a call's arguments to where hashers take them. */
static inline void
get_arguments(FunctionCallInfo fcinfo, Datum *values, bool *isnull)
{
	for (int i = 0; i < PG_NARGS(); i++)
	{
		values[i] = fcinfo->args[i].value;
		isnull[i] = fcinfo->args[i].isnull;
	}
}

/*
 * scd2.row_hash(VARIADIC "any") returns bytea
 */
Datum
scd2_row_hash(PG_FUNCTION_ARGS)
{
	CallSite   *site = get_call_site(fcinfo, make_row_hasher);
	Datum		values[FUNC_MAX_ARGS];
	bool		isnull[FUNC_MAX_ARGS];

	if (site->is_array)
	{
		Datum	   *elements;
		bool	   *nulls;
		int			ncols;

		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		ncols = get_array_columns(fcinfo, site, make_row_hasher, &elements, &nulls);
		((Scd2RowHasher *) site->hasher)->ncols = ncols;
		PG_RETURN_DATUM(scd2_row_hash_bytea(site->hasher, elements, nulls));
	}

	get_arguments(fcinfo, values, isnull);
	PG_RETURN_DATUM(scd2_row_hash_bytea(site->hasher, values, isnull));
}

/*
 * scd2.surrogate_key(VARIADIC "any") returns bigint
 */
Datum
scd2_surrogate_key(PG_FUNCTION_ARGS)
{
	CallSite   *site = get_call_site(fcinfo, make_key_hasher);
	Datum		values[FUNC_MAX_ARGS];
	bool		isnull[FUNC_MAX_ARGS];

	if (site->is_array)
	{
		Datum	   *elements;
		bool	   *nulls;
		int			ncols;

		if (PG_ARGISNULL(0))
			PG_RETURN_NULL();
		ncols = get_array_columns(fcinfo, site, make_key_hasher, &elements, &nulls);
		((Scd2KeyHasher *) site->hasher)->ncols = ncols;
		PG_RETURN_INT64(scd2_key_hash64(site->hasher, elements, nulls));
	}

	get_arguments(fcinfo, values, isnull);
	PG_RETURN_INT64(scd2_key_hash64(site->hasher, values, isnull));
}

/*
 * A hasher for a call whose first argument, a regtype[], has the types at
 * registration of the columns that follow.
 */
static Scd2KeyHasher *
get_key_call_site(FunctionCallInfo fcinfo)
{
	KeyCallSite *site = fcinfo->flinfo->fn_extra;
	uint64		generation = scd2_canon_generation();
	int			ncols = PG_NARGS() - 1;
	Oid			types[FUNC_MAX_ARGS];
	ArrayType  *registered;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the registered types must not be null")));
	registered = PG_GETARG_ARRAYTYPE_P(0);
	if (get_fn_expr_variadic(fcinfo->flinfo) || ARR_NDIM(registered) != 1 ||
		ARR_HASNULL(registered) || ARR_DIMS(registered)[0] != ncols)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there must be one registered type for each column")));

	if (site != NULL && site->generation == generation &&
		memcmp(site->registered, ARR_DATA_PTR(registered), sizeof(Oid) * ncols) == 0)
		return site->hasher;

	if (site == NULL)
	{
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(KeyCallSite));
		site->cxt = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "scd2 key",
										  ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = site;
	}
	site->generation = 0;
	MemoryContextReset(site->cxt);
	memcpy(site->registered, ARR_DATA_PTR(registered), sizeof(Oid) * ncols);
	for (int i = 0; i < ncols; i++)
		types[i] = get_fn_expr_argtype(fcinfo->flinfo, i + 1);
	site->hasher = scd2_key_hasher(ncols, types, site->registered, site->cxt);
	site->generation = generation;
	return site->hasher;
}

/*
 * surrogate_key_as(registered regtype[], VARIADIC "any") returns bigint
 *
 * A surrogate key as a dimension computes it whose columns had these types when
 * it was registered (R13).  Not among the extension's functions: generated SQL
 * and tests declare it where they need it.
 */
Datum
scd2_surrogate_key_as(PG_FUNCTION_ARGS)
{
	Scd2KeyHasher *hasher = get_key_call_site(fcinfo);
	Datum		values[FUNC_MAX_ARGS];
	bool		isnull[FUNC_MAX_ARGS];

	get_arguments(fcinfo, values, isnull);
	PG_RETURN_INT64(scd2_key_hash64(hasher, values + 1, isnull + 1));
}

/*
 * surrogate_uuid_as(registered regtype[], VARIADIC "any") returns uuid
 */
Datum
scd2_surrogate_uuid_as(PG_FUNCTION_ARGS)
{
	Scd2KeyHasher *hasher = get_key_call_site(fcinfo);
	Datum		values[FUNC_MAX_ARGS];
	bool		isnull[FUNC_MAX_ARGS];

	get_arguments(fcinfo, values, isnull);
	PG_RETURN_UUID_P(scd2_key_hash_uuid(hasher, values + 1, isnull + 1));
}

/*
 * same(anyelement, anyelement) returns boolean
 *
 * Sameness of R12 for any type, those without an equality operator included.
 * Not among the extension's functions either, and not strict: null is the same
 * as null.
 */
Datum
scd2_same(PG_FUNCTION_ARGS)
{
	SameCallSite *site = fcinfo->flinfo->fn_extra;
	uint64		generation = scd2_canon_generation();

	if (site == NULL)
	{
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(SameCallSite));
		site->cxt = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "scd2 same",
										  ALLOCSET_SMALL_SIZES);
		fcinfo->flinfo->fn_extra = site;
	}
	if (site->generation != generation)
	{
		site->generation = 0;
		MemoryContextReset(site->cxt);
		site->type = scd2_canon_type(get_fn_expr_argtype(fcinfo->flinfo, 0),
									 site->cxt);
		site->generation = generation;
	}
	PG_RETURN_BOOL(scd2_canon_same(site->type,
								   PG_GETARG_DATUM(0), PG_ARGISNULL(0),
								   PG_GETARG_DATUM(1), PG_ARGISNULL(1)));
}
