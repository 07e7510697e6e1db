# SPDX-License-Identifier: MIT
"""Ranges by torch.cuda.nvtx and by emit_nvtx, with a number of kernels in each that is known: nvtx_counts.py."""
import sys
import warnings

import torch

if not torch.cuda.is_available():
    sys.exit(77)
warnings.filterwarnings("ignore")
x = torch.ones(1 << 20, device="cuda")
for i in range(100):
    with torch.cuda.nvtx.range("step"):
        x.add_(1)
        with torch.cuda.nvtx.range("inner"):
            x.mul_(1)
            x.mul_(1)
open_ranges = [torch.cuda.nvtx.range_start("across") for i in range(5)]
for each in open_ranges:
    torch.cuda.nvtx.range_end(each)
with torch.autograd.profiler.emit_nvtx():
    for i in range(20):
        x.sub_(1)
torch.cuda.nvtx.mark("done")
x.neg_()
torch.cuda.synchronize()
print(int(x[0].item()))
