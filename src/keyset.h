/*-------------------------------------------------------------------------
 *
 * keyset.h
 *	  A set of keys with their current versions, by fingerprint, bounded in memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_KEYSET_H
#define SCD2_KEYSET_H

#include "storage/itemptr.h"

#include "hash.h"

/* flags of an entry */
#define SCD2_KEY_FLAGGED	0x01	/* the current version is a flagged delete */
#define SCD2_KEY_SEEN		0x02	/* the source has a row of this key */
#define SCD2_KEY_EQUAL		0x04	/* ... that equals the current version */
#define SCD2_KEY_STAGED		0x08	/* ... that was staged */

typedef struct Scd2KeyEntry
{
	Scd2Hash128 key;			/* of K */
	uint64		row;			/* of the compared attributes */
	int64		time;			/* of the source row that was equal: its own
								 * where it is kept, else E */
	ItemPointerData tid;		/* of the current version */
	uint16		flags;
} Scd2KeyEntry;

typedef struct Scd2KeySet Scd2KeySet;

/*
 * An empty set that holds at most about "max_bytes" in memory; beyond that it
 * is partitioned by key over temporary files.  "expected" is an estimate of
 * how many entries will come.
 */
extern Scd2KeySet *scd2_keyset_create(Size max_bytes, double expected,
									  MemoryContext parent);
extern void scd2_keyset_add(Scd2KeySet *set, const Scd2KeyEntry *entry);

/* Would another entry go beyond the memory allowed? */
extern bool scd2_keyset_is_full(const Scd2KeySet *set);

/* No more entries come.  Returns the number of partitions, 1 when all fits. */
extern int	scd2_keyset_finish(Scd2KeySet *set);

/* Which partition a key belongs to. */
extern int	scd2_keyset_partition(const Scd2KeySet *set, Scd2Hash128 key);

/* Bring one partition into memory, in place of the one before. */
extern void scd2_keyset_load(Scd2KeySet *set, int partition);

/* Look up in the partition in memory; NULL if absent. */
extern Scd2KeyEntry *scd2_keyset_lookup(Scd2KeySet *set, Scd2Hash128 key);

/* The entries of the partition in memory, in the order in which they came. */
extern Scd2KeyEntry *scd2_keyset_entries(Scd2KeySet *set, uint32 *nentries);

extern void scd2_keyset_free(Scd2KeySet *set);

#endif							/* SCD2_KEYSET_H */
