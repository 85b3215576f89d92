/*-------------------------------------------------------------------------
 *
 * keyarg.h
 *	  Keys that a caller names.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_KEYARG_H
#define SCD2_KEYARG_H

#include "fmgr.h"
#include "utils/array.h"

#include "batch.h"

/*
 * Put the keys of a text[], for composite ones with a row each, into
 * batch->chain_keys, each once.  Errors: array_subscript_error,
 * null_value_not_allowed, and what the key types' input raises.
 */
extern void scd2_keys_from_array(Scd2Batch *batch, ArrayType *array);

/*
 * The key that the arguments of a VARIADIC "any" name, from number "first" (from
 * 0) on, one by one or as VARIADIC ARRAY[...]: converted to the key's types as an
 * assignment would, else as text, into values[dim->nkeys] in the current memory
 * context.  Called within scd2_rights_enter, because settings have a part in
 * conversions.  Errors: invalid_parameter_value for a wrong number of values,
 * null_value_not_allowed, cannot_coerce, and what the conversion raises.
 */
extern void scd2_key_args(FunctionCallInfo fcinfo, int first,
						  const Scd2Dimension *dim, Datum *values);

/*
 * The same for many calls: what is found out about the types is kept in "cxt".
 * Nulls are told, and settings are pinned where they have a part.
 */
typedef struct Scd2KeyReader Scd2KeyReader;

extern Scd2KeyReader *scd2_key_reader(const Scd2Dimension *dim, MemoryContext cxt);
extern void scd2_key_reader_read(Scd2KeyReader *reader, FunctionCallInfo fcinfo,
								 int first, Datum *values, bool *isnull);

#endif							/* SCD2_KEYARG_H */
