/*-------------------------------------------------------------------------
 *
 * history.c
 *	  The table of closed versions, with history => 'separate' (Type 4).
 *
 * To statements it is one more place where versions lie: a copy of the
 * definition with the names that this table and its columns have, so that what
 * is planned for the dimension can be planned for it by the same functions.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "history.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "spi.h"
#include "sqltext.h"

/*
 * The column of an id among some.
 */
static Scd2Column *
find_column(Scd2Column *columns, int n, int id)
{
	for (int i = 0; i < n; i++)
		if (columns[i].id == id)
			return &columns[i];
	return NULL;
}

/*
 * Let a column's name and number be those that the history has.
 */
static void
set_column(Scd2Dimension *history, const char *role, int id, int base,
		   char *name, AttrNumber attnum)
{
	Scd2Column *column;

	if (strcmp(role, "key") == 0 || strcmp(role, "tracked") == 0)
	{
		column = find_column(history->keys, history->nkeys, id);
		if (column == NULL)
			column = find_column(history->attrs, history->nattrs, id);
		if (column == NULL)
			return;
		column->name = name;
		column->attnum = attnum;
	}
	else if (strcmp(role, "previous") == 0 || strcmp(role, "current") == 0)
	{
		column = find_column(history->attrs, history->nattrs, base);
		if (column == NULL)
			return;
		column->extra_name = name;
		column->extra_attnum = attnum;
	}
#define COLUMN_OF(the_role, field, number) \
	else if (strcmp(role, the_role) == 0) \
	{ \
		history->field = name; \
		history->number = attnum; \
	}
	COLUMN_OF("surrogate_key", sk_name, sk_attnum)
	COLUMN_OF("valid_from", valid_from, valid_from_attnum)
	COLUMN_OF("valid_to", valid_to, valid_to_attnum)
	COLUMN_OF("is_current", is_current, is_current_attnum)
	COLUMN_OF("row_hash", row_hash, row_hash_attnum)
	COLUMN_OF("is_deleted", is_deleted, is_deleted_attnum)
#undef COLUMN_OF
}

static Scd2Column *
copy_columns(const Scd2Column *columns, int n, MemoryContext cxt)
{
	Size		size = Max(n, 1) * sizeof(Scd2Column);
	Scd2Column *copy = MemoryContextAllocZero(cxt, size);

	memcpy(copy, columns, n * sizeof(Scd2Column));
	return copy;
}

/*
 * Load the history; see history.h.
 */
void
scd2_history_load(Scd2Dimension *dim, Oid relid, MemoryContext cxt)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	Scd2Dimension *history;
	MemoryContext oldcxt;
	uint64		nrows;

	if (!OidIsValid(relid) || get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("history table of dimension \"%s\" does not exist", dim->label),
				 errhint("Call scd2.drop_dimension, and register it anew.")));

	history = MemoryContextAllocZero(cxt, sizeof(Scd2Dimension));
	*history = *dim;
	history->relid = relid;
	oldcxt = MemoryContextSwitchTo(cxt);
	history->sql_name = scd2_relation_name(relid);
	MemoryContextSwitchTo(oldcxt);
	history->keys = copy_columns(dim->keys, dim->nkeys, cxt);
	history->attrs = copy_columns(dim->attrs, dim->nattrs, cxt);

	values[0] = Int32GetDatum(dim->id);
	nrows = scd2_spi_cached("load history", &plan,
							"SELECT c.column_id, c.role, COALESCE(c.base_id, 0),"
							" COALESCE(k.history_attnum, 0)::int, c.history_column "
							"FROM scd2.registry_column c "
							"LEFT JOIN scd2.registry_cache_column k"
							" ON k.dimension_id = c.dimension_id AND k.column_id = c.column_id "
							"WHERE c.dimension_id = $1 AND c.history_column IS NOT NULL",
							1, types, values, NULL, false);
	for (uint64 row = 0; row < nrows; row++)
	{
		bool		isnull;
		char	   *now = NULL;
		AttrNumber	attnum;

		attnum = scd2_registry_column_now(relid,
										  DatumGetInt32(scd2_spi_value(row, 4, &isnull)),
										  scd2_spi_text(row, 5, CurrentMemoryContext),
										  &now, cxt);
		set_column(history, scd2_spi_text(row, 2, CurrentMemoryContext),
				   DatumGetInt32(scd2_spi_value(row, 1, &isnull)),
				   DatumGetInt32(scd2_spi_value(row, 3, &isnull)),
				   now, attnum);
	}
	dim->history = history;
}

static void
check_column(const Scd2Dimension *dim, AttrNumber attnum, AttrNumber history_attnum)
{
	Oid			relid = dim->history->relid;
	Oid			wanted;
	int32		wanted_typmod;
	Oid			wanted_collation;
	Oid			typid;
	int32		typmod;
	Oid			collation;

	if (attnum == InvalidAttrNumber)
		return;
	get_atttypetypmodcoll(dim->relid, attnum, &wanted, &wanted_typmod,
						  &wanted_collation);
	get_atttypetypmodcoll(relid, history_attnum, &typid, &typmod, &collation);
	if (typid != wanted || typmod != wanted_typmod || collation != wanted_collation)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of history table \"%s\" is of type %s, and in dimension \"%s\" of type %s",
						get_attname(relid, history_attnum, false),
						dim->history->sql_name,
						format_type_with_typemod(typid, typmod), dim->label,
						format_type_with_typemod(wanted, wanted_typmod)),
				 errhint("Give it the same type and collation in both tables.")));
}

/*
 * Check the history; see history.h.
 */
void
scd2_history_check(const Scd2Dimension *dim)
{
	const Scd2Dimension *history = dim->history;

	scd2_check_ordinary_table(history->relid);
	check_column(dim, dim->sk_attnum, history->sk_attnum);
	for (int i = 0; i < dim->nkeys; i++)
		check_column(dim, dim->keys[i].attnum, history->keys[i].attnum);
	for (int i = 0; i < dim->nattrs; i++)
	{
		check_column(dim, dim->attrs[i].attnum, history->attrs[i].attnum);
		check_column(dim, dim->attrs[i].extra_attnum, history->attrs[i].extra_attnum);
	}
	check_column(dim, dim->row_hash_attnum, history->row_hash_attnum);
	check_column(dim, dim->valid_from_attnum, history->valid_from_attnum);
	check_column(dim, dim->valid_to_attnum, history->valid_to_attnum);
	check_column(dim, dim->is_current_attnum, history->is_current_attnum);
	check_column(dim, dim->is_deleted_attnum, history->is_deleted_attnum);
}
