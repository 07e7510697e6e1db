# SPDX-License-Identifier: MIT
"""Kernels captured into graphs, and added to them, from lines of their own; prints for each line how
often its kernels, or its graphs, ran. TRUTH gets the stack of each captured kernel.

graphs.py TRUTH
"""
import collections
import ctypes
import json
import sys
import traceback

from simulated import cuda, kernel_of, must, start

truth = open(sys.argv[1], "w", encoding="utf-8")
expected = collections.Counter()
stream = ctypes.c_void_p()
replays = 20


class KernelNode(ctypes.Structure):
    _fields_ = ([("function", ctypes.c_void_p)] + [("shape%d" % i, ctypes.c_uint) for i in range(7)] +
                [(name, ctypes.c_void_p) for name in ("parameters", "extra", "kernel", "context")])


def here(runs):
    expected[sys._getframe(1).f_lineno] += runs


def note(name):
    """The stack of the line that calls this."""
    frames = []
    for frame, line in traceback.walk_stack(sys._getframe(1)):
        code = frame.f_code
        frames.append([getattr(code, "co_qualname", code.co_name), code.co_filename, line])
    truth.write(json.dumps([name, frames[::-1]]) + "\n")


def arguments(f, blocks=1):
    return f, blocks, 1, 1, 32, 1, 1, 0, stream, None, None


def captured(work, *args):
    graph = ctypes.c_void_p()
    must(cuda.cuStreamBeginCapture_v2(stream, 2))
    work(*args)
    must(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
    return graph


def instantiated(graph):
    executable = ctypes.c_void_p()
    must(cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
    return executable


def replayed(executable):
    for _ in range(replays):
        must(cuda.cuGraphLaunch(executable, stream)), here(1)


def run(graph):
    executable = instantiated(graph)
    must(cuda.cuGraphDestroy(graph))
    replayed(executable)
    must(cuda.cuGraphExecDestroy(executable))


def lines(f, g):
    must(cuda.cuLaunchKernel(*arguments(f))), here(replays)
    for _ in range(3):
        must(cuda.cuLaunchKernel(*arguments(f))), here(replays)
    must(cuda.cuLaunchKernel(*arguments(g))), here(replays)
    must(cuda.cuMemsetD8Async(memory, 1, ctypes.c_size_t(4096), stream)), here(replays)


def of_its_own(name):
    note(name), must(cuda.cuLaunchKernel(*arguments(kernel_of(name.encode()))))


def names():
    """Deep in Python, in several ways, a name for each."""
    of_its_own("plain")
    (lambda: of_its_own("lambda"))()
    list(map(of_its_own, ["mapped"]))
    exec("\n\nof_its_own('executed')")


def once(f, runs):
    must(cuda.cuLaunchKernel(*arguments(f))), here(runs)


def again(f, runs):
    must(cuda.cuLaunchKernel(*arguments(f))), here(runs)


def clones(f):
    graph, clone = captured(once, f, 2 * replays), ctypes.c_void_p()
    must(cuda.cuGraphClone(ctypes.byref(clone), graph))
    run(graph)
    run(clone)


def children(f):
    outer, child, node = ctypes.c_void_p(), captured(once, f, 2 * replays), ctypes.c_void_p()
    must(cuda.cuGraphCreate(ctypes.byref(outer), 0))
    for _ in range(2):
        must(cuda.cuGraphAddChildGraphNode(ctypes.byref(node), outer, None, ctypes.c_size_t(0), child))
    must(cuda.cuGraphDestroy(child))
    run(outer)


def launch(executable):
    must(cuda.cuGraphLaunch(executable, stream))


def launched_inside(f):
    graph = captured(lambda: (once(f, replays), again(f, replays)))
    executable = instantiated(graph)
    must(cuda.cuGraphDestroy(graph))
    run(captured(launch, executable))
    must(cuda.cuGraphExecDestroy(executable))


def added(f):
    graph, node = ctypes.c_void_p(), ctypes.c_void_p()
    p = KernelNode(function=f, **{"shape%d" % i: 1 for i in range(6)})
    must(cuda.cuGraphCreate(ctypes.byref(graph), 0))
    where = ctypes.byref(node), graph, None, ctypes.c_size_t(0), ctypes.byref(p)
    must(cuda.cuGraphAddKernelNode_v2(*where)), here(replays)
    run(graph)


def updated(f):
    """The lines of the newer graph count from the update on."""
    graph, newer = captured(once, f, replays), captured(again, f, replays)
    executable, result = instantiated(graph), ctypes.create_string_buffer(64)
    replayed(executable)
    must(cuda.cuGraphExecUpdate_v2(executable, newer, result))
    replayed(executable)
    for g in graph, newer:
        must(cuda.cuGraphDestroy(g))
    must(cuda.cuGraphExecDestroy(executable))


def changed(f, g):
    """The line stays with the node, also where that is another kernel."""
    graph, node, count = captured(once, f, 2 * replays), ctypes.c_void_p(), ctypes.c_size_t(1)
    executable = instantiated(graph)
    replayed(executable)
    must(cuda.cuGraphGetNodes(graph, ctypes.byref(node), ctypes.byref(count)))
    p = KernelNode(function=g, **{"shape%d" % i: 1 for i in range(6)})
    must(cuda.cuGraphExecKernelNodeSetParams_v2(executable, node, ctypes.byref(p)))
    replayed(executable)
    must(cuda.cuGraphDestroy(graph))
    must(cuda.cuGraphExecDestroy(executable))


def handles_again(f):
    for i in range(10):
        run(captured(again if i % 2 else once, f, replays))


def main():
    global memory
    memory = ctypes.c_uint64()
    start()
    must(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    must(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096)))
    f, g = kernel_of(b"many"), kernel_of(b"other")
    graph = captured(lines, f, g)
    cuda.cuProfilerStart()
    run(graph)
    handles_again(f)
    clones(f)
    children(f)
    launched_inside(f)
    added(f)
    updated(f)
    changed(f, g)
    must(cuda.cuCtxSynchronize())
    executable = instantiated(captured(names))
    must(cuda.cuGraphLaunch(executable, stream)), here(1)
    must(cuda.cuCtxSynchronize())
    expected[of_its_own.__code__.co_firstlineno + 1] += 4
    print(json.dumps(expected))


main()
truth.close()
