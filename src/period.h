/*-------------------------------------------------------------------------
 *
 * period.h
 *	  Values of a dimension's period: its bounds, its time zone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef SCD2_PERIOD_H
#define SCD2_PERIOD_H

/*
 * The valid_to of open versions as a value of "period_type"; false: it is
 * null.  "open_end" is one of 9999-12-31 (midnight in "time_zone"), infinity
 * and null.
 */
extern bool scd2_period_open_end(const char *open_end, Oid period_type,
								 const char *time_zone, Datum *value);

/*
 * Read "text" as a value of "period_type", wall times being those of
 * "time_zone", whatever the session's settings are.
 */
extern Datum scd2_period_in(const char *text, Oid period_type,
							const char *time_zone);

/* Is a value of a period's type finite?  And -1, 0, 1 as a is before b. */
extern bool scd2_period_is_finite(Datum value, Oid period_type);
extern int	scd2_period_cmp(Datum a, Datum b, Oid period_type);

/* timestamptz, timestamp or date as the option says it; InvalidOid: none of them. */
extern Oid	scd2_period_type(const char *name);

/* Is it the name of a time zone? */
extern bool scd2_zone_is_known(const char *time_zone);

/* Has its offset always been the same? */
extern bool scd2_zone_is_fixed(const char *time_zone);

/* Has its offset been the same since 1970, and will it be? */
extern bool scd2_zone_is_steady(const char *time_zone);

#endif							/* SCD2_PERIOD_H */
