-- What else happens to a dimension of test/property/parts/apply than batches in
-- order: undone and failing runs, damage, retries, questions of the past.  Every
-- text returned is a disagreement.

-- Which run of scd2 a run of the oracle is, and which step of the history.
CREATE TABLE oracle.ran (dim text, step int, run int, id bigint);
-- The dimension as it was after each run, compared with the oracle then.
CREATE TABLE oracle.past (dim text, id bigint, versions jsonb[]);
-- What oracle.damage works on.
CREATE TABLE oracle.tuple (part regclass, place tid, inserted text, row_data jsonb);

CREATE FUNCTION oracle.relation(of_dim text) RETURNS regclass LANGUAGE sql STABLE AS
	$$ SELECT relation::regclass FROM oracle.target WHERE dim = of_dim $$;

-- The SQLSTATE that a statement fails with; null if it does not.
CREATE FUNCTION oracle.fails(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN NULL;
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate;
END $$;

-- Rejected rows; those of runs that were undone are gone with them (R27).
CREATE FUNCTION oracle.rejected_now(of_dim text) RETURNS SETOF scd2.rejected LANGUAGE sql STABLE AS $$
	SELECT j.* FROM scd2.rejected j JOIN scd2.runs r ON r.id = j.run
	WHERE j.dimension = oracle.relation(of_dim) AND r.undone_by IS NULL
$$;

-- A step was run by both: note their runs, compare what they counted.
CREATE FUNCTION oracle.note(of_dim text, of_step int) RETURNS SETOF text
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
	d oracle.dimension;
	this oracle.run;
	counted record;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT * INTO STRICT this FROM oracle.run WHERE dim = of_dim ORDER BY run DESC LIMIT 1;
	INSERT INTO oracle.ran VALUES (of_dim, of_step, this.run, scd2.last_run());
	SELECT * INTO STRICT counted FROM scd2.runs WHERE id = scd2.last_run();
	-- SPEC section 1: late, where all changes are logged
	IF d.mode = 'delta' AND this.late <> counted.rows_late AND
		(SELECT has_log FROM oracle.target WHERE dim = of_dim) THEN
		RETURN NEXT format('counts: %s rows late, not %s', counted.rows_late, this.late);
	END IF;
	-- R19
	RETURN QUERY
		WITH wanted AS (SELECT DISTINCT k FROM oracle.rejected WHERE dim = of_dim AND run = this.run),
		actual AS (SELECT DISTINCT oracle.part(row_data, d.keys) FROM oracle.rejected_now(of_dim)
				   WHERE run = counted.id OR counted.action = 'retry')
		SELECT 'rejected lacks ' || x::text FROM (TABLE wanted EXCEPT TABLE actual) AS x
		UNION ALL
		SELECT 'rejected holds ' || x::text FROM (TABLE actual EXCEPT TABLE wanted) AS x;
END $$;

-- A batch that may fail: in both, or in none.
CREATE FUNCTION oracle.try(of_dim text, of_step int, call text, oracle_call text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	actual text := oracle.fails(call);
	wanted text := oracle.fails(oracle_call);
BEGIN
	IF (actual IS NULL) <> (wanted IS NULL) THEN
		RETURN NEXT format('fails: with %s, and the oracle with %s', actual, wanted);
	ELSIF actual NOT IN ('21000', '22000', '22004', '22008', '23502') THEN
		RETURN NEXT format('fails: with %s', actual);
	ELSIF actual IS NULL THEN
		RETURN QUERY SELECT oracle.note(of_dim, of_step);
	END IF;
END $$;

-- R27: undo what a step did, unless it did nothing; where that is refused, it must be.
CREATE FUNCTION oracle.undo_step(of_dim text, of_step int) RETURNS SETOF text
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	d oracle.dimension;
	this oracle.ran;
	allowed boolean;
	failed text;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT * INTO this FROM oracle.ran WHERE dim = of_dim AND step = of_step;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	allowed := NOT (SELECT undone FROM oracle.run WHERE dim = of_dim AND run = this.run)
		AND ((d.mode = 'snapshot') = (d.effective_at IS NULL)
			 OR NOT EXISTS (SELECT FROM oracle.run WHERE dim = of_dim AND run > this.run AND NOT undone));
	failed := oracle.fails(format('CALL scd2.undo(%L, %s)', oracle.relation(of_dim), this.id));
	IF (failed IS NULL) <> allowed OR failed NOT IN ('22023', '55000') THEN
		RETURN NEXT format('undo: of a run that can%s be undone fails with %s',
						   CASE WHEN allowed THEN '' ELSE 'not' END, failed);
	ELSIF allowed THEN
		PERFORM oracle.undo(of_dim, this.run);
		INSERT INTO oracle.ran VALUES (of_dim, -1, NULL, scd2.last_run());
	END IF;
END $$;

-- R24: the dimension is what the log says.
CREATE FUNCTION oracle.rebuild_differs(of_dim text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	t oracle.target;
BEGIN
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	IF t.has_log THEN
		RETURN QUERY EXECUTE format(
			'WITH wanted AS MATERIALIZED (SELECT * FROM scd2.rebuild(NULL::%1$s)),
			 actual AS MATERIALIZED (SELECT * FROM %2$s WHERE %3$I IS NOT NULL)
			 SELECT ''rebuild: lacks '' || x::text FROM (TABLE actual EXCEPT ALL TABLE wanted) AS x
			 UNION ALL
			 SELECT ''rebuild: holds '' || x::text FROM (TABLE wanted EXCEPT ALL TABLE actual) AS x',
			t.relation, oracle.all_versions(t), (SELECT keys[1] FROM oracle.dimension WHERE dim = of_dim));
	END IF;
END $$;

-- Keep the dimension as it is after this run.
CREATE FUNCTION oracle.remember(of_dim text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	t oracle.target;
	last bigint := (SELECT max(id) FROM oracle.ran WHERE dim = of_dim);
BEGIN
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	IF last IS NOT NULL THEN
		EXECUTE format('INSERT INTO oracle.past
						SELECT $1, $2, ARRAY(SELECT to_jsonb(x) FROM %s AS x WHERE %I IS NOT NULL)',
			oracle.all_versions(t), (SELECT keys[1] FROM oracle.dimension WHERE dim = of_dim))
			USING of_dim, last;
	END IF;
END $$;

-- R24: what was known after some of the runs is what was there then, whatever came later.
CREATE FUNCTION oracle.past_differs(of_dim text, VARIADIC picks int[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	all_past oracle.past[] := ARRAY(SELECT p FROM oracle.past p WHERE dim = of_dim ORDER BY id);
	past oracle.past;
BEGIN
	FOR i IN 1 .. least(cardinality(picks), cardinality(all_past)) LOOP
		past := all_past[1 + picks[i] % cardinality(all_past)];
		RETURN QUERY EXECUTE format(
			'WITH wanted AS MATERIALIZED (SELECT unnest($1) AS x),
			 actual AS MATERIALIZED (SELECT to_jsonb(x) AS x FROM scd2.rebuild(NULL::%s, known_at => $2) AS x)
			 SELECT ''known_at: of run '' || $3 || '' lacks '' || x::text FROM (TABLE wanted EXCEPT ALL TABLE actual) AS x
			 UNION ALL
			 SELECT ''known_at: of run '' || $3 || '' holds '' || x::text FROM (TABLE actual EXCEPT ALL TABLE wanted) AS x',
			(SELECT relation FROM oracle.target WHERE dim = of_dim))
			USING past.versions, (SELECT recorded_at FROM scd2.runs WHERE id = past.id), past.id;
	END LOOP;
END $$;

-- The tables that hold versions.
CREATE FUNCTION oracle.version_tables(of_dim text) RETURNS regclass[] LANGUAGE sql STABLE AS $$
	SELECT array_remove(ARRAY[dimension, history], NULL) FROM scd2.dimensions
	WHERE dimension = oracle.relation(of_dim)
$$;

-- All their rows, the unknown member too.
CREATE FUNCTION oracle.tuples_now(of_dim text) RETURNS SETOF oracle.tuple LANGUAGE plpgsql AS $$
DECLARE
	part regclass;
BEGIN
	FOREACH part IN ARRAY oracle.version_tables(of_dim) LOOP
		RETURN QUERY EXECUTE format('SELECT %L::regclass, x.ctid, x.xmin::text, to_jsonb(x) FROM %s AS x', part, part);
	END LOOP;
END $$;

-- Write to the dimension behind scd2's back, as the pick says.
CREATE FUNCTION oracle.hurt(of_dim text, pick int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	d oracle.dimension;
	t oracle.target;
	parts regclass[] := oracle.version_tables(of_dim);
	part regclass := parts[1 + pick % cardinality(parts)];
	victim tid;
	col record;
	value text;
	list text;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	EXECUTE format('SELECT ctid FROM %1$s WHERE %2$I IS NOT NULL ORDER BY %3$s
					OFFSET $1 %% greatest(1, (SELECT count(*) FROM %1$s WHERE %2$I IS NOT NULL)) LIMIT 1',
		part, d.keys[1], (SELECT string_agg(quote_ident(k), ', ') FROM unnest(d.keys || t.valid_from) AS k))
		INTO victim USING pick / 7;
	SELECT attname, atttypid::regtype AS type INTO col FROM (
		SELECT attname, atttypid, row_number() OVER (ORDER BY attnum) - 1 AS i, count(*) OVER () AS n
		FROM pg_attribute WHERE attrelid = part AND attnum > 0 AND NOT attisdropped) AS a
	WHERE i = pick / 11 % n;
	value := CASE pick / 13 % 4
		WHEN 0 THEN 'NULL'
		WHEN 1 THEN format('(SELECT %1$I FROM %2$s ORDER BY %1$I LIMIT 1)', col.attname, part)
		ELSE format(CASE
			WHEN col.type::text LIKE 'timestamp%' THEN '%I - interval ''1 day'''
			WHEN col.type = 'boolean'::regtype THEN 'NOT %I'
			WHEN col.type = 'bytea'::regtype THEN '%I || ''\x00'''
			WHEN col.type = 'uuid'::regtype THEN 'md5(%I::text)::uuid'
			WHEN col.type::text IN ('text', 'character varying') THEN 'left(%I, 3) || ''x'''
			ELSE '%I + 1' END, col.attname) END;
	list := (SELECT string_agg(CASE
				WHEN attname = t.surrogate_key AND atttypid = 'uuid'::regtype THEN format('md5(%I::text)::uuid', attname)
				WHEN attname = t.surrogate_key THEN format('%I + 7', attname)
				WHEN attname = t.valid_from THEN format('(%I - interval ''%s days'')::%s', attname, 1 + pick / 17 % 40, atttypid::regtype)
				ELSE quote_ident(attname) END, ', ' ORDER BY attnum)
			 FROM pg_attribute WHERE attrelid = part AND attnum > 0 AND NOT attisdropped);
	CASE pick / 3 % 10
		WHEN 0, 1 THEN
			EXECUTE format('DELETE FROM %s WHERE ctid = $1', part) USING victim;
		WHEN 2 THEN
			EXECUTE format('DELETE FROM %1$s WHERE (%2$s) IN (SELECT %2$s FROM %1$s WHERE ctid = $1)', part,
				(SELECT string_agg(quote_ident(k), ', ') FROM unnest(d.keys) AS k)) USING victim;
		WHEN 3, 4 THEN
			EXECUTE format('INSERT INTO %1$s SELECT %2$s FROM %1$s WHERE ctid = $1', part, list) USING victim;
		ELSE
			EXECUTE format('UPDATE %s SET %I = %s WHERE ctid = $1', part, col.attname, value) USING victim;
	END CASE;
EXCEPTION WHEN integrity_constraint_violation OR data_exception THEN
	NULL;
END $$;

-- R25, R32: damage is found, healed, and nothing else written.
CREATE FUNCTION oracle.damage(of_dim text, VARIADIC picks int[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	before oracle.tuple[] := ARRAY(SELECT x FROM oracle.tuples_now(of_dim) AS x);
	hurt oracle.tuple[];
	pick int;
BEGIN
	FOREACH pick IN ARRAY picks LOOP
		PERFORM oracle.hurt(of_dim, pick);
	END LOOP;
	hurt := ARRAY(SELECT x FROM oracle.tuples_now(of_dim) AS x);
	IF NOT EXISTS (SELECT FROM scd2.check(oracle.relation(of_dim))) THEN
		RETURN QUERY
			WITH was AS (SELECT part, row_data FROM unnest(before)),
			is_now AS (SELECT part, row_data FROM unnest(hurt))
			SELECT 'check: silent, though there is ' || x::text FROM (TABLE is_now EXCEPT ALL TABLE was) AS x
			UNION ALL
			SELECT 'check: silent, though gone is ' || x::text FROM (TABLE was EXCEPT ALL TABLE is_now) AS x;
	END IF;
	EXECUTE format('CALL scd2.rebuild_apply(%L)', oracle.relation(of_dim));
	RETURN QUERY
		WITH healed AS MATERIALIZED (SELECT * FROM oracle.tuples_now(of_dim)),
		was AS MATERIALIZED (SELECT part, row_data FROM unnest(before)),
		is_now AS (SELECT part, row_data FROM healed)
		SELECT 'rebuild_apply: lacks ' || x::text FROM (TABLE was EXCEPT ALL TABLE is_now) AS x
		UNION ALL
		SELECT 'rebuild_apply: holds ' || x::text FROM (TABLE is_now EXCEPT ALL TABLE was) AS x
		UNION ALL
		SELECT 'rebuild_apply: wrote without need ' || h::text
		FROM unnest(hurt) AS h
		WHERE (part, row_data) IN (TABLE was)
		  AND NOT EXISTS (SELECT FROM healed n WHERE (n.part, n.place, n.inserted) = (h.part, h.place, h.inserted));
END $$;

-- Repair rejected rows, each in one of these ways, and apply them again (R19): what a
-- batch of them does.
CREATE FUNCTION oracle.retry(of_dim text, of_step int, VARIADIC repairs jsonb[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	source text := of_dim || '.stg';
BEGIN
	UPDATE scd2.registry_rejected AS j SET row_data = j.row_data || repairs[1 + r.i % cardinality(repairs)]
	FROM (SELECT id, row_number() OVER (ORDER BY id)::int - 1 AS i FROM scd2.rejected
		  WHERE dimension = oracle.relation(of_dim)) AS r
	WHERE r.id = j.id;
	EXECUTE format('DELETE FROM %s', source);
	EXECUTE format('INSERT INTO %1$s
					SELECT r.* FROM oracle.rejected_now(%2$L), jsonb_populate_record(NULL::%1$s, row_data) AS r',
				   source, of_dim);
	PERFORM oracle.apply(of_dim, source::regclass);
	EXECUTE format('CALL scd2.retry_rejected(%L)', oracle.relation(of_dim));
	RETURN QUERY SELECT oracle.note(of_dim, of_step);
END $$;
