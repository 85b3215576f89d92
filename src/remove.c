/*-------------------------------------------------------------------------
 *
 * remove.c
 *	  Removing versions that a fold has no more.
 *
 * A foreign key ON DELETE CASCADE or SET NULL would let a plain delete take rows
 * of facts along, or cut them off.  So every key that refers to the dimension is
 * looked through first, whether its table is registered or not (R30).  Versions
 * that no row refers to go at once; the others are held, out of the way of those
 * that come, until facts have been re-keyed.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "remove.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "meddle.h"
#include "plan_chain.h"
#include "plan_history.h"
#include "progress.h"
#include "spi.h"
#include "sqltext.h"

/* A foreign key that refers to the dimension. */
typedef struct ForeignKey
{
	Oid			table;
	int			ncols;
	AttrNumber *columns;		/* of the table */
	AttrNumber *refers_to;		/* of the dimension */
	Oid		   *operators;		/* dimension's = table's */
} ForeignKey;

static int
array_of(uint64 row, int col, Oid type, int typlen, Datum **elements)
{
	bool		isnull;
	Datum		value = scd2_spi_value(row, col, &isnull);
	int			n;

	deconstruct_array(DatumGetArrayTypeP(value), type, typlen, true,
					  typlen == sizeof(int16) ? TYPALIGN_SHORT : TYPALIGN_INT,
					  elements, NULL, &n);
	return n;
}

/*
 * The foreign keys that refer to a table now, whatever the transaction's snapshot
 * shows: PostgreSQL heeds them all.  Those of partitions follow from their
 * parent's, which finds their rows too.
 */
static List *
find_foreign_keys(Oid relid)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relid)};
	List	   *keys = NIL;
	uint64		n;

	PushActiveSnapshot(GetLatestSnapshot());
	n = scd2_spi_read("foreign keys",
					  "SELECT c.conrelid, c.conkey, c.confkey, c.conpfeqop\n"
					  "  FROM pg_catalog.pg_constraint AS c\n"
					  " WHERE c.contype OPERATOR(pg_catalog.=) 'f'\n"
					  "   AND c.confrelid OPERATOR(pg_catalog.=) $1\n"
					  "   AND c.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid\n"
					  " ORDER BY c.conrelid::pg_catalog.regclass::pg_catalog.text, c.conname",
					  1, types, values, NULL);
	PopActiveSnapshot();
	for (uint64 row = 0; row < n; row++)
	{
		ForeignKey *key = palloc(sizeof(ForeignKey));
		Datum	   *columns;
		Datum	   *refers_to;
		Datum	   *operators;
		bool		isnull;

		key->table = DatumGetObjectId(scd2_spi_value(row, 1, &isnull));
		key->ncols = array_of(row, 2, INT2OID, sizeof(int16), &columns);
		(void) array_of(row, 3, INT2OID, sizeof(int16), &refers_to);
		(void) array_of(row, 4, OIDOID, sizeof(Oid), &operators);
		key->columns = palloc(key->ncols * sizeof(AttrNumber));
		key->refers_to = palloc(key->ncols * sizeof(AttrNumber));
		key->operators = palloc(key->ncols * sizeof(Oid));
		for (int i = 0; i < key->ncols; i++)
		{
			key->columns[i] = DatumGetInt16(columns[i]);
			key->refers_to[i] = DatumGetInt16(refers_to[i]);
			key->operators[i] = DatumGetObjectId(operators[i]);
		}
		keys = lappend(keys, key);
	}
	return keys;
}

/*
 * Which doomed versions does a row of the key's table refer to?  Beside
 * scd2_doomed, whose columns are the dimension's, by number.
 */
static char *
plan_referrers(const ForeignKey *key, int sk_attnum)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT v.c%d AS c1\n  FROM scd2_doomed AS v\n"
					 " WHERE EXISTS (SELECT FROM %s AS f WHERE ",
					 sk_attnum, scd2_relation_name(key->table));
	for (int i = 0; i < key->ncols; i++)
		appendStringInfo(&buf, "%sv.c%d %s %s", i > 0 ? " AND " : "",
						 key->refers_to[i], scd2_operator_name(key->operators[i]),
						 scd2_plan_column_of("f", get_attname(key->table,
															  key->columns[i], false)));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/*
 * Find them.  As the owner of the table that refers, as PostgreSQL's own checks of
 * foreign keys do: its rows may be hidden from the dimension's owner.
 */
static void
find_referrers(Scd2Batch *batch, const ForeignKey *key, Scd2Store *referred)
{
	Oid			userid;
	int			sec_context;

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(scd2_relation_owner(key->table),
						   sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	scd2_store_fill(batch, referred, "referrers",
					plan_referrers(key, batch->dim->sk_attnum), 0, NULL, NULL, true);
	SetUserIdAndSecContext(userid, sec_context);
}

static void
raise_referred(const Scd2Dimension *dim, const ForeignKey *key,
			   const Scd2Store *referred)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(referred->desc, &TTSOpsMinimalTuple);

	tuplestore_rescan(referred->store);
	(void) tuplestore_gettupleslot(referred->store, true, false, slot);
	slot_getallattrs(slot);
	ereport(ERROR,
			(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
			 errmsg("a version of dimension \"%s\" that has to be removed is still referenced from table \"%s\"",
					dim->label, scd2_relation_name(key->table)),
			 errdetail("Its surrogate key is %s.",
					   scd2_value_text(slot->tts_values[0],
									   TupleDescAttr(referred->desc, 0)->atttypid)),
			 errhint("Nothing was written. Let the rows of that table refer to other versions first.")));
}

/* The dimension's columns that keys refer to, and its surrogate key. */
static List *
referred_columns(const Scd2Dimension *dim, List *keys)
{
	List	   *attnums = list_make1_int(dim->sk_attnum);
	ListCell   *lc;

	foreach(lc, keys)
	{
		const ForeignKey *key = lfirst(lc);

		for (int i = 0; i < key->ncols; i++)
			attnums = list_append_unique_int(attnums, key->refers_to[i]);
	}
	return attnums;
}

/*
 * Lock the versions of a store that is registered, so that no row can begin to
 * refer to them, and keep what rows may refer to.
 */
static void
lock_doomed(Scd2Batch *batch, const Scd2Store *removes, List *attnums,
			Scd2Store *doomed)
{
	const Scd2Dimension *dim = batch->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(list_length(attnums));
	ListCell   *lc;

	foreach(lc, attnums)
	{
		AttrNumber	attnum = (AttrNumber) lfirst_int(lc);
		Oid			typid;
		int32		typmod;
		Oid			collation;

		get_atttypetypmodcoll(dim->relid, attnum, &typid, &typmod, &collation);
		scd2_desc_column(desc, foreach_current_index(lc) + 1,
						 psprintf("c%d", attnum), typid, typmod, collation);
	}
	scd2_store_begin(batch, doomed, "scd2_doomed", desc);
	scd2_store_fill(batch, doomed, "lock removed",
					scd2_plan_lock_doomed(dim, removes->name, attnums),
					0, NULL, NULL, false);
}

/*
 * The surrogate keys of the versions in a store that is registered that rows refer
 * to, now that no more can come.  With "raise" there are to be none.
 */
static void
find_referred(Scd2Batch *batch, const Scd2Store *removes, List *keys, bool raise,
			  Scd2Store *referred)
{
	const Scd2Dimension *dim = batch->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	Scd2Store	doomed;
	ListCell   *lc;

	scd2_desc_column(desc, 1, "c1", dim->sk_is_uuid ? UUIDOID : INT8OID, -1,
					 InvalidOid);
	scd2_store_begin(batch, referred, "scd2_referred", desc);
	if (keys == NIL)
		return;
	lock_doomed(batch, removes, referred_columns(dim, keys), &doomed);

	/* rows that came until we had the locks count, in any isolation level */
	CommandCounterIncrement();
	PushActiveSnapshot(GetLatestSnapshot());
	scd2_store_register(&doomed);
	foreach(lc, keys)
	{
		find_referrers(batch, lfirst(lc), referred);
		if (raise && referred->ntuples > 0)
			raise_referred(dim, lfirst(lc), referred);
	}
	scd2_store_unregister(&doomed);
	PopActiveSnapshot();
	scd2_store_end(&doomed);
}

/*
 * Remove what no row refers to; see remove.h.
 */
void
scd2_remove_free_versions(Scd2Batch *batch)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	const Scd2Store *removes = &batch->removes;
	Scd2Store	referred;
	Scd2Store	unreferred;

	scd2_progress_phase(SCD2_PHASE_REMOVE, removes->ntuples);
	scd2_store_register(removes);
	find_referred(batch, removes, find_foreign_keys(batch->dim->relid), false, &referred);
	if (referred.ntuples == 0)
	{
		scd2_store_unregister(removes);
		scd2_take_out_versions(batch, batch->dim, removes);
	}
	else
	{
		scd2_store_begin(batch, &batch->held, "scd2_held", removes->desc);
		scd2_store_begin(batch, &unreferred, "scd2_free", removes->desc);
		scd2_store_register(&referred);
		scd2_store_fill(batch, &batch->held, "held",
						scd2_plan_matched(removes->name, "c1", true, referred.name),
						0, NULL, NULL, true);
		scd2_store_fill(batch, &unreferred, "free",
						scd2_plan_matched(removes->name, "c1", false, referred.name),
						0, NULL, NULL, true);
		scd2_store_unregister(&referred);
		scd2_store_unregister(removes);
		if (unreferred.ntuples > 0)
			scd2_take_out_versions(batch, batch->dim, &unreferred);
		scd2_store_end(&unreferred);
	}
	scd2_store_end(&referred);
	MemoryContextSwitchTo(oldcxt);
}

/*
 * May versions lose their key for a while?  Not where a column of it holds no null,
 * or where a foreign key would carry that on to the rows that refer to it.
 */
static bool
may_hide(const Scd2Dimension *dim)
{
	List	   *referred = referred_columns(dim, find_foreign_keys(dim->relid));
	Relation	rel = table_open(dim->relid, NoLock);
	bool		may = true;

	for (int i = 0; i < dim->nkeys; i++)
		if (TupleDescAttr(RelationGetDescr(rel), dim->keys[i].attnum - 1)->attnotnull ||
			list_member_int(referred, dim->keys[i].attnum))
			may = false;
	table_close(rel, NoLock);
	return may;
}

static void
doom(Scd2Batch *batch, const Scd2Store *store, bool hide, Scd2Store *returned,
	 const char *what)
{
	char	   *sql;
	int			guc_level;
	uint64		written;

	if (store->ntuples == 0)
		return;
	sql = scd2_plan_doom(batch->dim, store->name, hide, returned != NULL);
	scd2_store_register(store);
	guc_level = scd2_spi_tid_join_begin();
	if (returned == NULL)
		written = scd2_spi_run("doom", sql, 0, NULL, NULL, NULL);
	else
		written = scd2_store_fill(batch, returned, "doom", sql, 0, NULL, NULL, false);
	scd2_spi_planner_end(guc_level);
	if (written != store->ntuples)
		scd2_raise_not_written(batch->dim, what,
							   scd2_find_meddlers(batch->dim->relid, CMD_UPDATE));
	scd2_store_unregister(store);
}

/*
 * Get versions that go or become others out of the way; see remove.h.
 */
void
scd2_doom_versions(Scd2Batch *batch)
{
	bool		hide;

	if (batch->held.ntuples == 0 && batch->remakes.ntuples == 0)
		return;
	hide = may_hide(batch->dim);
	scd2_progress_phase(SCD2_PHASE_REMOVE,
						batch->held.ntuples + batch->remakes.ntuples);
	doom(batch, &batch->held, hide, NULL, "removed versions");
	doom(batch, &batch->remakes, hide, &batch->grows, "revised versions");
}

/*
 * Remove the versions that were held; see remove.h.
 */
void
scd2_remove_held_versions(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	Scd2Store	referred;
	uint64		written;

	scd2_progress_phase(SCD2_PHASE_REMOVE, batch->held.ntuples);
	scd2_store_register(&batch->held);
	find_referred(batch, &batch->held, find_foreign_keys(dim->relid), true, &referred);
	scd2_store_end(&referred);
	written = scd2_spi_run("remove", scd2_plan_remove(dim, batch->held.name),
						   0, NULL, NULL, NULL);
	if (written != batch->held.ntuples)
		scd2_raise_not_written(dim, "removed versions",
							   scd2_find_meddlers(dim->relid, CMD_DELETE));
	scd2_store_unregister(&batch->held);
	MemoryContextSwitchTo(oldcxt);
}

/*
 * No key may refer to versions that move; see remove.h.
 */
void
scd2_refuse_references(const Scd2Dimension *dim)
{
	const Oid	relids[] = {dim->relid, dim->history->relid};

	for (int i = 0; i < lengthof(relids); i++)
	{
		List	   *keys = find_foreign_keys(relids[i]);
		const ForeignKey *key;

		if (keys == NIL)
			continue;
		key = linitial(keys);
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a foreign key of table \"%s\" refers to \"%s\", from which versions move away",
						scd2_relation_name(key->table), scd2_relation_name(relids[i])),
				 errdetail("Dimension \"%s\" has history \"separate\": a version leaves its table when it is closed.",
						   dim->label),
				 errhint("Nothing was written. Drop the foreign key, or register the dimension with history => 'inline'.")));
	}
}

/*
 * Take versions out of a table; see remove.h.
 */
void
scd2_take_out_versions(Scd2Batch *batch, const Scd2Dimension *place,
					   const Scd2Store *store)
{
	int			guc_level;
	uint64		written;

	scd2_progress_phase(SCD2_PHASE_REMOVE, store->ntuples);
	scd2_store_register(store);
	guc_level = scd2_spi_tid_join_begin();
	written = scd2_spi_run("take out", scd2_plan_take_out(place, store->name),
						   0, NULL, NULL, NULL);
	scd2_spi_planner_end(guc_level);
	if (written != store->ntuples)
		scd2_raise_not_written(batch->dim, "removed versions",
							   scd2_find_meddlers(place->relid, CMD_DELETE));
	scd2_store_unregister(store);
}
