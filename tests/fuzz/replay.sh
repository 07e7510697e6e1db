#!/bin/sh
# SPDX-License-Identifier: MIT
exec tests/fuzz/replay "${srcdir:-.}"/tests/fuzz/corpus/*
