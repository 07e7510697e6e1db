#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shared_table.py DIR: the table of check-gpu-shared.

Reads the programs (name|...) from stdin, and from DIR what the runs left: NAME.cutrace.REPEAT.*.bin
and .out, NAME.cupti-copies.REPEAT.tsv.*. Exit status 0, 1 when a bound is missed or a run left no profile,
77 without any row.
"""
import glob
import statistics
import sys

import accuracy_table
import compare
import summary

BOUND = 0.03
BOUND_US = 0.3  # of a mean, where that is more
SUM = "all"
COUNTED = ("kernel", "copy")
HEAD = ("program", "row", "runs", "timed", "CUPTI us", "cutrace us", "ratio", "mean CUPTI", "mean", "bounds",
        "sum us", "busy us", "verdict")


def is_counted(key):
    return key[0] in COUNTED and "measure" not in key[1] and key[1] not in ("HtoD", "DtoH")


class Run:
    """One run's totals in us by row, as if all were timed; and how long its streams were busy."""

    def __init__(self, side, profiles=()):
        self.count = {key: n for key, n in side.count.items() if is_counted(key)}
        self.timed = {key: side.timed[key] for key in self.count}
        self.us = {key: side.mean_us(key) * n for key, n in self.count.items() if self.timed[key]}
        self.all_us = sum(side.total_ns.values()) / 1e3
        rows = [row for p in profiles for row in p.rows]
        self.bounds = sum(row["marked"] for row in rows)
        self.operations = sum(self.count.values())
        self.busy_us = sum(s["busy_ns"] / 1e3 for p in profiles for s in p.streams)


def runs(directory, name, mode, read, ours):
    for path in sorted(glob.glob("%s/%s.%s.*.out" % (glob.escape(directory), name, mode))):
        stem = glob.escape(path[:-len(".out")])
        files = glob.glob(stem + (".*.bin" if ours else ".tsv.*"))
        if files:
            yield Run(read(files), [summary.read(f) for f in files] if ours else ())


def verdict(run, key, truth_us, truth_count):
    us = run.us.get(key, 0.0)
    if run.count.get(key, 0) != truth_count or not run.timed.get(key):
        return "NOT THERE"
    return "ok" if abs(us - truth_us) <= max(BOUND * truth_us, BOUND_US * truth_count) else "MISS"


def rows_of(name, truths, ours):
    """Each run of ours against the median of CUPTI's."""
    keys = sorted({key for t in truths for key in t.count})
    for run in ours:
        sums, counts = 0.0, 0
        for key in keys:
            truth_us = statistics.median(t.us.get(key, 0.0) for t in truths)
            count = truths[0].count.get(key, 0)
            us = run.us.get(key, 0.0)
            sums, counts = sums + truth_us, counts + count
            yield [name, accuracy_table.short(key[1]), "%d" % count,
                   "%d" % run.timed.get(key, 0), "%.0f" % truth_us, "%.0f" % us,
                   "%.3f" % (us / truth_us), "%.2f" % (truth_us / count), "%.2f" % (us / count), "", "", "",
                   verdict(run, key, truth_us, count)]
        us = sum(run.us.values())
        good = sums and abs(us - sums) <= BOUND * sums
        fits = run.all_us <= run.busy_us * 1.001
        yield [name, SUM, "%d" % counts, "%d" % sum(run.timed.values()), "%.0f" % sums, "%.0f" % us, "%.3f" % (us / sums if sums else 0),
               "", "", "%d" % run.bounds, "%.0f" % run.all_us, "%.0f" % run.busy_us,
               ("ok" if good else "MISS") if fits else "MORE THAN BUSY"]


def main():
    directory, lines = sys.argv[1], []
    names = [line.split("|")[0] for line in sys.stdin]
    for name in names:
        truths = list(runs(directory, name, "cupti-copies", compare.read_cupti, False))
        ours = list(runs(directory, name, "cutrace", compare.read_cutrace, True))
        if not truths:
            continue
        unrecorded = accuracy_table.failures(directory, name, "cutrace")
        unrecorded += accuracy_table.ended(directory, name, "cutrace") - len(ours)
        lines += [[name] + [""] * (len(HEAD) - 2) + ["NOTHING RECORDED"]] * unrecorded
        lines += rows_of(name, truths, ours)
    widths = [max(len(row[i]) for row in [HEAD] + lines) for i in range(len(HEAD))]
    for row in [HEAD] + lines:
        print("  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))
    bad = sum(row[-1] != "ok" for row in lines)
    print("%d rows, %d out of %g %% (a row: or %g us a launch)" % (len(lines), bad, BOUND * 100, BOUND_US))
    return 77 if not lines else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
