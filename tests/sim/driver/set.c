/* SPDX-License-Identifier: MIT */
/* Memory sets and prefetches. */
#include "driver/model.h"

struct sim_work sim_set_work(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element_bytes,
                             size_t width, size_t height)
{
    struct sim_work w = {.kind = SIM_WORK_SET, .name = "memset"};
    w.fill = (struct sim_fill){(char *)(uintptr_t)to, value, element_bytes, pitch, width, height};
    w.bytes = (uint64_t)width * height * element_bytes;
    w.duration_ns = sim_set_ns(w.bytes);
    return w;
}

static CUresult set(CUdeviceptr to, size_t pitch, uint32_t value, unsigned element_bytes,
                    size_t width, size_t height, CUstream stream)
{
    CUstream s;
    const struct sim_block *b = sim_block_of((uintptr_t)to);
    struct sim_work w = sim_set_work(to, pitch, value, element_bytes, width, height);
    if (!w.bytes)
        return sim_stream_of(stream, &s);
    if (!b || to % element_bytes ||
        to + (height - 1) * pitch + width * element_bytes > b->start + b->bytes)
        return CUDA_ERROR_INVALID_VALUE;
    return sim_submit_to(stream, &w);
}

#define SET_CALLS(bits, type)                                                                      \
    CUresult sim_cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t n)                        \
    {                                                                                              \
        return set(to, 0, value, bits / 8, n, 1, NULL);                                            \
    }                                                                                              \
    CUresult sim_cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t n, CUstream s)          \
    {                                                                                              \
        return set(to, 0, value, bits / 8, n, 1, s);                                               \
    }                                                                                              \
    CUresult sim_cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,    \
                                        size_t height)                                             \
    {                                                                                              \
        return set(to, pitch, value, bits / 8, width, height, NULL);                               \
    }                                                                                              \
    CUresult sim_cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,  \
                                          size_t height, CUstream s)                               \
    {                                                                                              \
        return set(to, pitch, value, bits / 8, width, height, s);                                  \
    }
SET_CALLS(8, unsigned char)
SET_CALLS(16, unsigned short)
SET_CALLS(32, unsigned int)

CUresult sim_prefetch_work(CUdeviceptr p, size_t bytes, bool to_host, struct sim_work *out)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    if (!b || b->place != SIM_MANAGED || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct sim_work){
        .kind = SIM_WORK_PREFETCH, .name = to_host ? "DtoH" : "HtoD", .bytes = bytes};
    out->duration_ns = sim_copy_ns(out->name, bytes);
    return CUDA_SUCCESS;
}

static CUresult prefetch(CUdeviceptr p, size_t bytes, bool to_host, CUstream stream)
{
    struct sim_work w;
    CUresult r = sim_prefetch_work(p, bytes, to_host, &w);
    return r == CUDA_SUCCESS ? sim_submit_to(stream, &w) : r;
}

CUresult sim_cuMemPrefetchAsync(CUdeviceptr p, size_t bytes, CUdevice to, CUstream stream)
{
    return prefetch(p, bytes, to == CU_DEVICE_CPU, stream);
}

CUresult sim_cuMemPrefetchAsync_v2(CUdeviceptr p, size_t bytes, CUmemLocation to,
                                   unsigned int flags, CUstream stream)
{
    return flags ? CUDA_ERROR_INVALID_VALUE
                 : prefetch(p, bytes, to.type != CU_MEM_LOCATION_TYPE_DEVICE, stream);
}

static CUresult advise(CUdeviceptr p)
{
    const struct sim_block *b = sim_block_of((uintptr_t)p);
    return b && b->place == SIM_MANAGED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemAdvise(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUdevice device)
{
    (void)bytes;
    (void)advice;
    (void)device;
    return advise(p);
}

CUresult sim_cuMemAdvise_v2(CUdeviceptr p, size_t bytes, CUmem_advise advice, CUmemLocation where)
{
    (void)bytes;
    (void)advice;
    (void)where;
    return advise(p);
}
