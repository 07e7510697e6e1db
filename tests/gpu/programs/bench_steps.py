# SPDX-License-Identifier: MIT
"""What a step of a PyTorch program takes, for bench-gpu.

Options on the program's command line: --profile has torch.profiler record the steps, --alternate
also compares steps with cutrace recording and not recording, in turns, in the same process.
"""
import contextlib
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


def alternate(step):
    """The median step while recording, over the median step while not."""
    times = {True: [], False: []}
    for i in range(BLOCKS):
        on = i % 2 == 0
        (torch.cuda.profiler.start if on else torch.cuda.profiler.stop)()
        times[on] += block(step, BLOCK_SECONDS)
    torch.cuda.profiler.start()
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
