#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line of cutrace-report: exit statuses, messages, and that failing output is noticed.
# Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"

make_profiles basic multi um

status 0 "" "$report" --help
grep -q -- '--print-summary-per-gpu' out || fail "--help does not name the options"
head -n 12 out | grep -q '^  cutrace-report diff  ' || fail "--help has no examples at its top"
grep -q 'CUTRACE_OUTPUT=FILE' out || fail "--help does not name the variables"
[ "$(awk 'length > 79' out | wc -l)" -eq 0 ] || fail "--help is too wide"
grep -q ' $' out && fail "--help has blanks at line ends"
status 0 "" "$report" --version
grep -q '^cutrace-report [0-9]' out || fail "--version: $(cat out)"

status 2 "unrecognized option '--nonsense'" "$report" --nonsense basic.bin
status 2 "ambiguous option '--print=yes'" "$report" --print=yes basic.bin
status 2 "invalid option -- 'x'" "$report" -x basic.bin
status 2 "requires an argument" "$report" basic.bin -u
status 2 "'weeks' is no value of --normalized-time-unit: auto, col, ns, us, ms or s" "$report" -u weeks basic.bin
status 2 "'maybe' is no value of --demangling: on or off" "$report" --demangling maybe basic.bin
status 2 "no file is given, and there is no summary.bin" "$report"
status 2 "'many' is no value of --top: a whole number from 1 on" "$report" --top many basic.bin
status 2 "--csv and --details exclude each other" "$report" --csv --details basic.bin
status 2 "'kernel' is no report (did you mean kernels?)" "$report" kernel basic.bin
status 2 "'streems' is no report (did you mean streams?)" "$report" streems
status 2 "'everything' is no report: there are" "$report" everything basic.bin
status 1 "nothing: cannot be opened" "$report" nothing
status 2 "'yaml' is no format: there are table, nvprof, csv" "$report" --format yaml basic.bin
status 2 "nvprof has no report 'kernels'" "$report" kernels --format nvprof basic.bin
status 2 "no file is given" "$report" kernels
cp multi.bin kernels
status 0 "" "$report" ./kernels
grep -q PtoP out || fail "./kernels is not taken for a file"
status 0 "" "$report" -- kernels
grep -q PtoP out || fail "-- kernels is not taken for a file"
status 0 "" "$report" --raw kernels basic.bin
grep -q '^Kernels:' out || fail "a report behind an option is not taken"
status 0 "" "$report" summary basic.bin
"$report" basic.bin | cmp -s - out || fail "the summary is not the default"
status 0 "" "$report" copies basic.bin
"$report" basic.bin copies | cmp -s - out || fail "a report behind its file is not taken"
"$report" copies - <basic.bin | cmp -s - out || fail "standard input is not read"
cat basic.bin | "$report" copies - | cmp -s - out || fail "a pipe is not read"
status 2 "-: is given twice" "$report" - - <basic.bin
cp basic.bin summary.bin
status 0 "" "$report" copies
"$report" copies basic.bin | cmp -s - out || fail "summary.bin is not the default"
status 2 "diff needs OLD and NEW" "$report" diff
cp multi.bin summary.old.bin
status 0 "" "$report" diff
"$report" diff summary.old.bin summary.bin | cmp -s - out || fail "diff does not take the run before and this one"
rm summary.bin summary.old.bin

status 1 "nothere: cannot be opened: No such file or directory" "$report" nothere
status 1 ".: is a directory" "$report" .
status 1 "/dev/zero: is not a regular file" "$report" /dev/zero
: >empty
status 1 "empty: is empty" "$report" empty
echo hello >text
status 1 "text: is not a summary of cutrace" "$report" text
head -c 5000 basic.bin >short
status 1 "short: is truncated" "$report" short
# overwrite FILE OFFSET TEXT: TEXT in printf's notation
overwrite()
{
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
cp basic.bin version && overwrite version 12 '\2'
status 1 "version: has format version 2.1, this program reads 1" "$report" version
payload=$((($(wc -c <basic.bin) - 4096) / 2)) # the two are equal, the newest is the first
cp basic.bin corrupt && overwrite corrupt 4200 'xxxxxxxx'
"$report" corrupt >out 2>err || fail "the older data are not taken"
grep -q 'Warning: The newest data of 1 file are damaged' out || fail "old data are not named"
"$report" --csv corrupt 2>&1 >out | grep -q 'corrupt: is damaged: the checksum of its data is wrong' || fail "--csv: old data are not named"
for output in kernels losses "--format json" "kernels --format csv"; do # each says so
    status 0 "corrupt: is damaged: the checksum of its data is wrong; what came last is missing" "$report" $output corrupt
done
overwrite corrupt $((4200 + payload)) 'xxxxxxxx'
status 1 "corrupt: is damaged: the checksum of its data is wrong" "$report" corrupt
cp basic.bin locked && chmod 000 locked
if ! [ -r locked ]; then # root reads everything
    status 1 "locked: cannot be opened: Permission denied" "$report" locked
fi
mkfifo pipe
status 1 "pipe: is a pipe" "$report" pipe
printf 'x' >'a
b'
status 1 'a\x0ab: is not a summary' "$report" 'a
b'

# What can be read is shown beside what cannot.
status 1 "empty: is empty" "$report" basic.bin empty multi.bin
grep -q '17 operations: 17 timed, 0 not' out || fail "the good files are not shown"
status 0 "" "$report" -- basic.bin
status 0 "9 timed, 0 not" "$report" basic.bin --csv
grep -q '^"GPU activities"' out || fail "options after the file are not taken"

# What is there twice would count twice.
"$report" merge basic.bin multi.bin -o both.merged || exit 99
status 1 "process 4712: is in more than one of the files" "$report" both.merged multi.bin
status 1 "process 4711: is in more than one of the files" "$report" merge basic.bin basic.bin -o twice.merged
status 1 "process 4711: is in more than one of the files" "$report" diff both.merged basic.bin -- basic.bin
status 0 "" "$report" diff both.merged -- basic.bin multi.bin

# Output that fails.
if [ -w /dev/full ]; then
    "$report" basic.bin >/dev/full 2>err
    [ $? -eq 1 ] || fail "a full disk is not noticed"
    grep -q 'cannot be written' err || fail "a full disk is not named"
    status 1 "cannot be written" "$report" -o /dev/full basic.bin
fi
"$report" basic.bin >&- 2>err
[ $? -eq 1 ] || fail "a closed standard output is not noticed"
"$report" --help >&- 2>err
[ $? -eq 1 ] || fail "a closed standard output is not noticed by --help"

status 0 "" "$report" -o log basic.bin
[ -s out ] && fail "-o writes to standard output"
"$report" basic.bin | cmp -s - log || fail "-o writes something else"
status 0 "" "$report" --log-file log multi.bin
"$report" multi.bin | cmp -s - log || fail "-o does not replace the file"
status 0 "" "$report" -o - multi.bin
cmp -s out log || fail "-o - is not standard output"
[ -e - ] && fail "-o - makes a file"
status 2 "merge needs -o FILE" "$report" merge multi.bin -o -
status 1 "is a profile, which the report would overwrite" "$report" -o multi.bin basic.bin
"$report" multi.bin | cmp -s - log || fail "-o has damaged a profile"
status 1 "No such file or directory" "$report" -o no/such/dir basic.bin

# At the end of a program.
"$report" --live basic.bin >out 2>err || fail "--live: status $?"
[ -s out ] && fail "--live writes to standard output"
head -n 3 err | cut -d' ' -f1 | sort -u | grep -qx '==4711==' || fail "--live: $(head -n 3 err)"
tail -n 1 err | grep -qx "==4711== Generated result file: $PWD/basic.bin" ||
    fail "--live does not say where the profile is"
# The program may have closed anything: that is no failure of the report, and harms no file.
cp basic.bin live.bin
"$report" --live live.bin 2>err <&- >&- || fail "--live without input and output: status $?"
[ "$(wc -l <err)" -gt 10 ] || fail "--live without input and output prints nothing"
"$report" --live live.bin 2>&- <&- >&- || fail "--live without descriptors: status $?"
[ ! -w /dev/full ] || "$report" --live live.bin 2>/dev/full || fail "--live, disk full: status $?"
cmp -s basic.bin live.bin || fail "--live has changed the profile"

# What an option cannot change is refused.
status 2 "--raw does not go with the report 'ranks' as table" "$report" ranks --raw basic.bin
status 2 "--raw does not go with the report 'streams' as json" "$report" streams --raw --format json basic.bin
status 2 "--details does not go with the report 'kernels'" "$report" kernels --details basic.bin
status 2 "--details does not go with the report 'summary' as csv" "$report" --details --format csv basic.bin
status 2 "--since does not go with the report 'kernels'" "$report" kernels --since 1s basic.bin
status 2 "--until does not go with the report 'diff'" "$report" diff --until 1s basic.bin basic.bin
status 2 "--normalized-time-unit does not go with the report 'kernels' as csv" "$report" kernels --csv -u us basic.bin
status 2 "--normalized-time-unit does not go with the report 'cuda_api_sum'" "$report" cuda_api_sum -u us basic.bin
status 2 "--csv does not go with the report 'summary' as json" "$report" --csv --format json basic.bin
status 2 "--print-api-trace does not go with the report 'kernels'" "$report" kernels --print-api-trace basic.bin
status 2 "--sort does not go with the format 'html'" "$report" --format html --sort name basic.bin
status 2 "--filter does not go with the report 'merge'" "$report" merge basic.bin -o x.bin --filter x
status 2 "--format does not go with the report 'merge'" "$report" merge --format json basic.bin -o x.bin
for format in html sqlite chrome perfetto; do
    status 2 "--format $format does not go with the report 'merge'" "$report" merge --format $format basic.bin -o x.bin
    [ $format = html ] || status 2 "--format $format does not go with the report 'diff'" \
        "$report" diff --format $format basic.bin multi.bin -o x.bin
done
status 0 "" "$report" diff --format html basic.bin multi.bin
status 2 "--since does not go with the format 'html'" "$report" diff --format html --since 1s basic.bin multi.bin
status 2 ":base does not go with the format 'html'" "$report" diff:base --format html basic.bin multi.bin
status 2 "--csv does not go with the report 'merge'" "$report" merge --csv basic.bin -o x.bin
# Ignored, and said, is what does no harm.
status 0 "--color does not go with the report 'summary' as json and is ignored" "$report" --color always --format json basic.bin
status 0 "--color does not go with the format 'html' and is ignored" "$report" --color never --format html basic.bin
status 0 "--color does not go with the report 'merge' as table and is ignored" "$report" merge --color always basic.bin -o x.bin
rm x.bin
status 2 "--csv and --color exclude each other" "$report" --csv --color always basic.bin
status 2 "--csv and --color exclude each other" "$report" kernels --csv --color never basic.bin
status 0 "" "$report" kernels --csv --color auto basic.bin
status 0 "--force-overwrite does not go with the report 'summary' as nvprof and is ignored" "$report" --force-overwrite basic.bin
"$report" basic.bin | cmp -s - out || fail "what is ignored changes the report"
status 2 "--raw does not go with the report 'cuda_gpu_mem_size_sum'" "$report" cuda_gpu_mem_size_sum --raw basic.bin
for name in copies memory nccl unified apis streams info advice cuda_api_sum cuda_gpu_mem_time_sum \
    cuda_gpu_mem_size_sum nvtx_sum um_total_sum merge; do
    status 0 "--demangling off or :mangled does not go with the report '$name'" \
        "$report" $name --demangling off um.bin -o y.bin
    status 0 "--demangling off or :mangled does not go with the report '$name'" \
        "$report" $name:mangled um.bin -o z.bin
    rm y.bin z.bin
    status 2 ":base does not go with the report '$name'" "$report" $name:base basic.bin -o x.bin
done
for name in graphs losses ranks diff; do
    status 2 ":base does not go with the report '$name'" "$report" $name:base basic.bin basic.bin
done
[ -e x.bin ] && fail "an option that was refused has made a file"
status 2 "--per stream does not go with 'memory': the files do not know it by stream" \
    "$report" memory --per stream basic.bin
traced="kernels copies shapes lines stacks cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum \
    cuda_gpu_mem_size_sum cuda_gpu_sum" # of profiles or of traces
for name in $traced; do
    status 2 "--per stream goes with '$name' of traces alone: a profile does not know it by stream" \
        "$report" $name --per stream basic.bin
done
for option in "--per stream" "--since 1ms" "--until 1ms"; do
    status 1 "nothere: cannot be opened: No such file or directory" "$report" kernels $option nothere
done
status 2 "'day' is no value of --per" "$report" streams --per day basic.bin
"$report" --live --details --since 1s --raw basic.bin 2>err || fail "--live refuses an option"
status 2 "--per line does not go with 'kernels': see the reports lines and stacks" "$report" kernels --per line basic.bin
status 2 "--per module does not go with 'modules': see the report modules, and diff --per module" "$report" modules --per module basic.bin
for name in lines stacks; do
    status 2 "--per range goes with '$name' of traces alone: a profile does not know it by range" "$report" $name --per range basic.bin
done
for name in modules kernels trace; do
    status 2 "--per range does not go with '$name': see the reports lines and stacks of traces, and nvtx" \
        "$report" $name --per range basic.bin
done
status 1 "nothere: cannot be opened: No such file or directory" "$report" lines --per range nothere
status 2 "--per line is for reports" "$report" diff --per line --format html basic.bin multi.bin
status 0 "" "$report" diff --per line basic.bin multi.bin
status 0 "" "$report" diff --raw basic.bin basic.bin
status 0 "" "$report" --format html --raw --until 1s basic.bin

# Filtered are tables with names, by these; others stay as they are.
make_profiles full allocated nccl um
# filtered REPORT NAME FILE ROWS: so many of its lines have NAME
filtered()
{
    status 0 "" "$report" $1 --filter "$2" --format table "$3"
    [ "$(grep -c "  $2\|^$2" out)" -eq $4 ] || fail "$1 --filter $2: $(cat out)"
}
for name in losses ranks; do
    filtered $name vecAdd basic.bin 1
    sed '/^$/q' out >one
    "$report" $name --format table basic.bin | sed '/^$/q' | cmp -s - one || fail "$name --filter: $(cat one)"
done
status 0 "" "$report" diff --filter vecAdd basic.bin multi.bin
grep -qx 'All together:' out || fail "diff --filter: $(cat out)"
filtered nccl AllReduce nccl.bin 1
filtered memory pinned allocated.bin 2
filtered unified Host um.bin 1
filtered streams copies full.bin 1
status 2 "--filter does not go with the report 'um_total_sum'" "$report" um_total_sum --filter x um.bin
status 0 "" "$report" nccl --top 2 nccl.bin
grep -q '(3 others)  -  ' out || fail "nccl --top does not call the others so: $(cat out)"

# A column that is not there is refused before anything is printed.
for name in "" kernels "--per process"; do
    status 2 "'weight' is no column of " "$report" $name --sort weight basic.bin multi.bin
    [ -s out ] && fail "$name --sort weight: $(cat out)"
done

# Of whole profiles, whatever the report.
"$report" --format html multi.bin >one
"$report" ranks --format html multi.bin | cmp -s one - || fail "the page of ranks is another"

# Nothing stands behind the last column, also where the one behind it is left out.
make_profiles merged
"$report" info merged.bin | grep -q ' $' && fail "a table has blanks at line ends"

# Nothing follows the last row of a CSV; what is said beside the rows is before them, or on standard error.
make_profiles sampled uncertain gpuonly
for name in sampled uncertain um gpuonly basic; do
    "$report" --csv $name.bin >out 2>&1
    tail -n 1 out | grep -q '^".*"$' || fail "--csv $name: $(tail -n 1 out)"
    grep -q ' timed, [0-9]* not' out || fail "--csv $name: it is not said what was timed"
    "$report" --csv $name.bin >out 2>err
    grep -q ' timed, ' out && fail "--csv $name: lines that are no rows on standard output"
    grep -q ' timed, ' err || fail "--csv $name: it is not said on standard error what was timed"
done
"$report" --csv um.bin 2>err | awk -F, '/Host To Device/ { for (i = 3; i < 8; i++) if ($i !~ /^[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9][a-zA-Z]+$/) bad = 1 } END { exit bad }' ||
    fail "sizes do not have six decimals"
status 0 "" "$report" --print-gpu-summary basic.bin
grep -q 'API' out && fail "--print-gpu-summary: $(cat out)"
status 0 "" "$report" --print-api-summary basic.bin
grep -q 'GPU activities\|No kernels' out && fail "--print-api-summary: $(cat out)"
status 0 "" "$report" --print-gpu-summary --print-api-summary basic.bin
"$report" basic.bin | cmp -s - out || fail "both summaries are not the summary"
status 2 "--print-gpu-summary does not go with the report 'kernels'" "$report" kernels --print-gpu-summary basic.bin

# Order of the files does not matter.
"$report" basic.bin multi.bin >one
"$report" multi.bin basic.bin >two
cmp -s one two || fail "the order of the files matters"

# Traces.
make_trace=$(dirname "$make_profile")/make_golden_trace
"$make_trace" basic basic.trace && "$make_trace" hostile hostile.trace || exit 99
status 1 "basic.bin: is a summary, no trace: --trace-file records one" "$report" trace basic.bin
status 1 "basic.trace: is a trace, no summary: the report trace prints it" "$report" memory basic.trace
# A trace is summarised: the table is nvprof's of the same run.
"$report" basic.trace | sed '/^$/,$d' >out
"$report" basic.bin | sed '/^$/,$d' | cmp -s - out || fail "the summary of a trace: $(cat out)"
status 0 "" "$report" basic.trace
grep -q '^======== 9 operations: 9 timed, 0 not$' out || fail "the summary of a trace: $(cat out)"
status 0 "9 timed, 0 not" "$report" --csv basic.trace
status 0 "" "$report" apis --format csv basic.trace
[ "$(wc -l <out)" -eq 6 ] || fail "apis of a trace: $(cat out)"
status 0 "" "$report" losses basic.bin
status 0 "" "$report" cuda_api_sum --since 500us basic.trace
status 0 "" "$report" --per stream basic.trace
grep -q '^Summary:' out || fail "the summary of a trace by stream: $(cat out)"
status 2 "--details does not go with the report 'summary' of traces" "$report" --details basic.trace
status 1 "text: is not a trace of cutrace" "$report" trace text
status 0 "" "$report" --format html basic.bin basic.trace
status 1 "basic.trace: is of process 4711, and none of the profiles is" "$report" --format html multi.bin basic.trace
status 2 "--format sqlite needs -o FILE" "$report" --format sqlite basic.trace
status 2 "'soon' is no value of --since: such as 1.5s, 20ms or 300us" "$report" trace --since soon basic.trace
status 2 "'1d' is no value of --until" "$report" trace --until 1d basic.trace
status 2 "'.s' is no value of --until" "$report" trace --until .s basic.trace
status 2 "--since is later than --until" "$report" trace --since 1s --until 1ms basic.trace
status 1 "basic.trace: is a trace, which the report would overwrite" "$report" -o basic.trace \
    trace basic.trace
# Cut in the midst of a block, and between two; a trace that has no record left is no empty one.
head -c 200 basic.trace >short.trace
status 1 "short.trace: has nothing to show: the file ends before its first record" "$report" trace short.trace
grep -q "Warning: short.trace: ends in the midst of a block" out || fail "short.trace: $(cat out)"
head -c 64 basic.trace >header.trace
for output in "trace" "--format chrome" "kernels"; do
    status 1 "header.trace: has nothing to show" "$report" $output header.trace
done
head -c $(($(wc -c <basic.trace) - 8)) basic.trace >most.trace
status 0 "" "$report" trace most.trace
grep -q "Warning: most.trace: ends in the midst of a block" out || fail "most.trace: $(cat out)"
# Open at once are all in the second reading only, as if the others had gone since the first.
for csv in "" --csv; do
    (ulimit -n 8; exec "$report" $csv trace $(printf 'basic.trace %.0s' 1 2 3 4 5 6 7 8 9)) >out 2>err
    got=$?
    [ $got -eq 1 ] || fail "trace $csv of files that go: status $got"
    grep -q "basic.trace: cannot be opened: Too many open files" err || fail "trace $csv of files that go: $(cat err)"
    grep -q vecAdd out || fail "trace $csv of files that go: $(cat out)"
done
status 0 "" "$report" trace --since 500us --until "1.2 ms" basic.trace
[ "$(grep -c vecAdd out)" -eq 2 ] || fail "--since, --until: $(cat out)"
cp out one
status 0 "" "$report" trace --since .5ms --until 1.2ms basic.trace
cmp -s one out || fail "--since without a 0 before the point: $(cat out)"
status 0 "" "$report" trace --format csv --until 1us basic.trace
[ "$(wc -l <out)" -eq 3 ] || fail "--until with csv: $(cat out)"
status 2 "--top does not go with the report 'trace' as nvprof" "$report" trace --format nvprof --top 1 basic.trace
status 0 "--color does not go with the report 'trace' as nvprof and is ignored" "$report" trace --color always basic.trace
status 2 "--raw does not go with the report 'trace'" "$report" trace --raw basic.trace
status 2 ":base does not go with the format 'sqlite'" "$report" trace:base --format sqlite -o x.db basic.trace
status 2 "--filter does not go with the format 'chrome'" "$report" --format chrome --filter x basic.trace
status 0 "" "$report" trace --filter foo1 --top 5 basic.trace
[ "$(grep -c '^kernel' out)" -eq 1 ] || fail "trace --filter: $(cat out)"
"$report" trace --csv --sort=-start --top 1 basic.trace >out 2>err
[ "$(grep -c '^"copy"\|^"kernel"\|^"set"' out)" -eq 1 ] || fail "trace --csv --top: $(cat out)"
# No column is left out for what the first rows have not.
"$make_trace" late late.trace || exit 99
status 0 "" "$report" trace --format table late.trace
grep -q '  Size  *Throughput  Source  *Target  ' out || fail "columns of later rows: $(head -n 3 out)"
tail -n 1 out | grep -q '64.000KB  21.845GB/s  Pinned  *Device  ' || fail "later rows: $(tail -n 1 out)"
# Reports of profiles, made of traces.
for name in $traced; do
    for per in gpu process host stream; do
        status 0 "" "$report" $name --per $per basic.trace
        status 0 "" "$report" $name --per $per hostile.trace
        LC_ALL=C grep -q '[^ -~]' out && fail "$name --per $per: raw bytes of names"
        grep -q '^hostile.trace: 1 operation without a duration is not there' out ||
            fail "$name --per $per: what is lost is not said"
    done
done
status 2 "--raw does not go with the report 'kernels' of traces as table" "$report" kernels --raw basic.trace
status 1 "basic.trace: does not say which rank it is of" "$report" kernels --per rank basic.trace
status 1 "basic.trace: is a trace, no summary" "$report" kernels basic.bin basic.trace
status 1 "basic.bin: is a summary, no trace" "$report" kernels basic.trace basic.bin
[ "$(grep -c vecAdd out)" -eq 1 ] || fail "the trace is not shown: $(cat out)"
status 1 "nothere: cannot be opened: No such file or directory" "$report" kernels nothere basic.trace
[ "$(grep -c vecAdd out)" -eq 1 ] || fail "a trace behind what is not there is not shown: $(cat out)"
"$make_trace" broken broken.trace || exit 99
status 1 "broken.trace: is damaged: a record makes no sense" "$report" kernels --per stream broken.trace
grep -q vecAdd out || fail "what comes before the damage is not shown"
head -c 60 basic.trace >no.trace
status 1 "no.trace: is truncated" "$report" kernels --per stream no.trace
cp basic.trace crc.trace && overwrite crc.trace 30 'xx'
status 1 "crc.trace: is damaged: its header is" "$report" kernels --per stream crc.trace
status 0 "" "$report" kernels --per stream most.trace
grep -q "^most.trace: ends in the midst of a block" out || fail "kernels of most.trace: $(cat out)"
"$make_trace" idle idle.trace || exit 99
status 0 "" "$report" cuda_kern_exec_sum idle.trace
# The function's name alone, in traces as in profiles.
"$make_trace" streams streams.trace || exit 99
for name in trace cuda_gpu_trace cuda_kern_exec_sum; do
    "$report" $name:base --format tsv streams.trace >out 2>err || fail "$name:base: status $?"
    grep -q '	vecAdd' out || fail "$name:base: $(cat out)"
    grep -q 'vecAdd(' out && fail "$name:base: arguments in $(cat out)"
done
status 0 "" "$report" --format chrome trace:base streams.trace
grep -q '"vecAdd"' out || fail "chrome: the names are not the functions'"
# What overlaps the window is in it, whole: vecAdd from 4.95 us to 526.22 us, and so on.
for window in "0 5us 1" "0 4us 0" "526.22us 600us 1" "526.3us 600us 0" "500us 1.2ms 2" "0 1s 3"; do
    set -- $window
    "$report" cuda_gpu_kern_sum --format csv --since $1 --until $2 --filter vecAdd basic.trace >out 2>err
    [ "$(awk -F, '/vecAdd/ { print $3 }' out)" = "${3#0}" ] || fail "from $1 to $2: $(cat out)"
done
status 0 "" "$report" trace hostile.trace
LC_ALL=C grep -q '[^ -~]' out && fail "trace: raw bytes of names"
"$report" trace --csv hostile.trace >out 2>err || fail "trace --csv: status $?"
tail -n 1 out | grep -q '^[0-9]' || fail "trace --csv: $(tail -n 1 out)"
grep -q "\"'=1+1\"" out || fail "trace --csv: a formula"
exit $failed
