/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 that does nothing but keep each call's arguments. What a profiler must have at
 * the start, it answers. */
#include "cuda/newer_api.h"

#include "common/entry_points.h"
#include "echo/echo.h"

#define VERSION 13050

enum echo_id {
#define ROW(fn, ...) ID_##fn,
#define ROW_TWIN(suffix, fn, ...) ID_##fn, ID_##fn##suffix,
#include "common/each_row.h"
};

static int answer(enum echo_id id)
{
    return id == ID_cuInit ? CUDA_SUCCESS : ECHO_TOKEN + (int)id;
}

/* clang-format off */
#define CALL(symbol, ...) \
    ECHO_EXPORT CUresult symbol(CT_PARAMS(__VA_ARGS__)) \
    { \
        struct cudasim_echo *e = echo_begin(#symbol); \
        EACH(ECHO_KEEP, __VA_ARGS__) \
        e->result = answer(ID_##symbol); \
        return (CUresult)e->result; \
    }
#define cuGetProcAddress kept_cuGetProcAddress
#define cuGetProcAddress_v2 kept_cuGetProcAddress_v2
#define cuDriverGetVersion kept_cuDriverGetVersion
#define ID_kept_cuGetProcAddress ID_cuGetProcAddress
#define ID_kept_cuGetProcAddress_v2 ID_cuGetProcAddress_v2
#define ID_kept_cuDriverGetVersion ID_cuDriverGetVersion
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define ROW(fn, ...) CALL(fn, __VA_ARGS__)
#define ROW_TWIN(suffix, fn, ...) CALL(fn, __VA_ARGS__) CALL(fn##suffix, __VA_ARGS__)
#include "common/each_row.h"
#undef cuGetProcAddress
#undef cuGetProcAddress_v2
#undef cuDriverGetVersion
/* clang-format on */

ECHO_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version,
                                         cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    int found;
    *out = sim_entry_point(name, version, flags, VERSION, &found);
    if (status)
        *status = (CUdriverProcAddressQueryResult)found;
    return CUDA_SUCCESS;
}

ECHO_EXPORT CUresult cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    CUresult r = cuGetProcAddress_v2(name, out, version, flags, NULL);
    return r == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : r;
}

ECHO_EXPORT CUresult cuDriverGetVersion(int *out)
{
    *out = VERSION;
    return CUDA_SUCCESS;
}

ECHO_EXPORT cudasim_echo_find_fn cudasim_echo_find;
const struct cudasim_echo *cudasim_echo_find(const char *name)
{
    return echo_find(name);
}

ECHO_EXPORT cudasim_echo_count_fn cudasim_echo_count;
uint64_t cudasim_echo_count(void)
{
    return echo_calls;
}

ECHO_EXPORT cudasim_echo_forget_fn cudasim_echo_forget;
void cudasim_echo_forget(void)
{
    memset(echo_kept, 0, sizeof(echo_kept));
}
