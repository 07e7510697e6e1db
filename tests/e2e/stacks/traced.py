# SPDX-License-Identifier: MIT
"""traced.py TRUTH CHROME [PERFETTO]: the stack of each kernel in the trace is the one that Python told.

CHROME: the export; PERFETTO: the other one, as `protoc --decode` prints it.
"""
import json
import re
import sys



def shown(frame):
    text = "%s (%s:%d)" % tuple(frame)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def text_of(printed):
    """As protoc escapes it."""
    return re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else
                  {b"n": b"\n"}.get(m[1], m[1]), printed.encode()).decode("utf-8")


truth = {}
for line in open(sys.argv[1], encoding="utf-8"):
    name, frames = json.loads(line)
    truth[name] = [shown(f) for f in frames][-2048:]
bad = 0


def held(name, got, of):
    global bad
    if name in truth and got != truth[name]:
        bad += 1
        if bad <= 5:
            print(name, "has another stack in", of, got[-3:], truth[name][-3:])


trace = json.load(open(sys.argv[2], encoding="utf-8"))
events = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
for e in events:
    frames, at = [], e.get("sf")
    while at is not None:
        frame = trace["stackFrames"][str(at)]
        frames.append(frame["name"])
        at = frame.get("parent")
    if frames and e["args"].get("python") != frames[0]:
        print(e["name"], "is from", e["args"].get("python"))
        bad += 1
    held(e["name"], frames[::-1], "chrome")
missing = len(set(truth) - {e["name"] for e in events})
if missing or len(events) < len(truth):
    print(missing, "kernels are not in the trace")
    bad += 1

if len(sys.argv) > 3:
    names, values, said = {}, {}, 0
    text = open(sys.argv[3], encoding="utf-8").read()
    for field, into in ("event_names", names), ("debug_annotation_string_values", values):
        for m in re.finditer(field + r' \{\s*iid: (\d+)\s*(?:name|str): "((?:[^"\\]|\\.)*)"', text):
            into[m[1]] = text_of(m[2])
    python = re.search(r'debug_annotation_names \{\s*iid: (\d+)\s*name: "python"', text)[1]
    for event in text.split("track_event {")[1:]:
        stack = re.search(r"name_iid: %s\s*string_value_iid: (\d+)" % python, event)
        name = re.search(r"\n    name_iid: (\d+)", event)
        if stack and name:
            said += names[name[1]] in truth
            held(names[name[1]], values[stack[1]].split("\n")[::-1], "perfetto")
    if said < len(truth):
        print(said, "stacks in perfetto, of", len(truth))
        bad += 1
print(len(truth), "kernels,", len(trace.get("stackFrames", {})), "frames")
sys.exit(bad != 0)
