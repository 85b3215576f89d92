/*-------------------------------------------------------------------------
 *
 * timeline_svg.c
 *	  A key's chain as a picture: scd2.timeline_svg.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ask.h"
#include "shown.h"
#include "timeline.h"

/* More would be no picture; the newest ones are drawn. */
#define MAX_VERSIONS	1000

/* Pixels.  A cell is what a character of the monospaced font takes. */
#define CELLS			120
#define CELL			8
#define MARGIN			20
#define WIDTH			(CELLS * CELL + 2 * MARGIN)
#define TITLE_CELLS		96
#define TITLE_HEIGHT	24
#define LINE_HEIGHT		18
#define AXIS_HEIGHT		23		/* from the top of its labels to its line */
#define ROW_GAP			6
#define BAR_HEIGHT		14
#define ARROW			7
#define BASELINE		13		/* of a line's text, from its top */
#define GAP_WIDTH		8		/* where the axis is shortened */

/*
 * Colours are contrasts of at least 4.5 for text and 3 for bars, on both grounds.
 * Rules name the root's class, because a picture that is part of a page shares
 * its styles.
 */
static const char style[] =
"<style>\n"
".scd2-timeline{font:13.333px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}\n"
".scd2-timeline text{white-space:pre;fill:#1f2328}\n"
".scd2-timeline .title{font-size:16px;font-weight:bold}\n"
".scd2-timeline .quiet{fill:#59636e}\n"
".scd2-timeline .ground{fill:#ffffff}\n"
".scd2-timeline .grid{fill:none;stroke:#d1d9e0}\n"
".scd2-timeline .edge{fill:none;stroke:#59636e}\n"
".scd2-timeline .closed{fill:#6e8fb5}\n"
".scd2-timeline .open{fill:#0969da}\n"
".scd2-timeline .deleted{fill:#ffffff;stroke:#59636e;stroke-dasharray:3 3}\n"
"@media (prefers-color-scheme:dark){\n"
".scd2-timeline text{fill:#f0f6fc}\n"
".scd2-timeline .quiet{fill:#9198a1}\n"
".scd2-timeline .ground{fill:#0d1117}\n"
".scd2-timeline .grid{stroke:#30363d}\n"
".scd2-timeline .edge{stroke:#9198a1}\n"
".scd2-timeline .closed{fill:#5b7596}\n"
".scd2-timeline .open{fill:#4493f8}\n"
".scd2-timeline .deleted{fill:#0d1117;stroke:#9198a1}\n"
"}\n"
"</style>\n";

typedef struct Picture
{
	const Scd2Timeline *timeline;
	Scd2TimelineLayout layout;
	StringInfoData body;
	int			y;				/* where the next thing begins */
	double		bar_x;
	double		bar_width;
} Picture;

/*
 * Append text that may stand in an element.  What is not ASCII is
 * written as a reference, so that the picture is the same in every encoding.
 */
static void
append_xml(StringInfo buf, const char *text)
{
	const unsigned char *s = (const unsigned char *)
		pg_server_to_any(text, strlen(text), PG_UTF8);

	for (; *s != '\0'; s += pg_utf_mblen(s))
	{
		if (IS_HIGHBIT_SET(*s))
			appendStringInfo(buf, "&#x%X;", utf8_to_unicode(s));
		else if (*s == '&')
			appendStringInfoString(buf, "&amp;");
		else if (*s == '<')
			appendStringInfoString(buf, "&lt;");
		else if (*s == '>')
			appendStringInfoString(buf, "&gt;");
		else if (*s == '"')
			appendStringInfoString(buf, "&quot;");
		else
			appendStringInfoChar(buf, *s);
	}
}

static void
append_element(StringInfo buf, const char *name, const char *text)
{
	appendStringInfo(buf, "<%s>", name);
	append_xml(buf, text);
	appendStringInfo(buf, "</%s>\n", name);
}

/* A line of text whose top is at "y"; "class" may be NULL. */
static void
append_text(Picture *picture, double x, int y, const char *class, const char *text)
{
	StringInfo	buf = &picture->body;

	appendStringInfo(buf, "<text x=\"%.1f\" y=\"%d\"", x, y + BASELINE);
	if (class != NULL)
		appendStringInfo(buf, " class=\"%s\"", class);
	appendStringInfoChar(buf, '>');
	append_xml(buf, text);
	appendStringInfoString(buf, "</text>\n");
}

static void
add_lines(Picture *picture, const char *class, const char *text, int cells, int height)
{
	ListCell   *lc;

	foreach(lc, scd2_wrap(NIL, text, cells))
	{
		append_text(picture, MARGIN, picture->y, class, lfirst(lc));
		picture->y += height;
	}
}

static double
x_of(const Picture *picture, double place)
{
	return picture->bar_x + place * picture->bar_width;
}

static void
add_bar(Picture *picture, const Scd2TimelineVersion *version)
{
	StringInfo	buf = &picture->body;
	double		x = x_of(picture, version->begin);
	double		width = Max(x_of(picture, version->end) - x, 3.0);
	int			y = picture->y + (LINE_HEIGHT - BAR_HEIGHT) / 2;
	const char *class = version->is_deleted ? "deleted" : version->is_open ? "open" : "closed";

	appendStringInfo(buf, "<path class=\"%s\" d=\"M%.1f %dh%.1f", class, x, y,
					 version->is_open ? width - ARROW : width);
	if (version->is_open)
		appendStringInfo(buf, "l%d %dl-%d %d", ARROW, BAR_HEIGHT / 2, ARROW, BAR_HEIGHT / 2);
	else
		appendStringInfo(buf, "v%d", BAR_HEIGHT);
	appendStringInfo(buf, "H%.1fz\"/>\n", x);
}

/*
 * A version: its label, its bar, its notes.  A pointer that rests on it shows its
 * period.
 */
static void
add_version(Picture *picture, const Scd2TimelineVersion *version)
{
	ListCell   *lc;

	appendStringInfoString(&picture->body, "<g>\n");
	append_element(&picture->body, "title",
				   version->is_open ? psprintf("from %s", version->from_label) :
				   psprintf("from %s to %s", version->from_label, version->to_label));
	append_text(picture, MARGIN, picture->y, "quiet", version->from_label);
	add_bar(picture, version);
	foreach(lc, scd2_timeline_notes(version, &picture->layout))
	{
		append_text(picture, picture->bar_x + picture->bar_width + 2 * CELL, picture->y,
					NULL, lfirst(lc));
		picture->y += LINE_HEIGHT;
	}
	appendStringInfoString(&picture->body, "</g>\n");
	picture->y += ROW_GAP;
}

/*
 * The axis, with lines from its marks down to "bottom".
 */
static void
add_axis(Picture *picture, int y, int bottom)
{
	StringInfo	buf = &picture->body;
	int			nticks;
	Scd2Tick   *ticks = scd2_time_ticks(picture->timeline->axis, picture->layout.bar, &nticks);
	double		end = 0;

	appendStringInfo(buf, "<path class=\"grid\" d=\"M%.1f %dh%.1f", picture->bar_x,
					 y + AXIS_HEIGHT, picture->bar_width);
	for (int i = 0; i < nticks; i++)
		appendStringInfo(buf, "M%.1f %dV%d", x_of(picture, ticks[i].place), y + AXIS_HEIGHT,
						 bottom);
	appendStringInfoString(buf, "\"/>\n");
	for (int i = 0; i < nticks; i++)
	{
		double		x = x_of(picture, ticks[i].place);
		double		width = strlen(ticks[i].label) * CELL;

		if (x < end || x + width > picture->bar_x + picture->bar_width)
			continue;
		append_text(picture, x, y, "quiet", ticks[i].label);
		end = x + width + CELL;
	}
}

/*
 * A gap through all bars where a stretch is shortened.
 */
static void
add_gaps(Picture *picture, int y, int bottom)
{
	const Scd2TimeAxis *axis = picture->timeline->axis;
	StringInfo	buf = &picture->body;

	for (int i = 0; i < axis->nbounds - 1; i++)
	{
		double		x;

		if (!axis->shortened[i])
			continue;
		x = x_of(picture, (axis->places[i] + axis->places[i + 1]) / 2) - GAP_WIDTH / 2;
		appendStringInfo(buf, "<path class=\"ground\" d=\"M%.1f %dh%dV%dh-%dz\"/>\n",
						 x, y - 1, GAP_WIDTH, bottom, GAP_WIDTH);
		appendStringInfo(buf, "<path class=\"edge\" d=\"M%.1f %dl4 -8M%.1f %dl4 -8\"/>\n",
						 x - 2, y + 4, x + GAP_WIDTH - 2, y + 4);
	}
}

static void
draw_versions(Picture *picture)
{
	const Scd2Timeline *timeline = picture->timeline;
	StringInfoData above = picture->body;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 version",
											  ALLOCSET_DEFAULT_SIZES);
	int			axis_y = picture->y;

	scd2_timeline_divide(timeline, CELLS, &picture->layout);
	picture->bar_x = MARGIN + (picture->layout.label + 2) * CELL;
	picture->bar_width = picture->layout.bar * CELL;

	/* the axis lies below the bars, but it is known only then how long they go */
	picture->y = axis_y + AXIS_HEIGHT + ROW_GAP;
	initStringInfo(&picture->body);
	for (int i = 0; i < timeline->nversions; i++)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(cxt);

		CHECK_FOR_INTERRUPTS();
		add_version(picture, &timeline->versions[i]);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(cxt);
	}
	MemoryContextDelete(cxt);
	add_gaps(picture, axis_y + AXIS_HEIGHT, picture->y);

	{
		StringInfoData versions = picture->body;

		picture->body = above;
		add_axis(picture, axis_y, picture->y);
		appendBinaryStringInfo(&picture->body, versions.data, versions.len);
	}
}

static text *
draw(const Scd2Timeline *timeline, MemoryContext cxt)
{
	Picture		picture = {timeline};
	StringInfoData svg;
	text	   *result;
	MemoryContext oldcxt;

	initStringInfo(&picture.body);
	picture.y = MARGIN;
	add_lines(&picture, "title", timeline->title, TITLE_CELLS, TITLE_HEIGHT);
	add_lines(&picture, "quiet", timeline->subtitle, CELLS, LINE_HEIGHT);
	if (timeline->nversions > 0)
	{
		picture.y += ROW_GAP;
		draw_versions(&picture);
	}
	picture.y += MARGIN - ROW_GAP;

	initStringInfo(&svg);
	appendStringInfo(&svg, "<svg xmlns=\"http://www.w3.org/2000/svg\""
					 " class=\"scd2-timeline\" xml:space=\"preserve\""
					 " width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
					 " style=\"max-width:100%%;height:auto\">\n",
					 WIDTH, picture.y, WIDTH, picture.y);
	append_element(&svg, "title", timeline->title);
	append_element(&svg, "desc", timeline->subtitle);
	appendStringInfoString(&svg, style);
	appendStringInfo(&svg, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n",
					 WIDTH, picture.y);
	appendBinaryStringInfo(&svg, picture.body.data, picture.body.len);
	appendStringInfoString(&svg, "</svg>\n");

	oldcxt = MemoryContextSwitchTo(cxt);
	result = cstring_to_text_with_len(svg.data, svg.len);
	MemoryContextSwitchTo(oldcxt);
	return result;
}

PG_FUNCTION_INFO_V1(scd2_timeline_svg);

/*
 * scd2.timeline_svg(dimension regclass, VARIADIC key "any"): the same as
 * scd2.timeline as an SVG that stands alone, in light and dark.
 */
Datum
scd2_timeline_svg(PG_FUNCTION_ARGS)
{
	Oid			relid = scd2_registry_argument(fcinfo);
	MemoryContext cxt = CurrentMemoryContext;
	Scd2Ask		ask;
	text	   *svg;

	scd2_ask_begin(&ask, relid, NULL);
	svg = draw(scd2_timeline_read(fcinfo, ask.dim, MAX_VERSIONS,
								  GetDatabaseEncoding() != PG_UTF8), cxt);
	scd2_ask_end(&ask);
	PG_RETURN_TEXT_P(svg);
}
