/*-------------------------------------------------------------------------
 *
 * drift.c
 *	  Does a source still look as the definition says?
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "drift.h"

#include "access/relation.h"
#include "nodes/nodeFuncs.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/rel.h"

/*
 * A column of the source by name, or NULL.
 */
static Form_pg_attribute
find_column(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att;
	}
	return NULL;
}

/*
 * A column that is read.  It may have the type that it had at registration, or
 * "also": the one that its column in the dimension was given since.
 */
static void
check_column(const Scd2Dimension *dim, TupleDesc desc, const char *source_label,
			 const char *name, Oid type, Oid also)
{
	Form_pg_attribute att = find_column(desc, name);

	if (att == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("source \"%s\" of dimension \"%s\" has lost column \"%s\"",
						source_label, dim->label, name),
				 errhint("Bring the column back, or register the dimension without it.")));
	if (OidIsValid(type) && att->atttypid != type && att->atttypid != also)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of source \"%s\" is of another type than when dimension \"%s\" was registered",
						name, source_label, dim->label),
				 errdetail("It was %s and is %s now.",
						   format_type_be(type), format_type_be(att->atttypid)),
				 errhint("Say SELECT scd2.alter_dimension('%s', retype => '{\"%s\": \"%s\"}'), or convert the column in a view over the source.",
						 dim->label, name, format_type_be(att->atttypid))));
}

/*
 * Number of a column among those of the registered source; -1: it had none.
 */
static int
registered_column(const Scd2Dimension *dim, const char *name)
{
	for (int i = 0; i < dim->nsource_columns; i++)
		if (strcmp(dim->source_column_names[i], name) == 0)
			return i;
	return -1;
}

static Oid
registered_type(const Scd2Dimension *dim, const char *name)
{
	int			i = registered_column(dim, name);

	return i < 0 ? InvalidOid : dim->source_column_types[i];
}

typedef struct ConditionColumns
{
	const Scd2Dimension *dim;
	TupleDesc	desc;
	const char *source_label;
} ConditionColumns;

static bool
check_condition_column(Node *node, void *context)
{
	ConditionColumns *columns = context;

	if (node == NULL)
		return false;
	if (IsA(node, ColumnRef))
	{
		Node	   *field = llast(((ColumnRef *) node)->fields);

		/* a field of a composite column is no column of the source */
		if (IsA(field, String) &&
			registered_column(columns->dim, strVal(field)) >= 0)
			check_column(columns->dim, columns->desc, columns->source_label,
						 strVal(field),
						 registered_type(columns->dim, strVal(field)), InvalidOid);
		return false;
	}
	return raw_expression_tree_walker(node, check_condition_column, context);
}

/*
 * The columns that delete_when reads: without them it says nothing.
 */
static void
check_delete_when(const Scd2Dimension *dim, TupleDesc desc,
				  const char *source_label)
{
	ConditionColumns columns = {dim, desc, source_label};
	RawStmt    *raw;

	if (dim->delete_when == NULL)
		return;
	raw = linitial_node(RawStmt, raw_parser(dim->delete_when, RAW_PARSE_PLPGSQL_EXPR));
	(void) check_condition_column(raw->stmt, &columns);
}

/*
 * The columns that the registered source has gained; see drift.h.
 */
List *
scd2_drift_gained(const Scd2Dimension *dim)
{
	Relation	rel = try_relation_open(dim->source, NoLock);
	TupleDesc	desc;
	List	   *gained = NIL;

	if (rel == NULL)
		return NIL;
	desc = RelationGetDescr(rel);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped &&
			registered_column(dim, NameStr(att->attname)) < 0)
			gained = lappend_int(gained, att->attnum);
	}
	relation_close(rel, NoLock);
	return gained;
}

/*
 * Check a source against the definition; see drift.h.
 */
bool *
scd2_check_drift(const Scd2Dimension *dim, Oid source, const char *source_label,
				 MemoryContext cxt)
{
	Relation	rel = relation_open(source, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	bool	   *lacks = NULL;

	for (int i = 0; i < dim->nkeys; i++)
		check_column(dim, desc, source_label, dim->keys[i].source_name,
					 dim->keys[i].source_type, dim->keys[i].typid);
	for (int i = 0; i < dim->nattrs; i++)
	{
		const Scd2Column *col = &dim->attrs[i];

		if (dim->on_drift == SCD2_DRIFT_ERROR ||
			find_column(desc, col->source_name) != NULL)
		{
			check_column(dim, desc, source_label, col->source_name,
						 col->source_type, col->typid);
			continue;
		}
		if (lacks == NULL)
			lacks = MemoryContextAllocZero(cxt, dim->nattrs * sizeof(bool));
		lacks[i] = true;
	}
	if (dim->effective_at != NULL)
		check_column(dim, desc, source_label, dim->effective_at,
					 registered_type(dim, dim->effective_at), InvalidOid);
	for (int i = 0; i < dim->nseq; i++)
		check_column(dim, desc, source_label, dim->seq[i].source_name,
					 registered_type(dim, dim->seq[i].source_name), InvalidOid);
	check_delete_when(dim, desc, source_label);

	if (dim->log_position != NULL && source == dim->source)
		check_column(dim, desc, source_label, dim->log_position,
					 dim->log_position_type, InvalidOid);

	/* another source is held only to what it lacks or retypes */
	if (source == dim->source && dim->on_drift == SCD2_DRIFT_ERROR)
	{
		List	   *gained = scd2_drift_gained(dim);

		if (gained != NIL)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("source \"%s\" of dimension \"%s\" has gained column \"%s\"",
							source_label, dim->label,
							NameStr(TupleDescAttr(desc, linitial_int(gained) - 1)->attname)),
					 errhint("Drop the column, read the source through a view without it, or register the dimension again, perhaps with on_drift => 'add' or 'ignore'.")));
		/* columns that nothing reads are missed, too: they were sent before */
		for (int i = 0; i < dim->nsource_columns; i++)
			check_column(dim, desc, source_label, dim->source_column_names[i],
						 InvalidOid, InvalidOid);
	}

	relation_close(rel, NoLock);
	return lacks;
}
