# SPDX-License-Identifier: MIT
"""transformers' GPT-2, six layers with random weights: a training step, or with --generate text.

torch_gpt2.py [steps] [--generate] [--time ...]: with --time bench_steps.py times so many in each turn.
"""
import sys

import torch
import torch._dynamo  # takes seconds, in the first step of the optimiser otherwise
import transformers

import bench_steps


def model_of():
    torch.manual_seed(1)
    config = transformers.GPT2Config(n_layer=6, n_embd=384, n_head=6, vocab_size=8192)
    return transformers.GPT2LMHeadModel(config).cuda()


def prepare_training():
    model = model_of()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8192, (4, 256)).cuda()

    def one():
        loss = model(tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        return loss

    return one


def prepare_generation():
    model = model_of().eval()
    prompt = torch.randint(1, 8192, (1, 16)).cuda()

    def one():
        with torch.inference_mode():
            out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=16, min_new_tokens=16,
                                 do_sample=False, pad_token_id=0)
        torch.cuda.synchronize()
        return out.float().sum()

    return one


if "--generate" in sys.argv:
    bench_steps.main("torch-generate", prepare_generation, 8, 3, bench_steps.finite)
else:
    bench_steps.main("torch-gpt2", prepare_training, 8, 3, bench_steps.finite)
