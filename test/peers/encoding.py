#!/usr/bin/env python3
"""The pinned row hashes, from the written format alone (R14).

Builds the canonical encoding of every value in the first query of
test/sql/row_hash.sql as src/canonical_int.h describes it, hashes it with
libxxhash, and compares with expected/row_hash.out.  Needs no server.  Exit
status: 0 passed, 1 failed, 77 skipped (no libxxhash).
"""
import ctypes
import datetime
import math
import os
import re
import struct
import sys
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "..", "..", "expected", "row_hash.out")


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def load():
    try:
        lib = ctypes.CDLL("libxxhash.so.0")
    except OSError:
        print("encoding: skipped: no libxxhash.so.0")
        sys.exit(77)
    lib.XXH3_128bits.restype = Hash128
    lib.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return lib


def u32(v):
    return struct.pack("<I", v)


def i64(v):
    return struct.pack("<q", v)


def sized(tag, data):
    return bytes([tag]) + u32(len(data)) + data


def integer(v):
    return b"\x03" + i64(v)


def numeric(sign, weight, digits):
    return (b"\x04" + struct.pack("<BhH", sign, weight, len(digits))
            + b"".join(struct.pack("<H", d) for d in digits))


def real(v):
    if math.isnan(v):
        return b"\x05" + struct.pack("<Q", 0x7FF8000000000000)
    return b"\x05" + struct.pack("<d", v + 0.0)


def text(v):
    return sized(6, v.encode())


def output(v):
    return b"\x26" + text(v)


def date(days):
    return b"\x0b" + struct.pack("<i", days)


def tagged(tag, fmt, *values):
    return bytes([tag]) + struct.pack("<" + fmt, *values)


DAYS = (datetime.date(2026, 6, 12) - datetime.date(2000, 1, 1)).days
NOON_ISH = ((12 * 60 + 34) * 60 + 56) * 1000000
# 44 BC is year -43; proleptic Gregorian years repeat every 400
IDES = (datetime.date(2357, 3, 15) - datetime.date(2000, 1, 1)).days - 6 * 146097
DAY = 86400 * 1000000
NULL = b"\0"

VECTORS = {
    "smallint": integer(5),
    "integer": integer(5),
    "bigint": integer(5),
    "integer, negative": integer(-1),
    "bigint, smallest": integer(-2**63),
    "bigint, largest": integer(2**63 - 1),
    "numeric, integral": integer(5),
    "numeric": numeric(0, 1, [123, 4567, 1250]),
    "numeric, negative": numeric(1, -2, [1234]),
    "numeric, large": numeric(0, 10, [1]),
    "numeric, zero": integer(0),
    "numeric, NaN": numeric(2, 0, []),
    "numeric, infinity": numeric(3, 0, []),
    "numeric, -infinity": numeric(4, 0, []),
    "real": real(0.5),
    "double precision": real(0.1),
    "double precision, zero": real(0.0),
    "double precision, -0": real(-0.0),
    "double precision, NaN": real(math.nan),
    "double precision, infinity": real(math.inf),
    "boolean, false": b"\1",
    "boolean, true": b"\2",
    "text": text("abc"),
    "text, empty": text(""),
    "varchar": text("abc"),
    "char(n)": text("abc"),
    "name": text("abc"),
    '"char"': b"\x08a",
    "bytea": sized(9, b"\x00\xff"),
    "uuid": b"\x0a" + uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11").bytes,
    "date": date(DAYS),
    "date, BC": date(IDES),
    "date, infinity": date(2**31 - 1),
    "time": tagged(12, "q", NOON_ISH + 789000),
    "timetz": tagged(13, "qi", NOON_ISH, -7200),
    "timestamp": tagged(14, "q", DAYS * DAY + NOON_ISH + 789000),
    "timestamp, BC": tagged(14, "q", IDES * DAY + DAY // 2),
    "timestamp, infinity": tagged(14, "q", 2**63 - 1),
    "timestamptz": tagged(15, "q", DAYS * DAY + NOON_ISH + 789000),
    "timestamptz, -infinity": tagged(15, "q", -2**63),
    "interval": tagged(16, "qq", 32, 3 * 3600 * 1000000),
    "interval, negative": tagged(16, "qq", -1, 23 * 3600 * 1000000),
    "money": tagged(17, "q", 1234),
    "oid": tagged(18, "I", 23),
    "regtype": tagged(18, "I", 23),
    "xid": tagged(19, "I", 7),
    "cid": tagged(20, "I", 7),
    "xid8": tagged(21, "Q", 7),
    "tid": tagged(22, "IH", 1, 2),
    "pg_lsn": tagged(23, "Q", 0x16B374D848),
    "aclitem": tagged(24, "IIII", 10, 10, 2, 2),
    "macaddr": b"\x19\x08\x00\x2b\x01\x02\x03",
    "macaddr8": b"\x1a\x08\x00\x2b\x01\x02\x03\x04\x05",
    "inet": b"\x1b\x04\x18" + bytes([192, 168, 1, 5]),
    "inet, version 6": b"\x1b\x06\x80" + bytes.fromhex("20010db8" + "0" * 23 + "1"),
    "cidr": b"\x1b\x04\x08" + bytes([10, 0, 0, 0]),
    "bit": b"\x1c" + u32(3) + b"\xa0",
    "varbit": b"\x1c" + u32(9) + b"\xaa\x80",
    "json": output('{"b": 1.0, "a": [1]}'),
    "jsonb": (sized(33, b"")[:1] + b"\x23" + u32(3)
              + text("a") + b"\x22" + u32(4) + integer(1) + NULL + b"\2" + text("x")
              + text("b") + integer(1)
              + text("cc") + b"\x23" + u32(0)),
    "jsonb, scalar": b"\x21" + numeric(0, 0, [1, 5000]),
    "jsonb, null": b"\x21" + NULL,
    "xml": output('<a b="1">x</a>'),
    "jsonpath": output('$."a"[*]'),
    "tsvector": (b"\x24" + u32(3) + text("a") + u32(0)
                 + text("b") + u32(2) + struct.pack("<HBHB", 1, 3, 2, 0)
                 + text("cc") + u32(1) + struct.pack("<HB", 3, 1)),
    # prefix notation with the right operand first; not 1, and 2, or 3, phrase 4
    "tsquery": (b"\x25" + u32(8) + b"\3" + b"\4\2\0" + b"\0" + text("d")
                + b"\0" + text("c") + b"\2" + b"\1" + b"\0" + text("b")
                + b"\0" + text("a")),
    "pg_snapshot": output("10:20:10,14"),
    "point": output("(1.5,-2)"),
    "line": output("{1,2,3}"),
    "lseg": output("[(1,2),(3,4)]"),
    "box": output("(3,4),(1,2)"),
    "path": output("[(1,2),(3,4)]"),
    "polygon": output("((0,0),(1,0),(0,1))"),
    "circle": output("<(1,2),0.1>"),
    "enum": text("happy"),
    "domain": integer(5),
    "array": b"\x1d\1" + struct.pack("<ii", 3, 1) + integer(1) + NULL + integer(3),
    "array, empty": b"\x1d\0",
    "array, bounds": (b"\x1d\2" + struct.pack("<iiii", 2, 0, 2, 2)
                      + b"".join(map(text, "abcd"))),
    "oidvector": (b"\x1d\1" + struct.pack("<ii", 2, 0)
                  + tagged(18, "I", 1) + tagged(18, "I", 2)),
    "int2vector": b"\x1d\1" + struct.pack("<ii", 2, 0) + integer(1) + integer(2),
    "range": b"\x1f\x02" + integer(1) + integer(5),
    "range, empty": b"\x1f\x01",
    "range, unbounded": b"\x1f\x18",
    "range of text": b"\x1f\x06" + text("a") + text("b"),
    "multirange": (b"\x20" + u32(2) + b"\x02" + integer(1) + integer(2)
                   + b"\x10" + integer(3)),
    "multirange, empty": b"\x20" + u32(0),
    "composite": b"\x1e" + u32(2) + integer(5) + text("abc"),
    "row": b"\x1e" + u32(3) + integer(5) + NULL + b"\x1e" + u32(1) + text("abc"),
    "null": NULL,
    "three columns": integer(5) + text("abc") + NULL,
    "long text": text("0123456789" * 100),
    "large text": integer(1) + text("0123456789" * 10000) + text("x"),
    "large bytea": sized(9, b"0123456789" * 300000) + integer(2),
}


def main():
    lib = load()
    with open(EXPECTED, encoding="utf-8") as file:
        pinned = dict(re.findall(r"^ ([^|]*?) +\| \\x([0-9a-f]{32})$",
                                 file.read(), re.M))
    failed = 0
    for what in sorted(set(pinned) | set(VECTORS)):
        data = VECTORS.get(what)
        if data is None or what not in pinned:
            print("encoding: %s is only on one side" % what)
            failed += 1
            continue
        value = lib.XXH3_128bits(data, len(data))
        mine = "%016x%016x" % (value.high, value.low)
        if mine != pinned[what]:
            print("encoding: %s: pinned %s, by the format %s"
                  % (what, pinned[what], mine))
            failed += 1
    print("encoding: %d vectors, %d differ" % (len(VECTORS), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
