#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe_process.py [STEPS]: the loop of torch_decode.py, with self-timed kernels on its stream.

Under cutrace the rows selftimed_between (amid a step's launches) and selftimed_after (eight at a time,
the host waiting for each) show how far the durations of this process are off: what the kernels saw of
themselves is printed at the end.
"""
import sys
import time

import cupy
import torch

LAYERS, WIDTH = 16, 256
EVERY, AT_A_TIME, PAUSE_S = 5, 8, 15e-6

SOURCE = r"""
#define KERNEL(name) extern "C" __global__ void name(unsigned long long *times, float *to, int value) \
{ \
    unsigned long long begin, end; \
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)); \
    long long from = clock64(); \
    while (clock64() - from < 2500) \
        ; \
    to[threadIdx.x] = value; \
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end)); \
    if (!threadIdx.x) { \
        times[0] += end - begin; \
        times[1] += 1; \
    } \
}
KERNEL(selftimed_between)
KERNEL(selftimed_after)
"""


class SelfTimed:
    def __init__(self, module, name):
        self.name, self.kernel = name, module.get_function(name)
        self.times = cupy.zeros(2, dtype=cupy.uint64)
        self.to = cupy.zeros(32, dtype=cupy.float32)

    def launch(self):
        self.kernel((1,), (32,), (self.times, self.to, 1))

    def show(self):
        total, count = self.times.get()
        print("%s: %.3f us by itself, %d launches" % (self.name, total / count / 1e3, count))


def step(x, weights, between):
    for i, w in enumerate(weights):
        y = torch.nn.functional.rms_norm(x, (WIDTH,))
        y = torch.mm(y, w)
        y = y * torch.sigmoid(y)
        y = y + 0.5
        if i % 2 == 0:
            between.launch()
        y = torch.tanh(y)
        x = (x + y) * 0.5
        x = x - x.mean()
    return x


def launch_alone(selftimed):
    for _ in range(AT_A_TIME):
        selftimed.launch()
        cupy.cuda.Stream.null.synchronize()
        end = time.perf_counter() + PAUSE_S
        while time.perf_counter() < end:
            pass


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    module = cupy.RawModule(code=SOURCE)
    between, after = SelfTimed(module, "selftimed_between"), SelfTimed(module, "selftimed_after")
    torch.manual_seed(1)
    weights = [torch.randn(WIDTH, WIDTH).cuda() / 16 for _ in range(LAYERS)]
    x = torch.randn(4, WIDTH).cuda()
    with torch.inference_mode():
        for i in range(steps):
            x = step(x, weights, between)
            torch.cuda.synchronize()
            if i % EVERY == 0:
                launch_alone(after)
    between.show()
    after.show()


main()
