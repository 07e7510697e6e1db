#!/bin/bash
# SPDX-License-Identifier: MIT
# --columns and --percent-limit, of every report and format; what terminals leave out of tables.
# Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"

make_profiles full basic multi nccl sensors nvtx um allocated sampled
make_trace=$(dirname "$make_profile")/make_golden_trace
"$make_trace" basic basic.trace && "$make_trace" ranges ranges.trace || exit 99

# keys: of a report's first table
keys() { "$report" --format tsv "$@" 2>/dev/null | head -n 1; }

count=0
for name in $("$report" --help | sed -n '/^Reports:/,/^Options:/s/^  \([a-z_]*\) .*/\1/p'); do
    case $name in
    merge) continue ;;
    diff) files="basic.bin -- multi.bin" ;;
    nvtx_pushpop* | nvtx_gpu_proj*) files=ranges.trace ;;
    trace | *_trace | cuda_kern_exec_sum) files=basic.trace ;;
    nvtx*) files=nvtx.bin ;;
    nccl) files=nccl.bin ;;
    device) files=sensors.bin ;;
    um_*) files=um.bin ;;
    *) files=full.bin ;;
    esac
    all=$(keys $name $files)
    [ -n "$all" ] || { fail "$name: no columns"; continue; }
    first=${all%%	*} last=${all##*	}
    count=$((count + 1))
    [ "$(keys $name --columns "$last,$first,$last" $files)" = "$last	$first" ] ||
        [ "$first" = "$last" ] || fail "$name --columns $last,$first: $(keys $name --columns "$last,$first" $files)"
    for format in table csv tsv json ndjson; do
        "$report" $name --format $format --columns "$last" $files >out 2>err || fail "$name --columns: $(cat err)"
        status 2 "'weight' is no column of " "$report" $name --format $format --columns weight $files
        "$report" $name --format $format --percent-limit 101 $files >out 2>err || fail "$name --percent-limit: $(cat err)"
    done
done
[ $count -ge 25 ] || fail "only $count reports"

# nvprof's table has its columns: others are those of a table, with --csv of plain values.
status 0 "" "$report" --columns name,calls basic.bin
[ "$(sed -n '2s/  */ /p' out)" = "Name Calls" ] || fail "summary --columns: $(cat out)"
status 0 "" "$report" --csv --columns name,calls basic.bin
[ "$(head -n 1 out)" = "name,calls" ] || fail "--csv --columns: $(head -n 1 out)"
status 2 "--columns does not go with the report 'summary' as nvprof" "$report" --format nvprof --columns name basic.bin
status 2 "--columns does not go with the format 'html'" "$report" --format html --columns name basic.bin
"$report" losses --columns operations --format csv full.bin >out 2>err
[ "$(grep -c '^operations' out)" -eq 3 ] || fail "further tables: $(cat out)"
"$report" losses --columns percent --format csv full.bin >out 2>err
[ "$(grep -c '[a-z]' out)" -eq 1 ] || fail "a further table without the column is there: $(cat out)"
status 0 "" "$report" kernels --sort max --columns name --format csv basic.bin
"$report" kernels --sort max --format csv basic.bin | sed 's/.*,"/"/' | tail -n 1 >last
[ "$(tail -n 1 out)" = "$(cat last)" ] || fail "sorted by a column that is not shown: $(cat out last)"

# Rows below the limit are one row, by the shares of the table or of the time that it sums up.
status 0 "" "$report" kernels --format tsv sampled.bin
awk -F'\t' 'NR > 1 && $1 < 20 { few++ } NR > 1 && $1 >= 20 { many++ } END { print many + 1, few + 0 }' out >expected
read -r rows few <expected
[ "$few" -ge 1 ] || fail "no kernel is below 20 %"
status 0 "" "$report" kernels --percent-limit 20% --format tsv sampled.bin
[ "$(wc -l <out)" -eq $((rows + 1)) ] || fail "--percent-limit 20: $(cat out)"
grep -q "($few others\?)" out || fail "--percent-limit 20: the others: $(cat out)"
"$report" nccl --percent-limit 50 --format tsv nccl.bin 2>err | grep -q '(4 others)' || fail "nccl --percent-limit: $(cat out)"
status 0 "" "$report" --percent-limit 50 basic.bin
grep -q '([0-9]* others\?)' out || fail "the summary's --percent-limit: $(cat out)"
status 0 "" "$report" kernels --percent-limit 0 multi.bin
grep -q 'other' out && fail "--percent-limit 0 leaves something out"
status 0 "" "$report" info --percent-limit 50 basic.bin
grep -q -- '--percent-limit: there are no shares of a time here' out err || fail "nothing to limit is not said"
status 2 "'few' is no value of --percent-limit" "$report" --percent-limit few basic.bin

script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
    { echo "SKIP what a terminal leaves out: script makes none here"; exit $failed; }
on()
{
    script -qec "stty cols $1 rows 10; export TERM=dumb PAGER=; unset COLUMNS; $2" /dev/null </dev/null | tr -d '\r' >out
}
"$report" kernels basic.bin | grep -q ' Timed .* GPU ' || fail "a file lacks columns"
on 200 "$report kernels basic.bin"
grep -q ' Timed \| GPU ' out && fail "columns that say nothing: $(head -n 2 out)"
grep -q 'more column' out && fail "columns that say nothing are called hidden"
on 200 "$report kernels --wide basic.bin"
grep -q ' GPU ' out || fail "--wide leaves columns out"
on 200 "$report kernels --columns timed,name basic.bin"
grep -q '^ *Timed ' out || fail "a column that was asked for is left out"
on 250 "$report kernels multi.bin"
grep -q ' GPU ' out || fail "which of two GPUs it was is left out: $(head -n 2 out)"
on 250 "$report kernels sampled.bin"
grep -q ' Timed ' out || fail "how many of the calls were timed is left out: $(cat out)"
on 60 "$report kernels --columns name,calls,total basic.bin"
[ "$(awk '{ gsub(/…/, "."); if (length > n) n = length } END { print n }' out)" -le 60 ] || fail "a name in front is too wide"
exit $failed
