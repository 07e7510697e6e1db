/* SPDX-License-Identifier: MIT */
/* Threads that act one at a time, when they are told to: what they do has one order in all runs. */
#ifndef TURNS_H
#define TURNS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct turn {
    pthread_t thread;
    sem_t go, done;
    void (*act)(void *);
    void *argument;
    bool over;
};

static inline void *turn_run(void *turn)
{
    struct turn *t = turn;

    for (;;) {
        while (sem_wait(&t->go))
            ;
        if (t->over)
            return NULL;
        t->act(t->argument);
        sem_post(&t->done);
    }
}

static inline void turn_start(struct turn *t)
{
    sem_init(&t->go, 0, 0);
    sem_init(&t->done, 0, 0);
    pthread_create(&t->thread, NULL, turn_run, t);
}

/* Returns when the thread has done it. */
static inline void turn_take(struct turn *t, void (*act)(void *), void *argument)
{
    t->act = act;
    t->argument = argument;
    sem_post(&t->go);
    while (sem_wait(&t->done))
        ;
}

static inline void turn_end(struct turn *t)
{
    t->over = true;
    sem_post(&t->go);
    pthread_join(t->thread, NULL);
}

#endif
