#!/bin/sh
# SPDX-License-Identifier: MIT
# Each room includes rooms before it alone: the order of the lines.
cd "${srcdir:-.}" || exit 1
rooms='base
system
containers
cuda
format
options
time
state
counts
work
stacks
launch
managed
device
drain
watch
output
service
preload'
any=$(echo "$rooms report" | tr '\n ' '||')
allowed=
[ "$(ls -d src/*/ | wc -l)" = "$(echo "$rooms" | wc -l)" ] || { echo "a room without a place in the order"; exit 1; }
for room in $rooms; do
    allowed=$allowed${allowed:+|}$room
    grep -rEn "#include \"($any)/" "src/$room" | grep -Ev "#include \"($allowed)[/\"]" && exit 1
done
grep -rEn "#include \"($any)/" tools | grep -Ev '#include "(base|system|containers|format|options|report)/' && exit 1
[ "$(grep -rE '#include "' src tools | wc -l)" -gt 100 ]
