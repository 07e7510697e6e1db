/* SPDX-License-Identifier: MIT */
/* What the programs of the runtime API share: a call that must not fail. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define RT(call) runtime_check((call), #call, __LINE__)

static inline void runtime_check(cudaError_t e, const char *call, int line)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorName(e));
    exit(1);
}

#endif
