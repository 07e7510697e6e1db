# SPDX-License-Identifier: MIT
"""Launches in the main interpreter, in another one, and again in the first."""
import sys

try:
    import _xxsubinterpreters as interpreters
except ImportError:
    sys.exit(77)

source = '''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context, device, module, f = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuDeviceGet(ctypes.byref(device), 0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), b"image")
cuda.cuModuleGetFunction(ctypes.byref(f), module, NAME)


def in_function():
    cuda.cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, None, None, None)


in_function()
'''
exec(source.replace("NAME", 'b"before"'))
other = interpreters.create()
try:
    interpreters.run_string(other, source.replace("NAME", 'b"inside"'))
except Exception:
    sys.exit(77)  # ctypes is not for others since 3.12
interpreters.destroy(other)
exec(source.replace("NAME", 'b"after"'))
