#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Rules of prose that a machine can check: documents have bounds, each is in an index, links lead somewhere, files,
# functions and tests that are named exist, lines that are read as text fit a terminal, each term of the glossary is used.
set -u
srcdir=$(cd "${srcdir:-.}" && pwd)
cd "$srcdir" || exit 99
failed=0
shopt -s nullglob # laboratory notes are in the repository only
documents=(README.md CONTRIBUTING.md doc/*.md doc/internals/*.md)
notes=(lab/*.md)

fail() { echo "FAIL: $*"; failed=1; }

# FILE WORDS
at_most() {
    local words
    words=$(wc -w <"$1")
    [ "$words" -le "$2" ] || fail "$1 has $words words, $2 are enough"
}

at_most README.md 900
[ "$(wc -l <README.md)" -le 150 ] || fail "README.md has more than 150 lines"
at_most doc/accuracy.md 2500
at_most doc/containers.md 900
at_most doc/cost.md 2000
at_most doc/reliability.md 5000
for file in doc/internals/*.md; do at_most "$file" 2000; done

# Tables, and blocks of commands and their output, are as wide as they are.
for file in "${documents[@]}" "${notes[@]}"; do
    awk 'length($0) > 120 && !/^( *\||    )/ { print FILENAME ":" FNR ": " length($0) " columns"; bad = 1 } END { exit bad }' \
        "$file" || failed=1
done
awk -F ' [|] ' '/^[|]/ { for (i = 1; i <= NF; i++) if (length($i) > 170) { print FILENAME ":" FNR ": a cell of " length($i); bad = 1 } }
    END { exit bad }' doc/reliability.md || failed=1

! grep -nE '(^|[ =])lab/' Makefile.am {src,tools,bench,doc,examples}/Makemodule.am tests/{,*/}*.am || fail "a release has no laboratory notes"

# The subject of a sentence is a noun.
for file in "${documents[@]}" "${notes[@]}" doc/*.[157]; do
    ! grep -HnE '^((#+|[0-9]+\.| *[*-]) +)?(Of|What|The same)[ ,]|\| (Of|What|The same) ' "$file" || fail "$file: begins with a pronoun"
done

# Documents of a folder are in the index of that folder, and what an index names is there.
for index in doc/README.md doc/internals/README.md; do
    for file in "${index%/*}"/*.md; do
        [ "$file" = "$index" ] || grep -qF "](${file##*/})" "$index" || fail "$index lacks ${file##*/}"
    done
done
for file in doc/*.{1,5,7} doc/*.json doc/internals; do
    name=${file##*/}
    [[ $name =~ ^(.*)\.([157])$ ]] && name="${BASH_REMATCH[1]}(${BASH_REMATCH[2]})"
    grep -qF "$name" doc/README.md || fail "doc/README.md lacks $name"
done
for file in doc/*.{png,svg}; do
    grep -qF "${file##*/})" "${documents[@]}" || fail "$file: no document shows it"
done

# FILE ANCHOR: a heading as GitHub names it
has_heading() {
    sed -n 's/^#\{1,\} //p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g' | grep -qxF -- "$2"
}

links=0
for file in "${documents[@]}" "${notes[@]}"; do
    for link in $(grep -o ']([^) ]*)' "$file" | sed 's/^](//; s/)$//' | grep -v '^[a-z]*:'); do
        links=$((links + 1)) to=${link%%#*}
        to=${to:+${file%"${file##*/}"}$to} to=${to:-$file}
        [ -e "$to" ] || { fail "$file: there is no $link"; continue; }
        [ "${link#*#}" = "$link" ] || has_heading "$to" "${link#*#}" || fail "$file: no heading $link"
    done
done
[ $links -gt 50 ] || fail "links were not understood"

# A document of the code names functions and files that there are.
sources=$(find src include tools tests bench third_party examples -name '*.[ch]' -o -name '*.def' -o -name '*.js' -o -name '*.py' \
    -o -name '*.sh' -o -name '*.html')
code_names=$(cat $sources | grep -oE '\b[a-z][a-z0-9_]*\b' | sort -u)
pages=(doc/internals/*.md doc/accuracy.md doc/memory-order.md)
functions=$(grep -ohE '`[a-z][a-z0-9_]*\(\)`' "${pages[@]}" | tr -d '`()' | sort -u)
[ "$(wc -l <<<"$functions")" -gt 50 ] || fail "functions were not understood"
for name in $(comm -23 <(echo "$functions") <(echo "$code_names")); do
    fail "no function $name, which is in: $(grep -lF "\`$name()\`" "${pages[@]}" | tr '\n' ' ')"
done
for name in $(comm -23 <(grep -ohE '\b[a-z_0-9]+\.(c|h|def|js|py|sh|html)\b' "${pages[@]}" | sort -u) \
    <(printf '%s\n' $sources | sed 's,.*/,,' | sort -u)); do
    fail "no file $name, which is in: $(grep -lF "$name" "${pages[@]}" | tr '\n' ' ')"
done

# The figures of devices are those of figures.def: rows of the table, and `name` (number and number).
figures=$(sed -n '/^## Figures/,/^A device that/p' doc/accuracy.md | tr -d ,)
figures=$(sed -n 's/^| `\([a-z_.]*\)` | \([0-9]*\) | \([0-9]*\) |.*/\1 \2\n\1 \3/p' <<<"$figures"
    tr '\n' ' ' <<<"$figures" | grep -oE '`[a-z_.]+` \([0-9]+( and)?( [0-9]+)?\)' | tr -d '`()' | sed 's/ and / /' |
        awk '{ for (i = 2; i <= NF; i++) print $1, $i }')
[ "$(wc -l <<<"$figures")" -gt 40 ] || fail "the figures were not understood"
while read -r name ns; do
    macro=FIGURE
    [ "${name#node.}" = "$name" ] || macro=NODE_FIGURE
    grep -qE "^$macro\(${name#node.}, [^\"]*[ ,]$ns," src/time/figures.def || fail "doc/accuracy.md: no $name of $ns in figures.def"
done <<<"$figures"

# And a promise names tests.
tests=$(grep -ohE '`((life|launch|nccl|unit)_[a-z_]+|check-[a-z-]+|tests/[a-z0-9_./-]*)`' doc/reliability.md | tr -d '`' | sort -u)
[ "$(wc -l <<<"$tests")" -gt 50 ] || fail "tests were not understood"
rules=$(cat Makefile.am tests/*.am tests/*/*.am)
for name in $tests; do
    grep -qE "(^|[^a-z0-9_-])${name##*/}([^a-z0-9_-]|$)" <<<"$rules" || [ -e "$name" ] || fail "doc/reliability.md: no test $name"
done

# Each word of a term's cell stands in a header of the library, the simulated device or the tools.
terms=$(sed -n 's/^| \([^|]*\) | .*/\1/p' doc/GLOSSARY.md | grep -v '^term$\|^---' | tr ',' '\n' | sed 's/^ *//')
[ "$(wc -l <<<"$terms")" -ge 30 ] || fail "the glossary was not understood"
for word in $(tr ' ' '\n' <<<"$terms" | sort -u); do
    grep -rqiE --include='*.[ch]' --include='*.def' "(^|[^a-z])${word}s?([^a-z]|$)" \
        {src,include,tools,tests/e2e,tests/sim} || fail "doc/GLOSSARY.md: nobody speaks of '$word'"
done
exit $failed
