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
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "plan.h"
#include "progress.h"
#include "spi.h"

/*
 * Names of the enabled row triggers that run before an event, or NULL if there
 * are none.
 */
static char *
before_triggers(const Scd2Dimension *dim, int16 event)
{
	Relation	rel = table_open(dim->relid, NoLock);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &rel->trigdesc->triggers[i];

		if (!TRIGGER_FOR_ROW(trigger->tgtype) ||
			!TRIGGER_FOR_BEFORE(trigger->tgtype) ||
			(trigger->tgtype & event) == 0 ||
			trigger->tgenabled == TRIGGER_DISABLED)
			continue;
		appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "",
						 trigger->tgname);
	}
	table_close(rel, NoLock);
	return names.len > 0 ? names.data : NULL;
}

/*
 * Rows were not written as they should.
 */
static void
raise_not_written(const Scd2Dimension *dim, const char *what, char *triggers)
{
	ereport(ERROR,
			(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
			 errmsg("versions of dimension \"%s\" were not %s as they should be",
					dim->label, what),
			 triggers != NULL ?
			 errdetail("Triggers that run before: %s.", triggers) :
			 errdetail("A rule, or a write by another session, came in between."),
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
	char	   *triggers = before_triggers(dim, TRIGGER_TYPE_UPDATE);
	uint64		written;

	scd2_progress_phase(SCD2_PHASE_CLOSE, batch->closes.ntuples);
	register_store(&batch->closes);
	scd2_spi_tid_join(true);
	written = scd2_spi_run("close", scd2_plan_close(dim), 0, NULL, NULL, NULL);
	scd2_spi_tid_join(false);
	if (written != batch->closes.ntuples ||
		(triggers != NULL &&
		 scd2_spi_run("check closed", scd2_plan_check_closed(dim),
					  0, NULL, NULL, NULL) > 0))
		raise_not_written(dim, "closed", triggers);
	scd2_spi_unregister(batch->closes.name);
}

/*
 * A surrogate key came twice: say of which versions.
 */
static void
raise_collision(Scd2Batch *batch, const ErrorData *error)
{
	Scd2Dimension *dim = batch->dim;
	uint64		n = scd2_spi_run("collision", scd2_plan_collision(dim),
								 0, NULL, NULL, NULL);
	Datum	   *keys = palloc(dim->nkeys * sizeof(Datum));
	bool	   *isnull = palloc(dim->nkeys * sizeof(bool));
	StringInfoData detail;

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
			 errdetail_internal("%s", n > 0 ? detail.data : error->detail),
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

/*
 * Open versions, the second copy.  In a subtransaction, because a collision of
 * surrogate keys (R13) can only be explained by asking the table which versions
 * it is between, and that cannot be done in a transaction that failed.
 */
static void
write_opens(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	char	   *triggers = before_triggers(dim, TRIGGER_TYPE_INSERT);
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	uint64		written = 0;
	ErrorData  *error = NULL;

	scd2_progress_phase(SCD2_PHASE_OPEN, batch->opens.ntuples);
	register_store(&batch->opens);

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		written = scd2_spi_run("open", scd2_plan_open(dim), 0, NULL, NULL, NULL);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();

	if (error != NULL)
	{
		if (is_collision(dim, error))
			raise_collision(batch, error);
		ReThrowError(error);
	}

	if (written != batch->opens.ntuples ||
		(triggers != NULL &&
		 scd2_spi_run("check opened", scd2_plan_check_opened(dim),
					  0, NULL, NULL, NULL) > 0))
		raise_not_written(dim, "opened", triggers);
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

	scd2_progress_phase(SCD2_PHASE_LOG, batch->logged.ntuples);
	register_store(&batch->logged);
	written = scd2_spi_run("log", scd2_plan_log(batch->dim), 2, types, values,
						   NULL);
	if (written != batch->logged.ntuples)
		ereport(ERROR,
				(errcode(ERRCODE_TRIGGERED_DATA_CHANGE_VIOLATION),
				 errmsg("changes of dimension \"%s\" were not logged as they should be",
						batch->dim->label),
				 errdetail("A trigger or rule on its log came in between."),
				 errhint("Nothing was written. Drop the trigger or rule.")));
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
 * Write the batch: close before open, so that neither readers nor a unique
 * index ever see a key with two current versions (R15).
 */
void
scd2_write(Scd2Batch *batch)
{
	if (batch->closes.ntuples > 0)
		write_closes(batch);
	if (batch->opens.ntuples > 0)
		write_opens(batch);
	if (batch->overwrites.ntuples > 0)
		write_overwrites(batch);
	if (batch->logged.ntuples > 0)
		write_log(batch);

	scd2_store_end(&batch->closes);
	scd2_store_end(&batch->opens);
	scd2_store_end(&batch->overwrites);
	scd2_store_end(&batch->logged);
}
