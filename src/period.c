/*-------------------------------------------------------------------------
 *
 * period.c
 *	  Values of a dimension's period: its bounds, its time zone.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "period.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/*
 * The type that an option's value names.
 */
Oid
scd2_period_type(const char *name)
{
	if (strcmp(name, "timestamptz") == 0)
		return TIMESTAMPTZOID;
	if (strcmp(name, "timestamp") == 0)
		return TIMESTAMPOID;
	if (strcmp(name, "date") == 0)
		return DATEOID;
	return InvalidOid;
}

/*
 * Read a period's value under fixed settings.
 */
Datum
scd2_period_in(const char *text, Oid period_type, const char *time_zone)
{
	Oid			input;
	Oid			ioparam;
	int			guc_level = NewGUCNestLevel();
	Datum		value;

	(void) set_config_option("DateStyle", "ISO, YMD", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	(void) set_config_option("TimeZone", time_zone, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	getTypeInputInfo(period_type, &input, &ioparam);
	value = OidInputFunctionCall(input, unconstify(char *, text), ioparam, -1);
	AtEOXact_GUC(false, guc_level);

	return value;
}

/*
 * The valid_to of open versions.
 */
bool
scd2_period_open_end(const char *open_end, Oid period_type,
					 const char *time_zone, Datum *value)
{
	if (strcmp(open_end, "null") == 0)
	{
		*value = (Datum) 0;
		return false;
	}

	if (strcmp(open_end, "infinity") == 0)
	{
		if (period_type == DATEOID)
			*value = DateADTGetDatum(DATEVAL_NOEND);
		else
			*value = TimestampGetDatum(DT_NOEND);
		return true;
	}

	/* no settings to change: this is read often, in every load */
	if (period_type == DATEOID)
		*value = DateADTGetDatum(date2j(9999, 12, 31) - POSTGRES_EPOCH_JDATE);
	else
	{
		Timestamp	midnight = (Timestamp)
			(date2j(9999, 12, 31) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;

		*value = TimestampGetDatum(midnight);
		if (period_type == TIMESTAMPTZOID)
			*value = DirectFunctionCall2(timestamp_zone,
										 CStringGetTextDatum(time_zone), *value);
	}
	return true;
}

/*
 * Neither infinity nor -infinity?
 */
bool
scd2_period_is_finite(Datum value, Oid period_type)
{
	if (period_type == DATEOID)
		return !DATE_NOT_FINITE(DatumGetDateADT(value));
	return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
}

/*
 * Compare two values of a period's type.
 */
int
scd2_period_cmp(Datum a, Datum b, Oid period_type)
{
	if (period_type == DATEOID)
	{
		DateADT		x = DatumGetDateADT(a);
		DateADT		y = DatumGetDateADT(b);

		return (x > y) - (x < y);
	}
	else
	{
		Timestamp	x = DatumGetTimestamp(a);
		Timestamp	y = DatumGetTimestamp(b);

		return (x > y) - (x < y);
	}
}

/*
 * Only names of the time zone database and POSIX specifications count: what an
 * abbreviation means depends on a setting.
 */
bool
scd2_zone_is_known(const char *time_zone)
{
	pg_tz	   *zone;

	if (time_zone[0] == '\0' || strlen(time_zone) > TZ_STRLEN_MAX)
		return false;
	zone = pg_tzset(time_zone);
	return zone != NULL && pg_tz_acceptable(zone);
}

/*
 * One offset for all times?
 */
bool
scd2_zone_is_fixed(const char *time_zone)
{
	pg_tz	   *zone = pg_tzset(time_zone);
	long int	offset;

	return zone != NULL && pg_get_timezone_offset(zone, &offset);
}

/*
 * No change of the offset since 1970?  Older ones, from local mean time above
 * all, nobody's data depends on.
 */
bool
scd2_zone_is_steady(const char *time_zone)
{
	pg_tz	   *zone = pg_tzset(time_zone);
	pg_time_t	at = 0;

	if (zone == NULL)
		return false;

	for (;;)
	{
		long int	before_offset;
		long int	after_offset;
		int			before_isdst;
		int			after_isdst;
		pg_time_t	boundary;

		if (pg_next_dst_boundary(&at, &before_offset, &before_isdst, &boundary,
								 &after_offset, &after_isdst, zone) <= 0)
			return true;
		if (before_offset != after_offset)
			return false;
		at = boundary;
	}
}
