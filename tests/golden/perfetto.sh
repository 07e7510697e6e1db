#!/bin/bash
# SPDX-License-Identifier: MIT
# Exports for Perfetto are what its schema says, to a decoder that is not ours.
. "${srcdir:-.}/tests/golden/check.sh"
schema=$srcdir/third_party/perfetto
for reader in python3 protoc; do
    command -v $reader >/dev/null || { echo "$reader is not there"; exit 77; }
done

make_traces
"$report" --format perfetto basic.trace 2>&1 >/dev/null | grep -q 'was left out' && exit 77
for trace in $traces; do
    export_trace $trace perfetto
    protoc --proto_path="$schema" --decode=perfetto.protos.Trace track_event.proto \
        <$trace.perfetto >text || fail "$trace: protoc: status $?"
    python3 "$srcdir/tests/golden/perfetto.py" text $trace.rows || failed=1
done
exit $failed
