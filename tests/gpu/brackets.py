#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""brackets.py JOURNAL SUMMARY: what CUTRACE_BRACKETS wrote, as tab-separated text.

One line for each bracket, in the order in which they were dealt with; times in nanoseconds, those
of the host from the first one on: stream, flags, start and raw on the GPU's time line, open, call,
done and closed on the host's, lead, whether the queue was long, the estimate, the kind and the first 60 characters of the name, the
registers of a block, the bytes of parameters, and what a witness had taken off (of one itself: what the last one whose stamps were read took by these; 0: none).
"""
import struct
import sys

import summary

ENTRY = struct.Struct("IIIIQQQQQQQQdqIIQQIIq")
WITNESS = 16384  # CT_ROW_WITNESS
COLUMNS = "stream flags start_ns raw_ns open_ns call_ns done_ns closed_ns time_ns kind name lead_ns long registers parameters witness"


def entries(path):
    with open(path, "rb") as file:
        while True:
            raw = file.read(ENTRY.size)
            if len(raw) < ENTRY.size:
                return
            yield ENTRY.unpack(raw)


def kind_and_name(rows, row):
    if row == WITNESS:
        return "witness", ""
    return rows[row]["kind"], rows[row]["name"][:60]


def main():
    rows = summary.read(sys.argv[2]).rows
    all_entries = list(entries(sys.argv[1]))
    rate = all_entries[-1][12] if all_entries else 0
    first = min((e[8] for e in all_entries), default=0)
    print(COLUMNS.replace(" ", "\t"))
    for e in all_entries:
        row, stream, _, flags, _, start, raw, _ = e[:8]
        host = [round((ticks - first) * rate) for ticks in e[8:12]]
        fields = [stream, flags, start, raw] + host + [e[16], *kind_and_name(rows, row)] + list(e[13:15]) + list(e[18:21])
        print("\t".join(map(str, fields)))


if __name__ == "__main__":
    main()
