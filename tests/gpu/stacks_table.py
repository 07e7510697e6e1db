# SPDX-License-Identifier: MIT
"""stacks_table.py DIR <PROGRAMS: by program how much of the GPU's time has a stack, and a line of the program itself.

PROGRAMS are lines name|seconds|command. Exit status 1: less than 95 % of a forward pass, or less than all of a
graph, has such a line; 77: nothing ran.
"""
import glob
import os
import subprocess
import sys

import summary

LEAST = {"forward": 0.95, "graph": 0.95}


def collapsed(path):
    text = subprocess.run([os.environ["CUTRACE_REPORT"], "--format", "collapsed", path], check=True,
                          capture_output=True, text=True).stdout
    for line in text.splitlines():
        stack, _, ns = line.rpartition(" ")
        yield stack.split(";"), int(ns)


def row_of(directory, name, command):
    files = glob.glob(os.path.join(directory, name + ".stacks.1.*.bin"))
    if not files:
        return None
    path = max(files, key=os.path.getsize)
    total = sum(r["total_ns"] for r in summary.read(path).rows if r["kind"] in ("kernel", "copy", "set", "graph"))
    program = os.path.basename(next(word for word in command.split() if word.endswith(".py")))
    with_stack = of_program = stacks = 0
    for frames, ns in collapsed(path):
        stacks += 1
        with_stack += ns
        of_program += ns if any(program + ":" in frame for frame in frames) else 0
    return total / 1e6, with_stack / total, of_program / total, stacks


def main():
    failed = ran = 0
    print("%-20s %10s %12s %12s %8s" % ("program", "GPU ms", "with a stack", "own line", "stacks"))
    for line in sys.stdin:
        name, _, command = line.rstrip("\n").split("|")
        row = row_of(sys.argv[1], name, command)
        if not row:
            ended_well = os.path.exists(os.path.join(sys.argv[1], name + ".stacks.1.out"))
            failed += ended_well
            ran += ended_well
            print("%-20s %s" % (name, "left no profile" if ended_well else "did not run"))
            continue
        ran += 1
        least = LEAST.get(name.partition("-")[0], 0)
        bad = row[2] < least
        failed += bad
        print("%-20s %10.3f %11.1f%% %11.1f%% %8d%s" % (name, row[0], 100 * row[1], 100 * row[2], row[3],
                                                       "  MISS: %.0f %%" % (100 * least) if bad else ""))
    print("%d programs, %d missed" % (ran, failed))
    sys.exit(77 if not ran else failed > 0)


main()
