/*-------------------------------------------------------------------------
 *
 * spi.h
 *	  The one way in and out of SPI: connect, parameters, results, tuplestores
 *	  as named relations, error context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_SPI_H
#define SCD2_SPI_H

#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

/* Connect and disconnect.  Nest freely. */
extern void scd2_spi_begin(void);
extern void scd2_spi_end(void);

/*
 * Run one statement with parameters $1..$nargs.  "step" names it in the error
 * context: step "close".  nulls may be NULL (no
 * parameter is null), else an array of bool.  Result rows, if any, are left in
 * SPI_tuptable; returns SPI_processed.
 */
extern uint64 scd2_spi_run(const char *step, const char *sql, int nargs,
						   const Oid *types, const Datum *values,
						   const bool *nulls);

/* The same in a read-only manner: sees the active snapshot. */
extern uint64 scd2_spi_read(const char *step, const char *sql, int nargs,
							const Oid *types, const Datum *values,
							const bool *nulls);

/* The same, with the rows going to a DestReceiver; returns their number. */
extern uint64 scd2_spi_stream(const char *step, const char *sql, int nargs,
							  const Oid *types, const Datum *values,
							  const bool *nulls, bool read_only,
							  DestReceiver *dest);

/* Does a statement, read under the active snapshot, return any row? */
extern bool scd2_spi_exists(const char *step, const char *sql, int nargs,
							const Oid *types, const Datum *values,
							const bool *nulls);

/*
 * Run a statement that writes, under the active snapshot and with what this
 * command has done so far: several of them see the same rows of others.
 */
extern uint64 scd2_spi_run_at(const char *step, const char *sql);

/*
 * Make "dest", the first member of a state of the caller's, a receiver that
 * hands each row to "receive".  "startup" may be NULL.
 */
extern void scd2_spi_receiver(DestReceiver *dest,
							  void (*startup) (DestReceiver *self, int operation,
											   TupleDesc typeinfo),
							  bool (*receive) (TupleTableSlot *slot,
											   DestReceiver *self));

/*
 * Run a statement whose plan is kept in *plan (NULL at first) for the session:
 * for fixed texts that run in every batch.  Parameters are $1..$nargs.
 */
extern uint64 scd2_spi_cached(const char *step, SPIPlanPtr *plan,
							  const char *sql, int nargs, const Oid *types,
							  const Datum *values, const bool *nulls,
							  bool read_only);

/*
 * The same for reading with one plan for all parameters, which are not null; it
 * lives until SPI_freeplan.
 */
extern uint64 scd2_spi_generic(const char *step, SPIPlanPtr *plan,
							   const char *sql, int nargs, const Oid *types,
							   const Datum *values);

/* Value of column "col" (1..) of row "row" (0..) of SPI_tuptable. */
extern Datum scd2_spi_value(uint64 row, int col, bool *isnull);

/* The same as text, palloc'd in the caller's context "cxt"; NULL for null. */
extern char *scd2_spi_text(uint64 row, int col, MemoryContext cxt);

/* Make a tuplestore a relation called "name" for the statements that follow. */
extern void scd2_spi_register(const char *name, TupleDesc desc,
							  Tuplestorestate *store, double ntuples);
extern void scd2_spi_unregister(const char *name);

/*
 * From each of these to scd2_spi_planner_end the planner is held to something.
 * The level goes from the one to the other, because a trigger may apply in between.
 *
 * To nested loops: what a join by ctid needs, which it would otherwise turn into a
 * scan of the whole table.
 */
extern int	scd2_spi_tid_join_begin(void);

/*
 * If "needed", to no parallel workers: what receives the rows of a statement may
 * call scd2_spi_try.
 */
extern int	scd2_spi_serial_begin(bool needed);

/* To an index for one key, however small or unknown the table is (R28). */
extern int	scd2_spi_one_key_begin(void);

extern void scd2_spi_planner_end(int guc_level);

/*
 * Call fn(arg) in a subtransaction of its own.  Returns NULL, or, with the
 * subtransaction rolled back, the error that it raised.
 */
extern ErrorData *scd2_spi_try(void (*fn) (void *arg), void *arg);

/*
 * Error context for all that happens between push and pop:
 * applying "gold.dim_customer".  Lives on the caller's stack; "label" must
 * live as long.
 */
typedef struct Scd2Activity
{
	ErrorContextCallback callback;
	const char *verb;
	const char *label;
} Scd2Activity;

extern void scd2_activity_push(Scd2Activity *activity, const char *verb,
							   const char *label);
extern void scd2_activity_pop(Scd2Activity *activity);

#endif							/* SCD2_SPI_H */
