# SPDX-License-Identifier: MIT
"""CuPy: element-wise and reduction kernels, a raw kernel, a product, a sort, a graph of streams."""
import cupy as cp

RAW = cp.RawKernel(r"""
extern "C" __global__ void triple(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] *= 3;
}
""", "triple")


def main():
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
    print("cupy: %.2g %.2g" % (float(host[10]), float(x.sum())))


main()
