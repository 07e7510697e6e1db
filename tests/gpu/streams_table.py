#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams_table.py DIR: the table of check-gpu-streams, from what its runs left in DIR; status 1 where it misses, 77
when no program ran."""
import glob
import os
import re
import statistics
import sys

from bench_table import Runs, show

MODES = ["cutrace", "every", "sampled", "budget", "trace"]
MOST_RATIO = 1.02
MOST_OFF = 0.05
FEWEST_TIMED = 8  # of one or two nothing follows


def sums(sides):
    """Of the repeats: kernels counted, timed, and their time in ms with half of its interval and its doubt."""
    found = []
    for side in sides:
        keys = [key for key in side.count if key[0] == "kernel" and "spin" in key[1]]
        counted, timed = sum(side.count[k] for k in keys), sum(side.timed[k] for k in keys)
        total = sum(side.count[k] * side.mean_us(k) for k in keys if side.timed[k]) / 1e3
        half = 1.96 * sum(side.variance_ns2[k] for k in keys) ** 0.5 / 1e6
        doubt = sum(side.doubt_ns[k] * side.count[k] / side.timed[k] for k in keys if side.timed[k]) / 1e6
        found.append((counted, timed, total, half + doubt))
    return found


def judged(runs, name, mode, plain):
    """A cell and whether it is well."""
    walls = runs.figures(name, mode, "wall")
    kernels, busy = runs.figures(name, mode, "kernels"), runs.figures(name, mode, "busy")
    found = sums(runs.sides(name, mode))
    if not walls or not plain or not found or len(found) != len(walls):
        return "no profile", False
    ratio = statistics.median(walls) / statistics.median(plain)
    counted = all(f[0] == kernels[0] for f in found)
    truth = statistics.median(busy) or statistics.median(f[2] for f in found)  # the simulated device tells none
    total = statistics.median(f[2] for f in found) / truth
    within = statistics.median(f[3] for f in found) / truth
    timed = statistics.median(f[1] / f[0] if f[0] else 0 for f in found)
    tells = min(f[1] for f in found) >= FEWEST_TIMED
    ok = ratio <= MOST_RATIO and counted and (abs(total - 1) <= max(MOST_OFF, within) or not tells)
    return "x%.3f %3.0f%% x%.3f+-%.2f%s" % (ratio, 100 * timed, total, within, "" if ok else " MISS"), ok


def order(name):
    return [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", name)]


def main():
    directory = sys.argv[1]
    runs, ok = Runs(directory), True
    names = {os.path.basename(path).split(".")[0] for path in glob.glob(glob.escape(directory) + "/*.plain.*.status")}
    rows = [["connections-pattern-streams", "plain ms"] + MODES]
    for name in sorted(names, key=order):
        plain = runs.figures(name, "plain", "wall")
        row = [name, "%.1f" % statistics.median(plain) if plain else "-"]
        for mode in MODES:
            ran = glob.glob("%s/%s.%s.*.status" % (glob.escape(directory), name, mode))
            cell, is_well = judged(runs, name, mode, plain) if ran else ("-", True)
            row.append(cell)
            ok = ok and is_well
        rows.append(row)
    print("== wall to plain, kernels timed, their time to the GPU's own clock and half its interval")
    show(rows)
    if not glob.glob(glob.escape(directory) + "/*.plain.*.out"):
        return 77
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
