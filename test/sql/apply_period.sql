-- The period's type, its end, its beginning, its time zone: R5, R9, R17, R19,
-- and hard cases 10, 11 and 30.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
\set VERBOSITY terse

CREATE SCHEMA ap;
SET search_path = ap;

-- ---------------------------------------------------------------------------
-- period_type x open_end x the source's type of time
-- ---------------------------------------------------------------------------
CREATE TABLE s (id integer, a text, at timestamptz);
CREATE VIEW s_tz AS SELECT id, a, at FROM s;
CREATE VIEW s_ts AS SELECT id, a, at AT TIME ZONE 'UTC' AS at FROM s;
CREATE VIEW s_d AS SELECT id, a, (at AT TIME ZONE 'UTC')::date AS at FROM s;
INSERT INTO s VALUES (1, 'a', '2024-01-01'), (1, 'b', '2024-02-01 00:00:00.000001'), (1, 'c', '2024-03-01'), (2, 'a', '2024-01-01');
DO $$
DECLARE
    c record;
    n integer := 0;
    dim text;
    shown text;
BEGIN
    FOR c IN SELECT * FROM unnest('{timestamptz,timestamp,date}'::text[]) AS period_type,
                           unnest('{9999-12-31,infinity,"null"}'::text[]) AS open_end,
                           unnest('{s_tz,s_ts,s_d}'::text[]) AS source
    LOOP
        n := n + 1;
        dim := format('ap.d%s', n);
        PERFORM scd2.create_dimension(dim, source => ('ap.' || c.source)::regclass, business_key => '{id}', effective_at => 'at',
                                      period_type => c.period_type, open_end => c.open_end);
        CALL scd2.apply(dim::regclass);
        CALL scd2.apply(dim::regclass);
        -- versions, the unknown member's period, and what as_of says at and before a boundary
        EXECUTE format($q$
            SELECT (SELECT string_agg(format('%%s from %%s to %%s%%s', a, valid_from, valid_to, CASE WHEN is_current THEN '*' END), '; ' ORDER BY valid_from)
                      FROM %1$s WHERE id = 1)
                || ' | unknown ' || (SELECT format('%%s to %%s', valid_from, valid_to) FROM %1$s WHERE id IS NULL)
                || ' | as of ' || (SELECT string_agg(a, ',' ORDER BY id) FROM %1$s_as_of('2024-02-29 23:59+00'))
                || ' ' || (SELECT string_agg(a, ',' ORDER BY id) FROM %1$s_as_of('2024-03-01'))
                || ' ' || (SELECT count(*) FROM %1$s_as_of('2023-12-31 23:59+00'))
                || ' | ' || (SELECT count(*) FROM scd2.check('%1$s'))
                || ' ' || (SELECT count(*) FROM %1$s_log)
                || ' ' || (SELECT format('%%s replayed', rows_replayed) FROM scd2.runs WHERE id = scd2.last_run())
            $q$, dim) INTO shown;
        RAISE WARNING '% % %: %', c.period_type, c.open_end, c.source, shown;
    END LOOP;
END $$;

-- ---------------------------------------------------------------------------
-- Hard case 30: period_type date, several changes a day: one version a day at
-- most, the last by instant
-- ---------------------------------------------------------------------------
TRUNCATE s;
SELECT scd2.create_dimension('day_one', source => 's', business_key => '{id}', effective_at => 'at', period_type => 'date');
INSERT INTO s VALUES
    (1, 'noon',    '2024-05-01 12:00+00'),
    (1, 'evening', '2024-05-01 20:00+00'),
    (1, 'morning', '2024-05-01 08:00+00'),
    (1, 'next',    '2024-05-02 01:00+00'),
    (1, 'back',    '2024-05-02 02:00+00'), (1, 'evening', '2024-05-02 03:00+00');
CALL scd2.apply('day_one');
SELECT id, a, valid_from, valid_to, is_current FROM day_one WHERE id IS NOT NULL ORDER BY valid_from;
SELECT a, scd2_effective_at, scd2_source_time FROM day_one_log ORDER BY scd2_id;
-- the same again: replays, told apart by the source's own time
CALL scd2.apply('day_one');
SELECT rows_replayed, versions_opened FROM scd2.runs WHERE id = scd2.last_run();
SELECT * FROM scd2.check('day_one');
-- the day is that of time_zone
SELECT scd2.create_dimension('day_zone', source => 's', business_key => '{id}', effective_at => 'at', period_type => 'date', time_zone => 'Asia/Tokyo');
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', '2024-05-01 14:59:59+00'), (2, 'a', '2024-05-01 15:00+00');
CALL scd2.apply('day_zone');
SELECT id, valid_from FROM day_zone WHERE id IS NOT NULL ORDER BY id;
SELECT id FROM day_zone_as_of('2024-05-01 14:59:59+00') ORDER BY id;
SELECT id FROM day_zone_as_of('2024-05-01 15:00+00') ORDER BY id;

-- the source's time may be of a domain
CREATE DOMAIN a_day AS date;
CREATE DOMAIN a_time AS timestamptz;
CREATE TABLE s_dom (id integer, a text, d a_day, t a_time);
INSERT INTO s_dom VALUES (1, 'a', '2024-05-01', '2024-05-01 12:00+00');
SELECT scd2.create_dimension('dom_day',  source => 's_dom', business_key => '{id}', type2 => '{a}', effective_at => 'd');
SELECT scd2.create_dimension('dom_time', source => 's_dom', business_key => '{id}', type2 => '{a}', effective_at => 't', period_type => 'date');
CALL scd2.apply('dom_day');
CALL scd2.apply('dom_time');
SELECT a.valid_from, b.valid_from, l.scd2_source_time FROM dom_day a, dom_time b, dom_time_log l WHERE a.id = 1 AND b.id = 1;
UPDATE s_dom SET d = 'infinity', t = '-infinity';
CALL scd2.apply('dom_day');
CALL scd2.apply('dom_time');

-- ---------------------------------------------------------------------------
-- Hard case 10: local times in a zone with daylight saving
-- ---------------------------------------------------------------------------
CREATE TABLE w (id integer, a text, at timestamp);
INSERT INTO w VALUES
    (1, 'later wall time',   '2026-03-08 03:30'),       -- 02:30 does not exist: one instant with 03:30
    (1, 'earlier wall time', '2026-03-08 02:30'),
    (2, 'fall', '2026-11-01 01:30'),                    -- exists twice
    (3, 'winter', '2026-01-15 12:00'), (4, 'summer', '2026-07-15 12:00');
SELECT scd2.create_dimension('ny_tokyo', source => 'w', business_key => '{id}', effective_at => 'at', time_zone => 'America/New_York', surrogate_key => 'sk');
SELECT scd2.create_dimension('ny_utc',   source => 'w', business_key => '{id}', effective_at => 'at', time_zone => 'America/New_York', surrogate_key => 'sk');
SET timezone = 'Asia/Tokyo';
CALL scd2.apply('ny_tokyo');
SET timezone = 'UTC';
CALL scd2.apply('ny_utc');
SELECT id, a, valid_from, valid_from = at AT TIME ZONE 'America/New_York' AS as_at_time_zone
  FROM ny_utc JOIN w USING (id, a) WHERE id IS NOT NULL ORDER BY id;
-- equal rows, hashes and keys in both sessions
SELECT * FROM ny_utc EXCEPT ALL SELECT * FROM ny_tokyo;
SELECT count(*) FROM ny_utc_log;
-- both of 8 March are logged; the wall time tells them apart, so that they are replays
CALL scd2.apply('ny_utc');
SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
-- open_end is midnight in that zone
SELECT DISTINCT valid_to AT TIME ZONE 'America/New_York' FROM ny_utc WHERE is_current;
-- dates are midnight there
CREATE TABLE wd (id integer, a text, at date);
INSERT INTO wd VALUES (1, 'a', '2026-07-15'), (2, 'a', '2026-01-15');
SELECT scd2.create_dimension('ny_date', source => 'wd', business_key => '{id}', effective_at => 'at', time_zone => 'America/New_York');
SET timezone = 'Asia/Tokyo';
CALL scd2.apply('ny_date');
SET timezone = 'UTC';
SELECT id, valid_from FROM ny_date WHERE id IS NOT NULL ORDER BY id;

-- ---------------------------------------------------------------------------
-- Hard case 11, R19: E that the period cannot take
-- ---------------------------------------------------------------------------
CREATE FUNCTION try(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE m text; d text; s text;
BEGIN
    EXECUTE what;
    RETURN 'done';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS s = RETURNED_SQLSTATE, m = MESSAGE_TEXT, d = PG_EXCEPTION_DETAIL;
    RETURN format(E'%s %s\n%s', s, m, d);
END $$;
CREATE TABLE e (id integer, a text, at date);
SELECT scd2.create_dimension('dim_e',     source => 'e', business_key => '{id}', effective_at => 'at');
SELECT scd2.create_dimension('dim_e_ts',  source => 'e', business_key => '{id}', effective_at => 'at', period_type => 'timestamp', open_end => 'infinity');
SELECT scd2.create_dimension('dim_e_inf', source => 'e', business_key => '{id}', effective_at => 'at', period_type => 'date', open_end => 'infinity');
SELECT scd2.create_dimension('dim_e_null', source => 'e', business_key => '{id}', effective_at => 'at', period_type => 'date', open_end => 'null');
\pset format unaligned
\pset tuples_only on
SELECT format(E'%s, %s: %s', dim, d, out) FROM unnest('{5874897-12-31,infinity,-infinity,9999-12-31,9999-12-30,"4713-01-01 BC"}'::date[]) WITH ORDINALITY AS u(d, n),
       unnest('{dim_e,dim_e_ts,dim_e_inf,dim_e_null}'::text[]) WITH ORDINALITY AS v(dim, m),
       LATERAL try(format('TRUNCATE ap.e; INSERT INTO ap.e VALUES (%s, ''a'', %L); CALL scd2.apply(''ap.%s'')', n, d, dim)) AS out
 ORDER BY n, m;
\pset format aligned
\pset tuples_only off
SELECT id, valid_from, valid_to FROM dim_e WHERE id IS NOT NULL ORDER BY id;
SELECT id, valid_from, valid_to FROM dim_e_inf WHERE id IS NOT NULL ORDER BY id;
SELECT id, valid_from, valid_to FROM dim_e_null WHERE id IS NOT NULL ORDER BY id;
SELECT v.* FROM unnest('{dim_e,dim_e_ts,dim_e_inf,dim_e_null}'::regclass[]) AS dim, scd2.check(dim) AS v;
-- batch_time is held to the same
SELECT scd2.create_dimension('dim_bt', source => 'e', business_key => '{id}', initial_valid_from => '1900-01-01');
SELECT try($$CALL scd2.apply('ap.dim_bt', batch_time => 'infinity')$$);
SELECT try($$CALL scd2.apply('ap.dim_bt', batch_time => '9999-12-31')$$);
SELECT try($$CALL scd2.apply('ap.dim_bt', batch_time => '1899-12-31 23:59:59')$$);
SELECT try($$CALL scd2.apply('ap.dim_bt', batch_time => '1900-01-01')$$);

-- ---------------------------------------------------------------------------
-- initial_valid_from: where a key's first version begins
-- ---------------------------------------------------------------------------
TRUNCATE s;
SELECT scd2.create_dimension('dim_i', source => 's', business_key => '{id}', effective_at => 'at', initial_valid_from => '1900-01-01');
INSERT INTO s VALUES (1, 'a', '2024-01-01'), (1, 'b', '2024-02-01'), (2, 'a', '1900-01-01'), (3, 'a', '1899-12-31 23:59:59+00');
SELECT try($$CALL scd2.apply('ap.dim_i')$$);
DELETE FROM s WHERE id = 3;
CALL scd2.apply('dim_i');
SELECT id, a, valid_from, valid_to, i_sk = scd2.surrogate_key(id, valid_from) AS sk FROM dim_i WHERE id IS NOT NULL ORDER BY id, valid_from;
CALL scd2.apply('dim_i');
SELECT rows_replayed FROM scd2.runs WHERE id = scd2.last_run();
-- only the first: a key that comes back begins at its E
TRUNCATE s;
CREATE TABLE si (id integer, a text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_ig', source => 'si', business_key => '{id}', effective_at => 'at', initial_valid_from => '1900-01-01', delete_when => 'gone', period_type => 'date');
INSERT INTO si VALUES (1, 'a', '2024-01-01', false), (1, 'a', '2024-01-02', true), (1, 'a', '2024-01-03', false), (2, NULL, '2024-01-01', true), (2, 'a', '2024-01-02', false);
CALL scd2.apply('dim_ig');
SELECT id, a, valid_from, valid_to FROM dim_ig WHERE id IS NOT NULL ORDER BY id, valid_from;
TRUNCATE si;
INSERT INTO si VALUES (1, NULL, '2024-01-04', true), (3, NULL, '2024-01-04', true);
CALL scd2.apply('dim_ig');
TRUNCATE si;
INSERT INTO si VALUES (1, 'b', '2024-01-05', false), (3, 'a', '2024-01-05', false);
CALL scd2.apply('dim_ig');
SELECT id, a, valid_from, valid_to FROM dim_ig WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_ig');

-- R9: the open version is current, even when it starts in the future
TRUNCATE s;
SELECT scd2.create_dimension('dim_f', source => 's', business_key => '{id}', effective_at => 'at');
INSERT INTO s VALUES (1, 'now', '2024-01-01'), (1, 'then', '9000-01-01');
CALL scd2.apply('dim_f');
SELECT a, valid_from, valid_to, is_current FROM dim_f WHERE id = 1 ORDER BY valid_from;

-- without effective_at a day's batches are one E; what was not changed by the
-- later ones is not logged
CREATE TABLE b (id integer, a text);
SELECT scd2.create_dimension('dim_bd', source => 'b', business_key => '{id}', period_type => 'date');
INSERT INTO b VALUES (1, 'a'), (2, 'a');
CALL scd2.apply('dim_bd', batch_time => '2024-01-01 06:00');
CALL scd2.apply('dim_bd', batch_time => '2024-01-01 12:00');
SELECT rows_unchanged FROM scd2.runs WHERE id = scd2.last_run();
SELECT id, a, scd2_effective_at, scd2_source_time FROM dim_bd_log ORDER BY id;
SELECT id, a, valid_from FROM dim_bd WHERE id IS NOT NULL ORDER BY id;

DROP SCHEMA ap CASCADE;
