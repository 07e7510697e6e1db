# SPDX-License-Identifier: MIT
"""unnamed.py COLLAPSED NOTES: the share that the notes give to no known line is that of stacks without one."""
import re
import sys

whole = rest = 0
for line in open(sys.argv[1], encoding="utf-8"):
    frames, _, ns = line.rpartition(" ")
    whole += int(ns)
    rest += int(ns) if not re.search(r":\d+\)", frames) else 0
percent = float(re.search(r"([\d.]+)% of the GPU time was launched by no known line", open(sys.argv[2]).read()).group(1))
print("%.1f%% without a line, and %.1f%% in the note" % (100 * rest / whole, percent))
sys.exit(not rest or abs(100 * rest / whole - percent) > 0.1)
