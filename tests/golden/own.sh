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

# same PROFILE FILE ARGUMENT...
same()
{
    tests/golden/make_profile "$1" "$dir/profile.bin" || exit 99
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
exit $failed
