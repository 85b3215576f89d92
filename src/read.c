/*-------------------------------------------------------------------------
 *
 * read.c
 *	  Reading the source, once: its rows in the dimension's types, and checked.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "read.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "badrow.h"
#include "convert.h"
#include "period.h"
#include "plan_read.h"
#include "progress.h"
#include "quarantine.h"
#include "spi.h"

typedef struct ReadState
{
	DestReceiver pub;
	Scd2Batch  *batch;
	Scd2RowCallback callback;
	void	   *arg;

	/* NULL where values need no conversion */
	Scd2Converter **key_converters;
	Scd2Converter **attr_converters;
	Scd2Converter **seq_converters;
	Oid			effective_type;
	bool		converts;		/* may a value not convert? */

	TupleDesc	desc;			/* of the statement */

	/* the row at hand */
	Datum	   *values;			/* layout.ncols, and room for three more */
	bool	   *isnull;
	bool		converting;		/* an error now is this row's fault */
	const char *column;			/* being converted */
	bool		converting_key; /* it is one of K */
	Datum		converting_value;	/* of a column of K */
	Oid			converting_type;
	int64		ord;
	TupleTableSlot *slot;
	int			bad_sqlstate;
	char	   *bad_reason;		/* NULL: it is good */
	Datum		rejected_row;	/* of a retry, as jsonb */
	Datum		rejected_text;	/* the values' texts, or 0 */
} ReadState;

/*
 * Note that the row at hand is bad; "reason" says why.
 */
static bool
reject(ReadState *state, int sqlstate, char *reason)
{
	state->bad_sqlstate = sqlstate;
	state->bad_reason = reason;
	return false;
}

/*
 * Hand the row at hand on, or set it aside.
 */
static void
finish_row(ReadState *state)
{
	const Scd2StagedLayout *layout = &state->batch->layout;
	bool		rejected = state->bad_reason != NULL;

	if (rejected)
	{
		scd2_bad_row(state->batch, state->bad_sqlstate, state->bad_reason,
					 state->values, state->isnull);
		for (int i = 0; i < state->batch->dim->nkeys; i++)
			if (state->isnull[layout->keys + i])
				return;
	}
	state->callback(state->arg, state->values, state->isnull, rejected);
}

static Scd2Converter **
make_converters(Scd2Batch *batch, TupleDesc source, int offset, int n,
				const Oid *types, const int32 *typmods)
{
	Scd2Converter **converters = palloc0(n * sizeof(Scd2Converter *));

	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute att = TupleDescAttr(source, offset + i);

		converters[i] = scd2_converter(att->atttypid, att->atttypmod,
									   types[i], typmods[i],
									   NameStr(att->attname), batch->cxt);
	}
	return converters;
}

static void
read_startup(DestReceiver *self, int operation, TupleDesc typeinfo)
{
	ReadState *state = (ReadState *) self;
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	int			most = Max(Max(dim->nkeys, dim->nattrs), dim->nseq) + 1;
	Oid		   *types = palloc(most * sizeof(Oid));
	int32	   *typmods = palloc(most * sizeof(int32));
	int			offset = 0;

	/* of a retry each row is read by a statement of its own */
	state->desc = typeinfo;
	if (state->key_converters != NULL)
	{
		MemoryContextSwitchTo(oldcxt);
		return;
	}

#define MAKE(member, array, n) \
	for (int i = 0; i < (n); i++) \
	{ \
		types[i] = (array)[i].typid; \
		typmods[i] = (array)[i].typmod; \
	} \
	state->member = make_converters(batch, typeinfo, offset, (n), \
									types, typmods); \
	offset += (n)

	MAKE(key_converters, dim->keys, dim->nkeys);
	MAKE(attr_converters, dim->attrs, dim->nattrs);
	for (int i = 0; batch->lacks != NULL && i < dim->nattrs; i++)
		if (batch->lacks[i])
			state->attr_converters[i] = NULL;	/* a domain may refuse null */
	if (dim->effective_at != NULL)
		state->effective_type =
			getBaseType(TupleDescAttr(typeinfo, offset++)->atttypid);
	MAKE(seq_converters, dim->seq, dim->nseq);
#undef MAKE
	state->converts = dim->effective_at != NULL &&
		state->effective_type != dim->period_type;
	for (int i = 0; i < dim->nkeys; i++)
		state->converts |= state->key_converters[i] != NULL;
	for (int i = 0; i < dim->nattrs; i++)
		state->converts |= state->attr_converters[i] != NULL;
	for (int i = 0; i < dim->nseq; i++)
		state->converts |= state->seq_converters[i] != NULL;

	MemoryContextSwitchTo(oldcxt);
}

/*
 * Name of a column that the statement returns: the slot's own descriptor has no
 * names where parallel workers fill it.
 */
static const char *
column_name(const ReadState *state, int col)
{
	return NameStr(TupleDescAttr(state->desc, col)->attname);
}

/*
 * Convert one group of columns into values[into...]; false when "required" and
 * one is null.
 */
static bool
convert_columns(ReadState *state, TupleTableSlot *slot, int from, int n,
				Scd2Converter **converters, int into, bool required)
{
	bool		complete = true;

	for (int i = 0; i < n; i++)
	{
		Datum		value = slot->tts_values[from + i];
		bool		isnull = slot->tts_isnull[from + i];

		if (converters[i] != NULL)
		{
			state->column = column_name(state, from + i);
			state->converting_key = into == state->batch->layout.keys;
			state->converting_value = value;
			state->converting_type = TupleDescAttr(state->desc, from + i)->atttypid;
			state->converting = true;
			value = scd2_convert(converters[i], value, &isnull);
			state->converting = false;
		}
		state->values[into + i] = value;
		state->isnull[into + i] = isnull;
		if (isnull && required && complete)
		{
			complete = false;
			state->column = column_name(state, from + i);
		}
	}
	return complete;
}

/*
 * Set E, and the source's own time, from the column "col"; false if the row was
 * rejected.
 */
static bool
convert_time(ReadState *state, TupleTableSlot *slot, int col)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	Datum		value = slot->tts_values[col];
	Datum		e;
	Scd2Time	t;

	if (slot->tts_isnull[col])
	{
		return reject(state, ERRCODE_NOT_NULL_VIOLATION,
					  psprintf("column \"%s\" is null", dim->effective_at));
	}
	if (!scd2_period_is_finite(value, state->effective_type))
	{
		return reject(state, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					  psprintf("column \"%s\" is not finite", dim->effective_at));
	}

	state->column = dim->effective_at;
	state->converting_key = false;
	state->converting = true;
	e = scd2_to_period(dim, value, state->effective_type);
	state->converting = false;

	t = scd2_period_to_time(dim, e);
	if (!scd2_period_is_finite(e, dim->period_type) ||
		(!dim->open_end_is_null && t >= scd2_period_to_time(dim, dim->open_end)))
	{
		return reject(state, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					  psprintf("column \"%s\" is at or past open_end", dim->effective_at));
	}
	if (dim->has_initial &&
		t < scd2_period_to_time(dim, dim->initial_valid_from))
	{
		return reject(state, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					  psprintf("column \"%s\" is before initial_valid_from",
						dim->effective_at));
	}

	state->values[layout->e] = e;
	state->isnull[layout->e] = false;
	if (layout->source_time >= 0)
	{
		state->values[layout->source_time] = value;
		state->isnull[layout->source_time] = false;
	}
	return true;
}

/*
 * Convert a row; false if it is bad.
 */
static bool
convert_row(ReadState *state, TupleTableSlot *slot)
{
	Scd2Batch  *batch = state->batch;
	Scd2Dimension *dim = batch->dim;
	const Scd2StagedLayout *layout = &batch->layout;
	int			attrs_from = dim->nkeys;
	int			time_from = attrs_from + dim->nattrs;
	int			seq_from = time_from + (dim->effective_at != NULL ? 1 : 0);
	int			deleted_from = seq_from + dim->nseq;
	bool		deleted = DatumGetBool(slot->tts_values[deleted_from]);
	bool		good;

	memset(state->isnull, true, layout->ncols * sizeof(bool));
	state->bad_reason = NULL;
	if (layout->raw >= 0 && batch->retry == NULL)
	{
		state->values[layout->raw] = slot->tts_values[deleted_from + 1];
		state->isnull[layout->raw] = slot->tts_isnull[deleted_from + 1];
	}
	state->values[layout->ord] = Int64GetDatum(++state->ord);
	state->isnull[layout->ord] = false;
	state->values[layout->deleted] = BoolGetDatum(deleted);
	state->isnull[layout->deleted] = false;
	state->values[layout->absent] = BoolGetDatum(false);
	state->isnull[layout->absent] = false;
	state->values[layout->as_current] = BoolGetDatum(false);
	state->isnull[layout->as_current] = false;

	good = convert_columns(state, slot, 0, dim->nkeys, state->key_converters,
						   layout->keys, true);
	if (!good)
		return reject(state, ERRCODE_NOT_NULL_VIOLATION,
					  psprintf("column \"%s\" is null", state->column));

	if (batch->pos.active &&
		slot->tts_isnull[state->desc->natts - 1])
		return reject(state, ERRCODE_NOT_NULL_VIOLATION,
					  psprintf("column \"%s\" is null", dim->log_position));

	/* a delete has no attributes (R5), whatever its row holds */
	if (!deleted)
		convert_columns(state, slot, attrs_from, dim->nattrs,
						state->attr_converters, layout->attrs, false);

	if (dim->effective_at == NULL)
	{
		state->values[layout->e] = batch->batch_e;
		state->isnull[layout->e] = false;
		if (layout->source_time >= 0)
		{
			state->values[layout->source_time] = TimestampTzGetDatum(batch->batch_time);
			state->isnull[layout->source_time] = false;
		}
	}
	else if (!convert_time(state, slot, time_from))
		return false;

	if (!convert_columns(state, slot, seq_from, dim->nseq,
						 state->seq_converters, layout->seq, true))
		return reject(state, ERRCODE_NOT_NULL_VIOLATION,
					  psprintf("column \"%s\" is null", state->column));

	return true;
}

static void
call_convert_row(void *arg)
{
	ReadState  *state = arg;

	(void) convert_row(state, state->slot);
}

/*
 * Is an error the fault of a value?
 */
static bool
is_conversion_error(const ErrorData *error)
{
	return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_DATA_EXCEPTION ||
		ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION;
}

/*
 * Convert a row of a batch that goes on without bad ones: in a subtransaction, for
 * a value that does not convert.
 */
static void
try_row(ReadState *state, TupleTableSlot *slot)
{
	ErrorData  *error;

	state->slot = slot;
	error = scd2_spi_try(call_convert_row, state);
	if (error == NULL)
		return;
	if (!state->converting || !is_conversion_error(error))
		ReThrowError(error);
	state->converting = false;
	reject(state, error->sqlerrcode,
		   psprintf("column \"%s\" does not convert: %s", state->column, error->message));
}


static bool
read_receive(TupleTableSlot *slot, DestReceiver *self)
{
	ReadState *state = (ReadState *) self;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->batch->row_cxt);

	CHECK_FOR_INTERRUPTS();
	state->batch->counts.rows_read++;
	slot_getallattrs(slot);
	if (state->batch->pos.active)
	{
		int			position = state->desc->natts - 1;

		if (!slot->tts_isnull[position])
			scd2_logpos_seen(&state->batch->pos, slot->tts_values[position]);
	}
	if (state->converts && scd2_quarantines(state->batch))
		try_row(state, slot);
	else
		convert_row(state, slot);
	finish_row(state);
	scd2_progress_done_add(1);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->batch->row_cxt);
	return true;
}

/*
 * An error while a value was converted: say which row it is in.
 */
static void
rethrow_conversion(ReadState *state)
{
	Scd2Batch  *batch = state->batch;
	ErrorData  *error;

	if (!state->converting)
		PG_RE_THROW();

	MemoryContextSwitchTo(batch->cxt);
	error = CopyErrorData();
	if (!is_conversion_error(error))
		PG_RE_THROW();
	FlushErrorState();

	ereport(ERROR,
			(errcode(error->sqlerrcode),
			 errmsg("source \"%s\" has a row that dimension \"%s\" cannot take: %s",
					batch->source_label, batch->dim->label, error->message),
			 state->converting_key ?
			 errdetail("Column \"%s\" of its key is %s, which does not convert.",
					   state->column,
					   scd2_value_text(state->converting_value,
								   state->converting_type)) :
			 errdetail("Key %s: column \"%s\" does not convert.",
					   scd2_key_text(batch->dim,
									 &state->values[batch->layout.keys],
									 &state->isnull[batch->layout.keys]),
					   state->column),
			 errhint("Nothing was written. Correct the row in the source, or leave it out.")));
}

/*
 * A row of the source from its values' texts.  What the source has gained since is
 * null, as in jsonb_populate_record.
 */
static Datum
row_from_text(Oid type, Datum texts)
{
	Jsonb	   *jsonb = DatumGetJsonbP(texts);
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);
	char	  **strings = palloc0(desc->natts * sizeof(char *));

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		JsonbValue *found;

		if (att->attisdropped)
			continue;
		found = getKeyJsonValueFromContainer(&jsonb->root, NameStr(att->attname),
											 strlen(NameStr(att->attname)), NULL);
		if (found != NULL && found->type == jbvString)
			strings[i] = pnstrdup(found->val.string.val, found->val.string.len);
	}
	return HeapTupleGetDatum(BuildTupleFromCStrings(TupleDescGetAttInMetadata(desc), strings));
}

static void
call_read_rejected(void *arg)
{
	ReadState  *state = arg;
	const Scd2Batch *batch = state->batch;
	bool		by_text = state->rejected_text != (Datum) 0;
	Oid			type = by_text ? get_rel_type_id(batch->source) : JSONBOID;
	Datum		value = by_text ? row_from_text(type, state->rejected_text) :
		state->rejected_row;

	scd2_spi_stream("read rejected",
					scd2_plan_read_rejected(batch->dim, batch->source, batch->lacks, by_text),
					1, &type, &value, NULL, true, (DestReceiver *) state);
}

/*
 * Read rows that earlier runs rejected, each by itself: what fails there is that
 * row's fault.  The number of each stands for its arrival.
 */
static void
read_rejected(ReadState *state)
{
	Scd2Batch  *batch = state->batch;
	const Scd2StagedLayout *layout = &batch->layout;
	MemoryContext cxt = AllocSetContextCreate(batch->cxt, "scd2 rejected row",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext oldcxt = MemoryContextSwitchTo(cxt);
	int64		id;

	while (scd2_retry_next(batch->retry, &id, &state->rejected_row,
						   &state->rejected_text))
	{
		ErrorData  *error;

		CHECK_FOR_INTERRUPTS();
		state->ord = id - 1;
		state->converting = false;
		error = scd2_spi_try(call_read_rejected, state);
		if (error != NULL)
		{
			if (!is_conversion_error(error))
				ReThrowError(error);
			memset(state->isnull, true, layout->ncols * sizeof(bool));
			state->values[layout->ord] = Int64GetDatum(id);
			state->isnull[layout->ord] = false;
			scd2_bad_row(batch, error->sqlerrcode, error->message, state->values,
						 state->isnull);
		}
		MemoryContextReset(cxt);
	}
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
}

/*
 * Read the source; see read.h.
 */
int64
scd2_read_source(Scd2Batch *batch, Scd2RowCallback callback, void *arg)
{
	ReadState  *state = palloc0(sizeof(ReadState));
	Scd2LogPos *pos = &batch->pos;
	bool		has_mark = pos->active && pos->mark != NULL;
	Datum		mark = has_mark ? scd2_logpos_mark(pos) : (Datum) 0;
	int			guc_level;

	state->batch = batch;
	state->callback = callback;
	state->arg = arg;
	state->values = palloc0((batch->layout.ncols + 3) * sizeof(Datum));
	state->isnull = palloc0((batch->layout.ncols + 3) * sizeof(bool));
	scd2_spi_receiver(&state->pub, read_startup, read_receive);

	guc_level = scd2_spi_serial_begin(scd2_rows_may_try(batch));
	if (batch->retry != NULL)
	{
		read_rejected(state);
		scd2_spi_planner_end(guc_level);
		return state->ord;
	}

	PG_TRY();
	{
		scd2_spi_stream("read", scd2_plan_read(batch->dim, batch->source,
											   batch->lacks, pos),
						has_mark ? 1 : 0, &pos->type, &mark, NULL, true,
						(DestReceiver *) state);
	}
	PG_CATCH();
	{
		rethrow_conversion(state);
	}
	PG_END_TRY();
	scd2_spi_planner_end(guc_level);

	return state->ord;
}
