/*-------------------------------------------------------------------------
 *
 * keyarg.c
 *	  Keys that a caller names.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "keyarg.h"

#include "catalog/pg_type.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "plan_chain.h"
#include "spi.h"

static void
check_shape(const Scd2Dimension *dim, ArrayType *array)
{
	int			ndim = ARR_NDIM(array);

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("keys of dimension \"%s\" cannot be null", dim->label)));
	if (ndim == 0 || (ndim == 1 && dim->nkeys == 1) ||
		(ndim == 2 && ARR_DIMS(array)[1] == dim->nkeys))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
			 errmsg("keys do not fit the business key of dimension \"%s\"",
					dim->label),
			 errdetail_plural("Its key has %d column.", "Its key has %d columns.",
							  dim->nkeys, dim->nkeys),
			 dim->nkeys == 1 ?
			 errhint("Name keys as '{1,2}'.") :
			 errhint("Name each key in a row of its own, as '{{1,a},{2,b}}'.")));
}

/*
 * Take keys from an array; see keyarg.h.
 */
void
scd2_keys_from_array(Scd2Batch *batch, ArrayType *array)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(batch->cxt);
	const Scd2Dimension *dim = batch->dim;
	DestReceiver *dest = CreateDestReceiver(DestTuplestore);
	TupleDesc	desc = CreateTemplateTupleDesc(dim->nkeys);
	Scd2Store	given;
	Datum	   *elements;
	int			nelements;
	Datum	   *values = palloc(dim->nkeys * sizeof(Datum));
	bool	   *isnull = palloc0(dim->nkeys * sizeof(bool));

	check_shape(dim, array);
	scd2_describe_keys(dim, desc, 1);
	scd2_store_begin(batch, &given, "scd2_given", desc);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  &nelements);
	for (int i = 0; i < nelements; i += dim->nkeys)
	{
		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < dim->nkeys; k++)
		{
			Oid			input;
			Oid			ioparam;

			getTypeInputInfo(dim->keys[k].typid, &input, &ioparam);
			values[k] = OidInputFunctionCall(input, TextDatumGetCString(elements[i + k]),
											 ioparam, dim->keys[k].typmod);
		}
		scd2_store_put(&given, values, isnull);
	}

	desc = CreateTemplateTupleDesc(dim->nkeys);
	scd2_describe_keys(dim, desc, 1);
	if (batch->chain_keys.store == NULL)
		scd2_store_begin(batch, &batch->chain_keys, "scd2_chain_keys", desc);
	SetTuplestoreDestReceiverParams(dest, batch->chain_keys.store, batch->cxt, true,
									NULL, NULL);
	scd2_store_register(&given);
	batch->chain_keys.ntuples +=
		scd2_spi_stream("given keys", scd2_plan_given_keys(dim), 0, NULL, NULL,
						NULL, true, dest);
	scd2_store_unregister(&given);
	scd2_store_end(&given);
	dest->rDestroy(dest);
	MemoryContextSwitchTo(oldcxt);
}
