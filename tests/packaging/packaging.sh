#!/bin/bash
# SPDX-License-Identifier: MIT
# The archive and the wheel, made here, run elsewhere: their parts find each other, and nothing else.
set -eu
[ -z "${BUILD_SANITIZERS-}" ] || { echo "the archive has no sanitizer's library"; exit 77; }
srcdir=$(cd "${srcdir:-.}" && pwd) build=$PWD
for library in $BINDIST_ARCHIVES; do
    library=lib${library#-l}.a
    [[ $(${CC:-cc} -print-file-name="$library") == */* ]] || { echo "there is no $library to link in"; exit 77; }
done
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3) || { echo "there is no Python, which makes the wheel"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s wheel PYTHON3="$python" >"$dir/made" 2>&1 || { cat "$dir/made"; exit 1; }
wheel=$build/$(tail -n 1 "$dir/made")
cd "$dir"
unset "${!CUTRACE_@}"
export LD_LIBRARY_PATH=$build/tests/sim/lib PYTHONDONTWRITEBYTECODE=1

fail() {
    echo "FAIL $*"
    cat out err
    exit 1
}

# TABLE WORD...: the words run, and the table comes in that file.
prints() {
    local table=$1
    shift
    : >out
    : >err
    "$@" >out 2>err || fail "$*: status $?"
    grep -q 'GPU activities:' "$table" || fail "$*: no table"
}

# ---- the archive ----

mkdir first "second place"
tar -xzf "$build/$BINDIST.tar.gz" -C first
tools=(first/"$BINDIST"/bin/*)
[ ${#tools[@]} = 2 ] || fail "these are the tools: ${tools[*]}"
for file in "${tools[@]}" first/"$BINDIST"/lib/libcutrace.so; do
    bound=2.28
    [ "${file##*/}" != libcutrace.so ] || bound=2.17
    "$srcdir/tests/unit/glibc.sh" $bound "$file" || [ $? = 77 ] || fail "$file"
    others=$(LC_ALL=C readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(lib(c|m|dl|pthread)\.so|ld-linux)') || :
    [ -z "$others" ] || fail "$file needs $others"
done

# The library and the tool that prints the table are beside the launcher, wherever that is.
mv "first/$BINDIST" "first/moved"
home=$dir/first/moved
prints err "$home/bin/cutrace" "$build/examples/demo"
prints err env LD_PRELOAD="$home/lib/libcutrace.so" "$build/examples/demo"
prints out "$home/bin/cutrace-report" summary.bin
[ "$("$home/bin/cutrace" -q sh -c 'echo $LD_PRELOAD')" = "$home/lib/libcutrace.so" ] || fail "another library is preloaded"
rm -f summary.bin
mv "$home/bin/cutrace-report" aside
LD_PRELOAD=$home/lib/libcutrace.so "$build/examples/demo" >out 2>err
! grep -q 'GPU activities:' err || fail "another cutrace-report printed a table"
mv aside "$home/bin/cutrace-report"
mv first/moved "second place/moved"
home="$dir/second place/moved"
prints err "$home/bin/cutrace" "$build/examples/demo"
for file in share/man/man1/cutrace.1 share/man/man1/cutrace-report.1 share/man/man7/libcutrace.7 \
    share/bash-completion/completions/cutrace share/zsh/site-functions/_cutrace include/cutrace/cutrace.h \
    doc/LICENSE share/licenses/lz4; do
    [ -s "$home/$file" ] || fail "the archive lacks $file"
done
for path in $(grep -oE '/opt/cutrace/[a-z/.-]*[a-z]' "$srcdir/doc/containers.md" | sort -u); do
    [ -e "$home/${path#/opt/cutrace/}" ] || fail "the archive lacks $path, which doc/containers.md names"
done
prints err env PYTHONPATH="$home/share/cutrace/python" CUTRACE_START=off "$home/bin/cutrace" --python "$python" \
    "$srcdir/tests/e2e/api/client.py" with
echo "PASS the archive"

# ---- the wheel ----

if $python -m venv env >out 2>err && env/bin/pip --version >out 2>err; then
    env/bin/pip install -q --no-index --no-deps --disable-pip-version-check "$wheel" >out 2>err || fail "pip install"
    run=("$dir/env/bin/python") how=installed
    [ "$(env/bin/cutrace --version)" = "$("$build/cutrace" --version)" ] || fail "the command of the wheel"
else
    echo "SKIP no virtual environment with pip can be made: the wheel is unpacked"
    $python -m zipfile -e "$wheel" site
    chmod +x site/cutrace/bin/*
    run=(env PYTHONPATH="$dir/site" "$python") how=unpacked
fi
rm -f summary.bin
cp "$srcdir/tests/e2e/api/client.py" train.py # not executable, and no launcher's words
chmod 644 train.py
prints err "${run[@]}" -m cutrace --profile-from-start off train.py with
grep -q "inside" err || fail "the table lacks the kernel of train.py"
prints out "${run[@]}" -m cutrace.report summary.bin
"${run[@]}" train.py without >out 2>err || fail "import cutrace"
chmod 755 train.py # with an interpreter of its own, which it does not get
sed -i '1i #!/bin/false' train.py
prints err "${run[@]}" -m cutrace -f --profile-from-start off train.py with
"${run[@]}" - "$wheel" >out 2>err <<'END' || fail "the wheel's list of files"
import base64, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = set(wheel.namelist())
record, = (name for name in names if name.endswith(".dist-info/RECORD"))
rows = [line.rsplit(",", 2) for line in wheel.read(record).decode().splitlines()]
assert {row[0] for row in rows} == names and len(rows) == len(names)
for name, digest, size in rows:
    content = wheel.read(name)
    good = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert name == record or (digest, size) == ("sha256=" + good, str(len(content))), name
END
echo "PASS the wheel, $how"
