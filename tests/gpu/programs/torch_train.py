# SPDX-License-Identifier: MIT
"""Forward, backward and optimiser of a small transformer in bfloat16.

torch_train.py [steps] [--time]: with --time the median step in milliseconds goes to stdout.
"""
import statistics
import sys
import time

import torch


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 12
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    model = model.cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data, times = torch.randn(8, 256, 512).cuda().to(torch.bfloat16), []
    for i in range(steps + 5):
        start = time.perf_counter()
        loss = (model(data).float() - 0.1).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        if i >= 5:
            times.append(time.perf_counter() - start)
    if "--time" in sys.argv:
        print("%.4f" % (statistics.median(times) * 1e3))
    else:
        print("torch_train: %.2g" % loss.item())


main()
