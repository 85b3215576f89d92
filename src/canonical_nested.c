/*-------------------------------------------------------------------------
 *
 * canonical_nested.c
 *	  Canonical encoding of values that hold values: arrays, composites, ranges,
 *	  jsonb, and the two types of text search.
 *
 *-------------------------------------------------------------------------
 */
#include "scd2.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "access/tupmacs.h"
#include "canonical_int.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "tsearch/ts_utils.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/multirangetypes.h"
#include "utils/numeric.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

/* How to encode rows of one row type. */
struct CanonRecord
{
	MemoryContext cxt;			/* where the rest lives */
	Oid			rowtype;
	int32		typmod;
	TupleDesc	desc;
	int			ncolumns;		/* without the dropped ones */
	Scd2CanonType **columns;	/* NULL: dropped */
	Datum	   *values;
	bool	   *isnull;
};

/* A piece of the encoding under work, for putting pieces in order. */
typedef struct Piece
{
	int			start;			/* in the buffer; later in the copy */
	int			len;
	int			key_len;		/* of the text value that it begins with */
} Piece;

/* How many bytes come before a text value's own, and hold its length. */
#define TEXT_HEADER		5

static int
compare_pieces_by_length(const void *a, const void *b, void *copy)
{
	const Piece *pa = a;
	const Piece *pb = b;

	if (pa->key_len != pb->key_len)
		return pa->key_len < pb->key_len ? -1 : 1;
	return memcmp((char *) copy + pa->start, (char *) copy + pb->start,
				  pa->key_len);
}

static int
compare_pieces_by_bytes(const void *a, const void *b, void *copy)
{
	const Piece *pa = a;
	const Piece *pb = b;
	int			result;

	result = memcmp((char *) copy + pa->start + TEXT_HEADER,
					(char *) copy + pb->start + TEXT_HEADER,
					Min(pa->key_len, pb->key_len) - TEXT_HEADER);
	if (result == 0 && pa->key_len != pb->key_len)
		result = pa->key_len < pb->key_len ? -1 : 1;
	return result;
}

/*
 * Put the pieces that end the buffer in the order of their keys' UTF-8.  Both
 * jsonb and tsvector keep them in the order of the database's encoding.
 */
static void
sort_pieces(StringInfo buf, Piece *pieces, int npieces, qsort_arg_comparator compare)
{
	int			start;
	int			len;
	char	   *copy;
	char	   *p;

	if (npieces < 2)
		return;

	start = pieces[0].start;
	len = buf->len - start;
	copy = palloc(len);
	memcpy(copy, buf->data + start, len);
	for (int i = 0; i < npieces; i++)
		pieces[i].start -= start;

	qsort_arg(pieces, npieces, sizeof(Piece), compare, copy);

	p = buf->data + start;
	for (int i = 0; i < npieces; i++)
	{
		memcpy(p, copy + pieces[i].start, pieces[i].len);
		p += pieces[i].len;
	}
	pfree(copy);
}

/* Append an array, oidvector or int2vector. */
void
scd2_canon_put_array(StringInfo buf, Scd2CanonType *type, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int			ndim = ARR_NDIM(array);
	int			nitems = ArrayGetNItems(ndim, ARR_DIMS(array));
	Scd2CanonType *element = type->element;
	bits8	   *bitmap = ARR_NULLBITMAP(array);
	char	   *p = ARR_DATA_PTR(array);

	/* the element type of anyarray is known only here */
	if (type->typid == ANYARRAYOID &&
		(element == NULL || element->typid != ARR_ELEMTYPE(array)))
		element = type->element = scd2_canon_type(ARR_ELEMTYPE(array), type->cxt);

	if (nitems == 0)
		ndim = 0;
	canon_put_u8(buf, TAG_ARRAY);
	canon_put_u8(buf, (uint8) ndim);
	for (int i = 0; i < ndim; i++)
	{
		canon_put_u32(buf, (uint32) ARR_DIMS(array)[i]);
		canon_put_u32(buf, (uint32) ARR_LBOUND(array)[i]);
	}

	for (int i = 0; i < nitems; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (bitmap != NULL && (bitmap[i / 8] & (1 << (i % 8))) == 0)
		{
			canon_put_u8(buf, TAG_NULL);
			continue;
		}
		scd2_canon_append(buf, element,
						  fetch_att(p, element->typbyval, element->typlen), false);
		p = att_addlength_pointer(p, element->typlen, p);
		p = (char *) att_align_nominal(p, element->typalign);
	}

	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
}

/* Get to know a row type. */
static CanonRecord *
resolve_record(Scd2CanonType *type, Oid rowtype, int32 typmod)
{
	MemoryContext cxt;
	MemoryContext oldcxt;
	CanonRecord *record = type->record;

	if (record != NULL)
	{
		type->record = NULL;
		MemoryContextDelete(record->cxt);
	}

	cxt = AllocSetContextCreate(type->cxt, "scd2 row type", ALLOCSET_SMALL_SIZES);
	oldcxt = MemoryContextSwitchTo(cxt);
	record = palloc0(sizeof(CanonRecord));
	record->cxt = cxt;
	record->rowtype = rowtype;
	record->typmod = typmod;
	record->desc = lookup_rowtype_tupdesc_copy(rowtype, typmod);
	record->columns = palloc0(sizeof(Scd2CanonType *) * Max(record->desc->natts, 1));
	record->values = palloc(sizeof(Datum) * Max(record->desc->natts, 1));
	record->isnull = palloc(sizeof(bool) * Max(record->desc->natts, 1));
	for (int i = 0; i < record->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(record->desc, i);

		if (att->attisdropped)
			continue;
		record->columns[i] = scd2_canon_type(att->atttypid, cxt);
		record->ncolumns++;
	}
	MemoryContextSwitchTo(oldcxt);

	type->record = record;
	return record;
}

/* Append a composite. */
void
scd2_canon_put_record(StringInfo buf, Scd2CanonType *type, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	Oid			rowtype = HeapTupleHeaderGetTypeId(header);
	int32		typmod = HeapTupleHeaderGetTypMod(header);
	CanonRecord *record = type->record;
	HeapTupleData tuple;

	if (record == NULL || record->rowtype != rowtype || record->typmod != typmod)
		record = resolve_record(type, rowtype, typmod);

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, record->desc, record->values, record->isnull);

	canon_put_tag_u32(buf, TAG_RECORD, (uint32) record->ncolumns);
	for (int i = 0; i < record->desc->natts; i++)
	{
		if (record->columns[i] != NULL)
			scd2_canon_append(buf, record->columns[i],
							  record->values[i], record->isnull[i]);
	}

	if ((Pointer) header != DatumGetPointer(value))
		pfree(header);
}

static void
put_bounds(StringInfo buf, Scd2CanonType *type,
		   const RangeBound *lower, const RangeBound *upper, bool empty)
{
	uint8		flags = 0;

	if (empty)
	{
		canon_put_u8(buf, CANON_RANGE_EMPTY);
		return;
	}

	if (lower->infinite)
		flags |= CANON_RANGE_LOWER_INF;
	else if (lower->inclusive)
		flags |= CANON_RANGE_LOWER_INC;
	if (upper->infinite)
		flags |= CANON_RANGE_UPPER_INF;
	else if (upper->inclusive)
		flags |= CANON_RANGE_UPPER_INC;
	canon_put_u8(buf, flags);
	if (!lower->infinite)
		scd2_canon_append(buf, type->element, lower->val, false);
	if (!upper->infinite)
		scd2_canon_append(buf, type->element, upper->val, false);
}

/* Append a range.  Those of discrete types are stored in one form already. */
void
scd2_canon_put_range(StringInfo buf, Scd2CanonType *type, Datum value)
{
	RangeType  *range = DatumGetRangeTypeP(value);
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;

	range_deserialize(type->range, range, &lower, &upper, &empty);
	canon_put_u8(buf, TAG_RANGE);
	put_bounds(buf, type, &lower, &upper, empty);

	if ((Pointer) range != DatumGetPointer(value))
		pfree(range);
}

/* Append a multirange: its ranges are in order, apart, and none is empty. */
void
scd2_canon_put_multirange(StringInfo buf, Scd2CanonType *type, Datum value)
{
	MultirangeType *multirange = DatumGetMultirangeTypeP(value);

	canon_put_tag_u32(buf, TAG_MULTIRANGE, multirange->rangeCount);
	for (uint32 i = 0; i < multirange->rangeCount; i++)
	{
		RangeBound	lower;
		RangeBound	upper;

		multirange_get_bounds(type->range, multirange, i, &lower, &upper);
		put_bounds(buf, type, &lower, &upper, false);
	}

	if ((Pointer) multirange != DatumGetPointer(value))
		pfree(multirange);
}

static void put_jsonb_container(StringInfo buf, JsonbContainer *container);

static void
put_jsonb_item(StringInfo buf, const JsonbValue *item)
{
	switch (item->type)
	{
		case jbvNull:
			canon_put_u8(buf, TAG_NULL);
			break;
		case jbvString:
			scd2_canon_put_text(buf, item->val.string.val, item->val.string.len);
			break;
		case jbvNumeric:
			scd2_canon_put_number(buf, (struct varlena *) item->val.numeric);
			break;
		case jbvBool:
			canon_put_u8(buf, item->val.boolean ? TAG_TRUE : TAG_FALSE);
			break;
		case jbvBinary:
			put_jsonb_container(buf, item->val.binary.data);
			break;
		default:
			elog(ERROR, "unexpected jsonb value of type %d", (int) item->type);
	}
}

static void
put_jsonb_container(StringInfo buf, JsonbContainer *container)
{
	JsonbIterator *it = JsonbIteratorInit(container);
	JsonbValue	item;
	JsonbIteratorToken token;
	Piece	   *pieces = NULL;
	int			npieces = 0;

	check_stack_depth();

	/* with skipNested, the iterator leaves inner containers to us */
	while ((token = JsonbIteratorNext(&it, &item, true)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				/* a bare scalar is stored as an array of one, but is none */
				if (!item.val.array.rawScalar)
					canon_put_tag_u32(buf, TAG_JSONB_ARRAY,
									  (uint32) item.val.array.nElems);
				break;

			case WJB_BEGIN_OBJECT:
				canon_put_tag_u32(buf, TAG_JSONB_OBJECT,
								  (uint32) item.val.object.nPairs);
				if (scd2_canon_needs_conversion())
					pieces = MemoryContextAllocHuge(CurrentMemoryContext,
													sizeof(Piece) * ((Size) item.val.object.nPairs + 1));
				break;

			case WJB_KEY:
				if (pieces != NULL)
					pieces[npieces].start = buf->len;
				put_jsonb_item(buf, &item);
				if (pieces != NULL)
					pieces[npieces].key_len = buf->len - pieces[npieces].start;
				break;

			case WJB_VALUE:
				put_jsonb_item(buf, &item);
				if (pieces != NULL)
				{
					pieces[npieces].len = buf->len - pieces[npieces].start;
					npieces++;
				}
				break;

			case WJB_ELEM:
				put_jsonb_item(buf, &item);
				break;

			default:
				break;
		}
	}

	if (pieces != NULL)
	{
		sort_pieces(buf, pieces, npieces, compare_pieces_by_length);
		pfree(pieces);
	}
}

/* Append a jsonb. */
void
scd2_canon_put_jsonb(StringInfo buf, Datum value)
{
	Jsonb	   *jsonb = DatumGetJsonbP(value);

	canon_put_u8(buf, TAG_JSONB);
	put_jsonb_container(buf, &jsonb->root);

	if ((Pointer) jsonb != DatumGetPointer(value))
		pfree(jsonb);
}

/* Append a tsvector. */
void
scd2_canon_put_tsvector(StringInfo buf, Datum value)
{
	TSVector	vector = DatumGetTSVector(value);
	WordEntry  *entry = ARRPTR(vector);
	Piece	   *pieces = NULL;

	canon_put_tag_u32(buf, TAG_TSVECTOR, (uint32) vector->size);
	if (scd2_canon_needs_conversion())
		pieces = MemoryContextAllocHuge(CurrentMemoryContext,
										sizeof(Piece) * ((Size) vector->size + 1));

	for (int i = 0; i < vector->size; i++, entry++)
	{
		int			start = buf->len;
		int			key_len;
		int			npos = POSDATALEN(vector, entry);
		WordEntryPos *pos = POSDATAPTR(vector, entry);

		scd2_canon_put_text(buf, STRPTR(vector) + entry->pos, entry->len);
		key_len = buf->len - start;
		canon_put_u32(buf, (uint32) npos);
		for (int j = 0; j < npos; j++)
		{
			canon_put_u16(buf, (uint16) WEP_GETPOS(pos[j]));
			canon_put_u8(buf, (uint8) WEP_GETWEIGHT(pos[j]));
		}
		if (pieces != NULL)
		{
			pieces[i].start = start;
			pieces[i].key_len = key_len;
			pieces[i].len = buf->len - start;
		}
	}

	if (pieces != NULL)
	{
		sort_pieces(buf, pieces, vector->size, compare_pieces_by_bytes);
		pfree(pieces);
	}
	if ((Pointer) vector != DatumGetPointer(value))
		pfree(vector);
}

/*
 * Append a tsquery.  Weights and prefix marks of operands do not count: the
 * type's own equality does not look at them either.
 */
void
scd2_canon_put_tsquery(StringInfo buf, Datum value)
{
	TSQuery		query = (TSQuery) PG_DETOAST_DATUM(value);
	QueryItem  *item = GETQUERY(query);

	canon_put_tag_u32(buf, TAG_TSQUERY, (uint32) query->size);
	for (int i = 0; i < query->size; i++, item++)
	{
		if (item->type == QI_VAL)
		{
			canon_put_u8(buf, 0);
			scd2_canon_put_text(buf,
								GETOPERAND(query) + item->qoperand.distance,
								item->qoperand.length);
		}
		else
		{
			/* operators are numbered from 1 */
			canon_put_u8(buf, (uint8) item->qoperator.oper);
			if (item->qoperator.oper == OP_PHRASE)
				canon_put_u16(buf, (uint16) item->qoperator.distance);
		}
	}

	if ((Pointer) query != DatumGetPointer(value))
		pfree(query);
}
