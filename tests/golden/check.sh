# SPDX-License-Identifier: MIT
# Read by the tests of cutrace-report's command line, in the build directory: goes to a directory of
# its own, where $report and $make_profile can be run; the test ends with `exit $failed`.
srcdir=$(cd "${srcdir:-.}" && pwd)
report=$PWD/cutrace-report
make_profile=$PWD/tests/golden/make_profile
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99
failed=0

fail()
{
    printf 'FAIL: %s\n' "$*"
    failed=1
}

# make_profiles NAME...: each as NAME.bin
make_profiles()
{
    for profile in "$@"; do
        "$make_profile" "$profile" "$profile.bin" || exit 99
    done
}

# status STATUS WORDS COMMAND...: exits with STATUS and says WORDS on standard error, in one line
status()
{
    expected=$1 words=$2
    shift 2
    "$@" >out 2>err
    got=$?
    [ $got -eq "$expected" ] || fail "$*: status $got, not $expected: $(cat err)"
    if [ -z "$words" ]; then
        [ ! -s err ] || fail "$*: says $(cat err)"
    else
        grep -qF -- "$words" err || fail "$*: '$words' is not in: $(cat err)"
        [ "$(wc -l <err)" -eq 1 ] || fail "$*: says more than one line: $(cat err)"
    fi
}

# make_traces: each of $traces as NAME.trace
traces="basic pairs hostile none named ranges"
make_traces()
{
    for trace in $traces; do
        "${make_profile%/*}/make_golden_trace" "$trace" "$trace.trace" || exit 99
    done
}

# export_trace NAME FORMAT: as NAME.FORMAT, and what the report says of it as NAME.rows
export_trace()
{
    "$report" --format "$2" -o "$1.$2" "$1.trace" || fail "$1: $2: status $?"
    "$report" trace --print-gpu-trace --print-api-trace --format ndjson "$1.trace" >"$1.rows" 2>/dev/null ||
        fail "$1: rows: status $?"
}
