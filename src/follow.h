/*-------------------------------------------------------------------------
 *
 * follow.h
 *	  The registry follows what becomes of its relations.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_FOLLOW_H
#define SCD2_FOLLOW_H

/*
 * Cache where the names of all uncached dimensions lead; those whose table is
 * not there are gone from now on.
 */
extern void scd2_follow_resolve(void);

/* Forget dimensions that are gone and that nothing refers to. */
extern void scd2_follow_sweep(void);

#endif							/* SCD2_FOLLOW_H */
