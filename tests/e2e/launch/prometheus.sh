#!/bin/bash
# SPDX-License-Identifier: MIT
# The metrics of a running program as Prometheus itself scrapes, stores and queries them.
[ -z "${BUILD_SANITIZERS-}" ] || { echo "the launcher has no sanitizer's library to preload"; exit 77; }
for tool in prometheus promtool; do
    command -v $tool >/dev/null || { echo "$tool was not found"; exit 77; }
done
build=$PWD
dir=$(mktemp -d) || exit 99
server= program=
trap 'kill $server $program 2>/dev/null; wait; rm -rf "$dir"' EXIT
export LD_LIBRARY_PATH=$build/tests/sim/lib
cd "$dir" || exit 99
mkdir textfile

fail() {
    echo "$*"
    tail -n 5 err prometheus.err
    exit 1
}

# await COMMAND...: until it succeeds, for as long as a busy machine may need
await() {
    for ((i = 0; i < 600; i++)); do
        "$@" && return
        sleep 0.05
    done
    fail "waited in vain for: $*"
}

"$build/cutrace" --log-level 2 --metrics-to openmetrics:0,textfile:textfile "$build/tests/e2e/actor/actor" serve 2>err &
program=$!
listens() { grep -q 'metrics are at http://127.0.0.1:[0-9]*/metrics$' err; }
await listens
target=$(sed -n 's,.*metrics are at http://\(.*\)/metrics$,\1,p' err)

cat >prometheus.yml <<END
global: {scrape_interval: 100ms, scrape_timeout: 100ms}
scrape_configs:
  - {job_name: cutrace, static_configs: [{targets: ["$target"]}]}
END
# A number that another has is tried no second time.
start_prometheus() {
    listen=127.0.0.1:$((20000 + RANDOM % 12000))
    prometheus --config.file=prometheus.yml --storage.tsdb.path=data --log.level=warn \
        --web.listen-address=$listen 2>prometheus.err &
    server=$!
    for ((i = 0; i < 600; i++)); do
        kill -0 $server 2>/dev/null || return 1
        promtool query instant "http://$listen" 'vector(1)' >/dev/null 2>&1 && return
        sleep 0.05
    done
    return 1
}
start_prometheus || start_prometheus || start_prometheus || fail "prometheus does not start"

# The number that a query comes to; nothing while there is no such series.
ask() { promtool query instant "http://$listen" "$1" 2>/dev/null | sed -n 's/.*=> \([^ ]*\) @.*/\1/p'; }
is() { [ "$(ask "$1")" = "$2" ]; }

await is 'cutrace_operations_total{name="alpha"}' 100
await is 'cutrace_operation_duration_seconds_bucket{name="alpha",le="5e-06"}' 100
await is 'cutrace_operation_duration_seconds_count{name="alpha"}' 100
query='rate(cutrace_operations_total{name="alpha",kind="kernel"}[1s])'
grows() {
    touch more
    awk -v rate="$(ask "$query")" 'BEGIN { exit !(rate > 0) }'
}
await grows
for ((i = 0; i < 20; i++)); do grows; done
# The log shows it as it stands in doc/scale.md.
echo "\$ promtool query instant -o json http://$listen '$query'"
promtool query instant -o json "http://$listen" "$query" | tee answer
grep -q '^\[{"metric":{.*"name":"alpha".*},"value":\[[0-9.]*,"[0-9.e+]*"\]}\]$' answer || fail "no answer to $query"
mean=$(ask 'cutrace_operation_duration_seconds_sum{name="alpha"} / cutrace_operation_duration_seconds_count{name="alpha"}')
awk -v mean="$mean" 'BEGIN { exit !(mean > 1.9e-6 && mean < 2.1e-6) }' || fail "a kernel of 2 us takes $mean s"
is 'max by (job) (scrape_samples_scraped)' "" && fail "nothing was scraped"
touch stop
wait $program
for file in textfile/*.prom; do
    promtool check metrics <"$file" || fail "$file is not what promtool takes"
done
