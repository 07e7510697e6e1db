#!/bin/bash
# SPDX-License-Identifier: MIT
# Exports as Trace Event JSON are what the format's document says, to a reader that is not ours.
. "${srcdir:-.}/tests/golden/check.sh"
command -v python3 >/dev/null || { echo 'python3 is not there'; exit 77; }

make_traces
for trace in $traces; do
    export_trace $trace chrome
    python3 "$srcdir/tests/golden/chrome.py" $trace.chrome $trace.rows || failed=1
done

# Arrows of several files: no two have one number, though the files count alike.
mkdir again && cp basic.trace pairs.trace again || exit 99
several="basic.trace pairs.trace again/basic.trace again/pairs.trace"
"$report" --format chrome -o several.chrome $several 2>err ||
    fail "several files: $(cat err)"
"$report" trace --print-gpu-trace --print-api-trace --format ndjson $several >several.rows 2>err ||
    fail "several files: rows: $(cat err)"
python3 "$srcdir/tests/golden/chrome.py" several.chrome several.rows || failed=1
exit $failed
