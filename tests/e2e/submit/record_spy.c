/* SPDX-License-Identifier: MIT */
/*
 * Stands between cutrace and the driver: which streams are events recorded in, and on which
 * threads? Says at the end how many records went to the per-thread stream of a thread with
 * launches of its own, to another stream, and came from other threads.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

#define THREADS 64

struct thread {
    unsigned launches, per_thread, elsewhere;
};

static struct thread threads[THREADS];
static atomic_uint count;

CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CUstream, void **, void **);

static struct thread *self(void)
{
    static __thread struct thread *own;
    if (!own)
        own = &threads[atomic_fetch_add(&count, 1) % THREADS];
    return own;
}

#define NEXT(fn) ((__typeof__(fn) *)dlsym(RTLD_NEXT, #fn))

CUresult cuInit(unsigned flags)
{
    return NEXT(cuInit)(flags);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    static __typeof__(cuEventRecord) *_Atomic next;
    if (!next)
        next = NEXT(cuEventRecord);
    if (stream == CU_STREAM_PER_THREAD)
        self()->per_thread++;
    else
        self()->elsewhere++;
    return next(event, stream);
}

CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, CUstream stream, void **p,
                             void **extra)
{
    static __typeof__(cuLaunchKernel_ptsz) *_Atomic next;
    if (!next)
        next = NEXT(cuLaunchKernel_ptsz);
    self()->launches++;
    return next(f, gx, gy, gz, bx, by, bz, shared, stream, p, extra);
}

__attribute__((destructor)) static void end(void)
{
    unsigned right = 0, elsewhere = 0, others = 0, launches = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *t = &threads[i];
        launches += t->launches;
        elsewhere += t->elsewhere;
        *(t->launches ? &right : &others) += t->per_thread;
    }
    fprintf(stderr, "spy: %u launches, records: %u right, %u elsewhere, %u by others\n", launches,
            right, elsewhere, others);
}
