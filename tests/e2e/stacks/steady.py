# SPDX-License-Identifier: MIT
"""Launches kernels from two lines whenever a line comes on standard input, and says so."""
import sys

from simulated import cuda, kernel_of, must, start


def launch(times):
    for _ in range(times):
        must(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None))


def step():
    launch(3)


start()
kernel = kernel_of(b"steady")
for _ in sys.stdin:
    step()
    launch(2)
    must(cuda.cuCtxSynchronize())
    print("launched", flush=True)
