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

static void
check_column(const Scd2Dimension *dim, TupleDesc desc, const char *source_label,
			 const char *name, Oid type)
{
	Form_pg_attribute att = find_column(desc, name);

	if (att == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("source \"%s\" of dimension \"%s\" has lost column \"%s\"",
						source_label, dim->label, name),
				 errhint("Bring the column back, or register the dimension without it.")));
	if (OidIsValid(type) && att->atttypid != type)
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

/*
 * Check a source against the definition; see drift.h.
 */
void
scd2_check_drift(const Scd2Dimension *dim, Oid source, const char *source_label)
{
	Relation	rel = relation_open(source, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < dim->nkeys; i++)
		check_column(dim, desc, source_label, dim->keys[i].source_name,
					 dim->keys[i].source_type);
	for (int i = 0; i < dim->nattrs; i++)
		check_column(dim, desc, source_label, dim->attrs[i].source_name,
					 dim->attrs[i].source_type);
	if (dim->effective_at != NULL)
		check_column(dim, desc, source_label, dim->effective_at,
					 registered_type(dim, dim->effective_at));
	for (int i = 0; i < dim->nseq; i++)
		check_column(dim, desc, source_label, dim->seq[i].source_name,
					 registered_type(dim, dim->seq[i].source_name));

	if (dim->log_position != NULL && source == dim->source)
		check_column(dim, desc, source_label, dim->log_position,
					 dim->log_position_type);

	/* another source is held only to what it lacks or retypes */
	if (source == dim->source && dim->on_drift == SCD2_DRIFT_ERROR)
	{
		for (int i = 0; i < desc->natts; i++)
		{
			Form_pg_attribute att = TupleDescAttr(desc, i);

			if (!att->attisdropped &&
				registered_column(dim, NameStr(att->attname)) < 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("source \"%s\" of dimension \"%s\" has gained column \"%s\"",
								source_label, dim->label,
								NameStr(att->attname)),
						 errhint("Drop the column, read the source through a view without it, or register the dimension again.")));
		}
		/* columns that nothing reads are missed, too: they were sent before */
		for (int i = 0; i < dim->nsource_columns; i++)
			check_column(dim, desc, source_label, dim->source_column_names[i],
						 InvalidOid);
	}

	relation_close(rel, NoLock);
}
