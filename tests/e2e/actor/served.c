/* SPDX-License-Identifier: MIT */
/* A program that lives until it is told to end, for those who ask it from outside meanwhile. */
#include "actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
 * waits for them; "close": closes all descriptors; "fork": leaves a child behind.
 */
int actor_served(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    char line[64];
    actor_begin();
    CUfunction alpha = actor_function("alpha"), beta = actor_function("beta");
    setvbuf(stdin, NULL, _IONBF, 0); /* the child reads on where this one stopped */
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d\n", (int)getpid());
    while (fgets(line, sizeof(line), stdin)) {
        if (!strncmp(line, "alpha ", 6))
            launch(alpha, atol(line + 6));
        else if (!strncmp(line, "beta ", 5))
            launch(beta, atol(line + 5));
        else if (!strcmp(line, "close\n"))
            close_all();
        else if (!strcmp(line, "fork\n"))
            make_child();
        printf("done\n");
    }
    return 0;
}
