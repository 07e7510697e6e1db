/* SPDX-License-Identifier: MIT */
#include "cuda/nccl_api.h"

#include "base/base.h"
#include "base/text.h"

const char *const ct_nccl_names[CT_NCCL_COUNT] = {
#define CT_NCCL(fn, ...) #fn,
#define CT_ASKED(fn, ...) #fn,
#include "cuda/nccl_api.def"
};

static const bool is_exported[CT_NCCL_COUNT] = {
#define CT_NCCL(fn, ...) true,
#define CT_ASKED(fn, ...) false,
#include "cuda/nccl_api.def"
};

uint32_t ct_nccl_find(const char *name)
{
    for (uint32_t id = 0; id < CT_NCCL_COUNT; id++)
        if (is_exported[id] && ct_streq(ct_nccl_names[id], name))
            return id;
    return CT_NCCL_COUNT;
}

unsigned ct_nccl_bytes_of(unsigned datatype)
{
    /* In nccl.h's order: int8, uint8, int32, uint32, int64, uint64, float16, 32, 64, bfloat16, two
     * of 8 bits. */
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return datatype < ct_countof(bytes) ? bytes[datatype] : 0;
}
