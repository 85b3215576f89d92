/*-------------------------------------------------------------------------
 *
 * check_log.c
 *	  Does a dimension's chain equal what its log says (R32)?
 *
 * Surrogate keys, hashes and is_current have checks of their own, which say more.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "check_log.h"

#include "utils/memutils.h"

#include "chain.h"
#include "run.h"

typedef struct CheckLogState
{
	Scd2Dimension *dim;
	Scd2ChainComparer *comparer;
	Scd2VersionRow *layout;
	TupleDesc	desc;			/* of version rows */
	Scd2LogViolation report;
	void	   *arg;
} CheckLogState;

static const char *
column_name(const Scd2Dimension *dim, const Scd2VersionRow *row, int col)
{
	int			extra = row->extras;

	if (col == row->valid_to)
		return dim->valid_to;
	if (col == row->is_deleted)
		return dim->is_deleted;
	if (col < row->extras)
		return dim->attrs[col - row->attrs].name;
	for (int i = 0; i < dim->nattrs; i++)
		if (dim->attrs[i].extra_name != NULL && extra++ == col)
			return dim->attrs[i].extra_name;
	return "";
}

static char *
shown(const CheckLogState *state, int col, Datum value, bool isnull)
{
	return isnull ? "null" :
		scd2_value_text(value, TupleDescAttr(state->desc, col)->atttypid);
}

static void
check_difference(void *arg, const Scd2Chain *chain,
				 const Scd2StoredVersion *stored, const Scd2VersionRow *row)
{
	CheckLogState *state = arg;
	StringInfoData detail;

	if (stored == NULL)
	{
		state->report(state->arg, chain->keys, chain->keys_isnull, NULL,
					  &row->values[row->valid_from],
					  "It is missing, and the log has it.");
		return;
	}

	initStringInfo(&detail);
	if (row == NULL)
		appendStringInfoString(&detail, "The log has no such version.");
	for (int col = 0; row != NULL && col < row->ncols; col++)
	{
		if (col == 0 || col == row->row_hash || col == row->is_current ||
			scd2_chain_same_column(state->comparer, col, stored, row))
			continue;
		appendStringInfo(&detail, "%sColumn \"%s\" is %s, and %s by the log.",
						 detail.len > 0 ? " " : "",
						 column_name(state->dim, row, col),
						 shown(state, col, stored->values[col], stored->isnull[col]),
						 shown(state, col, row->values[col], row->isnull[col]));
	}
	if (detail.len > 0)
		state->report(state->arg, chain->keys, chain->keys_isnull,
					  stored->isnull[0] ? NULL : &stored->values[0],
					  &stored->values[state->layout->valid_from],
					  detail.data);
}

static void
check_chain(void *arg, const Scd2Chain *chain)
{
	CheckLogState *state = arg;

	scd2_chain_compare(state->comparer, chain);
}

/*
 * Fold the log beside the versions; see check_log.h.
 */
void
scd2_check_log(Scd2Dimension *dim, Scd2LogViolation report, void *arg)
{
	CheckLogState *state = palloc0(sizeof(CheckLogState));
	Scd2Batch  *batch = scd2_batch_begin(dim);

	state->dim = dim;
	state->report = report;
	state->arg = arg;
	state->layout = scd2_version_row_create(dim, batch->cxt);
	state->desc = scd2_version_row_desc(state->layout, 0);
	state->comparer = scd2_chain_comparer(dim, check_difference, state, batch->cxt);
	scd2_chain_fold(batch, "log", SCD2_CHAIN_VERSIONS, 0, check_chain, state);
	scd2_batch_end(batch);
}
