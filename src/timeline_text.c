/*-------------------------------------------------------------------------
 *
 * timeline_text.c
 *	  A key's chain drawn for a terminal: scd2.timeline.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "ask.h"
#include "scd2.h"
#include "shown.h"
#include "timeline.h"

typedef struct Signs
{
	const char *bar;
	const char *deleted;
	const char *line;
	const char *tick;
	const char *goes_on;
	const char *shortened;
} Signs;

static const Signs ascii_signs = {"#", ".", "-", "+", ">", "/"};

/* full block, light shade, box drawings, pointer, diagonal */
static const Signs utf8_signs = {
	"\xE2\x96\x88", "\xE2\x96\x91", "\xE2\x94\x80", "\xE2\x94\xAC", "\xE2\x96\xBA", "\xE2\x95\xB1"
};

typedef struct Drawing
{
	const Scd2Timeline *timeline;
	const Signs *signs;
	Scd2TimelineLayout layout;
	bool	   *shortened;		/* by cell of the bar: is it a shortened stretch's middle? */
	ReturnSetInfo *rsinfo;
	StringInfoData line;
} Drawing;

/*
 * Hand a line over, less spaces at its end.
 */
static void
put_line(Drawing *drawing)
{
	StringInfo	line = &drawing->line;
	Datum		value;
	bool		isnull = false;

	while (line->len > 0 && line->data[line->len - 1] == ' ')
		line->len--;
	value = PointerGetDatum(cstring_to_text_with_len(line->data, line->len));
	tuplestore_putvalues(drawing->rsinfo->setResult, drawing->rsinfo->setDesc,
						 &value, &isnull);
	pfree(DatumGetPointer(value));
	resetStringInfo(line);
}

static void
put_wrapped(Drawing *drawing, const char *text)
{
	ListCell   *lc;

	foreach(lc, scd2_wrap(NIL, text, scd2_timeline_width))
	{
		appendStringInfoString(&drawing->line, lfirst(lc));
		put_line(drawing);
	}
}

static int
cell_of(const Drawing *drawing, double place)
{
	return Min((int) (place * drawing->layout.bar), drawing->layout.bar - 1);
}

/*
 * The axis: labels, and below them the line, with marks where labels begin.
 */
static void
put_axis(Drawing *drawing)
{
	int			width = drawing->layout.bar;
	bool	   *marked = palloc0(width * sizeof(bool));
	int			nticks;
	Scd2Tick   *ticks = scd2_time_ticks(drawing->timeline->axis, width, &nticks);
	int			end = 0;

	appendStringInfoSpaces(&drawing->line, drawing->layout.label + 2);
	for (int i = 0; i < nticks; i++)
	{
		int			cell = cell_of(drawing, ticks[i].place);

		marked[cell] = true;
		if (cell < end || cell + (int) strlen(ticks[i].label) > width)
			continue;
		appendStringInfoSpaces(&drawing->line, cell - Max(end - 1, 0));
		appendStringInfoString(&drawing->line, ticks[i].label);
		end = cell + strlen(ticks[i].label) + 1;
	}
	put_line(drawing);

	appendStringInfoSpaces(&drawing->line, drawing->layout.label + 2);
	for (int i = 0; i < width; i++)
		appendStringInfoString(&drawing->line,
							   drawing->shortened[i] ? drawing->signs->shortened :
							   marked[i] ? drawing->signs->tick : drawing->signs->line);
	put_line(drawing);
}

static void
append_bar(Drawing *drawing, const Scd2TimelineVersion *version)
{
	int			width = drawing->layout.bar;
	int			begin = cell_of(drawing, version->begin);
	int			end = version->is_open ? width : (int) (version->end * width);
	const char *sign = version->is_deleted ? drawing->signs->deleted : drawing->signs->bar;

	/* one cell at least */
	end = Max(end, begin + 1);
	for (int i = 0; i < width; i++)
	{
		if (i < begin || i >= end)
			appendStringInfoChar(&drawing->line, ' ');
		else if (i == width - 1 && version->is_open)
			appendStringInfoString(&drawing->line, drawing->signs->goes_on);
		else if (drawing->shortened[i] && end - begin > 1)
			appendStringInfoString(&drawing->line, drawing->signs->shortened);
		else
			appendStringInfoString(&drawing->line, sign);
	}
}

static void
put_version(Drawing *drawing, const Scd2TimelineVersion *version)
{
	ListCell   *lc;

	foreach(lc, scd2_timeline_notes(version, &drawing->layout))
	{
		if (foreach_current_index(lc) == 0)
		{
			appendStringInfo(&drawing->line, "%-*s  ", drawing->layout.label, version->from_label);
			append_bar(drawing, version);
			appendStringInfoSpaces(&drawing->line, 2);
		}
		else
			appendStringInfoSpaces(&drawing->line,
								   drawing->layout.label + drawing->layout.bar + 4);
		appendStringInfoString(&drawing->line, lfirst(lc));
		put_line(drawing);
	}
}

static void
draw(Drawing *drawing)
{
	const Scd2Timeline *timeline = drawing->timeline;
	MemoryContext line_cxt;

	initStringInfo(&drawing->line);
	put_wrapped(drawing, timeline->title);
	put_wrapped(drawing, timeline->subtitle);
	if (timeline->nversions == 0)
		return;

	scd2_timeline_divide(timeline, scd2_timeline_width, &drawing->layout);
	drawing->shortened = palloc0(drawing->layout.bar * sizeof(bool));
	for (int i = 0; i < timeline->axis->nbounds - 1; i++)
		if (timeline->axis->shortened[i])
			drawing->shortened[cell_of(drawing, (timeline->axis->places[i] +
												 timeline->axis->places[i + 1]) / 2)] = true;
	put_line(drawing);
	put_axis(drawing);

	line_cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 lines",
									 ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < timeline->nversions; i++)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(line_cxt);

		CHECK_FOR_INTERRUPTS();
		put_version(drawing, &timeline->versions[i]);
		MemoryContextSwitchTo(oldcxt);
		MemoryContextReset(line_cxt);
	}
	MemoryContextDelete(line_cxt);
}

PG_FUNCTION_INFO_V1(scd2_timeline);

/*
 * scd2.timeline(dimension regclass, VARIADIC key "any"): one key's versions as bars
 * on a time axis, with what changed; as wide as scd2.timeline_width says.  In
 * ASCII if scd2.timeline_ascii is on, or database or client are not in UTF-8;
 * values are as they are.
 */
Datum
scd2_timeline(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = scd2_registry_argument(fcinfo);
	bool		ascii = scd2_timeline_ascii || GetDatabaseEncoding() != PG_UTF8 ||
		pg_get_client_encoding() != PG_UTF8;
	Drawing		drawing = {0};
	Scd2Ask		ask;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	scd2_ask_begin(&ask, relid, NULL);
	drawing.timeline = scd2_timeline_read(fcinfo, ask.dim, PG_INT32_MAX, ascii);
	drawing.signs = ascii ? &ascii_signs : &utf8_signs;
	drawing.rsinfo = rsinfo;
	draw(&drawing);
	scd2_ask_end(&ask);
	PG_RETURN_VOID();
}
