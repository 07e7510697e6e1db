# SPDX-License-Identifier: MIT
"""Forward, backward and optimiser of a small transformer in bfloat16.

torch_train.py [steps] [--time] [--profile]: --time prints the median step in milliseconds instead of the
result, --profile has torch.profiler record the steps.
"""
import contextlib
import statistics
import sys
import time

import torch


def profiled():
    """torch.profiler as it is by default; nothing without --profile."""
    return torch.profiler.profile() if "--profile" in sys.argv else contextlib.nullcontext()


def step(model, optimizer, data):
    loss = (model(data).float() - 0.1).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    return loss


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 12
    warm = 200 if "--time" in sys.argv else 5  # a second: a profiler that adapts has adapted
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    model = model.cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data, times = torch.randn(8, 256, 512).cuda().to(torch.bfloat16), []
    for _ in range(warm):
        step(model, optimizer, data)
    with profiled():
        for _ in range(steps):
            start = time.perf_counter()
            loss = step(model, optimizer, data)
            times.append(time.perf_counter() - start)
    if "--time" in sys.argv:
        print("figure torch-train %.4f" % (statistics.median(times) * 1e3))
    else:
        print("torch_train: %.2g" % loss.item())


main()
