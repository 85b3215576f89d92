/*-------------------------------------------------------------------------
 *
 * timeline.h
 *	  One key's chain, ready to be drawn.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_TIMELINE_H
#define SCD2_TIMELINE_H

#include "fmgr.h"
#include "nodes/pg_list.h"

#include "timeaxis.h"

typedef struct Scd2TimelineVersion
{
	int64		from;
	int64		to;
	bool		is_open;
	bool		is_deleted;		/* flagged so */
	char	   *from_label;
	char	   *to_label;
	double		begin;			/* places on the axis */
	double		end;
	List	   *notes;			/* what is new in it, a text for each line */
} Scd2TimelineVersion;

typedef struct Scd2Timeline
{
	char	   *title;			/* dimension and key */
	char	   *subtitle;		/* how many versions, which time zone */
	bool		ascii;
	int			nversions;		/* 0: the key has none */
	Scd2TimelineVersion *versions;
	Scd2TimeAxis *axis;
} Scd2Timeline;

/*
 * Read the chain of the key that a call names: timeline(dimension regclass,
 * VARIADIC key "any").  "most": how many versions are drawn, the newest ones.
 * What is drawn beside values is ASCII if "ascii".  Lives in the memory of
 * scd2_ask_begin, which is the caller's to end.  Errors: as scd2_ask_begin and
 * scd2_key_args.
 */
extern Scd2Timeline *scd2_timeline_read(FunctionCallInfo fcinfo,
										const Scd2Dimension *dim, int most,
										bool ascii);

/*
 * How a line of "cells" cells is divided: label, bar, notes, with two cells
 * between them.
 */
typedef struct Scd2TimelineLayout
{
	int			label;
	int			bar;
	int			notes;
} Scd2TimelineLayout;

extern void scd2_timeline_divide(const Scd2Timeline *timeline, int cells,
								 Scd2TimelineLayout *layout);

/* A version's notes in lines. */
extern List *scd2_timeline_notes(const Scd2TimelineVersion *version,
								 const Scd2TimelineLayout *layout);

#endif							/* SCD2_TIMELINE_H */
