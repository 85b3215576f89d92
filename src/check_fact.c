/*-------------------------------------------------------------------------
 *
 * check_fact.c
 *	  Facts whose surrogate key is not the version at their event time (R32).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "check_fact.h"

#include "executor/tuptable.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "plan_fact.h"
#include "spi.h"

typedef struct FactState
{
	DestReceiver pub;
	const Scd2Dimension *dim;
	const Scd2Link *link;
	MemoryContext cxt;
	Scd2FactReport report;
	void	   *arg;
} FactState;

static char *
text_or_null(TupleTableSlot *slot, int col)
{
	return slot->tts_isnull[col] ? NULL : TextDatumGetCString(slot->tts_values[col]);
}

/* Row: surrogate key, the right one, its valid_from, event time, key. */
static bool
wrong_receive(TupleTableSlot *slot, DestReceiver *self)
{
	FactState  *state = (FactState *) self;
	MemoryContext oldcxt = MemoryContextSwitchTo(state->cxt);
	char	   *right;
	char	   *event;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	right = text_or_null(slot, 1);
	event = text_or_null(slot, 3);
	state->report(state->arg, slot->tts_values[4], text_or_null(slot, 0),
				  text_or_null(slot, 2),
				  psprintf("It is %s of a fact in %s at %s, and should be %s.",
						   quote_identifier(state->link->sk_name),
						   state->link->sql_name, event != NULL ? event : "no time",
						   right != NULL ? right : "null"));
	MemoryContextSwitchTo(oldcxt);
	MemoryContextReset(state->cxt);
	return true;
}

/*
 * Look the facts over; see check_fact.h.
 */
void
scd2_check_facts(const Scd2Dimension *dim, MemoryContext cxt, Scd2FactReport report,
				 void *arg)
{
	List	   *links = scd2_links_open(dim->id, AccessShareLock);
	FactState	state = {.dim = dim, .cxt = cxt, .report = report, .arg = arg};
	bool		has_unknown;
	bool		isnull;
	ListCell   *lc;

	if (links == NIL)
		return;
	(void) scd2_spi_read("unknown member", scd2_plan_has_unknown(dim), 0, NULL, NULL, NULL);
	has_unknown = DatumGetBool(scd2_spi_value(0, 1, &isnull));
	foreach(lc, links)
	{
		state.link = lfirst(lc);
		scd2_spi_receiver(&state.pub, NULL, wrong_receive);
		scd2_spi_stream("facts", scd2_plan_fact_wrong(dim, state.link, has_unknown),
						0, NULL, NULL, NULL, true, (DestReceiver *) &state);
	}
}
