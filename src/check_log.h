/*-------------------------------------------------------------------------
 *
 * check_log.h
 *	  Does a dimension's chain equal what its log says (R32)?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_CHECK_LOG_H
#define SCD2_CHECK_LOG_H

#include "registry.h"

/* Is called with a violation; sk is NULL where the version is missing. */
typedef void (*Scd2LogViolation) (void *arg, const Datum *keys,
								  const bool *keys_isnull, const Datum *sk,
								  const Datum *valid_from, const char *detail);

/* Fold the whole log beside the versions; needs SPI and a snapshot. */
extern void scd2_check_log(Scd2Dimension *dim, Scd2LogViolation report,
						   void *arg);

#endif							/* SCD2_CHECK_LOG_H */
