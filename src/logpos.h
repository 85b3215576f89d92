/*-------------------------------------------------------------------------
 *
 * logpos.h
 *	  Mode log: how far a source has been read for good.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_LOGPOS_H
#define SCD2_LOGPOS_H

#include "registry.h"

/* What a run knows of its source's positions. */
typedef struct Scd2LogPos
{
	bool		active;			/* does the run read the registered source in
								 * mode log? */
	bool		is_tracked;		/* can the mark move at all? */
	Oid			type;			/* of the position */
	Oid			greater;		/* its > */
	char	   *mark;			/* read what is above; NULL: read all */
	char	   *next;			/* will be the mark, or NULL */
	bool		next_is_safe;	/* what ran when "next" was seen had ended before
								 * the run's snapshot */
	Datum		waits;			/* text[]: else, what still runs */

	/* set while the source is read, in cxt */
	bool		has_last;
	Datum		last;			/* the highest position that was seen */
	FmgrInfo   *compare;
	int16		typlen;
	bool		typbyval;
	MemoryContext cxt;
} Scd2LogPos;

/*
 * Why the mark of "source" cannot move, so that every run reads all of it; NULL:
 * it can.  For an errdetail.
 */
extern char *scd2_logpos_untracked(Oid source, const char *position);

/* The position's type has an order that is the same everywhere; else an error. */
extern void scd2_logpos_check_type(Oid type, Oid collation, const char *column);

/*
 * Read the mark, before the run's snapshot is taken; within the run lock, or for
 * a preview without it.  Allocates in the current context.
 */
extern void scd2_logpos_begin(const Scd2Dimension *dim, Scd2LogPos *pos);

/* The mark as a value; call it with settings pinned. */
extern Datum scd2_logpos_mark(const Scd2LogPos *pos);

/* A row's position was read. */
extern void scd2_logpos_seen(Scd2LogPos *pos, Datum position);

/*
 * After reading, and after the run's row was written: remember with it where it
 * read from, and how far the next run may skip.
 */
extern void scd2_logpos_end(const Scd2Dimension *dim, const Scd2LogPos *pos,
							int64 run_id);

/*
 * The rows of a run shall be read again: the mark falls back to where that run
 * read from.  Within the run lock.  For undo.
 */
extern void scd2_logpos_forget(const Scd2Dimension *dim, int64 run_id);

#endif							/* SCD2_LOGPOS_H */
