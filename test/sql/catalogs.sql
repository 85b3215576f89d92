-- What the extension installs: its tables survive dump and pg_upgrade, nothing internal is public
-- (R4, R34; hard cases 2 and 24)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS scd2;
CREATE SCHEMA ct;
CREATE TABLE ct.src (id int, a text, b text, c text, at timestamptz, seq int);
SELECT scd2.create_dimension('ct.dim', 'ct.src', '{id}', type3 => '{a}', type6 => '{b}', effective_at => 'at',
    sequence_by => '{seq}', on_delete => 'flag', period_type => 'date', surrogate_key_type => 'uuid', guard => true);

CREATE VIEW ct.relations AS
SELECT c.oid, c.relname, c.relkind, c.relacl, n.nspname, c.relowner FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
 WHERE nspname = 'scd2' OR (nspname = 'ct' AND relname ~ '^dim');

-- hard case 2: columns of type oid or a reg* type, other than regclass, regrole and regtype
SELECT relname, attname, atttypid::regtype
  FROM ct.relations r JOIN pg_attribute a ON a.attrelid = r.oid JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_type e ON e.oid = t.typelem
 WHERE relkind IN ('r', 'v', 'm', 'p') AND attnum > 0 AND NOT attisdropped
   AND (COALESCE(NULLIF(e.typname, ''), t.typname) = 'oid' OR t.typname ~ '^_?reg')
   AND t.typname NOT IN ('regclass', 'regrole', 'regtype', '_regtype');

-- every table has a primary key
SELECT relname FROM ct.relations r WHERE relkind IN ('r', 'p')
   AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = r.oid AND indisprimary);

-- every object has a comment
SELECT pg_describe_object(classid, objid, 0) FROM pg_depend d
 WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'scd2') AND deptype = 'e'
   AND obj_description(objid, classid::regclass::name) IS NULL
   AND NOT (classid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_class WHERE oid = objid AND relkind = 'S'))
   AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type t WHERE t.oid = objid AND (typelem <> 0 OR typrelid <> 0)))
 ORDER BY 1;
SELECT relname FROM ct.relations WHERE nspname = 'ct' AND relkind IN ('r', 'v') AND obj_description(oid, 'pg_class') IS NULL;

-- nothing internal is granted to PUBLIC: of the relations only the views that SPEC section 11 names
SELECT relname, string_agg(privilege_type, ', ' ORDER BY privilege_type)
  FROM ct.relations, aclexplode(relacl) WHERE nspname = 'scd2' AND grantee = 0 GROUP BY relname ORDER BY relname;
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
 WHERE nspname = 'scd2' AND proname ~ '^registry_' AND has_function_privilege('public', p.oid, 'EXECUTE');
SELECT privilege_type FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'scd2' AND grantee = 0;
-- views that filter are security barriers
SELECT relname, reloptions FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
 WHERE nspname = 'scd2' AND relname IN ('dimensions', 'dimension_columns', 'runs', 'rejected') ORDER BY 1;

-- no function runs with other rights than its caller's, or is found by a search_path of his
SELECT p.oid::regprocedure, prosecdef, proconfig FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
 WHERE nspname = 'scd2' AND (prosecdef AND (proconfig IS NULL OR NOT 'search_path=pg_catalog, pg_temp' = ANY (proconfig)));
SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace JOIN pg_language l ON l.oid = prolang
 WHERE nspname = 'scd2' AND lanname NOT IN ('c', 'internal') AND prosqlbody IS NULL
   AND (proconfig IS NULL OR NOT 'search_path=pg_catalog, pg_temp' = ANY (proconfig));
-- what belongs to a dimension runs with the caller's rights, inlined
SELECT proname, prosecdef, proconfig, proisstrict, provolatile, proparallel FROM pg_proc WHERE pronamespace = 'ct'::regnamespace;

-- the event triggers are always on
SELECT evtname, evtevent, evtenabled FROM pg_event_trigger WHERE evtname ~ '^scd2' ORDER BY 1;

-- what is dumped: all but the cache, sequences too
SELECT r.relname, r.oid = ANY (extconfig) AS dumped FROM ct.relations r, pg_extension
 WHERE extname = 'scd2' AND nspname = 'scd2' AND relkind IN ('r', 'S') ORDER BY 1;

-- a promise to users who build on them (hard case 24): names, order and types of the views' columns
SELECT c.relname, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute a ON attrelid = c.oid AND attnum > 0
 WHERE nspname = 'scd2' AND relname IN ('dimensions', 'dimension_columns', 'runs', 'rejected', 'progress')
 GROUP BY 1 ORDER BY 1;
SELECT proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
 WHERE nspname = 'scd2' AND proname IN ('create_dimension', 'drop_dimension', 'alter_dimension', 'adopt_report') ORDER BY 1;

DROP SCHEMA ct CASCADE;
