#!/bin/bash
# SPDX-License-Identifier: MIT
# The entries of dlsym on aarch64, where the cross compiler and qemu are: the library is made from
# the same sources, and the prober must say the same with it and without.
set -eu
srcdir=$(cd "${srcdir:-.}" && pwd)
cc=aarch64-linux-gnu-gcc qemu=qemu-aarch64
[ -z "${BUILD_SANITIZERS-}" ] || { echo "made with another compiler, it has no sanitizer"; exit 77; }
for tool in $cc $qemu; do
    command -v $tool >/dev/null || { echo "$tool was not found"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
flags=(-std=gnu11 -D_GNU_SOURCE -fPIC -I"$srcdir/include" -I"$srcdir/src" $CUDA_CFLAGS -fvisibility=hidden)
early=(-fno-builtin -fno-tree-loop-distribute-patterns -fno-stack-protector)
cd "$dir"

for file in "$srcdir"/src/*/*.[cS]; do
    case $file in
    */read.c | */payload.c | */trace_read.c | */trace_tables.c) continue ;; # the tools'
    */elf.c | */text.c | */api.c | */dlsym.c) options=(-O2 "${early[@]}") ;;
    *) options=(-O0 -ftls-model=initial-exec) ;; # takes half as long; it is the entries that are asked
    esac
    $cc "${flags[@]}" "${options[@]}" -DCT_BINDIR='"/usr/bin"' -DPACKAGE_VERSION='"test"' -c "$file" \
        -o "$(basename "$(dirname "$file")")_$(basename "${file%.?}").o"
done
$cc -shared -o libcutrace.so ./*.o $OLD_GLIBC_LDFLAGS -Wl,-z,now -Wl,-z,max-page-size=65536
"$srcdir/tests/unit/glibc.sh" 2.17 libcutrace.so

for level in 0 2; do
    for name in a b c; do
        $cc -O$level -shared -fPIC -DCHAIN_NAME="\"${name^^}\"" -Wl,-soname,libchain_$name.so \
            "$srcdir/tests/e2e/lookup/chain.c" -o libchain_$name.so -ldl
    done
    $cc -O$level -shared -fPIC -D_GNU_SOURCE "$srcdir/tests/e2e/lookup/plugin.c" -o plugin.so
    $cc -O$level -D_GNU_SOURCE "$srcdir/tests/e2e/lookup/prober.c" -o prober -Wl,--no-as-needed \
        ./libchain_a.so ./libchain_b.so ./libchain_c.so -lpthread -ldl -Wl,-rpath,"$dir"
    for what in chain versions strangers "plugin $dir/plugin.so"; do
        run() { $qemu -L /usr/aarch64-linux-gnu "$@" ./prober $what; }
        run >without
        run -E LD_PRELOAD="$dir/libcutrace.so" >with
        diff without with || { echo "-O$level, $what: differs with cutrace"; exit 1; }
        [ -s with ] || { echo "-O$level, $what: says nothing"; exit 1; }
    done
    run() { $qemu -L /usr/aarch64-linux-gnu "$@" ./prober chain; }
    run -E LD_PRELOAD="$dir/libcutrace.so" -E LD_TRACE_LOADED_OBJECTS=1 | grep -q libcutrace
    [ "$(run -E LD_PRELOAD="$dir/libcutrace.so" | tr '\n' ' ')" = 'A B C ' ] || exit 1
done
