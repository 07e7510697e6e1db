#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""accuracy_table.py DIR: the table of check-gpu-accuracy.

Reads the programs (name|...) from stdin, and from DIR what the runs left: NAME.cutrace.REPEAT.*.bin
and NAME.cupti-copies.REPEAT.tsv.*. Exit status 0, 1 when a bound is missed, 77 without any row.
"""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys

import compare

LEAST_LAUNCHES = 100
# As long as the host takes to submit what XLA tunes: other with each profiler.
WAITS_FOR_HOST = "DelayKernel"
REPEAT = re.compile(r"\.(\d+)\.(?:tsv\.|\d+\.bin)")


class Row:
    """One kernel, kind of copy, or set of one program: means in us, one for each repeat."""

    def __init__(self, program, key):
        self.program, self.key = program, key
        self.counts, self.truth, self.ours, self.raw = [], [], [], []
        self.doubt, self.timed, self.share, self.same_counts = [], [], 0, True

    def add_truth(self, side):
        self.counts.append(side.count[self.key])
        self.truth.append(side.mean_us(self.key))

    def add_ours(self, side):
        timed = side.timed[self.key]
        self.same_counts &= side.count[self.key] in self.counts
        self.timed.append(timed)
        self.share += timed / side.count[self.key]
        self.ours.append(side.mean_us(self.key))
        self.raw.append(side.raw_ns[self.key] / timed / 1e3)
        self.doubt.append(side.doubt_ns[self.key] / timed / 1e3)

    @property
    def launches(self):
        return int(statistics.median(self.counts))

    @property
    def mean(self):
        return statistics.median(self.truth)

    @property
    def error(self):
        return statistics.median(self.ours) - self.mean

    @property
    def raw_error(self):
        return statistics.median(self.raw) - self.mean

    @property
    def bound(self):
        return max(0.03 * self.mean, 0.3)

    def good(self):
        return abs(self.error) <= self.bound

    def verdict(self):
        if not self.same_counts:  # a program that does something else each time cannot be compared
            return "counts differ" if len(set(self.counts)) > 1 else "MISCOUNT"
        return "ok" if self.good() else "MISS"


def ended_well(directory, name, mode, repeat):
    return os.path.exists("%s/%s.%s.%s.out" % (directory, name, mode, repeat))


def failures(directory, name, mode):
    """Runs that did not end well."""
    stems = [path[:-len(".status")] for path in
             glob.glob("%s/%s.%s.*.status" % (glob.escape(directory), name, mode))]
    return sum(not os.path.exists(stem + ".out") for stem in stems)


def ended(directory, name, mode):
    """Runs that ended well: each leaves a profile that can be read."""
    return len(glob.glob("%s/%s.%s.*.out" % (glob.escape(directory), name, mode)))


def sides(directory, name, mode, suffix, read):
    """One compare.Side for each repeat that ended well and left a readable file."""
    paths = {}
    for path in glob.glob("%s/%s.%s.*%s" % (glob.escape(directory), name, mode, suffix)):
        found = REPEAT.search(path[len(directory):])
        if found and ended_well(directory, name, mode, found.group(1)):
            paths.setdefault(int(found.group(1)), []).append(path)
    for repeat in sorted(paths):
        try:
            yield read(paths[repeat])
        except (OSError, ValueError) as error:
            print("%s, %s, repeat %d: %s" % (name, mode, repeat, error))


def rows_of(program, truths, ours, kinds=("kernel", "copy", "set"), make=Row):
    rows = {}
    for side in truths:
        for key in side.count:
            if key[0] in kinds and side.timed[key]:
                rows.setdefault(key, make(program, key)).add_truth(side)
    for side in ours:
        for key in side.count:
            if key in rows and side.timed[key]:
                rows[key].add_ours(side)
    return list(rows.values())


def demangled(names):
    if not names or not shutil.which("c++filt"):
        return dict(zip(names, names))
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True)
    plain = out.stdout.split("\n")
    return {name: re.sub(r"^void |\(.*", "", plain[i]) or name for i, name in enumerate(names)}


def short(name, most=40):
    return name if len(name) <= most else name[:22] + ".." + name[-(most - 24):]


def spread(means):
    return "%.1f%%" % ((max(means) - min(means)) / 2 / statistics.median(means) * 100)


def percent(part, whole):
    return "%+.1f%%" % (part / whole * 100) if whole else "-"


def cells(row, names):
    name = names[row.key[1]] if row.key[0] == "kernel" else row.key[1]
    return [row.program, short(name), "%d" % row.launches, "%.0f%%" % (row.share / len(row.ours) * 100),
            "%.3f" % row.mean, spread(row.truth), "%.3f" % (row.mean + row.error), spread(row.ours),
            "%+.3f" % row.error, percent(row.error, row.mean), "%.3f" % statistics.median(row.doubt),
            "%+.3f" % row.raw_error, percent(row.raw_error, row.mean), row.verdict()]


HEAD = ["program", "row", "launches", "timed", "CUPTI us", "+-", "cutrace us", "+-", "error us",
        "error", "doubt us", "raw error us", "raw error", "verdict"]


def show(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


class Total:
    """Time in all kernels of a program that do not wait for the host, by the means and CUPTI's counts."""

    def __init__(self, program, rows):
        rows = [row for row in rows if row.key[0] == "kernel" and WAITS_FOR_HOST not in row.key[1]]
        self.program = program
        self.truth = sum(row.launches * row.mean for row in rows)
        self.ours = sum(row.launches * (row.mean + row.error) for row in rows)
        self.raw = sum(row.launches * (row.mean + row.raw_error) for row in rows)

    @property
    def ratio(self):
        return self.ours / self.truth

    def good(self):
        return abs(self.ratio - 1) <= 0.02

    def cells(self):
        return [self.program, "%.0f" % self.truth, "%.0f" % self.ours, "%.4f" % self.ratio,
                "%.3f" % (self.raw / self.truth), "ok" if self.good() else "MISS"]


def show_sums(judged, totals, failed):
    missed = [row for row in judged if row.verdict() == "MISS"]
    miscounted = [row for row in judged if row.verdict() == "MISCOUNT"]
    other = [row for row in judged if row.verdict() == "counts differ"]
    raw_good = sum(abs(row.raw_error) <= row.bound for row in judged)
    print("\naccuracy: %d rows of %d or more launches: %d within the bound, %d missed (%d of them copies or "
          "sets), %d counted otherwise, %d not comparable; kernel time of %d programs: %d within 2 %%, %d missed; raw brackets "
          "within the bound: %d rows; runs of cutrace that failed or left no profile, and rows that it has not timed: %d" % (
              len(judged), LEAST_LAUNCHES, len(judged) - len(missed) - len(other), len(missed),
              sum(row.key[0] != "kernel" for row in missed), len(miscounted), len(other), len(totals),
              sum(t.good() for t in totals), sum(not t.good() for t in totals), raw_good, failed))
    return bool(missed or miscounted) or bool(failed) or not all(t.good() for t in totals)


def main():
    directory = sys.argv[1]
    judged, totals, failed = [], [], 0
    for program in [line.split("|")[0].strip() for line in sys.stdin]:
        truths = list(sides(directory, program, "cupti-copies", "", compare.read_cupti))
        ours = list(sides(directory, program, "cutrace", ".bin", compare.read_cutrace))
        if truths:  # otherwise it is the program that fails
            failed += failures(directory, program, "cutrace")
            failed += max(0, ended(directory, program, "cutrace") - len(ours))
        rows = rows_of(program, truths, ours)
        if not ours or not rows:
            print("nothing to compare: %s" % program)
            continue
        for row in [row for row in rows if not row.ours]:
            print("without a time of cutrace's: %s %s, %d launches" % (program, row.key[1], row.launches))
            failed += row.launches >= LEAST_LAUNCHES
        rows = [row for row in rows if row.ours]
        judged += sorted((row for row in rows if row.launches >= LEAST_LAUNCHES),
                         key=lambda row: (row.key[0], row.mean))
        if any(row.key[0] == "kernel" for row in rows):
            totals.append(Total(program, rows))
    if not judged:
        print("accuracy: no row of %d or more launches; runs of cutrace that failed or left no profile, and "
              "rows that it has not timed: %d" % (LEAST_LAUNCHES, failed))
        return 1 if failed else 77
    names = demangled(sorted({row.key[1] for row in judged if row.key[0] == "kernel"}))
    print("== means: 3 % or 0.3 us of CUPTI's; medians of the repeats, +- is half their range")
    show([HEAD] + [cells(row, names) for row in judged])
    print("\n== time in kernels, us: 2 % of CUPTI's")
    if totals:
        show([["program", "CUPTI", "cutrace", "ratio", "raw ratio", "verdict"]] +
             [total.cells() for total in totals])
    return 1 if show_sums(judged, totals, failed) else 0


if __name__ == "__main__":
    sys.exit(main())
