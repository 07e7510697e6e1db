#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs every command of the documents on the simulated device. A command is a line of an indented
# block that begins with "$ ", or, in a block without such, with a word of COMMANDS; ./app is the
# demo, /opt/cutrace what was built, as in an archive. A comment before a block says what is the
# matter with it:
#   <!-- not run: REASON -->  listed, and not run
#   <!-- fails -->            run, and must fail
#   <!-- simulated -->        run, and what follows the command must come, but for numbers; "..." is
#                             anything
# Of `make TARGET` only the target is looked for, of a script of the repository's only the file.
set -u
[ -z "${BUILD_SANITIZERS-}" ] || { echo "the commands have no sanitizer's library to preload"; exit 77; }
build=$PWD srcdir=$(cd "${srcdir:-.}" && pwd)
COMMANDS='([A-Z_]+=[^ ]* )*(cutrace|cutrace-report|make|\./[a-z_]+|(\.\./)?(\./)?(quickstart|configure)|tests/[^ ]*|\.ci/run|mpirun|srun|torchrun|mkdir|man|/opt/cutrace/bin/[a-z-]*|docker|singularity|kubectl|tar|pip|python)'
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0 ran=0 not_run=0

mkdir "$dir/bin" "$dir/opt" "$dir/opt/bin" "$dir/opt/lib"
ln -s "$build/cutrace" "$build/cutrace-report" "$dir/opt/bin/"
ln -s "$build/.libs/libcutrace.so" "$dir/opt/lib/"
for name in cutrace cutrace-report; do ln -s "$build/$name" "$dir/bin/"; done
for name in demo event_timing gemm mmm pipeline timers vector_add; do
    ln -s "$build/examples/$name" "$dir/bin/"
done
export PATH=$dir/bin:$PATH LD_LIBRARY_PATH=$build/.libs:$build/tests/sim/lib CUTRACE_REPORT=$build/cutrace-report
export PAGER=cat

# FILE: line number, mark, command and what is to follow it, one line each, in fields of \001.
commands_of() {
    awk -v commands="^($COMMANDS)( |$)" '
        function flush(    i, dollars, text, open) {
            for (i = 1; i <= n; i++) dollars += line[i] ~ /^\$ /
            for (i = 1; i <= n; i++) {
                text = line[i]
                if (dollars ? text ~ /^\$ / : text ~ commands) {
                    if (open) print ""
                    sub(/^\$ /, "", text)
                    printf "%d\001%s\001%s\001", number[i], mark, text
                    open = 1
                } else if (open && dollars) printf "%s\002", text
            }
            if (open) print ""
            if (n) mark = ""
            n = 0
        }
        /^<!-- (not run: .*|fails|simulated) -->$/ { flush(); mark = $0; gsub(/<!-- | -->/, "", mark); next }
        /^    / { line[++n] = substr($0, 5); sub(/^ +/, "", line[n]); number[n] = NR; next }
        /^$/ { if (n) { line[++n] = ""; number[n] = NR } next }
        { flush() }
        END { flush() }' "$1"
}

plain() { sed -E 's/[0-9][0-9.]*(e[+-][0-9]+)?/0/g; s/ +/ /g; s/^ //; s/0(ns|us|ms|s)\b/0s/g'; }

# What is expected comes in this order, with other lines in between only where "..." stands.
follows() {
    tr '\002' '\n' <<<"$1" | plain | sed '/^$/d' >"$dir/expected"
    plain <"$dir/out" | sed '/^$/d' >"$dir/came"
    awk 'NR == FNR { want[++w] = $0; next }
        at == 0 { at = 1 }
        { while (want[at] ~ /\.\.\./) { gap = 1; at++ } }
        at <= w && $0 == want[at] { at++; gap = 0; next }
        !gap && at <= w { print "came: " $0; print "expected: " want[at]; bad = 1; exit 1 }
        END { if (!bad) { while (want[at] ~ /\.\.\./) at++; if (at <= w) { print "expected: " want[at]; exit 1 } } }' \
        "$dir/expected" "$dir/came"
}

fail() {
    echo "FAIL: $1"
    tail -n 20 "$dir/out"
    failed=1
}

# WHERE MARK COMMAND EXPECTED
try() {
    local where=$1 mark=$2 command=$3 status
    case $mark in
    "not run: "*)
        echo "not run: $where: $command (${mark#not run: })"
        not_run=$((not_run + 1))
        return
        ;;
    esac
    ran=$((ran + 1))
    : >"$dir/out"
    if [[ $command =~ ^([A-Z_]+=[^ ]*\ )*make\ ?([a-z0-9-]*) ]]; then
        grep -q "^${BASH_REMATCH[2]:-all}:" "$build/Makefile" || fail "$where: $command: no such target"
        return
    elif [[ $command =~ ^((mkdir build && cd build && )?\.*/|\.)?(quickstart|configure|ci/run|tests/[^ ]*) ]]; then
        [ ! -e "$srcdir/.git" ] || [ -e "$srcdir/${BASH_REMATCH[3]/#ci/.ci}" ] || fail "$where: $command: no such script"
        return
    fi
    timeout 60 bash -c "${command//\/opt\/cutrace/$dir/opt}" >"$dir/out" 2>&1 </dev/null
    status=$?
    if [ "$mark" = fails ]; then
        [ $status -ne 0 ] || fail "$where: $command: was to fail"
    elif [ $status -ne 0 ]; then
        fail "$where: $command: status $status"
    elif [ "$mark" = simulated ]; then
        follows "$4" || fail "$where: $command: says something else"
    fi
}

# Laboratory notes are in the repository only.
for file in "$srcdir"/{README,CONTRIBUTING}.md "$srcdir"/doc/*.md "$srcdir"/{doc/internals,lab}/*.md; do
    [ -e "$file" ] || continue
    commands_of "$file" >"$dir/list"
    [ -s "$dir/list" ] || continue
    mkdir "$dir/work" && cd "$dir/work" || exit 99
    ln -s "$build/examples/demo" app
    for i in "" .1 .2; do # what is profiled already
        CUTRACE_PRINT=off CUTRACE_OUTPUT=summary$i.bin LD_PRELOAD=libcutrace.so ./app >/dev/null 2>&1
    done
    while IFS=$'\001' read -r number mark command expected; do
        try "${file##*/}:$number" "$mark" "$command" "$expected"
    done 3<&0 <"$dir/list"
    cd "$dir" && rm -rf work
done
echo "$ran commands, $not_run not run"
[ $ran -gt 0 ] && exit $failed
