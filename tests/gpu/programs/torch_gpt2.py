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


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 8
    generate = "--generate" in sys.argv
    prepare = prepare_generation if generate else prepare_training
    if "--time" in sys.argv:
        bench_steps.run("torch-generate" if generate else "torch-gpt2", prepare, steps)
    else:
        one = prepare()
        for _ in range(3 + steps):
            last = one()
        print("torch_gpt2: %s" % ("finite" if last.isfinite() else "not finite"))


main()
