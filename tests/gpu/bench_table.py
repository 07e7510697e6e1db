#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_table.py DIR PATTERN MODE...: the tables of bench-gpu.

Reads the workloads (name|unit|...) from stdin, and from DIR what the runs left:
NAME.MODE.REPEAT.figure, and the profiles beside them.
"""
import fnmatch
import glob
import statistics
import sys

import compare


def figures(directory, name, mode):
    found = []
    for path in sorted(glob.glob("%s/%s.%s.*.figure" % (directory, name, mode))):
        with open(path) as file:
            found.append(float(file.read()))
    return found


def cell(values, plain):
    if not values:
        return "-"
    middle = statistics.median(values)
    spread = (max(values) - min(values)) / 2 / middle * 100
    ratio = " x%.2f" % (middle / plain) if plain else ""
    return "%.2f%s +-%.0f%%" % (middle, ratio, spread)


def cost_row(directory, name, unit, modes):
    plain = figures(directory, name, modes[0])
    base = statistics.median(plain) if plain else 0
    cells = [cell(plain, 0)]
    cells += [cell(figures(directory, name, mode), base) for mode in modes[1:]]
    return ["%s, %s" % (name, unit)] + cells


def truth_row(directory, name):
    truth = compare.read_cupti(glob.glob("%s/%s.cupti.1.tsv.*" % (directory, name)))
    ours = compare.read_cutrace(glob.glob("%s/%s.cutrace.1.*.bin" % (directory, name)))
    rows = list(compare.means_us(truth, ours))
    count = sum(row[1] for row in rows) or 1
    return [name, "%d" % compare.sum_of(truth.count, ["kernel"]),
            "%d" % compare.sum_of(ours.count, ["kernel"]),
            "%.3f" % (sum(n * theirs for _, n, theirs, _ in rows) / count),
            "%.3f" % (sum(n * mine for _, n, _, mine in rows) / count),
            compare.ratio(truth, ours)]


def show(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def main():
    directory, pattern, modes = sys.argv[1], sys.argv[2], sys.argv[3:]
    workloads = [line.split("|")[:2] for line in sys.stdin]
    workloads = [w for w in workloads if fnmatch.fnmatch(w[0], pattern)]
    print("\n== time of a kernel (us) or a step (ms): median, ratio to plain, half the range")
    show([["workload"] + modes] + [cost_row(directory, n, u, modes) for n, u in workloads])
    print("\n== mean kernel time, us, the same counts for both (the first repeat)")
    rows = [["workload", "kernels by CUPTI", "by cutrace", "CUPTI", "cutrace", "ratio"]]
    for name, _ in workloads:
        try:
            rows.append(truth_row(directory, name))
        except (OSError, ValueError) as error:
            rows.append([name, str(error)[:60], "-", "-", "-", "-"])
    show(rows)


if __name__ == "__main__":
    main()
