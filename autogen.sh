#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes configure from configure.ac; needed once after a checkout, not in a release.
set -e
cd "$(dirname "$0")"
for tool in autoconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null && continue
    echo "autogen.sh: $tool was not found: install autoconf automake libtool pkg-config" >&2
    exit 1
done
mkdir -p build-aux
exec autoreconf --install
