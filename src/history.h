/*-------------------------------------------------------------------------
 *
 * history.h
 *	  The table of closed versions, with history => 'separate'.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_HISTORY_H
#define SCD2_HISTORY_H

#include "registry.h"

/*
 * Fill in dim->history for the table "relid".  Called while the definition is
 * loaded, as the registry's owner.  Errors: undefined_table when it is gone.
 */
extern void scd2_history_load(Scd2Dimension *dim, Oid relid, MemoryContext cxt);

/*
 * Raise unless the history is an ordinary table whose columns are of the types
 * of the dimension's.
 */
extern void scd2_history_check(const Scd2Dimension *dim);

#endif							/* SCD2_HISTORY_H */
