# SPDX-License-Identifier: MIT
# Read by scripts that build all of it once more, in a directory of the build tree they run in.

# find_sources DIRECTORY: sets srcdir. A tree that is configured itself cannot be the source of
# another build: then a copy as in a release is, in DIRECTORY.
find_sources() {
    srcdir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    [ -e "$srcdir/config.status" ] || return 0
    make -s distdir distdir="$1/source"
    srcdir=$PWD/$1/source
}
