/* SPDX-License-Identifier: MIT */
/* Between the parts of the model checker. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stddef.h>

#include "model.h"

#define PLACES 96 /* atomics that threads share */

enum { RELAXED, CONSUME, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST }; /* as compilers pass them */

enum kind { LOAD, STORE, EXCHANGE, ADD, SUBTRACT, AND, OR, XOR, COMPARE };

/* An atomic operation, before and after. */
struct access {
    enum kind kind;
    void *address;
    unsigned bytes;
    int order;
    int failure_order;
    uint64_t operand;
    uint64_t expected; /* and what was found */
    bool swapped;
};

/* What happened before, by thread. */
struct clocks {
    uint16_t at[MODEL_THREADS];
};

/* ---- search.c ---- */

extern int model_self; /* the running thread; -1: before or after the threads */
unsigned model_choose(unsigned count);
/* Gives the other threads their turns before an operation. */
void model_turn(const struct access *a);
/* This execution leads nowhere new. */
void model_give_up(void);
void model_broken(const char *what);
bool model_is_own(const void *p);

/* ---- memory.c ---- */

extern bool memory_has_learnt; /* more is shared than was known */
void memory_forget(void);
void memory_begin(void);
uint64_t memory_access(struct access *a);
/* Whether an operation waits for another thread's: a lock that is held. */
bool memory_waits(const struct access *a);
/* What has happened before what a thread does now. */
struct clocks *memory_clocks(int thread);

/* ---- races.c ---- */

void races_begin(void);
void races_access(const void *p, size_t bytes, bool writes);

#endif
