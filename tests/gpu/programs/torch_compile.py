# SPDX-License-Identifier: MIT
"""torch.compile of a small function; its kernels are Triton's, made at run time."""
import torch


@torch.compile
def function(x, y):
    return torch.nn.functional.gelu(x * 2 + y).sum(dim=1) - torch.sin(y).mean(dim=1)


def main():
    torch.manual_seed(1)
    x, y = torch.randn(512, 1024).cuda(), torch.randn(512, 1024).cuda()
    total = 0.0
    for _ in range(10):
        total += function(x, y).sum().item()
    print("torch_compile: %.3g" % total)


main()
