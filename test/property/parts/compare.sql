-- How a dimension of scd2, its log and its checks agree with the oracle; used by
-- test/property/parts/apply.  Every row returned is a disagreement.

-- What a dimension is called and calls its columns, and how its open end looks.
CREATE TABLE oracle.target (
	dim text PRIMARY KEY,
	relation text NOT NULL,
	surrogate_key text NOT NULL,
	valid_from text NOT NULL,
	valid_to text NOT NULL,
	is_current text NOT NULL,
	is_deleted text,
	row_hash text,
	open_end text NOT NULL,
	unknown_member boolean NOT NULL,
	has_log boolean NOT NULL
);

-- The relation that shows all versions.
CREATE FUNCTION oracle.all_versions(t oracle.target) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT t.relation || CASE WHEN l.history IS NULL THEN '' ELSE '_versions' END
	  FROM scd2.dimensions l WHERE dimension = t.relation::regclass
$$;

-- A time of the period's type as the oracle has it.
CREATE FUNCTION oracle.plain(at timestamptz) RETURNS timestamp LANGUAGE sql IMMUTABLE AS
	$$ SELECT at AT TIME ZONE 'UTC' $$;
CREATE FUNCTION oracle.plain(at timestamp) RETURNS timestamp LANGUAGE sql IMMUTABLE AS
	$$ SELECT at $$;
CREATE FUNCTION oracle.plain(at date) RETURNS timestamp LANGUAGE sql IMMUTABLE AS
	$$ SELECT at::timestamp $$;

-- What the functions below compare; tables of the session's own would cost more
-- than all the rest.
CREATE TABLE oracle.actual (k jsonb, attrs jsonb, valid_from timestamp, valid_to timestamp,
							is_current boolean, is_deleted boolean);
CREATE TABLE oracle.log_now (line jsonb, deleted boolean, k jsonb, e timestamp, attrs jsonb);
CREATE TABLE oracle.log_seen (dim text, line jsonb);

CREATE FUNCTION oracle.dimension_differs(of_dim text) RETURNS SETOF text
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	d oracle.dimension;
	t oracle.target;
	n bigint;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	DELETE FROM oracle.actual;
	EXECUTE format('INSERT INTO oracle.actual
		SELECT oracle.part(o, $1) AS k, o - $1 - $2 AS attrs, valid_from,
			   CASE WHEN valid_to IS DISTINCT FROM $3 THEN coalesce(valid_to, ''-infinity'') END AS valid_to,
			   is_current, is_deleted
		FROM (SELECT to_jsonb(x) AS o, oracle.plain(%I) AS valid_from, oracle.plain(%I) AS valid_to,
					 %I AS is_current, %s AS is_deleted FROM %s AS x WHERE %I IS NOT NULL) AS x',
			t.valid_from, t.valid_to, t.is_current, coalesce(quote_ident(t.is_deleted), 'false'),
			oracle.all_versions(t), d.keys[1])
		USING d.keys,
			  array_remove(ARRAY[t.surrogate_key, t.valid_from, t.valid_to, t.is_current, t.is_deleted, t.row_hash], NULL),
			  CASE t.open_end WHEN 'null' THEN NULL WHEN 'infinity' THEN 'infinity'
			  ELSE oracle.to_period(d, t.open_end, 'timestamp') END;
	RETURN QUERY
		WITH wanted AS MATERIALIZED (SELECT * FROM oracle.versions(of_dim)),
		actual AS MATERIALIZED (SELECT * FROM oracle.actual)
		SELECT 'missing ' || x::text FROM (TABLE wanted EXCEPT TABLE actual) AS x
		UNION ALL
		SELECT 'wrong   ' || x::text FROM (TABLE actual EXCEPT ALL TABLE wanted) AS x;

	EXECUTE format('SELECT count(*) FROM %s WHERE %I IS NULL', t.relation, d.keys[1]) INTO n;
	IF n <> t.unknown_member::int THEN
		RETURN NEXT format('%s unknown members', n);
	END IF;
END $$;

-- The log is whole (R20), and append-only: what a call before saw is still there, the
-- very same tuples.
CREATE FUNCTION oracle.log_differs(of_dim text) RETURNS SETOF text
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
	d oracle.dimension;
	t oracle.target;
	log text;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	IF NOT t.has_log THEN
		RETURN;
	END IF;
	SELECT l.log INTO log FROM scd2.dimensions l WHERE dimension = t.relation::regclass;
	DELETE FROM oracle.log_now;
	EXECUTE format('INSERT INTO oracle.log_now
		SELECT to_jsonb(x) || jsonb_build_object(''ctid'', x.ctid, ''xmin'', x.xmin::text) AS line, scd2_deleted AS deleted,
			   oracle.part(to_jsonb(x), $1) AS k, oracle.plain(scd2_effective_at) AS e,
			   CASE WHEN NOT scd2_deleted THEN oracle.part(to_jsonb(x), $2) ELSE ''{}'' END AS attrs
		FROM %s AS x', log)
		USING d.keys, d.cols;
	RETURN QUERY
		SELECT 'gone from the log ' || x::text FROM (
			SELECT line FROM oracle.log_seen WHERE dim = of_dim EXCEPT ALL SELECT line FROM oracle.log_now) AS x;
	-- of rows of one batch at the batch's time, only the last need be logged; what a late
	-- snapshot logs for the next one is not logged twice
	IF d.effective_at IS NOT NULL OR d.mode = 'snapshot' THEN
		RETURN QUERY
			WITH wanted AS (SELECT k, e, deleted, attrs FROM oracle.change WHERE dim = of_dim
							AND NOT (deleted AND d.on_delete = 'ignore')),
			actual AS (SELECT k, e, deleted, attrs FROM oracle.log_now
					   WHERE NOT (deleted AND d.on_delete = 'ignore'))
			SELECT 'log lacks ' || x::text FROM (TABLE wanted EXCEPT TABLE actual) AS x
			UNION ALL
			SELECT 'log holds ' || x::text FROM (TABLE actual EXCEPT ALL TABLE wanted) AS x;
	END IF;
	DELETE FROM oracle.log_seen WHERE dim = of_dim;
	INSERT INTO oracle.log_seen SELECT of_dim, line FROM oracle.log_now;
END $$;

-- Which tuples there are: unchanged if nothing was written, not even the same (R11).
CREATE FUNCTION oracle.tuples(of_dim text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	t oracle.target;
	log text;
	history text;
	part text;
	result text;
BEGIN
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	SELECT l.log, l.history INTO log, history FROM scd2.dimensions l WHERE dimension = t.relation::regclass;
	FOREACH part IN ARRAY array_remove(ARRAY[t.relation, log, history], NULL) LOOP
		EXECUTE format('SELECT concat(%L, string_agg(ctid::text || xmin, '' '' ORDER BY ctid)) FROM %s', result, part)
			INTO result;
	END LOOP;
	RETURN md5(result);
END $$;

-- Everything, after a batch.
CREATE FUNCTION oracle.differs(of_dim text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY SELECT oracle.dimension_differs(of_dim);
	RETURN QUERY SELECT oracle.log_differs(of_dim);
	IF to_regprocedure('scd2.check(regclass)') IS NOT NULL THEN
		RETURN QUERY EXECUTE format('SELECT ''scd2.check: '' || c::text FROM scd2.check(%L) AS c',
			(SELECT relation FROM oracle.target WHERE dim = of_dim));
	END IF;
END $$;
