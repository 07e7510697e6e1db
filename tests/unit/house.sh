#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The house in figures: rooms and their files, circles of includes, long functions, words. Each figure has a bound;
# layers.sh has the order of the rooms.
set -u
cd "${srcdir:-.}" || exit 99
failed=0

# NAME VALUE MOST
figure() {
    printf '%-52s %6d of %6d\n' "$1" "$2" "$3"
    [ "$2" -le "$3" ] || { echo "FAIL: $1: $2, at most $3"; failed=1; }
}

# Modules, a .c and a .h of one name, that reach each other by includes within their folder: the most in one circle.
largest_circle() {
    grep -Eo "#include \"${1##*/}/[a-z_0-9]+" "$1"/*.[ch] /dev/null | awk -F: '
        { m = $1; sub(/.*\//, "", m); sub(/\..$/, "", m); n = $2; sub(/.*\//, "", n)
          if (m != n) { node[m]; node[n]; reach[m, n] = 1 } }
        END {
            for (k in node) for (i in node) if ((i, k) in reach) for (j in node) if ((k, j) in reach) reach[i, j] = 1
            most = 1
            for (i in node) { count = 0; for (j in node) count += i == j || ((i, j) in reach && (j, i) in reach)
                              if (count > most) most = count }
            print most
        }'
}

for room in src/*/ tools/*/ tools/report/*/; do
    room=${room%/}
    files=$(find "$room" -maxdepth 1 \( -name '*.[ch]' -o -name '*.def' \) | wc -l)
    [ "$files" -gt 0 ] || continue
    figure "$room: files" "$files" 45
    figure "$room: modules in a circle of includes" "$(largest_circle "$room")" 2
done

# A .c and a .h of one room are one module; each program has its main.c.
figure "modules of one name in two rooms" "$(find src tools -name '*.[ch]' ! -name main.c | sed -E 's|\.[ch]$||' |
    sort -u | sed 's|.*/||' | sort | uniq -d | wc -l)" 0

figure "includes that climb" "$(srcdir=. sh tests/unit/layers.sh | wc -l)" 0

mapfile -t sources < <(find src include tools -name '*.[ch]')

# Between the braces that stand at the beginnings of lines; tables of data have a = before theirs.
figure "functions of more than 60 lines" "$(awk '
    FNR == 1 { begin = 0 }
    /^\{/ { begin = FNR } /^\}/ { if (begin && FNR - begin > 61) { print FILENAME ":" begin > "/dev/stderr"; n++ }; begin = 0 }
    END { print n + 0 }' "${sources[@]}")" 0
figure "lines of the longest file" "$(wc -l "${sources[@]}" | grep -v ' total$' | sort -n | tail -1 | awk '{ print $1 }')" 700
figure "lines of src/time" "$(cat src/time/*.[ch] src/time/*.def | wc -l)" 2600

figure "words of README.md" "$(wc -w <README.md)" 900
figure "words of documents" "$(cat doc/*.md doc/internals/*.md | wc -w)" 49000

# DIR...: words of comments, how often "what" is among them, comments that begin without a noun
comments() {
    find "$@" \( -name '*.[ch]' -o -name '*.def' \) -exec cat {} + | awk '
        { line = $0
          while (line != "") {
              if (!inside) { at = index(line, "/*"); if (!at) break; line = substr(line, at + 2); inside = fresh = 1 }
              at = index(line, "*/"); text = at ? substr(line, 1, at - 1) : line
              line = at ? substr(line, at + 2) : ""; if (at) inside = 0
              gsub(/[^A-Za-z\047]+/, " ", text); n = split(text, word, " ")
              for (i = 1; i <= n; i++) {
                  words++; if (tolower(word[i]) == "what") what++
                  if (fresh) { bad += word[i] == "Of" || word[i] == "What" || (word[i] == "The" && word[i + 1] == "same"); fresh = 0 }
              }
          } }
        END { print words, what + 0, bad + 0 }'
}
for part in src include tools; do
    read -r words what bad < <(comments "$part")
    figure "$part: \"what\" in 10,000 words of comments" $((10000 * what / words)) 15
    figure "$part: comments that begin without a noun" "$bad" 0
done

# Tests that are named where make does not look for them
for test in $(grep -rhoE 'tests/(unit/unit|e2e/life)_[a-z_0-9]+' tests/*/run tests/*/*.sh doc CONTRIBUTING.md | sort -u); do
    [ -e "$test.c" ] || [ -e "${test/life_/life/life_}.c" ] || { echo "FAIL: there is no $test"; failed=1; }
done
exit $failed
