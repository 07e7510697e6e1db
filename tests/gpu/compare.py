#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares cutrace's profile of a program with CUPTI's records of it.

    compare.py [--all-timed] [--without-graphs] [--staged-peers] --cutrace FILE... --cupti FILE...
    compare.py --cutrace FILE... --own FILE

Prints every difference in names, counts and bytes, one a line, then facts that are no difference
(lines that start with #), then a last line: SAME or DIFFERENT, numbers, and the ratio of the sums
of kernel time. Exit status 0, 1 when something differs, 2 when a file is missing or cannot be read.

With --all-timed a kernel without a duration is a difference. With --without-graphs what is in
graphs is not compared: what conditional nodes run, and what a kernel launches, the GPU alone knows.
With --staged-peers both halves of a copy to a peer that goes through the host are one copy.

cutrace shows a graph as one row and lists the kernels, copies and sets in it; CUPTI lists each
node's run. So those of graphs are compared as nodes in the graph times its launches.

With --own the truth is what a program says on stdout: lines "launched KERNEL COUNT", which are added
up. CUPTI has nothing of processes that end without exit handlers.
"""
import argparse
import collections
import sys

import summary


OPERATIONS = ("kernel", "copy", "set")
IN_GRAPHS = tuple("graph_" + kind for kind in OPERATIONS)


class Side:
    """Counts by (kind, name): kernel, copy, set, those of graphs; and what else is to be said."""

    def __init__(self):
        self.count = collections.Counter()
        self.bytes = collections.Counter()
        self.total_ns = collections.Counter()
        self.raw_ns = collections.Counter()
        self.timed = collections.Counter()
        self.doubt_ns = collections.Counter()
        self.estimated = collections.Counter()
        self.estimated_ns = collections.Counter()
        self.variance_ns2 = collections.Counter()
        self.with_others_ns2 = collections.Counter()
        self.facts = collections.Counter()
        self.lost = collections.Counter()

    def mean_us(self, key):
        """Over all launches that the timed ones stand for."""
        if self.estimated[key]:
            return self.estimated_ns[key] / self.estimated[key] / 1e3
        return self.total_ns[key] / self.timed[key] / 1e3


def read_cupti(paths):
    side = Side()
    for path in paths:
        for line in open(path):
            kind, name, count, total_ns, _, _, size = line.rstrip("\n").split("\t")
            if kind.startswith("graph") and kind[5:] in OPERATIONS:
                kind = "graph_" + kind[5:]  # the simulated device has one word
            if kind.replace("graph_", "") in OPERATIONS:
                side.count[kind, name] += int(count)
                side.bytes[kind, name] += int(size)
                side.total_ns[kind, name] += int(total_ns)
                side.timed[kind, name] += int(count)
            elif kind == "lost":
                side.lost["CUPTI: " + name] += int(count)
    return side


def read_own(path):
    side = Side()
    for line in open(path):
        words = line.split()
        if len(words) == 3 and words[0] == "launched":
            side.count["kernel", words[1]] += int(words[2])
    return side


def add_marks(side, row):
    marks = {"another thread's work in between": row["overlapped"],
             "legacy default stream": row["legacy_waits"]}
    marks["other"] = row["marked"] - sum(marks.values())
    for reason, count in marks.items():
        if count:
            side.facts["%s times that are upper bounds: %s" % (row["kind"], reason)] += count


def add_times(side, key, entry):
    side.timed[key] += entry["timed"]
    side.total_ns[key] += entry["total_ns"]
    side.raw_ns[key] += entry["raw_total_ns"]
    side.doubt_ns[key] += entry["doubt_ns"]


def add_node(side, node, launches):
    key = "graph_" + node["kind"], node["name"]
    side.count[key] += node["count"] * launches
    side.bytes[key] += node["bytes"]
    add_times(side, key, node)


def add_rows(side, profile):
    for index, row in enumerate(profile.rows):
        key = row["kind"], "memset" if row["kind"] == "set" else row["name"]
        for reason, count in row["lost"].items():
            side.facts["%s without a duration: %s" % (row["kind"], reason)] += count
        if row["errors"]:
            side.facts["%s calls that failed" % row["kind"]] += row["errors"]
        if row["kind"] in ("kernel", "copy", "set") and row["ran"]:
            side.count[key] += row["ran"]
            side.bytes[key] += row["bytes"]
            add_times(side, key, row)
            side.estimated[key] += row["estimated"]
            side.estimated_ns[key] += row["estimated_ns"]
            side.variance_ns2[key] += row["variance_ns2"]
            side.with_others_ns2[key] += row["with_others_ns2"]
            add_marks(side, row)
        elif row["kind"] in ("graph", "prefetch"):
            side.facts["%s operations" % row["kind"]] += row["ran"]
        for node in profile.nodes:
            if row["kind"] == "graph" and node["graph_row"] == index:
                add_node(side, node, row["ran"])


def read_cutrace(paths):
    side = Side()
    for path in paths:
        profile = summary.read(path)
        add_rows(side, profile)
        if not profile.finished:
            side.lost["cutrace: the exit handler did not finish the file"] += 1
        for note in profile.notes:
            side.facts["note: " + note["text"]] += note["count"]
    return side


def join_halves(truth, ours):
    """Without peer access a copy to a peer goes through the host: CUPTI shows both halves of it."""
    peer, halves = ("copy", "PtoP"), (("copy", "DtoH"), ("copy", "HtoD"))
    for counter, own in (truth.count, ours.count), (truth.bytes, ours.bytes):
        staged = min([own[peer] - counter[peer]] + [counter[half] - own[half] for half in halves])
        if staged > 0:
            counter[peer] += staged
            counter.subtract({half: staged for half in halves})
    for side in truth, ours:
        side.count = +side.count


def forget_graphs(side):
    for key in [key for key in side.count if key[0] in IN_GRAPHS]:
        del side.count[key]


def differences(truth, ours, teller):
    keys = sorted(set(truth.count) | set(ours.count))
    for key in keys:
        if truth.count[key] != ours.count[key]:
            yield "%s %s: %s %d, cutrace %d" % (*key, teller, truth.count[key], ours.count[key])
        elif not key[0].endswith("kernel") and truth.bytes[key] != ours.bytes[key]:
            yield "%s %s: bytes: CUPTI %d, cutrace %d" % (*key, truth.bytes[key], ours.bytes[key])
    for what, count in sorted((truth.lost + ours.lost).items()):
        if what != "CUPTI: untimed":
            yield "%s: %d" % (what, count)


def untimed(side):
    for key, count in side.count.items():
        if key[0] == "kernel" and side.timed[key] < count:
            yield "kernel %s: %d of %d without a duration" % (key[1], count - side.timed[key], count)


def sum_of(counter, kinds):
    return sum(n for key, n in counter.items() if key[0] in kinds)


def means_us(truth, ours):
    """Name, count and both means of the kernels outside graphs that both sides have timed."""
    for key, count in truth.count.items():
        if key[0] == "kernel" and truth.timed[key] and ours.timed[key]:
            yield key[1], count, truth.mean_us(key), ours.mean_us(key)


def ratio(truth, ours):
    """Sum of kernel time, cutrace over CUPTI, with the same counts for both."""
    rows = list(means_us(truth, ours))
    total = sum(count * theirs for _, count, theirs, _ in rows)
    return "%.3f" % (sum(count * mine for _, count, _, mine in rows) / total) if total else "-"


def covered(truth, ours, kind):
    """How many means CUPTI's is within the uncertainty of, of how many that have one."""
    keys = [key for key in truth.count if key[0] == kind and truth.timed[key]
            and ours.timed[key] and ours.doubt_ns[key]]
    near = sum(abs(ours.total_ns[key] / ours.timed[key] - truth.total_ns[key] / truth.timed[key])
               <= ours.doubt_ns[key] / ours.timed[key] for key in keys)
    return near, len(keys)


def worst_kernels(truth, ours, most=3):
    """The kernels whose mean is farthest from CUPTI's, of those launched often enough."""
    rows = [(abs(mine - theirs), name, count, theirs, mine)
            for name, count, theirs, mine in means_us(truth, ours)
            if count >= 10 and abs(mine - theirs) > max(0.03 * theirs, 0.3)]
    for _, name, count, theirs, mine in sorted(rows, reverse=True)[:most]:
        yield "mean of %s: CUPTI %.2f us, cutrace %.2f us, %d times" % (
            name[:60], theirs, mine, count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all-timed", action="store_true")
    parser.add_argument("--without-graphs", action="store_true")
    parser.add_argument("--staged-peers", action="store_true")
    parser.add_argument("--cutrace", nargs="*", default=[])
    parser.add_argument("--cupti", nargs="*", default=[])
    parser.add_argument("--own")
    options = parser.parse_args()
    teller = "the program" if options.own else "CUPTI"
    for name, paths in ((teller, options.own or options.cupti), ("cutrace", options.cutrace)):
        if not paths:
            print("MISSING no file by %s" % name)
            return 2
    try:
        truth = read_own(options.own) if options.own else read_cupti(options.cupti)
        ours = read_cutrace(options.cutrace)
    except (OSError, ValueError) as error:
        print("UNREADABLE %s" % error)
        return 2
    if not truth.count and options.own:
        print("MISSING no line 'launched KERNEL COUNT' in %s" % options.own)
        return 2
    if options.without_graphs:
        forget_graphs(truth)
        forget_graphs(ours)
    if options.staged_peers:
        join_halves(truth, ours)
    found = list(differences(truth, ours, teller)) + (list(untimed(ours)) if options.all_timed else [])
    for line in found:
        print(line)
    for what, count in sorted(ours.facts.items()) + sorted(truth.facts.items()):
        print("# %s: %d" % (what, count))
    if truth.lost["CUPTI: untimed"]:
        print("# records without times, by CUPTI: %d" % truth.lost["CUPTI: untimed"])
    for kind in ("kernel", "copy", "set"):
        near, of = covered(truth, ours, kind)
        if of:
            print("# %s means within what they may be wrong by: %d of %d" % (kind, near, of))
    for line in worst_kernels(truth, ours):
        print("# " + line)
    sums = []
    for kind, plural in zip(OPERATIONS, ("kernels", "copies", "sets")):
        inside = sum_of(truth.count, ["graph_" + kind])
        sums.append("%d %s" % (sum_of(truth.count, [kind]) + inside, plural) +
                    (" (%d in graphs)" % inside if inside or kind == "kernel" else ""))
    print("%s %d differences; %s; time %s of CUPTI's" % (
        "DIFFERENT" if found else "SAME", len(found), ", ".join(sums), ratio(truth, ours)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
