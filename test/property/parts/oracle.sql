-- The oracle: what SPEC section 3 (and R19, R20 as far as they decide what
-- counts) says a dimension is, in plain SQL, slow and obviously correct.
--
-- It shares nothing with the C code, and reads no table of scd2.  A dimension is
-- a row of oracle.dimension; oracle.apply accepts a batch into oracle.change, in
-- any order; oracle.versions computes all chains from nothing, each time.
--
-- Values are jsonb: jsonb's equality is sameness (R12) for text, numbers,
-- booleans and null.  Times are timestamp, whatever the period's type: UTC for
-- timestamptz, midnight for date.

CREATE SCHEMA oracle;

CREATE TABLE oracle.dimension (
	dim text PRIMARY KEY,
	keys text[] NOT NULL,
	cols text[] NOT NULL,			-- tracked columns ...
	types int[] NOT NULL,			-- ... and the type of each
	seq text[] NOT NULL,
	effective_at text,
	effective_type regtype,
	delete_when text,
	mode text NOT NULL,
	on_delete text NOT NULL,
	on_duplicate text NOT NULL,
	ignore_null_updates boolean NOT NULL,
	period_type text NOT NULL,
	time_zone text NOT NULL,
	initial_valid_from timestamp,
	open_end timestamp,				-- null: none, or infinity
	quarantine boolean,				-- null: bad rows fail their batch
	on_late text					-- null: rebuild
);

-- The accepted changes.  "t" is the source's own time (R5); a column that is not
-- in "attrs" is lacking (R8); arrival is the order of coming.
CREATE TABLE oracle.change (
	dim text NOT NULL,
	arrival bigint GENERATED ALWAYS AS IDENTITY,
	run int NOT NULL,
	k jsonb NOT NULL,
	e timestamp NOT NULL,
	t timestamp NOT NULL,
	s jsonb NOT NULL,
	deleted boolean NOT NULL,
	always_opens boolean NOT NULL DEFAULT false,
	attrs jsonb NOT NULL,
	undone boolean NOT NULL DEFAULT false
);
CREATE INDEX ON oracle.change (dim, k);

CREATE TABLE oracle.run (
	dim text NOT NULL,
	run int NOT NULL,
	batch_time timestamp NOT NULL,
	scope text,
	late bigint,			-- how many rows were
	undone boolean NOT NULL DEFAULT false
);

-- Keys of bad rows (R19).
CREATE TABLE oracle.rejected (
	dim text NOT NULL,
	run int NOT NULL,
	k jsonb NOT NULL
);

-- What oracle.apply works on.
CREATE TABLE oracle.batch (
	k jsonb NOT NULL,
	e timestamp,
	t timestamp,
	s jsonb NOT NULL,
	deleted boolean NOT NULL,
	attrs jsonb NOT NULL
);
CREATE TABLE oracle.said (
	k jsonb NOT NULL,
	e timestamp,
	deleted boolean NOT NULL,
	attrs jsonb NOT NULL,
	vals jsonb,				-- the state that the row is compared with
	newest timestamp
);

-- ---------------------------------------------------------------------------
-- The fold
-- ---------------------------------------------------------------------------

-- The changes up to a time that stand, deletes included, numbered by order, with
-- every column's value.  "n" is the number in R5's order, gaps and all.
CREATE FUNCTION oracle.standing(
	of_dim text, upto timestamp,
	OUT k jsonb, OUT n bigint, OUT e timestamp, OUT arrival bigint,
	OUT deleted boolean, OUT always_opens boolean, OUT vals jsonb,
	OUT fills boolean)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
	WITH d AS MATERIALIZED (
		SELECT * FROM oracle.dimension WHERE dim = of_dim
	),
	-- R5: the order.  R7: with on_delete => 'ignore', deletes are dropped.
	ordered AS (
		SELECT c.*, row_number() OVER (PARTITION BY k ORDER BY e, t, s, arrival) AS n
		FROM oracle.change c, d
		WHERE c.dim = of_dim AND c.e <= upto AND NOT c.undone
		  AND NOT (c.deleted AND d.on_delete = 'ignore')
	),
	-- R5: of changes with equal (K, E) the last in order stands.
	lasts AS (
		SELECT *, n = max(n) OVER (PARTITION BY k, e) AS stands FROM ordered
	),
	standing AS MATERIALIZED (
		SELECT *, lag(deleted) OVER (PARTITION BY k ORDER BY n) AS after_delete
		FROM lasts WHERE stands
	),
	-- One row for each column of each standing change that is no delete.
	cells AS (
		SELECT k, n, col, attrs ? col AS has, attrs -> col AS raw,
			   -- the key has no value before this one, or it was deleted
			   coalesce(after_delete, true) AS afresh,
			   NOT coalesce(bool_or(attrs ? col) OVER before, false) AS first
		FROM standing, d, unnest(d.cols) AS col
		WHERE NOT deleted
		WINDOW before AS (PARTITION BY k, col ORDER BY n
						  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
	),
	-- R8: which of them speak for themselves?  Not one that lacks the column,
	-- nor a null that means "not sent" where there is a value before it.
	speaking AS (
		SELECT k, n, col, raw,
			   has AND (NOT d.ignore_null_updates OR raw <> 'null' OR afresh OR first)
			   AS speaks
		FROM cells, d
	),
	-- R8: the others take the last earlier value, else the first later one.
	spoken AS MATERIALIZED (
		SELECT *,
			   coalesce(max(n) FILTER (WHERE speaks) OVER (PARTITION BY k, col ORDER BY n),
						min(n) FILTER (WHERE speaks) OVER (PARTITION BY k, col)) AS by_n,
			   -- the first value of a column, found after changes that lacked it
			   speaks AND n > min(n) OVER (PARTITION BY k, col)
				   AND n = min(n) FILTER (WHERE speaks) OVER (PARTITION BY k, col) AS fills
		FROM speaking
	),
	filled AS (
		SELECT c.k, c.n, jsonb_object_agg(c.col, coalesce(v.raw, 'null')) AS vals,
			   bool_or(c.fills) AS fills
		FROM spoken c LEFT JOIN spoken v ON v.k = c.k AND v.col = c.col AND v.n = c.by_n
		GROUP BY c.k, c.n
	)
	SELECT s.k, s.n, s.e, s.arrival, s.deleted, s.always_opens,
		   CASE WHEN NOT s.deleted THEN coalesce(f.vals, '{}') END,
		   coalesce(f.fills, false)
	FROM standing s LEFT JOIN filled f ON f.k = s.k AND f.n = s.n
$$;

-- What a jsonb object says of some columns.
-- (plpgsql keeps the plan, SQL functions that are not inlined make one a query)
CREATE FUNCTION oracle.part(object jsonb, cols text[]) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN (SELECT coalesce(jsonb_object_agg(col, object -> col), '{}') FROM unnest(cols) AS col);
END $$;

-- The columns of some types.
CREATE FUNCTION oracle.cols(d oracle.dimension, VARIADIC wanted int[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN (SELECT coalesce(array_agg(col), '{}')
			FROM unnest(d.cols, d.types) AS u (col, type) WHERE type = ANY (wanted));
END $$;

-- What each standing change does (R6, R7): opens a version, closes one, or neither.
CREATE FUNCTION oracle.point(
	of_dim text, OUT k jsonb, OUT n bigint, OUT e timestamp, OUT arrival bigint,
	OUT deleted boolean, OUT always_opens boolean, OUT vals jsonb, OUT fills boolean,
	OUT image jsonb, OUT image_before jsonb, OUT vals_before jsonb,
	OUT opens boolean, OUT closes boolean)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
	WITH imaged AS MATERIALIZED (
		SELECT s.*, oracle.part(vals, oracle.cols(d, 2, 6)) AS image
		FROM oracle.standing(of_dim, 'infinity') s, oracle.dimension d
		WHERE d.dim = of_dim
	),
	pairs AS (
		SELECT *, lag(deleted) OVER w AS deleted_before,	-- null: the key's first
			   lag(image) OVER w AS image_before,
			   lag(vals) OVER w AS vals_before
		FROM imaged WINDOW w AS (PARTITION BY k ORDER BY n)
	)
	-- What a change leaves open is what it says itself: either it opened that
	-- version, or it equals it in every type 2 and 6 column.
	SELECT k, n, e, arrival, deleted, always_opens, vals, fills,
		   image, image_before, vals_before,
		   NOT deleted AND (deleted_before IS NOT FALSE
							OR image <> image_before OR always_opens),
		   deleted AND deleted_before IS FALSE
	FROM pairs
$$;

-- The chains.  attrs holds all columns that the dimension shows, previous_* and
-- current_* too; valid_to is null for the open version.
CREATE FUNCTION oracle.versions(
	of_dim text, OUT k jsonb, OUT attrs jsonb, OUT valid_from timestamp,
	OUT valid_to timestamp, OUT is_current boolean, OUT is_deleted boolean)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
	WITH point AS MATERIALIZED (
		SELECT * FROM oracle.point(of_dim)
	),
	-- R9: valid_to is the next change point.
	bounded AS (
		SELECT *, lead(e) OVER (PARTITION BY k ORDER BY n) AS until
		FROM point WHERE opens OR closes
	),
	-- R7: with on_delete => 'flag' a delete opens a version of the last values.
	version AS (
		SELECT k, e, until, deleted, always_opens,
			   CASE WHEN deleted THEN image_before ELSE image END AS image,
			   row_number() OVER (PARTITION BY k ORDER BY n) AS number
		FROM bounded, oracle.dimension d
		WHERE d.dim = of_dim AND (opens OR d.on_delete = 'flag')
	),
	-- R8: first and last go by order, over all changes that stand and are no deletes.
	overlay AS (
		SELECT k,
			   (array_agg(vals ORDER BY n))[1] AS first,
			   (array_agg(vals ORDER BY n DESC))[1] AS last
		FROM point WHERE NOT deleted GROUP BY k
	),
	-- R8: the last different value before the last.
	previous AS (
		SELECT o.k, coalesce(jsonb_object_agg(col, (
				   SELECT coalesce((array_agg(p.vals -> col ORDER BY n DESC))[1], 'null')
				   FROM point p
				   WHERE p.k = o.k AND NOT p.deleted AND p.vals -> col <> o.last -> col))
				   FILTER (WHERE col IS NOT NULL), '{}') AS previous
		FROM oracle.dimension d, overlay o
			LEFT JOIN LATERAL unnest(oracle.cols(d, 3)) AS col ON true
		WHERE d.dim = of_dim
		GROUP BY o.k
	)
	SELECT v.k,
		   oracle.part(o.first, oracle.cols(d, 0))
			   || oracle.part(o.last, oracle.cols(d, 1, 3))
			   || v.image
			   || (SELECT coalesce(jsonb_object_agg('previous_' || col, p.previous -> col), '{}')
				   FROM unnest(oracle.cols(d, 3)) AS col)
			   || (SELECT coalesce(jsonb_object_agg('current_' || col, o.last -> col), '{}')
				   FROM unnest(oracle.cols(d, 6)) AS col),
		   -- section 2: of a key's first version; a seed is never rewritten (R2)
		   CASE WHEN v.number = 1 AND NOT v.always_opens
				THEN coalesce(d.initial_valid_from, v.e) ELSE v.e END,
		   v.until, v.until IS NULL, v.deleted
	FROM oracle.dimension d, version v
		JOIN overlay o ON o.k = v.k JOIN previous p ON p.k = v.k
	WHERE d.dim = of_dim
$$;

-- What each change did, in the words of fold.h.
CREATE FUNCTION oracle.outcomes(
	of_dim text, OUT k jsonb, OUT arrival bigint, OUT outcome text)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
	SELECT c.k, c.arrival,
		   CASE WHEN c.undone THEN 'undone'
				WHEN c.deleted AND d.on_delete = 'ignore' THEN 'ignored'
				WHEN p.k IS NULL THEN 'superseded'
				WHEN p.opens THEN 'opened'
				WHEN p.closes THEN 'closed'
				WHEN p.deleted THEN 'ignored'
				WHEN p.fills
					 OR oracle.part(p.vals, oracle.cols(d, 1, 3))
						<> oracle.part(p.vals_before, oracle.cols(d, 1, 3))
				THEN 'overwrote'
				ELSE 'confirmed' END
	FROM oracle.dimension d, oracle.change c
		LEFT JOIN oracle.point(of_dim) p ON p.k = c.k AND p.arrival = c.arrival
	WHERE d.dim = of_dim AND c.dim = of_dim
$$;

-- R5: the state of each key at a time, as known now.  Keys without a standing
-- change are not in it; vals is null where the last one is a delete.
CREATE FUNCTION oracle.state(
	of_dim text, at timestamp, OUT k jsonb, OUT vals jsonb, OUT newest timestamp)
RETURNS SETOF record LANGUAGE sql STABLE AS $$
	SELECT DISTINCT ON (k) k, vals, e FROM oracle.standing(of_dim, at) ORDER BY k, n DESC
$$;

-- ---------------------------------------------------------------------------
-- Accepting a batch
-- ---------------------------------------------------------------------------

-- A time of the source, or the batch's, in the period's type.
CREATE FUNCTION oracle.to_period(d oracle.dimension, value text, type regtype)
RETURNS timestamp LANGUAGE plpgsql STABLE AS $$
DECLARE
	local timestamp;		-- wall time in the dimension's zone
BEGIN
	IF type = 'timestamptz'::regtype THEN
		IF d.period_type = 'timestamptz' THEN
			RETURN value::timestamptz AT TIME ZONE 'UTC';
		END IF;
		local := value::timestamptz AT TIME ZONE d.time_zone;
	ELSE
		local := value::timestamp;
		IF d.period_type = 'timestamptz' THEN
			RETURN local AT TIME ZONE d.time_zone AT TIME ZONE 'UTC';
		END IF;
	END IF;
	RETURN CASE d.period_type WHEN 'date' THEN local::date::timestamp ELSE local END;
END $$;

-- A row's values as jsonb; times without the session's zone.
CREATE FUNCTION oracle.read(d oracle.dimension, source regclass,
	OUT k jsonb, OUT e timestamp, OUT t timestamp, OUT s jsonb, OUT deleted boolean,
	OUT attrs jsonb)
RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
DECLARE
	r record;
BEGIN
	FOR r IN EXECUTE format('SELECT to_jsonb(x) AS o, coalesce(%s, false) AS gone FROM %s x',
							coalesce('(' || d.delete_when || ')', 'false'), source)
	LOOP
		k := oracle.part(r.o, d.keys);
		IF d.effective_at IS NOT NULL THEN
			e := oracle.to_period(d, r.o ->> d.effective_at, d.effective_type);
			t := CASE d.effective_type WHEN 'timestamptz'::regtype
				 THEN (r.o ->> d.effective_at)::timestamptz AT TIME ZONE 'UTC'
				 ELSE (r.o ->> d.effective_at)::timestamp END;
		END IF;
		s := (SELECT coalesce(jsonb_agg(r.o -> col ORDER BY i), '[]')
			  FROM unnest(d.seq) WITH ORDINALITY AS u (col, i));
		deleted := r.gone;
		attrs := CASE WHEN r.gone THEN '{}' ELSE oracle.part(r.o, d.cols) END;
		RETURN NEXT;
	END LOOP;
END $$;

-- R19: what is bad about a row by itself.
CREATE FUNCTION oracle.is_bad(d oracle.dimension, b oracle.batch) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN jsonb_path_exists(b.k, '$.* ? (@ == null)')
		OR jsonb_path_exists(b.s, '$[*] ? (@ == null)')
		OR d.effective_at IS NOT NULL
		   AND coalesce(NOT isfinite(b.e) OR b.e >= d.open_end OR b.e < d.initial_valid_from, b.e IS NULL);
END $$;

-- The newest E of a key in the log.
CREATE FUNCTION oracle.newest(of_dim text, of_k jsonb) RETURNS timestamp
LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN (SELECT max(e) FROM oracle.change WHERE dim = of_dim AND k = of_k AND NOT undone);
END $$;

-- Accept a batch (R5, R19, R20).  Returns how many changes it logged.
CREATE FUNCTION oracle.apply(of_dim text, source regclass,
							 batch_time timestamptz DEFAULT NULL, scope text DEFAULT NULL)
RETURNS int LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
	d oracle.dimension;
	this_run int;
	at timestamp;			-- the batch's time
	newest_run timestamp;
	late bigint;
	next oracle.run;
	n int;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT coalesce(max(run), 0) + 1, max(batch_time) FILTER (WHERE NOT undone)
	INTO this_run, newest_run
	FROM oracle.run WHERE dim = of_dim;
	at := oracle.to_period(d, coalesce(apply.batch_time, now())::text, 'timestamptz');

	-- Identical rows are one (R19); a delete has no attributes (R5).
	DELETE FROM oracle.batch;
	INSERT INTO oracle.batch
		SELECT DISTINCT * FROM oracle.read(d, source);

	-- Bad rows (R19, on_duplicate) fail the batch, or it goes on without them.
	-- Those with ignored deletes do not clash (R7: they are dropped; they count for
	-- nothing, so they do not hide an earlier row of their key either).
	DELETE FROM oracle.rejected WHERE dim = of_dim AND run = this_run;
	WITH bad AS (DELETE FROM oracle.batch AS b WHERE oracle.is_bad(d, b) RETURNING k)
	INSERT INTO oracle.rejected SELECT of_dim, this_run, k FROM bad;
	IF d.on_delete = 'ignore' THEN
		DELETE FROM oracle.batch WHERE deleted;
	ELSIF d.on_delete = 'error' AND EXISTS (SELECT FROM oracle.batch WHERE deleted) THEN
		RAISE 'oracle: a delete';
	END IF;
	WITH bad AS (
		DELETE FROM oracle.batch AS b
		WHERE EXISTS (SELECT FROM oracle.batch AS o WHERE o.k = b.k AND o.ctid <> b.ctid
					  AND ((o.e, o.t, o.s) IS NOT DISTINCT FROM (b.e, b.t, b.s)
						   OR d.on_duplicate = 'error'
						   OR d.mode = 'snapshot' AND d.on_duplicate = 'sequence'))
		RETURNING k)
	INSERT INTO oracle.rejected SELECT of_dim, this_run, k FROM bad;
	IF d.quarantine IS NOT TRUE AND
		EXISTS (SELECT FROM oracle.rejected WHERE dim = of_dim AND run = this_run) THEN
		RAISE 'oracle: bad rows';
	END IF;

	IF d.on_duplicate = 'latest' THEN
		DELETE FROM oracle.batch b USING oracle.batch l
		WHERE l.k = b.k
		  AND (b.e < l.e OR b.e IS NOT DISTINCT FROM l.e AND (b.t, b.s) < (l.t, l.s)
			   OR b.e IS NULL AND b.s < l.s);
	END IF;

	IF d.mode = 'delta' AND d.effective_at IS NOT NULL THEN
		-- A replay (R5) is dropped.
		DELETE FROM oracle.batch b USING oracle.change c
		WHERE c.dim = of_dim AND NOT c.undone AND (c.k, c.e, c.t, c.s, c.deleted, c.attrs)
			= (b.k, b.e, b.t, b.s, b.deleted, b.attrs);
		-- Late is what is not after the newest of its key.
		SELECT count(*) INTO late FROM oracle.batch b WHERE b.e <= oracle.newest(of_dim, b.k);
		IF d.on_late = 'error' AND late > 0 THEN
			RAISE 'oracle: late changes';
		ELSIF d.on_late = 'skip' THEN
			DELETE FROM oracle.batch b WHERE b.e <= oracle.newest(of_dim, b.k);
		END IF;
		-- R20: every other change, confirmations too.
		INSERT INTO oracle.change (dim, run, k, e, t, s, deleted, attrs)
			SELECT of_dim, this_run, k, e, t, s, deleted, attrs FROM oracle.batch;
		GET DIAGNOSTICS n = ROW_COUNT;
	ELSE
		-- Rows are compared with states (R5): with the one at E where E is the
		-- batch's time, else with the last.  So that the last load of an
		-- instant stands, all are ordered by arrival; S only orders rows of one
		-- batch, the last of a key is what the batch says of it.
		DELETE FROM oracle.batch b USING oracle.batch l WHERE d.effective_at IS NULL
			AND l.k = b.k AND b.s < l.s;

		DELETE FROM oracle.said;
		INSERT INTO oracle.said
			SELECT b.k, b.e, b.deleted, b.attrs, state.vals, newest FROM oracle.batch b
			LEFT JOIN oracle.state(of_dim, CASE WHEN d.effective_at IS NULL
								   THEN at ELSE 'infinity' END) state USING (k);
		IF d.mode = 'snapshot' THEN
			-- Keys absent are deletes, in the scope only (section 5).
			INSERT INTO oracle.said (k, e, deleted, attrs, vals, newest)
				SELECT k, at, true, '{}', vals, newest
				FROM oracle.state(of_dim, CASE WHEN d.effective_at IS NULL
								  THEN at ELSE 'infinity' END)
				WHERE vals IS NOT NULL AND k NOT IN (SELECT k FROM oracle.batch)
				  -- (R19)
				  AND k NOT IN (SELECT k FROM oracle.rejected WHERE dim = of_dim AND run = this_run)
				  AND oracle.in_scope(k || vals, scope);
			IF FOUND AND d.on_delete = 'error' THEN
				RAISE 'oracle: a key is absent';
			END IF;
		END IF;
		-- A row that equals its key's state is a replay, null for "not sent"
		-- filled before; deletes are absence, and so is a key never seen.
		DELETE FROM oracle.said WHERE
			CASE WHEN deleted THEN vals IS NULL OR d.on_delete = 'ignore'
				 ELSE vals IS NOT NULL AND vals =
					  CASE WHEN d.ignore_null_updates
						   THEN vals || jsonb_strip_nulls(attrs) ELSE attrs END
			END;

		-- R20: where it counts.
		UPDATE oracle.said SET e = CASE
			WHEN d.effective_at IS NULL THEN at
			WHEN newest IS NULL OR said.e > newest THEN said.e
			ELSE greatest(newest, at) END;

		-- Late is what is not after the newest of its key even so, and all that an
		-- earlier batch changes.
		IF d.on_late IN ('skip', 'error') THEN
			DELETE FROM oracle.said WHERE e <= oracle.newest(of_dim, k)
				OR d.effective_at IS NULL AND at < newest_run;
			IF FOUND AND d.on_late = 'error' THEN
				RAISE 'oracle: late changes';
			END IF;
		END IF;

		IF at < newest_run AND EXISTS (SELECT FROM oracle.said) AND
			NOT (d.mode = 'snapshot' AND d.effective_at IS NULL) THEN
			RAISE 'oracle: batch_time before the last run''s';
		END IF;

		-- R20: a late snapshot holds until the next one of the same scope or none;
		-- what is logged there is that one's.
		SELECT * INTO next FROM oracle.run r
		WHERE r.dim = of_dim AND NOT r.undone AND r.batch_time > at
		  AND (r.scope IS NULL OR r.scope = apply.scope)
		ORDER BY r.batch_time, r.run LIMIT 1;
		IF d.mode = 'snapshot' AND d.effective_at IS NULL AND FOUND THEN
			INSERT INTO oracle.change (dim, run, k, e, t, s, deleted, attrs)
				SELECT of_dim, next.run, said.k, next.batch_time, next.batch_time,
					   '[]', known.vals IS NULL, coalesce(known.vals, '{}')
				FROM oracle.said LEFT JOIN oracle.state(of_dim, next.batch_time) AS known USING (k);
		END IF;

		INSERT INTO oracle.change (dim, run, k, e, t, s, deleted, attrs)
			SELECT of_dim, this_run, k, e, e, '[]', deleted, attrs
			FROM oracle.said;
		GET DIAGNOSTICS n = ROW_COUNT;
	END IF;

	INSERT INTO oracle.run VALUES (of_dim, this_run, at, scope, late);
	RETURN n;
END $$;

-- Undo a run (R27): it and its changes do not exist any more.
CREATE FUNCTION oracle.undo(of_dim text, of_run int) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
	d oracle.dimension;
	this oracle.run;
	next oracle.run;
BEGIN
	SELECT * INTO STRICT d FROM oracle.dimension WHERE dim = of_dim;
	SELECT * INTO STRICT this FROM oracle.run WHERE dim = of_dim AND run = of_run;
	-- The next snapshot told the same of this run's keys, though it did not log it.
	SELECT * INTO next FROM oracle.run r
	WHERE r.dim = of_dim AND NOT r.undone
	  AND (r.batch_time, r.run) > (this.batch_time, this.run)
	  AND (r.scope IS NULL OR r.scope = this.scope)
	ORDER BY r.batch_time, r.run LIMIT 1;
	IF d.mode = 'snapshot' AND d.effective_at IS NULL AND FOUND THEN
		INSERT INTO oracle.change (dim, run, k, e, t, s, deleted, attrs)
			SELECT of_dim, next.run, c.k, next.batch_time, next.batch_time, '[]',
				   known.vals IS NULL, coalesce(known.vals, '{}')
			FROM (SELECT DISTINCT k FROM oracle.change WHERE dim = of_dim AND run = of_run) AS c
				LEFT JOIN oracle.state(of_dim, next.batch_time) AS known USING (k);
	END IF;
	UPDATE oracle.change SET undone = true WHERE dim = of_dim AND run = of_run;
	UPDATE oracle.run SET undone = true WHERE dim = of_dim AND run = of_run;
END $$;

-- Does a version with these values satisfy a scope?  Scopes of tests are of the
-- form column = 'text'.
CREATE FUNCTION oracle.in_scope(vals jsonb, scope text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
	SELECT scope IS NULL
		OR vals ->> replace(btrim(split_part(scope, '=', 1), ' "'), '""', '"')
		   = btrim(split_part(scope, '=', 2), $q$ '$q$)
$$;
