#!/usr/bin/env bash
# scd2.surrogate_key against real Apache Spark (R13): see spark.py.
#
# usage: test/peers/spark.sh       with PGHOST, PGPORT, PGUSER, PGDATABASE of a
#        server where the extension scd2 is created
#
# Takes pyspark from PyPI into a virtual environment: a throw-away one, or the
# one that SCD2_SPARK_VENV names, which is kept for the next time.
# Exit status: 0 passed, 1 failed, 77 skipped (no Java, no way to PyPI).
set -u

version=${SCD2_PYSPARK_VERSION:-3.5.3}
here=$(cd "$(dirname "$0")" && pwd)

skip()
{
	echo "spark: skipped: $1"
	exit 77
}

command -v java >/dev/null 2>&1 || skip "no java on this machine"
command -v python3 >/dev/null 2>&1 || skip "no python3 on this machine"

if [ -n "${SCD2_SPARK_VENV:-}" ]; then
	venv=$SCD2_SPARK_VENV
else
	venv=$(mktemp -d) || exit 1
	trap 'rm -rf "$venv"' EXIT
fi

if ! "$venv/bin/python" -c 'import pyspark' >/dev/null 2>&1; then
	python3 -m venv "$venv" >/dev/null 2>&1 || skip "python3 has no venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check \
		--retries 1 --timeout 20 "pyspark==$version" >"$venv/pip.log" 2>&1 ||
		skip "pyspark cannot be had from PyPI: $(tail -n 1 "$venv/pip.log")"
fi

export PYSPARK_PYTHON="$venv/bin/python"
# or else /tmp/hsperfdata_USER stays behind
export JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:-} -XX:-UsePerfData"
log=$(mktemp) || exit 1
"$venv/bin/python" "$here/spark.py" "$@" 2>"$log"
status=$?
[ $status -eq 0 ] || tail -n 20 "$log" >&2
rm -f "$log"
exit $status
