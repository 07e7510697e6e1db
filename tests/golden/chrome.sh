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
exit $failed
