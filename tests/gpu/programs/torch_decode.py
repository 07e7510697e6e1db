# SPDX-License-Identifier: MIT
"""Many tiny kernels a step, as in the decoding of a small language model.

torch_decode.py [steps] [--time ...]: with --time bench_steps.py times so many in each turn.
"""
import sys

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


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 50
    with torch.inference_mode():
        if "--time" in sys.argv:
            bench_steps.run("torch-decode", prepare, steps)
        else:
            one = prepare()
            for _ in range(20 + steps):
                x = one()
            print("torch_decode: %.3g" % x.abs().sum().item())


main()
