/* SPDX-License-Identifier: MIT */
/* What the checker must find, and what not: the tests that memory models are told apart by. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "litmus.h"
#include "model.h"

static atomic_int x, y;
static int plain;
static int a, b, c, d;

static void zero(void)
{
    atomic_store_explicit(&x, 0, memory_order_relaxed);
    atomic_store_explicit(&y, 0, memory_order_relaxed);
    plain = a = b = c = d = 0;
}

static void nothing(void)
{
}

#define STORE(p, v, o) atomic_store_explicit(p, v, memory_order_##o)
#define LOAD(p, o) atomic_load_explicit(p, memory_order_##o)

/* A message is passed on: only with release and acquire is it whole. */
#define PASS(name, out, in)                                                                        \
    static void name##_send(void)                                                                  \
    {                                                                                              \
        plain = 1;                                                                                 \
        STORE(&x, 1, out);                                                                         \
    }                                                                                              \
    static void name##_take(void)                                                                  \
    {                                                                                              \
        if (LOAD(&x, in))                                                                          \
            a = plain;                                                                             \
    }
PASS(pass, release, acquire)
PASS(pass_out, relaxed, acquire)
PASS(pass_in, release, relaxed)

/* Each says something, then asks the other: only the strongest order lets one hear. */
#define TALK(name, out, in)                                                                        \
    static void name##_one(void)                                                                   \
    {                                                                                              \
        STORE(&x, 1, out);                                                                         \
        a = LOAD(&y, in);                                                                          \
    }                                                                                              \
    static void name##_two(void)                                                                   \
    {                                                                                              \
        STORE(&y, 1, out);                                                                         \
        b = LOAD(&x, in);                                                                          \
    }
TALK(talk, seq_cst, seq_cst)
TALK(talk_weak, release, acquire)
static void heard(void)
{
    MODEL_ASSERT(a || b);
}

/* Two stores each, in opposite order: both places may end with what was stored first. */
static void cross_one(void)
{
    STORE(&x, 2, relaxed);
    STORE(&y, 1, relaxed);
}
static void cross_two(void)
{
    STORE(&y, 2, relaxed);
    STORE(&x, 1, relaxed);
}
static void not_crossed(void)
{
    MODEL_ASSERT(LOAD(&x, relaxed) != 2 || LOAD(&y, relaxed) != 2);
}

/* A place by itself never goes back. */
static void twice(void)
{
    STORE(&x, 1, relaxed);
    STORE(&x, 2, relaxed);
}
static void look_twice(void)
{
    a = LOAD(&x, relaxed);
    b = LOAD(&x, relaxed);
}
static void not_back(void)
{
    MODEL_ASSERT(a <= b);
}

/* Two readers may see the stores of two writers in different order. */
static void write_x(void)
{
    STORE(&x, 1, release);
}
static void write_y(void)
{
    STORE(&y, 1, release);
}
static void read_xy(void)
{
    a = LOAD(&x, acquire);
    b = LOAD(&y, acquire);
}
static void read_yx(void)
{
    c = LOAD(&y, acquire);
    d = LOAD(&x, acquire);
}
static void same_order(void)
{
    MODEL_ASSERT(!(a && !b && c && !d));
}

/* Additions are never lost, and hand on what those before them released. */
static void add(void)
{
    atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
}
static void added(void)
{
    MODEL_ASSERT(LOAD(&x, relaxed) == 2);
}
static void take_after(void)
{
    if (LOAD(&x, acquire) == 2)
        a = plain;
}

static const struct {
    struct model model;
    bool holds;
} tests[] = {
    {{"pass", zero, {pass_send, pass_take}, nothing, NULL}, true},
    {{"pass, relaxed store", zero, {pass_out_send, pass_out_take}, nothing, NULL}, false},
    {{"pass, relaxed load", zero, {pass_in_send, pass_in_take}, nothing, NULL}, false},
    {{"talk", zero, {talk_one, talk_two}, heard, NULL}, true},
    {{"talk, weaker", zero, {talk_weak_one, talk_weak_two}, heard, NULL}, false},
    {{"cross", zero, {cross_one, cross_two}, not_crossed, NULL}, false},
    {{"coherence", zero, {twice, look_twice}, not_back, NULL}, true},
    {{"two readers", zero, {write_x, write_y, read_xy, read_yx}, same_order, NULL}, false},
    {{"additions", zero, {add, add}, added, NULL}, true},
    {{"release sequence", zero, {pass_send, add, take_after}, nothing, NULL}, true},
};

void litmus(void)
{
    for (unsigned i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        bool holds = model_holds(&tests[i].model);
        if (holds == tests[i].holds)
            continue;
        fprintf(stderr, "litmus %s: %s\n", tests[i].model.name, holds ? "holds" : "is broken");
        exit(1);
    }
}
