/*-------------------------------------------------------------------------
 *
 * write.c
 *	  Writing what a batch came to: close, open, overwrite, log.
 *
 * By SPI, so that triggers, constraints and everything else a user has put on
 * the table are honoured.  What comes out is counted, and looked over where
 * triggers may have changed it: a dimension that is not what the fold says is
 * worse than a batch that fails.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "write.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "plan.h"
#include "plan_verify.h"
#include "progress.h"
#include "spi.h"

/*
 * What may keep an event (CMD_INSERT, CMD_UPDATE) on a table from writing what
 * it is told to: enabled row triggers that run before it, and rules.  A
 * sentence that names them, or NULL if there are none.
 */
static char *
find_meddlers(Oid relid, CmdType event)
{
	Relation	rel = table_open(relid, NoLock);
	int16		type = event == CMD_INSERT ? TRIGGER_TYPE_INSERT : TRIGGER_TYPE_UPDATE;
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
			CharGetDatum(event == CMD_INSERT ? '3' : '2')};
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
 * Rows were not written as they should.
 */
static void
raise_not_written(const Scd2Dimension *dim, const char *what, const char *meddlers)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("%s of dimension \"%s\" were not written as they should be",
					what, dim->label),
			 meddlers != NULL ? errdetail_internal("%s", meddlers) :
			 errdetail("A write by a trigger, or by another session, came in between."),
			 errhint("Nothing was written. scd2 needs to write its columns unchanged: drop the trigger or rule, or let it leave them alone.")));
}

static void
register_store(const Scd2Store *store)
{
	scd2_spi_register(store->name, store->desc, store->store,
					  (double) store->ntuples);
}

/*
 * Close versions, the first copy of each changed row (R15).
 */
static void
write_closes(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	int			guc_level;
	uint64		written;

	scd2_progress_phase(SCD2_PHASE_CLOSE, batch->closes.ntuples);
	register_store(&batch->closes);
	guc_level = scd2_spi_tid_join_begin();
	written = scd2_spi_run("close", scd2_plan_close(dim), 0, NULL, NULL, NULL);
	scd2_spi_tid_join_end(guc_level);
	if (written != batch->closes.ntuples)
		raise_not_written(dim, "closed versions",
						  find_meddlers(dim->relid, CMD_UPDATE));
	scd2_spi_unregister(batch->closes.name);
}

/*
 * A surrogate key came twice: say of which versions.  Returns if none did: the
 * error is about another table's constraint of that name.
 */
static void
raise_collision(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	uint64		n = scd2_spi_run("collision", scd2_plan_collision(dim),
								 0, NULL, NULL, NULL);
	Datum	   *keys = palloc(dim->nkeys * sizeof(Datum));
	bool	   *isnull = palloc(dim->nkeys * sizeof(bool));
	StringInfoData detail;

	if (n == 0)
		return;
	initStringInfo(&detail);
	for (uint64 row = 0; row < Min(n, 4); row++)
	{
		for (int i = 0; i < dim->nkeys; i++)
			keys[i] = scd2_spi_value(row, i + 1, &isnull[i]);
		appendStringInfo(&detail, "%sKey %s from %s has %s.",
						 row > 0 ? " " : "",
						 scd2_key_text(dim, keys, isnull),
						 scd2_spi_text(row, dim->nkeys + 1, CurrentMemoryContext),
						 scd2_spi_text(row, dim->nkeys + 2, CurrentMemoryContext));
	}

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("two versions of dimension \"%s\" have the same surrogate key",
					dim->label),
			 errdetail_internal("%s", detail.data),
			 errhint("Nothing was written. Register the dimension with surrogate_key_type => 'uuid', whose keys do not collide.")));
}

/*
 * Is an error about the primary key, which is the surrogate key?
 */
static bool
is_collision(const Scd2Dimension *dim, const ErrorData *error)
{
	Relation	rel;
	Oid			index;
	char	   *name;

	if (error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION ||
		error->constraint_name == NULL)
		return false;
	rel = table_open(dim->relid, NoLock);
	index = RelationGetPrimaryKeyIndex(rel COMPAT_DEFERRABLE_OK);
	table_close(rel, NoLock);
	name = OidIsValid(index) ? get_rel_name(index) : NULL;
	return name != NULL && strcmp(name, error->constraint_name) == 0;
}

typedef struct OpenCall
{
	Scd2Batch  *batch;
	uint64		written;
} OpenCall;

static void
call_open(void *arg)
{
	OpenCall   *call = arg;

	call->written = scd2_spi_run("open", scd2_plan_open(call->batch->dim),
								 0, NULL, NULL, NULL);
}

/*
 * Open versions, the second copy.  In a subtransaction, because a collision of
 * surrogate keys (R13) can only be explained by asking the table which versions
 * it is between, and that cannot be done in a transaction that failed.
 */
static void
write_opens(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	OpenCall	call = {batch, 0};
	ErrorData  *error;

	scd2_progress_phase(SCD2_PHASE_OPEN, batch->opens.ntuples);
	register_store(&batch->opens);

	error = scd2_spi_try(call_open, &call);
	if (error != NULL)
	{
		if (is_collision(dim, error))
			raise_collision(batch);
		ReThrowError(error);
	}

	if (call.written != batch->opens.ntuples)
		raise_not_written(dim, "new versions",
						  find_meddlers(dim->relid, CMD_INSERT));
	scd2_spi_unregister(batch->opens.name);
}

/*
 * Overwrite what every version of a key shows alike.
 */
static void
write_overwrites(Scd2Batch *batch)
{
	scd2_progress_phase(SCD2_PHASE_OVERWRITE, batch->overwrites.ntuples);
	register_store(&batch->overwrites);
	batch->counts.rows_overwritten =
		scd2_spi_run("overwrite", scd2_plan_overwrite(batch->dim),
					 0, NULL, NULL, NULL);
	scd2_spi_unregister(batch->overwrites.name);
}

/*
 * Log the accepted changes.
 */
static void
write_log(Scd2Batch *batch)
{
	Oid			types[] = {INT8OID, TIMESTAMPTZOID};
	Datum		values[] = {Int64GetDatum(batch->run_id),
	TimestampTzGetDatum(batch->recorded_at)};
	uint64		written;
	char	   *meddlers;

	scd2_progress_phase(SCD2_PHASE_LOG, batch->logged.ntuples);
	register_store(&batch->logged);
	written = scd2_spi_run("log", scd2_plan_log(batch->dim), 2, types, values,
						   NULL);
	meddlers = find_meddlers(batch->dim->log, CMD_INSERT);
	if (written != batch->logged.ntuples ||
		(meddlers != NULL &&
		 scd2_spi_run("check logged", scd2_plan_check_logged(batch->dim),
					  1, types, values, NULL) > 0))
		raise_not_written(batch->dim, "logged changes", meddlers);
	scd2_spi_unregister(batch->logged.name);
}

/*
 * Does the batch write anything?
 */
bool
scd2_writes_anything(const Scd2Batch *batch)
{
	return batch->closes.ntuples > 0 || batch->opens.ntuples > 0 ||
		batch->overwrites.ntuples > 0 || batch->logged.ntuples > 0;
}

/*
 * Remember the versions that will be updated as they are to be.
 */
static void
take_before(Scd2Batch *batch, Scd2Store *before)
{
	Scd2Dimension *dim = batch->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(2);
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);

	scd2_desc_column(desc, 1, "sk", dim->sk_is_uuid ? UUIDOID : INT8OID, -1,
					 InvalidOid);
	scd2_desc_column(desc, 2, "image", BYTEAOID, -1, InvalidOid);
	scd2_store_begin(batch, before, "scd2_before", desc);
	SetTuplestoreDestReceiverParams(dest, before->store, batch->cxt, true, NULL,
									NULL);
	register_store(&batch->closes);
	register_store(&batch->overwrites);
	before->ntuples = scd2_spi_stream("before", scd2_plan_before(dim), 0, NULL,
									  NULL, NULL, false, dest);
	scd2_spi_unregister(batch->closes.name);
	scd2_spi_unregister(batch->overwrites.name);
	dest->rDestroy(dest);
}

/*
 * At the end, because a trigger of one statement may have undone another's work:
 * is everything there as it should be?
 */
static void
verify_updates(Scd2Batch *batch, Scd2Store *before, const char *meddlers)
{
	Scd2Dimension *dim = batch->dim;
	bool		wrong;

	register_store(&batch->closes);
	register_store(&batch->overwrites);
	register_store(before);
	wrong = scd2_spi_run("check updated", scd2_plan_check_updated(dim),
						 0, NULL, NULL, NULL) > 0 ||
		(batch->has_overlay &&
		 scd2_spi_run("check overlay", scd2_plan_check_overlay(dim),
					  0, NULL, NULL, NULL) > 0);
	if (wrong)
		raise_not_written(dim, "updated versions", meddlers);
	scd2_spi_unregister(batch->closes.name);
	scd2_spi_unregister(batch->overwrites.name);
	scd2_spi_unregister(before->name);
}

static void
verify_opens(Scd2Batch *batch, const char *meddlers)
{
	register_store(&batch->opens);
	if (scd2_spi_run("check opened", scd2_plan_check_opened(batch->dim),
					 0, NULL, NULL, NULL) > 0)
		raise_not_written(batch->dim, "new versions", meddlers);
	scd2_spi_unregister(batch->opens.name);
}

/*
 * Write the batch: close before open, so that neither readers nor a unique
 * index ever see a key with two current versions (R15).
 */
void
scd2_write(Scd2Batch *batch)
{
	bool		updates = batch->closes.ntuples > 0 || batch->overwrites.ntuples > 0;
	char	   *on_update = NULL;
	char	   *on_insert = NULL;
	Scd2Store	before = {0};

	if (updates || batch->opens.ntuples > 0)
	{
		on_update = find_meddlers(batch->dim->relid, CMD_UPDATE);
		on_insert = find_meddlers(batch->dim->relid, CMD_INSERT);
	}

	/* a trigger on either event may touch rows of the other */
	if (updates && (on_update != NULL || on_insert != NULL))
		take_before(batch, &before);

	if (batch->closes.ntuples > 0)
		write_closes(batch);
	if (batch->opens.ntuples > 0)
		write_opens(batch);
	/* an overwrite could put right what a trigger changed: look now, too */
	if (batch->opens.ntuples > 0 && on_insert != NULL)
		verify_opens(batch, on_insert);
	if (batch->overwrites.ntuples > 0)
		write_overwrites(batch);
	if (batch->logged.ntuples > 0)
		write_log(batch);

	if (before.store != NULL)
		verify_updates(batch, &before, on_update != NULL ? on_update : on_insert);
	if (batch->opens.ntuples > 0 && (on_update != NULL || on_insert != NULL))
		verify_opens(batch, on_insert != NULL ? on_insert : on_update);

	scd2_store_end(&before);
	scd2_store_end(&batch->closes);
	scd2_store_end(&batch->opens);
	scd2_store_end(&batch->overwrites);
	scd2_store_end(&batch->logged);
}
