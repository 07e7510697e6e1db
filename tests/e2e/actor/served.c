/* SPDX-License-Identifier: MIT */
/* A program that lives until it is told to end, for those who ask it from outside meanwhile. */
#include "actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BATCH 16

static void launch(CUfunction f, long n)
{
    for (long i = 0; i < n; i++) {
        MUST(actor_launch(f, NULL));
        if (i % BATCH == BATCH - 1)
            MUST(cuCtxSynchronize());
    }
    MUST(cuCtxSynchronize());
}

/* A graph of one kernel; what is launched next time is another, with the same content. */
static void launch_graph(CUfunction f, CUstream s, long n)
{
    CUgraph g;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(actor_launch(f, s));
    MUST(cuStreamEndCapture(s, &g));
    MUST(cuGraphInstantiate(&exec, g, 0));
    for (long i = 0; i < n; i++)
        MUST(cuGraphLaunch(exec, s));
    MUST(cuCtxSynchronize());
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(g));
}

/* All but the standard streams, as daemons do. */
static void close_all(void)
{
    close_range(3, UINT32_MAX, 0);
}

/* A child that is there as long as the pipe to this process's standard input has a writer. */
static void make_child(void)
{
    char c;
    pid_t pid = fork();
    if (!pid) {
        while (read(STDIN_FILENO, &c, 1) > 0)
            ;
        _exit(0);
    }
    printf("child %d\n", (int)pid);
}

/*
 * served: reads lines, and answers each. "alpha N", "beta N": launches N kernels of that name and
 * waits for them; "graph alpha N", "graph beta N": N times a graph of one of them; "close": closes
 * all descriptors; "fork": leaves a child behind; "undumpable": is one from
 * then on.
 */
int actor_served(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    char line[64];
    actor_begin();
    CUfunction alpha = actor_function("alpha"), beta = actor_function("beta");
    CUstream stream = actor_stream();
    setvbuf(stdin, NULL, _IONBF, 0); /* the child reads on where this one stopped */
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", (int)getpid());
    while (fgets(line, sizeof(line), stdin)) {
        if (!strncmp(line, "alpha ", 6))
            launch(alpha, atol(line + 6));
        else if (!strncmp(line, "beta ", 5))
            launch(beta, atol(line + 5));
        else if (!strncmp(line, "graph alpha ", 12))
            launch_graph(alpha, stream, atol(line + 12));
        else if (!strncmp(line, "graph beta ", 11))
            launch_graph(beta, stream, atol(line + 11));
        else if (!strcmp(line, "close\n"))
            close_all();
        else if (!strcmp(line, "fork\n"))
            make_child();
        else if (!strcmp(line, "undumpable\n"))
            prctl(PR_SET_DUMPABLE, 0);
        printf("done\n");
    }
    return 0;
}
