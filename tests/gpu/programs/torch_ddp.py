# SPDX-License-Identifier: MIT
"""Training on two GPUs: a process for each, gradients averaged through NCCL. Needs two GPUs."""
import os
import sys

import torch
import torch.distributed
import torch.multiprocessing as multiprocessing
from torch.nn.parallel import DistributedDataParallel

STEPS, RANKS = 30, 2


def train(rank, port):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(),
                                torch.nn.Linear(2048, 512)).cuda()
    model = DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    torch.manual_seed(2 + rank)
    for _ in range(STEPS):
        x = torch.randn(64, 512, device="cuda")
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    norm = sum(p.detach().abs().sum() for p in model.parameters())
    torch.distributed.all_reduce(norm)
    torch.cuda.synchronize()
    if rank == 0:
        print("torch_ddp: %.3g" % norm.item())
    torch.distributed.destroy_process_group()


def main():
    if torch.cuda.device_count() < RANKS:
        print("%d GPUs are needed" % RANKS, file=sys.stderr)
        sys.exit(77)
    port = 20000 + os.getpid() % 20000
    multiprocessing.spawn(train, args=(port,), nprocs=RANKS)


if __name__ == "__main__":
    main()
