/*-------------------------------------------------------------------------
 *
 * shown.c
 *	  Names and values as they are shown to a person.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "shown.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

/* First strong isolate, and its end: U+2068, U+2069. */
#define ISOLATE		"\xE2\x81\xA8"
#define ISOLATE_END "\xE2\x81\xA9"

/* In a value of that many cells at most four times as many characters. */
#define MAX_CHARS	(4 * SCD2_SHOWN_CELLS)

/* What follows a break of a line. */
#define INDENT		2

/* ----------------------------------------------------------------
 * Characters
 * ----------------------------------------------------------------
 */

/*
 * The number of a character: of Unicode where the database is in UTF-8; else of
 * ASCII, or of a byte that is a control character there; else 0.
 */
static pg_wchar
code_of(const char *s)
{
	int			encoding = GetDatabaseEncoding();
	unsigned char c = (unsigned char) *s;

	if (!IS_HIGHBIT_SET(c))
		return c;
	if (encoding == PG_UTF8)
		return utf8_to_unicode((const unsigned char *) s);
	if (encoding == PG_SQL_ASCII)
		return c;
	if (c < 0xA0 && ((encoding >= PG_LATIN1 && encoding <= PG_LATIN10) ||
					 (encoding >= PG_ISO_8859_5 && encoding <= PG_ISO_8859_8)))
		return c;
	return 0;
}

/* Would it act, or is it of no encoding that is known? */
static bool
is_escaped(pg_wchar c)
{
	if (c == 0)
		return false;
	if (GetDatabaseEncoding() == PG_SQL_ASCII && c >= 0x80)
		return true;
	return c < 0x20 || (c >= 0x7F && c < 0xA0) ||
		c == 0x2028 || c == 0x2029 ||
		(c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
		(c & 0xFFFE) == 0xFFFE;
}

static bool
is_right_to_left(pg_wchar c)
{
	return GetDatabaseEncoding() == PG_UTF8 &&
		((c >= 0x0590 && c < 0x0900) || (c >= 0xFB1D && c < 0xFE00) ||
		 (c >= 0xFE70 && c < 0xFF00) || (c >= 0x10800 && c < 0x11000) ||
		 (c >= 0x1E800 && c < 0x1F000));
}

static void
append_escape(StringInfo buf, pg_wchar c)
{
	switch (c)
	{
		case '\n':
			appendStringInfoString(buf, "\\n");
			break;
		case '\r':
			appendStringInfoString(buf, "\\r");
			break;
		case '\t':
			appendStringInfoString(buf, "\\t");
			break;
		default:
			if (c < 0x80 || GetDatabaseEncoding() != PG_UTF8)
				appendStringInfo(buf, "\\x%02X", c);
			else if (c <= 0xFFFF)
				appendStringInfo(buf, "\\u%04X", c);
			else
				appendStringInfo(buf, "\\U%08X", c);
	}
}

/* Cells of one character. */
static int
char_cells(const char *s)
{
	pg_wchar	c = code_of(s);

	if (is_escaped(c))
		return c == '\n' || c == '\r' || c == '\t' ? 2 :
			c < 0x100 ? 4 : c <= 0xFFFF ? 6 : 10;
	return Max(pg_dsplen(s), 0);
}

/* ----------------------------------------------------------------
 * Names and values
 * ----------------------------------------------------------------
 */

typedef enum Quoting
{
	QUOTE_NONE,
	QUOTE_PLAIN,				/* '...' */
	QUOTE_ESCAPES				/* E'...' */
} Quoting;

/*
 * Append what lies from "s" to "end".
 */
static void
append_shown(StringInfo buf, const char *s, const char *end, Quoting quoting)
{
	while (s < end)
	{
		int			len = pg_mblen(s);
		pg_wchar	c = code_of(s);

		if (is_escaped(c))
			append_escape(buf, c);
		else
		{
			if ((*s == '\'' && quoting != QUOTE_NONE) ||
				(*s == '\\' && quoting == QUOTE_ESCAPES))
				appendStringInfoChar(buf, *s);
			appendBinaryStringInfo(buf, s, len);
		}
		s += len;
	}
}

static bool
has_right_to_left(const char *s, const char *end)
{
	for (; s < end; s += pg_mblen(s))
		if (is_right_to_left(code_of(s)))
			return true;
	return false;
}

/*
 * How a value is quoted of which that much is shown.
 */
static Quoting
quoting_of(const char *value, const char *from, const char *end, bool ascii)
{
	for (const char *s = from; s < end; s += pg_mblen(s))
	{
		pg_wchar	c = code_of(s);

		if (is_escaped(c))
			return QUOTE_ESCAPES;
	}
	if (*value == '\0' || *value == ' ' || *value == '\'' ||
		strncmp(value, "E'", 2) == 0 || strcmp(value, "null") == 0 ||
		value[strlen(value) - 1] == ' ' ||
		strstr(value, SCD2_SHOWN_ARROW(ascii)) != NULL)
		return QUOTE_PLAIN;
	return QUOTE_NONE;
}

/*
 * Append a name; see shown.h.
 */
void
scd2_show_name(StringInfo buf, const char *name, bool ascii)
{
	const char *end = name + strlen(name);
	bool		isolated = !ascii && has_right_to_left(name, end);

	if (isolated)
		appendStringInfoString(buf, ISOLATE);
	append_shown(buf, name, end, QUOTE_NONE);
	if (isolated)
		appendStringInfoString(buf, ISOLATE_END);
}

/*
 * Append a value; see shown.h.
 */
void
scd2_show_value(StringInfo buf, const char *value, int from, bool ascii)
{
	const char *start;
	const char *end;
	int			cells = 0;
	int			chars = 0;
	Quoting		quoting;
	bool		isolated;

	if (value == NULL)
	{
		appendStringInfoString(buf, "null");
		return;
	}
	start = end = value + from;
	while (*end != '\0' && chars++ < MAX_CHARS &&
		   (cells += char_cells(end)) <= SCD2_SHOWN_CELLS)
		end += pg_mblen(end);

	quoting = quoting_of(value, start, end, ascii);
	isolated = !ascii && has_right_to_left(start, end);
	if (isolated)
		appendStringInfoString(buf, ISOLATE);
	if (quoting != QUOTE_NONE)
		appendStringInfoString(buf, quoting == QUOTE_ESCAPES ? "E'" : "'");
	if (from > 0)
		appendStringInfoString(buf, SCD2_SHOWN_ELLIPSIS(ascii));
	append_shown(buf, start, end, quoting);
	if (*end != '\0')
		appendStringInfoString(buf, SCD2_SHOWN_ELLIPSIS(ascii));
	if (quoting != QUOTE_NONE)
		appendStringInfoChar(buf, '\'');
	if (isolated)
		appendStringInfoString(buf, ISOLATE_END);
}

/*
 * Where to begin; see shown.h.
 */
int
scd2_shown_from(const char *a, const char *b)
{
	int			marks[8] = {0}; /* where the last characters began */
	int			i = 0;
	int			cells = 0;
	int			chars = 0;

	if (a == NULL || b == NULL)
		return 0;
	while (a[i] != '\0')
	{
		int			len = pg_mblen(a + i);

		CHECK_FOR_INTERRUPTS();
		if (strncmp(a + i, b + i, len) != 0)
			break;
		cells += char_cells(a + i);
		marks[chars++ % lengthof(marks)] = i;
		i += len;
	}

	/* what differs is seen from the beginning */
	if (cells <= SCD2_SHOWN_CELLS - (int) lengthof(marks) || chars < (int) lengthof(marks))
		return 0;
	return marks[chars % lengthof(marks)];
}

/* ----------------------------------------------------------------
 * Lines
 * ----------------------------------------------------------------
 */

/* Cells of a character of a text that was made to be shown. */
static int
shown_cells(const char *s)
{
	/* older versions' tables do not have these */
	if (strncmp(s, ISOLATE, 3) == 0 || strncmp(s, ISOLATE_END, 3) == 0)
		return 0;
	return Max(pg_dsplen(s), 0);
}

int
scd2_cells(const char *text)
{
	int			cells = 0;

	for (const char *s = text; *s != '\0'; s += pg_mblen(s))
		cells += shown_cells(s);
	return cells;
}

/*
 * Break a text; see shown.h.  Where a line ends within an isolate, that is ended
 * and goes on in the next.
 */
List *
scd2_wrap(List *lines, const char *text, int cells)
{
	const char *s = text;
	int			indent = 0;
	bool		isolated = false;

	do
	{
		const char *end = s;
		const char *space = NULL;
		int			used = indent;
		StringInfoData line;

		CHECK_FOR_INTERRUPTS();
		for (; *end != '\0'; end += pg_mblen(end))
		{
			/* not there, if next to nothing were left in the line */
			if (*end == ' ' && used > cells / 3)
				space = end;
			used += shown_cells(end);
			if (used > cells && end > s)
				break;
		}
		if (*end != '\0' && space != NULL)
			end = space;

		initStringInfo(&line);
		appendStringInfoSpaces(&line, indent);
		if (isolated)
			appendStringInfoString(&line, ISOLATE);
		appendBinaryStringInfo(&line, s, end - s);
		for (; s < end; s += pg_mblen(s))
		{
			if (strncmp(s, ISOLATE, 3) == 0)
				isolated = true;
			else if (strncmp(s, ISOLATE_END, 3) == 0)
				isolated = false;
		}
		if (isolated)
			appendStringInfoString(&line, ISOLATE_END);
		lines = lappend(lines, line.data);

		if (*s == ' ')
			s++;
		indent = INDENT;
	} while (*s != '\0');
	return lines;
}
