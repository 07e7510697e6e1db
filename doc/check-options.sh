#!/bin/sh
# SPDX-License-Identifier: MIT
# The variables of options.def with their defaults are those of README.md and of the manual page.
srcdir=${srcdir:-.}
table=$(sed -n 's/^CT_OPTION([A-Z_]*, "\([A-Z_]*\)", "\([^"]*\)", "\([^"]*\)", "\(.*\)")$/\1\t\2\t\3\t\4/p' \
    "$srcdir/src/preload/options.def")
failed=0
[ "$(printf '%s\n' "$table" | wc -l)" -ge 10 ] || { echo "options.def was not understood"; exit 1; }

fail() { echo "$*"; failed=1; }

while IFS='	' read -r name argument default help; do
    row=$(grep -F "| \`$name=" "$srcdir/README.md" | sed 's/\\|/|/g; s/`//g')
    [ "$row" = "| $name=$argument | $default | $help |" ] || fail "README.md: $name: $row"
    grep -qF ".BR $name =" "$srcdir/doc/cutrace.7" || fail "cutrace.7: $name is missing"
    sed 's/\\-/-/g; s/\\(bu//g' "$srcdir/doc/cutrace.7" | tr '\n' ' ' | grep -qF -- "$help" ||
        fail "cutrace.7: $name: not '$help'"
done <<END
$table
END
for name in $(grep -o '`CUTRACE_[A-Z_]*=' "$srcdir/README.md" | tr -d '`='); do
    printf '%s\n' "$table" | grep -q "^$name	" || fail "README.md: there is no $name"
done
for option in $(./cutrace-report --help | grep -o -- '--[a-z][a-z-]*' | sort -u); do
    sed 's/\\-/-/g' "$srcdir/doc/cutrace-report.1" | grep -qF -- "$option" ||
        fail "cutrace-report.1: $option is missing"
done
exit $failed
