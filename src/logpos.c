/*-------------------------------------------------------------------------
 *
 * logpos.c
 *	  Mode log: how far a source has been read for good.
 *
 * A transaction draws a position from a sequence, may wait, and inserts and
 * commits the row long after rows of higher positions were read.  It needs no
 * transaction id to draw one, so that no snapshot tells of it.  But it is some
 * transaction that runs: where positions grow in the order in which they are
 * drawn, a row that comes later than the highest position that a run saw, and is
 * below it, comes from a transaction that ran at that moment.
 *
 * So a run remembers the highest position that it saw ("next"), and afterwards
 * which transactions run, by their virtual ids ("waits").  A later run that finds
 * all of them ended, before it takes its snapshot, sees every row up to "next"
 * that will ever be; it still reads above the mark of before, and then "next" is
 * the mark.  Until then each run reads above the old mark, and R5 drops what was
 * read before.
 *
 * Virtual ids start anew with the server, and another server has others.  A
 * stored one that meets another transaction of the same id only makes the mark
 * wait for that one.  Only prepared transactions outlive a server, and then have
 * no backend's id: whatever is found so is waited for, too.
 *
 * The caller's own transaction is among those waited for: it may have drawn a
 * position and insert the row after the run.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "logpos.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "spi.h"
#include "sqltext.h"

/* ----------------------------------------------------------------
 * Transactions
 * ----------------------------------------------------------------
 */

/*
 * A virtual transaction id as pg_locks shows it.
 */
static char *
vxid_text(VirtualTransactionId vxid)
{
	return psprintf("%d/%u", COMPAT_VXID_BACKEND(vxid), vxid.localTransactionId);
}

/*
 * The transactions that run in this database, this one and prepared ones
 * included; or, with "among" (a text[]), those of them that are in it, or were
 * prepared before the server started.  Vacuum and decoding write no rows.
 */
static Datum
running_transactions(Datum among)
{
	int			n;
	VirtualTransactionId *vxids =
		GetCurrentVirtualXIDs(InvalidTransactionId, false, false,
							  PROC_IS_AUTOVACUUM | PROC_IN_VACUUM |
							  PROC_IN_LOGICAL_DECODING, &n);
	Datum	   *elements = palloc((n + 1) * sizeof(Datum));
	Datum	   *wanted = NULL;
	int			nwanted = 0;
	int			found = 0;

	if (among != (Datum) 0)
		deconstruct_array(DatumGetArrayTypeP(among), TEXTOID, -1, false,
						  TYPALIGN_INT, &wanted, NULL, &nwanted);
	for (int i = 0; i <= n; i++)
	{
		VirtualTransactionId vxid;
		char	   *name;
		bool		take;

		if (i < n)
			vxid = vxids[i];
		else
			GET_VXID_FROM_PGPROC(vxid, *MyProc);
		name = vxid_text(vxid);
		take = among == (Datum) 0 || VirtualTransactionIdIsRecoveredPreparedXact(vxid);
		for (int j = 0; j < nwanted && !take; j++)
			take = strcmp(name, TextDatumGetCString(wanted[j])) == 0;
		if (take)
			elements[found++] = CStringGetTextDatum(name);
	}
	return PointerGetDatum(construct_array(elements, found, TEXTOID, -1, false,
										   TYPALIGN_INT));
}

static bool
is_empty(Datum array)
{
	return ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(array)),
						  ARR_DIMS(DatumGetArrayTypeP(array))) == 0;
}

/* ----------------------------------------------------------------
 * Sources and types
 * ----------------------------------------------------------------
 */

/*
 * Why the mark cannot move; see logpos.h.  Looked for: relations below the
 * source, through views and partitions, whose rows appear otherwise than by a
 * commit in this database, and sequences that hand out positions out of order.
 */
char *
scd2_logpos_untracked(Oid source, const char *position)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {OIDOID, TEXTOID};
	Datum		values[] = {ObjectIdGetDatum(source), CStringGetTextDatum(position)};
	MemoryContext cxt = CurrentMemoryContext;
	char	   *reason = NULL;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	if (scd2_spi_cached("look below the source", &plan,
						"WITH RECURSIVE below(oid) AS ("
						" SELECT $1::oid"
						" UNION"
						" SELECT n.oid FROM below b, LATERAL ("
						"  SELECT d.refobjid FROM pg_catalog.pg_rewrite w"
						"  JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass"
						"   AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass"
						"  WHERE w.ev_class = b.oid AND w.ev_type = '1'"
						"  UNION ALL"
						"  SELECT i.inhrelid FROM pg_catalog.pg_inherits i WHERE i.inhparent = b.oid) n(oid)) "
						"SELECT pg_catalog.format('%s \"%s\" %s.',"
						"  CASE c.relkind WHEN 'f' THEN 'Foreign table' WHEN 'm' THEN 'Materialized view' ELSE 'Table' END,"
						"  c.oid::regclass,"
						"  CASE c.relkind WHEN 'f' THEN 'is of another server, whose transactions cannot be seen'"
						"   WHEN 'm' THEN 'shows rows when it is refreshed, not when they are committed'"
						"   ELSE 'gets rows from another server by logical replication' END)"
						" FROM below b JOIN pg_catalog.pg_class c ON c.oid = b.oid"
						" WHERE c.relkind IN ('f', 'm')"
						"  OR EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s WHERE s.srrelid = c.oid) "
						"UNION ALL "
						"SELECT pg_catalog.format('View \"%s\" calls function \"%s\", whose rows may come from anywhere.',"
						"  b.oid::regclass, p.oid::regproc)"
						" FROM below b JOIN pg_catalog.pg_rewrite w ON w.ev_class = b.oid AND w.ev_type = '1'"
						" JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass"
						"  AND d.objid = w.oid AND d.refclassid = 'pg_catalog.pg_proc'::regclass"
						" JOIN pg_catalog.pg_proc p ON p.oid = d.refobjid AND p.proretset "
						"UNION ALL "
						"SELECT pg_catalog.format('Sequence \"%s\" %s.', q.seqrelid::regclass,"
						"  CASE WHEN q.seqcache > 1 THEN 'hands out ' || q.seqcache || ' values at once (CACHE), which sessions use out of order'"
						"   WHEN q.seqcycle THEN 'starts again at its end (CYCLE)'"
						"   ELSE 'counts down' END)"
						" FROM below b"
						" JOIN pg_catalog.pg_attribute a ON a.attrelid = b.oid AND a.attname = $2 AND NOT a.attisdropped"
						" JOIN pg_catalog.pg_sequence q ON q.seqcache > 1 OR q.seqcycle OR q.seqincrement < 0"
						" WHERE EXISTS (SELECT FROM pg_catalog.pg_depend d"
						"   WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = q.seqrelid"
						"    AND d.refclassid = 'pg_catalog.pg_class'::regclass"
						"    AND d.refobjid = b.oid AND d.refobjsubid = a.attnum)"
						"  OR EXISTS (SELECT FROM pg_catalog.pg_attrdef f"
						"   JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid"
						"    AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid = q.seqrelid"
						"   WHERE f.adrelid = b.oid AND f.adnum = a.attnum) "
						"LIMIT 1",
						2, types, values, NULL, true) > 0)
		reason = scd2_spi_text(0, 1, cxt);
	scd2_spi_end();
	scd2_rights_leave(&save);
	return reason;
}

/*
 * May the column be a position?  See logpos.h.
 */
void
scd2_logpos_check_type(Oid type, Oid collation, const char *column)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_GT_OPR |
											  TYPECACHE_CMP_PROC);

	if (!OidIsValid(entry->gt_opr) || !OidIsValid(entry->cmp_proc) ||
		OidIsValid(collation))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" in \"log_position\" is of type %s",
						column, format_type_be(type)),
				 OidIsValid(collation) ?
				 errdetail("The order of its values depends on a collation.") :
				 errdetail("Its values have no order."),
				 errhint("Use a number that grows with each row, such as an identity column.")));
}

/* ----------------------------------------------------------------
 * The mark
 * ----------------------------------------------------------------
 */

/*
 * Read the mark; see logpos.h.
 */
void
scd2_logpos_begin(const Scd2Dimension *dim, Scd2LogPos *pos)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, OIDOID};
	Datum		values[] = {Int32GetDatum(dim->id), ObjectIdGetDatum(dim->source)};
	MemoryContext cxt = CurrentMemoryContext;
	MemoryContext oldcxt;
	TypeCacheEntry *entry;
	Datum		waits = (Datum) 0;
	bool		isnull;
	Scd2Rights	save;

	memset(pos, 0, sizeof(*pos));
	if (dim->mode != SCD2_MODE_LOG || !OidIsValid(dim->source))
		return;

	pos->active = true;
	pos->cxt = cxt;
	pos->type = getBaseType(dim->log_position_type);
	entry = lookup_type_cache(pos->type, TYPECACHE_GT_OPR | TYPECACHE_CMP_PROC_FINFO);
	pos->greater = entry->gt_opr;
	pos->compare = palloc(sizeof(FmgrInfo));
	fmgr_info_copy(pos->compare, &entry->cmp_proc_finfo, cxt);
	get_typlenbyval(pos->type, &pos->typlen, &pos->typbyval);
	pos->is_tracked = scd2_logpos_untracked(dim->source, dim->log_position) == NULL;
	if (!pos->is_tracked)
		return;

	/* of another source, as after a restore, they mean nothing */
	scd2_registry_enter(&save);
	scd2_spi_begin();
	if (scd2_spi_cached("read mark", &plan,
						"SELECT l.log_mark, l.log_next, l.log_waits FROM scd2.registry_lock l"
						" JOIN scd2.registry_cache k ON k.dimension_id = l.dimension_id"
						" WHERE l.dimension_id = $1 AND k.log_source = $2",
						2, types, values, NULL, XactReadOnly) == 1)
	{
		pos->mark = scd2_spi_text(0, 1, cxt);
		pos->next = scd2_spi_text(0, 2, cxt);
		waits = scd2_spi_value(0, 3, &isnull);
		oldcxt = MemoryContextSwitchTo(cxt);
		waits = isnull ? PointerGetDatum(construct_empty_array(TEXTOID)) :
			datumCopy(waits, false, -1);
		MemoryContextSwitchTo(oldcxt);
	}
	scd2_spi_end();
	scd2_rights_leave(&save);

	/*
	 * Has all ended that ran when "next" was seen?  A snapshot that is older than
	 * this look may still not show it; but what an earlier run found ended had
	 * ended before that run's end, and this run's snapshot is younger (R18).
	 */
	if (pos->next != NULL)
	{
		pos->waits = running_transactions(waits);
		pos->next_is_safe = is_empty(waits) ||
			(is_empty(pos->waits) && !IsolationUsesXactSnapshot());
	}
}

/*
 * The mark as a value; see logpos.h.
 */
static Datum
position_in(const Scd2LogPos *pos, const char *text)
{
	Oid			input;
	Oid			param;

	getTypeInputInfo(pos->type, &input, &param);
	return OidInputFunctionCall(input, unconstify(char *, text), param, -1);
}

Datum
scd2_logpos_mark(const Scd2LogPos *pos)
{
	return position_in(pos, pos->mark);
}

/*
 * A position was read; see logpos.h.
 */
void
scd2_logpos_seen(Scd2LogPos *pos, Datum position)
{
	MemoryContext oldcxt;

	if (pos->has_last &&
		DatumGetInt32(FunctionCall2(pos->compare, position, pos->last)) <= 0)
		return;
	oldcxt = MemoryContextSwitchTo(pos->cxt);
	if (pos->has_last && !pos->typbyval)
		pfree(DatumGetPointer(pos->last));
	if (pos->typlen == -1)
		pos->last = PointerGetDatum(PG_DETOAST_DATUM_COPY(position));
	else
		pos->last = datumCopy(position, pos->typbyval, pos->typlen);
	pos->has_last = true;
	MemoryContextSwitchTo(oldcxt);
}

static void
set_mark(const Scd2Dimension *dim, const char *mark, const char *next, Datum waits)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, OIDOID, TEXTOID, TEXTOID, TEXTARRAYOID};
	Datum		values[] = {Int32GetDatum(dim->id), ObjectIdGetDatum(dim->source),
		mark == NULL ? (Datum) 0 : CStringGetTextDatum(mark),
		next == NULL ? (Datum) 0 : CStringGetTextDatum(next), waits};
	bool		nulls[] = {false, false, mark == NULL, next == NULL,
	next == NULL || waits == (Datum) 0};

	(void) scd2_spi_cached("keep mark", &plan,
						   "WITH k AS (UPDATE scd2.registry_cache SET log_source = $2"
						   " WHERE dimension_id = $1 AND log_source IS DISTINCT FROM $2) "
						   "UPDATE scd2.registry_lock SET log_mark = $3,"
						   " log_next = $4, log_waits = $5 WHERE dimension_id = $1",
						   5, types, values, nulls, false);
}

/*
 * Keep how far the run read; see logpos.h.
 */
void
scd2_logpos_end(const Scd2Dimension *dim, const Scd2LogPos *pos, int64 run_id)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT8OID, TEXTOID};
	Datum		values[] = {Int64GetDatum(run_id),
	pos->mark == NULL ? (Datum) 0 : CStringGetTextDatum(pos->mark)};
	bool		nulls[] = {false, pos->mark == NULL};
	char	   *mark = pos->mark;
	char	   *next = pos->next;
	Datum		waits = pos->waits;
	Scd2Rights	save;

	if (!pos->active)
		return;

	if (next == NULL || pos->next_is_safe)
	{
		mark = next != NULL ? next : mark;
		next = NULL;
		waits = (Datum) 0;
		if (pos->has_last && pos->is_tracked)
		{
			Oid			output;
			bool		varlena;
			Scd2Rights	pinned;

			scd2_settings_enter(&pinned);
			getTypeOutputInfo(pos->type, &output, &varlena);
			next = OidOutputFunctionCall(output, pos->last);
			scd2_rights_leave(&pinned);
			waits = running_transactions((Datum) 0);
		}
	}

	scd2_registry_enter(&save);
	scd2_spi_begin();
	set_mark(dim, mark, next, waits);
	(void) scd2_spi_cached("keep mark of run", &plan,
						   "UPDATE scd2.registry_run SET log_read = true, log_read_above = $2"
						   " WHERE id = $1",
						   2, types, values, nulls, false);
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Is "a" below "b", positions as text?
 */
static bool
is_below(const Scd2LogPos *pos, const char *a, const char *b)
{
	Scd2Rights	pinned;
	bool		result;

	scd2_settings_enter(&pinned);
	result = DatumGetInt32(FunctionCall2(pos->compare, position_in(pos, a),
										 position_in(pos, b))) < 0;
	scd2_rights_leave(&pinned);
	return result;
}

/*
 * Let the mark fall back; see logpos.h.  "next" stays what it was: the next run
 * reads above the mark once more, the rows of this one among them.
 */
void
scd2_logpos_forget(const Scd2Dimension *dim, int64 run_id)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, INT8OID};
	Datum		values[] = {Int32GetDatum(dim->id), Int64GetDatum(run_id)};
	MemoryContext cxt = CurrentMemoryContext;
	Scd2LogPos	pos;
	char	   *above = NULL;
	bool		read;
	Scd2Rights	save;

	scd2_logpos_begin(dim, &pos);
	if (!pos.active || pos.mark == NULL)
		return;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	read = scd2_spi_cached("find mark of run", &plan,
						   "SELECT log_read_above FROM scd2.registry_run"
						   " WHERE dimension_id = $1 AND id = $2 AND log_read",
						   2, types, values, NULL, false) == 1;
	if (read)
		above = scd2_spi_text(0, 1, cxt);
	if (read && (above == NULL || is_below(&pos, above, pos.mark)))
		set_mark(dim, above, pos.next, pos.waits);
	scd2_spi_end();
	scd2_rights_leave(&save);
}
