/* SPDX-License-Identifier: MIT */
/* LZ4 (third_party/lz4) in a form fit for the program: without a heap, and nothing exported. */
#ifndef CT_PACK_H
#define CT_PACK_H

#define LZ4_STATIC_LINKING_ONLY_DISABLE_MEMORY_ALLOCATION
#define LZ4LIB_VISIBILITY __attribute__((visibility("hidden")))
#include "../../third_party/lz4/lz4.h"

#endif
