/* SPDX-License-Identifier: MIT */
/* Programs that run in the background with cutrace, and questions to them. */
#ifndef CREW_H
#define CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CREW_ARGS 4
#define CREW_ENV 8

struct crew_role {
    const char *program; /* below tests/e2e/watch */
    const char *argv[CREW_ARGS];
    const char *env[CREW_ENV]; /* NAME=value */
    bool is_contained;         /* in a network namespace of its own, where root runs the tests */
};

/* A text to be freed. */
char *crew_format(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Its profile is NUMBER.bin, and all that it says is in NUMBER.txt. */
pid_t crew_start(const struct crew_role *role, int number);
/* Ends it at once, with nothing told. */
void crew_end(pid_t pid);
/* The answer of `cutrace ctl ARGUMENTS`, to be freed. */
char *crew_ask(const char *arguments);

#endif
