/* SPDX-License-Identifier: MIT */
/* Host functions in streams and graphs run on one thread of the driver's own. */
#include "driver/sim.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct job {
    struct job *next;
    struct sim_op *op;
};

static struct job *first, *last;
static bool running;

/* The lock is open while the program's function runs; the operation stays, being unfinished. */
static void call_host(struct sim_work *w)
{
    sim_unlock();
    if (w->kind == SIM_WORK_CALLBACK)
        w->host.callback(w->host.stream, CUDA_SUCCESS, w->host.data);
    else
        w->host.function(w->host.data);
    sim_lock();
}

static void run_plan(struct sim_plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->works[i].kind == SIM_WORK_HOST || p->works[i].kind == SIM_WORK_CALLBACK)
            call_host(&p->works[i]);
        else
            sim_work_perform_in_graph(&p->works[i]);
}

static void run_job(void)
{
    struct job *j = first;
    struct sim_op *op = j->op;
    first = j->next;
    if (!first)
        last = NULL;
    free(j);
    if (op->work.kind == SIM_WORK_GRAPH)
        run_plan(op->work.plan);
    else
        call_host(&op->work);
    op->worker_done = true;
    sim_progress();
    sim_wake();
}

/* A host function may stand behind a gate that no call of the program will look at again. */
static void *work(void *unused)
{
    sim_lock();
    for (;;) {
        sim_progress();
        if (first)
            run_job();
        else
            sim_wait_signal();
    }
    return unused;
}

void sim_worker_start(void)
{
    pthread_t thread;
    sigset_t all, old;
    if (running)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    running = !pthread_create(&thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (running)
        pthread_detach(thread);
}

void sim_worker_take(struct sim_op *op)
{
    struct job *j = calloc(1, sizeof(*j));
    j->op = op;
    if (last)
        last->next = j;
    else
        first = j;
    last = j;
    sim_wake();
}
