/* SPDX-License-Identifier: MIT */
/* Parts about many contexts at once, and contexts that come and go beside work in others. */
#include "actor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CROWD 1024
#define THREADS 16

struct place {
    CUcontext context;
    CUstream stream;
    CUfunction function;
};

static struct place make_place(int device, const char *name)
{
    struct place p;
    MUST(cuCtxCreate(&p.context, NULL, 0, device));
    p.stream = actor_stream();
    p.function = actor_function_in(p.context, name);
    return p;
}

static void work_in(const struct place *p, int n)
{
    for (int i = 0; i < n; i++)
        MUST(actor_launch(p->function, i % 2 ? p->stream : NULL));
}

/* ---- many at once ---- */

static struct place crowd[CROWD];
static long crowd_size;

/* None of them ever was current to this thread. */
static void *end_crowd(void *unused)
{
    for (long i = 0; i < crowd_size; i++)
        MUST(cuCtxDestroy(crowd[i].context));
    return unused;
}

/* many-contexts [CONTEXTS [DEVICES]]: each has work of its own, again and again; a thread ends them
 * all */
int actor_many_contexts(int argc, char **argv)
{
    long devices = actor_number(argc, argv, 2, 1);
    pthread_t t;
    CUcontext popped;
    crowd_size = actor_number(argc, argv, 1, 100) % (CROWD + 1);
    MUST(cuInit(0));
    for (long i = 0; i < crowd_size; i++) {
        long device = i % devices;
        crowd[i] = make_place((int)device, device ? "on_one" : "on_zero");
        MUST(cuCtxPopCurrent(&popped));
    }
    for (int round = 0; round < 3; round++) { /* of all, less than a thread's queue takes */
        for (long i = 0; i < crowd_size; i++) {
            MUST(cuCtxPushCurrent(crowd[i].context));
            work_in(&crowd[i], 2);
            MUST(cuCtxPopCurrent(&popped));
        }
        actor_sleep_ms(1);
    }
    pthread_create(&t, NULL, end_crowd, NULL);
    pthread_join(t, NULL);
    printf("crowd: %ld contexts\n", crowd_size);
    return 0;
}

/* More than there is room for, of which the last ones come and go: their kernels' handles come back
 */
int actor_beyond_room(int argc, char **argv)
{
    CUcontext c;
    CUfunction first = NULL;
    long full = actor_number(argc, argv, 1, 256), more = actor_number(argc, argv, 2, 20);
    MUST(cuInit(0));
    for (long i = 0; i < full + more; i++) {
        MUST(cuCtxCreate(&c, NULL, 0, 0));
        CUfunction f = actor_function_in(c, i < full ? "full" : i % 2 ? "odd" : "even");
        MUST(actor_launch(f, NULL));
        MUST(cuCtxSynchronize());
        if (i < full) {
            MUST(cuCtxPopCurrent(&c));
            continue;
        }
        first = first ? first : f;
        MUST(cuCtxDestroy(c));
        printf("same kernel: %d\n", f == first);
    }
    return 0;
}

/* ---- coming and going ---- */

static atomic_int gates[THREADS];
static atomic_bool is_over;
static long rounds;

/* Opens what the others wait behind, so that they meet the gates closed. */
static void *open_gates(void *unused)
{
    while (!atomic_load(&is_over)) {
        actor_sleep_ms(1);
        for (int i = 0; i < THREADS; i++)
            atomic_store(&gates[i], 1);
    }
    return unused;
}

/* A context is destroyed with work in it that is not done, and another one gets its address. */
static void *come_and_go(void *arg)
{
    atomic_int *gate = arg;
    for (long r = 0; r < rounds; r++) {
        struct place p = make_place(0, "own");
        work_in(&p, 10);
        if (r % 3 == 0) {
            atomic_store(gate, 0);
            MUST(actor_launch_with(actor_function_in(p.context, "gate"), p.stream,
                                   (uint64_t)(uintptr_t)gate));
        }
        work_in(&p, 10);
        if (r % 3 == 1)
            MUST(cuStreamSynchronize(p.stream));
        MUST(cuCtxDestroy(p.context));
    }
    return NULL;
}

/* churn [THREADS [ROUNDS]]: threads that each make contexts, work in them, and destroy them */
int actor_churn(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 4) % (THREADS + 1);
    pthread_t threads[THREADS], opener;
    rounds = actor_number(argc, argv, 2, 60);
    actor_begin();
    pthread_create(&opener, NULL, open_gates, NULL);
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, come_and_go, &gates[i]);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&is_over, true);
    pthread_join(opener, NULL);
    printf("churn: %ld contexts\n", n * rounds);
    return 0;
}

/* ---- reset beside work on another device ---- */

static void *work_on_one(void *arg)
{
    CUcontext c;
    long n = *(long *)arg;
    MUST(cuDevicePrimaryCtxRetain(&c, 1));
    MUST(cuCtxSetCurrent(c));
    struct place p = {c, actor_stream(), actor_function_in(c, "beside")};
    for (long i = 0; i < n; i++) {
        MUST(actor_launch(p.function, p.stream));
        if (i % 100 == 99)
            MUST(cuStreamSynchronize(p.stream));
    }
    return NULL;
}

/* reset-beside [ROUNDS [LAUNCHES]]: device 0 is reset again and again, device 1 is at work */
int actor_reset_beside(int argc, char **argv)
{
    long n = actor_number(argc, argv, 2, 5000);
    pthread_t beside;
    CUcontext c;
    rounds = actor_number(argc, argv, 1, 40);
    MUST(cuInit(0));
    pthread_create(&beside, NULL, work_on_one, &n);
    for (long r = 0; r < rounds; r++) {
        MUST(cuDevicePrimaryCtxRetain(&c, 0));
        MUST(cuCtxSetCurrent(c));
        struct place p = {c, actor_stream(), actor_function_in(c, "again")};
        work_in(&p, 50);
        actor_say("reset", cuDevicePrimaryCtxReset(0));
    }
    pthread_join(beside, NULL);
    return 0;
}

/* ---- streams ---- */

static CUcontext shared;

static void *make_streams(void *unused)
{
    MUST(cuCtxSetCurrent(shared));
    CUfunction f = actor_function_in(shared, "streamed");
    for (long r = 0; r < rounds; r++) {
        CUstream s = actor_stream();
        for (int i = 0; i < 5; i++)
            MUST(actor_launch(f, s));
        MUST(cuStreamDestroy(s));
    }
    return unused;
}

/* streams-change [THREADS [ROUNDS]]: handles of streams change hands between threads */
int actor_streams_change(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 4) % (THREADS + 1);
    pthread_t threads[THREADS];
    rounds = actor_number(argc, argv, 2, 300);
    shared = actor_begin();
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, make_streams, NULL);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    printf("streams: %ld\n", n * rounds);
    return 0;
}
