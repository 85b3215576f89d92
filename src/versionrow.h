/*-------------------------------------------------------------------------
 *
 * versionrow.h
 *	  A folded version as a row of the dimension.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_VERSIONROW_H
#define SCD2_VERSIONROW_H

#include "access/tupdesc.h"

#include "fold.h"
#include "hash.h"
#include "registry.h"

/*
 * A row and the numbers (from 0) of its columns, which are in the order of
 * scd2_plan_open_columns.
 */
typedef struct Scd2VersionRow
{
	const Scd2Dimension *dim;
	int			keys;			/* the surrogate key is column 0 */
	int			attrs;
	int			extras;			/* previous_* and current_* */
	int			row_hash;		/* -1: none */
	int			valid_from;
	int			valid_to;
	int			is_current;
	int			is_deleted;		/* -1: none */
	int			ncols;

	Datum	   *values;			/* of the version filled in last; what they */
	bool	   *isnull;			/* point to is the fold's, or was palloc'd */

	Scd2KeyHasher *key_hasher;
	Scd2RowHasher *row_hasher;	/* over type 2 and 6 columns */
	Datum	   *hash_values;
	bool	   *hash_isnull;
} Scd2VersionRow;

extern Scd2VersionRow *scd2_version_row_create(const Scd2Dimension *dim,
											   MemoryContext cxt);

/* Columns c1, c2, ... of a tuplestore for such rows, and "extra" unset ones. */
extern TupleDesc scd2_version_row_desc(const Scd2VersionRow *row, int extra);

/* The numbers that the columns of such rows have in the dimension; palloc'd. */
extern AttrNumber *scd2_version_row_attnums(const Scd2VersionRow *row);

/*
 * Fill in a version of a folded key.  Errors: unique_violation where its
 * surrogate key is a reserved value (R13).
 */
extern void scd2_version_row_fill(Scd2VersionRow *row, const Datum *keys,
								  const bool *keys_isnull,
								  const Scd2FoldVersion *version,
								  const Scd2FoldResult *result);

/*
 * Is the dimension to have an unknown member?  Not where its table refuses the
 * nulls.
 */
extern bool scd2_has_unknown_member(const Scd2Dimension *dim);

/* Fill in the unknown member's row. */
extern void scd2_version_row_fill_unknown(Scd2VersionRow *row);

/* Does the row filled in last lie in the table of closed versions? */
extern bool scd2_is_history_row(const Scd2VersionRow *row);

#endif							/* SCD2_VERSIONROW_H */
