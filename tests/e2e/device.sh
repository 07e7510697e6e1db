#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Readings of devices by NVML, of a stand-in for it: which calls are made when, what of them is in the
# profile, and that a program ends as without them.
set -u
build=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
worker=$build/tests/e2e/device/worker report=$build/cutrace-report failed=0
sim=$build/.libs:$build/tests/sim/lib
[ "${BUILD_SANITIZERS-}" ] && { echo "no sanitizer's library to preload"; exit 77; }
export CUTRACE_PRINT=off CUTRACE_SENSORS=on

fail() { echo "FAIL: $*"; failed=1; }

# SETTING... -- HOW MS: profile.bin, its readings as sensors.csv, the calls of NVML as calls
nvml=$build/tests/sim/nvml pids=
play() {
    local settings=()
    while [ "$1" != -- ]; do settings+=("$1"); shift; done
    rm -f profile*.bin calls
    env "${settings[@]}" SIM_NVML_CALLS=$PWD/calls CUTRACE_OUTPUT=profile.bin LD_PRELOAD=libcutrace.so \
        LD_LIBRARY_PATH=$sim:$nvml timeout 60 "$worker" "${@:2}" >out 2>err || fail "$*: ends with $?: $(cat err)"
    touch calls
    "$report" device --format csv profile.bin >both.csv 2>notes || fail "$*: no report: $(cat notes)"
    sed '/^$/,$d' both.csv >sensors.csv
    sed '1,/^$/d' both.csv >reasons.csv
}

# SENSOR COLUMN: its value in sensors.csv; empty: none
value() {
    awk -F, -v name="\"$1\"" -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $2 == name { print $at }' sensors.csv
}

# NAME: how often that function was called
called() { grep -c "^$1 " calls; }

is() { [ "$2" = "$3" ] || fail "$1: '$2', not '$3'"; }

# Scenes run side by side, as they mostly sleep, each in a directory of its own.

each_sensor() {
    play SIM_NVML_CAP=2 -- plain 2600
    is "SM clock, highest" "$(value 'SM clock' limit)" 1980.0
    is "SM clock, least" "$(value 'SM clock' least)" 1410.0
    is power "$(value power mean)" 690.0
    is "power limit" "$(value power limit)" 700.0
    is temperature "$(value temperature mean)" 61.0
    is memory "$(value 'memory in use' most)" 20.0
    is "a kernel's time" "$(value 'time with a kernel' mean)" 97.0
    is "SMs" "$(value 'SMs at work' mean)" 95.0
    is "tensor cores" "$(value 'tensor cores at work' mean)" 12.0
    is "DRAM" "$(value 'DRAM bandwidth' mean)" 87.0
    awk -v w="$(value 'power by the energy counter' mean)" 'BEGIN { exit !(w > 90 && w < 110) }' ||
        fail "power by energy: $(value 'power by the energy counter' mean)"
    grep -q 'GPU 0: .* J in ' notes || fail "no energy: $(cat notes)"
    awk -F, '$6 == "\"power cap\"" { found = $2 > 0 && $2 < 100 && $4 == 1410 && $5 == 1980 } END { exit !found }' \
        reasons.csv || fail "power cap: $(cat reasons.csv)"
    "$report" advice --format csv profile.bin >advice
    grep -q 'clock_held.*1410 of 1980 MHz for .*power cap' advice || fail "no advice on the clock: $(cat advice)"
    grep -q 'memory_bound.*87' advice || fail "no advice on DRAM: $(cat advice)"

    # Twice a second, on a thread that is not the program's; NVML is left as it was found.
    [ "$(called nvmlDeviceGetPowerUsage)" -le 5 ] || fail "asked $(called nvmlDeviceGetPowerUsage) times in 2.6 s"
    [ "$(called nvmlDeviceGetPowerUsage)" -ge 2 ] || fail "asked too rarely"
    awk '$2 == $3' calls | grep -q . && fail "NVML is called by the program's thread"
    is "threads that call" "$(awk '{ print $2 }' calls | sort -u | wc -l)" 1
    is shutdowns "$(called nvmlShutdown)" 1
    is "samples freed" "$(called nvmlGpmSampleFree)" "$(called nvmlGpmSampleAlloc)"
    is "one device alone" "$(called nvmlDeviceGetHandleByUUID)" 1
}

# A slow call is rare; the last energy is read all the same.
slow_calls() {
    play SIM_NVML_SLOW=nvmlDeviceGetTotalEnergyConsumption:3000,nvmlDeviceGetTemperature:2000 -- plain 2900
    is "slow calls" "$(called nvmlDeviceGetTemperature)" 2
    is "energy at the end as well" "$(called nvmlDeviceGetTotalEnergyConsumption)" 3
    [ "$(value temperature longest_call_ns)" -ge 2000000 ] || fail "its time: $(cat sensors.csv)"
    [ "$(called nvmlDeviceGetPowerUsage)" -ge 3 ] || fail "others are rare, too"
}

# Functions that are refused are asked once, those that are missing not at all; others go on.
refused_calls() {
    play SIM_NVML_FAIL=nvmlDeviceGetPowerUsage:3,nvmlGpmQueryDeviceSupport:3 -- plain 2200
    is "refused calls" "$(called nvmlDeviceGetPowerUsage)" 1
    is "samples of none" "$(called nvmlGpmSampleGet)" 0
    is power "$(value power mean)" ""
    is temperature "$(value temperature mean)" 61.0
}

old_library() {
    nvml=$build/tests/sim/nvml-old
    play -- plain 2200
    is "without newer functions" "$(value power mean) $(value 'DRAM bandwidth' samples)" "690.0 0"
}

lost_device() {
    play SIM_NVML_FAIL_AFTER=20 SIM_NVML_FAIL=nvmlDeviceGetClockInfo:15 -- plain 2500
    grep -q "GPU 0 is no longer read: NVML lost it (NVML's error 15)" notes || fail "lost: $(cat notes)"
}

part_of_a_device() {
    play SIM_NVML_UUID=MIG -- plain 1200
    grep -q "GPU 0 is not read: it is a part of a GPU (MIG)" notes || fail "MIG: $(cat notes)"
}

no_start() {
    play SIM_NVML_FAIL=nvmlInit_v2:999 CUTRACE_LOG=2 -- plain 1200
    grep -q "GPU 0 is not read: NVML did not start" notes || fail "no start: $(cat notes)"
    is "lines of it" "$(grep -c 'devices are not read' err)" 1
}

no_library() {
    nvml=/nonexistent
    play CUTRACE_LOG=1 -- plain 1200
    grep -q "GPU 0 is not read: libnvidia-ml.so.1 was not found" notes || fail "no NVML: $(cat notes)"
    [ -s err ] && fail "without NVML it says $(cat err)"
}

# Off, and in short programs, NVML is not even loaded.
off() {
    play CUTRACE_SENSORS=off -- plain 1200
    is "calls when off" "$(wc -l <calls)" 0
    play -- plain 20
    is "calls of a short program" "$(wc -l <calls)" 0
    grep -q "Nothing was read" notes || fail "nothing: $(cat notes)"
}

# However the program ends, with children, and with a call that does not return.
at_once() {
    play -- at_once 2200
    is "readings before _exit" "$(value power mean)" 690.0
}

many_children() {
    play -- forks 1500
    is "children that call" "$(awk '{ print $3 }' calls | sort -u | wc -l)" 1
}

# A thread that waits for itself would not read for a second.
child_of_nvml() {
    play SIM_NVML_FORKS=1 -- plain 1200
    [ "$(called nvmlDeviceGetPowerUsage)" -ge 1 ] || fail "nothing is read"
}

last_thread() {
    play -- last 1500
    is "shutdowns at the last thread's end" "$(called nvmlShutdown)" 1
}

locked_memory() {
    play -- locked 1200
    [ "$(called nvmlDeviceGetPowerUsage)" -ge 1 ] || fail "nothing is read"
}

stuck_call() {
    SECONDS=0
    play SIM_NVML_SLOW=nvmlDeviceGetPowerUsage:40000000 -- plain 1200
    [ $SECONDS -lt 20 ] || fail "the end waits for a call of NVML"
}

two_processes() {
    play -- first 1500
    is "processes that call" "$(awk '{ print $3 }' calls | sort -u | wc -l)" 2
    "$report" merge -o all.bin profile*.bin 2>err || fail "merge: $(cat err)"
    "$report" device all.bin >all
    grep -q ' power  *W  *690.0  *690.0  *690.0  *700.0' all || fail "merged: $(cat all)"
    grep -q ' J in ' all && fail "the energy of one device is added up: $(cat all)"
}

top_line() {
    env SIM_NVML_CAP=1 CUTRACE_OUTPUT=profile.bin LD_PRELOAD=libcutrace.so LD_LIBRARY_PATH=$sim:$nvml \
        "$worker" plain 4000 >out 2>&1 &
    sleep 2.2
    "$build/cutrace" ctl $! top -b -n 1 >top 2>err || fail "top: $(cat err)"
    grep -q '^1 x .*  1410 of 1980 MHz  690 of 700 W  61 C$' top || fail "top: $(cat top)"
    wait
}

metrics() {
    play CUTRACE_METRICS=textfile:. -- plain 1600
    is gauges "$(grep -c '^cutrace_device_[a-z_]*{.*} [0-9]' cutrace-*.prom)" 17
}

scenes="each_sensor slow_calls refused_calls old_library lost_device part_of_a_device no_start no_library off at_once
    many_children child_of_nvml last_thread locked_memory stuck_call two_processes top_line metrics"

# SCENE: plays it. On a machine that is busy with others calls take longer, and fewer are made.
try() {
    rm -rf "$dir/$1"
    ( mkdir "$dir/$1" && cd "$dir/$1" || exit; $1; [ $failed = 0 ] ) >"$dir/$1.log" 2>&1
}
for scene in $scenes; do
    try $scene &
    pids+=" $!:$scene"
done
for pid in $pids; do
    scene=${pid#*:}
    wait "${pid%:*}" && continue
    sed "s/^FAIL:/AGAIN $scene:/" "$dir/$scene.log"
    try $scene && continue
    cat "$dir/$scene.log"
    failed=1
done
exit $failed
