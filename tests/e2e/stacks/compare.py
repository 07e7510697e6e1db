# SPDX-License-Identifier: MIT
"""compare.py TRUTH COLLAPSED: each kernel of the one has the stack that the other says, and one."""
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
came = {}
for line in open(sys.argv[2], encoding="utf-8", errors="surrogateescape"):
    frames, _, _ = line.rstrip("\n").rpartition(" ")
    *stack, kernel = frames.split(";")
    came.setdefault(kernel, []).append(stack)


def shown(frame):
    function, file, line = frame
    text = "%s (%s:%d)" % (function, file, line) if file else function
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return text.replace(";", ":")


bad = 0
for name, frames in lines:
    wanted = [[shown(f) for f in frames][-2048:]]
    got = came.get(name)
    if got != wanted:
        bad += 1
        if bad <= 5:
            print(name, "is not from where it was launched:")
            for w, g in zip(wanted[0], (got or [[]])[0] + [None] * len(wanted[0])):
                print("   ", "  " if w == g else "!!", w, "|", g)
            print("   ", len(wanted[0]), "frames,", [len(g) for g in got or []])
print(len(lines) - bad, "of", len(lines), "stacks are right,", len(came), "kernels")
sys.exit(bad != 0 or not lines)
