# SPDX-License-Identifier: MIT
"""Many tiny kernels a step, as in the decoding of a small language model.

torch_decode.py [steps] [--time] [--profile]: --time prints the median step in milliseconds instead of the
result, --profile has torch.profiler record the steps.
"""
import contextlib
import statistics
import sys
import time

import torch

LAYERS, WIDTH = 16, 256


def step(x, weights):
    """About 160 kernels: ten for each layer."""
    for w in weights:
        y = torch.nn.functional.rms_norm(x, (WIDTH,))
        y = torch.mm(y, w)
        y = y * torch.sigmoid(y)
        y = y + 0.5
        y = torch.tanh(y)
        x = (x + y) * 0.5
        x = x - x.mean()
    return x


def profiled():
    """torch.profiler as it is by default; nothing without --profile."""
    return torch.profiler.profile() if "--profile" in sys.argv else contextlib.nullcontext()


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 50
    warm = 1000 if "--time" in sys.argv else 20  # a second: a profiler that adapts has adapted
    torch.manual_seed(1)
    weights = [torch.randn(WIDTH, WIDTH).cuda() / 16 for _ in range(LAYERS)]
    x, times = torch.randn(4, WIDTH).cuda(), []
    with torch.inference_mode():
        for _ in range(warm):
            x = step(x, weights)
        torch.cuda.synchronize()
        with profiled():
            for _ in range(steps):
                start = time.perf_counter()
                x = step(x, weights)
                torch.cuda.synchronize()
                times.append(time.perf_counter() - start)
    if "--time" in sys.argv:
        print("figure torch-decode %.4f" % (statistics.median(times) * 1e3))
    else:
        print("torch_decode: %.3g" % x.abs().sum().item())


main()
