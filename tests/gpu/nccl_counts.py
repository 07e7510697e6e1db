# SPDX-License-Identifier: MIT
"""nccl_counts.py PROGRAM GPUS REPORT: the report nccl, as JSON, beside what the program is known to do."""
import json
import sys

MIB = 1 << 20
DDP_PARAMETERS = 512 * 2048 + 2048 + 2048 * 512 + 512


def expected(program, gpus):
    """By operation, type and ranks: calls, None where the framework decides how many, and bytes."""
    if program.startswith("nccl"):
        return {("AllReduce", "float", gpus): (10 * gpus, 10 * gpus * 4 * MIB),
                ("Broadcast", "float", gpus): (10 * gpus, 10 * gpus * 2 * MIB)}
    steps, ranks = 30, 2  # each reduces all gradients once, and one number in the end
    return {("AllReduce", "float", ranks): (None, ranks * 4 * (steps * DDP_PARAMETERS + 1))}


def main():
    program, gpus = sys.argv[1], int(sys.argv[2])
    rows = json.load(open(sys.argv[3]))["tables"][0]["rows"]
    wrong = []
    for key, (calls, size) in expected(program, gpus).items():
        mine = [r for r in rows if (r["operation"], r["datatype"], r["ranks"]) == key]
        made, timed = sum(r["calls"] for r in mine), sum(r["timed"] for r in mine)
        moved = sum(r["bytes"] for r in mine)
        if moved != size or (calls is not None and made != calls):
            wrong.append("%s: %d calls, %d bytes instead of %s, %d" % (key, made, moved, calls, size))
        if gpus > 1 and timed != made:
            wrong.append("%s: %d of %d calls have a time" % (key, timed, made))
        for r in mine if gpus > 1 else []:
            bus = r["bus_bytes_per_second"] or 0
            print("%s %s of %d bytes: %.1f GB/s on the bus (10^9)" % (program, key[0], r["avg_bytes"], bus / 1e9))
            if not 0 < bus < 1e12:
                wrong.append("%s: %s B/s on the bus" % (key, bus))
    if any(r["failed"] for r in rows):
        wrong.append("calls failed")
    for line in wrong:
        print("FAIL: %s: %s" % (program, line))
    if not wrong:
        print("PASS: %s" % program)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
