-- Random histories, facts beside them: after each run every fact has the key that a plain join finds,
-- and exactly those were written that had to move (R29, R30, R31; R11)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
SET scd2.notice = off;
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE SCHEMA fx;
SET search_path = fx;

CREATE TABLE cases (name text PRIMARY KEY, options text, fact_type text, key_type text, reference boolean, at_zone text);
INSERT INTO cases VALUES
    ('plain',  '', 'timestamptz', 'int', true, 'ts'),
    ('flag',   $$, on_delete => 'flag', surrogate_key_type => 'uuid'$$, 'timestamptz', 'bigint', true, 'ts'),
    ('day',    $$, period_type => 'date', time_zone => 'Asia/Tokyo', open_end => 'infinity'$$, 'timestamptz', 'int', true,
               $$(ts AT TIME ZONE 'Asia/Tokyo')::date$$),
    ('local',  $$, time_zone => 'America/New_York', open_end => 'null'$$, 'timestamp', 'numeric', true, $$ts AT TIME ZONE 'America/New_York'$$),
    ('dates',  $$, time_zone => 'America/New_York', initial_valid_from => '2026-01-05'$$, 'date', 'smallint', false,
               $$ts::timestamp AT TIME ZONE 'America/New_York'$$),
    ('split',  $$, history => 'separate'$$, 'timestamptz', 'int', false, 'ts'),
    ('none',   $$, unknown_member => false$$, 'timestamptz', 'int', true, 'ts');

-- the truth: a join that is slow and plain
CREATE FUNCTION make(c cases) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($q$
        CREATE TABLE src_%1$s (id int, v text, op text, at timestamptz);
        SELECT scd2.create_dimension('dim_%1$s', 'src_%1$s', '{id}', type2 => '{v}', effective_at => 'at',
                                     delete_when => 'op = ''D'''%2$s);
        CREATE TABLE fact_%1$s (n int GENERATED ALWAYS AS IDENTITY, id %4$s, ts %3$s, sk %5$s%6$s);
        CREATE VIEW versions_%1$s AS SELECT * FROM %7$s;
        CREATE VIEW truth_%1$s AS
        SELECT f.n, f.sk::text, coalesce((SELECT d.%1$s_sk FROM versions_%1$s d WHERE d.id = f.id
                   AND d.valid_from <= %8$s AND (d.valid_to > %8$s OR d.valid_to IS NULL)), %9$s)::text AS right_sk
          FROM fact_%1$s f$q$,
        c.name, c.options, c.fact_type, c.key_type,
        CASE WHEN c.name = 'flag' THEN 'uuid' ELSE 'bigint' END,
        CASE WHEN c.reference THEN format(' REFERENCES dim_%s DEFERRABLE INITIALLY DEFERRED', c.name) ELSE '' END,
        CASE WHEN c.name = 'split' THEN 'dim_split_versions' ELSE format('dim_%s', c.name) END,
        replace(c.at_zone, 'ts', 'f.ts'),
        CASE c.name WHEN 'none' THEN 'NULL' WHEN 'flag' THEN '''00000000-0000-0000-0000-000000000000''' ELSE '-1' END);
END
$$;

-- every fact is right, and as many were written as had to move
CREATE FUNCTION look(c cases, step text) RETURNS SETOF text LANGUAGE plpgsql AS $$
<<look>>
DECLARE wrong bigint; moved bigint; said bigint; written bigint;
BEGIN
    EXECUTE format($q$SELECT count(*) FILTER (WHERE t.sk IS DISTINCT FROM t.right_sk), count(*) FILTER (WHERE t.right_sk IS DISTINCT FROM b.sk)
                        FROM truth_%1$s t JOIN before b USING (n)$q$, c.name) INTO wrong, moved;
    EXECUTE format($q$SELECT count(*) FROM fact_%1$s f JOIN before b USING (n) WHERE f.ctid <> b.tid$q$, c.name) INTO written;
    SELECT sum(facts_rekeyed) INTO said FROM scd2.runs WHERE id > (SELECT last FROM last_seen);
    IF wrong > 0 OR moved <> written OR moved <> said THEN
        RETURN NEXT format('%s, %s: %s wrong, %s had to move, %s were written, %s said', c.name, step, wrong, moved, written, said);
    END IF;
    UPDATE total SET moved = total.moved + look.moved WHERE total.name = (look.c).name;
END
$$;
CREATE TABLE total (name text, moved bigint);
CREATE TABLE last_seen (last bigint);
INSERT INTO last_seen VALUES (0);
CREATE TABLE before (n int, sk text, tid tid);
CREATE FUNCTION note(c cases) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE before;
    EXECUTE format('INSERT INTO before SELECT n, sk::text, ctid FROM fact_%s', c.name);
    UPDATE last_seen SET last = (SELECT max(id) FROM scd2.runs);
END
$$;

CREATE FUNCTION histories(c cases, rounds int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE round int; run bigint; bad text;
BEGIN
    PERFORM make(c);
    PERFORM scd2.register_fact('fx.fact_' || c.name, 'fx.dim_' || c.name, '{id}', 'ts', 'sk');
    INSERT INTO total VALUES (c.name, 0);
    EXECUTE format($q$INSERT INTO fact_%1$s (id, ts) SELECT nullif(1 + (random() * 12)::int, 13),
        CASE WHEN random() < 0.97 THEN timestamptz '2025-12-28' + random() * interval '20 days' WHEN random() < 0.5 THEN 'infinity' END
        FROM generate_series(1, 300)$q$, c.name);
    -- what was not resolved yet is not counted as moved
    EXECUTE format('CALL scd2.resolve(''fx.fact_%s'')', c.name);
    FOR round IN 1..rounds LOOP
        EXECUTE format('TRUNCATE src_%1$s; INSERT INTO src_%1$s SELECT 1 + (random() * 9)::int, chr(97 + (random() * 2)::int),
            CASE WHEN random() < 0.15 THEN ''D'' END,
            timestamptz ''2026-01-06'' + (random() * 240)::int * interval ''1 hour'' + i * interval ''1 microsecond''
            FROM generate_series(1, 1 + (random() * 6)::int) i', c.name);
        PERFORM note(c);
        EXECUTE format('CALL scd2.apply(''fx.dim_%s'')', c.name);
        RETURN QUERY SELECT look(c, 'apply ' || round);
        PERFORM note(c);
        EXECUTE format('CALL scd2.apply(''fx.dim_%s'')', c.name);
        RETURN QUERY SELECT look(c, 'again ' || round);
        IF random() < 0.25 THEN
            SELECT id INTO run FROM scd2.runs WHERE dimension = ('fx.dim_' || c.name)::regclass AND action = 'apply' AND undone_by IS NULL
             ORDER BY random() LIMIT 1;
            PERFORM note(c);
            EXECUTE format('CALL scd2.undo(''fx.dim_%s'', %s)', c.name, run);
            RETURN QUERY SELECT look(c, 'undo ' || round);
        END IF;
        IF random() < 0.2 AND c.name <> 'split' THEN
            EXECUTE format('UPDATE fact_%1$s SET sk = NULL WHERE random() < 0.1;
                            DELETE FROM dim_%1$s d WHERE random() < 0.2 AND id IS NOT NULL AND NOT EXISTS (SELECT FROM fact_%1$s f WHERE f.sk = d.%1$s_sk)', c.name);
            EXECUTE format('CALL scd2.rebuild_apply(''fx.dim_%s'')', c.name);
            EXECUTE format('CALL scd2.resolve(''fx.fact_%s'')', c.name);
            PERFORM note(c);
            RETURN QUERY SELECT look(c, 'heal ' || round);
        END IF;
        IF random() < 0.2 THEN
            EXECUTE format('UPDATE fact_%1$s f SET sk = (SELECT %1$s_sk FROM dim_%1$s ORDER BY random() LIMIT 1) WHERE random() < 0.1', c.name);
            PERFORM note(c);
            EXECUTE format('CALL scd2.resolve(''fx.fact_%s'', recheck => true)', c.name);
            RETURN QUERY SELECT look(c, 'recheck ' || round);
        END IF;
        EXECUTE format('SELECT string_agg(x::text, '' '') FROM scd2.check(''fx.dim_%s'') x', c.name) INTO bad;
        IF bad IS NOT NULL THEN RETURN NEXT format('%s, check %s: %s', c.name, round, bad); END IF;
    END LOOP;
END
$$;

SELECT setseed(0.2026);
SELECT histories(c, 10) FROM cases c ORDER BY name;
-- it was no idle exercise
SELECT name, moved > 100 AS moved FROM total ORDER BY name;
SELECT count(*) > 100 AS runs FROM scd2.runs WHERE dimension_name ~ '^fx';
SELECT note(c) FROM cases c WHERE name = 'plain';
UPDATE fact_plain SET sk = NULL WHERE n IN (1, 2);
SELECT look(c, 'spoilt') FROM cases c WHERE name = 'plain';

SET client_min_messages = error;
DROP SCHEMA fx CASCADE;
