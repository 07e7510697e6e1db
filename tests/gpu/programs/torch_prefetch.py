# SPDX-License-Identifier: MIT
"""Training whose next batch is copied from pinned memory on a stream of its own meanwhile.

torch_prefetch.py [steps]
"""
import sys

import torch
import torch._dynamo  # takes seconds, in the first step of the optimiser otherwise


def prepare():
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(2048, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 2048), torch.nn.GELU(),
        torch.nn.Linear(2048, 16)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = [torch.randn(1024, 2048).pin_memory() for _ in range(4)]
    copies = torch.cuda.Stream()

    def fetch(i):
        with torch.cuda.stream(copies):
            return batches[i % len(batches)].to("cuda", non_blocking=True)

    def steps(n):
        ahead = fetch(0)
        for i in range(n):
            torch.cuda.current_stream().wait_stream(copies)
            x = ahead
            x.record_stream(torch.cuda.current_stream())
            ahead = fetch(i + 1)
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if i % 8 == 7:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        return loss

    return steps


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    print("torch_prefetch: %.2g" % prepare()(8 + steps).item())


main()
