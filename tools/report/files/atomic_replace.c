/* SPDX-License-Identifier: MIT */
#include "report/files/atomic_replace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "report/host_memory.h"

static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
static struct sigaction before[ct_countof(ending)];
static struct ct_string part; /* changed only while the handler is not there */

/* Ends by the signal itself, as whoever waits for the program may ask. */
static void interrupted(int number)
{
    unlink(part.data);
    signal(number, SIG_DFL);
    raise(number);
}

const char *ct_partial_begin(const char *path)
{
    struct sigaction action = {.sa_handler = interrupted, .sa_flags = SA_NODEFER};
    uint64_t secret;
    if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
        secret = (uint64_t)time(NULL);
    ct_string_printf(&part, "%s.%ld.%016" PRIx64 ".part", path, (long)getpid(), secret);
    for (size_t i = 0; i < ct_countof(ending); i++)
        if (!sigaction(ending[i], NULL, &before[i]) && before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    return part.data;
}

static void end(void)
{
    for (size_t i = 0; i < ct_countof(ending); i++)
        sigaction(ending[i], &before[i], NULL);
    ct_string_free(&part);
}

bool ct_partial_keep(const char *path)
{
    bool good = !rename(part.data, path);
    if (good)
        end();
    else
        ct_partial_drop();
    return good;
}

void ct_partial_drop(void)
{
    int number = errno;
    unlink(part.data);
    end();
    errno = number;
}
