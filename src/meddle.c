/*-------------------------------------------------------------------------
 *
 * meddle.c
 *	  What others put on a table that scd2 writes: triggers, rules, foreign keys.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "meddle.h"

#include "access/table.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "spi.h"

/*
 * What may keep an event (CMD_INSERT, CMD_UPDATE, CMD_DELETE) on a table from writing what
 * it is told to: enabled row triggers that run before it, and rules.  A
 * sentence that names them, or NULL if there are none.
 */
char *
scd2_find_meddlers(Oid relid, CmdType event)
{
	Relation	rel = table_open(relid, NoLock);
	int16		type = event == CMD_INSERT ? TRIGGER_TYPE_INSERT :
		event == CMD_UPDATE ? TRIGGER_TYPE_UPDATE : TRIGGER_TYPE_DELETE;
	bool		has_rules = rel->rd_rules != NULL;
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (!TRIGGER_FOR_ROW(trigger->tgtype) ||
			!TRIGGER_FOR_BEFORE(trigger->tgtype) ||
			(trigger->tgtype & type) == 0 ||
			trigger->tgenabled == TRIGGER_DISABLED)
			continue;
		appendStringInfo(&names, "%s\"%s\"",
						 names.len > 0 ? ", " : "Triggers that run before: ",
						 trigger->tgname);
	}
	if (names.len > 0)
		appendStringInfoChar(&names, '.');
	table_close(rel, NoLock);

	if (has_rules)
	{
		Oid			types[] = {OIDOID, CHAROID};
		Datum		values[] = {ObjectIdGetDatum(relid),
			CharGetDatum(event == CMD_INSERT ? '3' : event == CMD_UPDATE ? '2' : '4')};
		char	   *rules;

		scd2_spi_read("rules",
					  "SELECT pg_catalog.string_agg(pg_catalog.format('\"%s\"', r.rulename), ', ')\n"
					  "  FROM pg_catalog.pg_rewrite AS r\n"
					  " WHERE r.ev_class OPERATOR(pg_catalog.=) $1\n"
					  "   AND r.ev_type OPERATOR(pg_catalog.=) $2\n"
					  "   AND r.ev_enabled OPERATOR(pg_catalog.<>) 'D'",
					  2, types, values, NULL);
		rules = scd2_spi_text(0, 1, CurrentMemoryContext);
		if (rules != NULL)
			appendStringInfo(&names, "%sRules: %s.", names.len > 0 ? " " : "", rules);
	}
	return names.len > 0 ? names.data : NULL;
}

/*
 * Does a foreign key refer to the table now, whatever the transaction's snapshot
 * shows?  PostgreSQL heeds it.
 */
bool
scd2_is_referenced(Oid relid)
{
	Oid			types[] = {OIDOID};
	Datum		values[] = {ObjectIdGetDatum(relid)};
	bool		found;

	PushActiveSnapshot(GetLatestSnapshot());
	found = scd2_spi_read("foreign keys",
						  "SELECT FROM pg_catalog.pg_constraint AS c\n"
						  " WHERE c.contype OPERATOR(pg_catalog.=) 'f'\n"
						  "   AND c.confrelid OPERATOR(pg_catalog.=) $1\n"
						  " LIMIT 1",
						  1, types, values, NULL) > 0;
	PopActiveSnapshot();
	return found;
}

/*
 * Rows were not written as they should.
 */
void
scd2_raise_not_written(const Scd2Dimension *dim, const char *what,
					   const char *meddlers)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("%s of dimension \"%s\" were not written as they should be",
					what, dim->label),
			 meddlers != NULL ? errdetail_internal("%s", meddlers) :
			 errdetail("A write by a trigger, or by another session, came in between."),
			 errhint("Nothing was written. scd2 needs to write its columns unchanged: drop the trigger or rule, or let it leave them alone.")));
}
