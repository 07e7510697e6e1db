/* SPDX-License-Identifier: MIT */
/* Keeps what the functions of the echo libraries were called with. */
#ifndef SIM_ECHO_H
#define SIM_ECHO_H

#include <string.h>

#include "common/each_argument.h"
#include "cudasim.h"

#define ECHO_KEPT 64
#define ECHO_TOKEN 100000

static __thread struct cudasim_echo echo_kept[ECHO_KEPT];
static __thread uint64_t echo_calls;

static struct cudasim_echo *echo_begin(const char *name)
{
    struct cudasim_echo *e = &echo_kept[echo_calls++ % ECHO_KEPT];
    memset(e, 0, sizeof(*e));
    e->name = name;
    return e;
}

static inline void echo_keep(struct cudasim_echo *e, const void *argument, size_t bytes)
{
    if (bytes > CUDASIM_ECHO_BYTES || e->count == CUDASIM_ECHO_ARGUMENTS)
        __builtin_trap();
    e->argument[e->count].bytes = (unsigned)bytes;
    memcpy(e->argument[e->count++].value, argument, bytes);
}

static const struct cudasim_echo *echo_find(const char *name)
{
    for (uint64_t i = echo_calls; i > 0 && i + ECHO_KEPT > echo_calls; i--)
        if (echo_kept[(i - 1) % ECHO_KEPT].name &&
            !strcmp(echo_kept[(i - 1) % ECHO_KEPT].name, name))
            return &echo_kept[(i - 1) % ECHO_KEPT];
    return NULL;
}

#define ECHO_KEEP(i, t) echo_keep(e, &a##i, sizeof(a##i));
#define ECHO_EXPORT __attribute__((visibility("default")))

#endif
