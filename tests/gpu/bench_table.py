#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_table.py DIR PATTERN MODE...: the tables of bench-gpu.

Reads the programs (name|...) from stdin, and from DIR what the runs left: PROGRAM.MODE.REPEAT.out with
lines "figure ROW VALUE", and the profiles beside them.
"""
import fnmatch
import glob
import statistics
import sys

import compare

# program: rows, each with its unit and what its kernels' names contain (None: no kernels of its own).
# on-to-off: steps or loops while the profiler records, to those of the same process while it does not;
# plain, where nothing changes, shows how far that can be resolved.
ROWS = {"loops": [("empty", "us", "empty"), ("empty-on-to-off", "ratio", None),
                  ("2.5us", "us", "kernel_2500"), ("2.5us-on-to-off", "ratio", None),
                  ("20us", "us", "kernel_20000"), ("20us-on-to-off", "ratio", None),
                  ("8-streams", "us", "kernel_streams"), ("8-streams-on-to-off", "ratio", None),
                  ("launch-call", "ns", "launch_call")],
        **{name: [(name, "ms", ""), (name + "-on-to-off", "ratio", None)]
           for name in ("torch-decode", "torch-train", "torch-resnet", "torch-gpt2", "torch-generate")}}


class Runs:
    """What the runs left, by program, mode and repeat."""

    def __init__(self, directory):
        self.directory = glob.escape(directory)

    def figures(self, program, mode, row):
        found = []
        for path in sorted(glob.glob("%s/%s.%s.*.out" % (self.directory, program, mode))):
            with open(path, errors="replace") as file:
                words = [line.split() for line in file]
            found += [float(w[2]) for w in words if len(w) == 3 and w[:2] == ["figure", row]]
        return found

    def sides(self, program, mode):
        """compare.Side of each repeat."""
        theirs = mode.startswith("cupti")
        for path in glob.glob("%s/%s.%s.*.status" % (self.directory, program, mode)):
            stem = glob.escape(path[:-len(".status")])
            paths = glob.glob(stem + (".tsv.*" if theirs else ".*.bin"))
            try:
                if paths:
                    yield (compare.read_cupti if theirs else compare.read_cutrace)(paths)
            except (OSError, ValueError) as error:
                print("%s %s: %s" % (program, mode, error))


def spread(values):
    return (max(values) - min(values)) / 2 / statistics.median(values) * 100


def cell(values, plain):
    if not values:
        return "-"
    ratio = " x%.3f" % (statistics.median(values) / plain) if plain else ""
    return "%.4g%s +-%.1f%%" % (statistics.median(values), ratio, spread(values))


def cost_rows(runs, programs, modes):
    """Cells, and the ratios to plain by row and mode."""
    cells, ratios = [["row"] + modes], {}
    for program in programs:
        for row, unit, _ in ROWS[program]:
            figures = {mode: runs.figures(program, mode, row) for mode in modes}
            plain = statistics.median(figures["plain"]) if figures.get("plain") else 0
            cells.append(["%s, %s" % (row, unit)] + [cell(figures[m], 0 if m == "plain" else plain)
                                                     for m in modes])
            for mode in modes:
                if figures[mode] and plain:
                    ratios[row, mode] = statistics.median(figures[mode]) / plain
    return cells, ratios


def kernel_time(side, part):
    """Launches, how many were timed, the time of all in us, and the variance of that."""
    launches = timed = total = variance = in_common = 0
    for key, count in side.count.items():
        if key[0] == "kernel" and part in key[1]:
            launches += count
            timed += side.timed[key]
            variance += side.variance_ns2[key] / 1e6
            in_common += side.with_others_ns2[key] / 1e6
            if side.timed[key]:
                total += count * side.mean_us(key)
    return launches, timed, total, variance if part else variance + max(in_common, 0)


def medians(runs, program, mode, part):
    """Launches, share timed, mean time of a launch, and half the interval of the time as a share of it:
    medians of the repeats. None without any."""
    found = [kernel_time(side, part) for side in runs.sides(program, mode)]
    found = [(n, timed / n, total / n, 1.96 * variance ** 0.5 / total)
             for n, timed, total, variance in found if n and total]
    return [statistics.median(column) for column in zip(*found)] if found else None


def time_rows(runs, programs, modes):
    """Cells, and the ratios to CUPTI's kernel time by row and mode."""
    ours = [mode for mode in ("cutrace", "budget", "sampled") if mode in modes]
    head = ["row", "launches by CUPTI", "CUPTI us"]
    for mode in ours:
        head += [mode + " us", "ratio", "+-", "launches", "timed"]
    cells, ratios = [head], {}
    for program in programs:
        for row, _, part in [row for row in ROWS[program] if row[2] is not None]:
            truth = medians(runs, program, "cupti", part)
            line = [row, "%d" % truth[0], "%.3f" % truth[2]] if truth else [row, "-", "-"]
            for mode in ours:
                mine = medians(runs, program, mode, part)
                if mine and truth and truth[2]:
                    ratios[row, mode] = mine[2] / truth[2]
                line += ["%.3f" % mine[2], "%.3f" % ratios.get((row, mode), 0),
                         "%.1f%%" % (mine[3] * 100), "%d" % mine[0],
                         "%.1f%%" % (mine[1] * 100)] if mine else ["-"] * 5
            cells.append(line)
    return cells, ratios


def compared(name, left, right, what):
    """A line about one target: left is to be at most right."""
    if left is None or right is None:
        return "%-13s %-58s -" % (name, what)
    return "%-13s %-58s %.3f to %.3f  %s" % (name, what, left, right, "ok" if left <= right else "MISS")


def targets(programs, costs, times):
    for row in [row for program in programs for row, unit, _ in ROWS[program] if unit in ("us", "ms")]:
        def cost(mode, of=""):
            return costs[row + of, mode] - 1 if (row + of, mode) in costs else None

        yield compared(row, cost("budget"), 0.02, "with a budget of 2 % it costs at most that")
        if (row + "-on-to-off", "budget") in costs:
            yield compared(row, cost("budget", "-on-to-off"), 0.02, "the same, in one process")
        yield compared(row, cost("budget"), cost("cupti"), "with a budget less than CUPTI's kernel records")
        if (row + "-on-to-off", "cupti") in costs:
            yield compared(row, cost("budget", "-on-to-off"), cost("cupti", "-on-to-off"),
                           "the same, in one process")
        off = abs(times[row, "budget"] - 1) if (row, "budget") in times else None
        yield compared(row, off, 0.02, "with a budget the total is within 2 % of CUPTI's")
        if row.startswith("torch"):
            half = cost("nsys") / 2 if cost("nsys") is not None else None
            yield compared(row, cost("cutrace"), cost("cupti-api"), "each: less than CUPTI with API records")
            yield compared(row, cost("cutrace", "-on-to-off"), cost("cupti-api", "-on-to-off"),
                           "the same, in one process")
            yield compared(row, cost("cutrace"), half, "each: less than half of nsys")


def stack_targets(programs, costs):
    for program in programs:
        with_them, without = (costs.get((program + "-on-to-off", mode)) for mode in ("stacks", "cutrace"))
        yield compared(program, with_them and without and with_them / without - 1, 0.01,
                       "with stacks a step takes at most so much longer")


def show(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def main():
    directory, pattern, modes = sys.argv[1], sys.argv[2], sys.argv[3:]
    programs = [line.split("|")[0].strip() for line in sys.stdin]
    programs = [p for p in programs if fnmatch.fnmatch(p, pattern)]
    runs = Runs(directory)
    cells, costs = cost_rows(runs, programs, modes)
    print("\n== us a kernel, ms a step, ns a call, recorded to not: median, ratio to plain, half the range")
    show(cells)
    cells, times = time_rows(runs, programs, modes)
    print("\n== mean kernel time, us, over all launches: medians of the repeats; +-: 95 % interval")
    show(cells)
    print("\n== targets: cost is the ratio to plain less 1")
    for line in targets(programs, costs, times):
        print(line)
    for line in stack_targets(programs, costs) if "stacks" in modes else ():
        print(line)


if __name__ == "__main__":
    main()
