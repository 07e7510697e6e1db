#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Stacks of compiled programs on the simulated device: each launch is from where backtrace(3) says that it was, with
# frame pointers or without, by each compiler of C++ that is here; and what the reports make of it.
set -u
case ${BUILD_SANITIZERS-} in
*thread*) echo "the thread sanitizer does not follow a program that changes its stack"; exit 77 ;;
esac
srcdir=$(cd "${srcdir:-.}" && pwd)
dir=$(cd "$(mktemp -d)" && pwd -P) || exit 99
trap 'rm -rf "$dir"' EXIT
top=$PWD report=$PWD/cutrace-report here=$srcdir/tests/e2e/native failed=0 tried=0
export CUTRACE_PRINT=off CUTRACE_LOG=1 LC_ALL=C.UTF-8 DEBUGINFOD_URLS= LIBRARY_PATH=
libraries=$top/.libs:$top/tests/sim/lib
sanitized=${BUILD_SANITIZERS:+-fsanitize=$BUILD_SANITIZERS}

# Lines of the last report, but for its notes on the profile.
said() { grep -v 'GPU time was launched\|in a CUDA graph\|Time in graphs' "$dir/said"; }
fail() { echo "FAIL: $*"; failed=1; }

# COMPILER FLAGS...
build() {
    ln -sf "$top/tests/sim/lib/libcuda.so.1" "$dir/libcuda.so"
    "$@" $sanitized -fno-omit-frame-pointer -c -o "$dir/garble.o" "$here/garble.cpp" &&
        "$@" $sanitized -isystem "$BUILD_CUDA_INCLUDE" -o "$dir/program" "$here/program.cpp" "$dir/garble.o" -L"$dir" \
            -lcuda -ldl -lpthread &&
        "$@" -fPIC -shared -DROOM=64 -o "$dir/a.so" "$here/plugin.cpp" &&
        "$@" -fPIC -shared -DROOM=960 -o "$dir/b.so" "$here/plugin.cpp"
}

# VALUE ROUNDS: the profile is $dir/on.bin, what the program says $dir/said.
profiled() {
    rm -f "$dir/on.bin"
    (cd "$dir" && LD_LIBRARY_PATH=$libraries CUTRACE_STACKS=$1 CUTRACE_OUTPUT=$dir/on.bin \
        LD_PRELOAD=${RUNTIME:+$RUNTIME:}libcutrace.so timeout 120 ./program truth "$dir" "$2" >said 2>&1) ||
        fail "the program ends with $?: $(head -3 "$dir/said")"
    sed -i "/ASan doesn't fully support makecontext/d" "$dir/said" # false alarms are none here: it only warns of them
}

check() {
    build "$@" 2>"$dir/said" || { fail "$* does not build the program: $(head -3 "$dir/said")"; return; }
    RUNTIME=
    case $sanitized in
    *address*) case $1 in *clang*) ;; *) RUNTIME=$("$1" -print-file-name=libasan.so) ;; esac ;;
    esac
    tried=$((tried + 1))
    echo "$*"
    profiled native 40
    [ -s "$dir/said" ] && fail "$* says: $(head -3 "$dir/said")"
    python3 "$here/compare.py" "$dir/truth" "$dir/on.bin" || fail "stacks of $*"
}

# TEXT: the line of the program that has it.
line() { grep -n -m 1 -F "$1" "$here/program.cpp" | cut -d: -f1; }

check_report() {
    local in around
    in=$(line '/* in inlined() */') around=$(line '/* in around_inlined() */')
    "$report" --format collapsed "$dir/on.bin" >"$dir/collapsed" 2>"$dir/said"
    [ -n "$(said)" ] && fail "the report says: $(said)"
    grep -q "around_inlined[()void]* ([^;]*program.cpp:$around);inlined[()void]* ([^;]*program.cpp:$in);launch" "$dir/collapsed" ||
        fail "an inlined function is not shown: $(grep -m 1 around_inlined "$dir/collapsed")"
    grep -q ";guard::~guard([^;]*program.cpp:[0-9]*);launch" "$dir/collapsed" || fail "a name in C++ is not shown"
    grep -q "plugin_call[^;]* ([^;]*plugin.cpp:[0-9]*);" "$dir/collapsed" || fail "a line of a library is not shown"
    "$report" summary "$dir/on.bin" 2>/dev/null | grep -q "launch.*program.cpp:" || fail "the summary has no line"
    "$report" merge -o "$dir/merged.bin" "$dir/on.bin" "$dir/on.bin" 2>/dev/null
    "$report" --format collapsed "$dir/merged.bin" 2>/dev/null | sed 's/ [0-9]*$//' >"$dir/merged"
    sed 's/ [0-9]*$//' "$dir/collapsed" | cmp -s - "$dir/merged" || fail "a merged profile has other stacks"
    for format in speedscope pprof html; do
        "$report" --format "$format" -o "$dir/document" "$dir/on.bin" 2>/dev/null
        { [ "$format" = pprof ] && zcat "$dir/document" || cat "$dir/document"; } | grep -aq around_inlined ||
            fail "format $format has no stacks"
    done
}

# Stacks in a trace, by its exports.
check_trace() {
    CUTRACE_TRACE=$dir/on.trace profiled native 2
    for format in chrome perfetto; do
        "$report" --format "$format" -o "$dir/document" "$dir/on.trace" 2>/dev/null || continue
        grep -aq "inlined[()void]* ([^\"]*program.cpp:[0-9]*), inlined in around_inlined[()void]* (" "$dir/document" ||
            fail "format $format has no lines of a trace"
        grep -aq native "$dir/document" || fail "format $format does not say that its stacks are native"
    done
}

# Functions without lines where libdw cannot be opened, and one line about it.
check_without_libdw() {
    mkdir -p "$dir/none" && : >"$dir/none/libdw.so.1"
    LD_LIBRARY_PATH=$dir/none "$report" --format collapsed "$dir/on.bin" >"$dir/plain" 2>"$dir/said"
    [ "$(said | grep -c 'libdw.so.1: is not here')" = 1 ] && [ "$(said | wc -l)" = 1 ] ||
        fail "without libdw the report says: $(said)"
    grep -q "around_inlined(void) ([^;]*/program:0);launch(void) (" "$dir/plain" || fail "no functions without libdw"
}

# A file that has changed since is not read.
check_other_file() {
    echo 'extern "C" void other() {}' >"$dir/other.cpp"
    "$1" -shared -fPIC -o "$dir/a.so" "$dir/other.cpp"
    rm "$dir/b.so"
    "$report" --format collapsed "$dir/on.bin" >"$dir/plain" 2>"$dir/said"
    grep -q "a.so: is not the file that ran, by its build-id" "$dir/said" || fail "a changed file is read: $(head -3 "$dir/said")"
    grep -q "b.so: No such file" "$dir/said" || fail "a missing file is not named"
    [ "$(said | wc -l)" = 2 ] || fail "with two files gone the report says: $(said)"
    grep -q ";a.so+0x[0-9a-f]* (" "$dir/plain" || fail "addresses of a changed file are not shown"
}

refused() {
    (cd "$dir" && LD_LIBRARY_PATH=$libraries CUTRACE_STACKS=$1 CUTRACE_OUTPUT=$dir/off.bin \
        LD_PRELOAD=${RUNTIME:+$RUNTIME:}libcutrace.so timeout 120 ./program truth "$dir" 0 >said 2>&1)
    [ "$(grep -c "CUTRACE_STACKS" "$dir/said")" = 1 ] || fail "CUTRACE_STACKS=$1 is not refused: $(cat "$dir/said")"
}

compiler=
for c in ${CXX-} g++ clang++; do
    command -v "$c" >/dev/null || continue
    [ -n "$sanitized" ] && case $BUILD_CC in *clang*) [ "$c" = clang++ ] || continue ;; *) [ "$c" = g++ ] || continue ;; esac
    case " $compiler " in *" $c "*) continue ;; esac
    compiler="$compiler $c"
    check "$c" -g -O2 -fomit-frame-pointer -Wl,--build-id
done
[ "$tried" -gt 0 ] || { echo "there is no compiler of C++"; exit 77; }
refused python,native
set -- $compiler
check "$1" -g -O0 -fno-omit-frame-pointer -Wl,--build-id
if grep -q '^#define CT_WITH_LIBDW 1' config.h; then
    check_report
    check_trace
    check_without_libdw
    check_other_file "$1"
else
    echo "SKIP lines of native code: there is no libdw"
fi
exit "$failed"
