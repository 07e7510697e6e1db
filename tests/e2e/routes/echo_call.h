/* SPDX-License-Identifier: MIT */
/* Calls a function with an argument of every byte known, and asks the echo what came. */
#ifndef ECHO_CALL_H
#define ECHO_CALL_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/each_argument.h"
#include "cudasim.h"

#define ECHO_TOKEN 100000

/* What wrappers may read through a pointer is there, and zero. */
static unsigned char echo_zeros[18][16384] __attribute__((aligned(64)));
static unsigned echo_failures, echo_checks;

/* Functions that read lists are told of short ones. */
static bool echo_has_list;

static inline void echo_about(const char *symbol)
{
    echo_has_list = strstr(symbol, "Batch") || strstr(symbol, "MultiDevice");
}

static inline void echo_fill(void *argument, size_t bytes, unsigned place, bool is_pointer)
{
    unsigned char *to = argument;
    if (is_pointer) {
        const void *p = echo_zeros[place];
        memcpy(argument, &p, sizeof(p));
        return;
    }
    if (echo_has_list)
        memset(argument, 0, bytes);
    for (size_t i = 0; i < (echo_has_list ? 1 : bytes); i++)
        to[i] = (unsigned char)(0x11 * place + 7 * i + 1);
}

static inline bool echo_same(const struct cudasim_echo *e, unsigned place, const void *argument,
                             size_t bytes)
{
    return place <= e->count && e->argument[place - 1].bytes == bytes &&
           !memcmp(e->argument[place - 1].value, argument, bytes);
}

static inline void echo_fail(const char *name, const char *what)
{
    printf("%s: %s\n", name, what);
    echo_failures++;
}

/* classify_type 5: a pointer */
#define ECHO_ARGUMENT(i, t)                                                                        \
    t a##i;                                                                                        \
    echo_fill(&a##i, sizeof(a##i), i, __builtin_classify_type(a##i) == 5);
#define ECHO_COMPARE(i, t)                                                                         \
    if (!echo_same(e, i, &a##i, sizeof(a##i)))                                                     \
        echo_fail(name, "argument " #i " is not what was passed");
#define ECHO_ONE(i, t) +1
#define ECHO_COUNT(...) (0 EACH(ECHO_ONE, __VA_ARGS__))

/* Whose code is at the address: "libcutrace.so", "libcuda.so.1"... */
static inline const char *echo_owner(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname)
        return "?";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

#endif
