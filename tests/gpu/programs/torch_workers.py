# SPDX-License-Identifier: MIT
"""DataLoader with forked and with spawned workers, and spawned processes that use CUDA themselves."""
import torch
import torch.multiprocessing as multiprocessing
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((256,), float(i))


def load(how):
    """Workers without CUDA: the forked ones are children of a process that has started it."""
    loader = DataLoader(Numbers(), batch_size=8, num_workers=2, multiprocessing_context=how)
    total = torch.zeros((), device="cuda")
    for batch in loader:
        total += (batch.cuda() * 2).sum()
    print("%s: %g" % (how, total.item()))


def work(rank, answers):
    x = torch.ones(1024, device="cuda")
    for _ in range(50):
        x = x * 1.01
    torch.cuda.synchronize()
    answers.put((rank, "%.3g" % x.sum().item()))


def main():
    torch.ones(1024, device="cuda").sum().item()
    load("fork")
    load("spawn")
    load("fork")
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    children = [context.Process(target=work, args=(rank, answers)) for rank in range(2)]
    for child in children:
        child.start()
    print(sorted(answers.get() for _ in children))
    for child in children:
        child.join()
    print([child.exitcode for child in children])


if __name__ == "__main__":
    main()
