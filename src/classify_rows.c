/*-------------------------------------------------------------------------
 *
 * classify_rows.c
 *	  The rows of one key against each other, and what on_delete says of them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "classify_int.h"

#include "miscadmin.h"

#include "badrow.h"
#include "preview.h"

/*
 * A row is bad; see classify_int.h.
 */
void
scd2_classify_bad_row(ClassifyState *state, ClassifyRow *row, const char *reason)
{
	row->dropped = true;
	scd2_bad_row(state->batch, ERRCODE_CARDINALITY_VIOLATION, reason,
				 row->values, row->isnull);
}

/*
 * Skip a row; see classify_int.h.
 */
void
scd2_classify_skip_row(ClassifyState *state, ClassifyRow *row)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	row->dropped = true;
	batch->counts.rows_skipped++;
	if (batch->preview != NULL)
		scd2_preview_action(batch, "skip", row->values + layout->keys,
							row->isnull + layout->keys,
							&row->values[layout->e], NULL, NULL,
							row->values + layout->attrs,
							row->isnull + layout->attrs);
}

static bool
same_columns(Scd2CanonType **canon, const ClassifyRow *a, const ClassifyRow *b,
			 int from, int n, const bool *lacks)
{
	for (int i = 0; i < n; i++)
		if ((lacks == NULL || !lacks[i]) &&
			!scd2_canon_same(canon[i],
							 a->values[from + i], a->isnull[from + i],
							 b->values[from + i], b->isnull[from + i]))
			return false;
	return true;
}

/*
 * Do two rows have equal (E, source's own time, S)?
 */
static bool
same_position(const ClassifyState *state, const ClassifyRow *a,
			  const ClassifyRow *b)
{
	const Scd2Batch *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;

	if (a->values[layout->e] != b->values[layout->e])
		return false;
	if (layout->source_time >= 0 &&
		(a->isnull[layout->source_time] != b->isnull[layout->source_time] ||
		 a->values[layout->source_time] != b->values[layout->source_time]))
		return false;
	return same_columns(state->seq_canon, a, b, layout->seq, batch->dim->nseq,
						NULL);
}

static bool
same_content(const ClassifyState *state, const ClassifyRow *a,
			 const ClassifyRow *b)
{
	const Scd2Batch *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	bool		deleted = row_flag(a, layout->deleted);

	if (deleted != row_flag(b, layout->deleted))
		return false;
	return deleted || same_columns(batch->shape.canon, a, b, layout->attrs,
								   batch->dim->nattrs, batch->lacks);
}

/*
 * Identical rows are one; different ones at one position are all bad (R19).
 * Rows come sorted by position.  Those dropped already, which are ignored
 * deletes, count for nothing here either (R7).  Returns how many are bad.
 */
static int
drop_duplicates(ClassifyState *state)
{
	int			first = 0;
	int			nbad = 0;

	for (int i = 1; i <= state->nrows; i++)
	{
		ClassifyRow *standing = NULL;
		bool		differ = false;

		CHECK_FOR_INTERRUPTS();
		if (i < state->nrows &&
			same_position(state, &state->rows[first], &state->rows[i]))
			continue;

		for (int j = first; j < i && !differ; j++)
		{
			ClassifyRow *row = &state->rows[j];

			if (row->dropped)
				continue;
			if (standing == NULL)
				standing = row;
			else
				differ = !same_content(state, standing, row);
		}
		for (int j = first; j < i; j++)
		{
			ClassifyRow *row = &state->rows[j];

			if (row->dropped)
				continue;
			if (differ)
			{
				scd2_classify_bad_row(state, row,
						"differs from another row of this key, and neither time nor sequence_by orders them");
				nbad++;
			}
			else if (row != standing)
			{
				row->dropped = true;
				state->batch->counts.rows_replayed++;
			}
		}
		first = i;
	}
	return nbad;
}

/*
 * How many rows count.
 */
int
scd2_classify_standing(const ClassifyState *state)
{
	int			n = 0;

	for (int i = 0; i < state->nrows; i++)
		if (!state->rows[i].dropped)
			n++;
	return n;
}

/*
 * What on_duplicate says of several changes of one key (section 2), "nbad" of them bad
 * already.
 */
static void
apply_on_duplicate(ClassifyState *state, int nbad)
{
	Scd2Dimension *dim = state->batch->dim;
	bool		last_only = dim->on_duplicate == SCD2_DUPLICATE_LATEST ||
		scd2_compares_state(dim);
	bool		last = true;
	const char *reason = NULL;

	if (nbad + scd2_classify_standing(state) < (last_only && dim->mode == SCD2_MODE_LOG ? 1 : 2))
		return;

	if (dim->on_duplicate == SCD2_DUPLICATE_ERROR)
		reason = "comes several times in the batch, and on_duplicate is \"error\"";
	else if (dim->mode == SCD2_MODE_SNAPSHOT &&
			 dim->on_duplicate == SCD2_DUPLICATE_SEQUENCE)
		reason = "comes twice in the snapshot, with different rows";

	for (int i = state->nrows - 1; i >= 0; i--)
	{
		ClassifyRow *row = &state->rows[i];

		if (row->read_before && last_only)
			last = false;		/* those before it were skipped then, too */
		if (row->dropped)
			continue;
		if (reason != NULL)
			scd2_classify_bad_row(state, row, reason);
		else if (last_only && !last)
			scd2_classify_skip_row(state, row);
		last = false;
	}
}

/*
 * What on_delete says of deletes, before they are anything else.
 */
void
scd2_classify_on_delete(ClassifyState *state)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;

	for (int i = 0; i < state->nrows; i++)
	{
		ClassifyRow *row = &state->rows[i];

		if (row->dropped || !row_flag(row, layout->deleted))
			continue;
		if (dim->on_delete == SCD2_DELETE_IGNORE)
			scd2_classify_skip_row(state, row);
		else if (dim->on_delete == SCD2_DELETE_ERROR)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("source \"%s\" deletes a key of dimension \"%s\"",
							batch->source_label, dim->label),
					 errdetail("Key %s %s, and on_delete is \"error\".",
							   scd2_key_text(dim, row->values + layout->keys,
											 row->isnull + layout->keys),
							   row_flag(row, layout->absent) ?
							   "is not in the snapshot" : "comes as a delete"),
					 errhint("Nothing was written. Register the dimension with another on_delete, or correct the source.")));
	}
}

/*
 * Rows of one key against each other; see classify_int.h.
 */
void
scd2_classify_duplicates(ClassifyState *state)
{
	if (state->nrows < 2)
		return;
	apply_on_duplicate(state, drop_duplicates(state));
}
