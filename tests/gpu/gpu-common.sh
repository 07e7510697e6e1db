# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What check-gpu, bench-gpu and run-examples share: where things are, and how they are built.
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
    for library in cuda.h cupti.h cudnn.h nccl.h nvrtc.h cublas_v2.h cufft.h; do
        dir=$(directories_with "$library" | head -1)
        case " $CC_GPU " in
        *" -I$dir "*) ;;
        *) [ "$dir" ] && CC_GPU+=" -I$dir" ;;
        esac
    done
    LD_GPU=
    for library in libcudart libcupti libnvrtc libcublas libcufft libcudnn libnccl; do
        dir=$(directories_with "$library.so" | head -1)
        case " $LD_GPU " in
        *" -L$dir "*) ;;
        *) [ "$dir" ] && LD_GPU+=" -L$dir -Wl,-rpath,$dir -Wl,-rpath-link,$dir" ;;
        esac
    done
    LD_GPU+=" -L$CUDA_HOME/lib64/stubs -L$CUDA_HOME/lib/stubs"
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

probe() {
    echo "-- $*"
    timeout -k 5 60 "$@" 2>&1 || echo "   status $?"
}

# One after the other: they look at the device's memory and at time.
run_probes() {
    echo
    echo "== questions about the driver"
    probe "$build/probe_entry_points"
    probe "$build/probe_dependent"
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
