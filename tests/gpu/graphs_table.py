#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""graphs_table.py DIR: the tables of check-gpu-graphs.

Reads the programs (name|...) from stdin, and from DIR what the runs left: NAME.MODE.REPEAT.out,
NAME.nodes.REPEAT.*.bin and NAME.cupti.REPEAT.tsv.*. Exit status 0, 1 when a bound is missed, a run left
no profile or results were not compared, 77 when no program ran, or CUPTI had no kernel of any.
"""
import collections
import glob
import statistics
import sys

import accuracy_table
import compare
import summary

LEAST_RUNS = 100
KNOWN = "spin_only"  # a kernel that is no like others: see check-gpu-graphs
MODES = ["plain", "cutrace", "nodes", "nodes-sampled", "cupti", "nsys-nodes"]


def is_line(program):
    """Whether the kernels of its graph run one behind the other."""
    return program.startswith("line")


def lines_of(directory, program):
    """Of each file with times of nodes: all kernels of one launch, and the graph, us."""
    for path in sorted(glob.glob("%s/%s.nodes.*.bin" % (glob.escape(directory), program))):
        profile = summary.read(path)
        for index, row in enumerate(profile.rows):
            nodes = [node for node in profile.nodes
                     if node["graph_row"] == index and node["timed"]]
            if row["kind"] == "graph" and row["timed"] and nodes:
                yield (sum(node["total_ns"] / node["timed"] * node["count"] for node in nodes) / 1e3,
                       row["total_ns"] / row["timed"] / 1e3)


def count_long_lines(directory, program):
    """How often they are longer together, or have no times at all."""
    found = list(lines_of(directory, program))
    for kernels_us, graph_us in found:
        print("%s: kernels %.3f us together, the graph %.3f us" % (program, kernels_us, graph_us))
    return sum(kernels_us > graph_us for kernels_us, graph_us in found) or int(not found)


class Kernel(accuracy_table.Row):
    """One kernel in the graphs of one program."""

    @property
    def bound(self):
        return 0.3 if is_line(self.program) else max(0.05 * self.mean, 0.5)

    def is_known(self):
        return KNOWN in self.key[1]

    def verdict(self):
        return "known" if self.is_known() else "ok" if self.good() else "MISS"

    def cells(self, names):
        return [self.program, accuracy_table.short(names[self.key[1]]), "%d" % self.launches,
                "%d" % statistics.median(self.timed), "%.3f" % self.mean,
                "%.3f" % statistics.median(self.ours), "%+.3f" % self.error,
                accuracy_table.percent(self.error, self.mean),
                "%.3f" % statistics.median(self.doubt), "%+.3f" % self.raw_error, self.verdict()]


HEAD = ["program", "kernel", "runs", "timed", "CUPTI us", "cutrace us", "error us", "error",
        "doubt us", "raw error us", "verdict"]


def with_facts(program, sides):
    """The same, after what each has to say of graphs."""
    for side in sides:
        for fact, count in sorted(side.facts.items()):
            if "graph" in fact or "Graph" in fact:
                print("# %s: %s: %d" % (program, fact, count))
        yield side


def kernels_of(program, directory):
    """And how many runs left no profile that can be read."""
    truths = accuracy_table.sides(directory, program, "cupti", "", compare.read_cupti)
    ours = list(accuracy_table.sides(directory, program, "nodes", ".bin", compare.read_cutrace))
    missing = accuracy_table.ended(directory, program, "nodes") - len(ours)
    return accuracy_table.rows_of(program, truths, with_facts(program, ours), ("graph_kernel",), Kernel), missing


class Output:
    """What the runs of a program in one mode have printed."""

    def __init__(self, directory, program, mode):
        self.results, self.us = set(), collections.defaultdict(list)
        for path in glob.glob("%s/%s.%s.*.out" % (glob.escape(directory), program, mode)):
            for line in open(path, errors="replace"):
                words = line.split()
                if words[:1] == ["result"]:
                    self.results.add(" ".join(words[1:]))
                elif words[:1] == ["figure"]:
                    self.us[words[1]].append(float(words[2]))

    def median(self, figure):
        return statistics.median(self.us[figure]) if self.us[figure] else None

    @property
    def ratio(self):
        """To launches of an executable graph that has no replica, in the same process."""
        ratios = [a / b for a, b in zip(self.us["launch"], self.us["changed"]) if b]
        return statistics.median(ratios) if ratios else None


def to_plain(outputs, mode, figure):
    us, plain = outputs[mode].median(figure), outputs["plain"].median(figure)
    return us / plain if us and plain else None


def cost_cells(program, outputs, figure):
    cells = [program]
    for mode in MODES:
        us, ratio = outputs[mode].median(figure), to_plain(outputs, mode, figure)
        text = "-" if us is None else "%.3f" % us
        text += " (%.3f)" % ratio if ratio else ""
        beside = outputs[mode].ratio if figure == "launch" else None
        cells.append(text + (" [%.3f]" % beside if beside else ""))
    return cells


def cost_is_good(outputs):
    """Where there is no such executable graph there is nothing to judge."""
    ratio, without = outputs["nodes"].ratio, outputs["cutrace"].ratio
    return ratio is None or without is None or ratio <= 1.01 * max(without, 1)


def is_through_in_time(outputs):
    ratio = to_plain(outputs, "nodes-sampled", "through")
    return ratio is None or ratio <= 1.01


def was_run(directory, program, mode):
    return bool(glob.glob("%s/%s.%s.*.status" % (glob.escape(directory), program, mode)))


def results_are_same(outputs):
    return bool(outputs["nodes"].results) and outputs["nodes"].results == outputs["plain"].results \
        and len(outputs["plain"].results) == 1


def show_bias(kernels):
    """The constant that would suit best: the median of what raw times have too much."""
    errors = sorted(kernel.raw_error for kernel in kernels if not kernel.is_known())
    print("\nraw time less CUPTI's: median %.3f us, from %.3f to %.3f" % (
        statistics.median(errors), errors[0], errors[-1]))


def main():
    directory = sys.argv[1]
    kernels, costs, through, dear, late, different = [], [], [], [], [], []
    untimed, unmatched, long_lines, unprofiled, ran = 0, 0, 0, 0, 0
    for program in [line.split("|")[0].strip() for line in sys.stdin]:
        found, missing = kernels_of(program, directory)
        unprofiled += missing
        ran += accuracy_table.ended(directory, program, "plain")
        untimed += sum(not kernel.ours for kernel in found)
        kernels += sorted((kernel for kernel in found
                           if kernel.ours and statistics.median(kernel.timed) >= LEAST_RUNS),
                          key=lambda kernel: kernel.mean)
        if is_line(program) and was_run(directory, program, "nodes"):
            long_lines += count_long_lines(directory, program)
        outputs = {mode: Output(directory, program, mode) for mode in MODES}
        costs.append(cost_cells(program, outputs, "launch"))
        through.append(cost_cells(program, outputs, "through"))
        if not cost_is_good(outputs):
            dear.append(program)
        if not is_through_in_time(outputs):
            late.append(program)
        if not was_run(directory, program, "plain") or not was_run(directory, program, "nodes"):
            unmatched += 1  # the limit was over before that
        elif not results_are_same(outputs):
            different.append(program)
            print("results of %s: plain %s, with times of nodes %s" % (
                program, sorted(outputs["plain"].results), sorted(outputs["nodes"].results)))
    if kernels:
        names = accuracy_table.demangled(sorted({kernel.key[1] for kernel in kernels}))
        print("== means of kernels in graphs: 5 % or 0.5 us of CUPTI's; medians of the repeats")
        accuracy_table.show([HEAD] + [kernel.cells(names) for kernel in kernels])
        show_bias(kernels)
    print("\n== the host's time of a launch, us, and its ratio to the program alone; medians. In brackets that "
          "to an executable graph without a replica in the same process")
    accuracy_table.show([["program"] + MODES] + costs)
    print("\n== from the call until the graph is through, us, with nothing else to do; the same ratios")
    accuracy_table.show([["program"] + MODES] + through)
    kernels = [kernel for kernel in kernels if not kernel.is_known()]
    missed = sum(not kernel.good() for kernel in kernels)
    print("\ngraphs: %d kernels with %d timed runs or more: %d within the bound, %d missed; kernels "
          "without a time: %d; programs with other results: %d; whose results were not compared: %d; "
          "with launches that cost more: %d; that are through later, not sampled: %d; kernels in a line "
          "longer than their graph, or without times: %d; runs without a profile: %d" % (
              len(kernels), LEAST_RUNS, len(kernels) - missed, missed, untimed, len(different),
              unmatched, len(dear), len(late), long_lines, unprofiled))
    failures = missed or untimed or different or unmatched or dear or late or long_lines or unprofiled
    if not ran or not (kernels or failures):
        return 77
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
