# SPDX-License-Identifier: MIT
"""many.py MODULES LINES: each module launches from so many lines."""
import sys

from simulated import cuda, kernel_of, start

start()
scope = {"launch": cuda.cuLaunchKernel, "arguments": (kernel_of(b"kernel"), 1, 1, 1, 32, 1, 1, 0, None, None, None)}
exec("def forward(self):\n" + "    launch(*arguments)\n" * int(sys.argv[2]), scope)
for layer in [type("Layer", (), scope)() for _ in range(int(sys.argv[1]))]:
    layer.forward()
cuda.cuCtxSynchronize()
