#!/usr/bin/env python3
"""scd2.surrogate_key against real Apache Spark (R13).

Compares xxhash64 of pyspark with scd2.surrogate_key over edge values and random
ones of every type that Spark has, alone and in composite keys with nulls; then
asks Spark again for each number pinned in test/sql/surrogate_key.sql.

Called by spark.sh, which finds pyspark.  Reaches PostgreSQL through psql, with
the connection that PGHOST and its kin say; makes its own temporary table only.
"""
import os
import random
import re
import struct
import subprocess
import sys

ROWS = int(os.environ.get("SCD2_SPARK_ROWS", "2000"))
SEED = int(os.environ.get("SCD2_SPARK_SEED", "20260612"))
HERE = os.path.dirname(os.path.abspath(__file__))
PINNED = os.path.join(HERE, "..", "sql", "surrogate_key.sql")

# name, type in PostgreSQL, expression over the Spark column that carries it
COLUMNS = [
    ("c_bool", "boolean", "c_bool"),
    ("c_int2", "smallint", "cast(c_int2 as smallint)"),
    ("c_int4", "integer", "cast(c_int4 as int)"),
    ("c_int8", "bigint", "c_int8"),
    ("c_float4", "real", "cast(c_float4 as float)"),
    ("c_float8", "double precision", "c_float8"),
    ("c_date", "date", "date_from_unix_date(cast(c_date as int))"),
    ("c_tz", "timestamptz", "timestamp_micros(c_tz)"),
    ("c_ts", "timestamp", "cast(timestamp_micros(c_ts) as timestamp_ntz)"),
    ("c_text", "text", "c_text"),
    ("c_varchar", "varchar", "c_varchar"),
    ("c_bytea", "bytea", "c_bytea"),
]
NAMES = [name for name, _, _ in COLUMNS]

# composite keys to compare besides each column alone
KEYS = [
    ["c_int4", "c_tz"],
    ["c_text", "c_tz"],
    ["c_int8", "c_date"],
    ["c_text", "c_int4", "c_ts"],
    ["c_varchar", "c_text", "c_bytea"],
    ["c_float8", "c_float4", "c_bool", "c_int2"],
    NAMES,
]

DAY = 86400 * 1000000
# PostgreSQL begins in 4714 BC; what Spark can hold ends in January of 294247
FIRST_DAY, LAST_DAY = -2440588, 106751990


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def random_float(rng, width):
    fmt, bits = ("<f", 32) if width == 4 else ("<d", 64)
    kind = rng.randrange(4)
    if kind == 0:
        return float(rng.randrange(-1000, 1000))
    if kind == 1:
        value = rng.gauss(0, 1e6)
        return float32(value) if width == 4 else value
    raw = rng.getrandbits(bits).to_bytes(width, "little")
    return struct.unpack(fmt, raw)[0]


def random_text(rng):
    length = rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 31, 32, 33, 63, 64, 65,
                         rng.randrange(300)])
    alphabets = [
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789 _-",
        "äöüßéèñçøåÆþ" "abc",
        "中文日本語한국어",
        "😀🚀𝔘𐍈" "\t\n\\'\" xyz",
    ]
    alphabet = rng.choice(alphabets)
    return "".join(rng.choice(alphabet) for _ in range(length))


EDGES = {
    "c_bool": [True, False],
    "c_int2": [0, 1, -1, 32767, -32768],
    "c_int4": [0, 1, -1, 2**31 - 1, -2**31],
    "c_int8": [0, 1, -1, 2**63 - 1, -2**63, 2**31, -2**31 - 1],
    "c_float4": [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5,
                 float32(0.1), float32(1e-45), float32(3.4028235e38)],
    "c_float8": [0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.5,
                 0.1, 5e-324, 1.7976931348623157e308],
    "c_date": [0, -1, 1, 10957, -719162, -719163, FIRST_DAY, LAST_DAY],
    "c_tz": [0, -1, 1, 946684800000000, FIRST_DAY * DAY, LAST_DAY * DAY,
             -62135596800000000, 253402300799999999],
    "c_ts": [0, -1, 1, 946684800000000, FIRST_DAY * DAY, LAST_DAY * DAY,
             -62135596800000000, 253402300799999999],
    "c_text": ["", "a", " ", "NULL", "\\N", "ä", "😀", "x" * 31, "x" * 32,
               "x" * 33, "y" * 1000],
    "c_varchar": ["", "a", "a ", "ß"],
    "c_bytea": [b"", b"\0", b"\xff" * 8, bytes(range(256)), b"\x80"],
}


def random_value(rng, name):
    if name == "c_bool":
        return rng.random() < 0.5
    if name in ("c_int2", "c_int4", "c_int8"):
        bits = int(name[-1]) * 8
        return rng.getrandbits(rng.randrange(1, bits)) - rng.choice(
            [0, 0, 2 ** (bits - 1)])
    if name in ("c_float4", "c_float8"):
        return random_float(rng, int(name[-1]))
    if name == "c_date":
        return rng.randrange(*rng.choice([(FIRST_DAY, LAST_DAY), (-30000, 40000)]))
    if name in ("c_tz", "c_ts"):
        low, high = rng.choice([(FIRST_DAY, LAST_DAY), (-30000, 40000)])
        return rng.randrange(low * DAY, high * DAY)
    if name == "c_bytea":
        return rng.randbytes(rng.choice([0, 1, 3, 4, 7, 8, 12, 31, 32, 33, 100]))
    return random_text(rng)


def make_rows():
    rng = random.Random(SEED)
    longest = max(len(v) for v in EDGES.values())
    rows = [tuple(EDGES[n][i % len(EDGES[n])] for n in NAMES)
            for i in range(longest)]
    rows.append(tuple(None for _ in NAMES))
    while len(rows) < ROWS:
        rows.append(tuple(
            None if rng.random() < 0.1
            else rng.choice(EDGES[n]) if rng.random() < 0.1
            else random_value(rng, n) for n in NAMES))
    return rows


def civil(days):
    """Year, month and day of a day counted from 1970, Gregorian throughout."""
    days += 719468
    era, day_of_era = divmod(days, 146097)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36524
            - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year + era * 400 + (month <= 2), month, day


def pg_text(name, value):
    """A value as PostgreSQL's COPY reads it."""
    if value is None:
        return "\\N"
    if name == "c_bool":
        return "t" if value else "f"
    if name in ("c_date", "c_tz", "c_ts"):
        days, micros = (value, None) if name == "c_date" else divmod(value, DAY)
        year, month, day = civil(days)
        text = "%04d-%02d-%02d" % (year if year > 0 else 1 - year, month, day)
        if micros is not None:
            seconds, micros = divmod(micros, 1000000)
            text += " %02d:%02d:%02d.%06d" % (
                seconds // 3600, seconds // 60 % 60, seconds % 60, micros)
            if name == "c_tz":
                text += "+00"
        return text + (" BC" if year <= 0 else "")
    if name == "c_bytea":
        return "\\\\x" + value.hex()
    if isinstance(value, (int, float)):
        return repr(value)
    return (value.replace("\\", "\\\\").replace("\t", "\\t")
            .replace("\n", "\\n").replace("\r", "\\r"))


def key_expressions():
    return [[n] for n in NAMES] + KEYS


def ask_postgres(rows):
    keys = ", ".join("scd2.surrogate_key(%s)" % ", ".join(k)
                     for k in key_expressions())
    script = ["SET client_encoding = 'UTF8'; SET datestyle = 'ISO';",
              "CREATE TEMP TABLE spark (id int, %s);"
              % ", ".join("%s %s" % (n, t) for n, t, _ in COLUMNS),
              "COPY spark FROM STDIN;"]
    for i, row in enumerate(rows):
        script.append("\t".join([str(i)] + [pg_text(n, v)
                                            for n, v in zip(NAMES, row)]))
    script += ["\\.", "SELECT %s FROM spark ORDER BY id;" % keys]
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", " ",
                           "-v", "ON_ERROR_STOP=1"],
                          input="\n".join(script) + "\n", encoding="utf-8",
                          stdout=subprocess.PIPE, check=True)
    return [tuple(int(x) for x in line.split(" "))
            for line in done.stdout.splitlines()]


def start_spark():
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master("local[1]").appName("scd2")
             .config("spark.ui.enabled", "false")
             .config("spark.sql.session.timeZone", "UTC")
             .config("spark.sql.shuffle.partitions", "1")
             .config("spark.driver.memory", "1g")
             .getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def ask_spark(spark, rows):
    from pyspark.sql import types as t
    carrier = {"c_bool": t.BooleanType(), "c_float4": t.DoubleType(),
               "c_float8": t.DoubleType(), "c_text": t.StringType(),
               "c_varchar": t.StringType(), "c_bytea": t.BinaryType()}
    schema = t.StructType(
        [t.StructField("id", t.IntegerType())]
        + [t.StructField(n, carrier.get(n, t.LongType())) for n in NAMES])
    data = [(i,) + tuple(bytearray(v) if isinstance(v, bytes) else v for v in row)
            for i, row in enumerate(rows)]
    frame = spark.createDataFrame(data, schema)
    frame = frame.selectExpr(
        "id", *["%s as %s" % (e, n) for n, _, e in COLUMNS])
    frame = frame.selectExpr(
        "id", *["xxhash64(%s) as k%d" % (", ".join(k), i)
                for i, k in enumerate(key_expressions())])
    return [tuple(row)[1:] for row in frame.orderBy("id").collect()]


def pinned():
    """(expression, number) of each line of the suite that Spark computed."""
    with open(PINNED, encoding="utf-8") as file:
        return [(m.group(2), int(m.group(1))) for m in re.finditer(
            r"(-?\d+)\s*\)?,?;?\s+-- spark: (.*)$", file.read(), re.M)]


def main():
    spark = start_spark()
    if sys.argv[1:2] == ["--ask"]:
        for expression in sys.argv[2:]:
            print(spark.sql("SELECT " + expression).collect()[0][0])
        return 0

    rows = make_rows()
    mine, theirs = ask_postgres(rows), ask_spark(spark, rows)
    passed = failed = 0
    if len(mine) != len(theirs):
        print("spark: %d rows from PostgreSQL, %d from Spark"
              % (len(mine), len(theirs)))
        failed += 1
    for row, a, b in zip(rows, mine, theirs):
        for key, x, y in zip(key_expressions(), a, b):
            if x == y:
                passed += 1
                continue
            failed += 1
            if failed <= 20:
                print("spark: (%s) of %r: scd2 %d, Spark %d" % (
                    ", ".join(key), [row[NAMES.index(n)] for n in key], x, y))

    vectors = pinned()
    for expression, number in vectors:
        answer = spark.sql("SELECT " + expression).collect()[0][0]
        if answer == number:
            passed += 1
        else:
            failed += 1
            print("spark: %s: pinned %d, Spark %d" % (expression, number, answer))
    if not vectors:
        print("spark: no pinned numbers found in %s" % PINNED)
        failed += 1

    print("spark: Apache Spark %s, %d rows, %d pinned numbers: "
          "%d keys equal, %d not" % (spark.version, len(rows), len(vectors),
                                     passed, failed))
    spark.stop()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
