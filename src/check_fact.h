/*-------------------------------------------------------------------------
 *
 * check_fact.h
 *	  Facts whose surrogate key is not the version at their event time (R32).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CHECK_FACT_H
#define SCD2_CHECK_FACT_H

#include "registry.h"

/* Is told of a wrong fact: its key as jsonb; what is NULL is not known. */
typedef void (*Scd2FactReport) (void *arg, Datum key, const char *surrogate_key,
								const char *valid_from, const char *detail);

/*
 * Call report(arg, ...) for each wrong fact of a dimension.  In the caller's
 * rights and snapshot, who needs SELECT on the facts; "cxt" is reset for each.
 */
extern void scd2_check_facts(const Scd2Dimension *dim, MemoryContext cxt,
							 Scd2FactReport report, void *arg);

#endif							/* SCD2_CHECK_FACT_H */
