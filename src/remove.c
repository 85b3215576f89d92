/*-------------------------------------------------------------------------
 *
 * remove.c
 *	  Removing versions that a fold has no more.
 *
 * A foreign key ON DELETE CASCADE or SET NULL would let a plain delete take rows
 * of facts along, or cut them off.  So every key that refers to the dimension is
 * looked through first, whether its table is registered or not (R30).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "remove.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
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
 * Which doomed version does a row of the key's table still refer to?  Beside
 * scd2_doomed, whose columns are the dimension's, by number.
 */
static char *
plan_referrers(const ForeignKey *key, int sk_attnum)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT v.c%d::pg_catalog.text\n  FROM scd2_doomed AS v\n"
					 " WHERE EXISTS (SELECT FROM %s AS f WHERE ",
					 sk_attnum, scd2_relation_name(key->table));
	for (int i = 0; i < key->ncols; i++)
		appendStringInfo(&buf, "%sv.c%d %s %s", i > 0 ? " AND " : "",
						 key->refers_to[i], scd2_operator_name(key->operators[i]),
						 scd2_plan_column_of("f", get_attname(key->table,
															  key->columns[i], false)));
	appendStringInfoString(&buf, ")\n LIMIT 1");
	return buf.data;
}

/*
 * As the owner of the table that refers, as PostgreSQL's own checks of foreign
 * keys do: its rows may be hidden from the dimension's owner.
 */
static void
check_referrers(const Scd2Dimension *dim, const ForeignKey *key)
{
	Oid			userid;
	int			sec_context;
	uint64		n;

	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(scd2_relation_owner(key->table),
						   sec_context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	n = scd2_spi_read("referrers", plan_referrers(key, dim->sk_attnum),
					 0, NULL, NULL, NULL);
	SetUserIdAndSecContext(userid, sec_context);
	if (n == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FOREIGN_KEY_VIOLATION),
			 errmsg("a version of dimension \"%s\" that has to be removed is still referenced from table \"%s\"",
					dim->label, scd2_relation_name(key->table)),
			 errdetail("Its surrogate key is %s.",
					   scd2_spi_text(0, 1, CurrentMemoryContext)),
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
 * Lock the doomed versions, so that no row can begin to refer to them, and keep
 * what rows may refer to.
 */
static void
lock_doomed(Scd2Batch *batch, List *attnums, Scd2Store *doomed)
{
	const Scd2Dimension *dim = batch->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(list_length(attnums));
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
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
	SetTuplestoreDestReceiverParams(dest, doomed->store, batch->cxt, true, NULL,
									NULL);
	doomed->ntuples = scd2_spi_stream("lock removed",
									  scd2_plan_lock_doomed(dim, attnums),
									  0, NULL, NULL, NULL, false, dest);
	dest->rDestroy(dest);
}

/*
 * Take their time from versions that go; see remove.h.
 */
void
scd2_doom_versions(Scd2Batch *batch)
{
	int			guc_level;
	uint64		written;

	scd2_progress_phase(SCD2_PHASE_REMOVE, batch->removes.ntuples);
	scd2_store_register(&batch->removes);
	guc_level = scd2_spi_tid_join_begin();
	written = scd2_spi_run("doom", scd2_plan_doom(batch->dim), 0, NULL, NULL, NULL);
	scd2_spi_tid_join_end(guc_level);
	if (written != batch->removes.ntuples)
		scd2_raise_not_written(batch->dim, "removed versions",
							   scd2_find_meddlers(batch->dim->relid, CMD_UPDATE));
	scd2_store_unregister(&batch->removes);
}

/*
 * Lock versions that go; see remove.h.
 */
void
scd2_lock_doomed(Scd2Batch *batch, Scd2Removal *removal)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);

	removal->keys = find_foreign_keys(batch->dim->relid);
	if (removal->keys != NIL)
	{
		scd2_progress_phase(SCD2_PHASE_REMOVE, batch->removes.ntuples);
		scd2_store_register(&batch->removes);
		lock_doomed(batch, referred_columns(batch->dim, removal->keys),
					&removal->doomed);
		scd2_store_unregister(&batch->removes);
	}
	MemoryContextSwitchTo(oldcxt);
}

/*
 * Remove versions; see remove.h.
 */
void
scd2_remove_versions(Scd2Batch *batch, Scd2Removal *removal)
{
	Scd2Dimension *dim = batch->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	ListCell   *lc;
	uint64		written;

	scd2_progress_phase(SCD2_PHASE_REMOVE, batch->removes.ntuples);
	scd2_store_register(&batch->removes);
	if (removal->keys != NIL)
	{
		/* rows that came until we had the locks count, in any isolation level */
		CommandCounterIncrement();
		PushActiveSnapshot(GetLatestSnapshot());
		scd2_store_register(&removal->doomed);
		foreach(lc, removal->keys)
			check_referrers(dim, lfirst(lc));
		scd2_store_unregister(&removal->doomed);
		PopActiveSnapshot();
		scd2_store_end(&removal->doomed);
	}

	written = scd2_spi_run("remove", scd2_plan_remove(dim), 0, NULL, NULL, NULL);
	if (written != batch->removes.ntuples)
		scd2_raise_not_written(dim, "removed versions",
							   scd2_find_meddlers(dim->relid, CMD_DELETE));
	scd2_store_unregister(&batch->removes);
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
	scd2_spi_tid_join_end(guc_level);
	if (written != store->ntuples)
		scd2_raise_not_written(batch->dim, "removed versions",
							   scd2_find_meddlers(place->relid, CMD_DELETE));
	scd2_store_unregister(store);
}
