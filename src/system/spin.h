/* SPDX-License-Identifier: MIT */
/*
 * A lock for a little work on our own memory: 100 us at most, however full the tables are. Never
 * held across a system call or any call out of this library: memory is mapped before, and long work
 * is done in pieces, or a search is made before and checked again under the lock. Reset in the
 * child of a fork: the thread that held it does not exist there.
 *
 * A signal handler may end the process while the thread that it interrupted holds a lock, for ever
 * then. So a lock knows its holder, and a thread that ends the process says so: its locks are taken
 * from it, and so are others' that are held too long then. Data under a lock must be fit to be
 * read, and to be added to, wherever its holder stopped.
 */
#ifndef CT_SPIN_H
#define CT_SPIN_H

#include <stdatomic.h>

#include "base/base.h"

struct ct_spin {
    atomic_bool held;
    _Atomic uintptr_t holder; /* 0: not known, or nobody */
};

/* The thread's address, and one more for each time that the thread began to end the process. */
extern CT_TLS unsigned char ct_spin_self[16];

static inline uintptr_t ct_spin_holder(void)
{
    return (uintptr_t)ct_spin_self + ct_spin_self[0];
}

static inline void ct_spin_init(struct ct_spin *s)
{
    atomic_store_explicit(&s->holder, 0, memory_order_relaxed);
    atomic_store_explicit(&s->held, false, memory_order_relaxed);
}

static inline bool ct_spin_try(struct ct_spin *s)
{
    if (atomic_exchange_explicit(&s->held, true, memory_order_acquire))
        return false;
    atomic_store_explicit(&s->holder, ct_spin_holder(), memory_order_relaxed);
    return true;
}

/* Between tries: yields at each 64th, and sleeps 50 us at it from the 256th on. Keeps errno. */
void ct_spin_pause(unsigned tries);

CT_COLD void ct_spin_wait(struct ct_spin *s);

static inline void ct_spin_lock(struct ct_spin *s)
{
    if (ct_unlikely(!ct_spin_try(s)))
        ct_spin_wait(s);
}

/*
 * For a lock that may be held longer, and across driver calls: waits until `end_ns`
 * (CLOCK_MONOTONIC), and takes the lock from nobody but a thread that ends the process.
 */
bool ct_spin_lock_until(struct ct_spin *s, uint64_t end_ns);

static inline void ct_spin_unlock(struct ct_spin *s)
{
    atomic_store_explicit(&s->holder, 0, memory_order_relaxed);
    atomic_store_explicit(&s->held, false, memory_order_release);
}

/*
 * The calling thread ends the process, perhaps in a signal handler: its locks are anybody's from
 * now on, and other threads' locks are taken by a thread that has waited so long.
 */
void ct_spin_end_process(uint64_t patience_ns);

#endif
