# SPDX-License-Identifier: MIT
"""Inference on four streams at once: each has a batch of its own, and all are waited for.

torch_streams.py [steps]
"""
import sys

import torch

STREAMS = 4


def prepare():
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
    model = model.cuda().to(torch.bfloat16).eval()
    data = [torch.randn(4, 64, 256).cuda().to(torch.bfloat16) for _ in range(STREAMS)]
    streams = [torch.cuda.Stream() for _ in range(STREAMS)]
    torch.cuda.synchronize()

    def one():
        out = []
        for stream, x in zip(streams, data):
            with torch.cuda.stream(stream):
                out.append(model(x))
        torch.cuda.synchronize()
        return out

    return one


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    with torch.inference_mode():
        one = prepare()
        for _ in range(5 + steps):
            out = one()
        print("torch_streams: %.3g" % sum(x.float().abs().mean().item() for x in out))


main()
