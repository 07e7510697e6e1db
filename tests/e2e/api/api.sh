#!/bin/bash
# SPDX-License-Identifier: MIT
# cutrace/cutrace.h in programs and plugins built in all ways, with and without the library; and
# python/cutrace.py.
set -eu
[ -z "${BUILD_SANITIZERS-}" ] || { echo "a sanitizer wants to be first itself"; exit 77; }
srcdir=$(cd "${srcdir:-.}" && pwd)
build=$PWD
client=$srcdir/tests/e2e/api/client.c
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export LD_LIBRARY_PATH=$build/tests/sim/lib CUTRACE_PRINT=off
unset CUTRACE_START CUTRACE_OUTPUT
flags="-I$srcdir/include ${CUDA_CFLAGS-} -Wall -Wextra -Werror -Wno-unused-function"
failed=0

fail() {
    echo "FAIL $*"
    failed=1
}

passed() {
    [ $failed = 1 ] || echo "PASS $*"
}

cat >with <<END
flush: ENODATA
pause: done, recording 0
resume: done, recording 1
push: EINVAL
push: done
push: done
pop: done
pop: done
pop: ENOENT
pause: done, recording 0
flush: done
loud: done
  device -1 calls 20 timed 20
  least <= mean <= most: 1, all: 1
quiet: ENOENT
loud: device 0, 20 calls
soft: device 0, 3 calls
END
cat >without <<END
flush: ENOSYS
pause: ENOSYS, recording 0
resume: ENOSYS, recording 0
push: ENOSYS
push: ENOSYS
push: ENOSYS
pop: ENOSYS
pop: ENOSYS
pop: ENOSYS
pause: ENOSYS, recording 0
flush: ENOSYS
loud: ENOSYS
quiet: ENOSYS
END

preloaded() { LD_PRELOAD=$build/.libs/libcutrace.so "$@"; }

# check WHAT EXPECTED COMMAND...
check() {
    local what=$1 expected=$2
    shift 2
    "$@" >got 2>err || { fail "$what: status $?"; cat got err; }
    diff "$expected" got || fail "$what"
    [ ! -s err ] || { fail "$what: it said something"; cat err; }
}

# built NAME COMPILER FLAG...: both ways of running it
built() {
    local name=$1 compiler=$2
    shift 2
    $compiler $flags "$@" -o "$name" -L"$build/tests/sim/lib" -l:libcuda.so.1 -ldl
    check "$name alone" without ./"$name"
    check "$name" with preloaded ./"$name"
}

cc=${API_CC:-cc}
built pie "$cc" -fPIE -pie "$client"
built fixed "$cc" -O2 -fno-pic -no-pie "$client"
built now "$cc" -O0 -Wl,-z,now "$client"
cxx=$(command -v c++ || true)
[ -z "$cxx" ] || built cxx "$cxx" -x c++ -std=c++11 -O2 "$client"
passed "built with $cc ${cxx:-(there is no C++ here)}"

$cc $flags -DPLUGIN -shared -fPIC -o plugin.so "$client"
check "plugin alone" without ./fixed ./plugin.so
check "plugin" with preloaded ./fixed ./plugin.so
passed "from a plugin"

printf '%s\n' 'push: ENOSYS' 'pop: ENOSYS' 'pop: ENOSYS' 'pause: ENOSYS, recording 0' 'flush: ENOSYS' 'kernel: ENOSYS' 'next: ENOSYS' >nothing
printf '%s\n' 'push: done' 'pop: done' 'pop: ENOENT' 'pause: done, recording 0' 'flush: ENODATA' 'kernel: ENOENT' 'next: ENOENT' >nocuda
$cc $flags -DALONE -o alone "$client"
check "without CUDA" nocuda preloaded ./alone
if $cc $flags -DALONE -static -o static "$client" 2>err; then
    check "static" nothing preloaded ./static
    passed "linked statically"
else
    echo "SKIP nothing can be linked statically here"
fi

# What was flushed is in the file, whatever comes then.
rm -f summary.bin
(preloaded ./pie killed) >got 2>err || true
diff with got || fail "killed"
"$build/cutrace-report" kernels --format csv summary.bin >report
[ "$(grep -c 'loud\|soft' report)" = 2 ] || { fail "the flushed profile lacks kernels"; cat report; }
passed "flushed before the end"

# What ran in a range, and in those around it: instances, kernels, name.
in_ranges() {
    "$build/cutrace-report" nvtx_kern_sum --format csv summary.bin 2>err >report
    cut -d, -f1,5,6,13 report | tail -n +2 | tr -d \" | sort
}
printf '%s\n' 'cutrace:both,1,20,loud' 'cutrace:both,1,3,soft' 'cutrace:loud ones,1,20,loud' >ranges
in_ranges | diff ranges - || { fail "ranges"; cat report; }
passed "ranges"

python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3 || true)
if [ "$python" ]; then
    export PYTHONPATH=$srcdir/python PYTHONDONTWRITEBYTECODE=1
    "$python" "$srcdir/tests/e2e/api/client.py" without || fail "Python without the library"
    rm -f summary.bin
    printf '%s\n' 'cutrace:innér,1,7,inside' 'cutrace:outer,1,12,inside' >ranges
    for locale in PYTHONUTF8=1 "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"; do
        CUTRACE_START=off preloaded env $locale "$python" "$srcdir/tests/e2e/api/client.py" with ||
            fail "Python, $locale"
        in_ranges | diff ranges - || { fail "ranges from Python, $locale"; cat report; }
    done
    passed "from Python"
else
    echo "SKIP there is no Python here"
fi
exit $failed
