#!/bin/sh
# SPDX-License-Identifier: MIT
# What cutrace-report prints where nvprof has nothing to compare with: marks, raw brackets, details.
# Runs in the build directory. own.sh --write: takes what is printed now for right; look at the
# difference before you commit it.
srcdir=${srcdir:-.}
own=$srcdir/tests/golden/own
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

# same PROFILE FILE ARGUMENT...: of a trace where $make says so
make=make_profile
same()
{
    tests/golden/$make "$1" "$dir/profile.bin" || exit 99
    expected=$own/$2
    shift 2
    ./cutrace-report "$@" "$dir/profile.bin" >"$dir/out" || { echo "FAIL: $*: status $?"; failed=1; }
    if [ "$write" ]; then
        cp "$dir/out" "$expected"
    else
        diff "$expected" "$dir/out" || { echo "FAIL: $*: < expected, > printed"; failed=1; }
    fi
}

[ "$1" = --write ] && write=yes
same uncertain uncertain.txt
same uncertain uncertain.csv --csv
same uncertain uncertain.summary.ndjson summary --format ndjson
same uncertain uncertain.summary.tsv summary --format tsv
same uncertain uncertain.us.txt -u us
same uncertain uncertain.per-gpu.txt --print-summary-per-gpu
same uncertain uncertain.per-gpu.csv --print-summary-per-gpu --csv
same uncertain uncertain.raw.txt --raw
same uncertain uncertain.raw.csv --raw --csv
same uncertain uncertain.details.txt --details
same uncertain uncertain.raw-details.txt --raw --details
same sampled sampled.txt
same sampled sampled.csv --csv
same sampled sampled.raw.txt --raw
same sampled sampled.details.txt --details
same full full.details.txt --details
same basic basic.top.txt --top 2
same basic basic.top.csv --csv --top 2
same basic basic.sort.txt --sort=-name --filter 'cpy|Free$'
same basic basic.filter.txt --filter Free
same basic basic.filter.csv --csv --filter vecAdd
same nvtx_empty nvtx-empty.filter.txt --nvtx-ranges --filter nothing
same um um.um_sum.csv um_sum --format csv
same steps steps.txt
same steps steps.nvtx.csv nvtx --format csv
same steps steps.top.txt --top 2 --nvtx-ranges
same nvtx nvtx.nvtx.txt nvtx --top 1
same sampled sampled.kernels.us.txt kernels -u us
same sampled sampled.kernels.csv kernels --format csv
same uncertain uncertain.kernels.sort.tsv kernels --format tsv --sort timed,-max --top 2
same uncertain uncertain.kernels.sort.tsv kernels --format tsv --top 2 \
    --sort timed,-max,min,avg,median,stddev,p90,p99,total,name
same names names.base.csv cuda_gpu_kern_sum:base --format csv
same names names.mangled.csv cuda_gpu_kern_sum:mangled --format csv
same multi multi.per-gpu.csv summary --per gpu --format csv --top 1
same multi multi.losses.ndjson losses --per gpu --format ndjson
same sampled sampled.apis.ndjson apis --format ndjson
same moved moved.mem_size.txt cuda_gpu_mem_size_sum
same moved moved.mem_size.csv cuda_gpu_mem_size_sum --format csv
same moved moved.copies.txt copies
same moved moved.losses.txt losses
same moved moved.losses.per-gpu.txt losses --per gpu
same families families.txt --group
same families families.csv --group --csv
same families families.per-gpu.csv summary --group --per gpu --format csv
same families families.kernels.txt kernels --group
same families families.kernels.csv kernels --group --format csv
same families families.graphs.txt graphs --group
same families families.graphs.csv graphs --group --format csv
same families families.copies.txt copies
same families families.copies.csv copies --format csv
same families families.shapes.csv shapes --group --format csv
same families families.losses.csv losses --group --format csv
same families families.kern_sum.csv cuda_gpu_kern_sum --group --format csv
same allocated allocated.memory.txt memory
same basic basic.memory.txt memory
same allocated allocated.memory.csv memory --format csv
same allocated allocated.memory.per-gpu.txt memory --per gpu
same allocated allocated.info.txt info
same allocated allocated.info.csv info --format csv
same models models.info.txt info
same models models.info.csv info --format csv
same nccl nccl.nccl.txt nccl
same nccl nccl.nccl.csv nccl --format csv
same um um.summary.csv --csv
same um um.unified.txt unified
same um um.unified.csv unified --format csv
same um um.unified.per-gpu.txt unified --per gpu
same stacks stacks.txt
same stacks stacks.summary.csv summary:base --format csv
same stacks stacks.lines.txt lines
same stacks stacks.lines.csv lines --format csv
same stacks stacks.stacks.txt stacks
same stacks stacks.stacks.csv stacks --format csv
same stacks stacks.stacks.json stacks --format ndjson
same stacks stacks.collapsed.txt --format collapsed
same modules modules.modules.txt modules
same modules modules.modules.csv modules --format csv
same modules modules.modules.json modules --format ndjson
same modules modules.stacks.txt stacks
same modules modules.collapsed.txt --format collapsed
same basic basic.modules.txt modules
same sensors sensors.device.txt device
same sensors sensors.device.csv device --format csv
same sensors sensors.device.per-gpu.csv device --per gpu --format csv
same sensors sensors.device.md device --format md
same sensors sensors.advice.csv advice --format csv
same basic basic.device.txt device
same inside inside.txt
same inside inside.lines.txt lines
same inside inside.stacks.csv stacks --format csv
same basic basic.lines.txt lines
tests/golden/make_profile stacks "$dir/old.bin" || exit 99
same edited edited.diff.txt diff --per line "$dir/old.bin"
same edited edited.diff.csv diff --per line --format csv --sort=own_change,old_line "$dir/old.bin"
same edited edited.summary.csv summary:base --format csv
same packaged packaged.txt
same basic basic.diff.txt diff --per line "$dir/old.bin"
tests/golden/make_profile modules "$dir/old.bin" || exit 99
same remodelled remodelled.diff.txt diff --per module "$dir/old.bin"
same remodelled remodelled.diff.csv diff --per module --format csv --sort=module "$dir/old.bin"
same remodelled remodelled.diff.json diff --per module --format ndjson --top 2 "$dir/old.bin"
same basic basic.diff-modules.txt diff --per module "$dir/old.bin"
same um um.total.csv um_total_sum --format csv
same um um.total.txt um_total_sum
for nsys in cuda_api_sum cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum \
    cuda_gpu_mem_size_sum cuda_gpu_sum; do
    same full full.$nsys.csv $nsys --format csv 2>/dev/null
    same basic basic.$nsys.txt $nsys
done
make=make_golden_trace
for report in cuda_api_trace cuda_gpu_mem_size_trace cuda_api_gpu_sum; do
    same basic basic.$report.csv $report --format csv
done
same pairs pairs.cuda_kern_exec_trace.csv cuda_kern_exec_trace --format csv
same launched launched.lines.txt lines
same launched launched.lines.range.txt lines --per range
same launched launched.lines.range.csv lines --per range --format csv
same launched launched.stacks.range.txt stacks --per range
same launched launched.stacks.range.json stacks --per range --format ndjson
same launched launched.stream.txt lines --per stream
same launched launched.since.txt lines --per range --since 15us
same ranges ranges.range.txt lines --per range
for report in nvtx_pushpop_sum nvtx_pushpop_trace nvtx_gpu_proj_sum nvtx_gpu_proj_trace; do
    same ranges ranges.$report.csv $report --format csv
done
same basic basic.trace.col.txt trace --format table -u col
same basic basic.trace.us.txt trace --format table -u us
same basic basic.of-trace.kernels.txt kernels
same basic basic.of-trace.copies.csv copies --format csv
same basic basic.of-trace.shapes.txt shapes
same basic basic.of-trace.mem_time.txt cuda_gpu_mem_time_sum
same basic basic.of-trace.mem_size.txt cuda_gpu_mem_size_sum
same named named.of-trace.per-stream.csv kernels --per stream --format csv
same named named.of-trace.per-stream.txt kernels --per stream
same streams streams.of-trace.per-stream.ndjson cuda_gpu_kern_sum --per stream --format ndjson
same streams streams.of-trace.top.txt kernels --per stream --top 1 --sort name
same streams streams.of-trace.group.csv kernels --per stream --group --format csv
same streams streams.exec_sum.csv cuda_kern_exec_sum --format csv
same streams streams.exec_sum.per-stream.csv cuda_kern_exec_sum --per stream --format csv
exit $failed
