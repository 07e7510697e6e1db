#!/bin/bash
# SPDX-License-Identifier: MIT
# Questions of tools that people use to exports: queries of readers of nsys's SQLite, frames of readers of PyTorch's traces,
# columns of readers of nsys's CSV. Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"
command -v python3 >/dev/null || { echo 'python3 is not there'; exit 77; }
"$report" --help | grep -q '^  sqlite ' || { echo 'there is no SQLite here'; exit 77; }

make_traces
for trace in ranges named; do
    export_trace $trace sqlite
    export_trace $trace chrome
    for name in nvtx_gpu_proj_trace nvtx_pushpop_trace nvtx_gpu_proj_sum nvtx_pushpop_sum cuda_api_trace \
        cuda_kern_exec_trace cuda_gpu_trace cuda_gpu_kern_sum; do
        "$report" $name --format csv -o $trace.$name.csv $trace.trace 2>/dev/null || fail "$name: status $?"
    done
done
python3 "$srcdir/tests/golden/clients.py" ranges named || failed=1
exit $failed
