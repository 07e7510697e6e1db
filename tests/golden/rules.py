# SPDX-License-Identifier: MIT
"""Rules that reports keep whatever the profile: own.sh compares bytes, this says which of them matter.

rules.py REPORT PROFILE...: the command cutrace-report, and profiles of made-up programs.
"""
import csv
import io
import json
import re
import subprocess
import sys

report, profiles = sys.argv[1], sys.argv[2:]
failures = 0


def check(condition, profile, rule, *seen):
    global failures
    if not condition:
        failures += 1
        print(f"FAIL: {profile}: {rule}:", *seen)


def run(*arguments):
    return subprocess.run([report, *arguments], capture_output=True, text=True, check=True).stdout


def tables(*arguments):
    return {t["name"]: t["rows"] for t in json.loads(run(*arguments, "--format", "json"))["tables"]}


def gpu_rows(*arguments):
    """Rows with a time: work inside graphs may be within that of their rows."""
    return [r for r in tables(*arguments)["summary"] if r["type"] == "GPU activities" and r["time_ns"] is not None]


def by_name(rows, *keys):
    sums = {}
    for r in rows:
        s = sums.setdefault(r["name"], [0] * len(keys))
        for i, k in enumerate(keys):
            s[i] += r[k]
    return sums


def shares_are_of_the_whole(p, rows):
    whole = sum(r["time_ns"] for r in rows)
    for r in rows:
        check(abs(r["time_percent"] - 100 * r["time_ns"] / max(whole, 1)) <= 0.011, p, "a share is of all times", r)


def times_are_ordered(p, rows):
    for r in rows:
        check(r["min_ns"] <= r["avg_ns"] <= r["max_ns"], p, "least <= mean <= most", r)
        check(abs(r["avg_ns"] * r["calls"] - r["time_ns"]) <= max(r["calls"], 1) * 10, p, "calls x mean is the time", r)
    times = [r["time_ns"] for r in rows]
    check(times == sorted(times, reverse=True), p, "the longest comes first", times)


def reports_agree(p, rows):
    parts = {}
    for name in ("kernels", "copies", "graphs"):
        for t in tables(name, p).values():
            parts.update({r["name"]: [r["calls"], r["total_ns"]] for r in t if "total_ns" in r and "calls" in r})
    for name, (calls, ns) in by_name(rows, "calls", "time_ns").items():
        if name in parts:
            check(parts[name] == [calls, ns], p, "the summary and a detailed report have one sum", name, parts[name], calls, ns)
    check(any(r["name"] in parts for r in rows), p, "rows of the summary are in detailed reports")


def gpus_add_up(p, rows):
    whole, parts = by_name(rows, "calls", "time_ns"), by_name(gpu_rows("summary", "--per", "gpu", p), "calls", "time_ns")
    check(whole == parts, p, "the GPUs' tables add up to that of all", whole, parts)


def brackets_are_longer(p, rows):
    corrected, raw = by_name(rows, "time_ns"), by_name(gpu_rows("--raw", p), "time_ns")
    for name in corrected:
        check(raw[name] >= corrected[name], p, "a bracket is no shorter than its operation", name)


def the_rest_is_one_row(p, rows):
    top = gpu_rows("--top", "1", p)
    check(top[0]["name"] == rows[0]["name"], p, "--top keeps the longest", top)
    check(sum(r["time_ns"] for r in top) == sum(r["time_ns"] for r in rows), p, "--top leaves no time out", top)
    check(len(top) == min(len(rows), 2), p, "--top 1 is a row and the rest", top)


def order_is_asked_for(p, rows):
    for option, turned in (("name", False), ("-name", True)):
        names = [r["name"] for r in gpu_rows("--sort=" + option, p)]
        check(names == sorted(names, reverse=turned), p, "--sort " + option, names)
        check(sorted(names) == sorted(r["name"] for r in rows), p, "--sort keeps all rows", names)


def filters_are_exact(p, rows):
    for pattern in ("e", "mem", "^[a-z]", "nothing like it"):
        kept = [r["name"] for r in gpu_rows("--filter", pattern, p)]
        check(kept == [r["name"] for r in rows if re.search(pattern, r["name"])], p, "--filter " + pattern, kept)


def nothing_is_lost(p, _rows):
    counts = json.loads(run("--format", "json", p))["operations"]
    all_of_them = tables("losses", p)["losses"]
    ran = counts["timed"] + counts["not_timed"] - counts["captured"]
    check(sum(r["operations"] for r in all_of_them) == ran, p,
          "timed and lost are all that ran", all_of_them, counts)
    timed = sum(r["operations"] for r in all_of_them if r["outcome"] == "timed")
    check(timed == counts["timed"], p, "one count of the timed", timed, counts)


def marks_say_so(p, rows):
    """`<` where more than one time in 20 is a bound, `~` where the mean is less than twice its doubt."""
    details = {r["name"]: r for name in ("kernels", "copies") for t in tables(name, p).values() for r in t if "timed" in r}
    text = run("--normalized-time-unit", "ns", p)
    for r in rows:
        d = details.get(r["name"])
        line = next((line for line in text.splitlines() if line.endswith("  " + r["name"])), "")
        if not d or not line or not d["timed"]:
            continue
        bound = 20 * d["upper_bounds"] > d["timed"]
        doubtful = d["uncertainty_ns"] is not None and d["avg_ns"] < 2 * d["uncertainty_ns"]
        check(("<" in line.split(r["name"])[0]) == bound, p, "`<` marks bounds", line, d["upper_bounds"], d["timed"])
        if not bound:
            check(("~" in line.split(r["name"])[0]) == doubtful, p, "`~` marks doubt", line, d["uncertainty_ns"])


def forms_have_the_same_rows(p, rows):
    lines = list(csv.DictReader(io.StringIO(run("summary", "--format", "csv", p))))
    names = [line["name"] for line in lines if line["type"] == "GPU activities" and line["time_ns"]]
    check(names == [r["name"] for r in rows], p, "CSV has the rows of JSON", names)


for profile in profiles:
    gpu = gpu_rows(profile)
    check(gpu, profile, "there are rows")
    for rule in (shares_are_of_the_whole, times_are_ordered, reports_agree, gpus_add_up, brackets_are_longer,
                 the_rest_is_one_row, order_is_asked_for, filters_are_exact, nothing_is_lost, marks_say_so,
                 forms_have_the_same_rows):
        rule(profile, gpu)
sys.exit(failures != 0)
