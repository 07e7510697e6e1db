/* SPDX-License-Identifier: MIT */
/* Parts that do a little of everything, for the options. */
#include "actor.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* small [LAUNCHES]: that many of alpha, half of beta, ten copies and ten sets */
int actor_small(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 100);
    char host[4096] = {0};
    CUdeviceptr p;
    actor_begin();
    CUfunction alpha = actor_function("alpha"), beta = actor_function("beta");
    CUstream s = actor_stream();
    MUST(cuMemAlloc(&p, sizeof(host)));
    for (long i = 0; i < n; i++) {
        MUST(actor_launch(alpha, s));
        if (i % 2)
            MUST(actor_launch(beta, s));
    }
    for (int i = 0; i < 10; i++) {
        MUST(cuMemsetD8Async(p, (unsigned char)i, sizeof(host), s));
        MUST(cuMemcpyDtoHAsync(host, p, sizeof(host), s));
    }
    MUST(cuStreamSynchronize(s));
    printf("small: %ld launches, last byte %d\n", n, host[sizeof(host) - 1]);
    return 0;
}

/* renames: as small, and what LIFE says changes as soon as CUDA has started */
int actor_renames(int argc, char **argv)
{
    MUST(cuInit(0));
    setenv("LIFE", "later", 1);
    return actor_small(argc, argv);
}

static void launches(CUfunction f, CUstream s, int n)
{
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
}

/* 10 launches, profiler on, 20, off, 30, on, 40 */
int actor_profiler(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    actor_begin();
    CUfunction f = actor_function("alpha");
    CUstream s = actor_stream();
    launches(f, s, 10);
    actor_say("start", cuProfilerStart());
    launches(f, s, 20);
    actor_say("stop", cuProfilerStop());
    launches(f, s, 30);
    actor_say("start", cuProfilerStart());
    launches(f, s, 40);
    return 0;
}

/* How many threads there are once CUDA has started. */
int actor_tasks(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    actor_begin();
    int n = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));)
        n += *e->d_name != '.';
    printf("tasks: %d\n", n);
    return d ? closedir(d) : 1;
}

/* Takes a request: a file of that name. */
static bool is_asked(const char *request)
{
    return unlink(request) == 0;
}

/*
 * 100 launches, and more when there is a file "more"; closes all descriptors but the standard ones
 * for "close", and ends for "stop"
 */
int actor_serve(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    actor_begin();
    CUfunction alpha = actor_function("alpha");
    CUstream s = actor_stream();
    launches(alpha, s, 100);
    while (!is_asked("stop")) {
        if (is_asked("more"))
            launches(alpha, s, 100);
        if (is_asked("close"))
            close_range(3, UINT32_MAX, 0);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return 0;
}
