#!/bin/bash
# SPDX-License-Identifier: MIT
# glibc.sh [VERSION FILE]...: library and tools need a C library as old as they say, whatever they
# were built on.
set -eu
export LC_ALL=C
[ -z "${BUILD_SANITIZERS-}" ] || { echo "sanitizers need the C library they were made for"; exit 77; }
command -v readelf >/dev/null || { echo "there is no readelf"; exit 77; }

needs_at_most() { # VERSION FILE
    local newest
    newest=$(readelf -VW "$2" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
    [ "$newest" ] || { echo "$2: no versions were read"; exit 1; }
    [ "$(printf '%s\n' "GLIBC_$1" "$newest" | sort -V | tail -n 1)" = "GLIBC_$1" ] || {
        echo "$2 needs $newest, more than GLIBC_$1:"
        readelf --dyn-syms -W "$2" | grep -oE '[A-Za-z_0-9]+@GLIBC_[0-9.]+' | sort -t @ -k 2V | tail
        exit 1
    }
    # Where these were libraries of their own, a program may have none of them.
    for library in libpthread.so.0 libdl.so.2; do
        readelf -dW "$2" | grep -qF "[$library]" || { echo "$2 does not name $library"; exit 1; }
    done
}

[ $# -gt 0 ] || set -- 2.17 .libs/libcutrace.so 2.28 cutrace 2.28 cutrace-report
for ((; $# >= 2; )); do
    needs_at_most "$1" "$2"
    shift 2
done
