#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Rules of prose that a machine can check: the README is short, each document is in the index, each term of the glossary
# is used, and lines that are read as text fit a terminal.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
failed=0

fail() { echo "FAIL: $*"; failed=1; }

words=$(wc -w <"$srcdir/README.md") lines=$(wc -l <"$srcdir/README.md")
[ "$words" -le 900 ] || fail "README.md has $words words, 900 are enough"
[ "$lines" -le 150 ] || fail "README.md has $lines lines, 150 are enough"

for file in README.md doc/README.md doc/GLOSSARY.md doc/using.md; do
    awk -v file="$file" 'length($0) > 120 && !/^(\||    )/ { print file ":" NR ": " length($0) " columns"; bad = 1 } END { exit bad }' \
        "$srcdir/$file" || failed=1
done

for file in "$srcdir"/doc/*.md; do
    name=${file##*/}
    [ "$name" = README.md ] || grep -qF "]($name)" "$srcdir/doc/README.md" || fail "doc/README.md lacks $name"
done
for name in $(grep -o '](\([A-Za-z./_-]*\))' "$srcdir/doc/README.md" | sed 's/](\(.*\))/\1/'); do
    [ -e "$srcdir/doc/$name" ] || fail "doc/README.md: there is no $name"
done

# Each word of a term's cell stands in a header of the library, the simulated device or the tools.
terms=$(sed -n 's/^| \([^|]*\) | .*/\1/p' "$srcdir/doc/GLOSSARY.md" | grep -v '^term$\|^---' | tr ',' '\n' | sed 's/^ *//')
[ "$(wc -l <<<"$terms")" -ge 30 ] || fail "the glossary was not understood"
for word in $(tr ' ' '\n' <<<"$terms" | sort -u); do
    grep -rqiE --include='*.[ch]' --include='*.def' "(^|[^a-z])${word}s?([^a-z]|$)" \
        "$srcdir"/{src,include,tools,tests/e2e,tests/sim} || fail "doc/GLOSSARY.md: nobody speaks of '$word'"
done
exit $failed
