-- A stand-in for the extension over the oracle, in a database of its own, so
-- that test/golden/run can hold the oracle to the golden cases: the dimension is
-- a view of the oracle's versions.  Only what those cases call is there.

CREATE SCHEMA scd2;

-- so that CREATE EXTENSION IF NOT EXISTS leaves it alone
INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
	SELECT 16000, 'scd2', relowner, 'scd2'::regnamespace, false, 'stand-in'
	FROM pg_class WHERE oid = 'pg_class'::regclass;

CREATE VIEW scd2.dimensions AS
	SELECT dim::oid::regclass AS dimension, keys AS business_key FROM oracle.dimension;

CREATE FUNCTION scd2.check(dimension regclass) RETURNS TABLE (violation text)
LANGUAGE sql AS 'SELECT NULL::text WHERE false';

CREATE FUNCTION scd2.create_dimension(
	dimension text, source regclass, business_key text[],
	type0 text[] DEFAULT '{}', type1 text[] DEFAULT '{}', type2 text[] DEFAULT NULL,
	type3 text[] DEFAULT '{}', type6 text[] DEFAULT '{}',
	effective_at text DEFAULT NULL, sequence_by text[] DEFAULT '{}',
	delete_when text DEFAULT NULL, mode text DEFAULT 'delta',
	on_delete text DEFAULT 'close', on_duplicate text DEFAULT 'sequence',
	ignore_null_updates boolean DEFAULT false, period_type text DEFAULT 'timestamptz',
	time_zone text DEFAULT 'UTC', initial_valid_from text DEFAULT NULL)
RETURNS regclass LANGUAGE plpgsql AS $$
DECLARE
	d oracle.dimension;
	list text;
	by_type text;
BEGIN
	d.keys := business_key;
	d.seq := sequence_by;
	d.effective_at := effective_at;
	d.delete_when := delete_when;
	d.mode := mode;
	d.on_delete := on_delete;
	d.on_duplicate := on_duplicate;
	d.ignore_null_updates := ignore_null_updates;
	d.period_type := period_type;
	d.time_zone := time_zone;
	SELECT atttypid INTO d.effective_type FROM pg_attribute
	WHERE attrelid = source AND attname = effective_at;

	-- type2 => NULL: every source column that no other parameter names or uses
	SELECT array_agg(attname::text ORDER BY attnum),
		   array_agg(type ORDER BY attnum)
	INTO d.cols, d.types
	FROM pg_attribute, LATERAL (SELECT CASE
			WHEN attname = ANY (type0) THEN 0 WHEN attname = ANY (type1) THEN 1
			WHEN attname = ANY (type3) THEN 3 WHEN attname = ANY (type6) THEN 6
			WHEN attname = ANY (type2) THEN 2
			WHEN type2 IS NULL AND attname <> ALL (business_key || sequence_by)
				 AND attname IS DISTINCT FROM effective_at
				 AND NOT coalesce(delete_when ~ ('\m' || attname || '\M'), false)
			THEN 2 END) AS t (type)
	WHERE attrelid = source AND attnum > 0 AND type IS NOT NULL;

	d.initial_valid_from := oracle.to_period(d, initial_valid_from, 'timestamp');
	d.dim := '';
	SELECT string_agg(CASE WHEN attname = ANY (business_key) THEN format('(k ->> %L)::%s AS %I', name, type, name)
					  ELSE format('(attrs ->> %L)::%s AS %I', name, type, name) END, ', ' ORDER BY place, attnum)
	INTO list
	FROM pg_attribute, format_type(atttypid, atttypmod) AS type,
		LATERAL (SELECT 1, attname::text WHERE attname = ANY (business_key || d.cols)
				 UNION ALL SELECT 2, 'previous_' || attname WHERE attname = ANY (type3)
				 UNION ALL SELECT 3, 'current_' || attname WHERE attname = ANY (type6)) AS u (place, name)
	WHERE attrelid = source AND attnum > 0;
	by_type := CASE period_type WHEN 'timestamptz' THEN 'AT TIME ZONE ''UTC''' ELSE '::' || period_type END;
	EXECUTE format('CREATE VIEW %1$s AS SELECT %2$s, (valid_from %3$s) AS valid_from,
		(coalesce(valid_to, ''9999-12-31'') %3$s) AS valid_to, is_current, is_deleted
		FROM oracle.versions(%4$L)', dimension, list, by_type, '?');
	d.dim := dimension::regclass::oid::text;
	EXECUTE format('CREATE OR REPLACE VIEW %1$s AS SELECT %2$s, (valid_from %3$s) AS valid_from,
		(coalesce(valid_to, ''9999-12-31'') %3$s) AS valid_to, is_current, is_deleted
		FROM oracle.versions(%4$L)', dimension, list, by_type, d.dim);
	INSERT INTO oracle.dimension SELECT d.*;
	RETURN dimension::regclass;
END $$;

CREATE PROCEDURE scd2.apply(dimension regclass, source regclass DEFAULT NULL,
	batch_time timestamptz DEFAULT NULL, scope text DEFAULT NULL, force boolean DEFAULT false)
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM oracle.apply(dimension::oid::text, coalesce(source, 'stg'), batch_time, scope);
END $$;
