/* SPDX-License-Identifier: MIT */
#define LZ4_DISABLE_DEPRECATE_WARNINGS /* within LZ4 */
#include "format/pack.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "../../third_party/lz4/lz4.c"
