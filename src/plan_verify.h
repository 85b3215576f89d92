/*-------------------------------------------------------------------------
 *
 * plan_verify.h
 *	  The SQL that looks whether triggers and rules let apply write what it
 *	  meant to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_VERIFY_H
#define SCD2_PLAN_VERIFY_H

#include "registry.h"

/* Rows (sk, image) for the store scd2_before, asked before the first write. */
extern char *scd2_plan_before(const Scd2Dimension *dim);

/* Each returns a row if anything is not as it was to be. */
extern char *scd2_plan_check_updated(const Scd2Dimension *dim);
extern char *scd2_plan_check_overlay(const Scd2Dimension *dim);
extern char *scd2_plan_check_opened(const Scd2Dimension *dim,
									const char *store);
extern char *scd2_plan_check_logged(const Scd2Dimension *dim);

#endif							/* SCD2_PLAN_VERIFY_H */
