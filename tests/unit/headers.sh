#!/bin/bash
# SPDX-License-Identifier: MIT
# Every public function of cuda.h and cuda_runtime_api.h has a row, or a reason to have none; and
# the report knows the version that CUPTI writes behind each of the runtime.
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

known=$(sed -n 's/^X(\(.*\), \([0-9]*\))$/\1 \2/p' tools/report/runtime_versions.def)
[ "$known" = "$(LC_ALL=C sort <<<"$known")" ] || { echo "the versions are not sorted"; exit 1; }
numbered=$(printf '#include <cupti_runtime_cbid.h>\n' | ${CC:-cc} -E -P $CUDA_CFLAGS -x c - 2>/dev/null |
    sed -nE 's/.*CUPTI_RUNTIME_TRACE_CBID_([A-Za-z0-9_]+)_v([0-9]+) .*/\1 \2/p')
[ -n "$numbered" ] || { echo "SKIP versions of functions: CUPTI's headers are not there"; exit 0; }
newest=$(sort -k1,1 -k2,2nr <<<"$numbered" | LC_ALL=C sort -u -k1,1)
wrong=$(LC_ALL=C comm -23 <(echo "$known") <(LC_ALL=C sort <<<"$newest"))
[ -z "$wrong" ] || { echo "with another version:"; echo "$wrong"; exit 1; }
runtime=$(grep '^cuda' <<<"$rows")
missing=$(LC_ALL=C comm -23 <(LC_ALL=C sort <<<"$runtime") <(cut -d' ' -f1 <<<"$known" | LC_ALL=C sort) |
    LC_ALL=C comm -12 - <(cut -d' ' -f1 <<<"$newest" | LC_ALL=C sort))
[ -z "$missing" ] || { echo "without a version:"; echo "$missing"; exit 1; }
