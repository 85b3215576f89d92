/*-------------------------------------------------------------------------
 *
 * meddle.h
 *	  What others put on a table that scd2 writes: triggers, rules, foreign keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_MEDDLE_H
#define SCD2_MEDDLE_H

#include "nodes/nodes.h"

#include "registry.h"

/*
 * What may keep an event (CMD_INSERT, CMD_UPDATE, CMD_DELETE) on a table from
 * doing what it is told to, in a sentence; NULL if nothing may.
 */
extern char *scd2_find_meddlers(Oid relid, CmdType event);

/* Does a foreign key refer to the table? */
extern bool scd2_is_referenced(Oid relid);

/*
 * Raise that rows ("what") were not written as they should be:
 * triggered_data_change_violation.
 */
extern void scd2_raise_not_written(const Scd2Dimension *dim, const char *what,
								   const char *meddlers);

#endif							/* SCD2_MEDDLE_H */
