/*-------------------------------------------------------------------------
 *
 * versionrow.c
 *	  A folded version as a row of the dimension.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "versionrow.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "batch.h"
#include "spi.h"

/*
 * Lay out the rows of a dimension; see versionrow.h.
 */
Scd2VersionRow *
scd2_version_row_create(const Scd2Dimension *dim, MemoryContext cxt)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	Scd2VersionRow *row = palloc0(sizeof(Scd2VersionRow));
	Oid		   *types = palloc((dim->nkeys + dim->nattrs + 1) * sizeof(Oid));
	Oid		   *registered = palloc((dim->nkeys + 1) * sizeof(Oid));
	int			nhashed = 0;
	int			n = 1;

	row->dim = dim;
	row->keys = n;
	n += dim->nkeys;
	row->attrs = n;
	n += dim->nattrs;
	row->extras = n;
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL)
			n++;
	row->row_hash = dim->row_hash != NULL ? n++ : -1;
	row->valid_from = n++;
	row->valid_to = n++;
	row->is_current = n++;
	row->is_deleted = dim->is_deleted != NULL ? n++ : -1;
	row->ncols = n;
	row->values = palloc(n * sizeof(Datum));
	row->isnull = palloc(n * sizeof(bool));
	row->hash_values = palloc(n * sizeof(Datum));
	row->hash_isnull = palloc(n * sizeof(bool));

	for (int i = 0; i < dim->nkeys; i++)
	{
		types[i] = dim->keys[i].typid;
		registered[i] = dim->keys[i].registered_type;
	}
	types[dim->nkeys] = registered[dim->nkeys] = dim->period_type;
	row->key_hasher = scd2_key_hasher(dim->nkeys + 1, types, registered, cxt);
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].scd_type == 2 || dim->attrs[i].scd_type == 6)
			types[nhashed++] = dim->attrs[i].typid;
	row->row_hasher = scd2_row_hasher(nhashed, types, cxt);

	MemoryContextSwitchTo(oldcxt);
	return row;
}

/*
 * Describe a tuplestore of such rows; see versionrow.h.
 */
TupleDesc
scd2_version_row_desc(const Scd2VersionRow *row, int extra)
{
	const Scd2Dimension *dim = row->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(row->ncols + extra);
	int			n = 1;

#define ADD(typid, typmod, collation) \
	(scd2_desc_column(desc, n, psprintf("c%d", n), typid, typmod, collation), n++)

	ADD(dim->sk_is_uuid ? UUIDOID : INT8OID, -1, InvalidOid);
	for (int i = 0; i < dim->nkeys; i++)
		ADD(dim->keys[i].typid, dim->keys[i].typmod, dim->keys[i].collation);
	for (int i = 0; i < dim->nattrs; i++)
		ADD(dim->attrs[i].typid, dim->attrs[i].typmod, dim->attrs[i].collation);
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL)
			ADD(dim->attrs[i].typid, dim->attrs[i].typmod,
				dim->attrs[i].collation);
	if (dim->row_hash != NULL)
		ADD(BYTEAOID, -1, InvalidOid);
	ADD(dim->period_type, -1, InvalidOid);
	ADD(dim->period_type, -1, InvalidOid);
	ADD(BOOLOID, -1, InvalidOid);
	if (dim->is_deleted != NULL)
		ADD(BOOLOID, -1, InvalidOid);
#undef ADD
	Assert(n == row->ncols + 1);
	return desc;
}

/*
 * Where the columns of a row are in the dimension; see versionrow.h.
 */
AttrNumber *
scd2_version_row_attnums(const Scd2VersionRow *row)
{
	const Scd2Dimension *dim = row->dim;
	AttrNumber *attnums = palloc(row->ncols * sizeof(AttrNumber));
	int			extra = row->extras;

	attnums[0] = dim->sk_attnum;
	for (int i = 0; i < dim->nkeys; i++)
		attnums[row->keys + i] = dim->keys[i].attnum;
	for (int i = 0; i < dim->nattrs; i++)
	{
		attnums[row->attrs + i] = dim->attrs[i].attnum;
		if (dim->attrs[i].extra_name != NULL)
			attnums[extra++] = dim->attrs[i].extra_attnum;
	}
	if (row->row_hash >= 0)
		attnums[row->row_hash] = dim->row_hash_attnum;
	attnums[row->valid_from] = dim->valid_from_attnum;
	attnums[row->valid_to] = dim->valid_to_attnum;
	attnums[row->is_current] = dim->is_current_attnum;
	if (row->is_deleted >= 0)
		attnums[row->is_deleted] = dim->is_deleted_attnum;
	return attnums;
}

/*
 * The surrogate key of a version (R13).
 */
static Datum
surrogate_key(Scd2VersionRow *row, const Datum *keys, const bool *keys_isnull,
			  Datum valid_from)
{
	const Scd2Dimension *dim = row->dim;
	int64		key;

	memcpy(row->hash_values, keys, dim->nkeys * sizeof(Datum));
	memcpy(row->hash_isnull, keys_isnull, dim->nkeys * sizeof(bool));
	row->hash_values[dim->nkeys] = valid_from;
	row->hash_isnull[dim->nkeys] = false;

	if (dim->sk_is_uuid)
		return UUIDPGetDatum(scd2_key_hash_uuid(row->key_hasher,
												row->hash_values,
												row->hash_isnull));

	key = scd2_key_hash64(row->key_hasher, row->hash_values, row->hash_isnull);
	if (key == -1 || key == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("surrogate key " INT64_FORMAT " of dimension \"%s\" is reserved",
						key, dim->label),
				 errdetail("Key %s hashes to it.",
						   scd2_key_text(dim, keys, keys_isnull)),
				 errhint("Register the dimension with surrogate_key_type => 'uuid'.")));
	return Int64GetDatum(key);
}

static Datum
row_hash(Scd2VersionRow *row)
{
	const Scd2Dimension *dim = row->dim;
	int			n = 0;

	for (int i = 0; i < dim->nattrs; i++)
	{
		if (dim->attrs[i].scd_type != 2 && dim->attrs[i].scd_type != 6)
			continue;
		row->hash_values[n] = row->values[row->attrs + i];
		row->hash_isnull[n++] = row->isnull[row->attrs + i];
	}
	return scd2_row_hash_bytea(row->row_hasher, row->hash_values,
							   row->hash_isnull);
}

/*
 * Fill in a version; see versionrow.h.
 */
void
scd2_version_row_fill(Scd2VersionRow *row, const Datum *keys,
					  const bool *keys_isnull, const Scd2FoldVersion *version,
					  const Scd2FoldResult *result)
{
	const Scd2Dimension *dim = row->dim;
	Datum	   *values = row->values;
	bool	   *isnull = row->isnull;
	int			extra = row->extras;

	memset(isnull, false, row->ncols * sizeof(bool));
	values[row->valid_from] = scd2_time_to_period(dim, version->valid_from);
	values[0] = surrogate_key(row, keys, keys_isnull, values[row->valid_from]);
	memcpy(values + row->keys, keys, dim->nkeys * sizeof(Datum));
	memcpy(isnull + row->keys, keys_isnull, dim->nkeys * sizeof(bool));

	for (int i = 0; i < dim->nattrs; i++)
	{
		int			type = dim->attrs[i].scd_type;
		bool		own = type == 2 || type == 6;

		values[row->attrs + i] = own ? version->values[i] : result->last[i];
		isnull[row->attrs + i] = own ? version->isnull[i] : result->last_isnull[i];
		if (type == 3)
		{
			values[extra] = result->previous[i];
			isnull[extra++] = result->previous_isnull[i];
		}
		else if (type == 6)
		{
			values[extra] = result->last[i];
			isnull[extra++] = result->last_isnull[i];
		}
	}
	if (row->row_hash >= 0)
		values[row->row_hash] = row_hash(row);

	values[row->valid_to] = version->is_open ? dim->open_end :
		scd2_time_to_period(dim, version->valid_to);
	isnull[row->valid_to] = version->is_open && dim->open_end_is_null;
	values[row->is_current] = BoolGetDatum(version->is_open);
	if (row->is_deleted >= 0)
		values[row->is_deleted] = BoolGetDatum(version->is_deleted);
}

static void
check_null(void *arg)
{
	domain_check((Datum) 0, true, *(Oid *) arg, NULL, NULL);
}

/*
 * Is there to be an unknown member?  See versionrow.h.
 */
bool
scd2_has_unknown_member(const Scd2Dimension *dim)
{
	Scd2VersionRow *row;
	AttrNumber *attnums;
	Relation	rel;
	bool		refused = !dim->unknown_member;

	if (refused)
		return false;
	row = scd2_version_row_create(dim, CurrentMemoryContext);
	attnums = scd2_version_row_attnums(row);
	rel = table_open(dim->relid, NoLock);
	for (int col = row->keys; col < row->valid_from && !refused; col++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attnums[col] - 1);

		refused = att->attnotnull ||
			(get_typtype(att->atttypid) == TYPTYPE_DOMAIN &&
			 scd2_spi_try(check_null, &att->atttypid) != NULL);
	}
	table_close(rel, NoLock);
	return !refused;
}

/*
 * Fill in the unknown member; see versionrow.h.
 */
void
scd2_version_row_fill_unknown(Scd2VersionRow *row)
{
	const Scd2Dimension *dim = row->dim;

	memset(row->isnull, true, row->ncols * sizeof(bool));
	row->values[0] = dim->sk_is_uuid ? UUIDPGetDatum(palloc0(sizeof(pg_uuid_t))) :
		Int64GetDatum(-1);
	row->isnull[0] = false;
	row->values[row->valid_from] = dim->period_type == DATEOID ?
		DateADTGetDatum(DATEVAL_NOBEGIN) : TimestampGetDatum(DT_NOBEGIN);
	row->isnull[row->valid_from] = false;
	row->values[row->valid_to] = dim->open_end;
	row->isnull[row->valid_to] = dim->open_end_is_null;
	row->values[row->is_current] = BoolGetDatum(true);
	row->isnull[row->is_current] = false;
	if (row->is_deleted >= 0)
	{
		row->values[row->is_deleted] = BoolGetDatum(false);
		row->isnull[row->is_deleted] = false;
	}
}

/*
 * Where does the row lie?  See versionrow.h.
 */
bool
scd2_is_history_row(const Scd2VersionRow *row)
{
	return row->dim->history != NULL &&
		!DatumGetBool(row->values[row->is_current]);
}
