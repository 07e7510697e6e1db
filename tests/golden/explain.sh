#!/bin/bash
# SPDX-License-Identifier: MIT
# The report explain: its page, that each command in it shows what it says, and sides of several files.
# Runs in the build directory. explain.sh --write: as own.sh has it.
. "${srcdir:-.}/tests/golden/check.sh"
own=$srcdir/tests/golden/own
PATH=${report%/*}:$PATH
make_profiles modules remodelled stacks edited sampled multi
cp sampled.bin "it's sampled.bin"
cp multi.bin $'bell\a.bin'

# page NAME ARGUMENT...: explain as it was
page()
{
    status 0 "" "$report" explain "${@:2}"
    if [ "$write" ]; then
        cp out "$own/$1"
    else
        diff "$own/$1" out || fail "$*: < expected, > printed"
    fi
}
[ "$1" = --write ] && write=yes
page modules.explain.md modules.bin
page remodelled.explain.md --baseline modules.bin remodelled.bin
page edited.explain.md --baseline stacks.bin edited.bin
page sampled.explain.json --format json sampled.bin

# Each command runs as it stands, in a shell, and has something to say.
count=0
"$report" explain --baseline multi.bin --baseline modules.bin edited.bin "it's sampled.bin" 2>err |
    sed -n 's/^\* Command: `\(.*\)`$/\1/p' >commands
while read -r command; do
    count=$((count + 1))
    bash -c "$command" >out 2>err # status 1 says that all these are of one process
    got=$?
    [ $got -le 1 ] || fail "$command: status $got: $(cat err)"
    [ -s out ] || fail "$command: prints nothing"
done <commands
[ $count -ge 10 ] || fail "$count commands"
grep -qF "'it'\\''s sampled.bin'" commands || fail "a name with a quote: $(cat commands)"
grep -qF "diff multi.bin modules.bin -- edited.bin" commands || fail "two sides: $(cat commands)"
"$report" explain $'bell\a.bin' | grep -F 'Command: `cutrace-report info FILE...`' >/dev/null ||
    fail "a name that cannot be shown is shown"

status 2 "--baseline is of the report explain: see diff" "$report" kernels --baseline multi.bin sampled.bin
status 2 "--format html does not go with the report 'explain'" "$report" explain --format html sampled.bin
status 1 "nothing.bin: cannot be opened" "$report" explain --baseline nothing.bin sampled.bin
"$report" summary --format md sampled.bin | grep -q '| \\\*5.2000ms | 1000 |' || fail "md: an estimate has no mark"
exit $failed
