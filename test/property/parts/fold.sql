-- Random histories of single keys, late changes included: the fold in C, from
-- nothing and in pieces, against the oracle.  Called by test/property/parts/fold after
-- oracle.sql, with the module's path in :module.

CREATE FUNCTION fold_test(attr_types oid[], scd_types int[], on_delete text,
	ignore_null_updates boolean, initial bigint, e bigint[], deleted boolean[],
	always_opens boolean[], vals text[], lacks boolean[], splits int[])
RETURNS text AS :'module' LANGUAGE c;

-- The fold's answer in the oracle's words.
CREATE FUNCTION fold_answer(answer jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
	SELECT jsonb_build_object(
		'outcomes', answer -> 'outcomes',
		'versions', (
			SELECT coalesce(jsonb_agg(jsonb_build_object(
				'from', v -> 'from', 'to', v -> 'to', 'deleted', v -> 'deleted',
				'attrs', v -> 'values'
				|| (SELECT coalesce(jsonb_object_agg(
						CASE WHEN v -> 'values' ? key THEN 'current_' || key ELSE key END, value), '{}')
					FROM jsonb_each(answer -> 'last'))
				|| (SELECT coalesce(jsonb_object_agg('previous_' || key, value), '{}')
					FROM jsonb_each(answer -> 'previous'))) ORDER BY i), '[]')
			FROM jsonb_array_elements(answer -> 'versions') WITH ORDINALITY AS u (v, i)))
$$;

-- Any of these.
CREATE FUNCTION any_of(VARIADIC list anyarray) RETURNS anyelement LANGUAGE sql AS
	'SELECT list[1 + floor(random() * cardinality(list))]';

-- One random dimension with some keys' changes, in oracle.dimension and .change.
CREATE FUNCTION make_histories(histories int) RETURNS oid[] LANGUAGE plpgsql AS $$
DECLARE
	d oracle.dimension;
	attr_types oid[];
	delete_share float := any_of(0.0, 0.1, 0.3, 0.5);
	lack_share float := any_of(0.0, 0.0, 0.0, 0.2, 0.6);
	seed_share float := any_of(0.0, 0.0, 0.0, 0.2);
	null_share float := any_of(0.0, 0.2, 0.5);
	times int := any_of(2, 4, 10, 30);
	attrs jsonb;
	text_domain text[] := '{"",a,b}';
BEGIN
	TRUNCATE oracle.dimension, oracle.change;
	d.dim := 'd';
	d.keys := '{k}';
	d.seq := '{}';
	FOR i IN 1 .. any_of(0, 1, 1, 2, 2, 3, 4, 6) LOOP
		d.cols[i] := 'c' || i;
		d.types[i] := any_of(0, 1, 2, 2, 2, 3, 6);
		attr_types[i] := any_of(25, 23, 1700);
	END LOOP;
	d.cols := coalesce(d.cols, '{}');
	d.types := coalesce(d.types, '{}');
	d.mode := 'delta';
	d.on_delete := any_of(VARIADIC '{close,flag,ignore}'::text[]);
	d.on_duplicate := 'sequence';
	d.ignore_null_updates := random() < 0.4;
	d.period_type := 'timestamptz';
	d.time_zone := 'UTC';
	IF random() < 0.3 THEN
		d.initial_valid_from := timestamp 'epoch' + any_of(0, -3) * interval '1 day';
	END IF;
	INSERT INTO oracle.dimension SELECT d.*;

	FOR k IN 1 .. histories LOOP
		FOR c IN 1 .. any_of(1, 2, 3, 4, 6, 9, 40) LOOP
			attrs := '{}';
			FOR i IN 1 .. cardinality(d.cols) LOOP
				CONTINUE WHEN random() < lack_share;
				attrs := attrs || jsonb_build_object(d.cols[i], CASE
					WHEN random() < null_share THEN 'null'
					WHEN attr_types[i] = 25 THEN to_jsonb(any_of(VARIADIC text_domain))
					WHEN attr_types[i] = 23 THEN to_jsonb(any_of(-1, 0, 1))
					ELSE to_jsonb(any_of(1.0, 1.00, 1e0, 2.0, 2.50, 2.5)) END);
			END LOOP;
			INSERT INTO oracle.change (dim, run, k, e, t, s, deleted, always_opens, attrs)
				SELECT 'd', 1, jsonb_build_object('k', k), at, at, to_jsonb(any_of(1, 1, 2, 3)),
					   gone, NOT gone AND random() < seed_share,
					   CASE WHEN gone THEN '{}' ELSE attrs END
				FROM (SELECT timestamp 'epoch' + floor(random() * times) * interval '1 day',
							 random() < delete_share) AS r (at, gone);
		END LOOP;
	END LOOP;
	RETURN coalesce(attr_types, '{}');
END $$;

CREATE FUNCTION days(at timestamp) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	'SELECT extract(day FROM at - timestamp ''epoch'')::bigint';

CREATE TEMP TABLE score (passed int, failed int);

DO $$
DECLARE
	histories int := current_setting('test.histories');
	done int := 0;
	failed int := 0;
	keys int;
	attr_types oid[];
	d oracle.dimension;
	bad record;
BEGIN
	PERFORM setseed(current_setting('test.seed')::float / 1000000);
	WHILE done < histories LOOP
		keys := least(40, histories - done);
		attr_types := make_histories(keys);
		ANALYZE oracle.change;
		SELECT * INTO d FROM oracle.dimension;

		CREATE TEMP TABLE fed AS
			SELECT k, count(*)::int AS n, array_agg(days(e) ORDER BY o) AS e,
				   array_agg(deleted ORDER BY o) AS deleted,
				   array_agg(always_opens ORDER BY o) AS always_opens,
				   array_agg(arrival ORDER BY o) AS arrival
			FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY e, t, s, arrival) AS o
				  FROM oracle.change) AS c
			GROUP BY k;
		CREATE TEMP TABLE answer AS
			SELECT f.k, f.n,
				   fold_test(attr_types, d.types, d.on_delete, d.ignore_null_updates,
							 days(d.initial_valid_from), f.e, f.deleted, f.always_opens,
							 a.vals, a.lacks, s.splits)::jsonb AS answer, s.splits
			FROM fed f,
				LATERAL (SELECT coalesce(array_agg(c.attrs ->> col ORDER BY o, i), '{}') AS vals,
								coalesce(array_agg(NOT c.attrs ? col ORDER BY o, i), '{}') AS lacks
						 FROM unnest(f.arrival) WITH ORDINALITY AS u (arrival, o)
							JOIN oracle.change c ON c.arrival = u.arrival
							CROSS JOIN unnest(d.cols) WITH ORDINALITY AS v (col, i)) AS a,
				-- whole, and in pieces
				LATERAL (SELECT '{}'::int[] AS splits
						 UNION ALL
						 SELECT array_agg(i) FROM generate_series(1, f.n - 1) AS i
						 HAVING count(*) > 0
						 UNION ALL
						 SELECT array_agg(i) FROM generate_series(1, f.n - 1) AS i
						 WHERE random() < 0.3 HAVING count(*) > 0) AS s;
		CREATE TEMP TABLE outcome AS SELECT * FROM oracle.outcomes('d');
		CREATE TEMP TABLE version AS SELECT * FROM oracle.versions('d');
		CREATE TEMP TABLE truth AS
			SELECT f.k, jsonb_build_object(
				'outcomes', (SELECT jsonb_agg(o.outcome ORDER BY array_position(f.arrival, o.arrival))
							 FROM outcome o WHERE o.k = f.k),
				'versions', (SELECT coalesce(jsonb_agg(jsonb_build_object(
								'from', days(valid_from), 'to', days(valid_to),
								'deleted', is_deleted, 'attrs', attrs) ORDER BY valid_from), '[]')
							 FROM version v WHERE v.k = f.k)) AS truth
			FROM fed f;
		FOR bad IN
			SELECT a.k, a.splits, fold_answer(a.answer) AS got, t.truth, a.answer
			FROM answer a JOIN truth t USING (k)
			WHERE fold_answer(a.answer) <> t.truth ORDER BY a.n LIMIT 1
		LOOP
			RAISE WARNING E'the fold differs from the oracle\n  dimension %\n  splits %\n  changes\n    %\n  fold   %\n  oracle %',
				to_jsonb(d), bad.splits,
				(SELECT string_agg(format('%s %s seq %s%s %s', arrival, days(e), s, CASE WHEN deleted THEN ' D' ELSE '' END, attrs),
								   E'\n    ' ORDER BY e, t, s, arrival) FROM oracle.change c WHERE c.k = bad.k),
				bad.got, bad.truth;
		END LOOP;
		failed := failed + (SELECT count(DISTINCT k) FROM answer JOIN truth USING (k)
							WHERE fold_answer(answer) <> truth);
		done := done + keys;
		DROP TABLE fed, answer, truth, outcome, version;
		EXIT WHEN failed > 0;
	END LOOP;
	INSERT INTO score VALUES (done - failed, failed);
END $$;
SELECT passed || ' passed, ' || failed || ' failed' FROM score;
