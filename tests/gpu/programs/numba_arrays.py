# SPDX-License-Identifier: MIT
"""Numba: kernels of two types, with shared memory and with atomics, copies both ways, in three streams."""
import numpy as np

if not hasattr(np, "row_stack"):  # gone from NumPy 2.5; Numba 0.68 looks for it
    np.row_stack = np.vstack
from numba import cuda, float32

N, SIDE, TILE, BINS = 1 << 16, 64, 16, 8
GRID = N // 256, 256


@cuda.jit
def add_scaled(y, x, factor):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += factor * x[i]


@cuda.jit
def multiply(c, a, b):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    row, column = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for first in range(0, SIDE, TILE):
        left[x, y] = a[row, first + y]
        right[x, y] = b[first + x, column]
        cuda.syncthreads()
        for i in range(TILE):
            total += left[x, i] * right[i, y]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def count(bins, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i] % BINS, 1)


def vectors():
    """Of both types, in the default stream; the last launch is given arrays of the host."""
    total = 0
    for dtype in np.float32, np.int32:
        x = cuda.to_device(np.arange(N, dtype=dtype) % 100)
        y = cuda.device_array_like(x)
        y.copy_to_device(x)
        for factor in range(20):
            add_scaled[GRID](y, x, dtype(factor))
        total += int(y.copy_to_host().sum(dtype=np.float64))
    here = np.ones(N, dtype=np.float32)
    add_scaled[GRID](here, here * 2, np.float32(3))
    return total + int(here.sum())


def matrices():
    """Each in a stream of its own, from and to page-locked memory."""
    work = []
    for factor in 1, 2:
        stream = cuda.stream()
        there, back = (cuda.pinned_array((SIDE, SIDE), dtype=np.float32) for _ in range(2))
        there[:] = factor * (np.arange(SIDE * SIDE).reshape(SIDE, SIDE) % 7)
        a = cuda.to_device(there, stream=stream)
        c = cuda.device_array_like(a)
        for _ in range(5):
            multiply[(SIDE // TILE, SIDE // TILE), (TILE, TILE), stream](c, a, a)
        c.copy_to_host(back, stream=stream)
        work.append((stream, there, a, back))
    for stream, *_ in work:
        stream.synchronize()
    return [int(back.sum(dtype=np.float64)) for *_, back in work]


def counts():
    bins = cuda.to_device(np.zeros(BINS, dtype=np.int32))
    count[8, 128](bins, cuda.to_device(np.arange(N) % 10))
    return bins.copy_to_host().tolist()


def main():
    if not cuda.is_available():
        raise SystemExit("Numba does not see the GPU")
    print("numba:", vectors(), *matrices(), *counts())


main()
