#!/bin/bash
# SPDX-License-Identifier: MIT
# Mistakes of those who type, and their answers: one line, which says how to go on, and a status.
# Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"
build=${report%/*}
PATH=$build:$PATH
make_profiles basic
"$build/tests/golden/make_golden_trace" basic basic.trace || exit 99
: >empty
echo hello >text
mkdir dir
printf 'SQLite format 3\0and more of that' >theirs.sqlite
cp theirs.sqlite theirs.nsys-rep
printf '#!/no/such/interpreter\n' >script
chmod +x script
rows=0
export ASAN_OPTIONS=detect_leaks=0 # a launcher that refuses ends at once, whatever it holds

# answered STATUS COMMAND LINE: exactly that on standard error; a line that ends in ... goes on
answered()
{
    rows=$((rows + 1))
    timeout 60 bash -c "$2" >out 2>err </dev/null
    got=$?
    [ $got -eq "$1" ] || fail "$2: status $got, not $1"
    [ "$(wc -l <err)" -eq 1 ] || fail "$2: not one line: $(cat err)"
    case $(cat err) in
    "$3") ;;
    "${3%...}"*) [ "$3" != "${3%...}" ] || fail "$2: $(cat err)" ;;
    *) fail "$2: $(cat err)" ;;
    esac
}

# table: lines STATUS | COMMAND | LINE
table()
{
    while IFS='|' read -r code command line; do
        [ -z "$line" ] || answered $code "$(echo $command)" "${line# }"
    done
}

set -f # patterns of commands are the commands'
table <<'END'
125 | cutrace | cutrace: no program is given (try --help)
125 | cutrace -o x.bin | cutrace: no program is given (try --help)
125 | cutrace --nonsense ./app | cutrace: unrecognized option '--nonsense' (try --help)
125 | cutrace --quit ./app | cutrace: unrecognized option '--quit' (did you mean --quiet?)
125 | cutrace --profile-from-strat=off ./app | cutrace: unrecognized option '--profile-from-strat=off' (did you mean --profile-from-start?)
125 | cutrace --Csv ./app | cutrace: unrecognized option '--Csv' (did you mean --csv?)
125 | cutrace -csv ./app | cutrace: unrecognized option '-csv' (did you mean --csv?)
125 | cutrace --print-gpu ./app | cutrace: ambiguous option '--print-gpu': --print-gpu-trace, --print-gpu-summary
125 | cutrace -x ./app | cutrace: invalid option -- 'x' (try --help)
125 | cutrace -o | cutrace: option '--export-profile' requires an argument (try --help)
125 | cutrace --csv=yes ./app | cutrace: option '--csv' takes no argument (try --help)
125 | cutrace --timeout soon ./app | cutrace: 'soon' is no value of --timeout: a number such as 10
125 | cutrace --sample 0 ./app | cutrace: '0' is no value of --sample: a whole number from 1 on
125 | cutrace --events-in-use 7 ./app | cutrace: '7' is no value of --events-in-use: a whole number from 64 on
125 | cutrace --time some ./app | cutrace: 'some' is no value of --time: auto or all
125 | cutrace --budget lots ./app | cutrace: 'lots' is no value of --budget: such as 2% or 0.5%
125 | cutrace --devices a,b ./app | cutrace: 'a,b' is no value of --devices: numbers with commas between
125 | cutrace --kernels '[' ./app | cutrace: '[' is no value of --kernels: parts of names or patterns, with commas between
125 | cutrace --graph-nodes all ./app | cutrace: 'all' is no value of --graph-nodes: off, on, auto or N
125 | cutrace -o dir ./app | cutrace: dir: cannot be written: Is a directory
125 | cutrace -o text ./app | cutrace: text: is there already; -f overwrites it
125 | cutrace -o no/such/x ./app | cutrace: no/such/x: cannot be written: No such file or directory
125 | cutrace -o %z.bin ./app | cutrace: --export-profile '%z.bin': after % comes p, h, r, q{VARIABLE} or %
125 | cutrace --csv --details ./app | cutrace: --csv and --details exclude each other
125 | cutrace -i basic.bin ./app | cutrace: -i runs no program, but './app' is given
125 | cutrace -i basic.bin --sample 10 | cutrace: -i runs no program, and --sample would change nothing
1 | cutrace -i text | cutrace-report: text: is not a summary of cutrace
127 | cutrace no-such-program | cutrace: no-such-program: command not found
127 | cutrace ./no-such-program | cutrace: ./no-such-program: No such file or directory
127 | cutrace train.py | cutrace: train.py: No such file or directory
127 | cutrace '' | cutrace: '': command not found
127 | cutrace ./script | cutrace: ./script: the interpreter that it names was not found
126 | cutrace ./text | cutrace: ./text: Permission denied
126 | cutrace ./dir | cutrace: ./dir: Is a directory
126 | cutrace basic.bin | cutrace: basic.bin: is a profile or a trace, no program: cutrace-report prints it
126 | cutrace ./basic.trace | cutrace: ./basic.trace: is a profile or a trace, no program: cutrace-report prints it
127 | cutrace ctrl list | cutrace: ctrl: command not found (did you mean cutrace ctl?)
127 | cutrace report basic.bin | cutrace: report: command not found (did you mean cutrace-report?)
1 | cutrace ctl | cutrace: ctl takes a process's number and a command (try cutrace ctl --help)
1 | cutrace ctl app status | cutrace: 'app' is no process's number: cutrace ctl PID COMMAND, or cutrace ctl list
1 | cutrace ctl 0 status | cutrace: '0' is no process's number: cutrace ctl PID COMMAND, or cutrace ctl list
1 | cutrace ctl status $$ | cutrace: 'status' is no process's number: cutrace ctl PID COMMAND, or cutrace ctl list
1 | cutrace ctl lsit | cutrace: 'lsit' is no process's number: cutrace ctl PID COMMAND, or cutrace ctl list
1 | cutrace ctl 2147483647 status | cutrace: there is no process 2147483647
1 | cutrace ctl $$ stat | cutrace: 'stat' is no command of cutrace ctl (did you mean status?)
1 | cutrace ctl $$ pause | cutrace: 'pause' is no command of cutrace ctl (try cutrace ctl --help)
1 | cutrace ctl $$ top --dealy 2 | cutrace: unrecognized option '--dealy' (did you mean --delay?)
1 | cutrace ctl $$ top -d often | cutrace: 'often' is no value of --delay: a number such as 10
125 | cutrace profile --smaple=none ./app | cutrace: '--smaple=none' is no option of nsys profile that is known here (did you mean --sample?)
125 | cutrace profile --trace | cutrace: nsys profile: '--trace' requires an argument
125 | cutrace profile --stats=maybe ./app | cutrace: 'maybe' is no value of --stats: true or false
125 | cutrace profile -c kernel ./app | cutrace: 'kernel' is no value of --capture-range here: cudaProfilerApi, nvtx or none
1 | cutrace stats nothing | cutrace-report: nothing: cannot be opened: No such file or directory
1 | cutrace stats theirs.nsys-rep | cutrace-report: theirs.nsys-rep: is not a summary of cutrace, but a report of Nsight Systems: nsys stats reads it
2 | cutrace stats -r gpu_kern_sum basic.bin | cutrace-report: 'gpu_kern_sum' is no report (did you mean cuda_gpu_kern_sum?)
2 | cutrace stats -f xls basic.bin | cutrace-report: 'xls' is no format: there are table, ...
125 | cutrace stats --reprot kernels basic.bin | cutrace: '--reprot' is no option of nsys stats that is known here (did you mean --report?)
125 | cutrace export -t hdf5 basic.trace | cutrace: export: there is no --type hdf5 here: sqlite, ...
2 | cutrace-report | cutrace-report: no file is given, and there is no summary.bin (try --help)
2 | cutrace-report --nonsense basic.bin | cutrace-report: unrecognized option '--nonsense' (try --help)
2 | cutrace-report --fromat=csv basic.bin | cutrace-report: unrecognized option '--fromat=csv' (did you mean --format?)
2 | cutrace-report -format csv basic.bin | cutrace-report: unrecognized option '-format' (did you mean --format?)
2 | cutrace-report --print basic.bin | cutrace-report: ambiguous option '--print': --print-summary, ...
2 | cutrace-report -x basic.bin | cutrace-report: invalid option -- 'x' (try --help)
2 | cutrace-report basic.bin -o | cutrace-report: option '--log-file' requires an argument (try --help)
2 | cutrace-report --csv=1 basic.bin | cutrace-report: option '--csv' takes no argument (try --help)
2 | cutrace-report -u weeks basic.bin | cutrace-report: 'weeks' is no value of --normalized-time-unit: auto, col, ns, us, ms or s (try --help)
2 | cutrace-report --top -3 basic.bin | cutrace-report: '-3' is no value of --top: a whole number from 1 on (try --help)
2 | cutrace-report --columns '' basic.bin | cutrace-report: '' is no value of --columns: it is empty (try --help)
2 | cutrace-report --sort tiem basic.bin | cutrace-report: 'tiem' is no column of summary (did you mean time?)
2 | cutrace-report --sort weight basic.bin | cutrace-report: 'weight' is no column of summary: there are type, ...
2 | cutrace-report --filter '(' basic.bin | cutrace-report: --filter '(': Unmatched ( ...
2 | cutrace-report --format jsno basic.bin | cutrace-report: 'jsno' is no format (did you mean json?)
2 | cutrace-report --format yaml basic.bin | cutrace-report: 'yaml' is no format: there are table, ...
2 | cutrace-report kernles basic.bin | cutrace-report: 'kernles' is no report (did you mean kernels?)
2 | cutrace-report basic.bin kernles | cutrace-report: 'kernles' is no report (did you mean kernels?)
2 | cutrace-report Kernels basic.bin | cutrace-report: 'Kernels' is no report (did you mean kernels?)
2 | cutrace-report kernels:bsae basic.bin | cutrace-report: 'kernels:bsae': behind a report's name comes :base or :mangled
2 | cutrace-report everything basic.bin | cutrace-report: 'everything' is no report: there are summary, ...
1 | cutrace-report nothing.bin | cutrace-report: nothing.bin: cannot be opened: No such file or directory
1 | cutrace-report '' | cutrace-report: '': cannot be opened: No such file or directory
1 | cutrace-report empty | cutrace-report: empty: is empty
1 | cutrace-report - | cutrace-report: standard input: is empty
1 | cutrace-report dir | cutrace-report: dir: is a directory
1 | cutrace-report theirs.sqlite | cutrace-report: theirs.sqlite: is not a summary of cutrace, but an SQLite database, as nsys and --format sqlite write
1 | cutrace-report /bin/true | cutrace-report: /bin/true: is not a summary of cutrace, but a program or a library: cutrace runs one
1 | cutrace-report trace basic.bin | cutrace-report: basic.bin: is a summary, no trace: --trace-file records one
1 | cutrace-report diff basic.bin basic.trace | cutrace-report: basic.trace: is a trace, no summary: the report trace prints it
2 | cutrace-report diff basic.bin | cutrace-report: diff needs OLD and NEW, or OLD... -- NEW... (try --help)
2 | cutrace-report merge basic.bin | cutrace-report: merge needs -o FILE (try --help)
2 | cutrace-report --format sqlite basic.trace | cutrace-report: --format sqlite needs -o FILE (try --help)
2 | cutrace-report --csv --format json basic.bin | cutrace-report: --csv does not go with the report 'summary' as json (try --help)
2 | cutrace-report trace --since 2s --until 1s basic.trace | cutrace-report: --since is later than --until (try --help)
1 | cutrace-report -o basic.bin basic.bin | cutrace-report: basic.bin: is a profile, which the report would overwrite
1 | cutrace-report -o dir basic.bin | cutrace-report: dir: Is a directory
END

# Whatever the environment says, the program runs: its status is 0.
if [ -z "${BUILD_SANITIZERS-}" ]; then
    table <<'END'
0 | CUTRACE_SAMPEL=10 cutrace --log-file log true | cutrace: CUTRACE_SAMPEL is no variable of cutrace (did you mean CUTRACE_SAMPLE?)
0 | CUTRACE_FOO=1 cutrace --log-file log true | cutrace: CUTRACE_FOO is no variable of cutrace (cutrace --help has them)
END
fi

# An option that is given twice is no mistake: scripts add theirs behind others'.
status 0 "" "$report" --format csv --format json basic.bin
grep -q '^{' out || fail "the last of two formats is not taken"
[ $rows -ge 90 ] || fail "$rows rows of the tables were tried"
exit $failed
