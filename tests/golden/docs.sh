#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/format.md lists every member of the files' structures where their headers put it, every
# section, loss and direction, cutrace-format(5) the sections; the manual page of the report has the losses, and the options and variables of
# its help.
srcdir=${srcdir:-.}
header=$srcdir/include/cutrace/format.h
trace=$srcdir/include/cutrace/trace.h
page=$srcdir/doc/cutrace-report.1
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
failed=0

# same WHAT: $dir/code and $dir/text are equal, and there was something to compare
same()
{
    [ -s "$dir/code" ] || { echo "FAIL: $1: nothing found in the code"; failed=1; }
    diff "$dir/code" "$dir/text" || { echo "FAIL: $1: < code, > text"; failed=1; }
}

# Offsets by adding up: the format has no padding, which its assertions make sure of.
awk '
    BEGIN { split("char 1 uint8_t 1 uint16_t 2 uint32_t 4 int32_t 4 uint64_t 8 double 8", w)
            for (i = 1; i in w; i += 2) size[w[i]] = w[i + 1]
            size["ct_file_commit"] = 32
            count["CT_FILE_MAGIC_BYTES"] = 8; count["CT_FILE_LOSSES"] = 16
            count["CT_FILE_IDLES"] = 8; count["CT_FILE_UNIFIED_CAUSES"] = 8 }
    /^struct ct_(file_[a-z]*|trace_header|trace_block) \{/ { name = $2; at = 0; next }
    /^}/ { name = "" }
    name && match($0, /^    (struct )?[a-z0-9_]+ [a-z0-9_]+(\[[^;]*\])?;/) {
        line = substr($0, 5, RLENGTH - 5); sub(/^struct /, "", line)
        split(line, part, / /); type = part[1]; member = part[2]; n = 1
        if (match(line, /\[.*\]/)) {
            n = substr(line, RSTART + 1, RLENGTH - 2); sub(/\[.*/, "", member)
            if (n in count) n = count[n]
        }
        print name, at, member, type
        at += size[type] * (n + 0) }' "$srcdir"/include/cutrace/format*.h "$trace" >"$dir/code"
awk -F'|' '/^### `ct_/ { split($0, h, "`"); name = h[2] }
    name && $2 ~ /^ [0-9]+ $/ && $3 ~ /^ `/ {
        gsub(/[ `]/, "", $2); gsub(/[ `]/, "", $3); gsub(/[ `]|\[.*/, "", $4)
        print name, $2, $3, $4 }' "$srcdir/doc/format.md" >"$dir/text"
sort -o "$dir/code" "$dir/code"
sort -o "$dir/text" "$dir/text"
same "members in format.md"

sed -n 's/^    CT_SECTION_\([A-Z]*\) = \([0-9]*\),.*/\2 \1/p' "$header" | tr A-Z a-z >"$dir/code"
sed -n 's/^| \([0-9]*\) | \([a-z]*\) | `.*/\1 \2/p' "$srcdir/doc/format.md" >"$dir/text"
same "sections in format.md"

# The manual page has them by number and name, and the blocks of the trace.
sort -n "$dir/text" >"$dir/code"
sed -n 's/^    CT_TRACE_\([A-Z]*\) = \([0-9]*\),.*/\2 \1/p' "$trace" | grep -v 'PLAIN\|LZ4' | tr A-Z a-z >>"$dir/code"
sed -n 's/^\.BR \([a-z]*\) " (\([0-9]*\))"$/\2 \1/p' "$srcdir/doc/cutrace-format.5" >"$dir/text"
same "sections and blocks in cutrace-format.5"

sed -n '/^#define CT_LOSSES/,/^$/s/^    X([A-Z_]*, \([01]\), "\(.*\)").*/\1 \2/p' "$header" |
    awk '{ print NR - 1, $0 }' >"$dir/code"
sed -n 's/^| \([0-9]*\) | \([^|]*[a-zA-Z]\) | \(yes\|no\) |$/\1 \3 \2/p' "$srcdir/doc/format.md" |
    sed 's/^\([0-9]*\) yes /\1 1 /; s/^\([0-9]*\) no /\1 0 /' >"$dir/text"
same "losses in format.md"

sed -n '/^#define CT_IDLES/,/^$/s/^    X([A-Z_]*, "\(.*\)").*/\1/p' "$header" | awk '{ print NR - 1, $0 }' >"$dir/code"
sed -n '/^| idle /,/^$/s/^| \([0-9]*\) | \(.*\) |$/\1 \2/p' "$srcdir/doc/format.md" >"$dir/text"
same "reasons to be idle in format.md"

sed -n '/^#define CT_MEMORIES/,/^$/s/^    X([A-Z_]*, "\(.*\)").*/\1/p' "$header" >"$dir/code"
sed -n '/^Copies of a batch/,/^$/p' "$srcdir/doc/format.md" | tr '\n' ' ' | sed 's/.*CUPTI does: //; s/\. *$//; s/, */\n/g' >"$dir/text"
echo >>"$dir/text"
same "kinds of memory in format.md"

sed -n '/^#define CT_LOSSES/,/^$/s/^    X([A-Z_]*, [01], "\(.*\)").*/\1/p' "$header" >"$dir/code"
sed -n '/^\.SS Operations without a time/,/^\.SH/s/^\.I //p' "$page" >"$dir/text"
same "losses in cutrace-report.1"

sed -n 's/.*say(x, "\([a-z_]*\)".*/\1/p' "$srcdir/tools/report/reports/advice.c" >"$dir/code"
sed -n '/^Its subjects:/,/^\.RE/s/^\.I //p' "$page" >"$dir/text"
sort -o "$dir/code" "$dir/code"
sort -o "$dir/text" "$dir/text"
same "advice in cutrace-report.1"

help=$(./cutrace-report --help) || exit 99
printf '%s\n' "$help" | sed -n '/^Options:/,$p' | grep -o -- '--[a-z][a-z-]*' | sort >"$dir/code"
sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$page" | sed 's/\\-/-/g' | grep '^\.B' |
    grep -o -- '--[a-z][a-z-]*' | sort >"$dir/text"
same "options in cutrace-report.1"

# NAME=ARGUMENT help (default: VALUE)
sed -n 's/^CT_OPTION(LIBRARY, [A-Z_]*, "\([A-Z_]*\)", [^,]*, [^,]*, "\[\{0,1\}\([^]"]*\)\]\{0,1\}", "\([^"]*\)", "\(.*\)")$/\1=\2 \4 (default: \3)/p' \
    "$srcdir/src/options/options.def" >"$dir/code"
sed -n '/^\.SH ENVIRONMENT/,/^\.SH FILES/p' "$page" | sed 's/\\-/-/g; s/\\f[IR]//g' |
    awk '/^\.BR CUTRACE_/ { sub(/^\.BR /, ""); gsub(/ /, ""); name = $0; getline; print name, $0 }' \
        >"$dir/text"
same "variables in cutrace-report.1"

# A release is called so wherever its number stands; the package's files are in the repository alone.
version=$(./cutrace-report --version | head -n 1 | sed 's/.* //')
for file in "$srcdir/NEWS" "$srcdir/debian/changelog" "$srcdir"/doc/*.[157]; do
    [ -e "$file" ] || continue
    sed -n '1,2s/^\(\.TH .*"\)\{0,1\}cutrace (\{0,1\}\([0-9.]*\).*/\2/p' "$file" | grep -qxF "$version" ||
        { echo "FAIL: $file: is not of version $version"; failed=1; }
done
exit $failed
