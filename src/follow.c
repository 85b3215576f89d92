/*-------------------------------------------------------------------------
 *
 * follow.c
 *	  The registry follows what becomes of its relations (R3, R4): three event
 *	  triggers keep the names that are dumped and the cache of OIDs right, in
 *	  the transaction of the command itself.
 *
 * They run in whatever session does DDL, so they leave early, act as the
 * registry's owner, and never raise: where one fails, it warns, and the next
 * use goes by the cache.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "derived.h"
#include "names.h"
#include "registry.h"
#include "spi.h"
#include "sqltext.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/cmdtag.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(scd2_registry_ddl_start);
PG_FUNCTION_INFO_V1(scd2_registry_ddl_end);
PG_FUNCTION_INFO_V1(scd2_registry_sql_drop);
PG_FUNCTION_INFO_V1(scd2_registry_refuse);

/* DDL of our own, done while we follow, needs no following. */
static bool following = false;

static uint64
run(const char *step, const char *sql)
{
	return scd2_spi_run(step, sql, 0, NULL, NULL, NULL);
}

/*
 * ALTER TABLE gold.dim_customer_log OWNER TO new_owner, and so for history,
 * views and function: what belongs to a dimension belongs to its owner (R1).  REASSIGN
 * OWNED fires no event trigger, and moves them all by itself.
 */
static void
follow_owners(void)
{
	MemoryContext cxt = CurrentMemoryContext;
	uint64		nrows = run("look for owners",
							"SELECT c.oid, o.oid, o.relkind = 'v', c.relowner::regrole::text, NULL "
							"FROM scd2.registry_cache k "
							"JOIN scd2.registry_dimension d ON d.id = k.dimension_id AND d.state = 'registered' "
							"JOIN pg_catalog.pg_class c ON c.oid = k.relation "
							"JOIN pg_catalog.pg_class o ON o.oid IN (k.log, k.view, k.history, k.versions)"
							" AND o.relowner <> c.relowner AND o.relkind IN ('r', 'v') "
							"UNION ALL "
							"SELECT c.oid, NULL, NULL, c.relowner::regrole::text, d.function_name "
							"FROM scd2.registry_cache k "
							"JOIN scd2.registry_dimension d ON d.id = k.dimension_id AND d.state = 'registered' "
							"JOIN pg_catalog.pg_class c ON c.oid = k.relation");
	List	   *statements = NIL;
	ListCell   *cell;

	for (uint64 row = 0; row < nrows; row++)
	{
		bool		isnull;
		bool		is_function;
		Oid			relid = DatumGetObjectId(scd2_spi_value(row, 1, &isnull));
		Oid			object = DatumGetObjectId(scd2_spi_value(row, 2, &is_function));
		char	   *owner = scd2_spi_text(row, 4, cxt);

		if (!is_function)
		{
			bool		is_view = DatumGetBool(scd2_spi_value(row, 3, &isnull));

			statements = lappend(statements,
								 psprintf("ALTER %s %s OWNER TO %s",
										  is_view ? "VIEW" : "TABLE",
										  scd2_relation_name(object), owner));
		}
		else
		{
			char	   *name = scd2_spi_text(row, 5, cxt);
			HeapTuple	proc;

			object = name == NULL ? InvalidOid : scd2_derived_find_function(relid, name);
			if (!OidIsValid(object))
				continue;
			proc = SearchSysCache1(PROCOID, ObjectIdGetDatum(object));
			if (!HeapTupleIsValid(proc))
				continue;
			if (((Form_pg_proc) GETSTRUCT(proc))->proowner != scd2_relation_owner(relid))
				statements = lappend(statements,
									 psprintf("ALTER FUNCTION %s(timestamptz) OWNER TO %s",
											  quote_qualified_identifier(get_namespace_name(((Form_pg_proc) GETSTRUCT(proc))->pronamespace),
																		 name),
											  owner));
			ReleaseSysCache(proc);
		}
	}

	foreach(cell, statements)
		(void) run("change owner", lfirst(cell));
}

/*
 * ddl_command_end: did the command touch a relation of ours, or something that
 * may hold or describe many?
 */
static void
follow_end(CommandTag tag)
{
	static SPIPlanPtr plan = NULL;
	Scd2Rights	save;
	bool		touched;

	scd2_registry_enter(&save);
	scd2_spi_begin();

	if (tag == CMDTAG_ALTER_SCHEMA || tag == CMDTAG_ALTER_TYPE ||
		tag == CMDTAG_ALTER_DOMAIN || tag == CMDTAG_ALTER_EXTENSION)
		touched = true;
	else
		touched =
			scd2_spi_cached("look for commands", &plan,
							"SELECT FROM pg_catalog.pg_event_trigger_ddl_commands() c "
							"WHERE c.classid = 'pg_catalog.pg_class'::regclass"
							" AND (EXISTS (SELECT FROM scd2.registry_cache k"
							" WHERE c.objid IN (k.relation, k.log, k.source, k.view, k.history, k.versions))"
							" OR EXISTS (SELECT FROM scd2.registry_cache_fact kf WHERE kf.fact = c.objid)) LIMIT 1",
							0, NULL, NULL, NULL, false) > 0;
	if (touched)
	{
		scd2_names_follow();
		follow_owners();
	}

	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * sql_drop: clear what the cache pointed at; a dimension without its table is
 * gone, and so is a link without one of its columns.
 */
static void
follow_drop(CommandTag tag)
{
	static SPIPlanPtr plan = NULL;
	static SPIPlanPtr fact_plan = NULL;
	Scd2Rights	save;
	bool		touched;

	scd2_registry_enter(&save);
	scd2_spi_begin();

	touched =
		scd2_spi_cached("look for drops", &plan,
						"WITH o AS (SELECT objid FROM pg_catalog.pg_event_trigger_dropped_objects()"
						" WHERE classid = 'pg_catalog.pg_class'::regclass AND objsubid = 0) "
						"UPDATE scd2.registry_cache k SET"
						" relation = CASE WHEN k.relation IN (SELECT objid FROM o) THEN NULL ELSE k.relation END,"
						" log = CASE WHEN k.log IN (SELECT objid FROM o) THEN NULL ELSE k.log END,"
						" source = CASE WHEN k.source IN (SELECT objid FROM o) THEN NULL ELSE k.source END,"
						" view = CASE WHEN k.view IN (SELECT objid FROM o) THEN NULL ELSE k.view END,"
						" history = CASE WHEN k.history IN (SELECT objid FROM o) THEN NULL ELSE k.history END,"
						" versions = CASE WHEN k.versions IN (SELECT objid FROM o) THEN NULL ELSE k.versions END "
						"WHERE k.relation IN (SELECT objid FROM o) OR k.log IN (SELECT objid FROM o)"
						" OR k.source IN (SELECT objid FROM o) OR k.view IN (SELECT objid FROM o)"
						" OR k.history IN (SELECT objid FROM o) OR k.versions IN (SELECT objid FROM o)",
						0, NULL, NULL, NULL, false) > 0;
	if (touched)
		(void) run("mark dropped dimensions",
				   "UPDATE scd2.registry_dimension d SET state = 'gone' "
				   "FROM scd2.registry_cache k "
				   "WHERE k.dimension_id = d.id AND k.relation IS NULL AND d.state <> 'gone'");
	touched |=
		scd2_spi_cached("look for dropped facts", &fact_plan,
						"DELETE FROM scd2.registry_fact f "
						"USING scd2.registry_cache_fact k, pg_catalog.pg_event_trigger_dropped_objects() o "
						"WHERE k.fact_id = f.id AND o.objid = k.fact"
						" AND o.classid = 'pg_catalog.pg_class'::regclass"
						" AND (o.objsubid = 0 OR o.objsubid = k.surrogate_key"
						" OR o.objsubid = k.event_time OR o.objsubid = ANY (k.key_columns))",
						0, NULL, NULL, NULL, false) > 0;

	scd2_spi_end();
	scd2_rights_leave(&save);

	if (touched)
		scd2_names_sweep();
}

static void
follow_start(CommandTag tag)
{
	scd2_names_resolve();
}

/*
 * Has the registry no row at all?  Asked at every DDL command of a database, so
 * without SPI.
 */
static bool
registry_is_empty(void)
{
	Oid			schema = get_namespace_oid("scd2", true);
	Oid			relid = InvalidOid;
	Relation	rel;
	SysScanDesc scan;
	bool		empty;

	if (OidIsValid(schema))
		relid = get_relname_relid("registry_dimension", schema);
	if (!OidIsValid(relid))
		return true;

	rel = table_open(relid, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	empty = !HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);

	return empty;
}

/*
 * Call "work" in a subtransaction, and turn what it raises into a warning: a
 * user's DDL does not fail for our sake.  A cancel goes on.
 */
static Datum
follow(FunctionCallInfo fcinfo, void (*work) (CommandTag tag))
{
	EventTriggerData *trigger;
	MemoryContext oldcontext = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("not fired by event trigger manager")));
	trigger = (EventTriggerData *) fcinfo->context;

	if (following || registry_is_empty())
		PG_RETURN_NULL();

	following = true;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(oldcontext);
	PG_TRY();
	{
		work(trigger->tag);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcontext);
		CurrentResourceOwner = oldowner;
		following = false;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		following = false;
		MemoryContextSwitchTo(oldcontext);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcontext);
		CurrentResourceOwner = oldowner;

		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION)
			ReThrowError(error);
		ereport(WARNING,
				(errcode(error->sqlerrcode),
				 errmsg("scd2 could not follow %s", GetCommandTagName(trigger->tag)),
				 errdetail_internal("%s", error->message)));
	}
	PG_END_TRY();

	PG_RETURN_NULL();
}

/*
 * ddl_command_start: what a restore left uncached is found while its names are
 * still those that were dumped.
 */
Datum
scd2_registry_ddl_start(PG_FUNCTION_ARGS)
{
	return follow(fcinfo, follow_start);
}

Datum
scd2_registry_ddl_end(PG_FUNCTION_ARGS)
{
	return follow(fcinfo, follow_end);
}

Datum
scd2_registry_sql_drop(PG_FUNCTION_ARGS)
{
	return follow(fcinfo, follow_drop);
}

/*
 * Trigger of the views that users read: what they show only scd2 writes.
 */
Datum
scd2_registry_refuse(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("not fired by trigger manager")));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("cannot write to view \"scd2.%s\"",
					RelationGetRelationName(((TriggerData *) fcinfo->context)->tg_relation)),
			 errdetail("Only scd2 itself writes what it shows.")));
	PG_RETURN_NULL();
}
