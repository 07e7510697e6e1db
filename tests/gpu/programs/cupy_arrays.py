# SPDX-License-Identifier: MIT
"""CuPy: element-wise and reduction kernels, a raw kernel, a product, a sort, in two streams.

cupy_arrays.py [rounds]
"""
import sys

import cupy as cp

RAW = cp.RawKernel(r"""
extern "C" __global__ void triple(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= 3;
}
""", "triple")


def play():
    x = cp.arange(1 << 18, dtype=cp.float32) % 1000
    for _ in range(20):
        x = cp.sqrt(x * 2 + 1)
    RAW((1024,), (256,), (x, 1 << 18))
    stream = cp.cuda.Stream(non_blocking=True)
    cp.cuda.Device().synchronize()
    with stream:
        y = (x.reshape(512, 512) @ x.reshape(512, 512)).sum(axis=0)
        z = cp.sort(y)[::-1].cumsum()
        host = cp.asnumpy(z)
    stream.synchronize()
    return float(host[10]), float(x.sum())


def main():
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1):
        sums = play()
    print("cupy: %.2g %.2g" % sums)


main()
