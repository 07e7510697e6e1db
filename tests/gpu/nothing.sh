#!/bin/bash
# SPDX-License-Identifier: MIT
# The GPU checks see that nothing was recorded: with a library that does nothing each of them fails,
# and where no program runs each says that nothing was checked. Compilers, programs and what CUPTI
# has are made up here; the reports and the tables are the checks' own. Runs in the build directory.
set -u
[ -z "${BUILD_SANITIZERS-}" ] || { echo "a sanitizer wants to be first itself"; exit 77; }
python=$(python3 -c 'import sys; print(sys.executable)') || { echo "python3 is not there"; exit 77; }
srcdir=$(cd "${srcdir:-.}" && pwd)
report=$PWD/cutrace-report
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 99

cc -shared -o null.so -xc /dev/null || { echo "cc makes no library here"; exit 77; }

cat >program <<'END'
#!/bin/bash
[ "${ENDS_WITH-}" ] && exit "$ENDS_WITH"
case ${0##*/} in faults*) echo launched; exit 3 ;; esac
if [ "${CUPTI_TRUTH_OUT-}" ]; then
    for kind in kernel graph_kernel copy; do
        printf '%s\tspin%s\t200\t2000000\t10000\t10000\t4096\n' $kind $kind
    done >"$CUPTI_TRUTH_OUT.$$"
fi
printf 'figure wall 1.0\nfigure kernels 200\nfigure busy 2.0\nresult 1\nlaunched spin 200\n'
END

# A compiler: the file behind -o becomes the program, whatever it is made of.
cat >compiler <<END
#!/bin/bash
while [ \$# -gt 0 ]; do
    [ "\$1" = -o ] && cp '$dir/program' "\$2" && exit
    shift
done
END

# It runs tables, but neither programs nor what asks for packages.
cat >interpreter <<END
#!/bin/bash
case \${1-} in
*/programs/*) exec '$dir/program' ;;
-*) exit 1 ;;
esac
exec '$python' "\$@"
END
chmod +x program compiler interpreter

# check STATUS NAME WORD...: leaves what is wrong in a file of its own
check() {
    local wanted=$1 name=$2 log=$1.$2.$BASHPID status
    shift 2
    CUTRACE_LIB=$dir/null.so CUTRACE_REPORT=$report NVCC=$dir/compiler CC=$dir/compiler NSYS=/nonexistent \
        PYTHON=$dir/interpreter CUDA_HOME=$dir OUT=$dir/$log TMPDIR=$dir \
        timeout 120 "$srcdir/tests/gpu/$name" "$@" >"$log.log" 2>&1
    status=$?
    [ $status = "$wanted" ] ||
        { echo "FAIL: $name: status $status, not $wanted"; tail -n 20 "$log.log"; } >"$log.wrong"
}

check_all() {
    check "$1" check-gpu --quick --no-probes --only vector_add.static &
    check "$1" check-gpu-accuracy --quick --repeats 1 --only spin-busy-1 &
    check "$1" check-gpu-faults --only address.static &
    check "$1" check-gpu-graphs --quick --repeats 1 --only spin-graph &
    check "$1" check-gpu-nccl &
    check "$1" check-gpu-neighbours &
    check "$1" check-gpu-nvtx &
    check "$1" check-gpu-shared --quick --repeats 1 --only alike-1 &
    check "$1" check-gpu-stacks --only forward-decode &
    check "$1" check-gpu-streams --repeats 1 --only 1-turns-16 &
    check "$1" check-gpu-unified &
}

check_all 1
check 1 check-gpu --quick --no-probes --only leaving-exit &
ENDS_WITH=1 check_all 77
wait
cat ./*.wrong 2>/dev/null && exit 1
exit 0
