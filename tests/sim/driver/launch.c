/* SPDX-License-Identifier: MIT */
#include "driver/model.h"

#include <string.h>

const char *sim_launched_name(const struct sim_launch *l)
{
    return l->function ? l->function->interned : l->kernel->interned;
}

static uint64_t second_argument(const char *name, void **parameters)
{
    uint64_t value = 0;
    if (parameters && sim_is_selftimed(name))
        memcpy(&value, parameters[1], sizeof(value));
    return value;
}

static uint64_t first_argument(const char *name, void **parameters, void **extra)
{
    uint64_t value = 0;
    if (!sim_reads_argument(name))
        return 0;
    if (parameters)
        memcpy(&value, parameters[0], sizeof(value));
    for (unsigned i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            memcpy(&value, extra[i + 1], sizeof(value));
    return value;
}

static bool is_bad_shape(const struct sim_launch *l)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    const char *name = sim_launched_name(l);
    if (sim_is_selftimed(name) && !sim_selftimed_is_shaped(name, l))
        return true;
    return !l->grid[0] || !l->grid[1] || !l->grid[2] || !threads || threads > 1024 ||
           l->grid[1] > 65535 || l->grid[2] > 65535 || l->shared_bytes > 232448;
}

/* What a launch would do; a handle may be a function's or a kernel's. */
CUresult sim_kernel_work(CUfunction handle, struct sim_launch l, void **parameters, void **extra,
                         struct sim_work *out)
{
    if (sim_is(SIM_KERNEL, handle))
        l.kernel = (CUkernel)handle;
    else if (sim_check(SIM_FUNCTION, handle) == CUDA_SUCCESS)
        l.function = handle;
    else
        return CUDA_ERROR_INVALID_HANDLE;
    if (is_bad_shape(&l))
        return CUDA_ERROR_INVALID_VALUE;
    memset(out, 0, sizeof(*out));
    out->kind = SIM_WORK_KERNEL;
    out->name = sim_launched_name(&l);
    l.argument = first_argument(out->name, parameters, extra);
    l.second = second_argument(out->name, parameters);
    out->launch = l;
    out->duration_ns = sim_kernel_ns(out->name, &l);
    return CUDA_SUCCESS;
}

/* A function belongs to a context, a stream as well: they must be the same. */
static bool is_elsewhere(const struct sim_launch *l, CUstream s)
{
    return l->function && l->function->module->context != s->context;
}

static CUresult launch(CUfunction f, struct sim_launch l, CUstream handle, void **parameters,
                       void **extra)
{
    CUstream s;
    struct sim_work w;
    CUresult r = sim_stream_of(handle, &s);
    if (r == CUDA_SUCCESS)
        r = sim_kernel_work(f, l, parameters, extra, &w);
    if (r == CUDA_SUCCESS && is_elsewhere(&w.launch, s))
        r = CUDA_ERROR_INVALID_HANDLE;
    return r == CUDA_SUCCESS ? sim_submit(s, &w) : r;
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
                            unsigned int bx, unsigned int by, unsigned int bz,
                            unsigned int shared_bytes, CUstream stream, void **parameters,
                            void **extra)
{
    return launch(f, (struct sim_launch){.grid = {gx, gy, gz}, .block = {bx, by, bz},
                                         .shared_bytes = shared_bytes},
                  stream, parameters, extra);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy,
                                       unsigned int gz, unsigned int bx, unsigned int by,
                                       unsigned int bz, unsigned int shared_bytes, CUstream stream,
                                       void **parameters)
{
    return sim_cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, NULL);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **parameters,
                              void **extra)
{
    if (!c || (c->numAttrs && !c->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    return sim_cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
                              c->blockDimZ, c->sharedMemBytes, c->hStream, parameters, extra);
}

CUresult sim_cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned int count,
                                                  unsigned int flags)
{
    CUresult r = list && count && flags < 4 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < count; i++)
        r = sim_cuLaunchKernel(list[i].function, list[i].gridDimX, list[i].gridDimY,
                               list[i].gridDimZ, list[i].blockDimX, list[i].blockDimY,
                               list[i].blockDimZ, list[i].sharedMemBytes, list[i].hStream,
                               list[i].kernelParams, NULL);
    return r;
}

/* ---- the calls of CUDA before 4.0 ---- */

CUresult sim_cuFuncSetBlockShape(CUfunction f, int x, int y, int z)
{
    CUresult r = sim_check(SIM_FUNCTION, f);
    if (r != CUDA_SUCCESS)
        return r;
    f->block[0] = (uint32_t)x;
    f->block[1] = (uint32_t)y;
    f->block[2] = (uint32_t)z;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetSharedSize(CUfunction f, unsigned int bytes)
{
    CUresult r = sim_check(SIM_FUNCTION, f);
    if (r == CUDA_SUCCESS)
        f->shared_bytes = bytes;
    return r;
}

CUresult sim_cuParamSetSize(CUfunction f, unsigned int bytes)
{
    (void)bytes;
    return sim_check(SIM_FUNCTION, f);
}

CUresult sim_cuParamSeti(CUfunction f, int offset, unsigned int value)
{
    (void)offset;
    (void)value;
    return sim_check(SIM_FUNCTION, f);
}

CUresult sim_cuParamSetf(CUfunction f, int offset, float value)
{
    (void)offset;
    (void)value;
    return sim_check(SIM_FUNCTION, f);
}

CUresult sim_cuParamSetv(CUfunction f, int offset, void *p, unsigned int bytes)
{
    CUresult r = sim_check(SIM_FUNCTION, f);
    if (r == CUDA_SUCCESS && offset == 0 && bytes <= sizeof(f->argument))
        memcpy(&f->argument, p, bytes);
    return r;
}

CUresult sim_cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream)
{
    CUresult r = sim_check(SIM_FUNCTION, f);
    if (r != CUDA_SUCCESS)
        return r;
    void *parameters[] = {&f->argument};
    return sim_cuLaunchKernel(f, (unsigned)width, (unsigned)height, 1, f->block[0], f->block[1],
                              f->block[2], f->shared_bytes, stream, parameters, NULL);
}

CUresult sim_cuLaunchGrid(CUfunction f, int width, int height)
{
    return sim_cuLaunchGridAsync(f, width, height, NULL);
}

CUresult sim_cuLaunch(CUfunction f)
{
    return sim_cuLaunchGridAsync(f, 1, 1, NULL);
}
