#!/bin/sh
# SPDX-License-Identifier: MIT
# The self-timed kernels are accepted by ptxas for every device it knows.
ptxas=$(command -v ptxas || echo "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas")
[ -x "$ptxas" ] || { echo "there is no ptxas"; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
tests/unit/unit_figures ptx >"$dir/selftimed.ptx" || exit 1
devices=$("$ptxas" --help | grep -o "'sm_[0-9]*'" | tr -d "'" | sort -u)
[ -n "$devices" ] || { echo "ptxas names no devices"; exit 1; }
for device in $devices; do
    "$ptxas" -arch="$device" --warning-as-error -o "$dir/selftimed.cubin" "$dir/selftimed.ptx" ||
        { echo "$device: refused"; exit 1; }
done
