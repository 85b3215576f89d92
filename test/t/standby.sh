#!/usr/bin/env bash
# Hot standby (R28, hard case 20): what only reads works there.
#
# Needs what test/server sets up.  Makes a standby of that server and removes it.
set -uo pipefail
cd "$(dirname "$0")/../.."

. "test/t/lib.sh"
work=$(mktemp -d "${SCD2_SCRATCH:-/var/tmp}/standby.XXXXXX")
owner=$PWD/test/as-owner
chmod 777 "$work"
cleanup() {
    "$owner" pg_ctl -D "$work/data" -m immediate -w stop >/dev/null 2>&1
    rm -rf "$work" 2>/dev/null || "$owner" rm -rf "$work/data"
    rm -rf "$work"
}
trap cleanup EXIT

s() { PGHOST=$work q "$@"; }

q <<'SQL' >/dev/null
CREATE EXTENSION scd2;
CREATE TABLE src (id int, a text, at timestamptz);
SELECT scd2.create_dimension('dim', source => 'src', business_key => '{id}', effective_at => 'at');
INSERT INTO src VALUES (1, 'a', '2026-01-01'), (2, 'x', '2026-01-01');
CALL scd2.apply('dim');
TRUNCATE src;
INSERT INTO src VALUES (1, 'b', '2026-02-01');
SQL
"$owner" pg_basebackup -h "$PGHOST" -p "$PGPORT" -U "$PGUSER" -D "$work/data" -c fast -X stream -R >/dev/null ||
    { echo 'pg_basebackup failed'; echo '0 passed, 1 failed'; exit 1; }
echo "unix_socket_directories = '$work'" | "$owner" sh -c 'cat >>"$0"' "$work/data/postgresql.conf"
"$owner" pg_ctl -D "$work/data" -l "$work/log" -w start >/dev/null || { cat "$work/log"; echo '0 passed, 1 failed'; exit 1; }

is 'it is a standby' t "$(s -c 'SELECT pg_is_in_recovery()')"
is 'preview' 'close 1
open 1' "$(s -F ' ' -c "SELECT action, key ->> 'id' FROM scd2.preview('dim') ORDER BY action")"
is 'sql' t "$(s -c "SELECT count(*) > 5 FROM scd2.sql('dim')")"
is 'check' '' "$(s -c "SELECT * FROM scd2.check('dim')")"
is 'rebuild' '1 a
2 x' "$(s -F ' ' -c "SELECT id, a FROM scd2.rebuild(NULL::dim) ORDER BY id")"
is 'rebuild_apply says why not' 'ERROR:  cannot execute UPDATE in a read-only transaction' \
    "$(s -c "CALL scd2.rebuild_apply('dim')" | grep ERROR)"
is 'assert_valid' '' "$(s -c "CALL scd2.assert_valid('dim')")"
is 'the views' 'dim 2' "$(s -F ' ' -c "SELECT dimension, (SELECT rows_read FROM scd2.runs) FROM scd2.dimensions")"
is 'as of' '1 a' "$(s -F ' ' -c "SELECT id, a FROM dim_as_of('2026-01-15') WHERE id = 1")"
is 'as_of' '1 a' "$(s -F ' ' -c "SELECT id, a FROM scd2.as_of(NULL::dim, '2026-01-15', now()) WHERE id = 1")"
is 'history' 'a' "$(s -c "SELECT a FROM scd2.history(NULL::dim, 1)")"
is 'lookup' t "$(s -c "SELECT scd2.lookup('dim', '2026-01-15', 1) <> -1")"
is 'changes' 2 "$(s -c "SELECT count(*) FROM scd2.changes(NULL::dim, '2026-01-01', '2026-01-02')")"
is 'feed' 'insert a
insert x' "$(s -F ' ' -c "SELECT change, row_data ->> 'a' FROM scd2.feed(NULL::dim, 0)")"
is 'why' 'opened' "$(s -c "SELECT outcome FROM scd2.why('dim', 1)")"
is 'stats' 2 "$(s -c "SELECT value FROM scd2.stats('dim') WHERE name = 'keys'")"
is 'timeline' 1 "$(s -c "SELECT count(*) FROM scd2.timeline('dim', 1) t WHERE t LIKE '%a: a'")"
is 'timeline_svg' t "$(s -c "SELECT scd2.timeline_svg('dim', 1) LIKE '<svg %'")"
is 'hashes' t "$(s -c "SELECT bool_and(row_hash = scd2.row_hash(a)) FROM dim WHERE id > 0")"
is 'apply says why not' 'ERROR:  cannot execute UPDATE in a read-only transaction' \
    "$(s -c "CALL scd2.apply('dim')" | grep ERROR)"
is 'no transaction id was taken' '' \
    "$(q -c "BEGIN READ ONLY; SELECT FROM scd2.preview('dim'); SELECT FROM scd2.check('dim'); SELECT FROM scd2.sql('dim'); SELECT FROM scd2.rebuild(NULL::dim); SELECT FROM scd2.feed(NULL::dim, 0); SELECT FROM scd2.why('dim', 1); SELECT pg_current_xact_id_if_assigned(); COMMIT" | grep -v '^$')"

finish
