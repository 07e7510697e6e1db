#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/using.md and the manual pages say what options.def says.
srcdir=${srcdir:-.}
table=$(sed -n 's/^CT_OPTION(LIBRARY, [A-Z_]*, "\([A-Z_]*\)", \([^,]*\), [^,]*, "\[\{0,1\}\([^]"]*\)\]\{0,1\}", "\([^"]*\)", "\(.*\)")$/\1\t\2\t\3\t\4\t\5/p' \
    "$srcdir/src/options/options.def")
failed=0
[ "$(printf '%s\n' "$table" | wc -l)" -ge 10 ] || { echo "options.def was not understood"; exit 1; }

fail() { echo "$*"; failed=1; }

while IFS='	' read -r name option argument default help; do
    case $option in
    NULL) option= ;;
    *) option="--${option#?}" option=${option%?} ;;
    esac
    row=$(grep -F "| \`$name=" "$srcdir/doc/using.md" | sed 's/\\|/|/g; s/`//g')
    [ "$row" = "| $name=$argument | $option | $default | $help |" ] || fail "using.md: $name: $row"
    grep -qF ".BR $name =" "$srcdir/doc/libcutrace.7" || fail "libcutrace.7: $name is missing"
    sed 's/\\-/-/g; s/\\(bu//g' "$srcdir/doc/libcutrace.7" | tr '\n' ' ' | grep -qF -- "$help" ||
        fail "libcutrace.7: $name: not '$help'"
done <<END
$table
END
for name in $(grep -o '`CUTRACE_[A-Z_]*=' "$srcdir/doc/using.md" | tr -d '`='); do
    printf '%s\n' "$table" | grep -q "^$name	" || fail "using.md: there is no $name"
done
# The launcher's options with their help, and what it refuses, are in its manual page.
page=$(sed 's/\\-/-/g; s/\\f[IR]//g; s/" *|* *"//g' "$srcdir/doc/cutrace.1" | tr '\n' ' ')
awk -F'"' '/^CT_OPTION\(LIBRARY, [A-Z_]*, "[A-Z_]*", "/ { print $4 "\t" $(NF - 1) }
    /^CT_OPTION\((LAUNCHER|REPORT|CTL), [A-Z_]*, NULL, "/ { print $2 "\t" $(NF - 1) }
    /^CT_(NEVER|VOID)\(/ { print $2 "\t" $(NF - 1) }' "$srcdir/src/options/options.def" >options.tmp
[ "$(wc -l <options.tmp)" -ge 50 ] || fail "options.def: only $(wc -l <options.tmp) options were understood"
while IFS='	' read -r option help; do
    case $page in
    *"--$option"*"$help"*) ;;
    *) fail "cutrace.1: --$option: not '$help'" ;;
    esac
done <options.tmp
rm -f options.tmp
sed -n 's/^CT_COMMAND(\([a-z]*\), "\(.*\)")$/\1\t\2/p' "$srcdir/src/options/options.def" >options.tmp
[ "$(wc -l <options.tmp)" -ge 5 ] || fail "options.def: only $(wc -l <options.tmp) commands were understood"
while IFS='	' read -r command help; do
    case $page in
    *"$command"*"$help"*) ;;
    *) fail "cutrace.1: ctl $command: not '$help'" ;;
    esac
done <options.tmp
rm -f options.tmp
for option in $(./cutrace --help | grep -o -- '--[a-z][a-z-]*' | sort -u); do
    printf '%s' "$page" | grep -qF -- "$option" || fail "cutrace.1: $option is missing"
done
for option in $(./cutrace-report --help | grep -o -- '--[a-z][a-z-]*' | sort -u); do
    sed 's/\\-/-/g' "$srcdir/doc/cutrace-report.1" | grep -qF -- "$option" ||
        fail "cutrace-report.1: $option is missing"
done
exit $failed
