/*-------------------------------------------------------------------------
 *
 * options_json.c
 *	  The parameters of a dimension as the registry keeps them and
 *	  scd2.dimensions shows them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "options.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/json.h"

static void
json_key(StringInfo buf, const char *parameter)
{
	if (buf->len > 1)
		appendStringInfoChar(buf, ',');
	escape_json(buf, parameter);
	appendStringInfoChar(buf, ':');
}

static void
json_text(StringInfo buf, const char *parameter, const char *value)
{
	json_key(buf, parameter);
	if (value == NULL)
		appendStringInfoString(buf, "null");
	else
		escape_json(buf, value);
}

static void
json_bool(StringInfo buf, const char *parameter, bool value)
{
	json_key(buf, parameter);
	appendStringInfoString(buf, value ? "true" : "false");
}

static void
json_list(StringInfo buf, const char *parameter, const List *list)
{
	ListCell   *cell;

	json_key(buf, parameter);
	appendStringInfoChar(buf, '[');
	foreach(cell, list)
	{
		if (foreach_current_index(cell) > 0)
			appendStringInfoChar(buf, ',');
		escape_json(buf, (char *) lfirst(cell));
	}
	appendStringInfoChar(buf, ']');
}

/*
 * The options as the registry keeps them and scd2.dimensions shows them: every
 * parameter but dimension and source, under its own name.
 */
char *
scd2_options_json(const Scd2Options *options)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	json_list(&buf, "business_key", options->business_key);
	for (int i = 0; i < SCD2_NTYPES; i++)
		json_list(&buf, psprintf("type%d", scd2_types[i]), options->types[i]);
	json_text(&buf, "effective_at", options->effective_at);
	json_list(&buf, "sequence_by", options->sequence_by);
	json_text(&buf, "delete_when", options->delete_when);
	json_text(&buf, "mode", options->mode);
	json_text(&buf, "log_position", options->log_position);
	json_text(&buf, "on_delete", options->on_delete);
	json_text(&buf, "on_late", options->on_late);
	json_text(&buf, "on_duplicate", options->on_duplicate);
	json_text(&buf, "on_bad_row", options->on_bad_row);
	json_text(&buf, "on_drift", options->on_drift);
	json_bool(&buf, "ignore_null_updates", options->ignore_null_updates);
	json_key(&buf, "max_delete_fraction");
	appendStringInfoString(&buf, options->max_delete_fraction == NULL ?
						   "null" : options->max_delete_fraction);
	json_text(&buf, "history", options->history);
	json_bool(&buf, "change_log", options->change_log);
	json_text(&buf, "surrogate_key", options->surrogate_key);
	json_text(&buf, "surrogate_key_type", options->surrogate_key_type);
	json_text(&buf, "period_type", options->period_type_name);
	json_text(&buf, "open_end", options->open_end);
	json_text(&buf, "initial_valid_from", options->initial_valid_from);
	json_text(&buf, "time_zone", options->time_zone);
	json_bool(&buf, "unknown_member", options->unknown_member);
	json_bool(&buf, "guard", options->guard);
	json_key(&buf, "columns");
	appendStringInfoString(&buf, "{\"valid_from\":");
	escape_json(&buf, options->valid_from);
	appendStringInfoString(&buf, ",\"valid_to\":");
	escape_json(&buf, options->valid_to);
	appendStringInfoString(&buf, ",\"is_current\":");
	escape_json(&buf, options->is_current);
	appendStringInfoString(&buf, ",\"row_hash\":");
	if (options->row_hash == NULL)
		appendStringInfoString(&buf, "null");
	else
		escape_json(&buf, options->row_hash);
	appendStringInfoString(&buf, ",\"is_deleted\":");
	escape_json(&buf, options->is_deleted);
	appendStringInfoString(&buf, "}}");

	return buf.data;
}
