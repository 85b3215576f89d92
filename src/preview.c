/*-------------------------------------------------------------------------
 *
 * preview.c
 *	  What apply would do, as rows (scd2.preview); and its statements
 *	  (scd2.sql).
 *
 * Neither takes the run lock, writes, or needs a transaction id: both run in
 * READ ONLY transactions and on a hot standby (R28).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "preview.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "apply.h"
#include "convert.h"
#include "meddle.h"
#include "plan.h"
#include "plan_chain.h"
#include "plan_history.h"
#include "plan_late.h"
#include "plan_read.h"
#include "plan_verify.h"
#include "progress.h"
#include "run.h"
#include "spi.h"

struct Scd2Preview
{
	Tuplestorestate *store;		/* the function's result */
	TupleDesc	desc;
	TupleDesc	key_desc;		/* columns by the dimension's names */
	TupleDesc	attr_desc;
};

/*
 * Columns by their names; see preview.h.
 */
TupleDesc
scd2_columns_desc(const Scd2Column *columns, int n)
{
	TupleDesc	desc = CreateTemplateTupleDesc(n);

	for (int i = 0; i < n; i++)
		scd2_desc_column(desc, i + 1, columns[i].name, columns[i].typid,
						 columns[i].typmod, columns[i].collation);
	return BlessTupleDesc(desc);
}

static Datum
row_jsonb(TupleDesc desc, const Datum *values, const bool *isnull)
{
	HeapTuple	tuple = heap_form_tuple(desc, unconstify(Datum *, values),
										unconstify(bool *, isnull));
	Datum		json = DirectFunctionCall1(row_to_json,
										   HeapTupleGetDatum(tuple));

	return DirectFunctionCall1(jsonb_in,
							   CStringGetDatum(TextDatumGetCString(json)));
}

/*
 * May a value of the type have json in it, which takes what jsonb does not:
 * \u0000, halves of surrogate pairs, numbers of any size?  A type of a user's
 * may be cast to json.
 */
static bool
may_hold_json(Oid type)
{
	type = getBaseType(type);
	if (OidIsValid(get_element_type(type)))
		return may_hold_json(get_element_type(type));
	return type == JSONOID ||
		(type >= FirstNormalObjectId && !type_is_enum(type));
}

/*
 * The same as row_jsonb with values that may have json in them as their text.
 */
static Datum
row_jsonb_by_text(TupleDesc desc, const Datum *values, const bool *isnull)
{
	TupleDesc	text_desc = CreateTupleDescCopy(desc);
	Datum	   *text_values = palloc(desc->natts * sizeof(Datum));

	text_desc->tdtypmod = -1;	/* another type than the original's */
	for (int i = 0; i < desc->natts; i++)
	{
		Oid			type = TupleDescAttr(desc, i)->atttypid;

		text_values[i] = values[i];
		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		if (!may_hold_json(type))
			continue;
		scd2_desc_column(text_desc, i + 1, NameStr(TupleDescAttr(desc, i)->attname),
						 TEXTOID, -1, DEFAULT_COLLATION_OID);
		if (isnull[i])
			continue;
		text_values[i] = CStringGetTextDatum(scd2_value_text(values[i], type));
	}
	return row_jsonb(BlessTupleDesc(text_desc), text_values, isnull);
}

typedef struct JsonbCall
{
	TupleDesc	desc;
	const Datum *values;
	const bool *isnull;
	Datum		result;
} JsonbCall;

static void
call_row_jsonb(void *arg)
{
	JsonbCall  *call = arg;

	call->result = row_jsonb(call->desc, call->values, call->isnull);
}

/*
 * Values as a jsonb object by their columns' names.  What jsonb does not take
 * is shown as the text that it is.
 */
Datum
scd2_columns_jsonb(TupleDesc desc, const Datum *values, const bool *isnull)
{
	JsonbCall	call = {desc, values, isnull};
	ErrorData  *error;
	bool		risk = false;

	for (int i = 0; i < desc->natts; i++)
		risk = risk || (!isnull[i] && may_hold_json(TupleDescAttr(desc, i)->atttypid));
	if (!risk)
		return row_jsonb(desc, values, isnull);

	error = scd2_spi_try(call_row_jsonb, &call);
	if (error == NULL)
		return call.result;
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_DATA_EXCEPTION)
		ReThrowError(error);
	FreeErrorData(error);
	return row_jsonb_by_text(desc, values, isnull);
}

/*
 * Add a row; see preview.h.
 */
void
scd2_preview_action(Scd2Batch *batch, const char *action,
					const Datum *keys, const bool *keys_isnull,
					const Datum *effective_at,
					const Datum *old_attrs, const bool *old_isnull,
					const Datum *new_attrs, const bool *new_isnull)
{
	Scd2Preview *preview = batch->preview;
	Datum		values[5];
	bool		isnull[5] = {0};

	values[0] = CStringGetTextDatum(action);
	values[1] = scd2_columns_jsonb(preview->key_desc, keys, keys_isnull);
	isnull[2] = effective_at == NULL;
	if (effective_at != NULL)
		values[2] = scd2_to_timestamptz(batch->dim, *effective_at,
										batch->dim->period_type);
	isnull[3] = old_attrs == NULL;
	if (old_attrs != NULL)
		values[3] = scd2_columns_jsonb(preview->attr_desc, old_attrs, old_isnull);
	isnull[4] = new_attrs == NULL;
	if (new_attrs != NULL)
		values[4] = scd2_columns_jsonb(preview->attr_desc, new_attrs, new_isnull);
	tuplestore_putvalues(preview->store, preview->desc, values, isnull);
}

/*
 * Add a bad row; its reason is under "reason" in the new values.
 */
void
scd2_preview_reject(Scd2Batch *batch, const Datum *keys, const bool *keys_isnull,
					const Datum *attrs, const bool *attrs_isnull,
					const char *reason)
{
	Scd2Preview *preview = batch->preview;
	Datum		values[5];
	bool		isnull[5] = {0};
	TupleDesc	desc = CreateTemplateTupleDesc(1);
	Datum		text = CStringGetTextDatum(reason);
	bool		no = false;

	scd2_desc_column(desc, 1, "reason", TEXTOID, -1, DEFAULT_COLLATION_OID);
	values[0] = CStringGetTextDatum("reject");
	values[1] = scd2_columns_jsonb(preview->key_desc, keys, keys_isnull);
	isnull[2] = true;
	isnull[3] = attrs == NULL;
	if (attrs != NULL)
		values[3] = scd2_columns_jsonb(preview->attr_desc, attrs, attrs_isnull);
	values[4] = scd2_columns_jsonb(BlessTupleDesc(desc), &text, &no);
	tuplestore_putvalues(preview->store, preview->desc, values, isnull);
}

PG_FUNCTION_INFO_V1(scd2_preview);

/*
 * scd2.preview(dimension, source, batch_time, scope, force)
 */
Datum
scd2_preview(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Scd2ApplyArgs args;
	Scd2Dimension *dim;
	Scd2Batch  *batch;
	Scd2RunLock lock;
	Scd2Rights	rights;
	Scd2Activity activity;
	MemoryContext cxt;
	MemoryContext oldcxt;

	scd2_apply_args(fcinfo, &args);
	InitMaterializedSRF(fcinfo, 0);

	cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 preview",
								ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(cxt);
	scd2_spi_begin();
	MemoryContextSwitchTo(cxt);

	LockRelationOid(args.relid, AccessShareLock);
	dim = scd2_registry_load(args.relid, cxt);
	scd2_registry_check_owner(dim);
	if (OidIsValid(dim->log))
		LockRelationOid(dim->log, AccessShareLock);
	scd2_activity_push(&activity, "previewing", dim->label);
	scd2_progress_start(dim->relid);

	batch = scd2_batch_create(dim, &args, GetCurrentTimestamp());
	scd2_registry_peek(dim, &lock);
	if (batch->source == dim->source)
		scd2_logpos_begin(dim, &batch->pos);
	batch->has_last_batch_time = lock.has_last_batch_time;
	batch->last_batch_time = lock.last_batch_time;
	batch->has_newest = lock.has_newest;
	batch->newest = lock.newest;
	batch->preview = palloc0(sizeof(Scd2Preview));
	batch->preview->store = rsinfo->setResult;
	batch->preview->desc = rsinfo->setDesc;
	batch->preview->key_desc = scd2_columns_desc(dim->keys, dim->nkeys);
	batch->preview->attr_desc = scd2_columns_desc(dim->attrs, dim->nattrs);

	scd2_rights_enter(dim->owner, &rights);
	scd2_batch_prepare(batch);
	scd2_rights_leave(&rights);
	scd2_batch_end(batch);

	scd2_progress_end();
	scd2_activity_pop(&activity);
	scd2_spi_end();
	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(cxt);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(scd2_sql);

/*
 * scd2.sql(dimension): every statement that apply generates (R23), for those who
 * see the definition.
 */
Datum
scd2_sql(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Scd2Dimension *dim;
	Scd2Dimension *history;
	MemoryContext oldcxt = CurrentMemoryContext;
	Oid			relid = scd2_registry_argument(fcinfo);
	bool		is_referenced;
	int			step = 0;

	InitMaterializedSRF(fcinfo, 0);

	scd2_spi_begin();
	MemoryContextSwitchTo(oldcxt);
	dim = scd2_registry_load(relid, oldcxt);
	scd2_registry_check_seen(dim);
	history = dim->history;
	is_referenced = history == NULL && scd2_is_referenced(relid);

#define SHOW(name, text) \
	do { \
		Datum		values[3] = {Int32GetDatum(++step), \
			CStringGetTextDatum(name), CStringGetTextDatum(text)}; \
		bool		isnull[3] = {0}; \
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, isnull); \
	} while (0)

	if (OidIsValid(dim->source))
	{
		Scd2LogPos	pos;

		/* as every run does but the first ones */
		scd2_logpos_begin(dim, &pos);
		if (pos.is_tracked && pos.mark == NULL)
			pos.mark = "";
		SHOW("read", scd2_plan_read(dim, dim->source, NULL, &pos));
	}
	if (dim->mode == SCD2_MODE_SNAPSHOT)
	{
		SHOW("absent", scd2_plan_absent(dim, NULL));
		SHOW("open keys", scd2_plan_open_keys(dim, "true"));
	}
	SHOW("has versions", scd2_plan_has_versions(dim));
	if (OidIsValid(dim->log))
		SHOW("newest", scd2_plan_newest(dim));
	SHOW("resolve", scd2_plan_resolve(dim, dim->mode == SCD2_MODE_SNAPSHOT ?
									  SCD2_RESOLVE_BY_TID : 0, NULL));
	if (OidIsValid(dim->log) && dim->effective_at == NULL)
	{
		SHOW("states", scd2_plan_chain(dim, 0));
		if (dim->mode == SCD2_MODE_SNAPSHOT)
		{
			SHOW("late open keys", scd2_plan_late_open_keys(dim, NULL, NIL));
			SHOW("late absent", scd2_plan_late_absent(dim, NULL, NIL));
		}
		SHOW("late resolve", scd2_plan_late_resolve(dim));
	}
	SHOW("before", scd2_plan_before(dim));
	SHOW("close", history != NULL ? scd2_plan_move(dim) : scd2_plan_close(dim));
	if (OidIsValid(dim->log))
	{
		SHOW("fold", scd2_plan_chain(dim, SCD2_CHAIN_VERSIONS | SCD2_CHAIN_KEYS |
									 SCD2_CHAIN_LOGGED));
		if (is_referenced)
			SHOW("doom", scd2_plan_doom(dim));
		else
			SHOW("take out", scd2_plan_take_out(dim, "scd2_remove"));
		if (history != NULL)
			SHOW("take out of history", scd2_plan_take_out(history, "scd2_history_remove"));
		SHOW("revise", scd2_plan_revise(dim, "scd2_revise"));
		if (history != NULL)
			SHOW("revise history", scd2_plan_revise(history, "scd2_history_revise"));
	}
	if (history != NULL)
		SHOW("open history", scd2_plan_open(history, "scd2_history_open"));
	SHOW("open", scd2_plan_open(dim, "scd2_open"));
	SHOW("collision", history != NULL ? scd2_plan_in_both(dim) :
		 scd2_plan_collision(dim, "scd2_open"));
	if (scd2_has_overlay(dim))
		SHOW("overwrite", scd2_plan_overwrite(dim));
	if (scd2_has_overlay(dim) && history != NULL)
		SHOW("overwrite history", scd2_plan_overwrite(history));
	if (OidIsValid(dim->log) && is_referenced)
	{
		SHOW("lock removed", scd2_plan_lock_doomed(dim, list_make1_int(dim->sk_attnum)));
		SHOW("remove", scd2_plan_remove(dim));
	}
	if (OidIsValid(dim->log))
		SHOW("log", scd2_plan_log(dim));
	SHOW("check updated", scd2_plan_check_updated(dim));
	if (scd2_has_overlay(dim))
		SHOW("check overlay", scd2_plan_check_overlay(dim));
	SHOW("check opened", scd2_plan_check_opened(dim, "scd2_open"));
	if (history != NULL)
		SHOW("check history", scd2_plan_check_opened(history, "scd2_history_open"));
	if (OidIsValid(dim->log))
		SHOW("check logged", scd2_plan_check_logged(dim));
#undef SHOW

	scd2_spi_end();
	PG_RETURN_VOID();
}
