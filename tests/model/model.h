/* SPDX-License-Identifier: MIT */
/*
 * Runs a few threads of real code through all executions that C11's memory model allows: every
 * order of their atomic operations, and for each load every store that it may read. The code is
 * compiled with -fsanitize=thread, which makes a call of each access, and hooks.c is what is
 * called.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_THREADS 4

/*
 * What is looked into. setup() runs before the threads, finish() after all of them; memory that it
 * starts from must be the same each time. own() says where a __thread pointer is of which each
 * thread has its own.
 */
struct model {
    const char *name;
    void (*setup)(void);
    void (*thread[MODEL_THREADS])(void);
    void (*finish)(void);
    void **(*own)(void);
};

/* Number of executions. Ends the program at the first that breaks a rule, having shown it. */
uint64_t model_check(const struct model *m);
/* The same; false: a rule was broken, and nothing said. */
bool model_holds(const struct model *m);

/* A rule of the code that is looked into. */
#define MODEL_ASSERT(condition) model_assert(condition, #condition)
void model_assert(bool ok, const char *what);

/* An access of the model's own to something that is handed over: a race is a broken rule. */
void model_writes(void *what);

#endif
