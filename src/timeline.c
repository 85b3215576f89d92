/*-------------------------------------------------------------------------
 *
 * timeline.c
 *	  One key's chain, ready to be drawn (SPEC section 7): what timeline_text.c
 *	  and timeline_svg.c share.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "timeline.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ask_plan.h"
#include "batch.h"
#include "canonical.h"
#include "convert.h"
#include "keyarg.h"
#include "shown.h"
#include "spi.h"

/* So many values does the first version show; its whole row is in scd2.history. */
#define MAX_FIRST	8

/* Notes take at most this part of what the label leaves. */
#define NOTES_PART	0.55

/* ----------------------------------------------------------------
 * Reading
 * ----------------------------------------------------------------
 */

typedef struct ChainState
{
	DestReceiver pub;
	const Scd2Dimension *dim;
	Scd2AskChainLayout layout;
	Scd2CanonType **canon;
	Scd2Timeline *timeline;
	int			allocated;
	TupleTableSlot *before;		/* the version before */
	MemoryContext cxt;			/* what stays */
	MemoryContext row_cxt;
} ChainState;

static char *
attr_text(const ChainState *state, const TupleTableSlot *slot, int att)
{
	int			col = state->layout.attrs + att;

	return slot->tts_isnull[col] ? NULL :
		scd2_value_text(slot->tts_values[col], state->dim->attrs[att].typid);
}

static void
add_note(ChainState *state, Scd2TimelineVersion *version, const char *note)
{
	MemoryContext oldcxt = MemoryContextSwitchTo(state->cxt);

	version->notes = lappend(version->notes, pstrdup(note));
	MemoryContextSwitchTo(oldcxt);
}

/* city: London */
static void
note_first(ChainState *state, Scd2TimelineVersion *version, const TupleTableSlot *slot)
{
	bool		ascii = state->timeline->ascii;
	int			shown = 0;
	int			nmore = 0;

	for (int i = 0; i < state->dim->nattrs; i++)
	{
		StringInfoData buf;

		if (slot->tts_isnull[state->layout.attrs + i])
			continue;
		if (shown == MAX_FIRST)
		{
			nmore++;
			continue;
		}
		shown++;
		initStringInfo(&buf);
		scd2_show_name(&buf, state->dim->attrs[i].name, ascii);
		appendStringInfoString(&buf, ": ");
		scd2_show_value(&buf, attr_text(state, slot, i), 0, ascii);
		add_note(state, version, buf.data);
	}
	if (nmore > 0)
		add_note(state, version, psprintf(nmore == 1 ? "and %d more value" :
										  "and %d more values", nmore));
	if (shown == 0)
		add_note(state, version, "no value");
}

/* city: London -> Paris */
static void
note_changes(ChainState *state, Scd2TimelineVersion *version, const TupleTableSlot *slot)
{
	const TupleTableSlot *before = state->before;
	bool		ascii = state->timeline->ascii;

	for (int i = 0; i < state->dim->nattrs; i++)
	{
		int			col = state->layout.attrs + i;
		StringInfoData buf;
		char	   *old_text;
		char	   *new_text;
		int			from;

		if (scd2_canon_same(state->canon[i], before->tts_values[col], before->tts_isnull[col],
							slot->tts_values[col], slot->tts_isnull[col]))
			continue;
		old_text = attr_text(state, before, i);
		new_text = attr_text(state, slot, i);
		from = scd2_shown_from(old_text, new_text);
		initStringInfo(&buf);
		scd2_show_name(&buf, state->dim->attrs[i].name, ascii);
		appendStringInfoString(&buf, ": ");
		scd2_show_value(&buf, old_text, from, ascii);
		appendStringInfo(&buf, " %s ", SCD2_SHOWN_ARROW(ascii));
		scd2_show_value(&buf, new_text, from, ascii);
		add_note(state, version, buf.data);
	}
}

static Scd2TimelineVersion *
next_version(ChainState *state)
{
	Scd2Timeline *timeline = state->timeline;

	if (timeline->nversions == state->allocated)
	{
		Size		size;

		state->allocated = state->allocated == 0 ? 64 : 2 * state->allocated;
		size = state->allocated * sizeof(Scd2TimelineVersion);
		timeline->versions = timeline->nversions == 0 ?
			MemoryContextAllocHuge(state->cxt, size) :
			repalloc_huge(timeline->versions, size);
	}
	memset(&timeline->versions[timeline->nversions], 0, sizeof(Scd2TimelineVersion));
	return &timeline->versions[timeline->nversions++];
}

static bool
ends_open(const Scd2Dimension *dim, Datum valid_to, bool isnull)
{
	if (dim->open_end_is_null)
		return isnull;
	return isnull || scd2_time_of(dim, valid_to) >= scd2_time_of(dim, dim->open_end);
}

static bool
chain_receive(TupleTableSlot *slot, DestReceiver *self)
{
	ChainState *state = (ChainState *) self;
	const Scd2AskChainLayout *layout = &state->layout;
	Scd2TimelineVersion *version = next_version(state);
	const Scd2TimelineVersion *before = state->timeline->nversions > 1 ? version - 1 : NULL;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->row_cxt);

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	version->from = scd2_time_of(state->dim, slot->tts_values[layout->valid_from]);
	version->is_open = ends_open(state->dim, slot->tts_values[layout->valid_to],
								 slot->tts_isnull[layout->valid_to]);
	if (!version->is_open)
		version->to = scd2_time_of(state->dim, slot->tts_values[layout->valid_to]);
	version->is_deleted = !slot->tts_isnull[layout->deleted] &&
		DatumGetBool(slot->tts_values[layout->deleted]);

	if (version->is_deleted)
		add_note(state, version, "deleted");
	else if (before != NULL && (before->is_deleted ||
								(!before->is_open && before->to < version->from)))
		add_note(state, version, "opened again");
	if (before == NULL)
		note_first(state, version, slot);
	else
		note_changes(state, version, slot);
	if (version->notes == NIL)
		add_note(state, version, "nothing changed");

	if (state->before == NULL)
	{
		MemoryContextSwitchTo(state->cxt);
		state->before = MakeSingleTupleTableSlot(slot->tts_tupleDescriptor,
												 &TTSOpsMinimalTuple);
	}
	ExecCopySlot(state->before, slot);
	slot_getallattrs(state->before);
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->row_cxt);
	return true;
}

/* ----------------------------------------------------------------
 * What is known when all versions are
 * ----------------------------------------------------------------
 */

static Scd2TimeAxis *
make_axis(const Scd2Timeline *timeline, const Scd2Dimension *dim)
{
	int64	   *bounds = palloc_extended((2 * (Size) timeline->nversions + 1) * sizeof(int64),
										 MCXT_ALLOC_HUGE);
	int			n = 0;
	bool		open = false;

	for (int i = 0; i < timeline->nversions; i++)
	{
		const Scd2TimelineVersion *version = &timeline->versions[i];

		bounds[n++] = version->from;
		if (version->is_open)
			open = true;
		else
			bounds[n++] = version->to;
	}
	return scd2_time_axis(dim, bounds, n, open);
}

/*
 * Labels, places, and how versions end that nothing follows, or that begin after
 * now.
 */
static void
finish_versions(Scd2Timeline *timeline, const Scd2Dimension *dim)
{
	TimestampTz started = GetCurrentStatementStartTimestamp();
	int64		now = scd2_time_of(dim, scd2_to_period(dim, TimestampTzGetDatum(started),
													   TIMESTAMPTZOID));

	for (int i = 0; i < timeline->nversions; i++)
	{
		Scd2TimelineVersion *version = &timeline->versions[i];

		CHECK_FOR_INTERRUPTS();
		version->from_label = scd2_time_label(timeline->axis, version->from);
		version->begin = scd2_time_place(timeline->axis, version->from);
		version->end = 1.0;
		if (version->from > now)
			version->notes = lcons("begins in the future", version->notes);
		if (version->is_open)
			continue;
		version->to_label = scd2_time_label(timeline->axis, version->to);
		version->end = Max(scd2_time_place(timeline->axis, version->to), version->begin);
		if (i == timeline->nversions - 1 || version[1].from > version->to)
			version->notes = lappend(version->notes, psprintf("closed %s", version->to_label));
	}
}

static char *
make_title(const Scd2Dimension *dim, const Datum *keys, bool ascii)
{
	StringInfoData buf;

	initStringInfo(&buf);
	scd2_show_name(&buf, dim->label, ascii);
	for (int i = 0; i < dim->nkeys; i++)
	{
		appendStringInfoString(&buf, ", ");
		scd2_show_name(&buf, dim->keys[i].name, ascii);
		appendStringInfoString(&buf, " = ");
		scd2_show_value(&buf, scd2_value_text(keys[i], dim->keys[i].typid), 0, ascii);
	}
	return buf.data;
}

static char *
make_subtitle(const Scd2Timeline *timeline, const Scd2Dimension *dim, int nall)
{
	StringInfoData buf;

	initStringInfo(&buf);
	if (nall == 0)
		appendStringInfoString(&buf, "no version");
	else if (nall > timeline->nversions)
		appendStringInfo(&buf, "the newest %d of %d versions", timeline->nversions, nall);
	else
		appendStringInfo(&buf, nall == 1 ? "%d version" : "%d versions", nall);
	if (nall > 0 && dim->period_type != DATEOID)
		appendStringInfo(&buf, ", times in %s", dim->time_zone);
	if (nall > 0 && timeline->axis->nshortened > 0)
		appendStringInfo(&buf, ", %s: a long time, drawn short",
						 timeline->ascii ? "/" : "\xE2\x95\xB1");
	return buf.data;
}

/*
 * Read a chain; see timeline.h.
 */
Scd2Timeline *
scd2_timeline_read(FunctionCallInfo fcinfo, const Scd2Dimension *dim, int most,
				   bool ascii)
{
	Scd2Timeline *timeline = palloc0(sizeof(Scd2Timeline));
	ChainState *state = palloc0(sizeof(ChainState));
	Datum	   *keys = palloc(dim->nkeys * sizeof(Datum));
	int			guc_level;
	int			nall;

	timeline->ascii = ascii;
	state->dim = dim;
	state->timeline = timeline;
	scd2_ask_chain_layout(dim, &state->layout);
	state->canon = palloc((dim->nattrs + 1) * sizeof(Scd2CanonType *));
	for (int i = 0; i < dim->nattrs; i++)
		state->canon[i] = scd2_canon_type(dim->attrs[i].typid, CurrentMemoryContext);
	state->cxt = CurrentMemoryContext;
	state->row_cxt = AllocSetContextCreate(CurrentMemoryContext, "scd2 row",
										   ALLOCSET_DEFAULT_SIZES);

	scd2_key_args(fcinfo, 1, dim, keys);
	guc_level = scd2_spi_one_key_begin();
	scd2_spi_receiver(&state->pub, NULL, chain_receive);
	scd2_spi_stream("timeline", scd2_ask_chain_sql(dim), dim->nkeys,
					scd2_ask_key_types(dim, 0), keys, NULL, true, (DestReceiver *) state);
	scd2_spi_one_key_end(guc_level);
	if (state->before != NULL)
		ExecDropSingleTupleTableSlot(state->before);

	nall = timeline->nversions;
	if (nall > most)
	{
		timeline->versions += nall - most;
		timeline->nversions = most;
	}
	timeline->axis = make_axis(timeline, dim);
	finish_versions(timeline, dim);
	timeline->title = make_title(dim, keys, ascii);
	timeline->subtitle = make_subtitle(timeline, dim, nall);
	return timeline;
}

/* ----------------------------------------------------------------
 * Lines
 * ----------------------------------------------------------------
 */

/*
 * Divide a line; see timeline.h.
 */
void
scd2_timeline_divide(const Scd2Timeline *timeline, int cells, Scd2TimelineLayout *layout)
{
	int			longest = 0;
	int			rest;

	layout->label = 0;
	for (int i = 0; i < timeline->nversions; i++)
	{
		ListCell   *lc;

		layout->label = Max(layout->label, strlen(timeline->versions[i].from_label));
		foreach(lc, timeline->versions[i].notes)
			longest = Max(longest, scd2_cells(lfirst(lc)));
	}
	rest = cells - layout->label - 4;
	layout->notes = Min(longest, (int) (rest * NOTES_PART));
	layout->bar = rest - layout->notes;
}

/*
 * A version's notes in lines; see timeline.h.
 */
List *
scd2_timeline_notes(const Scd2TimelineVersion *version, const Scd2TimelineLayout *layout)
{
	List	   *lines = NIL;
	ListCell   *lc;

	foreach(lc, version->notes)
		lines = scd2_wrap(lines, lfirst(lc), layout->notes);
	return lines;
}
