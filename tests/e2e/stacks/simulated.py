# SPDX-License-Identifier: MIT
"""A context on the simulated device, and kernels of a module in it, by ctypes."""
import ctypes

cuda = ctypes.CDLL("libcuda.so.1")
module = ctypes.c_void_p()


def must(result):
    assert result == 0, result


def start():
    """Makes the context the thread's own, and gives it for others."""
    context, device = ctypes.c_void_p(), ctypes.c_int()
    must(cuda.cuInit(0))
    must(cuda.cuDeviceGet(ctypes.byref(device), 0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), b"image"))
    return context


def kernel_of(name):
    f = ctypes.c_void_p()
    must(cuda.cuModuleGetFunction(ctypes.byref(f), module, name))
    return f
