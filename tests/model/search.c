/* SPDX-License-Identifier: MIT */
/*
 * The search: an execution is a list of choices, repeated up to the last one that has an
 * alternative. Of executions that differ in the order of independent operations one is enough: a
 * thread sleeps while nothing has happened that its next operation depends on (Godefroid's sleep
 * sets).
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "arena.h"
#include "engine.h"

#define CHOICES 4096
#define STACK_BYTES (256 * 1024)
#define TLS_BYTES 4096
#define STEPS 2000 /* of one execution: more is a loop without an end */

int model_self = -1;

static struct {
    unsigned count, taken;
} choices[CHOICES];
static unsigned depth, known;

static const struct model *model;
static ucontext_t scheduler, context[MODEL_THREADS];
static _Alignas(64) char stacks[MODEL_THREADS][STACK_BYTES];
static struct access pending[MODEL_THREADS];
static bool has_ended[MODEL_THREADS];
static void *own[MODEL_THREADS];
static unsigned threads, asleep;
static bool given_up, broken, is_quiet;
static jmp_buf leave;
static uint8_t trail[STEPS];
static unsigned steps;

unsigned model_choose(unsigned count)
{
    if (count < 2)
        return 0;
    if (depth == CHOICES)
        abort();
    if (depth == known) {
        choices[depth].count = count;
        choices[depth].taken = 0;
        known++;
    }
    return choices[depth++].taken;
}

/* To the next execution; false: that was all. */
static bool next_choice(void)
{
    known = depth;
    while (known && choices[known - 1].taken + 1 == choices[known - 1].count)
        known--;
    if (!known)
        return false;
    choices[known - 1].taken++;
    return true;
}

/* Back to where the execution was begun, from any thread of it. */
static void end_execution(void)
{
    if (model_self >= 0) {
        int self = model_self;
        model_self = -1;
        swapcontext(&context[self], &scheduler);
    }
    longjmp(leave, 1);
}

void model_give_up(void)
{
    given_up = true;
    end_execution();
}

void model_broken(const char *what)
{
    broken = true;
    if (!is_quiet) {
        fprintf(stderr, "%s: broken: %s\n  threads in turn:", model->name, what);
        for (unsigned i = 0; i < steps; i++)
            fprintf(stderr, " %u", trail[i]);
        fprintf(stderr, "\n");
    }
    end_execution();
}

void model_assert(bool ok, const char *what)
{
    if (!ok)
        model_broken(what);
}

/* Also what is __thread: of one real thread, whichever of the model's it is. */
bool model_is_own(const void *p)
{
    const char *at = p, *tls = __builtin_thread_pointer();
    return (at >= stacks[0] && at < stacks[0] + sizeof(stacks)) ||
           (at >= tls - TLS_BYTES && at < tls + TLS_BYTES);
}

void model_turn(const struct access *a)
{
    int self = model_self;
    pending[self] = *a;
    model_self = -1;
    swapcontext(&context[self], &scheduler);
}

static void run_thread(int t)
{
    model->thread[t]();
    has_ended[t] = true;
    model_self = -1;
    swapcontext(&context[t], &scheduler);
}

/* Until it stands before its next operation. */
static void resume(int t)
{
    if (model->own)
        *model->own() = own[t];
    model_self = t;
    swapcontext(&scheduler, &context[t]);
    if (model->own)
        own[t] = *model->own();
    if (broken || given_up)
        longjmp(leave, 1);
}

static bool is_independent(const struct access *a, const struct access *b)
{
    return a->address != b->address || (a->kind == LOAD && b->kind == LOAD);
}

/* One step of one thread; false: there is none to be taken. */
static bool step(void)
{
    unsigned ready[MODEL_THREADS], count = 0, living = 0, sleepers = asleep;
    for (unsigned t = 0; t < threads; t++) {
        living += !has_ended[t];
        if (has_ended[t] || memory_waits(&pending[t]))
            continue;
        if (!(asleep >> t & 1))
            ready[count++] = t;
    }
    if (!count) {
        if (living && !asleep)
            model_broken("all threads wait");
        given_up = living != 0;
        return false;
    }
    unsigned picked = model_choose(count), t = ready[picked];
    for (unsigned i = 0; i < picked; i++)
        sleepers |= 1u << ready[i];
    asleep = 0;
    for (unsigned i = 0; i < threads; i++)
        if (sleepers >> i & 1 && !has_ended[i] && is_independent(&pending[i], &pending[t]))
            asleep |= 1u << i;
    if (steps == STEPS)
        model_broken("it does not end");
    trail[steps++] = (uint8_t)t;
    resume((int)t);
    return true;
}

static void begin_threads(void)
{
    for (threads = 0; threads < MODEL_THREADS && model->thread[threads]; threads++) {
        unsigned t = threads;
        has_ended[t] = false;
        own[t] = NULL;
        getcontext(&context[t]);
        context[t].uc_stack.ss_sp = stacks[t];
        context[t].uc_stack.ss_size = STACK_BYTES;
        context[t].uc_link = NULL;
        makecontext(&context[t], (void (*)(void))(uintptr_t)run_thread, 1, (int)t);
    }
    for (unsigned t = 0; t < threads; t++)
        resume((int)t);
}

static void execute(void)
{
    depth = steps = asleep = 0;
    given_up = broken = false;
    if (setjmp(leave))
        return;
    arena_reset();
    model->setup();
    memory_begin();
    races_begin();
    begin_threads();
    while (step())
        ;
    if (given_up)
        return;
    model->finish();
}

/* From the beginning each time it is found that more is shared between threads than was known. */
static bool search(uint64_t *executions)
{
    memory_forget();
    do {
        known = 0;
        *executions = 0;
        do {
            execute();
            if (broken)
                return false;
            *executions += !given_up;
        } while (!memory_has_learnt && next_choice());
    } while (memory_has_learnt);
    return true;
}

bool model_holds(const struct model *m)
{
    uint64_t executions;
    model = m;
    is_quiet = true;
    return search(&executions);
}

uint64_t model_check(const struct model *m)
{
    uint64_t executions;
    model = m;
    is_quiet = false;
    if (!search(&executions))
        exit(1);
    return executions;
}
