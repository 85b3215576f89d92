/*-------------------------------------------------------------------------
 *
 * keyset.c
 *	  A set of keys with their current versions, by fingerprint, bounded in memory.
 *
 * A snapshot of a big dimension is mostly rows that did not change.  To find
 * the others, a dense array of 40-byte entries and 4-byte slots is enough: half
 * of what a hash join of the rows themselves would take, and no row is touched
 * twice.  Entries that no source row hit are what the snapshot lacks.
 *
 * Keys are told apart by 128 bits of hash under a seed drawn for each run, rows
 * of one key by 64: a false match cannot be provoked and does not happen by
 * chance.
 *
 * When the set outgrows its memory, all entries go to temporary files by the
 * high bits of the key's hash; the source's rows are spooled in the same way by
 * stage.c, and one partition after the other is brought into memory.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "keyset.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#define MIN_ENTRIES		1024
#define MAX_PARTITIONS	1024

/* entry, and slots at a load of at most three quarters after doubling */
#define BYTES_PER_ENTRY	(sizeof(Scd2KeyEntry) + 3 * sizeof(uint32))

struct Scd2KeySet
{
	MemoryContext cxt;
	Scd2KeyEntry *entries;
	uint32		nentries;
	uint32		capacity;		/* of entries */
	uint32		max_entries;	/* that fit the memory allowed */
	uint32	   *slots;			/* index into entries plus one, 0 is empty */
	uint32		nslots;			/* a power of two */
	double		expected;
	int			npartitions;
	int			partition_shift;
	BufFile   **files;			/* NULL while all is in memory */
	int64	   *file_entries;
};

static void
allocate_slots(Scd2KeySet *set)
{
	uint32		nslots = pg_nextpower2_32(set->capacity + set->capacity / 3);

	if (set->slots != NULL)
		pfree(set->slots);
	set->slots = MemoryContextAllocExtended(set->cxt,
											(Size) nslots * sizeof(uint32),
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	set->nslots = nslots;
}

static void
put_slot(Scd2KeySet *set, uint32 index)
{
	uint32		mask = set->nslots - 1;
	uint32		slot = (uint32) set->entries[index].key.low & mask;

	while (set->slots[slot] != 0)
		slot = (slot + 1) & mask;
	set->slots[slot] = index + 1;
}

static void
append_entry(Scd2KeySet *set, const Scd2KeyEntry *entry)
{
	if (set->nentries == set->capacity)
	{
		uint32		larger = set->capacity * 2;

		/* only a partition that came out larger than expected goes beyond */
		set->capacity = set->nentries < set->max_entries ?
			Min(larger, set->max_entries) : larger;
		set->entries = repalloc_huge(set->entries,
									 (Size) set->capacity * sizeof(Scd2KeyEntry));
		allocate_slots(set);
		for (uint32 i = 0; i < set->nentries; i++)
		{
			CHECK_FOR_INTERRUPTS();
			put_slot(set, i);
		}
	}
	set->entries[set->nentries] = *entry;
	put_slot(set, set->nentries);
	set->nentries++;
}

/*
 * Create an empty set; see keyset.h.
 */
Scd2KeySet *
scd2_keyset_create(Size max_bytes, double expected, MemoryContext parent)
{
	MemoryContext cxt = AllocSetContextCreate(parent, "scd2 key set",
											  ALLOCSET_DEFAULT_SIZES);
	Scd2KeySet *set = MemoryContextAllocZero(cxt, sizeof(Scd2KeySet));
	double		max_entries = (double) max_bytes / BYTES_PER_ENTRY;

	set->cxt = cxt;
	set->expected = expected;
	set->max_entries = (uint32) Min(Max(max_entries, MIN_ENTRIES),
									(double) (PG_UINT32_MAX / 4));
	set->capacity = (uint32) Min(Max(expected * 1.05, MIN_ENTRIES),
								 (double) set->max_entries);
	set->entries = MemoryContextAllocHuge(cxt, (Size) set->capacity *
										  sizeof(Scd2KeyEntry));
	allocate_slots(set);
	set->npartitions = 1;

	return set;
}

static void
write_entry(Scd2KeySet *set, const Scd2KeyEntry *entry)
{
	int			partition = scd2_keyset_partition(set, entry->key);

	BufFileWrite(set->files[partition], unconstify(Scd2KeyEntry *, entry),
				 sizeof(Scd2KeyEntry));
	set->file_entries[partition]++;
}

/*
 * Memory is used up: move all entries to files, one a partition.
 */
static void
spill(Scd2KeySet *set)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(set->cxt);
	double		total = Max(set->expected, set->nentries * 2.0);
	double		wanted = 1.3 * total / set->max_entries;

	set->npartitions = pg_nextpower2_32((uint32) Min(Max(wanted, 2.0),
													 MAX_PARTITIONS));
	set->partition_shift = 64 - pg_leftmost_one_pos32(set->npartitions);
	set->files = palloc(set->npartitions * sizeof(BufFile *));
	set->file_entries = palloc0(set->npartitions * sizeof(int64));

	PrepareTempTablespaces();
	for (int i = 0; i < set->npartitions; i++)
		set->files[i] = BufFileCreateTemp(false);
	for (uint32 i = 0; i < set->nentries; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_entry(set, &set->entries[i]);
	}
	set->nentries = 0;
	memset(set->slots, 0, (Size) set->nslots * sizeof(uint32));

	MemoryContextSwitchTo(oldcxt);
}

/*
 * Add an entry.  Its key must be new to the set: a dimension has one current
 * version a key.
 */
void
scd2_keyset_add(Scd2KeySet *set, const Scd2KeyEntry *entry)
{
	if (set->files == NULL)
	{
		if (set->nentries < set->max_entries)
		{
			append_entry(set, entry);
			return;
		}
		spill(set);
	}
	write_entry(set, entry);
}

/*
 * Is the memory allowed used up?
 */
bool
scd2_keyset_is_full(const Scd2KeySet *set)
{
	return set->nentries >= set->max_entries;
}

/*
 * End adding; returns the number of partitions.
 */
int
scd2_keyset_finish(Scd2KeySet *set)
{
	return set->npartitions;
}

/*
 * The partition of a key: by the high half of its hash, while slots go by the
 * low one.
 */
int
scd2_keyset_partition(const Scd2KeySet *set, Scd2Hash128 key)
{
	return set->npartitions == 1 ? 0 : (int) (key.high >> set->partition_shift);
}

/*
 * Bring a partition into memory.  One that is larger than expected is taken
 * whole: hashes spread evenly, so it is not larger by much.
 */
void
scd2_keyset_load(Scd2KeySet *set, int partition)
{
	BufFile    *file;
	Scd2KeyEntry entry;

	if (set->files == NULL)
		return;

	set->nentries = 0;
	memset(set->slots, 0, (Size) set->nslots * sizeof(uint32));

	file = set->files[partition];
	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file: %m")));
	for (int64 i = 0; i < set->file_entries[partition]; i++)
	{
		if (BufFileRead(file, &entry, sizeof(entry)) != sizeof(entry))
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read temporary file: %m")));
		append_entry(set, &entry);
		if ((i & 0xffff) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	BufFileClose(file);
	set->files[partition] = NULL;
}

/*
 * Find a key in the partition in memory.
 */
Scd2KeyEntry *
scd2_keyset_lookup(Scd2KeySet *set, Scd2Hash128 key)
{
	uint32		mask = set->nslots - 1;
	uint32		slot = (uint32) key.low & mask;

	while (set->slots[slot] != 0)
	{
		Scd2KeyEntry *entry = &set->entries[set->slots[slot] - 1];

		if (entry->key.low == key.low && entry->key.high == key.high)
			return entry;
		slot = (slot + 1) & mask;
	}
	return NULL;
}

/*
 * All entries of the partition in memory.
 */
Scd2KeyEntry *
scd2_keyset_entries(Scd2KeySet *set, uint32 *nentries)
{
	*nentries = set->nentries;
	return set->entries;
}

/*
 * Free the set and its files.
 */
void
scd2_keyset_free(Scd2KeySet *set)
{
	if (set->files != NULL)
	{
		for (int i = 0; i < set->npartitions; i++)
			if (set->files[i] != NULL)
				BufFileClose(set->files[i]);
	}
	MemoryContextDelete(set->cxt);
}
