#!/bin/sh
# SPDX-License-Identifier: MIT
# Includes go one way: base <- cuda <- time <- state <- launch <- drain <- service <- preload; formats
# stand on base, options on state.
cd "${srcdir:-.}" || exit 1
rooms='base|cuda|format|time|state|launch|drain|options|service|preload|report'
check() { # DIRECTORY LAYERS: what its files may include
    grep -rEn "#include \"($rooms)/" "$1" | grep -Ev "#include \"($2)[/\"]" && exit 1
}
check src/base 'base'
check src/cuda 'base|cuda'
check src/format 'base|format'
check src/time 'base|cuda|format|time'
check src/state 'base|cuda|format|time|state'
check src/launch 'base|cuda|format|time|state|launch'
check src/drain 'base|cuda|format|time|state|launch|drain'
check src/options 'base|format|options'
check src/service 'base|cuda|format|time|state|launch|drain|options|service'
check src/preload "$rooms"
check tools 'base|format|report|options'
[ "$(grep -rE '#include "' src tools | wc -l)" -gt 100 ]
