#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe_rows.py: what PyTorch's operations take in rows of 300, us each.

Two events of the program's own around all of a row, behind a kernel that lets the host get ahead: no
profiler has a part in that measurement. Run it alone and under a profiler: what differs is what the
profiler does to the kernels, and to the time between two of them.
"""
import statistics

import torch

ROW, ROWS, WARM_UP, AHEAD_CYCLES = 300, 5, 20, 2000000


def row(operation):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    torch.cuda._sleep(AHEAD_CYCLES)
    begin.record()
    for _ in range(ROW):
        operation()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / ROW


def operations(n):
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    f = torch.randn(n, n, device="cuda")
    norm = torch.nn.LayerNorm(n, device="cuda", dtype=torch.bfloat16)
    out, out_float, out_row = torch.empty_like(a), torch.empty_like(f), torch.empty(n, device="cuda")
    return {
        "transposed copy": lambda: out.copy_(a.t()),
        "transposed add": lambda: torch.add(a.t(), b, out=out),
        "add": lambda: torch.add(a, b, out=out),
        "cast": lambda: out_float.copy_(a),
        "layer_norm": lambda: norm(a),
        "softmax": lambda: torch.softmax(a, -1, out=out),
        "sum": lambda: torch.sum(f, 0, out=out_row),
        "mm": lambda: torch.mm(a, b, out=out),
    }


def training_operations():
    """As in programs/torch_train.py: attention's copies, a residual's sum, the optimiser's scaling."""
    bfloat16 = {"device": "cuda", "dtype": torch.bfloat16}
    projected, heads = torch.randn(8, 256, 3, 512, **bfloat16), torch.randn(8, 256, 8, 64, **bfloat16)
    three, two = torch.empty(3, 8, 256, 512, **bfloat16), torch.empty(8, 8, 256, 64, **bfloat16)
    sum_of = torch.empty(8, 256, 512, **bfloat16)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, **bfloat16)
    weights = list(torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).parameters())
    return {
        "copy of three": lambda: three.copy_(projected.permute(2, 0, 1, 3)),
        "copy of heads": lambda: two.copy_(heads.transpose(1, 2)),
        "strided sum": lambda: torch.add(projected[:, :, 0], projected[:, :, 1], out=sum_of),
        "scale weights": lambda: torch._foreach_mul_(weights, 1.0),
    }


def measure(label, table):
    for name, operation in table.items():
        for _ in range(WARM_UP):
            operation()
        us = statistics.median(row(operation) for _ in range(ROWS))
        print("%-8s %-16s %8.2f us" % (label, name, us))


def main():
    torch.manual_seed(1)
    with torch.inference_mode():
        measure("training", training_operations())
        for n in 1024, 4096:
            measure(n, operations(n))


main()
