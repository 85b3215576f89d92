/*-------------------------------------------------------------------------
 *
 * progress.c
 *	  How far a run is, for other sessions to read (R22).
 *
 * An extension cannot add a progress command of its own, but it can report
 * under COPY's, which needs no preloading.  A mark in a parameter that COPY does
 * not use tells our runs apart; the view scd2.progress shows only these.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "progress.h"

#include "commands/progress.h"
#include "utils/backend_progress.h"

/* parameters: their numbers and the mark are known to the view scd2.progress */
#define PARAM_PHASE		10
#define PARAM_DONE		11
#define PARAM_TOTAL		12
#define PARAM_MARK		13
#define MARK			727375682	/* "+Z 2" */

/* report every so many rows */
#define STEP			1024

static int64 done;
static int64 reported;

/*
 * A run over the dimension "relid" begins.
 */
void
scd2_progress_start(Oid relid)
{
	pgstat_progress_start_command(PROGRESS_COMMAND_COPY, relid);
	pgstat_progress_update_param(PARAM_MARK, MARK);
}

/*
 * A phase begins; "total" is how many rows it expects, 0 if unknown.
 */
void
scd2_progress_phase(Scd2Phase phase, int64 total)
{
	const int	params[] = {PARAM_PHASE, PARAM_DONE, PARAM_TOTAL};
	const int64 values[] = {phase, 0, total};

	done = reported = 0;
	pgstat_progress_update_multi_param(3, params, values);
}

/*
 * "n" more rows are done.
 */
void
scd2_progress_done_add(int64 n)
{
	done += n;
	if (done - reported >= STEP)
	{
		reported = done;
		pgstat_progress_update_param(PARAM_DONE, done);
	}
}

/*
 * The run ends.  After an error, the end of the transaction does this.
 */
void
scd2_progress_end(void)
{
	pgstat_progress_end_command();
}
