# SPDX-License-Identifier: MIT
"""sums.py EXPECTED LINES WHOLE PERCENT: own launches of each line, to so many percent; all time is in lines."""
import csv
import json
import sys

expected = {int(k): v for k, v in json.load(open(sys.argv[1])).items()}
rows = list(csv.DictReader(open(sys.argv[2])))
gpu_ns = sum(int(r.get("time_ns") or r.get("total_ns") or 0) for r in csv.DictReader(open(sys.argv[3]))
             if r.get("type", "GPU activities") == "GPU activities")
percent = float(sys.argv[4])  # a sample says nothing of the rare
bad = 0
own = {int(r["line"]): int(r["own_launches"]) for r in rows if int(r["own_launches"])}
for line, launches in expected.items():
    if percent and launches < 100:
        continue
    if abs(own.get(line, 0) - launches) > launches * percent / 100:
        print("line %d: %d launches, and not %d" % (line, own.get(line, 0), launches))
        bad = 1
if set(own) - set(expected):
    print("launches from lines that launch nothing:", set(own) - set(expected))
    bad = 1
own_ns = sum(int(r["own_ns"]) for r in rows)
if abs(own_ns - gpu_ns) > max(gpu_ns * percent / 100, 10 * len(rows)):
    print("%d ns in lines, %d in the summary" % (own_ns, gpu_ns))
    bad = 1
if own_ns > gpu_ns + 10 * len(rows):
    print("%d ns in lines are more than %d in the summary" % (own_ns, gpu_ns))
    bad = 1
if any(float(r["time_percent"]) > 100.01 for r in rows) or not rows:
    print("a line has more than all")
    bad = 1
sys.exit(bad)
