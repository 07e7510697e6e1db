#!/bin/bash
# SPDX-License-Identifier: MIT
# Every public function of cuda.h and cuda_runtime_api.h has a row, or a reason to have none.
set -eu
cd "${srcdir:-.}"
rows=$(sed -nE 's/^CT_(API|PTSZ|PTDS|RAW|RAW_PTSZ|UNWRAPPED) ?\(([A-Za-z0-9_]+).*/\2/p; s/^CT_OTHER\([^,]*, ([A-Za-z0-9_]+),.*/\1/p' \
    src/cuda/*.def | sort -u)
declared() { # PREFIX HEADER...: names the preprocessed headers declare
    local prefix=$1
    shift
    printf '#include <%s>\n' "$@" | ${CC:-cc} -E -P -D__CUDA_API_VERSION_INTERNAL $CUDA_CFLAGS -x c - |
        tr '\n' ' ' | tr ';' '\n' |
        sed -nE "s/^.*(CUresult|cudaError_t|const char ?\*|struct cudaChannelFormatDesc) +($prefix[A-Z][A-Za-z0-9_]*)\(.*/\2/p" | sed 's/_pt[sd][sz]$//' | sort -u
}
names=$( (declared cu cuda.h cudaProfiler.h; declared cuda cuda_runtime_api.h cuda_profiler_api.h) | sort -u)
[ "$(wc -l <<<"$names")" -gt 700 ] || { echo "the headers were not understood: $(wc -l <<<"$names") names"; exit 1; }
missing=$(comm -23 <(echo "$names") <(echo "$rows"))
[ -z "$missing" ] || { echo "without a row:"; echo "$missing"; exit 1; }
