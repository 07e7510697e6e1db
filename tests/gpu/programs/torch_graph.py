# SPDX-License-Identifier: MIT
"""torch.cuda.graph: captured once, replayed 30 times, with work of other kinds in between."""
import torch


def main():
    torch.manual_seed(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(6)]).cuda().eval()
    x = torch.randn(32, 256).cuda()
    with torch.inference_mode():
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                model(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = torch.relu(model(x)).sum()
        total = 0.0
        for i in range(30):
            x.add_(0.01)
            graph.replay()
            total += y.item()
    print("torch_graph: %.3g" % total)


main()
