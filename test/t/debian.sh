#!/usr/bin/env bash
# Real input: Debian's package index of two releases as two snapshots of a
# dim_package, compared with a plain SQL computation of what must come out.
#
# The mirror is the one that apt on this machine uses; the lists are fetched into
# a scratch directory of apt's own.  A release that cannot be had is a skip.
# shellcheck disable=SC2016
set -euo pipefail

tests=7 passed=0 failed=0
scratch=$(mktemp -d "${SCD2_SCRATCH:-/var/tmp}/debian.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

skip() {
    echo "skipped: $*"
    echo "0 passed, 0 failed, $tests skipped"
    exit 0
}

is() { # what expected got
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1"
        echo "  expected: $2"
        echo "  got:      $3"
    fi
}

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

command -v apt-get >/dev/null || skip 'no apt on this machine'
mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk -F '|' '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
if [ -z "$mirror" ]; then # no list fetched yet: the first mirror in the sources
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        sed -nE 's/^(URIs:|deb( \[[^]]*\])?)[[:space:]]+([a-z+]+:[^[:space:]]*\/debian\/?)([[:space:]].*)?$/\3/p' | head -n 1)
fi
[ -n "$mirror" ] || skip 'apt knows no Debian mirror'

# Packages of one release, as lines for COPY
fetch() { # suite
    local dir=$scratch/$1 list
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
    echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >"$dir/sources.list"
    timeout 180 apt-get -q -o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir/cache" \
        -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o APT::Architectures=amd64 -o Acquire::Languages=none -o APT::Sandbox::User=root \
        -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
        -o Acquire::IndexTargets::deb::CNF::DefaultEnabled=false \
        -o Acquire::Retries=2 -o APT::Update::Error-Mode=any update >"$dir/log" 2>&1 </dev/null || return 1
    list=$(find "$dir/lists" -name '*_main_binary-amd64_Packages*' | head -n 1)
    [ -n "$list" ] || return 1
    /usr/lib/apt/apt-helper cat-file "$list" | awk -v RS= -F '\n' '
        function value(name) { return name in field ? field[name] : "\\N" }
        {
            split("", field)
            for (i = 1; i <= NF; i++)
                if (match($i, /^[A-Za-z0-9-]+: /)) {
                    text = substr($i, RLENGTH + 1)
                    gsub(/\\/, "\\\\", text)
                    gsub(/\t/, "\\t", text)
                    field[substr($i, 1, RLENGTH - 2)] = text
                }
            print value("Package") "\t" value("Version") "\t" value("Section") "\t" value("Priority") "\t" \
                value("Installed-Size") "\t" value("Depends") "\t" value("Maintainer") "\t" value("Homepage")
        }'
}

for suite in bookworm trixie; do
    fetch $suite >"$scratch/$suite.copy" ||
        skip "Debian $suite cannot be fetched: $(grep -E '^[EW]:' "$scratch/$suite/log" | head -n 1)"
done

sql <<'SQL'
CREATE EXTENSION IF NOT EXISTS scd2;
CREATE TABLE bookworm (package text, version text, section text, priority text, installed_size bigint,
                       depends text, maintainer text, homepage text);
CREATE TABLE trixie (LIKE bookworm);
SQL
for suite in bookworm trixie; do
    # the index of a suite can hold a package twice: keep one of them
    sql -c 'CREATE TABLE raw (n int GENERATED ALWAYS AS IDENTITY, LIKE bookworm)' \
        -c "\\copy raw (package, version, section, priority, installed_size, depends, maintainer, homepage) FROM '$scratch/$suite.copy'" \
        -c "INSERT INTO $suite SELECT DISTINCT ON (package) package, version, section, priority, installed_size, depends, maintainer, homepage
              FROM raw ORDER BY package, n" \
        -c 'DROP TABLE raw' -c "ANALYZE $suite"
    echo "$suite: $(sql -c "SELECT count(*) FROM $suite") packages"
    is "$suite has tens of thousands of packages" t "$(sql -c "SELECT count(*) > 20000 FROM $suite")"
done

# What must come out: a package of one release has one version, and so has one
# whose tracked columns are the same in both; every other package has two.
# Type 1 columns are the newest everywhere.
sql <<'SQL'
CREATE VIEW expected AS
SELECT b.package, b.version, b.section, b.priority, b.installed_size, b.depends,
       CASE WHEN t.package IS NULL THEN b.maintainer ELSE t.maintainer END AS maintainer,
       CASE WHEN t.package IS NULL THEN b.homepage ELSE t.homepage END AS homepage,
       timestamptz '2023-06-10 00:00+00' AS valid_from,
       CASE WHEN t.package IS NOT NULL AND (b.version, b.section, b.priority, b.installed_size, b.depends)
                    IS NOT DISTINCT FROM (t.version, t.section, t.priority, t.installed_size, t.depends)
            THEN timestamptz '9999-12-31 00:00+00' ELSE timestamptz '2025-08-09 00:00+00' END AS valid_to
  FROM bookworm AS b LEFT JOIN trixie AS t USING (package)
UNION ALL
SELECT t.package, t.version, t.section, t.priority, t.installed_size, t.depends, t.maintainer, t.homepage,
       '2025-08-09 00:00+00', '9999-12-31 00:00+00'
  FROM trixie AS t LEFT JOIN bookworm AS b USING (package)
 WHERE (b.package, b.version, b.section, b.priority, b.installed_size, b.depends)
       IS DISTINCT FROM (t.package, t.version, t.section, t.priority, t.installed_size, t.depends);

SELECT scd2.create_dimension('dim_package', source => 'bookworm', business_key => '{package}',
    type1 => '{maintainer,homepage}', mode => 'snapshot');
CREATE VIEW got AS
SELECT package, version, section, priority, installed_size, depends, maintainer, homepage, valid_from, valid_to
  FROM dim_package WHERE package IS NOT NULL;
SQL

sql -c "CALL scd2.apply('dim_package', batch_time => '2023-06-10 00:00+00')" \
    -c "CALL scd2.apply('dim_package', source => 'trixie', batch_time => '2025-08-09 00:00+00')"

difference="SELECT count(*) FROM ((SELECT * FROM expected EXCEPT ALL SELECT * FROM got)
            UNION ALL (SELECT * FROM got EXCEPT ALL SELECT * FROM expected)) AS d"
is 'the dimension is what plain SQL computes' 0 "$(sql -c "$difference")"

is 'the second run counts what plain SQL counts' \
    "$(sql -c "SELECT (SELECT count(*) FROM trixie), count(*) FILTER (WHERE valid_from > '2024-01-01'),
                      count(*) FILTER (WHERE valid_to < '2026-01-01'),
                      (SELECT count(*) FROM bookworm WHERE package NOT IN (SELECT package FROM trixie))
                 FROM expected")" \
    "$(sql -c "SELECT rows_read, versions_opened, versions_closed, rows_deleted FROM scd2.runs ORDER BY id DESC LIMIT 1")"

image="SELECT md5(string_agg(format('%s %s %s', ctid, xmin, xmax), ',' ORDER BY ctid)) FROM dim_package"
before=$(sql -c "$image")
sql -c "CALL scd2.apply('dim_package', source => 'trixie', batch_time => '2025-09-01 00:00+00')"
is 'the same snapshot again touches no row' "$before" "$(sql -c "$image")"

is 'is_current goes with valid_to' 0 \
    "$(sql -c "SELECT count(*) FROM dim_package WHERE is_current <> (valid_to = '9999-12-31 00:00+00')")"

is 'scd2.check finds nothing' 0 "$(sql -c "SELECT count(*) FROM scd2.check('dim_package')")"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
