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

#endif							/* SCD2_CANONICAL_H */
