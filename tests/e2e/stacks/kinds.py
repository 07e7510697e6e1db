# SPDX-License-Identifier: MIT
"""Each kind of operation from lines of its own; prints for each the line and how often it launches."""
import ctypes
import json
import sys

from simulated import cuda, kernel_of, must, start

expected = {}


def here(launches):
    expected[sys._getframe(1).f_lineno] = launches


def launch(f, stream=None):
    return cuda.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, None, None)


def kernels(f, times):
    for _ in range(3 * times):
        launch(f)
    for _ in range(times):
        cuda.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, None, None, None), here(times)


def copies(buffer, at):
    for _ in range(10):
        must(cuda.cuMemcpyHtoD_v2(at, buffer, 4096)), here(10)
    for _ in range(5):
        must(cuda.cuMemsetD8_v2(at, 1, ctypes.c_size_t(4096))), here(5)


def captured(f, stream):
    must(cuda.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, None, None)), here(20)


def graphs(f):
    stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    must(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    must(cuda.cuStreamBeginCapture_v2(stream, 2))
    captured(f, stream)
    must(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
    must(cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
    for _ in range(20):
        must(cuda.cuGraphLaunch(executable, stream)), here(20)


def main(times):
    at = ctypes.c_uint64()
    start()
    must(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4096)))
    kernels(kernel_of(b"many"), times)
    copies(ctypes.create_string_buffer(4096), at)
    graphs(kernel_of(b"inside"))
    must(cuda.cuCtxSynchronize())
    expected[launch.__code__.co_firstlineno + 1] = 3 * times
    print(json.dumps(expected))


main(int(sys.argv[1]))
