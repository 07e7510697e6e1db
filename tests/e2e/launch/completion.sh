#!/bin/bash
# SPDX-License-Identifier: MIT
# What bash completes, in a bash; what zsh completes, in a zsh under a terminal of its own, if there
# is one.
srcdir=$(cd "${srcdir:-.}" && pwd)
completions=$PWD/tools/cutrace/completion
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0
export PATH=$PWD:$PATH
cd "$dir" && touch 'a file' other && mkdir sub || exit 99

fail() { echo "FAIL: $*"; failed=1; }

. "$completions/cutrace"

# words EXPECTED WORD...: the last word is completed; = is a word of its own, as readline has it
words() {
    local expected=$1
    shift
    COMP_WORDS=(cutrace "$@")
    COMP_CWORD=$#
    _cutrace
    local got=${COMPREPLY[*]}
    [ "$got" = "$expected" ] || fail "bash: $*: '$got', not '$expected'"
}

has() {
    local expected=$1
    shift
    COMP_WORDS=(cutrace "$@")
    COMP_CWORD=$#
    _cutrace
    [[ " ${COMPREPLY[*]} " == *" $expected "* ]] || fail "bash: $*: '${COMPREPLY[*]}' lacks '$expected'"
}

words '--csv' --cs
words '--demangling' --dem
words 'gpu gpu,api gpu,api,memory' --trace g
words 'gpu gpu,api gpu,api,memory' --trace = g
words 'gpu api gpu,api gpu,api,memory' --trace =
words 'off on auto' --graph-nodes =
words 'on off' --profile-child-processes = o
words 'ms' -u m
words 'ms' --csv --normalized-time-unit = m
words 'a file' -o a
words 'a file' --log-file = a
words '' --sample 1
words '' --sample =
words 'a file' ls -l a
words 'sub' -- ls su
words '' -- --cs
words '' ls --cs
has true tru
has true -- tru
has true --csv tru
has true -o x --trace = gpu tru
has --import-profile --i

has ctl c
words 'start stop status stragglers stuck' ctl 1 st
words 'start stop status stragglers stuck' ctl -b -n 3 1 st
words '--batch' ctl --ba
words 'interval' ctl --sort i
words 'total' ctl 1 top -s t
words 'list' ctl l
words '' ctl $$ # does not listen

# Every option of the help can be completed.
for option in $("$OLDPWD/cutrace" --help | grep -o -- '^ .\{0,5\} --[a-z][a-z-]*' | grep -o -- '--.*'); do
    has "$option" "$option"
done

. "$completions/cutrace-report"

# report EXPECTED WORD...: the same of cutrace-report
report() {
    local expected=$1
    shift
    COMP_WORDS=(cutrace-report "$@")
    COMP_CWORD=$#
    _cutrace_report
    [ "${COMPREPLY[*]}" = "$expected" ] || fail "bash: cutrace-report $*: '${COMPREPLY[*]}', not '$expected'"
}
report '--percent-limit' --perc
report 'json' --format j
report 'json' --format = js
report 'on off' --demangling = o
report 'ms' -u m
report 'gpu' kernels --per g
report 'a file' kernels a
report 'a file' -o a
report 'kernels' ker
report 'streams' stre
report 'sub' kernels su
report '' --top 1
for option in $("$OLDPWD/cutrace-report" --help | sed -n '/^Options:/,/^Formats:/p' | grep -o -- '^ .\{0,5\} --[a-z][a-z-]*' | grep -o -- '--.*'); do
    COMP_WORDS=(cutrace-report "$option") COMP_CWORD=1
    _cutrace_report
    [[ " ${COMPREPLY[*]} " == *" $option "* ]] || fail "bash: cutrace-report $option: '${COMPREPLY[*]}'"
done

if command -v zsh >/dev/null; then
    zsh -f "$srcdir/tests/e2e/launch/completion.zsh" "$completions" || failed=1
else
    echo "SKIP what zsh completes: it is not there"
fi
exit $failed
