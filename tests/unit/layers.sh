#!/bin/sh
# SPDX-License-Identifier: MIT
# Includes go one way: base <- cuda <- record <- preload; base <- format <- {record, preload, tools}.
cd "${srcdir:-.}" || exit 1
check() { # DIRECTORY LAYERS: what its files may include
    grep -rEn '#include "(base|cuda|record|format|preload|report)/' "$1" | grep -Ev "#include \"($2)[/\"]" && exit 1
}
check src/base 'base'
check src/cuda 'base|cuda'
check src/format 'base|format'
check src/record 'base|cuda|format|record'
check src/preload 'base|cuda|format|record|preload'
check tools 'base|format|report|preload/options.def|preload/setting.h' # what options are
[ "$(grep -rE '#include "' src tools | wc -l)" -gt 100 ]
