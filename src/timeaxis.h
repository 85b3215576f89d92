/*-------------------------------------------------------------------------
 *
 * timeaxis.h
 *	  The common time axis of a timeline.
 *
 * Times are values of the period's type as integers: days of a date, else
 * microseconds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_TIMEAXIS_H
#define SCD2_TIMEAXIS_H

#include "registry.h"

/* A mark of the calendar. */
typedef struct Scd2Tick
{
	double		place;
	char	   *label;
} Scd2Tick;

typedef struct Scd2TimeAxis
{
	const Scd2Dimension *dim;
	int			nbounds;
	int64	   *bounds;			/* where versions begin and end; each once, in order */
	double	   *places;			/* of the bounds: 0 is the axis's beginning, 1 its end */
	bool	   *shortened;		/* is the stretch that begins there? */
	int			nshortened;
	double		scale;			/* time a unit of the stretches that are not */
	int			precision;		/* of labels; see timeaxis.c */
} Scd2TimeAxis;

/*
 * An axis of these bounds, which it takes and sorts; infinite ones do not
 * count.  With "open" it goes on after the last one, for versions that do.  Where
 * one stretch would leave next to nothing for all others, it is shortened.
 */
extern Scd2TimeAxis *scd2_time_axis(const Scd2Dimension *dim, int64 *bounds,
									int nbounds, bool open);

/* Where a bound is; -infinity is 0 and infinity 1. */
extern double scd2_time_place(const Scd2TimeAxis *axis, int64 t);

/*
 * A time for a person, in the dimension's time zone and as precise as the most
 * precise of the bounds; palloc'd.
 */
extern char *scd2_time_label(const Scd2TimeAxis *axis, int64 t);

/*
 * Marks whose labels have room on an axis that is so many cells long; their
 * number goes to *nticks.  In order; a mark within a shortened stretch there is
 * none.
 */
extern Scd2Tick *scd2_time_ticks(const Scd2TimeAxis *axis, int cells, int *nticks);

/* A period's value as such an integer, and is that one finite? */
extern int64 scd2_time_of(const Scd2Dimension *dim, Datum value);
extern bool scd2_time_is_finite(const Scd2Dimension *dim, int64 t);

#endif							/* SCD2_TIMEAXIS_H */
