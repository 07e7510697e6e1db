# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts here share: where things are, how they are built, and in which modes a program is
# measured.
# The caller has set here, top, out, jobs.

PYTHON=${PYTHON:-python3}
export PYTHON XLA_PYTHON_CLIENT_PREALLOCATE=false CUDA_DEVICE_ORDER=PCI_BUS_ID

stop() {
    echo "${0##*/}: $*" >&2
    exit 2
}

first_file() {
    local file
    for file; do
        if [ -e "$file" ]; then
            readlink -f "$file"
            return
        fi
    done
}

find_cuda() {
    local nvcc
    nvcc=$(command -v nvcc)
    if [ -z "${CUDA_HOME-}" ]; then
        CUDA_HOME=/usr/local/cuda
        [ "$nvcc" ] && CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    fi
    NVCC=${NVCC:-${nvcc:-$CUDA_HOME/bin/nvcc}}
    [ -x "$NVCC" ] || stop "nvcc was not found: set CUDA_HOME"
}

# Directories of a toolkit and of pip's NVIDIA packages that may hold a header or library.
directories_with() {
    local pattern=$1 dir
    for dir in "$CUDA_HOME"/{include,lib64,lib,targets/*/include,targets/*/lib} \
        "$CUDA_HOME"/extras/CUPTI/{include,lib64} $pip_directories /usr/lib/*-linux-gnu; do
        if compgen -G "$dir/$pattern" >/dev/null; then
            echo "$dir"
        fi
    done
}

find_libraries() {
    local library dir
    pip_directories=$("$PYTHON" - 2>/dev/null <<'END'
import glob, site
for root in site.getsitepackages():
    print(*glob.glob(root + "/nvidia/*/include"), *glob.glob(root + "/nvidia/*/lib"))
END
)
    CC_GPU="${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -w"
    for library in cuda.h cupti.h cudnn.h nccl.h nvrtc.h cublas_v2.h cufft.h \
        curand.h cusparse.h cusolverDn.h; do
        dir=$(directories_with "$library" | head -1)
        case " $CC_GPU " in
        *" -I$dir "*) ;;
        *) [ "$dir" ] && CC_GPU+=" -I$dir" ;;
        esac
    done
    LD_GPU=
    for library in libcudart libcupti libnvrtc libcublas libcufft libcurand libcusparse libcusolver \
        libcudnn libnccl; do
        dir=$(directories_with "$library.so" | head -1)
        case " $LD_GPU " in
        *" -L$dir "*) ;;
        *) [ "$dir" ] && LD_GPU+=" -L$dir -Wl,-rpath,$dir -Wl,-rpath-link,$dir" ;;
        esac
    done
    LD_STUBS="-L$CUDA_HOME/lib64/stubs -L$CUDA_HOME/lib/stubs"
    LD_GPU+=" $LD_STUBS"
}

# How to link with a library: by its plain name, or where only lib*.so.N is installed, by the file.
link_with() {
    local dir
    dir=$(directories_with "lib$1.so" | head -1)
    if [ -z "$dir" ]; then
        dir=$(directories_with "lib$1.so.*" | head -1)
        [ "$dir" ] && echo "$(first_file "$dir/lib$1".so.*) -Wl,-rpath,$dir" && return
    fi
    echo "-l$1"
}

# -arch=native asks the GPU; where there is none the caller only wants to know that things compile.
find_arch() {
    local capability
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1)
    gpu_name=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)
    NVCC_ARCH=-arch=sm_${capability/./}
    if [ -z "$capability" ]; then
        NVCC_ARCH=-arch=sm_90 gpu_name="no GPU"
    fi
}

prepare() {
    keep=$out
    [ "$out" ] || out=$(mktemp -d "${TMPDIR:-/tmp}/cutrace-gpu.XXXXXX")
    mkdir -p "$out/build"
    out=$(cd "$out" && pwd)
    build=$out/build
    jobs=${jobs:-$(($(nproc) / 2))}
    [ "$jobs" -gt 0 ] || jobs=1
    find_cuda
    find_libraries
    find_arch
}

# The library and the report tool: given, or in the build tree above or around us.
need_library() {
    CUTRACE_LIB=${CUTRACE_LIB:-$(first_file {.,"$top","$top"/build*}/{.libs,src/.libs,lib}/libcutrace.so)}
    CUTRACE_REPORT=${CUTRACE_REPORT:-$(first_file \
        {.,"$top","$top"/build*}/{tools/.libs,tools,.libs,bin,.}/cutrace-report)}
    [ -r "${CUTRACE_LIB:-/nonexistent}" ] || stop "libcutrace.so was not found: set CUTRACE_LIB"
    [ -x "${CUTRACE_REPORT:-/nonexistent}" ] || stop "cutrace-report was not found: set CUTRACE_REPORT"
    CUTRACE_LIB=$(readlink -f "$CUTRACE_LIB") CUTRACE_REPORT=$(readlink -f "$CUTRACE_REPORT")
    export CUTRACE_LIB CUTRACE_REPORT
}

# The nop library is a part of the measurement only: without it its cells are empty.
find_nop() {
    CUTRACE_NOP_LIB=${CUTRACE_NOP_LIB:-$(first_file "$(dirname "$CUTRACE_LIB")/libcutrace_nop.so" \
        {.,"$top","$top"/build*}/.libs/libcutrace_nop.so)}
    [ -r "${CUTRACE_NOP_LIB:-/nonexistent}" ] || CUTRACE_NOP_LIB=
}

# Nsight Compute brings one that records, as .qdstrm, but makes no report of it.
find_nsys() {
    NSYS=${NSYS:-$(command -v nsys)}
    NSYS=${NSYS:-$(first_file "$CUDA_HOME"/bin/nsys /opt/nvidia/nsight-systems/*/bin/nsys \
        /opt/nvidia/nsight-compute/*/host/target-linux-x64/nsys)}
}

build_one() {
    local name=$1 command=${2//\{\}/$build/$1}
    if ! eval "$command" >"$build/$name.log" 2>&1; then
        echo "not built: $name: $(grep -m1 -i 'error\|cannot' "$build/$name.log" | cut -c1-120)"
    fi
}
export -f build_one

# build_all FUNCTION: it prints lines "file|command", {} standing for the file.
build_all() {
    export build
    {
        echo "cupti_truth.so|$CC_GPU -fPIC -shared -o {} $here/cupti_truth.c $LD_GPU $(link_with cupti) -lpthread"
        "$1"
    } | tr '|' '\n' | xargs -d '\n' -n 2 -P "$(nproc)" bash -c 'build_one "$@"' build_one
}

# mode_for MODE STEM: sets mode_words, what goes before a command to run it in that mode; STEM begins
# the names of what the mode writes. False when this machine has not got the mode. Without CUPTI
# the simulated device's own truth stands for it: so the scripts can be tried without a GPU.
mode_for() {
    local preload=(env LD_PRELOAD="$CUTRACE_LIB" CUTRACE_OUTPUT="$2.%p.bin" CUTRACE_PRINT=off)
    local inject=(env CUDA_INJECTION64_PATH="$build/cupti_truth.so" CUPTI_TRUTH_OUT="$2.tsv"
        CUDASIM_TRUTH="$2.tsv.%p")
    mode_words=()
    case $1 in
    plain|profiler) ;; # torch.profiler is the program's own
    nop) [ "$CUTRACE_NOP_LIB" ] && mode_words=(env LD_PRELOAD="$CUTRACE_NOP_LIB") ;;
    cutrace) mode_words=("${preload[@]}") ;;
    every) mode_words=("${preload[@]}" CUTRACE_SAMPLE=1) ;;
    stacks) mode_words=("${preload[@]}" CUTRACE_STACKS=python) ;;
    trace) mode_words=("${preload[@]}" CUTRACE_TRACE=1) ;;
    budget) mode_words=("${preload[@]}" CUTRACE_BUDGET=2%) ;;
    nodes) mode_words=("${preload[@]}" CUTRACE_GRAPH_NODES="${CUTRACE_GRAPH_NODES-on}") ;;
    nodes-sampled) mode_words=("${preload[@]}" CUTRACE_GRAPH_NODES="${CUTRACE_GRAPH_NODES-on}" CUTRACE_SAMPLE=64) ;;
    sampled) mode_words=("${preload[@]}" CUTRACE_SAMPLE=64) ;;
    cupti) mode_words=("${inject[@]}" CUPTI_TRUTH=kernels) ;;
    cupti-copies) mode_words=("${inject[@]}" CUPTI_TRUTH="kernels,copies") ;;
    cupti-api) mode_words=("${inject[@]}" CUPTI_TRUTH="kernels,copies,runtime") ;;
    unified) mode_words=("${preload[@]}" CUTRACE_UNIFIED_MEMORY=per-process-device) ;;
    cupti-unified) mode_words=("${inject[@]}" CUPTI_TRUTH=unified) ;;
    nsys) [ "$NSYS" ] && mode_words=("$NSYS" profile -t cuda -s none --cpuctxsw=none
        --force-overwrite=true -o "$2.nsys") ;;
    nsys-nodes) [ "$NSYS" ] && mode_words=("$NSYS" profile -t cuda -s none --cpuctxsw=none
        --cuda-graph-trace=node --force-overwrite=true -o "$2.nsys") ;;
    *) stop "no such mode: $1" ;;
    esac
}

# run_mode MODE STEM SECONDS COMMAND: leaves STEM.out, STEM.err, STEM.status and what the mode writes.
# STEM.out is there only when the program ended well: what is not there is an empty cell.
run_mode() {
    local mode_words
    mode_for "$1" "$2" || return
    rm -f "$2".*
    # shellcheck disable=SC2086 # the command is words
    timeout -k 5 "$3" "${mode_words[@]}" $4 >"$2.stdout" 2>"$2.err" </dev/null
    echo $? >"$2.status"
    rm -f "$2".nsys*
    if [ "$(cat "$2.status")" = 0 ]; then
        mv "$2.stdout" "$2.out"
    else
        echo "status $(cat "$2.status"): ${2##*/}: $(tail -1 "$2.err" | cut -c1-100)" >&2
    fi
}

# same_as_plain MODE STEM SECONDS COMMAND: runs it plainly and in the mode, as STEM.plain and STEM.MODE.
# Says what is wrong and returns 1 when it ends or prints otherwise, 77 when it does not run plainly.
same_as_plain() {
    run_mode plain "$2.plain" "$3" "$4"
    [ -e "$2.plain.out" ] || return 77
    run_mode "$1" "$2.$1" "$3" "$4"
    if [ ! -e "$2.$1.out" ]; then
        echo "FAIL: ${2##*/}: ended otherwise: $(tail -n 1 "$2.$1.err")"
    elif ! cmp -s "$2.plain.out" "$2.$1.out"; then
        echo "FAIL: ${2##*/}: printed something else"
    else
        return 0
    fi
    return 1
}

# rotated NUMBER WORD...: the words, begun with another one each time.
rotated() {
    local by=$(($1 % ($# - 1)))
    shift
    echo "${@:by + 1}" "${@:1:by}"
}

# in_time: false when the next run might not end before the limit; what is there is then the result.
in_time() {
    [ "$SECONDS" -lt "$limit" ] && return
    [ "$late" ] || echo "the limit of $limit s is over: what was measured so far is the result" >&2
    late=yes
    return 1
}

# chosen: those of the lines that the caller's function programs prints, name|seconds|command, whose
# name matches the pattern $only.
chosen() {
    local line
    programs | while IFS= read -r line; do
        # shellcheck disable=SC2254 # a pattern is what it is
        case ${line%%|*} in
        $only) echo "$line" ;;
        esac
    done
}

# measure_in MODE...: the chosen programs $repeats times in these modes, which take turns; into $runs. The
# caller's function judge writes what it is so far into $table.
measure_in() {
    local repeat name seconds command mode
    for ((repeat = 1; repeat <= repeats; repeat++)); do
        while IFS='|' read -r name seconds command; do
            for mode in $(rotated "$repeat" "$@"); do
                in_time || return
                run_mode "$mode" "$runs/$name.$mode.$repeat" "$seconds" "$command"
            done
        done < <(chosen)
        judge # so that something is there if this script is killed
    done
}

# finish: prints the table, and exits as judge says.
finish() {
    local status
    judge
    status=$?
    cat "$table"
    echo "${0##*/}: $gpu_name, $repeats repeats, $SECONDS s"
    if [ "$keep" ] || [ "$status" -ne 0 ]; then
        echo "everything is in $out"
    else
        rm -rf "$out"
    fi
    exit "$status"
}

probe() {
    # shellcheck disable=SC2053 # a pattern
    [[ $* == $probes ]] || return
    echo "-- $*"
    timeout -k 5 60 "$@" 2>&1 || echo "   status $?"
}

# One after the other: they look at the device's memory and at time.
run_probes() {
    local connections process
    echo
    echo "== questions about the driver"
    probe "$build/probe_entry_points"
    # No line "asked for, and not wrapped" may come: this driver has no work that we do not know.
    probe env LD_PRELOAD="$CUTRACE_LIB" CUTRACE_PRINT=off CUTRACE_LOG=2 \
        CUTRACE_OUTPUT="$out/entry_points.bin" "$build/probe_entry_points"
    probe "$build/probe_dependent"
    for connections in 1 8 32; do
        probe env CUDA_DEVICE_MAX_CONNECTIONS=$connections "$build/probe_off_stream"
    done
    for process in 1 2 3 4; do
        probe "$build/probe_kinds"
    done
    probe "$build/probe_blocks"
    probe env CUDA_INJECTION64_PATH="$build/cupti_truth.so" CUPTI_TRUTH_OUT="$out/blocks.tsv" \
        "$build/probe_blocks"
    probe "$build/probe_capture" "$build/kernels.ptx"
    probe "$build/probe_context"
    probe "$build/probe_names" "$build/kernels.ptx"
    probe "$build/probe_calibrate"
    probe "$build/probe_exit"
    probe "$build/probe_exit_nvcc"
    probe env PROBE_EXIT_LABEL=injected CUDA_INJECTION64_PATH="$build/probe_exit.so" \
        "$build/demo-static"
    probe env PROBE_EXIT_LABEL=injected CUDA_INJECTION64_PATH="$build/probe_exit.so" \
        "$PYTHON" -c 'import torch; print(torch.ones(9).cuda().sum().item())'
}
