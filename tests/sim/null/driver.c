/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 whose functions succeed and do nothing, as fast as that can be done: what is then
 * measured is the cost of whoever stands before it. Events are always complete, 10 us apart. */
#include "cuda/newer_api.h"
#include <stdatomic.h>
#include <string.h>

#include "common/entry_points.h"
#include "cuda/args.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))

/* clang-format off */
#define CALL(symbol, ...) \
    EXPORT __attribute__((weak)) CUresult symbol(CT_PARAMS(__VA_ARGS__)) { return CUDA_SUCCESS; }
#define ROW(fn, ...) CALL(fn, __VA_ARGS__)
#define ROW_TWIN(suffix, fn, ...) CALL(fn, __VA_ARGS__) CALL(fn##suffix, __VA_ARGS__)
#include "common/each_row.h"
/* clang-format on */
