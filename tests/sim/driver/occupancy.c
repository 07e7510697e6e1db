/* SPDX-License-Identifier: MIT */
/* How many threads fit. The program is called back where it says how much memory a block takes. */
#include "driver/model.h"

#define MOST_THREADS 2048
#define BLOCK 1024
#define GRID 264

static CUresult check(CUfunction f)
{
    return sim_function_of(f) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads,
                                                         size_t shared_bytes)
{
    (void)shared_bytes;
    if (!out || threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    *out = MOST_THREADS / threads;
    return check(f);
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction f,
                                                                  int threads, size_t shared_bytes,
                                                                  unsigned int flags)
{
    (void)flags;
    return sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(out, f, threads, shared_bytes);
}

/* It may make calls of its own meanwhile. */
static void call_back(CUoccupancyB2DSize shared_bytes_of, int threads)
{
    sim_unlock();
    shared_bytes_of(threads);
    sim_lock();
}

CUresult sim_cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
                                              CUoccupancyB2DSize shared_bytes_of,
                                              size_t shared_bytes, int limit)
{
    (void)shared_bytes;
    if (!grid || !block)
        return CUDA_ERROR_INVALID_VALUE;
    *grid = GRID;
    *block = limit > 0 && limit < BLOCK ? limit : BLOCK;
    if (shared_bytes_of && check(f) == CUDA_SUCCESS)
        call_back(shared_bytes_of, *block);
    return check(f);
}

CUresult sim_cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f,
                                                       CUoccupancyB2DSize shared_bytes_of,
                                                       size_t shared_bytes, int limit,
                                                       unsigned int flags)
{
    (void)flags;
    return sim_cuOccupancyMaxPotentialBlockSize(grid, block, f, shared_bytes_of, shared_bytes,
                                                limit);
}
