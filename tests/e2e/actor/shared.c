/* SPDX-License-Identifier: MIT */
/* Threads that launch into one stream at once. */
#include "actor.h"

#include <pthread.h>
#include <string.h>

#define THREADS_MOST 64
#define THREADS_USUAL 16
#define COPY_BYTES 60000

/* One thread's share: even ones do `even`. A kernel is "spin_<name>"; "copy": within the device. */
static const struct kind {
    const char *name;
    struct task {
        const char *function;
        uint64_t ns;
    } even, odd;
    int launches, wait_every; /* of each of THREADS_USUAL; fewer launch more */
} kinds[] = {
    {"long", {"spin_long", 20000}, {"spin_long", 20000}, 200, 10},
    {"queued", {"spin_long", 20000}, {"spin_long", 20000}, 200, 0},
    {"short", {"spin_short", 2000}, {"spin_short", 2000}, 400, 0},
    {"short-waits", {"spin_short", 2000}, {"spin_short", 2000}, 400, 40},
    {"mixed", {"spin_5", 5000}, {"spin_50", 50000}, 200, 5},
    {"copies", {"spin_long", 20000}, {"copy", 0}, 200, 5},
};

static const struct kind *kind;
static CUcontext context;
static CUstream stream;
static CUdeviceptr memory;
static CUfunction functions[2];
static int launches; /* of each thread */

static void submit(const struct task *t, CUfunction f)
{
    if (f)
        MUST(actor_launch_with(f, stream, t->ns));
    else
        MUST(cuMemcpyDtoDAsync(memory + COPY_BYTES, memory, COPY_BYTES, stream));
}

static CUfunction function_of(const struct task *t)
{
    return strcmp(t->function, "copy") ? actor_function(t->function) : NULL;
}

static void *run(void *odd)
{
    const struct task *t = odd ? &kind->odd : &kind->even;
    CUfunction f = functions[odd != NULL];
    MUST(cuCtxSetCurrent(context));
    for (int i = 1; i <= launches; i++) {
        submit(t, f);
        if (kind->wait_every && i % kind->wait_every == 0)
            MUST(cuStreamSynchronize(stream));
    }
    return NULL;
}

/* shared THREADS KIND: after one of each that has the stream for itself */
int actor_shared(int argc, char **argv)
{
    pthread_t threads[THREADS_MOST];
    int count = (int)actor_number(argc, argv, 1, 4);
    const char *name = actor_word(argc, argv, 2, "long");
    context = actor_begin();
    stream = actor_stream();
    for (kind = kinds; strcmp(kind->name, name);)
        kind++;
    launches = kind->launches * THREADS_USUAL / count;
    MUST(cuMemAlloc(&memory, (size_t)2 * COPY_BYTES));
    functions[0] = function_of(&kind->even);
    functions[1] = function_of(&kind->odd);
    for (int i = 0; i < 8; i++) {
        submit(&kind->even, functions[0]);
        submit(&kind->odd, functions[1]);
        MUST(cuStreamSynchronize(stream));
    }
    for (intptr_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, (void *)(i % 2));
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    MUST(cuStreamSynchronize(stream));
    return 0;
}
