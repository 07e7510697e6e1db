# SPDX-License-Identifier: MIT
"""Training of torchvision's ResNet-50 on random pictures.

torch_resnet.py [steps] [--time ...]: with --time bench_steps.py times so many in each turn.
"""
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


bench_steps.main("torch-resnet", prepare, 10, 3, bench_steps.finite)
