/*-------------------------------------------------------------------------
 *
 * retry.c
 *	  CALL scd2.retry_rejected: rejected rows once more, after a repair.
 *
 * A rejected row belongs to the time of its batch: it is applied as a late change
 * of one key, and says nothing of keys that are not there.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "fmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "apply.h"
#include "quarantine.h"
#include "run.h"
#include "spi.h"
#include "write.h"

static void
retry_group(Scd2Run *run, Scd2Retry *retry, TimestampTz batch_time,
			Scd2RunCounts *total)
{
	Scd2ApplyArgs args = {0};
	MemoryContext cxt = CurrentMemoryContext;
	Scd2Batch  *batch;
	Scd2Rights	rights;

	/* what the batch's statements see by name goes with the connection */
	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);

	/* it sees what the group before it wrote */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());

	args.relid = run->dim->relid;
	args.has_batch_time = !TIMESTAMP_NOT_FINITE(batch_time);
	args.batch_time = batch_time;
	batch = scd2_batch_create(run->dim, &args, run->lock.recorded_at);
	batch->retry = retry;
	scd2_run_adopt(run, batch);

	scd2_rights_enter(run->dim->owner, &rights);
	scd2_batch_prepare(batch);
	run->wrote |= scd2_writes_anything(batch);
	scd2_write(batch);
	scd2_rights_leave(&rights);
	scd2_write_rejected(batch);
	if (batch->lacks != NULL)
		scd2_registry_lacked(run->dim, batch->lacks);
	scd2_run_logged(run);

	scd2_run_add_counts(total, &batch->counts);
	PopActiveSnapshot();
	scd2_spi_end();
	MemoryContextSwitchTo(cxt);
	scd2_batch_end(batch);
}

static void
retry_rejected(Scd2Run *run, void *arg)
{
	Scd2Retry  *retry = scd2_retry_begin(run->dim, CurrentMemoryContext);
	Scd2RunCounts total = {0};
	TimestampTz batch_time;
	Scd2Batch  *batch;

	while (scd2_retry_group(retry, &batch_time))
		retry_group(run, retry, batch_time, &total);
	scd2_retry_end(retry);

	/* the run's record has no source and no batch_time of its own */
	batch = scd2_batch_begin(run->dim);
	scd2_run_adopt(run, batch);
	batch->counts = total;
}

PG_FUNCTION_INFO_V1(scd2_retry_rejected);

/*
 * CALL scd2.retry_rejected(dimension)
 */
Datum
scd2_retry_rejected(PG_FUNCTION_ARGS)
{
	scd2_run(scd2_registry_argument(fcinfo), SCD2_RUN_RETRY, retry_rejected, NULL);
	PG_RETURN_VOID();
}
