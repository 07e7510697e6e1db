#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of files and other arguments in cutrace-report's messages: one line, nothing that a terminal
# acts upon. A shell's * gives names that begin with a dash as options. Runs in the build directory.
. "${srcdir:-.}/tests/golden/check.sh"
evil=$'\e]0;x\a\e[31m\xe2\x80\xae\xc2\x9b\xff\r\n==1== '
shown='\x1b]0;x\x07\x1b[31m\xe2\x80\xae\xc2\x9b\xff\x0d\x0a==1== '

# said STATUS WORDS ARGUMENT...: exits with STATUS and says WORDS
said()
{
    local expected=$1 words=$2
    shift 2
    "$report" "$@" >out 2>err
    local status=$?
    [ $status -eq "$expected" ] || { printf 'FAIL: %q: status %s\n' "$*" $status; failed=1; }
    grep -qF -- "$words" err || { printf 'FAIL: %q: %q\n' "$*" "$(cat err)"; failed=1; }
    [ "$(wc -l <err)" -eq 1 ] || { printf 'FAIL: %q: not one line\n' "$*"; failed=1; }
    LC_ALL=C grep -q '[^ -~]' err && { printf 'FAIL: %q: raw bytes\n' "$*"; failed=1; }
}

make_profiles basic && cp basic.bin "$evil" || exit 99
printf 'no profile' >"x$evil"
said 1 "x$shown: is not a summary of cutrace" "x$evil"
said 1 "y$shown: cannot be opened: No such file" "y$evil"
said 2 "unrecognized option '--$shown'" "--$evil" basic.bin
said 2 "unrecognized option '--$shown=1'" "--$evil=1" basic.bin
said 2 "invalid option -- '\\x1b'" $'-\e[31m' basic.bin
said 2 "invalid option -- '\\xff'" $'-\xff' basic.bin
said 2 "option '--csv' takes no argument" "--csv=$evil" basic.bin
said 2 "option '--normalized-time-unit' requires an argument" basic.bin -u
said 2 "option '--log-file' requires an argument" basic.bin --log-file
said 2 "'$shown' is no value of --normalized-time-unit" -u "$evil" basic.bin
said 2 "'$shown' is no value of --demangling" "--demangling=$evil" basic.bin
said 1 "no$shown/x: No such file or directory" -o "no$evil/x" basic.bin
said 1 "$shown: is a profile" -o "$evil" basic.bin
said 1 "cannot be opened: File name too long" "$(printf '%05000d' 0)"
if [ -w /dev/full ]; then
    ln -s /dev/full "full$evil"
    said 1 "full$shown: cannot be written" -o "full$evil" basic.bin
fi
"$report" --live "$evil" >out 2>err || { echo "FAIL: --live: status $?"; failed=1; }
grep -qF "Generated result file: $PWD/$shown" err || { echo "FAIL: --live: $(cat -v err)"; failed=1; }
LC_ALL=C grep -q '[^ -~]' err && { echo "FAIL: --live: raw bytes"; failed=1; }
exit $failed
