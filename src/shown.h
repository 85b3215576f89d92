/*-------------------------------------------------------------------------
 *
 * shown.h
 *	  Names and values as they are shown to a person, measured in cells: a
 *	  terminal's columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_SHOWN_H
#define SCD2_SHOWN_H

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

/* Signs beside the values; without "ascii" the database is in UTF-8. */
#define SCD2_SHOWN_ELLIPSIS(ascii)	((ascii) ? "..." : "\xE2\x80\xA6")
#define SCD2_SHOWN_ARROW(ascii)		((ascii) ? "->" : "\xE2\x86\x92")

/* How many cells of a value are shown, its ellipsis not counted. */
#define SCD2_SHOWN_CELLS	40

/*
 * Append a name, with escapes for what would act instead of being seen: control
 * characters, line ends, bidirectional overrides, what XML does not allow.
 * Text from right to left is isolated, so that it turns nothing around it.
 */
extern void scd2_show_name(StringInfo buf, const char *name, bool ascii);

/*
 * Append a value likewise, cut to SCD2_SHOWN_CELLS from byte "from" on; NULL
 * is null.  Quoted where it could be taken for something else, as SQL does:
 * '' and 'null', E'two\nlines'.
 */
extern void scd2_show_value(StringInfo buf, const char *value, int from,
							bool ascii);

/*
 * From which byte on to show two values, so that what differs is seen: 0, or in
 * long ones shortly before that.
 */
extern int	scd2_shown_from(const char *a, const char *b);

/* Cells that a text takes. */
extern int	scd2_cells(const char *text);

/*
 * Append to "lines" the text in lines of at most so many cells, broken at spaces
 * where that can be; those that follow are indented.
 */
extern List *scd2_wrap(List *lines, const char *text, int cells);

#endif							/* SCD2_SHOWN_H */
