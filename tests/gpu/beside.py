#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""beside.py NOTES JOURNAL SUMMARY: what other streams do to a bracket, from probe_beside.

NOTES is what probe_beside wrote, JOURNAL and SUMMARY are cutrace's of the same run (CUTRACE_BRACKETS,
CUTRACE_OUTPUT). Times in ns: how many, the quantiles of 5, 50 and 95 % and the mean. `before` is
from the start stamp to the kernel's begin, `behind` from its end to the stop stamp; where the two
clocks begin is not known, so `before` is set to 0 where it is least on one stream.
"""
import bisect
import collections
import sys

import brackets
import summary

NO_RECORD = 1 | 1 << 7  # shared or worked out
NO_LEAD = 1 << 62
STOP_TURN, START_TURN, TURN = 3900, 6000, 2000  # as in src/time/figures.def
SUBMITTED = 1100  # a lead that is longer than before + submitted has nothing of the host's


class Bracket:
    def __init__(self, entry, note, rate):
        self.stream, self.flags, self.start, raw = entry[1], entry[3], entry[5], entry[6]
        self.stop = self.start + raw
        self.ticks = entry[8]
        self.lead = entry[13] if abs(entry[13]) < NO_LEAD else None
        self.is_long = entry[15]
        self.streams, self.begin = int(note[1]), int(note[4])
        self.before = self.begin - self.start
        self.behind = raw - (int(note[5]) - self.begin) - self.before
        self.told = (entry[10] - entry[9] + 0.3 * (entry[9] - entry[8])) * rate


def read(notes_path, journal_path, summary_path):
    with open(notes_path, encoding="utf-8") as file:
        notes = [line.split("\t") for line in file]
    before = [int(note[6]) for note in notes]
    rows = summary.read(summary_path).rows
    found = []
    for entry in brackets.entries(journal_path):
        if "timed" in rows[entry[0]]["name"]:
            note = notes[bisect.bisect_right(before, entry[8]) - 1]
            if int(note[0]) > 1:
                found.append(Bracket(entry, note, entry[12]))
    lone = sorted(b.before for b in found if b.streams == 1)
    least = lone[len(lone) // 20]
    for b in found:
        b.before -= least
        b.behind += least
    return found


def look(found):
    """Others in flight at both ends, and the latest record of another stream before them."""
    stamps = sorted([(b.start, 1, i) for i, b in enumerate(found)] +
                    [(b.stop, 0, i) for i, b in enumerate(found)])
    in_flight, records = 0, []
    for at, is_start, i in stamps:
        b = found[i]
        others = [r for r in records[-8:] if r[2] != b.stream]
        latest = others[-1] if others else (-1 << 60, 0, 0)
        if is_start:
            b.at_start, b.start_after = in_flight, at - latest[0]
            in_flight += 1
        else:
            in_flight -= 1
            b.at_stop, b.stop_after = in_flight, at - latest[0]
            b.held = b.stop_after <= (START_TURN if latest[1] else STOP_TURN)
        if not is_start or not b.flags & NO_RECORD:
            records.append((at, is_start, b.stream))


def state(b):
    if b.lead is None or -400 < b.lead < 1800:
        return None
    return "idle" if b.lead > 0 else "long queue" if b.is_long else "short queue"


def show(title, groups):
    print("\n" + title)
    for key in sorted(groups, key=str):
        values = sorted(groups[key])
        if len(values) < 20:
            continue
        quantiles = [values[int(len(values) * p)] for p in (0.05, 0.5, 0.95)]
        print("%-36s %6d %7d %7d %7d %7d" % (" ".join(map(str, key)), len(values), *quantiles,
                                             sum(values) / len(values)))


def main():
    found = read(*sys.argv[1:4])
    look(found)
    behind, before, stop, start = (collections.defaultdict(list) for _ in range(4))
    for b in found:
        if not state(b):
            continue
        behind[(state(b), b.at_stop, "held" if b.held else "free")].append(b.behind)
        if state(b) == "idle":
            stop[("stop stamp after another's by us", min(b.stop_after // 1000, 9))].append(b.behind)
            crowd = "turned" if b.start_after < TURN else "two beside" if b.at_start > 1 else "free"
            if not b.flags & NO_RECORD and b.before > b.lead - SUBMITTED - 600:
                start[(crowd,)].append(b.told - b.before)
        else:
            before[(state(b), b.at_start)].append(b.before)
    show("behind the kernel, by streams in flight at the stop", behind)
    show("before a ready kernel, by streams in flight at the start", before)
    show("behind the kernel, idle stream, by the record before", stop)
    show("how late a start stamp is, idle stream", start)


if __name__ == "__main__":
    main()
