/* SPDX-License-Identifier: MIT */
#include "preload/nccl.h"

#include "preload/library.h"

static bool is_nccl(const struct ct_object *o)
{
    return ct_object_symbol(o, "ncclGetUniqueId") && ct_object_symbol(o, "ncclCommInitRank") &&
           ct_object_symbol(o, "ncclAllReduce");
}

static _Atomic(ct_function) real[CT_LIBRARIES * CT_NCCL_COUNT];
static struct ct_libraries libraries = {
    .needed = "libnccl.so",
    .file = "",
    .is_one = is_nccl,
    .names = ct_nccl_names,
    .real = real,
    .functions = CT_NCCL_COUNT,
};

bool ct_nccl_claim(const void *address)
{
    return ct_library_claim(&libraries, address);
}

void ct_nccl_forget(void)
{
    ct_library_forget(&libraries);
}

ct_function ct_nccl_real(uint32_t id, const void *caller)
{
    return ct_library_real(&libraries, id, caller);
}
