#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of many ranks on the command line: merge, ranks, diff, their messages and exit statuses.
# Runs in the build directory.
make_files=$PWD/bench/make_files
. "${srcdir:-.}/tests/golden/check.sh"

# same FILE FILE WHAT
same()
{
    cmp -s "$1" "$2" || { fail "$3"; diff "$1" "$2" | head -5; }
}

mkdir old new
"$make_files" old 40 24 && "$make_files" new 40 24 1 || exit 99
cp old/0.bin a.bin && cp old/1.bin b.bin && cp old/2.bin c.bin || exit 99

# ---- merge ----
status 0 "" "$report" merge old -o all.bin
status 0 "" "$report" all.bin
grep -v '^=' out >merged
status 0 "" "$report" old/*.bin
grep -v '^=' out >several
same merged several "the summary of the merged file is another than that of the files"
for what in ranks kernels; do
    "$report" $what --format csv --sort name,rank all.bin >merged 2>err
    "$report" $what --format csv --sort name,rank old/*.bin >several 2>err
    [ $what = ranks ] || sed -i 's/,"[0-9,-]*",/,/' merged several # which GPUs
    same merged several "$what of the merged file are others than those of the files"
done

status 0 "" "$report" merge a.bin b.bin -o ab.bin
status 0 "" "$report" merge ab.bin c.bin -o ab+c.bin
status 0 "" "$report" merge a.bin b.bin c.bin -o abc.bin
for what in ranks kernels summary; do
    "$report" $what --format csv ab+c.bin >one 2>err
    "$report" $what --format csv abc.bin >other 2>err
    same one other "$what: merge(merge(a, b), c) is not merge(a, b, c)"
done
status 0 "" "$report" merge ab.bin -o ab.bin # over itself

echo precious >notes
status 1 "is there and no profile" "$report" merge a.bin -o notes
[ "$(cat notes)" = precious ] || fail "a file that is no profile was overwritten"
ln -s a.bin link
status 1 "is no regular file" "$report" merge a.bin -o link
status 1 "no such directory" "$report" merge a.bin -o none/x.bin
status 1 "is no regular file" "$report" merge a.bin -o old
status 2 "merge needs -o FILE" "$report" merge a.bin
status 1 "x.bin: cannot be opened" "$report" merge a.bin x.bin -o good.bin
"$report" good.bin >out 2>err || fail "what could be read was not merged"
head -c 5000 b.bin >broken.bin
status 1 "broken.bin: is truncated" "$report" merge broken.bin a.bin -o good.bin
status 1 "broken.bin: is truncated" "$report" merge broken.bin -o none.bin
status 1 "broken.bin: is truncated" "$report" merge --live broken.bin a.bin -o none.bin # as the launcher
[ ! -e none.bin ] || fail "nothing was merged into a file"
mkdir empty
status 1 "has no profiles in it" "$report" merge empty a.bin -o good.bin
if python3 -c 'import fcntl' 2>/dev/null; then # a lock that only who may write can have
    python3 -c 'import fcntl, subprocess, sys
f = open("a.bin", "r+b")
fcntl.lockf(f, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[1:]))' "$report" merge b.bin -o a.bin 2>err && fail "a file that is being written was replaced"
    grep -qF "is being written by another process" err || fail "a locked file: $(cat err)"
fi

# What is there in the directory that is merged into it is neither counted twice nor lost.
mkdir again && cp a.bin b.bin again || exit 99
for i in 1 2; do
    status 0 "" "$report" merge again -o again/../again/all.bin
    [ "$("$report" info --format csv again/all.bin | grep -c python)" -eq 2 ] || fail "a directory is merged again: $i"
done
cp again/all.bin first.bin && rm again/a.bin || exit 99
status 1 "all.bin: is in a directory that is merged, and the others have not all of it" "$report" merge again -o again/all.bin
cmp -s first.bin again/all.bin || fail "what cannot be merged again is replaced"
rm again/b.bin && cp c.bin again || exit 99
status 0 "" "$report" merge again -o again/all.bin
[ "$("$report" info --format csv again/all.bin | grep -c python)" -eq 3 ] || fail "what is merged and gone is lost"

# Of what is in a directory, nothing that could be a profile goes without a word.
mkdir some && cp a.bin b.bin some && : >some/app.log || exit 99
status 0 "" "$report" merge some -o good.bin
: >some/c.bin
status 1 "some/c.bin: is empty" "$report" merge some -o good.bin
head -c 5 b.bin >some/c.bin
status 1 "some/c.bin: is not a summary of cutrace" "$report" merge some -o good.bin
rm some/c.bin some/app.log
"$report" diff some some --format csv >one 2>err
(ulimit -n 4; exec "$report" diff some some --format csv) >other 2>err || # one for the directory or a file
    fail "profiles that could not be opened at first: $(cat err)"
same one other "profiles that could not be opened at first are missing"

# That older data were taken is in the file, and in what is said of it.
cp a.bin damaged.bin && printf xxxxxxxx | dd of=damaged.bin bs=1 seek=4200 conv=notrunc 2>/dev/null
"$report" info --format json damaged.bin | grep -q '"fell_back": 1' || fail "JSON does not name damaged data"
status 0 "damaged.bin: is damaged: the checksum of its data is wrong; what came last is missing, taken is the state before, 1.235 s after the start" \
    "$report" merge damaged.bin b.bin -o good.bin
status 0 "" "$report" good.bin
grep -q 'Warning: The newest data of a file that was merged were damaged' out || fail "damaged data: $(cat out)"
[ -z "$(find . -name '*.part')" ] || fail "left behind: $(find . -name '*.part')"

# ---- ranks ----
status 0 "" "$report" ranks all.bin
grep -q 'rank 17 has 1.24 times the mean; where all wait for it they lose 24.040ms each, 19.1%$' out ||
    fail "the slow rank, and the share of its time that the others wait: $(grep Imbalance out)"
status 0 "" "$report" ranks old/1?.bin old/3[0-8].bin
grep -q '^21 of 40 ranks are missing: 0-9, 20-29, 39$' out || fail "missing ranks: $(grep missing out)"

# Nobody said how many ranks the job has: there are at least those up to the highest that is known.
mkdir unsaid && "$make_files" unsaid 6 2 0 0 || exit 99
status 0 "" "$report" ranks unsaid/2.bin unsaid/5.bin
grep -q '^4 of 6 ranks are missing: 0-1, 3-4$' out || fail "missing ranks of a job without a size: $(grep missing out)"

"$make_profile" models models.bin || exit 99
status 0 "" "$report" merge models.bin -o models-merged.bin
status 0 "" "$report" ranks --format csv models.bin
grep -q '^"GPU activities",4000,1,4000,4000,4000,' out || fail "a process with GPUs of two models: $(cat out)"
status 0 "" "$report" ranks models-merged.bin
grep -q 'kernel' out && fail "what is not known of a merged file is listed: $(cat out)"
grep -q '^1 row is not listed: a merged file has GPUs of different models apart, not by rank' out || fail "what is not listed: $(cat out)"
grep -q ' 1.0000us  .* f(void)' out || fail "what is on one model of two: $(cat out)"
status 0 "" "$report" diff models.bin models-merged.bin
grep -q 'slower\|faster' out && fail "a merged file differs: $(cat out)"

# ---- splitting ----
status 0 "" "$report" kernels --per rank --format csv --top 1 b.bin a.bin old/2.bin
[ "$(cut -d, -f1 out | uniq | tr '\n' ' ')" = 'rank 0 1 2 ' ] || fail "--per rank: $(cut -d, -f1 out)"
status 0 "" "$report" kernels --per host --format csv --top 1 old/*.bin
[ "$(cut -d, -f1 out | uniq | wc -l)" -eq 6 ] || fail "--per host: $(cut -d, -f1 out | uniq)"
status 1 "all.bin: is a merged file, which cannot be split" "$report" kernels --per process all.bin a.bin
status 1 "broken.bin: is truncated" "$report" --per process broken.bin a.bin
"$make_profile" basic basic.bin || exit 99
status 1 "basic.bin: does not say which rank it is of" "$report" --per rank basic.bin a.bin

# ---- diff ----
status 0 "" "$report" diff old new
[ "$(grep -c '  slower ' out)" -eq 2 ] || fail "two kernels are slower: $(grep -c '  slower ' out)"
[ "$(grep -c ' new ' out)" -eq 1 ] || fail "one kernel is new"
status 0 "" "$report" diff new old
[ "$(grep -c '  faster ' out)" -eq 2 ] || fail "two kernels are faster"
[ "$(grep -c ' vanished ' out)" -eq 1 ] || fail "one kernel has vanished"
status 0 "" "$report" merge new -o new.bin
"$report" diff old new --format csv >one 2>err
"$report" diff old/*.bin -- new/*.bin --format csv >/dev/null 2>err && fail "behind -- are no options"
"$report" diff --format csv old/*.bin -- new/*.bin >other 2>err
same one other "files on both sides of -- are others than those of directories"
"$report" diff --format csv all.bin new.bin >other 2>err
same one other "merged files compare otherwise"
"$report" diff --format json all.bin new.bin >other 2>err || fail "diff as JSON: $(cat err)"

status 3 "" "$report" diff --fail-over 5% old new
grep -q '^Over the limit of 5%: +[19][0-9.]*% void bench::kernel_no_00023' out || fail "what is over the limit is not named"
status 3 "" "$report" diff old new --fail-over 1.5 --filter nothing
status 3 "" "$report" diff old new --fail-over .5%
status 0 "" "$report" diff old old --fail-over 0
status 0 "" "$report" diff new old --fail-over 5%
status 1 "broken.bin: is truncated" "$report" diff --fail-over 1% a.bin broken.bin
status 2 "diff needs OLD and NEW" "$report" diff a.bin
status 2 "diff needs OLD and NEW" "$report" diff a.bin b.bin c.bin
status 2 "'much' is no value of --fail-over" "$report" diff a.bin b.bin --fail-over much
status 2 "'-1' is no value of --fail-over" "$report" diff a.bin b.bin --fail-over=-1
status 2 "--fail-over is of the report diff" "$report" a.bin --fail-over 3
exit $failed
