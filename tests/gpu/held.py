#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""held.py NOTES JOURNAL SUMMARY: what is left of what holds up the host, from probe_cold.

NOTES is what probe_cold wrote, JOURNAL and SUMMARY are cutrace's of the same run (CUTRACE_BRACKETS,
CUTRACE_OUTPUT). Of kernels that the GPU had to wait for: by how much a duration is longer than the
kernel's own time around the median of its state and parameters, in ns, for each us that the call took
longer than three quick records, without a start record; and for each us that the start record took
longer than a quick one. That is beside the parts that ct_lead_told_ns() takes off.
"""
import collections
import statistics
import sys

import brackets
import summary

NO_RECORD = 1 | 1 << 7  # shared or worked out
OPENER = "heldILi5E"
LATE, UNKNOWN = 2500, 1 << 62
MOST = 15.0
Launch = collections.namedtuple("Launch", "key has_record record call error")


def read(notes_path, journal_path, summary_path):
    with open(notes_path, encoding="utf-8") as file:
        notes = [line.split() for line in file]
    rows = summary.read(summary_path).rows
    timed = {i for i, row in enumerate(rows) if "heldILi" in row["name"] and OPENER not in row["name"]}
    entries = sorted((e for e in brackets.entries(journal_path) if e[0] in timed), key=lambda e: e[8])
    if len(entries) != len(notes):
        sys.exit(f"held.py: {len(notes)} launches in {notes_path}, {len(entries)} in {journal_path}")
    quick = statistics.quantiles(((e[11] - e[10]) * e[12] / 1000 for e in entries), n=10)[0]
    for (state, size, own), e in zip(notes, entries):
        record, call = ((b - a) * e[12] / 1000 for a, b in (e[8:10], e[9:11]))
        if LATE <= e[13] < UNKNOWN:
            has_record = not e[3] & NO_RECORD
            yield Launch((state, size, has_record), has_record, min(MOST, max(0, record - quick)),
                         min(MOST, max(0, call - 3 * quick)), e[16] - int(own))


def around_medians(launches):
    groups = collections.defaultdict(list)
    for launch in launches:
        groups[launch.key].append(launch)
    for group in groups.values():
        usual = Launch(None, None, *(statistics.median(column) for column in list(zip(*group))[2:]))
        for launch in group:
            error = launch.error - usual.error
            if abs(error) < 1500:
                yield launch.record - usual.record, launch.call - usual.call, error


def show(title, x, y):
    print(f"{title:40} {len(x):6} {statistics.linear_regression(x, y).slope:+7.1f}")


def main():
    launches = list(read(*sys.argv[1:4]))
    _, call, error = zip(*around_medians(x for x in launches if not x.has_record))
    show("call, no start record before it", call, error)
    record, call, error = zip(*around_medians(x for x in launches if x.has_record))
    show("start record, and the call behind it", record, error)


if __name__ == "__main__":
    main()
