/*-------------------------------------------------------------------------
 *
 * convert.h
 *	  Source values to the dimension's types, source times to the period's (R17).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CONVERT_H
#define SCD2_CONVERT_H

#include "registry.h"

/* Converts values of one type to another, as an assignment would. */
typedef struct Scd2Converter Scd2Converter;

/*
 * A converter, or NULL where values need none.  Lives in "cxt".  "column" is
 * for messages.  Errors: cannot_coerce when there is no conversion.
 */
extern Scd2Converter *scd2_converter(Oid from, int32 from_typmod,
									 Oid to, int32 to_typmod,
									 const char *column, MemoryContext cxt);
extern Datum scd2_convert(Scd2Converter *converter, Datum value, bool *isnull);

/*
 * A date, timestamp or timestamptz to the period's type, as AT TIME ZONE does
 * in the dimension's time zone.  Errors: datetime_field_overflow.
 */
extern Datum scd2_to_period(const Scd2Dimension *dim, Datum value, Oid type);

/* A date, timestamp or timestamptz as timestamptz, by the same zone. */
extern Datum scd2_to_timestamptz(const Scd2Dimension *dim, Datum value, Oid type);

#endif							/* SCD2_CONVERT_H */
