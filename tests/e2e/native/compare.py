# SPDX-License-Identifier: MIT
"""compare.py TRUTH PROFILE: each kernel has the stack, and as many launches there, as backtrace says."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../gpu"))
import summary  # noqa: E402

s = summary.read(sys.argv[2])
address = {a["line"]: a for a in s.addresses}


def frames_of(index):
    frames = []
    while index >= 0:
        frame = s.frames[index]
        a = address[frame["line"]]
        frames.append((s.objects[a["object"]]["path"], a["offset"]))
        index = frame["parent"] - 1
    return frames


came = {}
for stack in s.stacks:
    came.setdefault(s.rows[stack["row"]]["name"], []).append((stack["count"], frames_of(stack["frame"])))
for inside in s.inside:
    came.setdefault(s.nodes[inside["node"]]["name"], []).append((inside["count"] // 3, frames_of(inside["frame"])))


def is_right(wanted, got, behind_signal):
    if wanted == "JIT":
        return got == ("", 0)
    path, _, offset = wanted.lstrip("~").rpartition(":")
    distance = got[1] - int(offset, 16)
    return os.path.realpath(got[0]) == path and (0 <= distance < 4096 if wanted[0] == "~" else
                               distance == -1 or (behind_signal and distance == 0))


bad = launches = right = none = 0
for line in open(sys.argv[1], encoding="utf-8"):
    name, count, *wanted = line.split()
    got = came.get(name, [])
    launches += int(count)
    if not wanted:
        none += int(count)
        ok = not got
    else:
        ok = len(got) == 1 and got[0][0] == int(count) and len(got[0][1]) == len(wanted) and all(
            is_right(w, g, name[0] == "s") for w, g in zip(wanted, got[0][1]))
    right += ok
    bad += not ok
    if not ok and bad <= 5:
        print(name, "is not from where it was launched:", count, [g[0] for g in got], len(wanted))
        for w, g in zip(wanted, got[0][1] if got else []):
            print("   ", "  " if is_right(w, g, name[0] == "s") else "!!", w, "|", g[0], hex(g[1]))
garbled = sum(n["count"] for n in s.notes if "did not read as one" in n["text"])
if garbled != none:
    print(garbled, "launches are noted as garbled, not", none)
    bad += 1
print(right, "stacks are right,", bad, "are not;", launches, "launches,", none, "in no stack")
sys.exit(bad != 0 or launches < 1000)
