#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""figures.py [FOLDER]: the figures of doc/accuracy.md and lab/ that data sets can give, those here or in FOLDER.

A figure whose sets are not there is left out.

Durations are CUPTI's means of the kernel, of another run of the same program; all in nanoseconds.
"""
import bisect
import collections
import gzip
import math
import os
import statistics
import sys

HERE = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
BIAS = 2900    # bias_busy_ns of the library's table
SUBMIT = 1570  # about submit_ns of it
TOLD = 0.3     # ct_after_told()
LATE = 1800    # CT_LEAD_WAITS_NS
SHARED_START, TOLD_START = 1, 1 << 7  # CT_OP_...
Bracket = collections.namedtuple(
    "Bracket", "flags start stop raw gap told call done closed record launch stop_record excess quick kernel")


def truth(name):
    with open(f"{HERE}/{name}.cupti.tsv", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in list(file)[1:]]
    return {row[0]: float(row[2]) * 1000 / int(row[1]) for row in rows}


def lines(name):
    with gzip.open(f"{HERE}/{name}.brackets.tsv.gz", "rt") as file:
        for line in list(file)[1:]:
            yield line.rstrip("\n").split("\t")


def stamped(name):
    """The brackets of all streams, with start and stop on the GPU's clock, and call, done and closed on the host's."""
    stop = closed = 0
    for fields in lines(name):
        after, raw, pause, record, launch, stop_record = map(int, fields[2:8])
        start, call = stop + after, closed + pause + record
        stop, done = start + raw, call + launch
        closed = done + stop_record
        yield fields, start, stop, call, done, closed


def load(name):
    """The brackets of the first stream; excess is None where there is no duration to compare with,
    record 0 without a start record, quick what a record takes the host when nothing holds it up."""
    duration, out, last = truth(name), [], None
    quick = statistics.quantiles((int(fields[7]) for fields in lines(name)), n=10)[0]
    for fields, start, stop, call, done, closed in stamped(name):
        flags, raw, record = int(fields[1]), stop - start, int(fields[5])
        if flags & TOLD_START:  # worked out for just before the call
            record = 0
        known = fields[8] == "kernel" and fields[9] in duration
        if fields[0] == "0":
            out.append(Bracket(flags, start, stop, raw, start - last if last else None,
                               call - record * TOLD, call, done, closed,
                               record, done - call, closed - done,
                               raw - duration[fields[9]] - BIAS if known else None, quick, fields[9]))
        last = stop
    return out


def lead(b, tie):
    return b.done - TOLD * b.quick + tie - b.start


def own(b):
    """Of an idle stream: what the submission itself takes, as submit_ns has it."""
    return b.launch + TOLD * (b.record - b.quick) - b.excess


def is_idle(b):
    return not b.flags & SHARED_START and (b.gap is None or b.gap > 5000) and b.record < 4000


def is_pin(b):
    return is_idle(b) and not b.flags & TOLD_START


def clock(brackets):
    """The GPU's time minus the host's at each bracket: of the last 32 idle records, 2/5 from below."""
    pins, out = collections.deque(maxlen=32), []
    for b in brackets:
        if is_pin(b):
            pins.append(b.start - b.told)
        out.append(sorted(pins)[len(pins) * 2 // 5] if pins else None)
    return out


def quantiles(values):
    v = sorted(values)
    return " ".join(f"{v[min(len(v) - 1, int(len(v) * p))]:+7.0f}" for p in (.05, .25, .5, .75, .95))


def slope(x, y):
    mx, my = statistics.fmean(x), statistics.fmean(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def print_clock():
    print("clock: idle records, GPU's time less the host's, around the tie: 5 25 50 75 95 %; drift")
    for name in ("lib_decode_1", "lib_train_1", "lib_spin_paced", "lib_spin_bursts"):
        b = load(name)
        ties = clock(b)
        pins = [(x.told, x.start - x.told, t) for x, t in zip(b, ties) if is_idle(x) and t][32:]
        drift = slope([p[0] for p in pins], [p[2] for p in pins]) * 1e6
        print(f"  {name:16} {quantiles([p[1] - p[2] for p in pins])}  {drift:+.1f} ppm")


def print_queue():
    print("queue: bracket less duration, operations ready in time, by entries behind the stop record")
    b = load("lib_spin_bursts")
    ties, by = clock(b), collections.defaultdict(list)
    arrivals = []  # of records and operations, on the GPU's time line
    for x, tie in zip(b, ties):
        arrivals += [t + (tie or 0) for t in
                     ([x.done, x.closed] if x.flags & SHARED_START else [x.call, x.done, x.closed])]
    entries = 0
    for x, tie in zip(b, ties):
        entries += 2 if x.flags & SHARED_START else 3
        if tie is None or x.excess is None or lead(x, tie) > -800:
            continue
        behind = max(0, bisect.bisect(arrivals, x.stop) - entries)
        by[min(48, behind // 6 * 6)].append(x.excess + BIAS)
    for behind in sorted(by):
        print(f"  {behind:3}.. {len(by[behind]):6} {quantiles(by[behind])}")


def print_lead():
    print("lead: what a bracket has beyond duration and bias, little queued, by lead")
    by = collections.defaultdict(list)
    for name in ("lib_spin_paced", "lib_write", "lib_decode_1", "lib_decode_2", "lib_decode_3"):
        b = load(name)
        for x, tie in zip(b, clock(b)):
            if tie is not None and x.excess is not None and not x.flags & SHARED_START:
                by[max(-8, min(12, round(lead(x, tie) / 500)))].append(x.excess)
    for step in sorted(by):
        print(f"  {step * 500:+6} {len(by[step]):6} {quantiles(by[step])}")


def print_host():
    print("host: idle stream, growth of a kernel's brackets with the host's time")
    for name in ("lib_decode_1", "lib_train_1", "lib_spin_paced", "lib_write"):
        idle = [x for x in load(name) if is_idle(x) and x.excess is not None and
                abs(own(x) - SUBMIT) < 1500]
        rest = [x.excess - x.launch for x in idle]
        print(f"  {name:16} {len(idle):6} with the launch "
              f"{slope([x.launch for x in idle], [x.excess for x in idle]):.2f}, with the start "
              f"record {slope([x.record for x in idle], rest):.2f}; the submission's own "
              f"{quantiles([own(x) for x in idle])}")


def print_hosts():
    print("hosts: what a record takes the host; what a submission takes that is taken to be told of as "
          "the call returns, and as long before as the host is slow")
    names = [f"lib_decode_{i}" for i in range(1, 20)] + [f"lib_train_{i}" for i in range(1, 10)]
    quick, rest = [], []
    for name in names:
        idle = [x for x in load(name) if is_idle(x) and x.excess is not None and
                x.stop_record < 2500 and abs(own(x) - SUBMIT) < 1500]
        quick.append(idle[0].quick)
        rest.append(statistics.median(own(x) for x in idle))
        print(f"  {name:16} {quick[-1]:6.0f} {rest[-1] + TOLD * quick[-1]:6.0f} {rest[-1]:6.0f}")
    flat = [r + TOLD * q for r, q in zip(rest, quick)]
    print(f"  slope {slope(quick, flat):.2f}, standard deviation {statistics.pstdev(flat):.0f} and "
          f"{statistics.pstdev(rest):.0f}")


def next_told(x, tie, record):
    """From the stop stamp to where a record would be stamped of which the GPU is told with what comes next."""
    told = x.told if record else x.done - TOLD * x.quick
    return told + tie


def print_intake():
    print("intake: how late the stop is by when the GPU is told of what comes next, from where the stop "
          "would be; decoding's products and a launch without a start record, and training with one")
    decode = [f"lib_decode_{i}" for i in range(7, 20)]
    train = [f"lib_train_{i}" for i in range(1, 10)]
    for title, names, part, record in (("launch", decode, "cutlass", False),
                                       ("record", train, "nvjet", True)):
        by = collections.defaultdict(list)
        for name in names:
            b = load(name)
            late = collections.defaultdict(list)
            for x, y, tie in zip(b, b[1:], clock(b)):
                if tie is None or x.excess is None or part not in x.kernel or not is_idle(x) or \
                        abs(SUBMIT - own(x)) > 1500 or bool(y.record) != record or y.flags & SHARED_START:
                    continue
                late[x.kernel].append((next_told(y, tie, record) - x.stop, SUBMIT - own(x)))
            for kernel in late:
                far = [ns for after, ns in late[kernel] if 1300 < after < 8000]
                if len(far) >= 20:
                    usual = statistics.median(far)
                    for after, ns in late[kernel]:
                        by[round((after + ns - usual) / 200)].append(ns - usual)
        for step in range(-6, 12):
            if len(by[step]) >= 20:
                print(f"  {title} {step * 200:+6} {len(by[step]):6} {quantiles(by[step])}")


def print_held():
    """Without CUPTI: kernels behind the same kernel take the same time, however long the call was."""
    print("held: bracket less the host's time in it, idle stream, around the kernel's median, by what the call "
          "took longer than three quick records, us")
    kernels, before = collections.defaultdict(list), None
    quick = statistics.quantiles((float(fields[4]) for fields in lines("torch_decode")), n=10)[0]
    for *times, kernel in lines("torch_decode"):
        raw, gap, record, launch, stop_record = map(float, times)
        held = launch - 3 * quick
        if gap > 5 and record < 4 and stop_record < 2.5 and held < 15:
            kernels[before, kernel].append((max(0, held), 1000 * (raw - launch - TOLD * record)))
        before = kernel
    x, y, by = [], [], collections.defaultdict(list)
    for found in kernels.values():
        if len(found) < 100:
            continue
        usual = statistics.median(ns for _, ns in found)
        near = [(held, ns - usual) for held, ns in found if abs(ns - usual) < 1500]
        x += [held for held, _ in near]
        y += [ns for _, ns in near]
        for held, ns in near:
            by[int(held)].append(ns)
    for held in range(11):
        print(f"  {held:3}.. {len(by[held]):6} {quantiles(by[held])}")
    print(f"  slope {slope(x, y):.0f} ns for each us")


def print_gaps():
    print("gaps: stop stamp before to start stamp, operations ready in time, and in idle streams")
    for name in ("lib_train_1", "lib_spin_paced", "lib_spin_bursts"):
        b, busy, idle = load(name), [], []
        for x, tie in zip(b, clock(b)):
            if tie is None or x.gap is None or x.flags & SHARED_START:
                continue
            late = x.told + tie - x.start  # negative: the record waited for the stream
            (busy if late < -1000 else idle if late > -300 else []).append(x.gap)
        print(f"  {name:16} busy {len(busy):6} {quantiles(busy)}   idle {len(idle):6} {quantiles(idle)}")


def print_phases():
    """The loop's kernels always take the same time: what is far from their median is not theirs."""
    print("phases: late kernels, from where the GPU was told to the stop stamp, around their kernel's median: mean; "
          "part that is 300 ns above, and what that adds to the mean; means of 5 ms: standard deviation, highest")
    names = [f"witness_decode_{i}" for i in range(1, 6)]
    names += [f"witness_slow_decode_{i}" for i in range(1, 7)]
    for name in names:
        b, kernels = load(name), collections.defaultdict(list)
        for x, tie in zip(b, clock(b)):
            if x.excess is not None and tie is not None and lead(x, tie) > LATE:
                kernels[x.kernel].append((x.start, x.raw - lead(x, tie)))
        pieces, rest = collections.defaultdict(list), []
        for found in kernels.values():
            usual = statistics.median(ns for _, ns in found)
            for start, ns in found:
                if ns - usual < 5000:  # the host was interrupted
                    pieces[start // 5000000].append(ns - usual)
                    rest.append(ns - usual)
        far = [ns for ns in rest if ns > 300]
        means = [statistics.fmean(piece) for piece in pieces.values() if len(piece) > 100]
        print(f"  {name:21} {len(rest):6} {statistics.fmean(rest):+4.0f}  {len(far) / len(rest):.3f} "
              f"{sum(far) / len(rest):+4.0f}  {statistics.pstdev(means):4.0f} {max(means):+5.0f}")


def main():
    for part in (print_clock, print_queue, print_lead, print_host, print_hosts, print_intake,
                 print_held, print_gaps, print_phases):
        try:
            part()
        except FileNotFoundError as error:
            print(f"  no {os.path.basename(error.filename)}")


if __name__ == "__main__":
    main()
