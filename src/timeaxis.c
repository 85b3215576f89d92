/*-------------------------------------------------------------------------
 *
 * timeaxis.c
 *	  The common time axis of a timeline: places of times, shortened stretches,
 *	  marks of the calendar.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "timeaxis.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "period.h"

/* What follows the last bound, for open versions, takes this part of the axis. */
#define OPEN_PART		0.12

/*
 * A stretch that is longer than all shorter ones together, that many times, and
 * that many of them, takes this part of the axis; all such ones together at most
 * the other.  So a first version since 1900 leaves room for this year's changes.
 */
#define LONG_TIMES		4.0
#define OTHERS			3
#define SHORT_PART		0.15
#define SHORT_PARTS		0.5

/* Precision: digits of the second from the third on. */
#define TO_DAY			0
#define TO_MINUTE		1
#define TO_SECOND		2

/* ----------------------------------------------------------------
 * Times
 * ----------------------------------------------------------------
 */

int64
scd2_time_of(const Scd2Dimension *dim, Datum value)
{
	return dim->period_type == DATEOID ? (int64) DatumGetDateADT(value) :
		DatumGetTimestamp(value);
}

static Datum
time_datum(const Scd2Dimension *dim, int64 t)
{
	return dim->period_type == DATEOID ? DateADTGetDatum((DateADT) t) :
		TimestampGetDatum(t);
}

bool
scd2_time_is_finite(const Scd2Dimension *dim, int64 t)
{
	return scd2_period_is_finite(time_datum(dim, t), dim->period_type);
}

/* Microseconds, or days of a date, in a second. */
static double
units_per_second(const Scd2Dimension *dim)
{
	return dim->period_type == DATEOID ? 1.0 / SECS_PER_DAY : USECS_PER_SEC;
}

/*
 * A finite time as the clock on the wall shows it.  "zone": seconds west of UTC.
 */
static void
to_wall(const Scd2Dimension *dim, int64 t, struct pg_tm *tm, fsec_t *fsec, int *zone)
{
	*fsec = 0;
	*zone = 0;
	if (dim->period_type == DATEOID)
	{
		memset(tm, 0, sizeof(*tm));
		j2date((int) t + POSTGRES_EPOCH_JDATE, &tm->tm_year, &tm->tm_mon, &tm->tm_mday);
	}
	else if (timestamp2tm(t, dim->period_type == TIMESTAMPTZOID ? zone : NULL, tm,
						  fsec, NULL, pg_tzset(dim->time_zone)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
}

/*
 * The time when the clock shows that, by a Julian day; false: there is none.
 */
static bool
from_wall(const Scd2Dimension *dim, int64 day, int second, int64 *t)
{
	struct pg_tm tm = {0};
	int			zone;

	if (day < 0 || day >= DATE_END_JULIAN)
		return false;
	if (dim->period_type == DATEOID)
	{
		*t = day - POSTGRES_EPOCH_JDATE;
		return true;
	}
	j2date((int) day, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	tm.tm_hour = second / SECS_PER_HOUR;
	tm.tm_min = second / SECS_PER_MINUTE % MINS_PER_HOUR;
	tm.tm_sec = second % SECS_PER_MINUTE;
	if (!IS_VALID_JULIAN(tm.tm_year, tm.tm_mon, tm.tm_mday))
		return false;
	if (dim->period_type != TIMESTAMPTZOID)
		return tm2timestamp(&tm, 0, NULL, t) == 0;
	zone = DetermineTimeZoneOffset(&tm, pg_tzset(dim->time_zone));
	return tm2timestamp(&tm, 0, &zone, t) == 0;
}

static int
precision_of(const Scd2Dimension *dim, int64 t)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			zone;
	int			digits = 6;

	to_wall(dim, t, &tm, &fsec, &zone);
	if (fsec != 0)
	{
		for (; fsec % 10 == 0; fsec /= 10)
			digits--;
		return TO_SECOND + digits;
	}
	if (tm.tm_sec != 0)
		return TO_SECOND;
	return tm.tm_hour != 0 || tm.tm_min != 0 ? TO_MINUTE : TO_DAY;
}

/* Years as people count them: there is none called 0. */
static void
append_year(StringInfo buf, int year)
{
	appendStringInfo(buf, "%04d", year > 0 ? year : 1 - year);
}

static void
append_era(StringInfo buf, int year)
{
	if (year <= 0)
		appendStringInfoString(buf, " BC");
}

/*
 * A time for a person; see timeaxis.h.  Where clocks are changed, the offset from
 * UTC tells two equal times apart.
 */
char *
scd2_time_label(const Scd2TimeAxis *axis, int64 t)
{
	const Scd2Dimension *dim = axis->dim;
	struct pg_tm tm;
	fsec_t		fsec;
	int			zone;
	StringInfoData buf;

	if (!scd2_time_is_finite(dim, t))
		return pstrdup(t < 0 ? "-infinity" : "infinity");

	to_wall(dim, t, &tm, &fsec, &zone);
	initStringInfo(&buf);
	append_year(&buf, tm.tm_year);
	appendStringInfo(&buf, "-%02d-%02d", tm.tm_mon, tm.tm_mday);
	if (axis->precision >= TO_MINUTE)
		appendStringInfo(&buf, " %02d:%02d", tm.tm_hour, tm.tm_min);
	if (axis->precision >= TO_SECOND)
		appendStringInfo(&buf, ":%02d", tm.tm_sec);
	if (axis->precision > TO_SECOND)
	{
		char		fraction[16];

		snprintf(fraction, sizeof(fraction), "%06d", fsec);
		appendStringInfo(&buf, ".%.*s", axis->precision - TO_SECOND, fraction);
	}
	if (axis->precision >= TO_MINUTE && dim->period_type == TIMESTAMPTZOID &&
		!scd2_zone_is_fixed(dim->time_zone))
	{
		int			minutes = abs(zone) / SECS_PER_MINUTE;

		appendStringInfo(&buf, "%c%02d", zone <= 0 ? '+' : '-', minutes / MINS_PER_HOUR);
		if (minutes % MINS_PER_HOUR != 0)
			appendStringInfo(&buf, ":%02d", minutes % MINS_PER_HOUR);
	}
	append_era(&buf, tm.tm_year);
	return buf.data;
}

/* ----------------------------------------------------------------
 * Places
 * ----------------------------------------------------------------
 */

static int
compare_times(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* The longest first. */
static int
compare_stretches(const void *a, const void *b, void *arg)
{
	const double *lengths = arg;
	double		x = lengths[*(const int *) a];
	double		y = lengths[*(const int *) b];

	return (x < y) - (x > y);
}

/*
 * Which stretches are shortened?  Those that are each longer than all shorter ones
 * together, many times, where the others are many; and such a one that begins
 * with initial_valid_from, which is no more than "since ever", anyway.
 */
static void
find_long_stretches(Scd2TimeAxis *axis, double *lengths, int n)
{
	int		   *order = palloc((n + 1) * sizeof(int));
	double	   *shorter = palloc0((n + 1) * sizeof(double));
	bool		has_initial = n > 0 && axis->dim->has_initial &&
		axis->bounds[0] == scd2_time_of(axis->dim, axis->dim->initial_valid_from);
	int			counted = 0;

	for (int i = 0; i < n; i++)
		order[i] = i;
	qsort_arg(order, n, sizeof(int), compare_stretches, lengths);
	for (int i = n - 1; i > 0; i--)
		shorter[i - 1] = shorter[i] + lengths[order[i]];
	for (int i = 0; i < n - 1; i++)
	{
		if (order[i] != 0 || !has_initial)
			counted++;
		if (lengths[order[i]] > LONG_TIMES * shorter[i] && OTHERS * counted < n - i)
			axis->nshortened = i + 1;
	}
	for (int i = 0; i < axis->nshortened; i++)
		axis->shortened[order[i]] = true;
	pfree(order);
	pfree(shorter);
}

/*
 * Make an axis; see timeaxis.h.
 */
Scd2TimeAxis *
scd2_time_axis(const Scd2Dimension *dim, int64 *bounds, int nbounds, bool open)
{
	Scd2TimeAxis *axis = palloc0(sizeof(Scd2TimeAxis));
	double	   *lengths;
	double		linear = 0;
	double		room = open ? 1.0 - OPEN_PART : 1.0;
	double		part;
	double		place = 0;
	int			n = 0;

	axis->dim = dim;
	axis->bounds = bounds;
	qsort(bounds, nbounds, sizeof(int64), compare_times);
	for (int i = 0; i < nbounds; i++)
		if (scd2_time_is_finite(dim, bounds[i]) && (n == 0 || bounds[n - 1] != bounds[i]))
			bounds[n++] = bounds[i];
	axis->nbounds = n;
	for (int i = 0; i < n; i++)
		axis->precision = Max(axis->precision, precision_of(dim, bounds[i]));

	/* the difference of two times may be more than int64 holds */
	lengths = palloc((n + 1) * sizeof(double));
	for (int i = 0; i < n - 1; i++)
		lengths[i] = (double) ((uint64) bounds[i + 1] - (uint64) bounds[i]);
	axis->shortened = palloc0((n + 1) * sizeof(bool));
	find_long_stretches(axis, lengths, Max(n - 1, 0));

	for (int i = 0; i < n - 1; i++)
		linear += axis->shortened[i] ? 0 : lengths[i];
	part = axis->nshortened == 0 ? 0 :
		room * Min(SHORT_PART, SHORT_PARTS / axis->nshortened);
	axis->scale = linear / (room - part * axis->nshortened);
	axis->places = palloc((n + 1) * sizeof(double));
	for (int i = 0; i < n; i++)
	{
		axis->places[i] = place;
		if (i < n - 1)
			place += axis->shortened[i] ? part : lengths[i] / axis->scale;
	}
	pfree(lengths);
	return axis;
}

/*
 * The last bound not after "t", which is not before the first one.
 */
static int
find_bound(const Scd2TimeAxis *axis, int64 t)
{
	int			low = 0;
	int			high = axis->nbounds;

	while (high - low > 1)
	{
		int			middle = (low + high) / 2;

		if (axis->bounds[middle] <= t)
			low = middle;
		else
			high = middle;
	}
	return low;
}

double
scd2_time_place(const Scd2TimeAxis *axis, int64 t)
{
	if (!scd2_time_is_finite(axis->dim, t))
		return t < 0 ? 0.0 : 1.0;
	return axis->places[find_bound(axis, t)];
}

/* ----------------------------------------------------------------
 * Marks
 * ----------------------------------------------------------------
 */

typedef enum StepUnit
{
	STEP_SECONDS,
	STEP_DAYS,
	STEP_MONTHS
} StepUnit;

typedef struct Step
{
	StepUnit	unit;
	int			n;
} Step;

static const Step steps[] = {
	{STEP_SECONDS, 1}, {STEP_SECONDS, 5}, {STEP_SECONDS, 15}, {STEP_SECONDS, 30},
	{STEP_SECONDS, 60}, {STEP_SECONDS, 300}, {STEP_SECONDS, 900}, {STEP_SECONDS, 1800},
	{STEP_SECONDS, 3600}, {STEP_SECONDS, 10800}, {STEP_SECONDS, 21600}, {STEP_SECONDS, 43200},
	{STEP_DAYS, 1}, {STEP_DAYS, 2}, {STEP_DAYS, 4}, {STEP_DAYS, 7}, {STEP_DAYS, 14},
	{STEP_MONTHS, 1}, {STEP_MONTHS, 2}, {STEP_MONTHS, 3}, {STEP_MONTHS, 6},
	{STEP_MONTHS, 12}, {STEP_MONTHS, 24}, {STEP_MONTHS, 60}, {STEP_MONTHS, 120},
	{STEP_MONTHS, 240}, {STEP_MONTHS, 600}, {STEP_MONTHS, 1200}, {STEP_MONTHS, 6000},
	{STEP_MONTHS, 12000}, {STEP_MONTHS, 120000}, {STEP_MONTHS, 1200000}, {STEP_MONTHS, 12000000}
};

static double
step_seconds(const Step *step)
{
	return step->unit == STEP_SECONDS ? step->n :
		step->unit == STEP_DAYS ? (double) step->n * SECS_PER_DAY :
		step->n * (365.2425 / 12) * SECS_PER_DAY;
}

static int
step_label_cells(const Step *step)
{
	return step->unit == STEP_SECONDS ? (step->n < 60 ? 8 : 5) :
		step->unit == STEP_DAYS ? 10 : step->n < 12 ? 7 : 4;
}

/* A place in the calendar, as the steps count. */
typedef struct CalendarPlace
{
	int64		day;			/* Julian; -1: before all */
	int			second;
	int			month;			/* since the year 0 */
} CalendarPlace;

static int64
first_of_month(int month)
{
	int			year = month >= 0 ? month / MONTHS_PER_YEAR :
		-((MONTHS_PER_YEAR - 1 - month) / MONTHS_PER_YEAR);

	if (year < JULIAN_MINYEAR)
		return -1;
	if (year >= JULIAN_MAXYEAR)
		return DATE_END_JULIAN;
	return date2j(year, month - year * MONTHS_PER_YEAR + 1, 1);
}

/*
 * The last step not after "t".
 */
static void
step_before(const Scd2Dimension *dim, const Step *step, int64 t, CalendarPlace *place)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			zone;

	to_wall(dim, t, &tm, &fsec, &zone);
	place->day = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday);
	place->second = 0;
	place->month = tm.tm_year * MONTHS_PER_YEAR + tm.tm_mon - 1;
	if (step->unit == STEP_SECONDS)
	{
		place->second = tm.tm_hour * SECS_PER_HOUR + tm.tm_min * SECS_PER_MINUTE + tm.tm_sec;
		place->second -= place->second % step->n;
	}
	else if (step->unit == STEP_DAYS)
		place->day -= place->day % step->n;
	else
	{
		place->month -= ((place->month % step->n) + step->n) % step->n;
		place->day = first_of_month(place->month);
	}
}

static void
next_step(const Step *step, CalendarPlace *place)
{
	if (step->unit == STEP_SECONDS)
	{
		place->second += step->n;
		place->day += place->second / SECS_PER_DAY;
		place->second %= SECS_PER_DAY;
	}
	else if (step->unit == STEP_DAYS)
		place->day += step->n;
	else
	{
		place->month += step->n;
		place->day = first_of_month(place->month);
	}
}

static char *
step_label(const Step *step, const CalendarPlace *place)
{
	StringInfoData buf;
	int			year;
	int			month;
	int			day;

	j2date((int) place->day, &year, &month, &day);
	initStringInfo(&buf);
	if (step->unit == STEP_SECONDS && place->second == 0)
		appendStringInfo(&buf, "%02d-%02d", month, day);
	else if (step->unit == STEP_SECONDS)
	{
		appendStringInfo(&buf, "%02d:%02d", place->second / SECS_PER_HOUR,
						 place->second / SECS_PER_MINUTE % MINS_PER_HOUR);
		if (step->n < SECS_PER_MINUTE)
			appendStringInfo(&buf, ":%02d", place->second % SECS_PER_MINUTE);
	}
	else
	{
		append_year(&buf, year);
		if (step->unit == STEP_DAYS)
			appendStringInfo(&buf, "-%02d-%02d", month, day);
		else if (step->n < MONTHS_PER_YEAR)
			appendStringInfo(&buf, "-%02d", month);
		append_era(&buf, year);
	}
	return buf.data;
}

/*
 * The finest step whose labels have room, or NULL.  Where versions begin at midnight
 * the days are fine enough.
 */
static const Step *
choose_step(const Scd2TimeAxis *axis, int cells)
{
	double		seconds_per_cell = axis->scale / units_per_second(axis->dim) / cells;

	for (int i = 0; i < lengthof(steps); i++)
	{
		if (axis->precision == TO_DAY && steps[i].unit == STEP_SECONDS)
			continue;
		if (step_seconds(&steps[i]) >= (step_label_cells(&steps[i]) + 2) * seconds_per_cell)
			return &steps[i];
	}
	return NULL;
}

typedef struct TickList
{
	Scd2Tick   *ticks;
	int			n;
	int			allocated;
} TickList;

static void
add_tick(TickList *list, double place, char *label)
{
	if (list->n == list->allocated)
	{
		list->allocated = list->n == 0 ? 16 : 2 * list->n;
		list->ticks = list->n == 0 ? palloc(list->allocated * sizeof(Scd2Tick)) :
			repalloc(list->ticks, list->allocated * sizeof(Scd2Tick));
	}
	list->ticks[list->n].place = place;
	list->ticks[list->n++].label = label;
}

/*
 * Marks from one bound to another, between which nothing is shortened.
 */
static void
add_ticks(TickList *list, const Scd2TimeAxis *axis, const Step *step, int first, int last)
{
	CalendarPlace place;
	CalendarPlace end;

	step_before(axis->dim, step, axis->bounds[last], &end);
	for (step_before(axis->dim, step, axis->bounds[first], &place);
		 place.day < end.day || (place.day == end.day && place.second <= end.second);
		 next_step(step, &place))
	{
		int64		t;

		CHECK_FOR_INTERRUPTS();
		if (from_wall(axis->dim, place.day, place.second, &t) &&
			t >= axis->bounds[first] && t <= axis->bounds[last])
			add_tick(list, axis->places[first] +
					 (double) ((uint64) t - (uint64) axis->bounds[first]) / axis->scale,
					 step_label(step, &place));
	}
}

/*
 * Marks; see timeaxis.h.  The beginning is marked where the calendar marks
 * nothing, and before a shortened stretch.
 */
Scd2Tick *
scd2_time_ticks(const Scd2TimeAxis *axis, int cells, int *nticks)
{
	const Step *step = axis->scale > 0 ? choose_step(axis, cells) : NULL;
	TickList	list = {0};

	if (axis->nbounds > 0 && axis->shortened[0])
		add_tick(&list, 0, scd2_time_label(axis, axis->bounds[0]));
	for (int first = 0; step != NULL && first < axis->nbounds - 1;)
	{
		int			last = first;

		while (last < axis->nbounds - 1 && !axis->shortened[last])
			last++;
		if (last > first)
			add_ticks(&list, axis, step, first, last);
		first = Max(last, first + 1);
	}
	if (list.n == 0 && axis->nbounds > 0)
		add_tick(&list, 0, scd2_time_label(axis, axis->bounds[0]));
	*nticks = list.n;
	return list.ticks;
}
