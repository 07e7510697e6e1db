/* SPDX-License-Identifier: MIT */
/* A program that uses cutrace/cutrace.h in several threads, beside one that launches. */
#include "actor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cutrace/cutrace.h"

#define ASKERS 3

static atomic_bool over;

/* Later figures are never less, and nothing is listed that was not launched. */
static void *ask(void *wrong)
{
    struct cutrace_kernel k = {0}, next;
    uint64_t timed = 0;
    while (!atomic_load(&over)) {
        uint32_t cursor = 0;
        int known_before = cutrace_kernel("asked", &k);
        atomic_fetch_add((atomic_int *)wrong, !known_before && !k.calls);
        int flushed = cutrace_flush(60000), known = cutrace_kernel("asked", &k);
        bool empty = !known && !k.calls; /* a row that nothing is known of yet */
        while (cutrace_next_kernel(&cursor, &next) == 0)
            empty |= !next.calls;
        if (empty || flushed || (known && known != ENOENT) || k.timed < timed || k.timed > k.calls)
            atomic_fetch_add((atomic_int *)wrong, 1);
        timed = k.timed;
    }
    return NULL;
}

/* In a child there is nothing to ask about, and nothing that hangs. */
static int ask_in_child(void)
{
    struct cutrace_kernel k;
    int status = 1;
    pid_t pid = fork();
    if (!pid)
        _exit(cutrace_flush(60000) != ENODATA || cutrace_kernel("asked", &k) != ENOENT);
    waitpid(pid, &status, 0);
    return status;
}

/* ask [LAUNCHES] */
int actor_ask(int argc, char **argv)
{
    pthread_t t[ASKERS];
    struct cutrace_kernel k = {0};
    atomic_int wrong = 0;
    long n = actor_number(argc, argv, 1, 1000);
    actor_begin();
    CUfunction f = actor_function("asked");
    for (int i = 0; i < ASKERS; i++)
        pthread_create(&t[i], NULL, ask, &wrong);
    for (long i = 0; i < n; i++) {
        MUST(actor_launch(f, NULL));
        if (i % 16 == 0)
            MUST(cuCtxSynchronize());
    }
    MUST(cuCtxSynchronize());
    atomic_store(&over, true);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(t[i], NULL);
    int flushed = cutrace_flush(60000), known = cutrace_kernel("asked", &k);
    printf("wrong %d, flush %d, kernel %d, child %d\n", wrong, flushed, known, ask_in_child());
    printf("%lu calls, %lu timed\n", (unsigned long)k.calls, (unsigned long)k.timed);
    return 0;
}
