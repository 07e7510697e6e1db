/* SPDX-License-Identifier: MIT */
/*
 * Runs the program as a child in the launcher's own process group, and passes on signals that come
 * to the launcher alone: doc/internals/launcher.md says why it is done this way.
 */
#ifndef JOB_H
#define JOB_H

#include <stdbool.h>
#include <sys/types.h>

struct job {
    char **argv;
    char **environment;
    double timeout_s;          /* from CUDA's start in any process; 0: none */
    bool (*has_started)(void); /* asked now and then when there is a timeout */
    pid_t pid;
    int status;     /* as of waitpid */
    bool timed_out; /* ended because of the timeout */
};

/* 0, or the errno by which the program could not be run. From here on signals wait. */
int job_start(struct job *j);
/* Returns when the program has ended. */
void job_wait(struct job *j);
/*
 * From here on a signal that asks to end ends the launcher, and the tool that it runs: their
 * output may never be read.
 */
void job_may_be_ended(void);

/* Time of a clock that only goes forward. */
double job_now_s(void);

/* Ends as the program did: by its status, or by its signal, without a core of its own. */
_Noreturn void job_end_as(int status);

/* Runs a tool to its end, with `out` and `err` as its standard streams; its exit status. */
int job_tool(const char *path, char **argv, int out, int err);

#endif
