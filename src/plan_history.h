/*-------------------------------------------------------------------------
 *
 * plan_history.h
 *	  The SQL over the dimension and its history, with history => 'separate';
 *	  and over surrogate keys that are there twice.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PLAN_HISTORY_H
#define SCD2_PLAN_HISTORY_H

#include "plan.h"

/*
 * All versions, as an item of a FROM clause: the dimension, or a subquery over
 * it and its history that has the dimension's columns, ctid, and scd2_in_history.
 */
extern char *scd2_plan_versions(const Scd2Dimension *dim);

/* Is a row of that in the history?  An expression. */
extern char *scd2_plan_in_history(const Scd2Dimension *dim, const char *alias);

/* Close versions: they move into the history. */
extern char *scd2_plan_move(const Scd2Dimension *dim);

/* Delete from a table ("place") the versions whose tids a store has. */
extern char *scd2_plan_take_out(const Scd2Dimension *place, const char *store);

/* The other version of a surrogate key that an insert collided with. */
extern char *scd2_plan_collision(const Scd2Dimension *dim, const char *store);

/*
 * Inserted versions whose surrogate key is in both tables: K, valid_from and
 * surrogate key of both sides.
 */
extern char *scd2_plan_in_both(const Scd2Dimension *dim);

#endif							/* SCD2_PLAN_HISTORY_H */
