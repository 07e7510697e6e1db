# SPDX-License-Identifier: MIT
"""What a step of a PyTorch program takes, for bench-gpu.

Processes in all modes are there at once and take turns (turns.py, at the socket BENCH_TURNS), so that
what the machine does meanwhile falls on all of them. Options on the program's command line: --profile
has torch.profiler record the steps, --alternate also compares steps with cutrace, or CUPTI, recording
and not recording, in each turn.
"""
import contextlib
import ctypes
import os
import socket
import statistics
import sys
import time

import torch

WARM_SECONDS = 1.2  # a profiler that adapts has adapted
WARM_STEPS = 2      # after the others' turns, or a switch
ALONE = 20          # turns of a process that nobody tells


def timed(step):
    start = time.perf_counter()
    step()
    return (time.perf_counter() - start) * 1e3


def measure(step, steps):
    """Milliseconds of each of so many."""
    return [timed(step) for _ in range(WARM_STEPS + steps)][WARM_STEPS:]


def warm_up(step):
    end = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < end:
        step()


def turns():
    """Yields when it is this process's turn."""
    path = os.environ.get("BENCH_TURNS")
    if not path:
        yield from range(ALONE)
        return
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        while server.recv(1):
            yield
            server.sendall(b".")


def switch():
    """What has the profiler of this process record, or not: cupti_truth.c has a function for it."""
    injected = os.environ.get("CUDA_INJECTION64_PATH")
    if injected:
        return ctypes.CDLL(injected).cupti_truth_record
    return lambda on: (torch.cuda.profiler.start if on else torch.cuda.profiler.stop)()


def run(name, prepare, steps):
    """prepare() gives the step, which is to wait for the GPU; of a turn, `steps` are measured. Prints
    the lines that bench_table.py reads."""
    record = switch() if "--alternate" in sys.argv else None
    recorded, others = [], []
    torch.empty(1, device="cuda")  # a context takes a second, which all may take at once
    mine = turns()
    next(mine)
    step = prepare()
    warm_up(step)
    with torch.profiler.profile() if "--profile" in sys.argv else contextlib.nullcontext():
        for _ in mine:
            recorded += measure(step, steps)
            if record:
                record(False)
                others += measure(step, steps)
                record(True)
    print("figure %s %.4f" % (name, statistics.median(recorded)))
    if record:
        ratio = statistics.median(recorded) / statistics.median(others)
        print("figure %s-on-to-off %.4f" % (name, ratio))


def main(name, prepare, steps, warm, spell):
    """A program's: so many steps, or as many as its first argument says, after some to warm up, and a
    line of what spell() makes of the last one's result; with --time run() instead."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else steps
    if "--time" in sys.argv:
        run(name, prepare, steps)
        return
    step = prepare()
    for _ in range(warm + steps):
        result = step()
    print("%s: %s" % (os.path.splitext(os.path.basename(sys.argv[0]))[0], spell(result)))


def finite(result):
    return "finite" if result.isfinite() else "not finite"
