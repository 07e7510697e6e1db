# SPDX-License-Identifier: MIT
"""A Triton kernel, launched directly and with several shapes."""
import torch
import triton
import triton.language as tl


@triton.jit
def saxpy(x, y, out, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) * factor + tl.load(y + i, mask=mask), mask=mask)


def main():
    n = 100000
    x = (torch.arange(n) % 100).float().cuda()
    y = torch.ones(n).cuda()
    out = torch.empty(n).cuda()
    for i in range(100):
        saxpy[(triton.cdiv(n, 1024),)](x, y, out, 2.0 + i, n, BLOCK=1024)
    for _ in range(7):
        saxpy[(triton.cdiv(n, 256),)](x, y, out, 3.5, n, BLOCK=256)
    print("triton_kernel: %d" % out.double().sum().item())


main()
