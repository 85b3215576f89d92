/*-------------------------------------------------------------------------
 *
 * canonical.h
 *	  The frozen, type-aware encoding of values (R12): two values are the same
 *	  when their encodings are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CANONICAL_H
#define SCD2_CANONICAL_H

#include "lib/stringinfo.h"

/* How values of one type are encoded; built by scd2_canon_type. */
typedef struct Scd2CanonType Scd2CanonType;

/*
 * Resolve how values of "typid" are encoded.  The result and all it needs live
 * in "cxt" and are good for one statement: nothing here watches for catalog
 * changes, so do not keep it across statements.
 */
extern Scd2CanonType *scd2_canon_type(Oid typid, MemoryContext cxt);

/*
 * Append the framed canonical encoding of one value to "buf".  Self-delimiting:
 * a sequence of them decodes one way only, nulls included.  May allocate in the
 * current memory context (detoasting, output functions); call it in a context
 * that is reset often.
 */
extern void scd2_canon_append(StringInfo buf, Scd2CanonType *type,
							  Datum value, bool isnull);

/*
 * Are two values of one type the same (R12)?  Null is the same as null and
 * nothing else.  Cheap when the two images are equal.
 */
extern bool scd2_canon_same(Scd2CanonType *type,
							Datum a, bool a_isnull,
							Datum b, bool b_isnull);

/*
 * As scd2_canon_append, but when the value ends in a long run of bytes that
 * need no conversion, that run is not copied: "data" and "len" are set to it
 * (it lives in the value, or in the current memory context) and the caller
 * takes it as appended.  Otherwise "len" is 0.
 */
extern void scd2_canon_append_large(StringInfo buf, Scd2CanonType *type,
									Datum value, bool isnull,
									const char **data, Size *len);

/*
 * Grows whenever a type or relation changed.  Who must keep an Scd2CanonType
 * beyond one statement builds it anew when this is another number than before.
 */
extern uint64 scd2_canon_generation(void);

#endif							/* SCD2_CANONICAL_H */
