/*-------------------------------------------------------------------------
 *
 * hash.h
 *	  row_hash and surrogate_key over canonical encodings (R12, R13).
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_HASH_H
#define SCD2_HASH_H

#include "utils/uuid.h"

/* A 128-bit fingerprint. */
typedef struct Scd2Hash128
{
	uint64		low;
	uint64		high;
} Scd2Hash128;

/* Hashes rows of a fixed list of types; owns its scratch memory. */
typedef struct Scd2RowHasher Scd2RowHasher;

/* Computes surrogate keys from (K..., valid_from); owns its scratch memory. */
typedef struct Scd2KeyHasher Scd2KeyHasher;

/*
 * A hasher for rows of "ncols" columns of the given types.  Lives in "cxt",
 * good for one statement (see scd2_canon_type).
 */
extern Scd2RowHasher *scd2_row_hasher(int ncols, const Oid *types,
									  MemoryContext cxt);

/*
 * XXH3-128 with "seed" over the row's framed canonical encoding.  Seed 0 gives
 * what scd2.row_hash returns; a random seed serves in-memory sets.
 */
extern Scd2Hash128 scd2_row_hash128(Scd2RowHasher *hasher,
									const Datum *values, const bool *isnull,
									uint64 seed);

/* scd2.row_hash's bytea (16 bytes, XXH canonical = big-endian byte order), palloc'd. */
extern Datum scd2_row_hash_bytea(Scd2RowHasher *hasher,
								 const Datum *values, const bool *isnull);

/*
 * A surrogate key hasher.  "types" are the columns' types now, "registered"
 * their types at registration, by which they are hashed (R13: an int4 column
 * widened to int8 still hashes as int4 while the value fits).  The last column
 * is valid_from.
 */
extern Scd2KeyHasher *scd2_key_hasher(int ncols, const Oid *types,
									  const Oid *registered,
									  MemoryContext cxt);

/* XXH64 chain as Spark's xxhash64 (R13).  Does not check for -1 and 0. */
extern int64 scd2_key_hash64(Scd2KeyHasher *hasher,
							 const Datum *values, const bool *isnull);

/* UUIDv8 of XXH3-128 over the canonical encoding (R13), palloc'd. */
extern pg_uuid_t *scd2_key_hash_uuid(Scd2KeyHasher *hasher,
									 const Datum *values, const bool *isnull);

#endif							/* SCD2_HASH_H */
