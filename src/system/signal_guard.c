/* SPDX-License-Identifier: MIT */
#include "system/signal_guard.h"

#include <errno.h>
#include <time.h>

#include "system/spare.h"

/* A signal that was pending before stays the program's. */
void ct_signal_guard_begin(struct ct_signal_guard *h)
{
    static const int raised[] = {SIGPIPE, SIGXFSZ};
    sigset_t pending;
    h->is_on = !ct_spare();
    if (!h->is_on)
        return;
    sigemptyset(&pending);
    sigpending(&pending);
    sigemptyset(&h->ours);
    for (unsigned i = 0; i < ct_countof(raised); i++)
        if (!sigismember(&pending, raised[i]))
            sigaddset(&h->ours, raised[i]);
    pthread_sigmask(SIG_BLOCK, &h->ours, &h->mask);
}

void ct_signal_guard_end(const struct ct_signal_guard *h)
{
    static const struct timespec now = {0};
    int saved_errno = errno;
    if (!h->is_on)
        return;
    while (sigtimedwait(&h->ours, NULL, &now) > 0)
        ;
    pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
    errno = saved_errno;
}
