#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe_optimizer.py: what the operations of PyTorch's AdamW take in a training step, us each.

Two events of the program's own around each operation, all three queued behind a gate that is opened
then: no profiler has a part in that measurement. Run it alone and under a profiler.
"""
import ctypes
import statistics

import torch

STEPS, WARM_UP = 60, 10  # what allocates or loads a kernel must not be behind the gate
driver = ctypes.CDLL("libcuda.so.1")


class Gate:
    """What is queued behind it waits until it is opened."""

    def __init__(self):
        self.flag = torch.zeros(1, dtype=torch.int32).pin_memory()

    def close(self):
        self.flag[0] = 0
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        result = driver.cuStreamWaitValue32_v2(stream, ctypes.c_uint64(self.flag.data_ptr()), 1, 0)
        if result:
            raise SystemExit("cuStreamWaitValue32: error %d" % result)

    def open(self):
        self.flag[0] = 1


class Stopwatch:
    def __init__(self):
        self.gate, self.us = Gate(), {}
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.begin.record(), self.end.record()  # which makes them

    def __call__(self, name, operation):
        torch.cuda.synchronize()
        self.gate.close()
        self.begin.record()
        result = operation()
        self.end.record()
        self.gate.open()
        torch.cuda.synchronize()
        self.us.setdefault(name, []).append(self.begin.elapsed_time(self.end) * 1e3)
        return result


def optimize(params, averages, squares, time):
    grads = [p.grad for p in params]
    time("params *=", lambda: torch._foreach_mul_(params, 1 - 1e-6))
    time("averages lerp", lambda: torch._foreach_lerp_(averages, grads, 0.1))
    time("squares *=", lambda: torch._foreach_mul_(squares, 0.999))
    time("squares += grads^2", lambda: torch._foreach_addcmul_(squares, grads, grads, 0.001))
    roots = time("square roots", lambda: torch._foreach_sqrt(squares))
    time("roots /= list", lambda: torch._foreach_div_(roots, [0.9] * len(roots)))
    time("roots +=", lambda: torch._foreach_add_(roots, 1e-8))
    time("params += a / r",
         lambda: torch._foreach_addcdiv_(params, averages, roots, [-1e-4] * len(roots)))


def main():
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    model = model.cuda().to(torch.bfloat16)
    data = torch.randn(8, 256, 512).cuda().to(torch.bfloat16)
    params = list(model.parameters())
    averages, squares = ([torch.zeros_like(p) for p in params] for _ in range(2))
    stopwatch = Stopwatch()
    for step in range(STEPS):
        (model(data).float() - 0.1).square().mean().backward()
        with torch.no_grad():
            optimize(params, averages, squares,
                     stopwatch if step >= WARM_UP else lambda name, operation: operation())
        model.zero_grad()
        torch.cuda.synchronize()
    for name, us in stopwatch.us.items():
        print("%-20s %8.2f us" % (name, statistics.median(us)))


main()
