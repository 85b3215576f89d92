/*-------------------------------------------------------------------------
 *
 * drift.h
 *	  Does a source still look as the definition says?
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_DRIFT_H
#define SCD2_DRIFT_H

#include "registry.h"

/*
 * Raise if "source" lacks a column that the dimension reads, has one of another
 * type, or, being the registered source, gained one (on_drift).
 */
extern void scd2_check_drift(const Scd2Dimension *dim, Oid source,
							 const char *source_label);

#endif							/* SCD2_DRIFT_H */
