/*-------------------------------------------------------------------------
 *
 * keyarg.h
 *	  Keys that a caller names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_KEYARG_H
#define SCD2_KEYARG_H

#include "utils/array.h"

#include "batch.h"

/*
 * Put the keys of a text[], for composite ones with a row each, into
 * batch->chain_keys, each once.  Errors: array_subscript_error,
 * null_value_not_allowed, and what the key types' input raises.
 */
extern void scd2_keys_from_array(Scd2Batch *batch, ArrayType *array);

#endif							/* SCD2_KEYARG_H */
