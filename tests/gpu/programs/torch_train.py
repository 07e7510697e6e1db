# SPDX-License-Identifier: MIT
"""Forward, backward and optimiser of a small transformer in bfloat16.

torch_train.py [steps] [--time ...]: with --time bench_steps.py times so many in each turn.
"""
import torch
import torch._dynamo  # takes seconds, in the first step of the optimiser otherwise

import bench_steps


def prepare():
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    model = model.cuda().to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randn(8, 256, 512).cuda().to(torch.bfloat16)

    def one():
        loss = (model(data).float() - 0.1).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        return loss

    return one


bench_steps.main("torch-train", prepare, 12, 5, lambda loss: "%.2g" % loss.item())
