# SPDX-License-Identifier: MIT
"""Training of torchvision's ResNet-50 on random pictures.

torch_resnet.py [steps] [--time ...]: with --time bench_steps.py times so many in each turn.
"""
import sys

import torch
import torch._dynamo  # takes seconds, in the first step of the optimiser otherwise
import torchvision

import bench_steps


def prepare():
    torch.manual_seed(1)
    model = torchvision.models.resnet50(weights=None).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    pictures = torch.randn(16, 3, 160, 160).cuda()
    labels = torch.randint(0, 1000, (16,)).cuda()

    def one():
        loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        return loss

    return one


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 10
    if "--time" in sys.argv:
        bench_steps.run("torch-resnet", prepare, steps)
    else:
        one = prepare()
        for _ in range(3 + steps):
            loss = one()
        print("torch_resnet: %s" % ("finite" if loss.isfinite() else "not finite"))


main()
