/* SPDX-License-Identifier: MIT */
#include "driver/model.h"

#include "cuda/args.h"

/* clang-format off */
#define STUB(fn, ...)                                                                              \
    __attribute__((weak)) CUresult sim_##fn(CT_PARAMS(__VA_ARGS__))                                \
    {                                                                                              \
        return CUDA_ERROR_NOT_SUPPORTED;                                                           \
    }
#define ROW(fn, ...) STUB(fn, __VA_ARGS__)
#define ROW_TWIN(suffix, fn, ...) STUB(fn, __VA_ARGS__)
/* clang-format on */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "common/each_row.h"
