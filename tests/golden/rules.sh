#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules that reports keep, over the made-up profiles. Runs in the build directory.
srcdir=${srcdir:-.}
command -v python3 >/dev/null || { echo 'python3 is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
for profile in uncertain sampled multi families moved basic full; do
    tests/golden/make_profile $profile "$dir/$profile.bin" || exit 99
done
python3 "$srcdir/tests/golden/rules.py" ./cutrace-report "$dir"/*.bin
