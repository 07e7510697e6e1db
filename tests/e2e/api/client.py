# SPDX-License-Identifier: MIT
"""Uses python/cutrace.py on the simulated device: client.py with|without the library."""
import ctypes
import sys

import cutrace

cuda = ctypes.CDLL("libcuda.so.1")


def must(result):
    assert result == 0, result


def launch(module, name, times):
    function = ctypes.c_void_p()
    must(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
    argument = ctypes.c_uint64(0)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    for _ in range(times):
        must(cuda.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, None, arguments, None))
    must(cuda.cuCtxSynchronize())


context, module = ctypes.c_void_p(), ctypes.c_void_p()
must(cuda.cuInit(0))
must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
must(cuda.cuCtxSetCurrent(context))
must(cuda.cuModuleLoadData(ctypes.byref(module), b"image"))

is_there = sys.argv[1] == "with"
assert cutrace.available == is_there
assert not cutrace.is_recording()
launch(module, "before", 5)
with cutrace.profile():
    assert cutrace.is_recording() == is_there
    with cutrace.range("outer"):
        launch(module, "inside", 5)
        with cutrace.range("inn\u00e9r"):
            launch(module, "inside", 7)
    with cutrace.profile():
        launch(module, "deeper", 4)
    assert cutrace.is_recording() == is_there
launch(module, "behind", 5)
try:
    with cutrace.profile():
        raise KeyError
except KeyError:
    pass
assert not cutrace.is_recording()
cutrace.flush(timeout=60)
cutrace.flush(timeout=float("inf"))
if is_there:
    k = cutrace.stats("inside")
    assert (k.name, k.device, k.calls, k.timed) == ("inside", -1, 12, 12), k
    assert k.min_ns <= k.total_ns / k.timed <= k.max_ns and k.estimated_ns == k.total_ns, k
    assert cutrace.stats("before") is None and cutrace.stats("behind") is None
    assert {k.name: k.calls for k in cutrace.stats()} == {"inside": 12, "deeper": 4}
    assert {k.device for k in cutrace.stats()} == {0}
    table = str(cutrace.stats()).splitlines()
    assert table[0].split() == ["Time", "Calls", "Avg", "Name"], table
    assert [line.split()[-1] for line in table[1:]] == ["inside", "deeper"], table
    assert " 12 " in table[1] and "us" in table[1], table
    cutrace.resume()
    launch(module, "inside", 3)
    cutrace.pause()
    assert cutrace.stats("inside").calls == 15  # at once
    for i in range(20):
        cutrace.resume()
        launch(module, "inside", 1)
        assert cutrace.stats("inside").calls == 16 + i
    cutrace.pause()
else:
    assert cutrace.stats() == [] and cutrace.stats("inside") is None
    assert str(cutrace.stats()) == "libcutrace.so is not preloaded"
