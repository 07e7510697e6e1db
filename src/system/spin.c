/* SPDX-License-Identifier: MIT */
#include "system/spin.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "system/clock.h"

#define TRIES_BEFORE_YIELD 64
#define TRIES_BEFORE_NAP 256
#define NAP_NS 50000
#define ENDING 32 /* threads; locks of more than these are waited for like others' */

CT_TLS unsigned char ct_spin_self[16];

static _Atomic uintptr_t ending[ENDING]; /* values of ct_spin_holder() */
static CT_PROCESS _Atomic uint32_t ending_count;
static CT_PROCESS _Atomic uint64_t patience_ns; /* 0: the process does not end */

void ct_spin_end_process(uint64_t wait_ns)
{
    uint32_t n = atomic_load(&ending_count);
    if (ct_spin_self[0] == sizeof(ct_spin_self) - 1)
        return;
    while (n < ENDING && !atomic_compare_exchange_weak(&ending_count, &n, n + 1))
        ;
    if (n < ENDING)
        atomic_store(&ending[n], ct_spin_holder());
    ct_spin_self[0]++;
    atomic_store(&patience_ns, wait_ns);
}

static bool is_ending(uintptr_t holder)
{
    uint32_t n = atomic_load_explicit(&ending_count, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&ending[i], memory_order_acquire) == holder)
            return true;
    return false;
}

/* Called now and then while a thread waits; the first call begins the wait. */
static bool is_patience_over(uint64_t *start_ns)
{
    uint64_t most_ns = atomic_load_explicit(&patience_ns, memory_order_relaxed);
    if (!most_ns)
        return false;
    uint64_t now_ns = ct_clock_monotonic_ns();
    *start_ns = *start_ns ? *start_ns : now_ns;
    return now_ns - *start_ns >= most_ns;
}

/* One of several threads that wait gets the lock. */
static bool take_from(struct ct_spin *s, uintptr_t holder)
{
    return atomic_compare_exchange_strong_explicit(&s->holder, &holder, ct_spin_holder(),
                                                   memory_order_acquire, memory_order_relaxed);
}

static bool take(struct ct_spin *s, bool from_anybody)
{
    if (ct_spin_try(s))
        return true;
    uintptr_t holder = atomic_load_explicit(&s->holder, memory_order_relaxed);
    return (from_anybody || (holder && is_ending(holder))) && take_from(s, holder);
}

/*
 * The holder may need this processor. A yield would not give it to a thread of lower priority. The
 * nap goes by its number: the C library's is a point where threads are cancelled.
 */
void ct_spin_pause(unsigned tries)
{
    if (tries % TRIES_BEFORE_YIELD)
        return;
    if (tries < TRIES_BEFORE_NAP) {
        sched_yield();
        return;
    }
    int saved_errno = errno;
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = NAP_NS}, NULL);
    errno = saved_errno;
}

void ct_spin_wait(struct ct_spin *s)
{
    uint64_t start_ns = 0;
    for (unsigned tries = 1;; tries++) {
        if (take(s, tries % TRIES_BEFORE_YIELD == 0 && is_patience_over(&start_ns)))
            break;
        ct_spin_pause(tries);
    }
}

bool ct_spin_lock_until(struct ct_spin *s, uint64_t end_ns)
{
    for (unsigned tries = 1; !take(s, false); tries++) {
        if (tries % TRIES_BEFORE_YIELD == 0 && ct_clock_monotonic_ns() >= end_ns)
            return false;
        ct_spin_pause(tries);
    }
    return true;
}
