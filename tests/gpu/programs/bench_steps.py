# SPDX-License-Identifier: MIT
"""What a step of a PyTorch program takes, for bench-gpu.

Options on the program's command line: --profile has torch.profiler record the steps, --alternate
also compares steps with cutrace, or CUPTI, recording and not recording, in turns, in the same process.
"""
import contextlib
import ctypes
import os
import statistics
import sys
import time

import torch

WARM_SECONDS = 1.2  # a profiler that adapts has adapted
BLOCK_SECONDS, BLOCKS = 0.1, 32


def timed(step):
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def block(step, seconds):
    """Milliseconds of each step for that long."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        times.append(timed(step) * 1e3)
    return times


def switch():
    """What has the profiler of this process record, or not: cupti_truth.c has a function for it."""
    injected = os.environ.get("CUDA_INJECTION64_PATH")
    if injected:
        return ctypes.CDLL(injected).cupti_truth_record
    return lambda on: (torch.cuda.profiler.start if on else torch.cuda.profiler.stop)()


def alternate(step):
    """The median step while recording, over the median step while not."""
    times, record = {True: [], False: []}, switch()
    for i in range(BLOCKS):
        on = i % 2 == 0
        record(on)
        times[on] += block(step, BLOCK_SECONDS)
    record(True)
    return statistics.median(times[True]) / statistics.median(times[False])


def run(name, step, steps):
    """step() is to wait for the GPU. Prints the lines that bench_table.py reads."""
    profile = "--profile" in sys.argv
    block(step, WARM_SECONDS)
    with torch.profiler.profile() if profile else contextlib.nullcontext():
        times = [timed(step) for _ in range(steps)]
    print("figure %s %.4f" % (name, statistics.median(times) * 1e3))
    if "--alternate" in sys.argv:
        print("figure %s-on-to-off %.4f" % (name, alternate(step)))
