# SPDX-License-Identifier: MIT
"""memory.py STACKS NODES: launches from so many stacks, of four frames of their own each, in modules, by lines of
3,000 functions, then captures so many nodes; prints the memory that is in use then, KiB."""
import ctypes
import os
import re
import sys

from simulated import cuda, kernel_of, must, start

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../python"))
import cutrace

stacks, nodes = int(sys.argv[1]), int(sys.argv[2])
start()
kernels = [kernel_of(b"kernel%d" % i) for i in range(16)]
stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
must(cuda.cuStreamCreate(ctypes.byref(stream), 1))


def launch(i):
    must(cuda.cuLaunchKernel(kernels[i % 16], 1, 1, 1, 32, 1, 1, 0, stream, None, None))


# A class for each of 1,000 files; its objects differ in themselves alone.
source = """
class Layer%d:
    def __call__(self, i):
        return self.forward(i)

    def forward(self, i):
        self.inner(i)

    def inner(self, i):
        launch(i)
"""
objects = []
for i in range(1000):
    scope = {"launch": launch}
    exec(compile(source % i, "/usr/lib/python3/dist-packages/package/of/models/layer_%d.py" % i, "exec"), scope)
    objects.append([scope["Layer%d" % i]() for _ in range(stacks // 1000)])
for alike in objects:
    for i, o in enumerate(alike):
        o(i)
must(cuda.cuCtxSynchronize())
if nodes:
    must(cuda.cuStreamBeginCapture_v2(stream, 2))
    for i in range(nodes):
        objects[i % 1000][i // 1000 % len(objects[0])](i)
    must(cuda.cuStreamEndCapture(stream, ctypes.byref(graph)))
    must(cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
    must(cuda.cuGraphLaunch(executable, stream))
    must(cuda.cuCtxSynchronize())
cutrace.flush()
print(re.search(r"RssAnon:\s*(\d+)", open("/proc/self/status").read()).group(1))
