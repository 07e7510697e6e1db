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
words 'off on' --graph-nodes =
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
words 'start stop status' ctl 1 st
words 'start stop status' ctl -b -n 3 1 st
words '--batch' ctl --ba
words 'interval' ctl --sort i
words 'total' ctl 1 top -s t
words 'list' ctl l
words '' ctl $$ # does not listen

# Every option of the help can be completed.
for option in $("$OLDPWD/cutrace" --help | grep -o -- '^ .\{0,5\} --[a-z][a-z-]*' | grep -o -- '--.*'); do
    has "$option" "$option"
done

if command -v zsh >/dev/null; then
    zsh -f "$srcdir/tests/e2e/launch/completion.zsh" "$completions" || failed=1
else
    echo "SKIP what zsh completes: it is not there"
fi
exit $failed
