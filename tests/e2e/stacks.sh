#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Stacks of Python programs on the simulated device: each launch is from where Python itself says
# that it was, for every CPython that is here (CUTRACE_PYTHONS: others, by their paths).
set -u
[ -z "${BUILD_SANITIZERS-}" ] || { echo "no sanitizer's library to preload into Python"; exit 77; }
srcdir=$(cd "${srcdir:-.}" && pwd)
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export LD_LIBRARY_PATH=$PWD/.libs:$PWD/tests/sim/lib PYTHONIOENCODING=utf-8 PYTHONDONTWRITEBYTECODE=1
export CUTRACE_PRINT=off CUTRACE_LOG=1 LC_ALL=C.UTF-8
report=$PWD/cutrace-report here=$srcdir/tests/e2e/stacks
launches=${CUTRACE_STACK_LAUNCHES:-400} pythons=${CUTRACE_PYTHONS-} failed=0 tried=0
unset CUTRACE_STACK_LAUNCHES CUTRACE_PYTHONS # no variables of the library's

fail() { echo "FAIL: $*"; failed=1; }

# PYTHON PROGRAM ARGUMENTS...: with stacks; the profile is $dir/on.bin, what it says $dir/on.
profiled() {
    CUTRACE_STACKS=python CUTRACE_OUTPUT=$dir/on.bin LD_PRELOAD=libcutrace.so timeout 120 "$@" \
        >"$dir/on" 2>"$dir/on.err"
}

check_truth() {
    rm -f "$dir/on.bin"
    profiled "$1" "$here/program.py" "$dir/truth" "$launches" "$2" || fail "$1 ends with $?: $(head -3 "$dir/on.err")"
    [ -s "$dir/on.err" ] && fail "$1 says: $(head -3 "$dir/on.err")"
    "$report" --format collapsed "$dir/on.bin" >"$dir/collapsed" || fail "no collapsed stacks of $1"
    python3 "$here/compare.py" "$dir/truth" "$dir/collapsed" || fail "stacks of $1"
}

# The program says the same without stacks, and without the library.
check_output() {
    timeout 120 "$1" "$here/program.py" "$dir/truth.off" "$launches" 1 >"$dir/bare" 2>&1
    CUTRACE_OUTPUT=$dir/off.bin LD_PRELOAD=libcutrace.so timeout 120 "$1" "$here/program.py" \
        "$dir/truth.off" "$launches" 1 >"$dir/off" 2>&1
    profiled "$1" "$here/program.py" "$dir/truth.on" "$launches" 1
    cmp -s "$dir/bare" "$dir/off" && cmp -s "$dir/bare" "$dir/on" || fail "$1 says something else with stacks"
    "$report" lines --format csv "$dir/off.bin" 2>/dev/null | sed 1d | grep -q . && fail "stacks that nobody asked for"
}

# PYTHON PERCENT: counts and times of lines, exact or of a sample.
check_sums() {
    profiled "$1" "$here/kinds.py" 200 || fail "$1 kinds.py ends with $?: $(head -3 "$dir/on.err")"
    "$report" lines --format csv "$dir/on.bin" >"$dir/lines" 2>/dev/null
    "$report" summary --format csv "$dir/on.bin" 2>/dev/null | sed '/^$/,$d' >"$dir/summary"
    python3 "$here/sums.py" "$dir/on" "$dir/lines" "$dir/summary" "$2" || fail "sums of $1"
}

# Each module's launches, as the program counts them.
check_modules() {
    profiled "$1" "$here/modules.py" "$dir/truth" || fail "$1 modules.py ends with $?: $(head -3 "$dir/on.err")"
    [ -s "$dir/on.err" ] && fail "$1 says: $(head -3 "$dir/on.err")"
    "$report" modules --format csv "$dir/on.bin" >"$dir/modules" 2>/dev/null
    python3 "$here/modules_compare.py" "$dir/truth" "$dir/modules" || fail "modules of $1"
}

# Too many stacks in modules: those beyond are by their lines, and none is lost.
check_bounds() {
    profiled "$1" "$here/many.py" 200 100 || fail "$1 many.py ends with $?: $(head -3 "$dir/on.err")"
    "$report" info "$dir/on.bin" 2>/dev/null | grep 'warning.*stacks' >"$dir/notes"
    grep -q '10000  warning  Modules that are left out of stacks' "$dir/notes" && [ "$(wc -l <"$dir/notes")" = 1 ] ||
        fail "$1: notes with too many stacks: $(cat "$dir/notes")"
    launches=$("$report" lines --format csv "$dir/on.bin" 2>/dev/null | awk -F, 'NR > 1 && $5 > 0 { print $5 }' | sort -u)
    [ "$launches" = 200 ] || fail "$1: lines with so many launches, and not 200: $launches"
    launches=$("$report" modules --format csv "$dir/on.bin" 2>/dev/null | awk -F, 'NR > 1 { n += $4 } END { print n }')
    [ "$launches" = 10000 ] || fail "$1: $launches launches in modules"
}

# PYTHON NODES: what 10,000 stacks and so many nodes of a graph take, of memory that is in use, KiB.
check_memory() {
    local off on tries
    for tries in 1 2 3; do # Python's own memory differs as well
        off=$(CUTRACE_OUTPUT=$dir/off.bin LD_PRELOAD=libcutrace.so timeout 120 "$1" "$here/memory.py" 10000 "$2") &&
            profiled "$1" "$here/memory.py" 10000 "$2" || fail "$1 memory.py ends with $?: $(head -3 "$dir/on.err")"
        on=$(cat "$dir/on")
        echo "$((on - off)) KiB with $2 nodes"
        [ "$off" -gt 0 ] && [ $((on - off)) -le "$3" ] && break
    done
    [ $((on - off)) -le "$3" ] || fail "$1: $tries times too much: $on KiB with stacks, and $off without"
    [ "$("$report" lines --format csv "$dir/on.bin" 2>/dev/null | grep -c '"Layer.*inner"')" = 1000 ] || fail "$1: lines of many stacks"
}

# The stack that Python tells in another interpreter is the main one's, up to 3.11.
check_interpreters() {
    profiled "$1" "$here/interpreters.py"
    [ $? = 77 ] && return
    "$report" --format collapsed "$dir/on.bin" | sed 's/.*; *\([a-z]*\) [0-9]*$/\1/' | sort | tr '\n' ' ' >"$dir/names"
    [ "$(cat "$dir/names")" = "after before " ] || fail "$1: with another interpreter stacks of: $(cat "$dir/names")"
}

# Lines of Python in `cutrace ctl PID top`, if it has a screen.
check_top() {
    grep -q '^#define CT_WITH_NCURSES 1' config.h || { echo "SKIP lines in top: there is no ncurses"; return; }
    CUTRACE_OUTPUT=$dir/top.bin timeout 120 python3 "$here/top.py" "$PWD/cutrace" || fail "lines in top"
}

# PYTHON [OPTIONS]: runs of captured kernels by the lines that captured them, and their stacks.
check_graphs() {
    local python=$1
    shift
    profiled env "$@" "$python" "$here/graphs.py" "$dir/truth" || fail "$python graphs.py ends with $?: $(head -3 "$dir/on.err")"
    [ -s "$dir/on.err" ] && fail "$python says: $(head -3 "$dir/on.err")"
    "$report" lines --format csv "$dir/on.bin" >"$dir/lines" 2>/dev/null
    "$report" graphs --format csv "$dir/on.bin" 2>/dev/null | sed '/^$/,$d' >"$dir/graphs"
    python3 "$here/sums.py" "$dir/on" "$dir/lines" "$dir/graphs" 0 || fail "$python: sums of graphs $*"
    "$report" --format collapsed "$dir/on.bin" >"$dir/collapsed" 2>/dev/null
    python3 "$here/compare.py" "$dir/truth" "$dir/collapsed" || fail "$python: stacks in graphs $*"
    "$report" merge -o "$dir/merged.bin" "$dir/on.bin" 2>/dev/null
    "$report" --format collapsed "$dir/merged.bin" 2>/dev/null | cmp -s - "$dir/collapsed" || fail "$python: merged graphs $*"
}

# PYTHON: stacks in a trace, by its exports.
check_trace() {
    CUTRACE_TRACE=$dir/on.trace profiled "$1" "$here/program.py" "$dir/truth" 300 1 || fail "$1 program.py ends with $?: $(head -3 "$dir/on.err")"
    "$report" --format chrome "$dir/on.trace" >"$dir/chrome" || fail "no trace for chrome"
    set -- "$dir/truth" "$dir/chrome"
    if command -v protoc >/dev/null && "$report" --format perfetto -o "$dir/perfetto" "$dir/on.trace" 2>/dev/null; then
        protoc --proto_path="$srcdir/third_party/perfetto" --decode=perfetto.protos.Trace track_event.proto \
            <"$dir/perfetto" >"$dir/perfetto.text" && set -- "$@" "$dir/perfetto.text"
    fi
    python3 "$here/traced.py" "$@" || fail "stacks in a trace"
}

# PYTHON: a backward pass by the lines of the forward pass, and threads without Python by their names.
check_backward() {
    [ -e tests/e2e/stacks/engine.so ] || { echo "SKIP backward passes: there is no NVTX"; return; }
    profiled "$1" "$here/backward.py" "$PWD/tests/e2e/stacks/engine.so" "$dir/truth" "$dir/launches" ||
        fail "$1 backward.py ends with $?: $(head -3 "$dir/on.err")"
    [ -s "$dir/on.err" ] && fail "$1 says: $(head -3 "$dir/on.err")"
    "$report" --format collapsed "$dir/on.bin" >"$dir/collapsed" 2>"$dir/rest"
    python3 "$here/compare.py" "$dir/truth" "$dir/collapsed" || fail "backward passes of $1"
    "$report" modules --format csv "$dir/on.bin" >"$dir/modules" 2>/dev/null
    python3 "$here/modules_compare.py" "$dir/launches" "$dir/modules" 4 || fail "modules of backward passes of $1"
    "$report" summary --format csv "$dir/on.bin" 2>/dev/null | grep -q '"\[thread plain\]"' || fail "$1: a name in the summary"
    # Names are no lines: what they launched is told with what nothing is known of.
    python3 "$here/unnamed.py" "$dir/collapsed" "$dir/rest" || fail "time by no line of $1: $(cat "$dir/rest")"
    # No frame could be checked, and none is needed.
    profiled "$1" "$here/backward.py" "$PWD/tests/e2e/stacks/engine.so" "$dir/truth" "$dir/launches" alone ||
        fail "$1 backward.py alone ends with $?: $(head -3 "$dir/on.err")"
    "$report" --format collapsed "$dir/on.bin" >"$dir/collapsed" 2>/dev/null
    python3 "$here/compare.py" "$dir/truth" "$dir/collapsed" || fail "names of threads of $1"
}

# Threads have names in every program; where there is no Python they say nothing of a stack.
check_no_python() {
    [ -e tests/e2e/nvtx/ranger ] || return
    profiled tests/e2e/nvtx/ranger nest || fail "ranger ends with $?"
    "$report" --format collapsed "$dir/on.bin" 2>/dev/null | grep . && fail "stacks of a program without Python"
    "$report" summary --format csv "$dir/on.bin" 2>/dev/null | grep -q '"GPU activities"' || fail "ranger launches nothing"
}

refused() {
    profiled "$1" "$here/program.py" "$dir/truth" 4 1
    grep -q 'cutrace: no Python stacks: ' "$dir/on.err" || fail "$1 is not refused: $(head -3 "$dir/on.err")"
    [ "$(grep -c . "$dir/on.err")" = 1 ] || fail "$1 is refused in several lines"
}

seen=
for python in $pythons python3 /usr/bin/python3 python3.{8..14} ~/.pyenv/versions/3.*/bin/python3; do
    path=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) || continue
    case " $seen " in *" $path "*) continue ;; esac
    seen="$seen $path"
    version=$("$path" -c 'import sys; print(sys.version_info[1])')
    if [ "$version" -lt 8 ]; then
        echo "$path, which is too old"
        [ "$version" -ge 7 ] && refused "$path"
        continue
    fi
    tried=$((tried + 1))
    echo "$path"
    check_truth "$path" "$tried"
    check_sums "$path" 0
    check_modules "$path"
    check_interpreters "$path"
    check_graphs "$path"
    check_backward "$path"
done
[ "$tried" -gt 0 ] || { echo "there is no Python"; exit 77; }
python=$(python3 -c 'import sys; print(sys.executable)')
check_output "$python"
check_top
check_bounds "$python"
check_memory "$python" 0 8192
check_memory "$python" 10000 10240
check_no_python
check_graphs "$python" CUTRACE_START=off # the first is captured before recording begins
for code in 1 901 999; do
    profiled env CUDASIM_FAIL=cutrace/cuStreamGetCaptureInfo_v3:1-1000000:$code "$python" "$here/graphs.py" "$dir/truth" ||
        fail "a driver that does not tell what was captured: graphs.py ends with $?"
    [ -s "$dir/on.err" ] && fail "a driver that does not tell what was captured: $(head -3 "$dir/on.err")"
done
check_graphs "$python" CUTRACE_GRAPH_NODES=1 CUDASIM_KERNELS=many=3000,other=9000
times=$(awk -F, '$7 == "\"lines\"" { print $3 }' "$dir/lines" | sort | tr '\n' ' ')
[[ $times =~ ^180000\ 180000\ (19|20)[0-9]{3}\ 60000\ $ ]] || fail "kernels that were captured took: $times"
check_trace "$python"
export CUTRACE_SAMPLE=4
check_sums "$python" 80
unset CUTRACE_SAMPLE
export CUTRACE_BUDGET=2% # which draws few of so many: never more than there were
check_sums "$python" 1000
unset CUTRACE_BUDGET
exit "$failed"
