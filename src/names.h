/*-------------------------------------------------------------------------
 *
 * names.h
 *	  The registry's names and its cache of OIDs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_NAMES_H
#define SCD2_NAMES_H

/*
 * Cache where the names of all uncached dimensions lead; those whose table is
 * not there are gone from now on.
 */
extern void scd2_names_resolve(void);

/* Bring names, and types' names, into step with what the cache points at. */
extern void scd2_names_follow(void);

/*
 * Do both where one dimension needs it: DDL went by while our event triggers
 * were off, or a restore is not cached yet.
 */
extern void scd2_names_mend(int32 id);

/* Forget dimensions that are gone and that nothing refers to. */
extern void scd2_names_sweep(void);

#endif							/* SCD2_NAMES_H */
