#!/usr/bin/env bash
# Mode log over a crash (R20, R35): a prepared transaction outlives the server,
# and its row is read when it comes; what ended with the server holds up nothing.
#
# Needs what test/server sets up.  Makes a copy of that server and removes it.
set -uo pipefail
cd "$(dirname "$0")/../.."

. "test/t/lib.sh"
work=$(mktemp -d "${SCD2_SCRATCH:-/var/tmp}/log_restart.XXXXXX")
owner=$PWD/test/as-owner
chmod 777 "$work"
cleanup() {
    "$owner" pg_ctl -D "$work/data" -m immediate -w stop >/dev/null 2>&1
    rm -rf "$work" 2>/dev/null || "$owner" rm -rf "$work/data"
    rm -rf "$work"
}
trap cleanup EXIT

s() { PGHOST=$work q "$@"; }
start() {
    "$owner" pg_ctl -D "$work/data" -l "$work/log" -w start >/dev/null ||
        { "$owner" cat "$work/log"; echo '0 passed, 1 failed'; exit 1; }
}
crash() { "$owner" pg_ctl -D "$work/data" -m immediate -w stop >/dev/null; start; }
read_by() { s -c "SELECT rows_read FROM scd2.runs ORDER BY id DESC LIMIT 1"; }

"$owner" pg_basebackup -h "$PGHOST" -p "$PGPORT" -U "$PGUSER" -D "$work/data" -c fast -X stream >/dev/null ||
    { echo 'pg_basebackup failed'; echo '0 passed, 1 failed'; exit 1; }
echo "unix_socket_directories = '$work'" | "$owner" sh -c 'cat >>"$0"' "$work/data/postgresql.conf"
start

s <<'SQL' >/dev/null
DROP EXTENSION IF EXISTS scd2 CASCADE;
CREATE EXTENSION scd2;
CREATE TABLE changes (pos bigint GENERATED ALWAYS AS IDENTITY, id int, v text, at timestamptz);
SELECT scd2.create_dimension('dim_restart', source => 'changes', business_key => '{id}', effective_at => 'at',
    mode => 'log', log_position => 'pos');
INSERT INTO changes (id, v, at) SELECT i, 'a', '2026-01-01' FROM generate_series(1, 100) i;
SQL
# one transaction runs while apply reads, and is prepared afterwards
s >/dev/null <<SQL
BEGIN;
INSERT INTO changes (id, v, at) VALUES (101, 'prepared', '2026-01-02');
\\! psql -X -q -h '$work' -c "INSERT INTO changes (id, v, at) VALUES (102, 'b', '2026-01-02')" -c "CALL scd2.apply('dim_restart')"
PREPARE TRANSACTION 'log_restart';
SQL
is 'the prepared one is there' 1 "$(s -c 'SELECT count(*) FROM pg_prepared_xacts')"
crash
s -c "CALL scd2.apply('dim_restart')" >/dev/null
is 'the mark waits for what outlived the crash' 101 "$(read_by)"
s -c "CALL scd2.apply('dim_restart')" >/dev/null
crash
s -c "CALL scd2.apply('dim_restart')" >/dev/null
is 'after another crash, too' 101 "$(read_by)"
s -c "COMMIT PREPARED 'log_restart'" >/dev/null
s -c "CALL scd2.apply('dim_restart')" >/dev/null
is 'its row is read' prepared "$(s -c 'SELECT v FROM dim_restart WHERE id = 101')"
s -c "CALL scd2.apply('dim_restart')" >/dev/null
is 'then the mark moves' 0 "$(read_by)"

# what ran when the server crashed has ended
s >/dev/null 2>&1 <<SQL
BEGIN;
INSERT INTO changes (id, v, at) VALUES (103, 'lost', '2026-01-03');
\\! psql -X -q -h '$work' -c "INSERT INTO changes (id, v, at) VALUES (104, 'b', '2026-01-03')" -c "CALL scd2.apply('dim_restart')"
SELECT pg_terminate_backend(pg_backend_pid());
SQL
crash
s -c "CALL scd2.apply('dim_restart')" >/dev/null
s -c "CALL scd2.apply('dim_restart')" >/dev/null
is 'what ended with the server holds up nothing' 0 "$(read_by)"
is 'valid' '' "$(s -c "CALL scd2.assert_valid('dim_restart')")"

finish
