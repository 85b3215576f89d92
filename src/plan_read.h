/*-------------------------------------------------------------------------
 *
 * plan_read.h
 *	  The SQL that reads a source.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_READ_H
#define SCD2_PLAN_READ_H

#include "batch.h"

extern char *scd2_plan_read(const Scd2Dimension *dim, Oid source,
							const bool *lacks, const Scd2LogPos *pos);

extern char *scd2_plan_read_rejected(const Scd2Dimension *dim, Oid source,
									 const bool *lacks, bool by_text);

#endif							/* SCD2_PLAN_READ_H */
