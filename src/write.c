/*-------------------------------------------------------------------------
 *
 * write.c
 *	  Writing what a batch came to: close, revise, open, overwrite, remove, log.
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
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/timestamp.h"

#include "facts.h"
#include "meddle.h"
#include "plan.h"
#include "plan_chain.h"
#include "plan_history.h"
#include "plan_verify.h"
#include "progress.h"
#include "remove.h"
#include "spi.h"

/* What may keep versions from being closed. */
static char *
find_close_meddlers(const Scd2Dimension *dim)
{
	char	   *meddlers;

	if (dim->history == NULL)
		return scd2_find_meddlers(dim->relid, CMD_UPDATE);
	meddlers = scd2_find_meddlers(dim->relid, CMD_DELETE);
	return meddlers != NULL ? meddlers :
		scd2_find_meddlers(dim->history->relid, CMD_INSERT);
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
	scd2_store_register(&batch->closes);
	guc_level = scd2_spi_tid_join_begin();
	written = scd2_spi_run("close", dim->history != NULL ? scd2_plan_move(dim) :
						   scd2_plan_close(dim), 0, NULL, NULL, NULL);
	scd2_spi_planner_end(guc_level);
	if (written != batch->closes.ntuples)
		scd2_raise_not_written(dim, "closed versions",
						  find_close_meddlers(dim));
	scd2_store_unregister(&batch->closes);
}

/*
 * A surrogate key came twice: say of which versions, which the statement of
 * "sql" returns.  Returns if none did: the error is about another table's
 * constraint of that name.
 */
static void
raise_collision(Scd2Batch *batch, const char *sql)
{
	Scd2Dimension *dim = batch->dim;
	uint64		n = scd2_spi_run("collision", sql, 0, NULL, NULL, NULL);
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
			 errhint("Nothing was written. Where scd2.check says that one of them was changed by hand, CALL scd2.rebuild_apply mends it.%s",
					 dim->sk_is_uuid ? "" :
					 " Else register the dimension with surrogate_key_type => 'uuid', whose keys do not collide.")));
}

/*
 * Is an error about the primary key, which is the surrogate key?
 */
static bool
is_collision(const Scd2Dimension *place, const ErrorData *error)
{
	Relation	rel;
	Oid			index;
	char	   *name;

	if (error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION ||
		error->constraint_name == NULL)
		return false;
	rel = table_open(place->relid, NoLock);
	index = RelationGetPrimaryKeyIndex(rel COMPAT_DEFERRABLE_OK);
	table_close(rel, NoLock);
	name = OidIsValid(index) ? get_rel_name(index) : NULL;
	return name != NULL && strcmp(name, error->constraint_name) == 0;
}

typedef struct OpenCall
{
	const Scd2Dimension *place;
	const Scd2Store *store;
	uint64		written;
} OpenCall;

static void
call_open(void *arg)
{
	OpenCall   *call = arg;

	call->written = scd2_spi_run("open", scd2_plan_open(call->place, call->store->name),
								 0, NULL, NULL, NULL);
}

/*
 * Open versions, the second copy, in the dimension or its history.  In a subtransaction, because a collision of
 * surrogate keys (R13) can only be explained by asking the table which versions
 * it is between, and that cannot be done in a transaction that failed.
 */
static void
write_opens(Scd2Batch *batch, const Scd2Dimension *place, const Scd2Store *store)
{
	OpenCall	call = {place, store, 0};
	ErrorData  *error;

	if (store->ntuples == 0)
		return;
	scd2_progress_phase(SCD2_PHASE_OPEN, store->ntuples);
	scd2_store_register(store);

	error = scd2_spi_try(call_open, &call);
	if (error != NULL)
	{
		if (is_collision(place, error))
			raise_collision(batch, scd2_plan_collision(place, store->name));
		ReThrowError(error);
	}

	if (call.written != store->ntuples)
		scd2_raise_not_written(batch->dim, "new versions",
						  scd2_find_meddlers(place->relid, CMD_INSERT));
	scd2_store_unregister(store);
}

/*
 * A primary key knows nothing of the other table's surrogate keys.
 */
static void
check_in_both(Scd2Batch *batch)
{
	if (batch->opens.ntuples == 0 && batch->history.opens.ntuples == 0)
		return;
	scd2_store_register(&batch->opens);
	scd2_store_register(&batch->history.opens);
	raise_collision(batch, scd2_plan_in_both(batch->dim));
	scd2_store_unregister(&batch->history.opens);
	scd2_store_unregister(&batch->opens);
}

/*
 * Overwrite what every version of a key shows alike.
 */
static void
write_overwrites(Scd2Batch *batch)
{
	scd2_progress_phase(SCD2_PHASE_OVERWRITE, batch->overwrites.ntuples);
	scd2_store_register(&batch->overwrites);
	batch->counts.rows_overwritten +=
		scd2_spi_run("overwrite", scd2_plan_overwrite(batch->dim),
					 0, NULL, NULL, NULL);
	if (batch->dim->history != NULL)
		batch->counts.rows_overwritten +=
			scd2_spi_run("overwrite", scd2_plan_overwrite(batch->dim->history),
						 0, NULL, NULL, NULL);
	scd2_store_unregister(&batch->overwrites);
}

/*
 * Revise versions of keys that were folded from the log.
 */
static void
write_revises(Scd2Batch *batch, const Scd2Dimension *place, const Scd2Store *store,
			  bool remakes)
{
	int			guc_level;
	uint64		written;

	if (store->ntuples == 0)
		return;
	scd2_progress_phase(SCD2_PHASE_REVISE, store->ntuples);
	scd2_store_register(store);
	guc_level = scd2_spi_tid_join_begin();
	written = scd2_spi_run("revise", scd2_plan_revise(place, store->name, remakes),
						   0, NULL, NULL, NULL);
	scd2_spi_planner_end(guc_level);
	if (written != store->ntuples)
		scd2_raise_not_written(batch->dim, "revised versions",
							   scd2_find_meddlers(place->relid, CMD_UPDATE));
	scd2_store_unregister(store);
}

/*
 * A value that the dimension's column takes and the log's does not: somebody
 * widened only the one.  Say which, and how to widen the other.
 */
static void
rethrow_logged(const Scd2Dimension *dim, MemoryContext cxt)
{
	ErrorData  *error;

	MemoryContextSwitchTo(cxt);
	error = CopyErrorData();
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
		PG_RE_THROW();
	for (int i = 0; i < dim->nkeys + dim->nattrs; i++)
	{
		const Scd2Column *col = i < dim->nkeys ? &dim->keys[i] : &dim->attrs[i - dim->nkeys];
		int32		wanted_typmod = col->typmod;
		Oid			wanted = getBaseTypeAndTypmod(col->typid, &wanted_typmod);
		Oid			typid;
		int32		typmod;
		Oid			collation;

		get_atttypetypmodcoll(dim->log, get_attnum(dim->log, col->log_name),
							  &typid, &typmod, &collation);
		typid = getBaseTypeAndTypmod(typid, &typmod);
		if (typid == wanted && typmod == wanted_typmod)
			continue;
		FlushErrorState();
		ereport(ERROR,
				(errcode(error->sqlerrcode),
				 errmsg("change log of dimension \"%s\" cannot take a value: %s",
						dim->label, error->message),
				 errdetail("Column \"%s\" is of type %s in the log, and of type %s in the dimension.",
						   col->log_name, format_type_with_typemod(typid, typmod),
						   format_type_with_typemod(wanted, wanted_typmod)),
				 errhint("Nothing was written. Say ALTER TABLE %s ALTER COLUMN %s TYPE %s.",
						 dim->log_sql_name, quote_identifier(col->log_name),
						 format_type_with_typemod(wanted, wanted_typmod))));
	}
	PG_RE_THROW();
}

/*
 * Log the accepted changes.
 */
static void
write_log(Scd2Batch *batch)
{
	MemoryContext cxt = CurrentMemoryContext;
	Oid			types[] = {TIMESTAMPTZOID};
	Datum		values[] = {TimestampTzGetDatum(batch->recorded_at)};
	volatile uint64 written = 0;
	char	   *meddlers;

	scd2_progress_phase(SCD2_PHASE_LOG, batch->logged.ntuples);
	scd2_store_register(&batch->logged);
	PG_TRY();
	{
		written = scd2_spi_run("log", scd2_plan_log(batch->dim), 1, types, values,
							   NULL);
	}
	PG_CATCH();
	{
		rethrow_logged(batch->dim, cxt);
	}
	PG_END_TRY();
	meddlers = scd2_find_meddlers(batch->dim->log, CMD_INSERT);
	if (written != batch->logged.ntuples ||
		(meddlers != NULL &&
		 scd2_spi_run("check logged", scd2_plan_check_logged(batch->dim),
					  1, types, values, NULL) > 0))
		scd2_raise_not_written(batch->dim, "logged changes", meddlers);
	scd2_store_unregister(&batch->logged);
}

/*
 * Does the batch write anything?
 */
bool
scd2_writes_anything(const Scd2Batch *batch)
{
	return batch->closes.ntuples > 0 || batch->opens.ntuples > 0 ||
		batch->overwrites.ntuples > 0 || batch->logged.ntuples > 0 ||
		batch->revises.ntuples > 0 || batch->grows.ntuples > 0 ||
		batch->removes.ntuples > 0 || batch->remakes.ntuples > 0 ||
		batch->history.opens.ntuples > 0 || batch->history.revises.ntuples > 0 ||
		batch->history.grows.ntuples > 0 || batch->history.removes.ntuples > 0;
}

/*
 * Remember the versions that will be updated as they are to be.
 */
static void
take_before(Scd2Batch *batch, Scd2Store *before)
{
	Scd2Dimension *dim = batch->dim;
	TupleDesc	desc = CreateTemplateTupleDesc(2);

	scd2_desc_column(desc, 1, "sk", dim->sk_is_uuid ? UUIDOID : INT8OID, -1,
					 InvalidOid);
	scd2_desc_column(desc, 2, "image", BYTEAOID, -1, InvalidOid);
	scd2_store_begin(batch, before, "scd2_before", desc);
	scd2_store_register(&batch->closes);
	scd2_store_register(&batch->overwrites);
	(void) scd2_store_fill(batch, before, "before", scd2_plan_before(dim), 0, NULL, NULL,
						   false);
	scd2_store_unregister(&batch->closes);
	scd2_store_unregister(&batch->overwrites);
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

	scd2_store_register(&batch->closes);
	scd2_store_register(&batch->overwrites);
	scd2_store_register(before);
	wrong = scd2_spi_run("check updated", scd2_plan_check_updated(dim),
						 0, NULL, NULL, NULL) > 0 ||
		(batch->has_overlay &&
		 scd2_spi_run("check overlay", scd2_plan_check_overlay(dim),
					  0, NULL, NULL, NULL) > 0);
	if (wrong)
		scd2_raise_not_written(dim, "updated versions", meddlers);
	scd2_store_unregister(&batch->closes);
	scd2_store_unregister(&batch->overwrites);
	scd2_store_unregister(before);
}

static void
verify_rows(Scd2Batch *batch, const Scd2Dimension *place, const Scd2Store *store,
			const char *what, const char *meddlers)
{
	if (store->ntuples == 0)
		return;
	scd2_store_register(store);
	if (scd2_spi_run("check opened",
					 scd2_plan_check_opened(place, store->name),
					 0, NULL, NULL, NULL) > 0)
		scd2_raise_not_written(batch->dim, what, meddlers);
	scd2_store_unregister(store);
}

/* And both tables' new rows, and revised ones. */
static void
verify_opens(Scd2Batch *batch, const char *meddlers)
{
	verify_rows(batch, batch->dim, &batch->opens, "new versions", meddlers);
	verify_rows(batch, batch->dim->history, &batch->history.opens, "new versions",
				meddlers);
}

static void
verify_revises(Scd2Batch *batch, const char *meddlers)
{
	verify_rows(batch, batch->dim, &batch->revises, "revised versions", meddlers);
	verify_rows(batch, batch->dim, &batch->grows, "revised versions", meddlers);
	verify_rows(batch, batch->dim->history, &batch->history.revises,
				"revised versions", meddlers);
	verify_rows(batch, batch->dim->history, &batch->history.grows,
				"revised versions", meddlers);
}

/*
 * What may keep versions from being changed, or from coming; NULL: nothing.
 */
static void
find_meddlers(const Scd2Dimension *dim, char **on_update, char **on_insert)
{
	*on_update = scd2_find_meddlers(dim->relid, CMD_UPDATE);
	*on_insert = scd2_find_meddlers(dim->relid, CMD_INSERT);
	if (dim->history == NULL)
		return;
	if (*on_update == NULL)
		*on_update = scd2_find_meddlers(dim->relid, CMD_DELETE);
	if (*on_update == NULL)
		*on_update = scd2_find_meddlers(dim->history->relid, CMD_UPDATE);
	if (*on_update == NULL)
		*on_update = scd2_find_meddlers(dim->history->relid, CMD_DELETE);
	if (*on_insert == NULL)
		*on_insert = scd2_find_meddlers(dim->history->relid, CMD_INSERT);
}

/*
 * Versions that leave a table for good or for the other one, before any comes: no
 * row refers to them.
 */
static void
write_take_outs(Scd2Batch *batch)
{
	if (batch->removes.ntuples > 0 && batch->removes_first)
		scd2_take_out_versions(batch, batch->dim, &batch->removes);
	else if (batch->removes.ntuples > 0)
		scd2_remove_free_versions(batch);
	if (batch->history.removes.ntuples > 0)
		scd2_take_out_versions(batch, batch->dim->history, &batch->history.removes);
}

/*
 * Write the batch.  Close before open, so that neither readers nor a unique
 * index ever see a key with two current versions (R15).  Of keys that were folded
 * from the log first what goes, then what shrinks, what comes, and what grows; but
 * where rows may refer to what goes, last, when none does any more (R30).
 */
void
scd2_write(Scd2Batch *batch)
{
	Scd2Dimension *dim = batch->dim;
	Scd2Dimension *history = dim->history;
	bool		updates = batch->closes.ntuples > 0 || batch->overwrites.ntuples > 0;
	bool		versions = updates || batch->opens.ntuples > 0 ||
		batch->revises.ntuples > 0 || batch->grows.ntuples > 0 ||
		batch->remakes.ntuples > 0 ||
		batch->history.opens.ntuples > 0 || batch->history.revises.ntuples > 0 ||
		batch->history.grows.ntuples > 0;
	char	   *on_update = NULL;
	char	   *on_insert = NULL;
	char	   *meddlers;
	Scd2Store	before = {0};

	if (versions)
		find_meddlers(dim, &on_update, &on_insert);
	meddlers = on_insert != NULL ? on_insert : on_update;

	/* a trigger on either event may touch rows of the other */
	if (updates && meddlers != NULL)
		take_before(batch, &before);

	if (history != NULL && scd2_writes_anything(batch))
		scd2_refuse_references(dim);
	write_take_outs(batch);
	if (batch->closes.ntuples > 0)
		write_closes(batch);
	scd2_doom_versions(batch);
	write_revises(batch, dim, &batch->revises, false);
	write_revises(batch, history, &batch->history.revises, false);
	write_opens(batch, history, &batch->history.opens);
	write_opens(batch, dim, &batch->opens);
	if (history != NULL)
		check_in_both(batch);
	/* an overwrite could put right what a trigger changed: look now, too */
	if (on_insert != NULL)
		verify_opens(batch, on_insert);
	write_revises(batch, history, &batch->history.grows, false);
	write_revises(batch, dim, &batch->grows, batch->remakes.ntuples > 0);
	if (batch->overwrites.ntuples > 0)
		write_overwrites(batch);
	/* open, re-key, then remove */
	scd2_rekey_facts(batch);
	if (batch->held.ntuples > 0)
		scd2_remove_held_versions(batch);
	if (batch->logged.ntuples > 0)
		write_log(batch);

	if (before.store != NULL)
		verify_updates(batch, &before, on_update != NULL ? on_update : on_insert);
	if (meddlers != NULL)
	{
		verify_opens(batch, meddlers);
		verify_revises(batch, meddlers);
	}

	scd2_store_end(&before);
}
