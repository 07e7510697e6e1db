# SPDX-License-Identifier: MIT
"""torch.cuda.graph in a given mode while another thread works, and make_graphed_callables.

    torch_capture.py global|thread_local|relaxed|callables

Prints what the graphs are made of, and checksums of results that are the same in every run.
"""
import ctypes
import os
import re
import sys
import tempfile
import threading
import zlib
from collections import Counter

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch

BESIDE = 200  # launches of the other thread during a capture


def checksum(*tensors):
    crc = 0
    for tensor in tensors:
        crc = zlib.crc32(tensor.detach().cpu().contiguous().numpy().tobytes(), crc)
    return "%08x" % crc


def describe_raw(graph):
    """By the driver: nodes by type, and edges."""
    driver = ctypes.CDLL("libcuda.so.1")
    handle = ctypes.c_void_p(int(graph.raw_cuda_graph()))
    count = ctypes.c_size_t(0)
    driver.cuGraphGetNodes(handle, None, ctypes.byref(count))
    nodes = (ctypes.c_void_p * max(count.value, 1))()
    driver.cuGraphGetNodes(handle, nodes, ctypes.byref(count))
    types = Counter()
    for node in nodes[:count.value]:
        kind = ctypes.c_int(-1)
        driver.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind))
        types[kind.value] += 1
    edges = ctypes.c_size_t(0)
    driver.cuGraphGetEdges(handle, None, None, ctypes.byref(edges))
    return "%d nodes, %d edges, types %s" % (count.value, edges.value, sorted(types.items()))


def describe_dot(graph):
    """By what the driver draws of it."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "graph.dot")
        graph.debug_dump(path)
        text = open(path).read()
    nodes = set(re.findall(r'^\s*"(graph_\d+_node_\d+)"\s*\[', text, re.M))
    return "%d nodes, %d edges" % (len(nodes), text.count(" -> "))


def describe(graph):
    try:
        return describe_raw(graph)
    except (AttributeError, RuntimeError):
        return describe_dot(graph)


def new_graph():
    try:
        return torch.cuda.CUDAGraph(keep_graph=True)
    except TypeError:
        graph = torch.cuda.CUDAGraph()
        graph.enable_debug_mode()
        return graph


class Beside(threading.Thread):
    """Works eagerly on a stream of its own: launches only where `mode` is global."""

    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        self.stream = torch.cuda.Stream()
        with torch.cuda.stream(self.stream):
            self.x = torch.zeros(4096, device="cuda")
            self.work(2)
        torch.cuda.synchronize()
        self.x.zero_()
        torch.cuda.synchronize()
        self.ready, self.go, self.halfway = (threading.Event() for _ in range(3))
        self.start()
        self.ready.wait()

    def work(self, times):
        for _ in range(times):
            self.x.add_(1)
            if self.mode != "global":
                self.stream.query()

    def run(self):
        torch.cuda.set_device(0)
        with torch.no_grad(), torch.cuda.stream(self.stream):
            self.ready.set()
            self.go.wait()
            self.work(BESIDE // 2)
            self.halfway.set()
            self.work(BESIDE - BESIDE // 2)


def model_of(width):
    torch.manual_seed(1)
    return torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(6)]).cuda()


def capture(mode):
    model = model_of(256).eval()
    x = torch.randn(32, 256, device="cuda")
    side = torch.cuda.Stream()
    with torch.no_grad():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                torch.relu(model(x)).sum()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        beside = Beside(mode)
        graph = new_graph()
        with torch.cuda.graph(graph, capture_error_mode=mode):
            beside.go.set()
            beside.halfway.wait()
            y = torch.relu(model(x)).sum()
        beside.join()
        print("torch %s: %s" % (mode, describe(graph)))
        if hasattr(graph, "instantiate"):
            graph.instantiate()
        results = []
        for _ in range(20):
            x.add_(0.01)
            graph.replay()
            results.append(y.clone())
        torch.cuda.synchronize()
    print("torch %s: %s, beside %s" % (mode, checksum(*results), checksum(beside.x)))


def callables():
    torch.use_deterministic_algorithms(True)
    model = model_of(128)
    x = torch.randn(64, 128, device="cuda")
    target = torch.randn(64, 128, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    graphed = torch.cuda.make_graphed_callables(model, (x.clone().requires_grad_(),))
    losses = []
    for _ in range(15):
        optimizer.zero_grad(set_to_none=False)
        loss = torch.nn.functional.mse_loss(graphed(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().clone())
    torch.cuda.synchronize()
    print("torch callables: losses %s, weights %s" % (checksum(*losses),
                                                      checksum(*model.parameters())))


def main():
    torch.cuda.init()
    if sys.argv[1] == "callables":
        callables()
    else:
        capture(sys.argv[1])


main()
