#!/bin/bash
# SPDX-License-Identifier: MIT
# What is different on a terminal: width, colours, pager; and that a reader who leaves is no error.
# Needs script(1). Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"
esc=$'\e'

make_profiles basic names uncertain many full stacks

# Without a terminal: no colour, whole names, whatever COLUMNS says.
COLUMNS=80 TERM=xterm "$report" kernels names.bin >out
grep -q "$esc" out && fail "colours in a file"
grep -q 'vectorized_elementwise_kernel.*std::array' out || fail "a name is shortened in a file"
"$report" --color always kernels names.bin | grep -q "$esc" || fail "--color always"
"$report" names.bin >plain
"$report" --color never names.bin | cmp -s - plain || fail "--color never"

# Who has seen enough.
(
    set -o pipefail
    i=0
    while [ $i -lt 200 ]; do echo many.bin; i=$((i + 1)); done | xargs "$report" shapes --per process --format csv |
        head -n 1 >/dev/null
) 2>err || fail "a closed pipe is an error"
[ -s err ] && fail "a closed pipe: $(cat err)"
(trap '' PIPE; "$report" names.bin | true) 2>err
[ -s err ] && fail "a closed pipe, SIGPIPE ignored: $(cat err)"

script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
    { echo "SKIP what is different on a terminal: script makes none here"; exit $failed; }

# on COLUMNS COMMAND: what a terminal of so many columns gets
on()
{
    script -qec "stty cols $1 rows 10; export TERM=xterm; unset COLUMNS; $2" /dev/null </dev/null |
        tr -d '\r' >out
}

# widest: the longest line, without colours
widest()
{
    sed "s/$esc\[[0-9;]*m//g" out | awk '{ gsub(/…/, "."); if (length > n) n = length } END { print n }'
}

on 100 "PAGER= $report kernels names.bin"
grep -q "$esc\[1m" out || fail "no colours on a terminal"
grep -q 'vectorized_elementwise_kernel' out && fail "a name is whole on a terminal"
[ "$(widest)" -le 100 ] || fail "a table of $(widest) columns on a terminal of 100"
grep -q 'more columns in a wider terminal' out || fail "hidden columns are not said"
on 80 "PAGER= $report graphs --filter CUDA full.bin"
grep -A2 '^Kernels in graphs: none' out | grep -q 'more columns' && fail "a table without rows hides columns"
on 60 "PAGER= $report kernels uncertain.bin"
[ "$(widest)" -le 60 ] || fail "a table of $(widest) columns on a terminal of 60"
for name in copies streams apis shapes graphs; do
    on 80 "PAGER= $report $name full.bin"
    grep '  ' out >rows # of tables; what is said about them is not cut
    mv rows out
    [ "$(widest)" -le 80 ] || fail "a table of $(widest) columns on a terminal of 80: $name"
done
"${make_profile%/*}/make_golden_trace" late late.trace || exit 99
on 100 "PAGER= $report trace --format table late.trace"
grep -q ' 123456789  ' out || fail "a number of a later row is shortened: $(tail -n 4 out)"
on 110 "PAGER= $report names.bin"
grep -q 'at::native' out && fail "a name of the summary is not shortened"
on 110 "PAGER= $report -w names.bin"
grep -q 'vectorized_elementwise_kernel.*std::array' out || fail "a name is shortened with --wide"
on 110 "PAGER= $report names.bin"
[ "$(widest)" -le 110 ] || fail "a summary of $(widest) columns on a terminal of 110"
on 80 "PAGER= $report names.bin"
grep -q 'void' out && fail "a name of the summary is not shortened on 80 columns"
sed "/API calls/,\$d" out | sed -n "s/$esc\[[0-9;]*m//g; s/^ .*[^ ]  \([^ ].*\)$/\1/p" | sort | uniq -d | grep -q . && fail "two rows read alike"
[ "$(widest)" -le 80 ] || fail "a summary of $(widest) columns on a terminal of 80"

# Lines of Python: beside the operation, or below the table where a terminal is narrow; in a file always there.
on 120 "PAGER= NO_COLOR=1 $report stacks.bin"
grep -q ' Max  Line  *Name$' out || fail "no column of lines: $(head -n 2 out)"
grep -q ' a;b\\x0a.py:7 (62%)  *g$' out || fail "no line of an operation: $(cat out)"
grep -q ' train.py  *\[CUDA graph' out || fail "a share that is all: $(cat out)"
grep -q 'Lines with most' out && fail "lines stand twice"
on 96 "PAGER= NO_COLOR=1 $report stacks.bin"
grep -q '….*:7 (62%)  *g$' out || fail "a narrow column loses the line's number: $(cat out)"
[ "$(widest)" -le 96 ] || fail "lines take $(widest) columns of 96"
for columns in 80 50; do
    on $columns "PAGER= NO_COLOR=1 $report stacks.bin"
    head -n 2 out | grep -q Line && fail "lines leave no room for names"
    grep -q '^ *62.50%  Net.*:7)  g$' out || fail "no line below the table: $(cat out)"
    sed '1,/Lines with most/d' out >rows
    mv rows out
    [ "$(widest)" -le $columns ] || fail "lines take $(widest) columns of $columns"
done
# Below it they are a table, too, whose names have the colour and the column that a table's have.
on 80 "PAGER= $report stacks.bin"
grep -q "$esc\[1m   Time(%)  Line  *Name$esc" out || fail "lines below the table have no heading"
grep -q "train.py[^ ]*)  *$esc\[36m\[CUDA graph" out || fail "names below the table have no colour"
sed "s/$esc\[[0-9;]*m//g" out | awk '/Time\(%\)  Line  /{ at = index($0, "Name") } at && /train.py/ && substr($0, at - 1, 2) !~ /^ [^ ]$/{ bad = 1 }
    END { exit bad || !at }' || fail "names below the table are not in their column: $(cat out)"
for columns in 80 72; do
    on $columns "PAGER= NO_COLOR=1 $report lines stacks.bin"
    grep -q 'Function  *File$' out || fail "lines without their functions on $columns columns: $(head -n 2 out)"
    grep -q 'step  *….*/train.py$' out || fail "a file's name is cut at its end: $(cat out)"
    [ "$(widest)" -le $columns ] || fail "lines take $(widest) columns of $columns"
done
"$report" stacks.bin | grep -q 'Max  Name$' || fail "lines in nvprof's table in a file"
"$report" summary --columns line,name stacks.bin | grep -q '^/home/me/train.py  *\[CUDA' || fail "--columns line: no line"
on 100 "PAGER= NO_COLOR=1 $report kernels names.bin"
grep -q "$esc\[1m" out && fail "NO_COLOR"
on 100 "PAGER= NO_COLOR=1 $report --color always kernels names.bin"
grep -q "$esc\[1m" out || fail "--color is stronger than NO_COLOR"

# A tree keeps its shape.
make_profiles modules
on 100 "PAGER= NO_COLOR=1 $report modules modules.bin"
grep -q '  2    Layer\[1\]$' out && grep -q '  3      Linear\[0\]$' out || fail "modules without their depth: $(cat out)"

# At the end of a program: coloured, fitted, with a headline and the rows that matter; elsewhere whole.
on 80 "$report --live names.bin"
grep -q "$esc\[1m" out || fail "no colours at the end of a program"
[ "$(widest)" -le 80 ] || fail "$(widest) columns at the end of a program on a terminal of 80"
grep -q '([0-9]* others)' out || fail "all rows at the end of a program"
[ "$(wc -l <out)" -le 48 ] || fail "$(wc -l <out) lines at the end of a program"
make_profiles steps
for name in names uncertain full steps; do
    for columns in 40 60 80 120 200; do
        on $columns "$report --live $name.bin"
        [ "$(widest)" -le $columns ] || fail "$name: $(widest) columns at the end of a program on a terminal of $columns"
        sed -n "s/$esc\[[0-9;]*m//g; /  GPU.*:/,/ API.*:/ s/^ .*[^ ]  \([^ ].*\)$/\1/p" out | sort | uniq -d |
            grep . && fail "$name: rows that read alike in $columns columns"
        [ $columns -lt 60 ] || grep -q '  Calls  ' out || fail "$name: no calls in $columns columns"
    done
done
on 60 "$report --live names.bin"
grep -q '\[CUDA memcpy PtoP\]' out || fail "a name of 18 columns is cut on a terminal of 60"
sed "s/$esc\[[0-9;]*m//g" out | grep -q '  1  f$' || fail "names do not begin below each other"
on 80 "$report --live full.bin"
grep -q '([0-9]* others)' out && fail "four rows are too many"
on 80 "$report --live --top 2 full.bin"
grep -q '(4 others)' out || fail "--top at the end of a program"
"$report" --live names.bin 2>out
grep -q "$esc\|([0-9]* others)" out && fail "a file at the end of a program is not whole"

# The pager: $PAGER, not with --no-pager, not elsewhere; it may be left early, and its absence is
# no obstacle.
on 100 "PAGER='sed s/^/paged:/' $report names.bin"
grep -q '^paged:======== Profiling result' out || fail "\$PAGER is not used"
on 100 "PAGER='sed s/^/paged:/' $report --no-pager names.bin"
grep -q '^paged:' out && fail "--no-pager"
on 100 "PAGER='sed s/^/paged:/' $report -o file names.bin; cat file"
grep -q '^paged:' out && fail "a pager for -o"
on 100 "PAGER='head -n 1' $report names.bin; echo status \$?"
grep -q '^status 0' out || fail "a pager that was left: $(tail -n 1 out)"
on 100 "PAGER='exit 3' $report --details many.bin; echo status \$?"
grep -q '^status 0' out || fail "a pager that was left at once: $(tail -n 1 out)"
mkdir empty
ln -s "$(command -v cat)" empty/cat
on 100 "unset PAGER; PATH=$dir/empty $report names.bin"
grep -q 'Profiling result' out || fail "nothing is printed without less"
on 100 "PAGER='no-such-pager -x' $report names.bin"
grep -q 'no-such-pager: ' out || fail "a pager that is not there is not named"
grep -q 'Profiling result' out || fail "nothing is printed without \$PAGER"
exit $failed
