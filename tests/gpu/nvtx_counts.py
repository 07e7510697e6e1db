# SPDX-License-Identifier: MIT
"""nvtx_counts.py SUM KERNELS: nvtx_sum and nvtx_kern_sum of torch_nvtx.py, as JSON, beside what it does."""
import json
import sys


def rows(path):
    return json.load(open(path))["tables"][0]["rows"]


def main():
    ranges, kernels = {}, {}
    for r in rows(sys.argv[1]):
        ranges[r["Range"]] = ranges.get(r["Range"], 0) + r["Instances"]
    for r in rows(sys.argv[2]):
        kernels[r["NVTX Range"]] = kernels.get(r["NVTX Range"], 0) + r["Kern Inst"]
    ops = sum(n for name, n in ranges.items() if name.startswith(":aten::sub_"))
    op_kernels = sum(n for name, n in kernels.items() if name.startswith(":aten::sub_"))
    found = {
        "ranges step": (ranges.get(":step"), 100), "ranges inner": (ranges.get(":inner"), 100),
        "ranges across": (ranges.get(":across"), 5), "ranges of emit_nvtx": (ops, 20),
        "kernels in step, inner's included": (kernels.get(":step"), 300),
        "kernels in inner": (kernels.get(":inner"), 200), "kernels of emit_nvtx": (op_kernels, 20),
    }
    wrong = 0
    for what, (got, wanted) in found.items():
        wrong += got != wanted
        print("%s: torch-nvtx: %s: %s%s" % ("PASS" if got == wanted else "FAIL", what, got,
                                            "" if got == wanted else " instead of %d" % wanted))
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
