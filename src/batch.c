/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  What the steps of a batch share: its stores, its keys as text, its times.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "batch.h"

#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "spi.h"

/*
 * Begin a store; "desc" is kept.  Bounded by work_mem, beyond that on disk.  Its
 * file is the batch's, also where a subtransaction happens to be under way.
 */
void
scd2_store_begin(Scd2Batch *batch, Scd2Store *store, const char *name,
				 TupleDesc desc)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = batch->owner;
	store->name = name;
	store->desc = desc;
	store->store = tuplestore_begin_heap(true, false, work_mem);
	store->ntuples = 0;
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(oldcxt);
}

/*
 * Append a row.
 */
void
scd2_store_put(Scd2Store *store, const Datum *values, const bool *isnull)
{
	tuplestore_putvalues(store->store, store->desc,
						 unconstify(Datum *, values),
						 unconstify(bool *, isnull));
	store->ntuples++;
}

/*
 * Append what a statement returns; see batch.h.
 */
uint64
scd2_store_fill(Scd2Batch *batch, Scd2Store *store, const char *step,
				const char *sql, int nargs, const Oid *types,
				const Datum *values, bool read_only)
{
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	uint64		n;

	SetTuplestoreDestReceiverParams(dest, store->store, batch->cxt, true, NULL, NULL);
	n = scd2_spi_stream(step, sql, nargs, types, values, NULL, read_only, dest);
	store->ntuples += n;
	dest->rDestroy(dest);
	return n;
}

/*
 * Free a store's memory and files.
 */
void
scd2_store_end(Scd2Store *store)
{
	if (store->store != NULL)
		tuplestore_end(store->store);
	store->store = NULL;
	store->ntuples = 0;
}

/*
 * Show a store to the statements that follow, and hide it again.
 */
void
scd2_store_register(const Scd2Store *store)
{
	scd2_spi_register(store->name, store->desc, store->store,
					  (double) store->ntuples);
}

void
scd2_store_unregister(const Scd2Store *store)
{
	scd2_spi_unregister(store->name);
}

/*
 * Fill in one column of a tuple descriptor.
 */
void
scd2_desc_column(TupleDesc desc, int attno, const char *name,
				 Oid typid, int32 typmod, Oid collation)
{
	TupleDescInitEntry(desc, (AttrNumber) attno, name, typid, typmod, 0);
	TupleDescInitEntryCollation(desc, (AttrNumber) attno, collation);
}

/*
 * Describe the key columns k1, k2, ...; see batch.h.
 */
int
scd2_describe_keys(const Scd2Dimension *dim, TupleDesc desc, int attno)
{
	for (int i = 0; i < dim->nkeys; i++)
		scd2_desc_column(desc, attno++, psprintf("k%d", i + 1),
						 dim->keys[i].typid, dim->keys[i].typmod,
						 dim->keys[i].collation);
	return attno;
}

/*
 * A value for messages.
 */
char *
scd2_value_text(Datum value, Oid type)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, value);
}

/*
 * A key for messages: (customer_id)=(42), as PostgreSQL writes keys.
 */
char *
scd2_key_text(const Scd2Dimension *dim, const Datum *values,
			  const bool *isnull)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '(');
	for (int i = 0; i < dim->nkeys; i++)
		appendStringInfo(&buf, "%s%s", i > 0 ? ", " : "", dim->keys[i].name);
	appendStringInfoString(&buf, ")=(");
	for (int i = 0; i < dim->nkeys; i++)
	{
		if (i > 0)
			appendStringInfoString(&buf, ", ");
		appendStringInfoString(&buf, isnull[i] ? "null" :
							   scd2_value_text(values[i], dim->keys[i].typid));
	}
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/*
 * From the period's type to the fold's times.
 */
Scd2Time
scd2_period_to_time(const Scd2Dimension *dim, Datum value)
{
	if (dim->period_type == DATEOID)
		return (Scd2Time) DatumGetDateADT(value);
	return (Scd2Time) DatumGetTimestamp(value);
}

/*
 * And back.
 */
Datum
scd2_time_to_period(const Scd2Dimension *dim, Scd2Time t)
{
	if (dim->period_type == DATEOID)
		return DateADTGetDatum((DateADT) t);
	return TimestampGetDatum((Timestamp) t);
}
