-- A copy of a dimension that is kept up by nothing but scd2.feed (SPEC section 7);
-- used by test/property/parts/apply.

CREATE TABLE oracle.copy (dim text PRIMARY KEY, after_run bigint NOT NULL);
CREATE TABLE oracle.fed (change text, surrogate_key text, row_data jsonb);

CREATE FUNCTION oracle.begin_copy(of_dim text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	t oracle.target;
BEGIN
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	EXECUTE format('CREATE TABLE %I.copy AS TABLE %s WITH NO DATA', of_dim, oracle.all_versions(t));
	EXECUTE format('ALTER TABLE %I.copy ADD PRIMARY KEY (%I)', of_dim, t.surrogate_key);
	INSERT INTO oracle.copy VALUES (of_dim, 0);
END $$;

-- Follow the runs since the last call; "stops": of more than one, first up to the one
-- before the last, then on.  Each row returned is a fault.
CREATE FUNCTION oracle.follow(of_dim text, stops boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	t oracle.target;
	key_column text;
	after bigint;
	until bigint;
	hit bigint;
	expected bigint;
BEGIN
	SELECT * INTO STRICT t FROM oracle.target WHERE dim = of_dim;
	SELECT keys[1] INTO STRICT key_column FROM oracle.dimension WHERE dim = of_dim;
	SELECT after_run INTO STRICT after FROM oracle.copy WHERE dim = of_dim;
	FOR until IN SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id DESC) AS n FROM scd2.runs
								 WHERE dimension = t.relation::regclass AND id > after) r
				 WHERE n = 1 OR (stops AND n = 2) ORDER BY id LOOP
		DELETE FROM oracle.fed;
		EXECUTE format('INSERT INTO oracle.fed SELECT * FROM scd2.feed(NULL::%s, $1, $2)', t.relation)
			USING after, until;
		SELECT count(*) INTO expected FROM oracle.fed WHERE change <> 'insert';
		EXECUTE format('DELETE FROM %I.copy USING oracle.fed AS f WHERE %I::text = surrogate_key AND change <> ''insert''',
					   of_dim, t.surrogate_key);
		GET DIAGNOSTICS hit = ROW_COUNT;
		IF hit <> expected THEN
			RETURN NEXT format('feed: %s rows to update or delete, the copy has %s of them', expected, hit);
		END IF;
		EXECUTE format('INSERT INTO %I.copy SELECT n.* FROM oracle.fed, jsonb_populate_record(NULL::%I.copy, row_data) AS n
						WHERE change <> ''delete''', of_dim, of_dim);
		after := until;
	END LOOP;
	UPDATE oracle.copy SET after_run = after WHERE dim = of_dim;
	RETURN QUERY EXECUTE format(
		'WITH copied AS MATERIALIZED (SELECT to_jsonb(one_copied) AS line FROM %I.copy AS one_copied),
		 actual AS MATERIALIZED (SELECT to_jsonb(one_version) AS line FROM %s AS one_version WHERE %I IS NOT NULL)
		 SELECT ''feed: the copy lacks '' || line::text FROM (TABLE actual EXCEPT ALL TABLE copied) AS x
		 UNION ALL
		 SELECT ''feed: the copy has '' || line::text FROM (TABLE copied EXCEPT ALL TABLE actual) AS x',
		of_dim, oracle.all_versions(t), key_column);
END $$;
