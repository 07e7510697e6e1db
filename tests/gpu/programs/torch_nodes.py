# SPDX-License-Identifier: MIT
"""torch_nodes.py graph|compile [STEPS]: layers of a transformer in a CUDA graph, replayed again and
again: captured by torch.cuda.graph, or by torch.compile(mode="reduce-overhead"). Prints the result
bit by bit, which must be a number, what it takes the host to make a step, and of STEPS / 4 more what
it takes from the call until the step is through.
"""
import math
import statistics
import sys
import time

import torch

WIDTH, HEADS, LAYERS = 512, 8, 4


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        qkv = self.qkv(self.first(x)).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS), dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.narrow(torch.nn.functional.gelu(self.wide(self.second(x))))


def captured(model, x):
    """A function that replays the graph, and its output."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)

    def step():
        graph.replay()
        return y

    return step


def compiled(model, x):
    step = torch.compile(model, mode="reduce-overhead")
    for _ in range(5):
        step(x)
    return lambda: step(x)


def main():
    kind, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[Layer() for _ in range(LAYERS)]).cuda().half().eval()
    x = torch.linspace(-1, 1, 8 * 64 * WIDTH).reshape(8, 64, WIDTH).cuda().half()
    times, through, total = [], [], torch.zeros((), dtype=torch.float64, device="cuda")
    with torch.no_grad():
        step = (captured if kind == "graph" else compiled)(model, x)
        for i in range(steps):
            start = time.perf_counter_ns()
            y = step()
            times.append((time.perf_counter_ns() - start) / 1e3)
            if i % 4 == 3:
                total += y.double().sum()
                torch.cuda.synchronize()
        if not math.isfinite(total.item()):
            sys.exit("the result is no number")
        for _ in range(steps // 4):
            start = time.perf_counter_ns()
            step()
            torch.cuda.synchronize()
            through.append((time.perf_counter_ns() - start) / 1e3)
    print("result %s %s" % (kind, total.item().hex()))
    print("figure launch %.3f" % statistics.median(times))
    print("figure through %.3f" % statistics.median(through))


main()
