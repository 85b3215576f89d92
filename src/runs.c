/*-------------------------------------------------------------------------
 *
 * runs.c
 *	  What earlier runs of a dimension were, and which of them were undone.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "runs.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "spi.h"

/*
 * Undone runs; see runs.h.
 */
Datum
scd2_runs_undone(const Scd2Dimension *dim, TimestampTz known_at)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, TIMESTAMPTZOID};
	Datum		values[] = {Int32GetDatum(dim->id), TimestampTzGetDatum(known_at)};
	MemoryContext cxt = CurrentMemoryContext;
	Datum		result = (Datum) 0;
	Datum		found;
	bool		isnull;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_cached("undone runs", &plan,
						   "SELECT pg_catalog.array_agg(r.id ORDER BY r.id)"
						   " FROM scd2.registry_run r"
						   " JOIN scd2.registry_run u ON u.id = r.undone_by"
						   " WHERE r.dimension_id = $1 AND u.recorded_at <= $2",
						   2, types, values, NULL, true);
	found = scd2_spi_value(0, 1, &isnull);
	if (!isnull)
	{
		MemoryContext oldcxt = MemoryContextSwitchTo(cxt);

		result = datumCopy(found, false, -1);
		MemoryContextSwitchTo(oldcxt);
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
	return result;
}

/*
 * One more undone run; see runs.h.
 */
Datum
scd2_runs_undone_and(Datum undone, int64 run_id)
{
	Datum	   *elements = NULL;
	Datum	   *all;
	int			n = 0;

	if (undone != (Datum) 0)
		deconstruct_array(DatumGetArrayTypeP(undone), INT8OID, sizeof(int64),
						  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, NULL, &n);
	all = palloc((n + 1) * sizeof(Datum));
	if (n > 0)
		memcpy(all, elements, n * sizeof(Datum));
	all[n] = Int64GetDatum(run_id);
	return PointerGetDatum(construct_array(all, n + 1, INT8OID, sizeof(int64),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * A list of runs; see runs.h.
 */
Scd2RunSet
scd2_runs_set(Datum runs)
{
	Scd2RunSet	set = {0};
	ArrayType  *array;

	if (runs == (Datum) 0)
		return set;
	array = DatumGetArrayTypeP(runs);
	set.n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	set.ids = (int64 *) ARR_DATA_PTR(array);
	return set;
}

/*
 * Is the run among them?
 */
bool
scd2_runs_has(const Scd2RunSet *set, int64 run_id)
{
	int			low = 0;
	int			high = set->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (set->ids[middle] == run_id)
			return true;
		if (set->ids[middle] < run_id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/*
 * What lies between two runs; see runs.h.
 */
void
scd2_runs_span(const Scd2Dimension *dim, int64 after_run, int64 until_run,
			   Scd2RunSpan *span)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, INT8OID, INT8OID};
	Datum		values[] = {Int32GetDatum(dim->id), Int64GetDatum(after_run),
	Int64GetDatum(until_run)};
	bool		isnull;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_cached("runs between", &plan,
						   "SELECT coalesce(max(r.recorded_at) FILTER (WHERE r.id <= $2), '-infinity'),"
						   " coalesce(max(r.recorded_at) FILTER (WHERE r.id <= $3), '-infinity'),"
						   " coalesce(bool_or(r.id = $2), false), coalesce(bool_or(r.id = $3), false),"
						   " coalesce(min(r.id) FILTER (WHERE r.action = 'alter' AND r.id > $2), 0)"
						   " FROM scd2.registry_run r WHERE r.dimension_id = $1",
						   3, types, values, NULL, true);
	span->after = DatumGetTimestampTz(scd2_spi_value(0, 1, &isnull));
	span->until = DatumGetTimestampTz(scd2_spi_value(0, 2, &isnull));
	span->has_first = DatumGetBool(scd2_spi_value(0, 3, &isnull));
	span->has_second = DatumGetBool(scd2_spi_value(0, 4, &isnull));
	span->altered = DatumGetInt64(scd2_spi_value(0, 5, &isnull));
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * The next snapshot; see runs.h.
 */
bool
scd2_runs_next_snapshot(const Scd2Dimension *dim, TimestampTz after,
						int64 run_id, const char *scope,
						TimestampTz *batch_time, int64 *next_id)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, TIMESTAMPTZOID, TEXTOID, INT8OID};
	Datum		values[] = {Int32GetDatum(dim->id), TimestampTzGetDatum(after),
		scope == NULL ? (Datum) 0 : CStringGetTextDatum(scope),
	Int64GetDatum(run_id)};
	bool		nulls[] = {false, false, scope == NULL, run_id == 0};
	bool		found;
	bool		isnull;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	found = scd2_spi_cached("next snapshot", &plan,
							"SELECT r.batch_time, r.id FROM scd2.registry_run r"
						   " WHERE r.dimension_id = $1 AND r.action = 'apply'"
						   " AND r.undone_by IS NULL"
						   " AND (r.batch_time > $2 OR (r.batch_time = $2 AND r.id > $4))"
						   " AND (r.scope IS NULL OR r.scope = $3)"
						   " ORDER BY r.batch_time, r.id LIMIT 1",
						   4, types, values, nulls, true) > 0;
	if (found)
	{
		*batch_time = DatumGetTimestampTz(scd2_spi_value(0, 1, &isnull));
		*next_id = DatumGetInt64(scd2_spi_value(0, 2, &isnull));
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
	return found;
}

/*
 * Inferred members are made by runs of resolve, and opened by nothing else.
 */
bool
scd2_runs_have_inferred(const Scd2Dimension *dim)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[] = {Int32GetDatum(dim->id)};
	bool		found;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	found = scd2_spi_cached("look for inferred members", &plan,
							"SELECT FROM scd2.registry_run r WHERE r.dimension_id = $1"
							" AND r.action = 'resolve' AND r.versions_opened > 0 LIMIT 1",
							1, types, values, NULL, true) > 0;
	scd2_spi_end();
	scd2_rights_leave(&save);
	return found;
}

/*
 * A run; see runs.h.
 */
bool
scd2_runs_find(const Scd2Dimension *dim, int64 run_id, Scd2PastRun *run)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID, INT8OID};
	Datum		values[] = {Int32GetDatum(dim->id), Int64GetDatum(run_id)};
	MemoryContext cxt = CurrentMemoryContext;
	bool		found;
	bool		isnull;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	found = scd2_spi_cached("find run", &plan,
							"SELECT r.action, r.undone_by IS NOT NULL, r.batch_time, r.scope,"
							" NOT EXISTS (SELECT FROM scd2.registry_run l"
							" WHERE l.dimension_id = r.dimension_id AND l.id > r.id"
							" AND l.action IN ('apply', 'retry') AND l.undone_by IS NULL)"
							" FROM scd2.registry_run r WHERE r.dimension_id = $1 AND r.id = $2",
							2, types, values, NULL, true) > 0;
	if (found)
	{
		run->action = scd2_spi_text(0, 1, cxt);
		run->is_undone = DatumGetBool(scd2_spi_value(0, 2, &isnull));
		run->batch_time = DatumGetTimestampTz(scd2_spi_value(0, 3, &isnull));
		run->has_batch_time = !isnull;
		run->scope = scd2_spi_text(0, 4, cxt);
		run->is_last = DatumGetBool(scd2_spi_value(0, 5, &isnull));
	}
	scd2_spi_end();
	scd2_rights_leave(&save);
	return found;
}

/*
 * Mark a run undone; see runs.h.
 */
void
scd2_runs_mark_undone(const Scd2Dimension *dim, int64 run_id, int64 undone_by)
{
	static SPIPlanPtr mark_plan = NULL;
	static SPIPlanPtr lock_plan = NULL;
	const Oid	types[] = {INT4OID, INT8OID, INT8OID};
	Datum		values[] = {Int32GetDatum(dim->id), Int64GetDatum(run_id),
	Int64GetDatum(undone_by)};
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) scd2_spi_cached("mark undone", &mark_plan,
						   "UPDATE scd2.registry_run SET undone_by = $3"
						   " WHERE dimension_id = $1 AND id = $2",
						   3, types, values, NULL, false);
	(void) scd2_spi_cached("mark undone", &lock_plan,
						   "UPDATE scd2.registry_lock SET last_batch_time ="
						   " (SELECT max(r.batch_time) FROM scd2.registry_run r"
						   " WHERE r.dimension_id = $1 AND r.undone_by IS NULL)"
						   " WHERE dimension_id = $1",
						   1, types, values, NULL, false);
	scd2_spi_end();
	scd2_rights_leave(&save);
}
