#!/bin/bash
# SPDX-License-Identifier: MIT
# Four ranks that Slurm's srun starts, on a cluster of this machine alone: with cutrace in each
# rank, around it, and preloaded: by the command and by the cluster.
[ -z "${BUILD_SANITIZERS-}" ] || { echo "the launcher has no sanitizer's library to preload"; exit 77; }
PATH=$PATH:/usr/sbin
for tool in slurmctld slurmd srun munged; do
    command -v $tool >/dev/null || { echo "$tool was not found"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "a cluster's daemons are root's"; exit 77; }
build=$PWD srcdir=$(cd "${srcdir:-.}" && pwd)
dir=$(mktemp -d) || exit 99
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null; wait; rm -rf "$dir"' EXIT
cd "$dir" || exit 99

fail() {
    echo "$*"
    tail -n 5 out err ./*.log
    exit 1
}

# ---- the cluster: nothing of it is the machine's own ----

node=$(hostname -s) port=$((20000 + RANDOM % 12000))
mkdir -m 700 munge state spool
dd if=/dev/urandom of=munge/key bs=128 count=1 2>/dev/null
chmod 400 munge/key
cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
SlurmUser=root
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/linear
NodeName=$node NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=$node Default=YES State=UP OverSubscribe=YES
TaskProlog=$dir/prolog
END
# As doc/containers.md has it.
(echo '#!/bin/sh' && sed -n "s,^    \(.*echo export LD_PRELOAD=\)/opt/cutrace/lib/,\1$build/.libs/,p" \
    "$srcdir/doc/containers.md" && echo true) >prolog
[ "$(wc -l <prolog)" = 3 ] || { echo "doc/containers.md has no line for a prolog"; exit 1; }
chmod +x prolog
export SLURM_CONF=$dir/slurm.conf
munged --foreground --force --key-file=munge/key --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge.log" --seed-file="$dir/munge/seed" 2>munged.log &
daemons+=($!)
slurmctld -D >slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D >slurmd.log 2>&1 &
daemons+=($!)
for ((i = 0; ; i++)); do
    sinfo -h -o %t 2>/dev/null | grep -q idle && break
    if [ $i = 100 ]; then
        cat ./*.log
        echo "no cluster can be had here"
        exit 77
    fi
    sleep 0.1
done

# ---- what its ranks leave ----

export LD_LIBRARY_PATH=$build/tests/sim/lib CUTRACE_REPORT=$build/cutrace-report
library=$build/.libs/libcutrace.so
# Rank 3 has five times the work.
work='$ACTOR small $((10 + 40 * (SLURM_PROCID == 3)))'
export ACTOR=$build/tests/e2e/actor/actor

# play COMMAND...: in a directory of its own
play() {
    rm -rf run && mkdir run && cd run || exit 99
    "$@" >../out 2>../err || fail "$*: status $?"
    cd ..
    [ "$(grep -c 'small: ' out)" = 4 ] || fail "$*: four ranks do not say 'small: '"
    [ "$(grep -c 'GPU activities:' err)" = 1 ] || fail "$*: not one table"
}

# launches FILE: of the kernel alpha
launches() {
    "$build/cutrace-report" kernels --filter alpha --format csv "$1" |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "calls") at = i } NR == 2 { print $at }'
}

check_files() {
    local rank
    [ "$(ls run)" = "$(printf 'summary.rank%d.bin\n' 0 1 2 3)" ] || fail "files: $(ls run)"
    for rank in 0 1 2 3; do
        [ "$(launches run/summary.rank$rank.bin)" = $((10 + 40 * (rank == 3))) ] || fail "rank $rank has other launches"
    done
    "$build/cutrace-report" ranks run/summary.rank*.bin | grep -q 'Imbalance of GPU time: rank 3 has ' || fail "nobody has more"
}

srun="srun --quiet -n 4 -O"
play $srun "$build/cutrace" sh -c "$work"
check_files
play $srun env LD_PRELOAD="$library" sh -c "$work"
check_files
PROFILE=1 play $srun sh -c "$work"
check_files
play "$build/cutrace" $srun sh -c "$work"
[ "$(ls run)" = summary.bin ] || fail "around srun: $(ls run)"
[ "$(launches run/summary.bin)" = 80 ] || fail "not all launches are in the one file"
grep -q 'Imbalance of GPU time: rank 3 has ' err || fail "nobody has more"
play $srun "$build/cutrace" --ranks 0,3 sh -c "$work"
[ "$(ls run)" = "$(printf 'summary.rank%d.bin\n' 0 3)" ] || fail "files of two ranks: $(ls run)"
