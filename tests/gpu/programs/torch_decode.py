# SPDX-License-Identifier: MIT
"""Many tiny kernels a step, as in the decoding of a small language model.

torch_decode.py [steps] [--time ...]: with --time bench_steps.py times so many in each turn.
"""
import torch

import bench_steps

LAYERS, WIDTH = 16, 256


def step(x, weights):
    """About 160 kernels: ten for each layer."""
    for w in weights:
        y = torch.nn.functional.rms_norm(x, (WIDTH,))
        y = torch.mm(y, w)
        y = y * torch.sigmoid(y)
        y = y + 0.5
        y = torch.tanh(y)
        x = (x + y) * 0.5
        x = x - x.mean()
    return x


def prepare():
    torch.manual_seed(1)
    weights = [torch.randn(WIDTH, WIDTH).cuda() / 16 for _ in range(LAYERS)]
    x = torch.randn(4, WIDTH).cuda()

    def one():
        nonlocal x
        x = step(x, weights)
        torch.cuda.synchronize()
        return x

    return one


with torch.inference_mode():
    bench_steps.main("torch-decode", prepare, 50, 20, lambda x: "%.3g" % x.abs().sum().item())
