-- Late changes, corrections of an instant, late snapshots, and what they may remove
-- (R5, R8, R10, R15, R16, R20, R30; hard cases 15, 25, 27, 29, 30, 35).
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE SCHEMA lt;
SET search_path = lt;
SET scd2.notice = off;

-- what a run counted, zeros left out
CREATE FUNCTION counted() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(c.key || ' ' || c.value, ', ' ORDER BY c.ordinality)
      FROM scd2.runs r,
           jsonb_each_text(to_jsonb(r) - '{id,dimension,dimension_name,action,source,scope,who,started_at,recorded_at,finished_at,batch_time,undone_by}'::text[])
           WITH ORDINALITY c
     WHERE r.id = scd2.last_run() AND c.value <> '0'
$$;

-- ---------------------------------------------------------------------------
-- R16: a late change folds its key from the log, and writes what differs
-- ---------------------------------------------------------------------------
CREATE TABLE s (id integer, seg text, name text, at timestamptz, gone boolean);
SELECT scd2.create_dimension('dim_c', source => 's', business_key => '{id}', type1 => '{name}', type2 => '{seg}',
                             effective_at => 'at', delete_when => 'gone');
INSERT INTO s VALUES (1, 'a', 'x', '2026-01-01', false), (1, 'b', 'y', '2026-01-10', false),
                     (2, 'q', 'q', '2026-01-05', false), (3, 'z', 'z', '2026-01-01', false);
CALL scd2.apply('dim_c');
CREATE TABLE before AS SELECT ctid AS place, xmin AS written, * FROM dim_c;
TRUNCATE s;
INSERT INTO s VALUES (1, 'c', 'z', '2026-01-05', false), (2, 'p', 'p', '2026-01-01', false);
SELECT * FROM scd2.preview('dim_c');
CALL scd2.apply('dim_c');
SELECT counted();
SELECT id, seg, name, valid_from::date, valid_to::date, is_current FROM dim_c WHERE id IS NOT NULL ORDER BY id, valid_from;
-- rows that do not differ, and other keys', were not written
SELECT b.id, b.seg FROM before b JOIN dim_c d ON d.ctid = b.place AND d.xmin = b.written WHERE b.id IS NOT NULL ORDER BY 1, 2;
SELECT * FROM scd2.check('dim_c');
-- R11: again, nothing
CALL scd2.apply('dim_c');
SELECT counted();
-- a late confirmation is logged, and matters when another change lands before it
TRUNCATE s;
INSERT INTO s VALUES (3, 'z', 'z', '2026-01-09', false);
CALL scd2.apply('dim_c');
TRUNCATE s;
INSERT INTO s VALUES (3, 'y', 'z', '2026-01-05', false);
CALL scd2.apply('dim_c');
SELECT id, seg, valid_from::date, valid_to::date FROM dim_c WHERE id = 3 ORDER BY valid_from;
-- a late delete makes a gap; the version after it stays
TRUNCATE s;
INSERT INTO s VALUES (3, NULL, NULL, '2026-01-07', true);
SELECT action, key, effective_at::date, old, new FROM scd2.preview('dim_c');
CALL scd2.apply('dim_c');
SELECT counted();
SELECT id, seg, valid_from::date, valid_to::date FROM dim_c WHERE id = 3 ORDER BY valid_from;
-- a correction of an instant that makes two versions one
TRUNCATE s;
INSERT INTO s VALUES (2, 'q', 'p', '2026-01-01', false);
SELECT action, key, effective_at::date, old, new FROM scd2.preview('dim_c');
CALL scd2.apply('dim_c');
SELECT counted();
SELECT id, seg, name, valid_from::date, valid_to::date FROM dim_c WHERE id = 2 ORDER BY valid_from;
SELECT * FROM scd2.check('dim_c');

-- R5: what is replayed keeps its first place: the correction stands
TRUNCATE s;
INSERT INTO s VALUES (2, 'p', 'p', '2026-01-01', false);
CALL scd2.apply('dim_c');
SELECT counted();
SELECT id, seg FROM dim_c WHERE id = 2;

-- hard case 35: two deletes at one position are one change, whatever values they carry
TRUNCATE s;
INSERT INTO s VALUES (1, 'c', 'z', '2026-02-01', true), (1, NULL, NULL, '2026-02-01', true);
CALL scd2.apply('dim_c');
SELECT counted();
TRUNCATE s;
INSERT INTO s VALUES (1, 'other', 'z', '2026-02-01', true);
CALL scd2.apply('dim_c');
SELECT counted();
SELECT * FROM scd2.check('dim_c');

-- on_late: skip counts, error names the key
SELECT scd2.create_dimension('dim_skip', source => 's', business_key => '{id}', effective_at => 'at', on_late => 'skip');
SELECT scd2.create_dimension('dim_strict', source => 's', business_key => '{id}', effective_at => 'at', on_late => 'error');
SELECT scd2.create_dimension('dim_bare', source => 's', business_key => '{id}', effective_at => 'at', on_late => 'skip', change_log => false);
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', 'a', '2026-02-01', false);
CALL scd2.apply('dim_skip');
CALL scd2.apply('dim_strict');
CALL scd2.apply('dim_bare');
TRUNCATE s;
INSERT INTO s VALUES (1, 'b', 'b', '2026-01-01', false), (2, 'b', 'b', '2026-01-01', false);
SELECT action, key FROM scd2.preview('dim_skip') ORDER BY key;
CALL scd2.apply('dim_skip');
SELECT counted();
CALL scd2.apply('dim_bare');
SELECT counted();
CALL scd2.apply('dim_strict');
SELECT id, seg, valid_from::date FROM dim_skip WHERE id IS NOT NULL ORDER BY id;
SELECT count(*) FROM dim_skip_log;

-- ---------------------------------------------------------------------------
-- Every type of column, out of order: the same as in order (R8, R10)
-- ---------------------------------------------------------------------------
CREATE TABLE t (k1 text, k2 integer, c0 text, c1 text, c2 text, c3 text, c6 text, at date, n integer);
SELECT scd2.create_dimension('in_order', source => 't', business_key => '{k1,k2}', type0 => '{c0}', type1 => '{c1}', type2 => '{c2}',
                             type3 => '{c3}', type6 => '{c6}', effective_at => 'at', sequence_by => '{n}', period_type => 'date', guard => true);
SELECT scd2.create_dimension('any_order', source => 't', business_key => '{k1,k2}', type0 => '{c0}', type1 => '{c1}', type2 => '{c2}',
                             type3 => '{c3}', type6 => '{c6}', effective_at => 'at', sequence_by => '{n}', period_type => 'date', guard => true);
CREATE TABLE changes (LIKE t);
INSERT INTO changes
SELECT 'k' || i % 3, i / 5 % 2, 'o' || i % 5, 'i' || i % 4, 'ii' || i % 7, nullif('iii' || i % 4, 'iii2'), 'vi' || i / 3 % 2,
       date '2026-01-01' + (i * 7) % 31, i % 4
  FROM generate_series(1, 90) i;
-- one change of each position
DELETE FROM changes c USING changes d WHERE (c.k1, c.k2, c.at, c.n) = (d.k1, d.k2, d.at, d.n) AND c.ctid > d.ctid;
INSERT INTO t SELECT * FROM changes;
CALL scd2.apply('in_order');
DO $$
DECLARE
    c changes;
BEGIN
    FOR c IN SELECT * FROM changes ORDER BY md5(changes::text) LOOP
        TRUNCATE t;
        INSERT INTO t VALUES (c.*);
        CALL scd2.apply('lt.any_order');
    END LOOP;
END
$$;
SELECT count(*) > 20 AS several, count(*) FILTER (WHERE NOT is_current) > 10 AS closed FROM any_order;
SELECT count(*) FROM (SELECT to_jsonb(a) - 'any_order_sk' - 'row_hash', a.row_hash, a.any_order_sk FROM any_order a
                      EXCEPT ALL SELECT to_jsonb(i) - 'in_order_sk' - 'row_hash', i.row_hash, i.in_order_sk FROM in_order i) x;
SELECT count(*) FROM (SELECT i.row_hash, i.in_order_sk, i.valid_to FROM in_order i EXCEPT ALL SELECT a.row_hash, a.any_order_sk, a.valid_to FROM any_order a) x;
SELECT * FROM scd2.check('any_order');
SELECT count(*) FROM (SELECT * FROM scd2.rebuild(NULL::any_order) EXCEPT ALL SELECT * FROM any_order) x;

-- a key that is a domain over an enum, late by its own time and by a snapshot's
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN dmood AS mood;
CREATE TABLE m (k dmood, a text, at date);
SELECT scd2.create_dimension('dim_m', source => 'm', business_key => '{k}', effective_at => 'at');
SELECT scd2.create_dimension('dim_ms', source => 'm', business_key => '{k}', type2 => '{a}', mode => 'snapshot', history => 'separate');
INSERT INTO m VALUES ('sad', 'b', '2026-02-01');
CALL scd2.apply('dim_m');
CALL scd2.apply('dim_ms', batch_time => '2026-02-01');
UPDATE m SET a = 'a', at = '2026-01-01';
CALL scd2.apply('dim_m');
CALL scd2.apply('dim_ms', batch_time => '2026-01-01');
SELECT k, a, valid_from::date, valid_to::date FROM dim_m WHERE k IS NOT NULL ORDER BY valid_from;
SELECT k, a, valid_from::date, valid_to::date FROM dim_ms_versions ORDER BY valid_from;
SELECT count(*) FROM scd2.rebuild(NULL::dim_m, keys => '{sad}');
CALL scd2.undo('dim_ms', scd2.last_run());
SELECT k, a, valid_from::date, valid_to::date FROM dim_ms_versions ORDER BY valid_from;

-- hard case 30: several changes a day, period_type date: the last by instant
CREATE TABLE u (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_u', source => 'u', business_key => '{id}', effective_at => 'at', period_type => 'date');
INSERT INTO u VALUES (1, 'noon', '2026-01-01 12:00');
CALL scd2.apply('dim_u');
TRUNCATE u;
INSERT INTO u VALUES (1, 'evening', '2026-01-01 18:00');
CALL scd2.apply('dim_u');
TRUNCATE u;
INSERT INTO u VALUES (1, 'morning', '2026-01-01 06:00'), (1, 'next', '2026-01-02 00:00');
CALL scd2.apply('dim_u');
SELECT id, a, valid_from, valid_to FROM dim_u WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM scd2.check('dim_u');

-- ---------------------------------------------------------------------------
-- R20, snapshots
-- ---------------------------------------------------------------------------
CREATE TABLE p (id integer, a text);
SELECT scd2.create_dimension('dim_p', source => 'p', business_key => '{id}', mode => 'snapshot', on_delete => 'flag');
-- hard case 27: one batch_time loaded three times: b, a, b
INSERT INTO p VALUES (1, 'b');
CALL scd2.apply('dim_p', batch_time => '2026-01-01');
UPDATE p SET a = 'a';
CALL scd2.apply('dim_p', batch_time => '2026-01-01');
SELECT counted();
UPDATE p SET a = 'b';
CALL scd2.apply('dim_p', batch_time => '2026-01-01');
SELECT id, a, valid_from::date, valid_to::date, is_current, is_deleted FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;

-- a late snapshot holds until the next one: what that one told is logged there too
UPDATE p SET a = 'c';
INSERT INTO p VALUES (2, 'c');
CALL scd2.apply('dim_p', batch_time => '2026-03-01');
UPDATE p SET a = 'late';
INSERT INTO p VALUES (3, 'late only');
SELECT action, key, effective_at::date, old, new FROM scd2.preview('dim_p', batch_time => '2026-02-01');
CALL scd2.apply('dim_p', batch_time => '2026-02-01');
SELECT counted();
SELECT id, a, valid_from::date, valid_to::date, is_current, is_deleted FROM dim_p WHERE id IS NOT NULL ORDER BY id, valid_from;
CALL scd2.apply('dim_p', batch_time => '2026-02-01');
SELECT counted();
-- one that lacks a key
DELETE FROM p WHERE id = 1;
CALL scd2.apply('dim_p', batch_time => '2026-02-15');
SELECT id, a, valid_from::date, valid_to::date, is_current, is_deleted FROM dim_p WHERE id = 1 ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_p');
-- an empty one is refused while keys were open then
TRUNCATE p;
CALL scd2.apply('dim_p', batch_time => '2026-02-20');

-- snapshots of parts: the next one is that of the same scope or of all
CREATE TABLE r (id integer, land text, a text);
SELECT scd2.create_dimension('dim_r', source => 'r', business_key => '{id}', mode => 'snapshot');
INSERT INTO r VALUES (1, 'FR', 'a'), (2, 'IT', 'a');
CALL scd2.apply('dim_r', batch_time => '2026-01-01');
TRUNCATE r;
INSERT INTO r VALUES (2, 'IT', 'b');
CALL scd2.apply('dim_r', batch_time => '2026-01-03', scope => $$land = 'IT'$$);
TRUNCATE r;
INSERT INTO r VALUES (1, 'FR', 'c');
CALL scd2.apply('dim_r', batch_time => '2026-01-04', scope => $$land = 'FR'$$);
-- late, of FR: key 2 is out of scope, and 3 January's snapshot is not the next one
TRUNCATE r;
INSERT INTO r VALUES (1, 'FR', 'late');
CALL scd2.apply('dim_r', batch_time => '2026-01-02', scope => $$land = 'FR'$$);
SELECT id, land, a, valid_from::date, valid_to::date FROM dim_r WHERE id IS NOT NULL ORDER BY id, valid_from;
SELECT * FROM scd2.check('dim_r');

-- a scope is asked of what columns showed then: type 1 and 6 columns show the last
-- value on every version now
CREATE TABLE sc (id integer, a text, t text, p text);
SELECT scd2.create_dimension('dim_sc', source => 'sc', business_key => '{id}', mode => 'snapshot', type1 => '{a}', type3 => '{p}', type6 => '{t}');
INSERT INTO sc VALUES (1, 'in', 'in', 'in'), (2, 'in', 'in', 'in'), (3, 'in', 'in', 'in'), (4, 'out', 'out', 'out'), (5, 'stays', 'x', 'y');
CALL scd2.apply('dim_sc', batch_time => '2026-01-01');
UPDATE sc SET a = 'out', t = 'out', p = 'out' WHERE id < 4;
UPDATE sc SET a = 'in', t = 'in', p = 'in' WHERE id = 4;
CALL scd2.apply('dim_sc', batch_time => '2026-02-01');
DELETE FROM sc WHERE id < 5;
CALL scd2.apply('dim_sc', batch_time => '2026-01-10', scope => $$a = 'in' AND id = 1 AND is_current$$);
CALL scd2.apply('dim_sc', batch_time => '2026-01-11', scope => $$current_t = 'in' AND id IN (2, 4)$$);
CALL scd2.apply('dim_sc', batch_time => '2026-01-12', scope => $$p = 'in' AND id IN (3, 4)$$);
CALL scd2.apply('dim_sc', batch_time => '2026-01-13', scope => $$previous_p = 'in'$$);
SELECT id, scd2_effective_at::date, scd2_deleted, a FROM dim_sc_log WHERE id < 5 ORDER BY scd2_id;
SELECT * FROM scd2.check('dim_sc');

-- the same snapshots in any order give what they give in order
CREATE TABLE snap (day date, id integer, a text, b numeric);
INSERT INTO snap
SELECT date '2026-01-01' + d, i, 'v' || (d * i) % 3, (d / 4) % 2
  FROM generate_series(0, 30) d, generate_series(1, 12) i
 WHERE (d * 13 + i * 7) % 5 > 0;
CREATE TABLE day (id integer, a text, b numeric);
SELECT scd2.create_dimension('snap_in_order', source => 'day', business_key => '{id}', mode => 'snapshot', type1 => '{b}');
SELECT scd2.create_dimension('snap_any_order', source => 'day', business_key => '{id}', mode => 'snapshot', type1 => '{b}');
DO $$
DECLARE
    d date;
BEGIN
    FOR d IN SELECT DISTINCT day FROM snap ORDER BY day LOOP
        TRUNCATE day;
        INSERT INTO day SELECT id, a, b FROM snap WHERE day = d;
        CALL scd2.apply('lt.snap_in_order', batch_time => d);
    END LOOP;
    FOR d IN SELECT day FROM snap GROUP BY day ORDER BY md5(day::text) LOOP
        TRUNCATE day;
        INSERT INTO day SELECT id, a, b FROM snap WHERE day = d;
        CALL scd2.apply('lt.snap_any_order', batch_time => d);
    END LOOP;
END
$$;
SELECT count(*) > 100 AS several FROM snap_in_order;
SELECT count(*) FROM (SELECT id, a, b, valid_from, valid_to, is_current, row_hash FROM snap_in_order
                      EXCEPT ALL SELECT id, a, b, valid_from, valid_to, is_current, row_hash FROM snap_any_order) x;
SELECT count(*) FROM (SELECT id, a, b, valid_from, valid_to, is_current, row_hash FROM snap_any_order
                      EXCEPT ALL SELECT id, a, b, valid_from, valid_to, is_current, row_hash FROM snap_in_order) x;
SELECT * FROM scd2.check('snap_any_order');

-- what a later snapshot left out, or sent as null, stays what was known then
CREATE TABLE n (id integer, a integer, b numeric, c text);
SELECT scd2.create_dimension('dim_n', source => 'n', business_key => '{id}', mode => 'snapshot', type1 => '{c}', type3 => '{b}',
                             on_delete => 'flag', ignore_null_updates => true);
INSERT INTO n VALUES (1, 1, 1, 'x'), (2, 1, 2.5, 'x'), (3, 1, 2.5, 'x');
CALL scd2.apply('dim_n', batch_time => '2026-01-01');
UPDATE n SET a = 5, b = NULL, c = NULL WHERE id > 1;
CALL scd2.apply('dim_n', batch_time => '2026-01-03');
DELETE FROM n WHERE id = 2;
UPDATE n SET a = 1, b = 9, c = 'late' WHERE id = 3;
CALL scd2.apply('dim_n', batch_time => '2026-01-02');
SELECT id, a, b, previous_b, c, valid_from::date, valid_to::date, is_deleted FROM dim_n WHERE id > 1 ORDER BY id, valid_from;
SELECT id, a, b, c, scd2_deleted, scd2_effective_at::date, scd2_run - min(scd2_run) OVER () AS run
  FROM dim_n_log WHERE id > 1 ORDER BY id, scd2_effective_at, scd2_run;
SELECT * FROM scd2.check('dim_n');

-- hard case 25: with effective_at, a key that comes back with its old time
CREATE TABLE e (id integer, a text, at timestamptz);
SELECT scd2.create_dimension('dim_e', source => 'e', business_key => '{id}', mode => 'snapshot', effective_at => 'at');
INSERT INTO e VALUES (1, 'a', '2026-01-01'), (2, 'a', '2026-01-01');
CALL scd2.apply('dim_e', batch_time => '2026-01-02');
DELETE FROM e WHERE id = 1;
CALL scd2.apply('dim_e', batch_time => '2026-01-03');
INSERT INTO e VALUES (1, 'a', '2026-01-01');
CALL scd2.apply('dim_e', batch_time => '2026-01-04');
SELECT id, a, valid_from::date, valid_to::date FROM dim_e WHERE id IS NOT NULL ORDER BY id, valid_from;
-- a row whose time is ahead of the batch's, then corrected: at that very time
UPDATE e SET a = 'ahead', at = '2026-02-01' WHERE id = 2;
CALL scd2.apply('dim_e', batch_time => '2026-01-05');
UPDATE e SET a = 'back', at = '2026-01-06' WHERE id = 2;
CALL scd2.apply('dim_e', batch_time => '2026-01-06');
SELECT id, a, valid_from::date, valid_to::date FROM dim_e WHERE id = 2 ORDER BY id, valid_from;
CALL scd2.apply('dim_e', batch_time => '2026-01-06');
SELECT counted();
-- late snapshots are an error there
CALL scd2.apply('dim_e', batch_time => '2026-01-05');

-- ---------------------------------------------------------------------------
-- R30, hard case 15: a version that a row refers to is not removed
-- ---------------------------------------------------------------------------
TRUNCATE s;
SELECT scd2.create_dimension('dim_k', source => 's', business_key => '{id}', type2 => '{seg}', effective_at => 'at');
INSERT INTO s VALUES (1, 'a', NULL, '2026-01-01', false), (1, 'b', NULL, '2026-01-10', false);
CALL scd2.apply('dim_k');
CREATE TABLE fact (n integer, sk bigint REFERENCES dim_k ON DELETE CASCADE);
INSERT INTO fact SELECT 1, k_sk FROM dim_k WHERE seg = 'b';
TRUNCATE s;
INSERT INTO s VALUES (1, 'b', NULL, '2026-01-05', false);
CALL scd2.apply('dim_k');
SELECT count(*) FROM fact;
SELECT id, seg, valid_from::date, valid_to::date FROM dim_k WHERE id IS NOT NULL ORDER BY valid_from;
-- the same whoever owns the fact, by another unique key, and through a partition
CREATE ROLE lt_owner;
GRANT USAGE, CREATE ON SCHEMA lt TO lt_owner;
GRANT REFERENCES ON dim_k TO lt_owner;
DROP TABLE fact;
SET ROLE lt_owner;
CREATE TABLE lt.fact (n integer, id integer, "From" timestamptz, FOREIGN KEY (id, "From") REFERENCES lt.dim_k (id, valid_from) ON DELETE SET NULL)
    PARTITION BY RANGE (n);
CREATE TABLE lt.fact_1 PARTITION OF lt.fact FOR VALUES FROM (0) TO (10);
ALTER TABLE lt.fact ENABLE ROW LEVEL SECURITY;
ALTER TABLE lt.fact FORCE ROW LEVEL SECURITY;
INSERT INTO lt.fact_1 VALUES (1, 1, '2026-01-10');
RESET ROLE;
CALL scd2.apply('dim_k');
TRUNCATE lt.fact_1;
CALL scd2.apply('dim_k');
SELECT id, seg, valid_from::date, valid_to::date FROM dim_k WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM scd2.check('dim_k');
-- what is in the way of a removal is said: R15
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep BEFORE DELETE ON dim_k FOR EACH ROW EXECUTE FUNCTION keep();
TRUNCATE s;
INSERT INTO s VALUES (1, 'a', NULL, '2026-01-05', false);
CALL scd2.apply('dim_k');
DROP TRIGGER keep ON dim_k;
CREATE TRIGGER keep BEFORE UPDATE ON dim_k FOR EACH ROW EXECUTE FUNCTION keep();
CALL scd2.apply('dim_k');
DROP TRIGGER keep ON dim_k;
-- an exclusion constraint and a guard hold at every moment
ALTER TABLE dim_k ADD EXCLUDE USING gist (int4range(id, id, '[]') WITH &&, tstzrange(valid_from, valid_to) WITH &&);
CREATE UNIQUE INDEX ON dim_k (id) WHERE is_current;
CALL scd2.apply('dim_k');
TRUNCATE s;
INSERT INTO s VALUES (1, 'x', NULL, '2026-01-03', false), (1, 'x', NULL, '2026-01-06', true), (1, 'y', NULL, '2026-01-02', false);
CALL scd2.apply('dim_k');
SELECT id, seg, valid_from::date, valid_to::date, is_current FROM dim_k WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM scd2.check('dim_k');
-- and so does a constraint on the period, where nothing refers to the dimension
DROP TABLE fact;
ALTER TABLE dim_k ADD CONSTRAINT forward CHECK (valid_from < valid_to);
TRUNCATE s;
INSERT INTO s VALUES (1, 'y', NULL, '2026-01-03', false), (1, 'a', NULL, '2026-01-02', false);
CALL scd2.apply('dim_k');
SELECT id, seg, valid_from::date, valid_to::date, is_current FROM dim_k WHERE id IS NOT NULL ORDER BY valid_from;
SELECT * FROM scd2.check('dim_k');

-- a preview leaves no files behind, however much it would write
CREATE TABLE many (id integer, seg text, at timestamptz);
INSERT INTO many SELECT i, repeat('x', 50), '2026-02-01' FROM generate_series(1, 5000) i;
SELECT scd2.create_dimension('dim_many', source => 'many', business_key => '{id}', effective_at => 'at');
CALL scd2.apply('dim_many');
UPDATE many SET seg = repeat('y', 50), at = '2026-01-01';
SET work_mem = '64kB';
SELECT action, count(*) FROM scd2.preview('dim_many') GROUP BY action;
RESET work_mem;

SET client_min_messages = error;
DROP SCHEMA lt CASCADE;
DROP ROLE lt_owner;
