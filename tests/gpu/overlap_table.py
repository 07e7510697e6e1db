#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""overlap_table.py DIR: the table of bench-overlap, from what its runs left in DIR."""
import statistics
import sys

from bench_table import Runs, cell, show

PATTERNS = [("kernels", "kernel beside kernel, 100 us each"),
            ("fork-join", "fork-join of such kernels through events"),
            ("copies", "kernel beside 4 MiB host-to-device copies"),
            ("dependent", "programmatic dependent launches, 50 us each")]


def timed_share(runs, program, mode):
    """Of all operations of all repeats."""
    ran = timed = 0
    for side in runs.sides(program, mode):
        ran += sum(side.count.values())
        timed += sum(side.timed.values())
    return "%.1f%%" % (100 * timed / ran) if ran else "-"


def row(runs, setting, pattern, text):
    program = "overlap-" + setting
    plain = runs.figures(program, "plain", pattern)
    base = statistics.median(plain) if plain else 0
    ours = runs.figures(program, "cutrace", pattern)
    verdict = "-"
    if (setting == "1" or pattern == "dependent") and base and ours:
        verdict = "ok" if statistics.median(ours) / base <= 1.02 else "MISS"
    return [setting, text, cell(plain, 0), cell(ours, base), timed_share(runs, program, "cutrace"),
            cell(runs.figures(program, "every", pattern), base),
            timed_share(runs, program, "every"), verdict]


def main():
    runs = Runs(sys.argv[1])
    print("\n== us a pair: median, ratio to plain, half the range; to cost 2 % at most with 1 connection, "
          "and of dependent launches")
    show([["connections", "pattern", "plain", "cutrace", "timed", "CUTRACE_SAMPLE=1", "timed",
           "verdict"]] + [row(runs, setting, pattern, text)
                          for setting in ("unset", "8", "1") for pattern, text in PATTERNS])


if __name__ == "__main__":
    main()
