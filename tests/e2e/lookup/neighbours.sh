#!/bin/bash
# SPDX-License-Identifier: MIT
# Heaps preloaded before and behind cutrace, programs with a sanitizer in them, valgrind, and programs
# that no preloaded library is for: all say and return what they do without it. SKIP lines say what is
# not here.
set -eu
[ -z "${BUILD_SANITIZERS-}" ] || { echo "a sanitizer wants to be first itself"; exit 77; }
srcdir=$(cd "${srcdir:-.}" && pwd)
build=$PWD
cutrace=$build/.libs/libcutrace.so
client=$build/tests/e2e/routes/client_found
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
CUDA_CFLAGS=${CUDA_CFLAGS-}
export LD_LIBRARY_PATH=$build/tests/sim/lib CUTRACE_PRINT=off
failed=0 recorded=0 # parts that were to be recorded, and were

fail() {
    echo "FAIL $*"
    failed=1
}

# run NAME PRELOAD COMMAND...: what it says and returns, in NAME
run() {
    local name=$1 preload=$2 rc=0
    shift 2
    LD_PRELOAD=$preload "$@" >"$name" 2>"$name.err" || rc=$?
    echo "status $rc" >>"$name"
}

# same WHAT PRELOAD-BESIDE PRELOAD COMMAND...: with and without cutrace
same() {
    local what=$1 beside=$2 preload=$3
    shift 3
    rm -f summary.bin
    run without "$beside" "$@"
    run with "$preload" "$@"
    if ! cmp -s without with || ! cmp -s <(grep -v '^==' without.err) <(grep -v '^==' with.err); then
        fail "$what: differs with cutrace"
        diff without with || true
        cat with.err
    fi
}

is_seen() {
    if [ -s summary.bin ] && "$build/cutrace-report" --format csv summary.bin 2>report.err | grep -q beta; then
        recorded=$((recorded + 1))
    else
        fail "$1: no profile with its kernels: $(cat report.err 2>/dev/null)"
    fi
}

# A sanitizer would see what is copied in its functions, and not what orders that.
if readelf --dyn-syms -W "$cutrace" | grep -E ' UND (memcpy|memmove|memset|memcmp)(@|$)'; then
    fail "memory functions of others are called"
fi

library() {
    ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name { print $NF; exit }'
}

for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
    heap=$(library $name)
    [ "$heap" ] || { echo "SKIP $name is not here"; continue; }
    for order in "$heap:$cutrace" "$cutrace:$heap"; do
        same "$order" "$heap" "$order" "$client" dlsym
        is_seen "$order"
    done
    echo "PASS $name before and behind"
done

# The sanitizer's library has to be first: as a dependency it is not.
for sanitizer in address thread; do
    # shellcheck disable=SC2086 # the flags are words
    cc -std=gnu11 -D_GNU_SOURCE -w -fsanitize=$sanitizer $CUDA_CFLAGS -o sanitized \
        "$srcdir/tests/e2e/routes/client_driver.c" -ldl 2>cc.err ||
        { echo "SKIP -fsanitize=$sanitizer: $(tail -n 1 cc.err)"; continue; }
    runtime=$(ldd ./sanitized | awk '/lib[at]san/ { print $3 }')
    ASAN_OPTIONS=detect_leaks=0 same "$sanitizer" "" "$runtime:$cutrace" ./sanitized dlsym
    is_seen "$sanitizer"
    echo "PASS a program with -fsanitize=$sanitizer"
done

# It ends a program that makes a process in its own memory, as for the table.
if ! command -v valgrind >/dev/null || [ "$(uname -m)" != x86_64 ]; then
    echo "SKIP valgrind is not here"
elif ! LD_PRELOAD=$cutrace valgrind -q true >/dev/null 2>&1; then # that of 2022 with clang's DWARF 5
    echo "SKIP valgrind cannot read this build"
else
    CUTRACE_PRINT=on same valgrind "" "$cutrace" valgrind -q "$client" dlsym
    grep -q 'no table, as valgrind' with.err || fail "valgrind: not said why there is no table"
    is_seen valgrind
    echo "PASS a program under valgrind"
fi

cat >hello.c <<'END'
#include <stdio.h>
int main(void)
{
    printf("hello\n");
    return 7;
}
END
if cc -static-pie -fPIE -o hello hello.c 2>cc.err; then
    same static-pie "" "$cutrace" ./hello
    [ ! -e summary.bin ] || fail "static-pie: a profile"
    echo "PASS a static-pie program"
else
    echo "SKIP -static-pie: $(tail -n 1 cc.err)"
fi

# musl's loader says what is missing and does not start the program, or starts it without us.
if command -v musl-gcc >/dev/null && musl-gcc -o hello hello.c; then
    run with "$cutrace" ./hello
    case $(tail -n 1 with) in
    'status 7') grep -q hello with || fail "musl: says nothing" ;;
    'status 127') grep -q "$cutrace" with.err || fail "musl: not said what is missing" ;;
    *) fail "musl: $(cat with with.err)" ;;
    esac
    echo "PASS a musl program: $(tail -n 1 with)"
else
    echo "SKIP musl-gcc is not here"
fi
[ "$failed" = 0 ] || exit 1
[ "$recorded" -gt 0 ] || { echo "SKIP: nothing that could be recorded is here"; exit 77; }
