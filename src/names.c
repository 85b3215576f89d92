/*-------------------------------------------------------------------------
 *
 * names.c
 *	  The registry's names, which are dumped, and its cache of OIDs, which is
 *	  not: each found from the other (R4).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "names.h"
#include "registry.h"
#include "spi.h"

#include "catalog/pg_type.h"

static uint64
run(const char *step, const char *sql)
{
	return scd2_spi_run(step, sql, 0, NULL, NULL, NULL);
}

/*
 * Cache where the names of facts lead.  A link whose table or columns are not
 * there, because a dump left them out, is none.
 */
static void
resolve_facts(void)
{
	static SPIPlanPtr plan = NULL;

	if (scd2_spi_cached("look for uncached facts", &plan,
						"SELECT FROM scd2.registry_fact f WHERE NOT EXISTS"
						" (SELECT FROM scd2.registry_cache_fact k WHERE k.fact_id = f.id) LIMIT 1",
						0, NULL, NULL, NULL, false) == 0)
		return;
	(void) run("cache facts",
			   "INSERT INTO scd2.registry_cache_fact"
			   " (fact_id, fact, surrogate_key, event_time, key_columns) "
			   "SELECT f.id, c.oid, s.attnum, e.attnum, b.attnums "
			   "FROM scd2.registry_fact f "
			   "JOIN pg_catalog.pg_namespace n ON n.nspname = f.schema_name "
			   "JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid"
			   " AND c.relname = f.table_name AND c.relkind IN ('r', 'p') "
			   "JOIN pg_catalog.pg_attribute s ON s.attrelid = c.oid"
			   " AND s.attname = f.surrogate_key AND NOT s.attisdropped "
			   "JOIN pg_catalog.pg_attribute e ON e.attrelid = c.oid"
			   " AND e.attname = f.event_time AND NOT e.attisdropped "
			   "JOIN LATERAL (SELECT pg_catalog.array_agg(a.attnum ORDER BY u.o) AS attnums"
			   " FROM pg_catalog.unnest(f.key_columns) WITH ORDINALITY u(name, o)"
			   " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid"
			   " AND a.attname = u.name AND NOT a.attisdropped) b"
			   " ON pg_catalog.cardinality(b.attnums) = pg_catalog.cardinality(f.key_columns) "
			   "ON CONFLICT DO NOTHING");
	(void) run("forget lost facts",
			   "DELETE FROM scd2.registry_fact f WHERE NOT EXISTS"
			   " (SELECT FROM scd2.registry_cache_fact k WHERE k.fact_id = f.id)");
}

/*
 * Cache where names lead; see names.h.
 */
void
scd2_names_resolve(void)
{
	static SPIPlanPtr uncached_plan = NULL;
	static SPIPlanPtr source_plan = NULL;
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();

	if (scd2_spi_cached("look for uncached dimensions", &uncached_plan,
						"SELECT FROM scd2.registry_dimension d WHERE NOT EXISTS"
						" (SELECT FROM scd2.registry_cache k WHERE k.dimension_id = d.id) LIMIT 1",
						0, NULL, NULL, NULL, false) > 0)
	{
		/*
		 * A registered dimension comes before a kept one of the same name.
		 * Another session may be at it, too: what it caches stands.  Log,
		 * history and views are the dimension owner's: else somebody took the name of one
		 * that was dropped, and follow_owners would take his table from him.
		 */
		(void) run("cache relations",
				   "INSERT INTO scd2.registry_cache"
				   " (dimension_id, relation, log, source, view, history, versions, source_types) "
				   "SELECT r.dimension_id,"
				   " CASE WHEN r.relation IS NOT NULL AND NOT EXISTS"
				   " (SELECT FROM scd2.registry_cache o WHERE o.relation = r.relation)"
				   " AND pg_catalog.row_number() OVER (PARTITION BY r.relation"
				   " ORDER BY r.state DESC, r.dimension_id DESC) = 1 THEN r.relation END,"
				   " CASE WHEN c.oid IS NULL OR l.relowner = c.relowner THEN r.log END,"
				   " CASE WHEN d.source_schema <> 'pg_temp' THEN r.source END,"
				   " CASE WHEN c.oid IS NULL OR v.relowner = c.relowner THEN r.view END,"
				   " CASE WHEN c.oid IS NULL OR h.relowner = c.relowner THEN r.history END,"
				   " CASE WHEN c.oid IS NULL OR w.relowner = c.relowner THEN r.versions END,"
				   " ARRAY(SELECT pg_catalog.to_regtype(u.t)"
				   " FROM pg_catalog.unnest(d.source_types) WITH ORDINALITY u(t, o) ORDER BY u.o) "
				   "FROM scd2.registry_resolved r "
				   "JOIN scd2.registry_dimension d ON d.id = r.dimension_id "
				   "LEFT JOIN pg_catalog.pg_class c ON c.oid = r.relation "
				   "LEFT JOIN pg_catalog.pg_class l ON l.oid = r.log "
				   "LEFT JOIN pg_catalog.pg_class v ON v.oid = r.view "
				   "LEFT JOIN pg_catalog.pg_class h ON h.oid = r.history "
				   "LEFT JOIN pg_catalog.pg_class w ON w.oid = r.versions "
				   "WHERE NOT r.is_cached ON CONFLICT DO NOTHING");
		(void) run("cache columns",
				   "INSERT INTO scd2.registry_cache_column"
				   " (dimension_id, column_id, attnum, log_attnum, history_attnum, registered_type) "
				   "SELECT c.dimension_id, c.column_id, a.attnum, l.attnum, h.attnum,"
				   " pg_catalog.to_regtype(c.registered_type) "
				   "FROM scd2.registry_column c "
				   "JOIN scd2.registry_cache k ON k.dimension_id = c.dimension_id "
				   "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = k.relation"
				   " AND a.attname = c.column_name AND NOT a.attisdropped "
				   "LEFT JOIN pg_catalog.pg_attribute l ON l.attrelid = k.log"
				   " AND l.attname = c.log_column AND NOT l.attisdropped "
				   "LEFT JOIN pg_catalog.pg_attribute h ON h.attrelid = k.history"
				   " AND h.attname = c.history_column AND NOT h.attisdropped "
				   "WHERE NOT EXISTS (SELECT FROM scd2.registry_cache_column o"
				   " WHERE o.dimension_id = c.dimension_id AND o.column_id = c.column_id)"
				   " ON CONFLICT DO NOTHING");

		/* a table that takes the name later is not the dimension (R3) */
		(void) run("mark lost dimensions",
				   "UPDATE scd2.registry_dimension d SET state = 'gone' "
				   "FROM scd2.registry_cache k "
				   "WHERE k.dimension_id = d.id AND k.relation IS NULL AND d.state <> 'gone'");
	}

	/* a source made again under its name is followed from now on */
	(void) scd2_spi_cached("look for sources", &source_plan,
						   "UPDATE scd2.registry_cache k SET source = r.source "
						   "FROM scd2.registry_resolved r "
						   "JOIN scd2.registry_dimension d ON d.id = r.dimension_id "
						   "WHERE r.dimension_id = k.dimension_id"
						   " AND r.source IS NOT NULL AND d.source_schema <> 'pg_temp'"
						   " AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = k.source)",
						   0, NULL, NULL, NULL, false);
	resolve_facts();

	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Forget dimensions that are gone, once neither a kept log nor a run refers to
 * them, and facts that have lost their dimension, their table or a column.
 */
void
scd2_names_sweep(void)
{
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) run("sweep",
			   "WITH d AS (DELETE FROM scd2.registry_dimension d USING scd2.registry_cache k"
			   " WHERE k.dimension_id = d.id AND d.state = 'gone'"
			   " AND k.relation IS NULL AND k.log IS NULL"
			   " AND NOT EXISTS (SELECT FROM scd2.registry_run u WHERE u.dimension_id = d.id)"
			   " AND NOT EXISTS (SELECT FROM scd2.registry_rejected j WHERE j.dimension_id = d.id)"
			   " RETURNING d.id),"
			   " c AS (DELETE FROM scd2.registry_column c USING d WHERE c.dimension_id = d.id),"
			   " l AS (DELETE FROM scd2.registry_lock l USING d WHERE l.dimension_id = d.id),"
			   " kc AS (DELETE FROM scd2.registry_cache_column kc USING d WHERE kc.dimension_id = d.id) "
			   "DELETE FROM scd2.registry_cache k USING d WHERE k.dimension_id = d.id");
	(void) run("sweep facts",
			   "DELETE FROM scd2.registry_fact f WHERE NOT EXISTS"
			   " (SELECT FROM scd2.registry_dimension d WHERE d.id = f.dimension_id AND d.state = 'registered')"
			   " OR EXISTS (SELECT FROM scd2.registry_cache_fact k"
			   " WHERE k.fact_id = f.id AND EXISTS"
			   " (SELECT FROM pg_catalog.unnest(k.key_columns || k.surrogate_key || k.event_time) u(attnum)"
			   " WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a"
			   " WHERE a.attrelid = k.fact AND a.attnum = u.attnum AND NOT a.attisdropped)))");
	(void) run("sweep facts",
			   "DELETE FROM scd2.registry_cache_fact k WHERE NOT EXISTS"
			   " (SELECT FROM scd2.registry_fact f WHERE f.id = k.fact_id)");
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Bring names into step with what the cache points at; see names.h.
 */
void
scd2_names_follow(void)
{
	Scd2Rights	save;

	scd2_registry_enter(&save);
	scd2_spi_begin();
	(void) run("follow dimensions",
			   "UPDATE scd2.registry_dimension d SET schema_name = n.nspname, table_name = c.relname "
			   "FROM scd2.registry_cache k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.relation "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE k.dimension_id = d.id"
			   " AND (d.schema_name <> n.nspname OR d.table_name <> c.relname)");
	(void) run("follow logs",
			   "UPDATE scd2.registry_dimension d SET log_schema = n.nspname, log_name = c.relname "
			   "FROM scd2.registry_cache k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.log "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE k.dimension_id = d.id"
			   " AND (d.log_schema <> n.nspname OR d.log_name <> c.relname)");
	(void) run("follow views",
			   "UPDATE scd2.registry_dimension d SET view_schema = n.nspname, view_name = c.relname "
			   "FROM scd2.registry_cache k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.view "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE k.dimension_id = d.id"
			   " AND (d.view_schema <> n.nspname OR d.view_name <> c.relname)");
	(void) run("follow histories",
			   "UPDATE scd2.registry_dimension d SET history_schema = n.nspname, history_name = c.relname "
			   "FROM scd2.registry_cache k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.history "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE k.dimension_id = d.id"
			   " AND (d.history_schema <> n.nspname OR d.history_name <> c.relname)");
	(void) run("follow views of versions",
			   "UPDATE scd2.registry_dimension d SET versions_schema = n.nspname, versions_name = c.relname "
			   "FROM scd2.registry_cache k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.versions "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE k.dimension_id = d.id"
			   " AND (d.versions_schema <> n.nspname OR d.versions_name <> c.relname)");
	(void) run("follow sources",
			   "UPDATE scd2.registry_dimension d SET source_schema = n.nspname, source_name = c.relname "
			   "FROM scd2.registry_cache k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.source "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "WHERE k.dimension_id = d.id"
			   " AND (d.source_schema <> n.nspname OR d.source_name <> c.relname)");
	(void) run("follow columns",
			   "UPDATE scd2.registry_column rc SET column_name = a.attname,"
			   " data_type = pg_catalog.format_type(a.atttypid, a.atttypmod) "
			   "FROM scd2.registry_cache k "
			   "JOIN scd2.registry_cache_column kc ON kc.dimension_id = k.dimension_id "
			   "JOIN pg_catalog.pg_attribute a ON a.attrelid = k.relation AND a.attnum = kc.attnum"
			   " AND NOT a.attisdropped "
			   "WHERE rc.dimension_id = kc.dimension_id AND rc.column_id = kc.column_id"
			   " AND (rc.column_name <> a.attname"
			   " OR rc.data_type <> pg_catalog.format_type(a.atttypid, a.atttypmod))");
	(void) run("follow log columns",
			   "UPDATE scd2.registry_column rc SET log_column = a.attname "
			   "FROM scd2.registry_cache k "
			   "JOIN scd2.registry_cache_column kc ON kc.dimension_id = k.dimension_id "
			   "JOIN pg_catalog.pg_attribute a ON a.attrelid = k.log AND a.attnum = kc.log_attnum"
			   " AND NOT a.attisdropped "
			   "WHERE rc.dimension_id = kc.dimension_id AND rc.column_id = kc.column_id"
			   " AND rc.log_column <> a.attname");
	(void) run("follow history columns",
			   "UPDATE scd2.registry_column rc SET history_column = a.attname "
			   "FROM scd2.registry_cache k "
			   "JOIN scd2.registry_cache_column kc ON kc.dimension_id = k.dimension_id "
			   "JOIN pg_catalog.pg_attribute a ON a.attrelid = k.history AND a.attnum = kc.history_attnum"
			   " AND NOT a.attisdropped "
			   "WHERE rc.dimension_id = kc.dimension_id AND rc.column_id = kc.column_id"
			   " AND rc.history_column <> a.attname");
	(void) run("follow key types",
			   "UPDATE scd2.registry_column rc SET registered_type = pg_catalog.format_type(t.oid, NULL) "
			   "FROM scd2.registry_cache_column kc "
			   "JOIN pg_catalog.pg_type t ON t.oid = kc.registered_type "
			   "WHERE rc.dimension_id = kc.dimension_id AND rc.column_id = kc.column_id"
			   " AND rc.registered_type <> pg_catalog.format_type(t.oid, NULL)");
	(void) run("follow source types",
			   "UPDATE scd2.registry_dimension d SET source_types = s.types "
			   "FROM scd2.registry_cache k "
			   "CROSS JOIN LATERAL (SELECT pg_catalog.array_agg(COALESCE(pg_catalog.format_type(t.oid, NULL), o.old)"
			   " ORDER BY o.n) AS types"
			   " FROM scd2.registry_dimension e"
			   " CROSS JOIN LATERAL pg_catalog.unnest(e.source_types) WITH ORDINALITY o(old, n)"
			   " LEFT JOIN pg_catalog.pg_type t ON t.oid = k.source_types[o.n]"
			   " WHERE e.id = k.dimension_id) s "
			   "WHERE k.dimension_id = d.id AND s.types IS NOT NULL AND d.source_types <> s.types");
	(void) run("follow facts",
			   "UPDATE scd2.registry_fact f SET schema_name = n.nspname, table_name = c.relname,"
			   " surrogate_key = s.attname, event_time = e.attname, key_columns = b.names "
			   "FROM scd2.registry_cache_fact k "
			   "JOIN pg_catalog.pg_class c ON c.oid = k.fact "
			   "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
			   "JOIN pg_catalog.pg_attribute s ON s.attrelid = c.oid AND s.attnum = k.surrogate_key"
			   " AND NOT s.attisdropped "
			   "JOIN pg_catalog.pg_attribute e ON e.attrelid = c.oid AND e.attnum = k.event_time"
			   " AND NOT e.attisdropped "
			   "JOIN LATERAL (SELECT pg_catalog.array_agg(a.attname::text ORDER BY u.o) AS names"
			   " FROM pg_catalog.unnest(k.key_columns) WITH ORDINALITY u(attnum, o)"
			   " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum"
			   " AND NOT a.attisdropped) b"
			   " ON pg_catalog.cardinality(b.names) = pg_catalog.cardinality(k.key_columns) "
			   "WHERE k.fact_id = f.id"
			   " AND (f.schema_name, f.table_name, f.surrogate_key, f.event_time, f.key_columns)"
			   " IS DISTINCT FROM (n.nspname, c.relname, s.attname, e.attname, b.names)");
	scd2_spi_end();
	scd2_rights_leave(&save);
}

/*
 * Mend one dimension's names and cache where DDL went by without our event
 * triggers; see names.h.
 */
void
scd2_names_mend(int32 id)
{
	static SPIPlanPtr plan = NULL;
	const Oid	types[] = {INT4OID};
	Datum		values[1];
	bool		stale;
	Scd2Rights	save;

	values[0] = Int32GetDatum(id);

	scd2_registry_enter(&save);
	scd2_spi_begin();
	stale = scd2_spi_cached("look for stale names", &plan,
							"SELECT FROM scd2.registry_dimension d "
							"LEFT JOIN scd2.registry_cache k ON k.dimension_id = d.id "
							"WHERE d.id = $1 AND (k.dimension_id IS NULL"
							" OR EXISTS (SELECT FROM pg_catalog.pg_class c"
							" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
							" WHERE c.oid IN (k.relation, k.log, k.source, k.view, k.history, k.versions) AND pg_catalog.format('%I.%I', n.nspname, c.relname) <>"
							" CASE c.oid WHEN k.relation THEN pg_catalog.format('%I.%I', d.schema_name, d.table_name)"
							" WHEN k.log THEN pg_catalog.format('%I.%I', d.log_schema, d.log_name)"
							" WHEN k.view THEN pg_catalog.format('%I.%I', d.view_schema, d.view_name)"
							" WHEN k.history THEN pg_catalog.format('%I.%I', d.history_schema, d.history_name)"
							" WHEN k.versions THEN pg_catalog.format('%I.%I', d.versions_schema, d.versions_name)"
							" ELSE pg_catalog.format('%I.%I', d.source_schema, d.source_name) END)"
							" OR EXISTS (SELECT FROM scd2.registry_column rc"
							" JOIN scd2.registry_cache_column kc"
							" ON kc.dimension_id = rc.dimension_id AND kc.column_id = rc.column_id"
							" LEFT JOIN pg_catalog.pg_attribute a"
							" ON a.attrelid = k.relation AND a.attnum = kc.attnum"
							" LEFT JOIN pg_catalog.pg_attribute l"
							" ON l.attrelid = k.log AND l.attnum = kc.log_attnum"
							" LEFT JOIN pg_catalog.pg_attribute h"
							" ON h.attrelid = k.history AND h.attnum = kc.history_attnum"
							" WHERE rc.dimension_id = d.id"
							" AND (rc.column_name <> a.attname OR rc.log_column <> l.attname"
							" OR rc.history_column <> h.attname))"
							" OR EXISTS (SELECT FROM scd2.registry_fact f"
							" LEFT JOIN scd2.registry_cache_fact kf ON kf.fact_id = f.id"
							" LEFT JOIN pg_catalog.pg_class fc ON fc.oid = kf.fact"
							" LEFT JOIN pg_catalog.pg_namespace fn ON fn.oid = fc.relnamespace"
							" WHERE f.dimension_id = d.id"
							" AND ((fn.nspname, fc.relname) IS DISTINCT FROM (f.schema_name, f.table_name)"
							" OR f.key_columns || f.surrogate_key || f.event_time IS DISTINCT FROM"
							" (SELECT pg_catalog.array_agg(a.attname::text ORDER BY u.o)"
							" FROM pg_catalog.unnest(kf.key_columns || kf.surrogate_key || kf.event_time)"
							" WITH ORDINALITY u(attnum, o)"
							" JOIN pg_catalog.pg_attribute a ON a.attrelid = kf.fact"
							" AND a.attnum = u.attnum AND NOT a.attisdropped))))",
							1, types, values, NULL, false) > 0;
	scd2_spi_end();
	scd2_rights_leave(&save);

	if (stale)
	{
		scd2_names_resolve();
		scd2_names_follow();
		scd2_names_sweep();
	}
}
