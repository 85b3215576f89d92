/*-------------------------------------------------------------------------
 *
 * read.h
 *	  Reading the source, once: its rows in the dimension's types, and checked.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_READ_H
#define SCD2_READ_H

#include "batch.h"

/*
 * Takes one source row: layout.ncols columns, of which tid and fingerprint are
 * not set, and room for three more.  "rejected": it was noted as a bad row; only
 * its key is set.
 */
typedef void (*Scd2RowCallback) (void *arg, Datum *values, bool *isnull,
								 bool rejected);

/*
 * Read the batch's source and call "callback" for each row whose key is not
 * null.  Returns the arrival number of the last one.  Errors: a value that does
 * not convert, with the key and column it is in (R19).
 */
extern int64 scd2_read_source(Scd2Batch *batch, Scd2RowCallback callback,
							  void *arg);

#endif							/* SCD2_READ_H */
