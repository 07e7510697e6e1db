#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pack.py BRACKETS CUPTI NAME: makes a data set of what was recorded on a GPU.

BRACKETS is what tests/gpu/brackets.py prints, CUPTI the table that tests/gpu/cupti_truth.c wrote in
another run of the same program. Writes NAME.brackets.tsv.gz and NAME.cupti.tsv. A witness has for a
name what one took by its own stamps, ns; "-" where none had been read yet.
"""
import gzip
import sys

BOUND = 8  # CT_OP_BOUND is the estimate's, not the bracket's


def brackets(path):
    with open(path, encoding="utf-8") as file:
        for line in list(file)[1:]:
            yield line.rstrip("\n").split("\t")


def packed(path):
    """Stamps as distances from the line before: its stop stamp, the end of its stop record."""
    out = ["stream\tflags\tafter_ns\traw_ns\tpause_ns\trecord_ns\tlaunch_ns\tstop_record_ns\tkind\tkernel60"]
    last_stop = last_closed = 0
    for fields in brackets(path):
        stream, flags, start, raw, before, call, done, closed = map(int, fields[:8])
        kind, name = fields[9:11]
        if kind == "witness":
            name = fields[15] if int(fields[15]) else "-"
        out.append("\t".join(map(str, (
            stream, flags & ~BOUND, start - last_stop if len(out) > 1 else 0, raw,
            before - last_closed if len(out) > 1 else 0, call - before, done - call,
            closed - done, kind, name or "-"))))
        last_stop, last_closed = start + raw, closed
    return "\n".join(out) + "\n"


def truth(path):
    """Kernels that share their first 60 characters are one here."""
    totals = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            kind, name, *figures = line.rstrip("\n").split("\t")
            if kind != "kernel":
                continue
            count, total, least, most = map(int, figures[:4])
            old = totals.get(name[:60], (0, 0, least, most))
            totals[name[:60]] = (old[0] + count, old[1] + total, min(old[2], least),
                                 max(old[3], most))
    out = ["kernel60\tcount\ttotal_us\tmin_us\tmax_us"]
    for name, (count, *ns) in sorted(totals.items(), key=lambda item: -item[1][1]):
        out.append("\t".join([name, str(count)] + [f"{x / 1000:.3f}" for x in ns]))
    return "\n".join(out) + "\n"


def main():
    source, cupti, name = sys.argv[1:4]
    with open(name + ".brackets.tsv.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write(packed(source).encode())
    with open(name + ".cupti.tsv", "w", encoding="utf-8") as file:
        file.write(truth(cupti))


if __name__ == "__main__":
    main()
