#!/bin/bash
# SPDX-License-Identifier: MIT
# Documents of Python stacks say what the report "stacks" says, to readers that are not ours.
. "${srcdir:-.}/tests/golden/check.sh"
command -v python3 >/dev/null || { echo 'python3 is not there'; exit 77; }
here=$srcdir/tests/golden
export HOME=$dir PPROF_TMPDIR=$dir

go=yes schema=$(npm root -g 2>/dev/null)/speedscope/dist/release/file-format-schema.json
command -v go >/dev/null || { echo 'SKIP pprof: go is not there'; go=; }
[ -s "$schema" ] && python3 -c 'import jsonschema' 2>/dev/null ||
    { echo "SKIP speedscope's schema: npm's speedscope or python3-jsonschema is not there"; schema=; }

make_profiles stacks inside none
for files in stacks.bin inside.bin none.bin; do
    for options in "" "--demangling off"; do
        "$report" stacks --format ndjson $options $files >rows 2>/dev/null || fail "$files: stacks: status $?"
        for format in collapsed speedscope pprof; do
            "$report" --format $format $options -o $format $files 2>err || fail "$files: $format: status $?"
            grep -q 'no known line\|No stacks' err || fail "$files: $format: says nothing of what has no stack: $(cat err)"
        done
        [ -z "$go" ] || go tool pprof -raw pprof >raw 2>/dev/null || fail "$files: go tool pprof: status $?"
        python3 "$here/stacks.py" rows collapsed speedscope "$schema" ${go:+raw} || fail "$files $options"
    done
done
"$report" --format collapsed stacks:base stacks.bin 2>/dev/null | grep -q ';g 5000$' || fail "names of functions alone"
"$report" --format pprof stacks.bin >again 2>/dev/null
"$report" --format pprof stacks.bin 2>/dev/null | cmp -s - again || fail "pprof is not the same twice"
gzip -t again || fail "pprof is not gzipped"
[ -z "$go" ] || go tool pprof -top -cum again 2>/dev/null | grep -q ' 100%  <module>$' || fail "go tool pprof takes a function's name for C++"
exit $failed
