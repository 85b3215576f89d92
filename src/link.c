/*-------------------------------------------------------------------------
 *
 * link.c
 *	  Links: facts whose surrogate keys follow a dimension.  Registering,
 *	  unregistering, loading, locking.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "link.h"

#include "access/htup_details.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "names.h"
#include "spi.h"
#include "sqltext.h"

/* ----------------------------------------------------------------
 * Loading
 * ----------------------------------------------------------------
 */

/*
 * A column of a fact as it is now, by its cached number, else by name.  False if
 * it is gone.
 */
static bool
column_now(Oid relid, AttrNumber cached, const char *name, char **name_now,
		   Oid *typid, Oid *collation)
{
	HeapTuple	tuple = cached != InvalidAttrNumber ?
		SearchSysCacheAttNum(relid, cached) : SearchSysCacheAttName(relid, name);
	Form_pg_attribute att;

	if (!HeapTupleIsValid(tuple))
		return false;
	att = (Form_pg_attribute) GETSTRUCT(tuple);
	*name_now = pstrdup(NameStr(att->attname));
	*typid = att->atttypid;
	*collation = att->attcollation;
	ReleaseSysCache(tuple);
	return true;
}

static int
text_array(Datum array, Datum **elements)
{
	int			n;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  elements, NULL, &n);
	return n;
}

/*
 * A row of the query below; NULL where something that it needs is gone.
 */
static Scd2Link *
link_of_row(uint64 row)
{
	Scd2Link   *link = palloc0(sizeof(Scd2Link));
	AttrNumber	attnums[2] = {0};
	Datum	   *names;
	Datum	   *numbers = NULL;
	Oid			typid;
	Oid			collation;
	bool		isnull;
	Datum		value;

	link->id = DatumGetInt32(scd2_spi_value(row, 1, &isnull));
	link->dimension_id = DatumGetInt32(scd2_spi_value(row, 2, &isnull));
	value = scd2_spi_value(row, 3, &isnull);
	link->dimension = isnull ? InvalidOid : DatumGetObjectId(value);
	value = scd2_spi_value(row, 4, &isnull);
	link->fact = isnull ? InvalidOid : DatumGetObjectId(value);
	if (!OidIsValid(link->fact) || !OidIsValid(link->dimension) ||
		get_rel_name(link->fact) == NULL)
		return NULL;
	link->owner = scd2_relation_owner(link->fact);
	link->sql_name = scd2_relation_name(link->fact);

	for (int i = 0; i < lengthof(attnums); i++)
	{
		value = scd2_spi_value(row, 7 + i, &isnull);
		attnums[i] = isnull ? InvalidAttrNumber : DatumGetInt16(value);
	}
	if (!column_now(link->fact, attnums[0],
					scd2_spi_text(row, 5, CurrentMemoryContext),
					&link->sk_name, &typid, &collation) ||
		!column_now(link->fact, attnums[1],
					scd2_spi_text(row, 6, CurrentMemoryContext),
					&link->event_time, &link->event_type, &collation))
		return NULL;
	link->event_type = getBaseType(link->event_type);

	link->nkeys = text_array(scd2_spi_value(row, 9, &isnull), &names);
	value = scd2_spi_value(row, 10, &isnull);
	if (!isnull)
	{
		int			n;

		deconstruct_array(DatumGetArrayTypeP(value), INT2OID, sizeof(int16), true,
						  TYPALIGN_SHORT, &numbers, NULL, &n);
		Assert(n == link->nkeys);
	}
	link->keys = palloc(link->nkeys * sizeof(Scd2LinkKey));
	for (int i = 0; i < link->nkeys; i++)
		if (!column_now(link->fact,
						numbers == NULL ? InvalidAttrNumber : DatumGetInt16(numbers[i]),
						TextDatumGetCString(names[i]), &link->keys[i].name,
						&link->keys[i].typid, &link->keys[i].collation))
			return NULL;
	link->infer = DatumGetBool(scd2_spi_value(row, 11, &isnull));
	return link;
}

/*
 * Links by their cached tables, or by name where a restore left them uncached.
 * One of $1 and $2 is null.
 */
static List *
load_links(int32 dimension_id, Oid fact)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, OIDOID};
	Datum		values[] = {Int32GetDatum(dimension_id), ObjectIdGetDatum(fact)};
	bool		nulls[] = {dimension_id == 0, !OidIsValid(fact)};
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext oldcxt;
	List	   *links = NIL;
	uint64		n;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	n = scd2_spi_cached("load links", &plan,
						"SELECT l.id, l.dimension_id, r.relation::oid, l.fact::oid,"
						" l.surrogate_key, l.event_time, l.sk_attnum, l.event_attnum,"
						" l.key_columns, l.key_attnums, l.infer "
						"FROM (SELECT f.*, k.surrogate_key AS sk_attnum,"
						" k.event_time AS event_attnum, k.key_columns AS key_attnums,"
						" CASE WHEN k.fact_id IS NOT NULL THEN k.fact ELSE"
						" (SELECT c.oid FROM pg_catalog.pg_class c"
						" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
						" WHERE n.nspname = f.schema_name AND c.relname = f.table_name"
						" AND c.relkind IN ('r', 'p')) END AS fact"
						" FROM scd2.registry_fact f"
						" LEFT JOIN scd2.registry_cache_fact k ON k.fact_id = f.id) l "
						"JOIN scd2.registry_resolved r ON r.dimension_id = l.dimension_id"
						" AND r.state = 'registered' "
						"WHERE l.dimension_id = $1 OR l.fact = $2 ORDER BY l.id",
						2, types, values, nulls, false);
	oldcxt = MemoryContextSwitchTo(cxt);
	for (uint64 row = 0; row < n; row++)
	{
		Scd2Link   *link = link_of_row(row);

		if (link != NULL)
			links = lappend(links, link);
	}
	MemoryContextSwitchTo(oldcxt);
	scd2_spi_end();
	scd2_rights_leave(&save);
	return links;
}

/*
 * The links of a dimension, and of a fact; see link.h.
 */
List *
scd2_links_of_dimension(int32 dimension_id)
{
	return load_links(dimension_id, InvalidOid);
}

List *
scd2_links_of_fact(Oid fact)
{
	return load_links(0, fact);
}

/*
 * Lock the facts and look again; see link.h.
 */
List *
scd2_links_open(int32 dimension_id, LOCKMODE lockmode)
{
	List	   *locked = NIL;
	List	   *links;
	bool		all;

	do
	{
		ListCell   *lc;

		all = true;
		links = scd2_links_of_dimension(dimension_id);
		foreach(lc, links)
		{
			const Scd2Link *link = lfirst(lc);

			if (list_member_oid(locked, link->fact))
				continue;
			LockRelationOid(link->fact, lockmode);
			locked = lappend_oid(locked, link->fact);
			all = false;
		}
	} while (!all);
	return links;
}

/* ----------------------------------------------------------------
 * Locking
 * ----------------------------------------------------------------
 */

/*
 * Lock the links; see link.h.  A link is not changed while it is there, so that
 * no isolation level has anything to say against the lock.
 */
void
scd2_links_lock(const List *facts)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {OIDARRAYOID};
	Datum		values[1];
	Datum	   *oids = palloc(list_length(facts) * sizeof(Datum));
	ListCell   *lc;
	Scd2Rights	save;

	foreach(lc, facts)
		oids[foreach_current_index(lc)] = ObjectIdGetDatum(lfirst_oid(lc));
	values[0] = PointerGetDatum(construct_array(oids, list_length(facts), OIDOID,
												sizeof(Oid), true, TYPALIGN_INT));
	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_cached("lock facts", &plan,
						   "SELECT FROM scd2.registry_fact f "
						   "JOIN scd2.registry_cache_fact k ON k.fact_id = f.id "
						   "WHERE k.fact = ANY ($1) ORDER BY f.id FOR UPDATE OF f",
						   1, types, values, NULL, false);
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Facts and their partitions; see link.h.
 */
List *
scd2_link_relations(int32 dimension_id)
{
	List	   *links = scd2_links_of_dimension(dimension_id);
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, links)
		relids = list_concat_unique_oid(relids,
										find_all_inheritors(((Scd2Link *) lfirst(lc))->fact,
															NoLock, NULL));
	return relids;
}

/* ----------------------------------------------------------------
 * Registering
 * ----------------------------------------------------------------
 */

/* What a registration says, checked as it goes. */
typedef struct Registration
{
	Oid			fact;
	char	   *label;			/* schema and name of the fact */
	Scd2Dimension *dim;
	int			nkeys;
	Datum	   *keys;			/* text */
	char	   *event_time;
	char	   *sk;
	bool		infer;
	AttrNumber	sk_attnum;
	AttrNumber	event_attnum;
	Datum	   *key_attnums;
} Registration;

/*
 * The role of the fact's owner is needed; see link.h.
 */
void
scd2_link_check_owner(Oid fact)
{
	Oid			owner = scd2_relation_owner(fact);

	if (has_privs_of_role(GetUserId(), owner))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be owner of fact \"%s\"", scd2_relation_name(fact)),
			 errdetail("It belongs to role \"%s\".", GetUserNameFromId(owner, true)),
			 errhint("Call as that role or as a member of it.")));
}

/*
 * Does a relation belong to a dimension: table, log, history or view?
 */
static bool
is_of_a_dimension(Oid relid)
{
	const Oid	types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relid)};
	bool		found;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	found = scd2_spi_run("look for dimension",
						 "SELECT FROM scd2.registry_resolved r"
						 " WHERE r.state <> 'gone' AND $1 IN (r.relation, r.log, r.history) LIMIT 1",
						 1, types, values, NULL) > 0;
	scd2_spi_end();
	scd2_rights_leave(&save);
	return found;
}

static void
check_fact_kind(const Registration *reg)
{
	char		relkind = get_rel_relkind(reg->fact);

	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("fact \"%s\" is not a table", reg->label),
				 errhint("Register an ordinary or a partitioned table.")));
	if (get_rel_relispartition(reg->fact))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("fact \"%s\" is a partition", reg->label),
				 errhint("Register the partitioned table.")));
	if (get_rel_persistence(reg->fact) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("fact \"%s\" is a temporary table", get_rel_name(reg->fact)),
				 errdetail("Other sessions' runs could not re-key it.")));
	if (IsCatalogRelationOid(reg->fact))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("fact \"%s\" is a system catalog", reg->label)));
	if (is_of_a_dimension(reg->fact))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("fact \"%s\" is a dimension's table, log or history", reg->label),
				 errdetail("scd2 would write it from two sides.")));
}

/*
 * A column of the fact; its type's base goes to *typid.
 */
static AttrNumber
find_column(const Registration *reg, const char *parameter, const char *name,
			bool written, Oid *typid)
{
	HeapTuple	tuple = SearchSysCacheAttName(reg->fact, name);
	Form_pg_attribute att;
	AttrNumber	attnum;

	if (!HeapTupleIsValid(tuple) ||
		((Form_pg_attribute) GETSTRUCT(tuple))->attnum < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of fact \"%s\" does not exist", name, reg->label),
				 errdetail("%s names it.", parameter)));
	att = (Form_pg_attribute) GETSTRUCT(tuple);
	if (written && (att->attgenerated != '\0' ||
					att->attidentity == ATTRIBUTE_IDENTITY_ALWAYS))
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("column \"%s\" of fact \"%s\" is generated always", name, reg->label),
				 errdetail("scd2 has to set it.")));
	attnum = att->attnum;
	*typid = getBaseType(att->atttypid);
	ReleaseSysCache(tuple);
	return attnum;
}

/*
 * Types whose values = of pg_catalog compares with each other.
 */
static int
type_family(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
			return 1;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return 2;
		case FLOAT4OID:
		case FLOAT8OID:
			return 3;
	}
	return 0;
}

static void
check_keys(Registration *reg)
{
	const Scd2Dimension *dim = reg->dim;

	if (reg->nkeys != dim->nkeys)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("business_key has %d columns, and that of dimension \"%s\" has %d",
						reg->nkeys, dim->label, dim->nkeys),
				 errhint("Name the fact's column for each of the dimension's, in their order.")));
	reg->key_attnums = palloc(reg->nkeys * sizeof(Datum));
	for (int i = 0; i < reg->nkeys; i++)
	{
		char	   *name = TextDatumGetCString(reg->keys[i]);
		Oid			wanted = getBaseType(dim->keys[i].typid);
		Oid			typid;

		reg->key_attnums[i] = Int16GetDatum(find_column(reg, "business_key", name,
														false, &typid));
		if (typid != wanted &&
			(type_family(typid) == 0 || type_family(typid) != type_family(wanted)))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of fact \"%s\" is of type %s, and column \"%s\" of dimension \"%s\" of type %s",
							name, reg->label, format_type_be(typid), dim->keys[i].name,
							dim->label, format_type_be(wanted)),
					 errhint("Give them types that compare, with ALTER TABLE %s ALTER COLUMN %s TYPE %s.",
							 scd2_relation_name(reg->fact), quote_identifier(name),
							 format_type_be(wanted))));
		for (int j = 0; j < i; j++)
			if (reg->key_attnums[j] == reg->key_attnums[i])
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("business_key names column \"%s\" twice", name)));
	}
}

static void
check_other_columns(Registration *reg)
{
	const Scd2Dimension *dim = reg->dim;
	Oid			wanted = dim->sk_is_uuid ? UUIDOID : INT8OID;
	Oid			typid;

	reg->event_attnum = find_column(reg, "event_time", reg->event_time, false, &typid);
	if (typid != DATEOID && typid != TIMESTAMPOID && typid != TIMESTAMPTZOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of fact \"%s\" is of type %s, and event_time is a date, timestamp or timestamptz",
						reg->event_time, reg->label, format_type_be(typid))));
	reg->sk_attnum = find_column(reg, "surrogate_key", reg->sk, true, &typid);
	if (typid != wanted)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of fact \"%s\" is of type %s, and surrogate keys of dimension \"%s\" are of type %s",
						reg->sk, reg->label, format_type_be(typid), dim->label,
						format_type_be(wanted)),
				 errhint("Say ALTER TABLE %s ALTER COLUMN %s TYPE %s.",
						 scd2_relation_name(reg->fact), quote_identifier(reg->sk),
						 format_type_be(wanted))));
	for (int i = 0; i < reg->nkeys; i++)
		if (DatumGetInt16(reg->key_attnums[i]) == reg->sk_attnum)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" of fact \"%s\" is named for surrogate_key and for business_key",
							reg->sk, reg->label)));
}

/*
 * With history => 'separate' a version leaves its table when it is closed: a key
 * that refers to it could not be (R30).
 */
static void
check_no_reference(const Registration *reg)
{
	const Scd2Dimension *dim = reg->dim;
	const Oid	types[] = {OIDOID, OIDOID, OIDOID};
	Datum		values[3];
	uint64		n;

	if (dim->history == NULL)
		return;
	values[0] = ObjectIdGetDatum(reg->fact);
	values[1] = ObjectIdGetDatum(dim->relid);
	values[2] = ObjectIdGetDatum(dim->history->relid);
	scd2_spi_begin();
	PushActiveSnapshot(GetLatestSnapshot());
	n = scd2_spi_read("foreign keys",
					  "SELECT FROM pg_catalog.pg_constraint AS c\n"
					  " WHERE c.contype OPERATOR(pg_catalog.=) 'f'\n"
					  "   AND c.conrelid OPERATOR(pg_catalog.=) $1\n"
					  "   AND c.confrelid OPERATOR(pg_catalog.=) ANY (ARRAY[$2, $3])",
					  3, types, values, NULL);
	PopActiveSnapshot();
	scd2_spi_end();
	if (n > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a foreign key of fact \"%s\" refers to dimension \"%s\", from which versions move away",
						reg->label, dim->label),
				 errdetail("The dimension has history \"separate\": a version leaves its table when it is closed."),
				 errhint("Drop the foreign key, or register the dimension with history => 'inline'.")));
}

static void
check_infer(const Registration *reg)
{
	if (reg->infer && !OidIsValid(reg->dim->log))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dimension \"%s\" has no change log", reg->dim->label),
				 errdetail("infer => true logs a change for each inferred member, which the first real change completes."),
				 errhint("Register the dimension with change_log => true.")));
}

static void
check_not_linked(const Registration *reg)
{
	List	   *links = scd2_links_of_fact(reg->fact);
	ListCell   *lc;

	foreach(lc, links)
	{
		const Scd2Link *link = lfirst(lc);

		if (strcmp(link->sk_name, reg->sk) != 0)
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("column \"%s\" of fact \"%s\" is registered already",
						reg->sk, reg->label),
				 errdetail("It follows dimension \"%s\".", scd2_relation_name(link->dimension)),
				 errhint("Call scd2.unregister_fact first.")));
	}
}

static Datum
names_array(const Registration *reg)
{
	return PointerGetDatum(construct_array(reg->keys, reg->nkeys, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

static void
write_link(const Registration *reg)
{
	const Oid	types[] = {INT4OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTARRAYOID,
	BOOLOID, OIDOID, INT2OID, INT2OID, INT2ARRAYOID};
	Datum		values[lengthof(types)];
	Scd2Rights	save;

	values[0] = Int32GetDatum(reg->dim->id);
	values[1] = CStringGetTextDatum(get_namespace_name(get_rel_namespace(reg->fact)));
	values[2] = CStringGetTextDatum(get_rel_name(reg->fact));
	values[3] = CStringGetTextDatum(reg->sk);
	values[4] = CStringGetTextDatum(reg->event_time);
	values[5] = names_array(reg);
	values[6] = BoolGetDatum(reg->infer);
	values[7] = ObjectIdGetDatum(reg->fact);
	values[8] = Int16GetDatum(reg->sk_attnum);
	values[9] = Int16GetDatum(reg->event_attnum);
	values[10] = PointerGetDatum(construct_array(reg->key_attnums, reg->nkeys, INT2OID,
												 sizeof(int16), true, TYPALIGN_SHORT));
	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_run("register fact",
						"WITH f AS (INSERT INTO scd2.registry_fact"
						" (dimension_id, schema_name, table_name, surrogate_key, event_time, key_columns, infer)"
						" VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id) "
						"INSERT INTO scd2.registry_cache_fact"
						" (fact_id, fact, surrogate_key, event_time, key_columns) "
						"SELECT f.id, $8::regclass, $9, $10, $11 FROM f",
						lengthof(types), types, values, NULL);
	scd2_spi_end();
	scd2_rights_leave(&save);
}

static void
raise_null(const char *parameter)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("\"%s\" must not be null", parameter)));
}

static Oid
fact_argument(FunctionCallInfo fcinfo, char **label)
{
	if (PG_ARGISNULL(0))
		raise_null("fact");
	*label = scd2_relation_name(PG_GETARG_OID(0));
	return PG_GETARG_OID(0);
}

PG_FUNCTION_INFO_V1(scd2_register_fact);

/*
 * scd2.register_fact(fact, dimension, business_key, event_time, surrogate_key,
 * infer): from now on the surrogate key follows the dimension (R29).
 */
Datum
scd2_register_fact(PG_FUNCTION_ARGS)
{
	static const char *const parameters[] = {"fact", "dimension", "business_key",
	"event_time", "surrogate_key", "infer"};
	Registration reg = {0};
	ArrayType  *keys;

	for (int i = 0; i < lengthof(parameters); i++)
		if (PG_ARGISNULL(i))
			raise_null(parameters[i]);
	reg.fact = fact_argument(fcinfo, &reg.label);
	keys = PG_GETARG_ARRAYTYPE_P(2);
	if (array_contains_nulls(keys))
		raise_null("business_key");
	reg.nkeys = text_array(PointerGetDatum(keys), &reg.keys);
	reg.event_time = text_to_cstring(PG_GETARG_TEXT_PP(3));
	reg.sk = text_to_cstring(PG_GETARG_TEXT_PP(4));
	reg.infer = PG_GETARG_BOOL(5);

	/* before waiting for anything: who may not, does not hold others up */
	scd2_registry_check_owner(scd2_registry_load(PG_GETARG_OID(1), CurrentMemoryContext));
	scd2_link_check_owner(reg.fact);

	/* a run that began without the link would not re-key the fact: wait for it */
	LockRelationOid(PG_GETARG_OID(1), ShareRowExclusiveLock);
	LockRelationOid(reg.fact, ShareUpdateExclusiveLock);
	reg.dim = scd2_registry_load(PG_GETARG_OID(1), CurrentMemoryContext);
	scd2_registry_check_owner(reg.dim);
	reg.label = scd2_relation_name(reg.fact);
	scd2_link_check_owner(reg.fact);

	check_fact_kind(&reg);
	check_keys(&reg);
	check_other_columns(&reg);
	check_no_reference(&reg);
	check_infer(&reg);
	check_not_linked(&reg);
	write_link(&reg);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(scd2_unregister_fact);

/*
 * scd2.unregister_fact(fact, surrogate_key): the fact's owner or the dimension's
 * may take a link back.
 */
Datum
scd2_unregister_fact(PG_FUNCTION_ARGS)
{
	char	   *label;
	Oid			fact = fact_argument(fcinfo, &label);
	char	   *sk;
	ListCell   *lc;

	if (PG_ARGISNULL(1))
		raise_null("surrogate_key");
	sk = text_to_cstring(PG_GETARG_TEXT_PP(1));

	foreach(lc, scd2_links_of_fact(fact))
	{
		const Scd2Link *link = lfirst(lc);
		const Oid	types[] = {INT4OID};
		Datum		values[] = {Int32GetDatum(link->id)};
		Scd2Rights	save;

		if (strcmp(link->sk_name, sk) != 0)
			continue;
		if (!has_privs_of_role(GetUserId(), scd2_relation_owner(link->dimension)))
			scd2_link_check_owner(fact);
		scd2_registry_enter(&save);
		scd2_spi_begin();
		(void) scd2_spi_run("unregister fact",
							"WITH k AS (DELETE FROM scd2.registry_cache_fact WHERE fact_id = $1) "
							"DELETE FROM scd2.registry_fact WHERE id = $1",
							1, types, values, NULL);
		scd2_spi_end();
		scd2_rights_leave(&save);
		PG_RETURN_VOID();
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("column \"%s\" of table \"%s\" is not registered as a fact's", sk, label),
			 errhint("Register it with scd2.register_fact.")));
	PG_RETURN_VOID();
}
