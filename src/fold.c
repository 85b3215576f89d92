/*-------------------------------------------------------------------------
 *
 * fold.c
 *	  The fold: a key's ordered changes in, its versions out (SPEC section 3).
 *
 * Owns the meaning of R5 to R9: which changes stand, which open and close
 * versions, and what each type of column shows.  It knows nothing of tables,
 * batches or logs, and touches neither SPI nor catalog.
 *
 * A change is held until the next one is known to have another effective time:
 * only then does it stand (R5).  So one change is copied at a time, and its
 * copy is let go again unless a version or a column's last value needs it; what
 * is kept of a key is its versions and one outcome per change.
 *
 * What the fold knows after each standing change:
 *
 *	  versions	the chain so far; only the last one can be open
 *	  newest	the type 2 and 6 values of the newest version, also when it is
 *				closed or was there before the fold began
 *	  last		for types 1, 3 and 6 the last value, for type 0 the first
 *	  previous	for type 3 the last value that differs from "last"
 *	  known		has any change had this column (R8)?  Until then the versions
 *				show null, and the first value found fills all of them
 *
 * A value that is the same as the one in its place (R12) never replaces it,
 * however it is spelled, so that the result depends neither on where a batch
 * was split nor on whether the fold began at the start or midway.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/expandeddatum.h"
#include "utils/memutils.h"

#include "fold.h"

/* Room for versions and outcomes of ordinary keys, kept from key to key. */
#define SMALL_CHAIN 16

/* The change that stands unless another of equal time follows. */
typedef struct HeldChange
{
	Scd2Time	effective_at;
	bool		deleted;
	bool		always_opens;
	int			index;			/* as it was fed */
	Datum	   *values;			/* the start of its memory; NULL for deletes */
	bool	   *isnull;
	bool	   *lacks;			/* NULL: lacks none */
} HeldChange;

struct Scd2Fold
{
	const Scd2FoldShape *shape;
	MemoryContext key_cxt;		/* what lives as long as the key */
	MemoryContext scratch_cxt;	/* what comparisons leave behind */
	bool		has_type3;		/* is previous used at all? */
	bool	   *not_type3;		/* natts */
	Size	   *sizes;			/* natts, scratch of copy_row */
	bool	   *changed;		/* natts, scratch of settle */

	/* the key */
	bool		in_key;
	const Datum *start_values;	/* our copy; NULL without a start */
	const bool *start_isnull;
	const Datum *start_previous;
	const bool *start_previous_isnull;
	bool		touched;		/* did last or previous change at all? */

	bool		holding;
	HeldChange	held;

	const Datum *newest;		/* NULL: no version yet */
	const bool *newest_isnull;
	bool	   *known;			/* natts */

	/*
	 * last and previous are in the result.  A value that no kept row holds is
	 * in memory of its own, so that it can be freed when it is replaced.
	 */
	bool	   *last_owned;
	bool	   *previous_owned;

	int			max_versions;
	int			max_changes;
	Scd2FoldVersion small_versions[SMALL_CHAIN];
	Scd2FoldOutcome small_outcomes[SMALL_CHAIN];
	Scd2FoldResult result;
};

/* ---------------------------------------------------------------------------
 * values
 * ---------------------------------------------------------------------------
 */

/* Bytes of a value that is passed by reference, expanded objects flattened. */
static Size
value_size(Datum value, int16 typlen)
{
	if (typlen == -1)
	{
		struct varlena *v = (struct varlena *) DatumGetPointer(value);

		if (VARATT_IS_EXTERNAL_EXPANDED(v))
			return EOH_get_flat_size(DatumGetEOHP(value));
		return VARSIZE_ANY(v);
	}
	if (typlen == -2)
		return strlen(DatumGetCString(value)) + 1;
	return typlen;
}

static void
value_copy(void *target, Datum value, int16 typlen, Size size)
{
	if (typlen == -1 &&
		VARATT_IS_EXTERNAL_EXPANDED((struct varlena *) DatumGetPointer(value)))
		EOH_flatten_into(DatumGetEOHP(value), target, size);
	else
		memcpy(target, DatumGetPointer(value), size);
}

/*
 * Copy a row of tracked values into one piece of the key's memory: the datums,
 * their null flags, then what they point to.  Columns that are "absent" become
 * null; their values are not looked at.
 */
static Datum *
copy_row(Scd2Fold *fold, const Datum *values, const bool *isnull,
		 const bool *absent, bool **isnull_copy)
{
	const Scd2FoldShape *shape = fold->shape;
	int			natts = shape->natts;
	Size		header = MAXALIGN(natts * (sizeof(Datum) + sizeof(bool)));
	Size		total = header;
	Datum	   *copy;
	bool	   *nulls;
	char	   *next;

	for (int i = 0; i < natts; i++)
	{
		if (shape->typbyval[i] || isnull[i] || (absent && absent[i]))
			continue;
		fold->sizes[i] = value_size(values[i], shape->typlen[i]);
		total += MAXALIGN(fold->sizes[i]);
	}

	copy = MemoryContextAllocHuge(fold->key_cxt, Max(total, 1));
	nulls = (bool *) (copy + natts);
	next = (char *) copy + header;

	for (int i = 0; i < natts; i++)
	{
		nulls[i] = isnull[i] || (absent && absent[i]);
		if (nulls[i])
			copy[i] = (Datum) 0;
		else if (shape->typbyval[i])
			copy[i] = values[i];
		else
		{
			value_copy(next, values[i], shape->typlen[i], fold->sizes[i]);
			copy[i] = PointerGetDatum(next);
			next += MAXALIGN(fold->sizes[i]);
		}
	}

	*isnull_copy = nulls;
	return copy;
}

/* Are two values of tracked column "att" the same (R12)? */
static inline bool
same(Scd2Fold *fold, int att, Datum a, bool a_isnull, Datum b, bool b_isnull)
{
	if (a_isnull || b_isnull)
		return a_isnull && b_isnull;
	if (fold->shape->typbyval[att] && a == b)
		return true;
	return scd2_canon_same(fold->shape->canon[att], a, false, b, false);
}

/*
 * Put a value in place of a column's last one.  "kept" says that the row it
 * comes from stays as long as the key.
 */
static void
replace_last(Scd2Fold *fold, int att, Datum value, bool isnull, bool kept)
{
	const Scd2FoldShape *shape = fold->shape;
	Scd2FoldResult *result = &fold->result;
	bool		own = !kept && !isnull && !shape->typbyval[att];

	if (own)
	{
		Size		size = value_size(value, shape->typlen[att]);
		void	   *copy = MemoryContextAllocHuge(fold->key_cxt, size);

		value_copy(copy, value, shape->typlen[att], size);
		value = PointerGetDatum(copy);
	}

	if (shape->scd_type[att] == 3)
	{
		/* R8: the last value before it that differs */
		if (fold->previous_owned[att])
			pfree(DatumGetPointer(result->previous[att]));
		result->previous[att] = result->last[att];
		result->previous_isnull[att] = result->last_isnull[att];
		fold->previous_owned[att] = fold->last_owned[att];
	}
	else if (fold->last_owned[att])
		pfree(DatumGetPointer(result->last[att]));

	result->last[att] = value;
	result->last_isnull[att] = isnull;
	fold->last_owned[att] = own;
}

/* ---------------------------------------------------------------------------
 * versions
 * ---------------------------------------------------------------------------
 */

/* The open version, or NULL.  Only the newest can be open. */
static inline Scd2FoldVersion *
open_version(Scd2Fold *fold)
{
	Scd2FoldResult *result = &fold->result;
	Scd2FoldVersion *version;

	if (result->nversions == 0)
		return NULL;
	version = &result->versions[result->nversions - 1];
	return version->is_open ? version : NULL;
}

/* Twice the room for an array of the key's, whose first room is the fold's own. */
static void *
enlarge(Scd2Fold *fold, void *array, void *small, int *max, Size element)
{
	Size		size = *max * element;

	if (*max > PG_INT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a key has more than %d changes", *max)));
	*max *= 2;
	if (array == small)
	{
		void	   *copy = MemoryContextAllocHuge(fold->key_cxt, size * 2);

		memcpy(copy, array, size);
		return copy;
	}
	return repalloc_huge(array, size * 2);
}

/* Append an open version over a row that stays as long as the key. */
static Scd2FoldVersion *
add_version(Scd2Fold *fold, Scd2Time valid_from, bool is_deleted, int opened_by,
			Datum *values, bool *isnull)
{
	Scd2FoldResult *result = &fold->result;
	Scd2FoldVersion *version;

	if (result->nversions == fold->max_versions)
		result->versions = enlarge(fold, result->versions, fold->small_versions,
								   &fold->max_versions, sizeof(Scd2FoldVersion));

	version = &result->versions[result->nversions++];
	version->valid_from = valid_from;
	version->is_open = true;
	version->valid_to = 0;
	version->is_deleted = is_deleted;
	version->preexisting = false;
	version->opened_by = opened_by;
	version->values = values;
	version->isnull = isnull;

	fold->newest = values;
	fold->newest_isnull = isnull;
	return version;
}

static inline void
end_version(Scd2FoldVersion *version, Scd2Time at)
{
	version->is_open = false;
	version->valid_to = at;
}

/* ---------------------------------------------------------------------------
 * changes
 * ---------------------------------------------------------------------------
 */

/* R7: a delete closes what is open, and may open a version that says so. */
static Scd2FoldOutcome
settle_delete(Scd2Fold *fold, const HeldChange *change)
{
	Scd2FoldVersion *open = open_version(fold);

	if (open == NULL || open->is_deleted)
		return SCD2_FOLD_IGNORED;

	end_version(open, change->effective_at);
	if (fold->shape->flag_deletes)
		add_version(fold, change->effective_at, true, change->index,
					open->values, open->isnull);
	return SCD2_FOLD_CLOSED;
}

/*
 * R8: the first value that any change has of a column.  The changes before it
 * lacked the column and take this value, which opens nothing by that: the
 * versions there are show null so far, and are filled in place.
 */
static void
first_value(Scd2Fold *fold, int att, Datum value, bool isnull)
{
	Scd2FoldResult *result = &fold->result;
	int8		type = fold->shape->scd_type[att];

	fold->known[att] = true;
	if (type != 2)
	{
		result->last[att] = value;
		result->last_isnull[att] = isnull;
	}
	if (type == 2 || type == 6)
	{
		for (int v = 0; v < result->nversions; v++)
		{
			result->versions[v].values[att] = value;
			result->versions[v].isnull[att] = isnull;
		}
	}
}

/* R6, R7, R8: a standing change that is no delete. */
static Scd2FoldOutcome
settle_state(Scd2Fold *fold, HeldChange *change)
{
	const Scd2FoldShape *shape = fold->shape;
	Scd2FoldResult *result = &fold->result;
	Scd2FoldVersion *open = open_version(fold);
	bool		alive = open != NULL && !open->is_deleted;
	bool		opens = !alive || change->always_opens;
	bool		filled = false;
	bool		overwrote = false;
	bool		kept;

	for (int i = 0; i < shape->natts; i++)
	{
		int8		type = shape->scd_type[i];
		Datum		value = change->values[i];
		bool		isnull = change->isnull[i];

		fold->changed[i] = false;

		if ((change->lacks && change->lacks[i]) ||
			(isnull && shape->ignore_null_updates && alive && fold->known[i]))
		{
			/*
			 * Lacking, the change takes the last earlier value, across deletes
			 * too (null if there is none yet, and first_value puts that
			 * right).  Null for "not sent" takes the value before it; a delete
			 * starts afresh, so only while the key is alive.  Either way the
			 * column stays as it is.
			 */
			if ((type == 2 || type == 6) && fold->newest)
			{
				change->values[i] = fold->newest[i];
				change->isnull[i] = fold->newest_isnull[i];
			}
		}
		else if (!fold->known[i])
		{
			if (fold->newest)
				filled = true;
			first_value(fold, i, value, isnull);
		}
		else if (type == 2)
		{
			if (!opens)
				opens = !same(fold, i, fold->newest[i], fold->newest_isnull[i],
							  value, isnull);
		}
		else if (type != 0)
		{
			/* for type 6 "last" is the same as the newest version's value */
			if (!same(fold, i, result->last[i], result->last_isnull[i],
					  value, isnull))
			{
				fold->changed[i] = true;
				overwrote = true;
				if (type == 6)
					opens = true;
			}
		}
	}

	/* a version, or a value that filled older ones, needs the row */
	kept = opens || filled;

	if (overwrote)
	{
		fold->touched = true;
		for (int i = 0; i < shape->natts; i++)
			if (fold->changed[i])
				replace_last(fold, i, change->values[i], change->isnull[i], kept);
	}

	if (opens)
	{
		Scd2Time	valid_from = change->effective_at;

		/* a seed keeps the period that its row has (R2) */
		if (shape->has_initial && fold->newest == NULL && !change->always_opens)
			valid_from = shape->initial_valid_from;
		if (open)
			end_version(open, change->effective_at);
		add_version(fold, valid_from, false, change->index,
					change->values, change->isnull);
		return SCD2_FOLD_OPENED;
	}
	if (!kept)
		pfree(change->values);
	return overwrote || filled ? SCD2_FOLD_OVERWROTE : SCD2_FOLD_CONFIRMED;
}

/* The held change stands (R5). */
static void
settle(Scd2Fold *fold)
{
	HeldChange *change = &fold->held;
	MemoryContext old;

	fold->holding = false;
	if (change->deleted)
		fold->result.outcomes[change->index] = settle_delete(fold, change);
	else
	{
		old = MemoryContextSwitchTo(fold->scratch_cxt);
		fold->result.outcomes[change->index] = settle_state(fold, change);
		MemoryContextSwitchTo(old);
		MemoryContextReset(fold->scratch_cxt);
		if (change->lacks)
			pfree(change->lacks);
	}
}

/* ---------------------------------------------------------------------------
 * the interface
 * ---------------------------------------------------------------------------
 */

Scd2Fold *
scd2_fold_create(const Scd2FoldShape *shape, MemoryContext parent)
{
	int			natts = shape->natts;
	Scd2Fold   *fold = MemoryContextAllocZero(parent, sizeof(Scd2Fold));
	MemoryContext old = MemoryContextSwitchTo(parent);

	fold->shape = shape;
	fold->key_cxt = AllocSetContextCreate(parent, "scd2 fold key",
										  ALLOCSET_DEFAULT_SIZES);
	fold->scratch_cxt = AllocSetContextCreate(parent, "scd2 fold scratch",
											  ALLOCSET_DEFAULT_SIZES);

	fold->not_type3 = palloc(natts * sizeof(bool));
	for (int i = 0; i < natts; i++)
	{
		fold->not_type3[i] = shape->scd_type[i] != 3;
		if (!fold->not_type3[i])
			fold->has_type3 = true;
	}
	fold->sizes = palloc(natts * sizeof(Size));
	fold->changed = palloc(natts * sizeof(bool));
	fold->known = palloc(natts * sizeof(bool));
	fold->last_owned = palloc(natts * sizeof(bool));
	fold->previous_owned = palloc(natts * sizeof(bool));
	fold->result.last = palloc(natts * sizeof(Datum));
	fold->result.last_isnull = palloc(natts * sizeof(bool));
	fold->result.previous = palloc(natts * sizeof(Datum));
	fold->result.previous_isnull = palloc(natts * sizeof(bool));

	MemoryContextSwitchTo(old);
	return fold;
}

void
scd2_fold_start(Scd2Fold *fold, const Scd2FoldStart *start)
{
	Scd2FoldResult *result = &fold->result;
	int			natts = fold->shape->natts;

	MemoryContextReset(fold->key_cxt);
	fold->in_key = true;
	fold->holding = false;
	fold->touched = false;
	fold->start_values = NULL;
	fold->newest = NULL;
	fold->newest_isnull = NULL;

	result->nversions = 0;
	result->versions = fold->small_versions;
	fold->max_versions = SMALL_CHAIN;
	result->nchanges = 0;
	result->outcomes = fold->small_outcomes;
	fold->max_changes = SMALL_CHAIN;
	result->overlay_changed = false;

	memset(fold->last_owned, false, natts * sizeof(bool));
	memset(fold->previous_owned, false, natts * sizeof(bool));
	memset(fold->known, start != NULL, natts * sizeof(bool));

	if (start == NULL)
	{
		memset(result->last, 0, natts * sizeof(Datum));
		memset(result->last_isnull, true, natts * sizeof(bool));
		memset(result->previous, 0, natts * sizeof(Datum));
		memset(result->previous_isnull, true, natts * sizeof(bool));
	}
	else
	{
		bool	   *isnull;
		bool	   *previous_isnull;
		Datum	   *values = copy_row(fold, start->values, start->isnull, NULL,
									  &isnull);

		fold->start_values = values;
		fold->start_isnull = isnull;
		memcpy(result->last, values, natts * sizeof(Datum));
		memcpy(result->last_isnull, isnull, natts * sizeof(bool));

		if (fold->has_type3)
		{
			fold->start_previous = copy_row(fold, start->previous,
											start->previous_isnull,
											fold->not_type3, &previous_isnull);
			fold->start_previous_isnull = previous_isnull;
			memcpy(result->previous, fold->start_previous,
				   natts * sizeof(Datum));
			memcpy(result->previous_isnull, previous_isnull,
				   natts * sizeof(bool));
		}
		else
		{
			memset(result->previous, 0, natts * sizeof(Datum));
			memset(result->previous_isnull, true, natts * sizeof(bool));
		}

		if (start->open)
		{
			Scd2FoldVersion *version;

			version = add_version(fold, start->valid_from, start->is_deleted, -1,
								  values, isnull);
			version->preexisting = true;
		}
		fold->newest = values;
		fold->newest_isnull = isnull;
	}
}

void
scd2_fold_change(Scd2Fold *fold, const Scd2FoldChange *change)
{
	Scd2FoldResult *result = &fold->result;
	HeldChange *held = &fold->held;
	int			natts = fold->shape->natts;
	int			index;

	Assert(fold->in_key);

	if (result->nchanges == fold->max_changes)
		result->outcomes = enlarge(fold, result->outcomes, fold->small_outcomes,
								   &fold->max_changes, sizeof(Scd2FoldOutcome));
	index = result->nchanges++;

	/* R7: ignored deletes count for nothing, not among equal times either */
	if (change->deleted && fold->shape->ignore_deletes)
	{
		result->outcomes[index] = SCD2_FOLD_IGNORED;
		return;
	}

	if (fold->holding)
	{
		if (change->effective_at == held->effective_at)
		{
			/* R5: the held one counts for nothing */
			result->outcomes[held->index] = SCD2_FOLD_SUPERSEDED;
			if (held->values)
				pfree(held->values);
			if (held->lacks)
				pfree(held->lacks);
		}
		else
		{
			if (change->effective_at < held->effective_at)
				elog(ERROR, "scd2 fold: changes of a key are not in order");
			settle(fold);
		}
	}

	held->effective_at = change->effective_at;
	held->deleted = change->deleted;
	held->always_opens = change->always_opens;
	held->index = index;
	held->values = NULL;
	held->isnull = NULL;
	held->lacks = NULL;
	if (!change->deleted)
	{
		held->values = copy_row(fold, change->values, change->isnull,
								change->lacks, &held->isnull);
		if (change->lacks)
		{
			held->lacks = MemoryContextAlloc(fold->key_cxt,
											 Max(natts * sizeof(bool), 1));
			memcpy(held->lacks, change->lacks, natts * sizeof(bool));
		}
	}
	fold->holding = true;
}

/* Do last or previous differ from what the start had? */
static bool
overlay_differs(Scd2Fold *fold)
{
	const Scd2FoldShape *shape = fold->shape;
	const Scd2FoldResult *result = &fold->result;

	for (int i = 0; i < shape->natts; i++)
	{
		int8		type = shape->scd_type[i];

		if (type == 2 || type == 0)
			continue;
		if (!same(fold, i, fold->start_values[i], fold->start_isnull[i],
				  result->last[i], result->last_isnull[i]))
			return true;
		if (type == 3 &&
			!same(fold, i, fold->start_previous[i], fold->start_previous_isnull[i],
				  result->previous[i], result->previous_isnull[i]))
			return true;
	}
	return false;
}

const Scd2FoldResult *
scd2_fold_finish(Scd2Fold *fold)
{
	Assert(fold->in_key);

	if (fold->holding)
		settle(fold);
	if (fold->touched && fold->start_values)
	{
		MemoryContext old = MemoryContextSwitchTo(fold->scratch_cxt);

		fold->result.overlay_changed = overlay_differs(fold);
		MemoryContextSwitchTo(old);
		MemoryContextReset(fold->scratch_cxt);
	}
	fold->in_key = false;
	return &fold->result;
}
