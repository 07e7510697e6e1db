/* SPDX-License-Identifier: MIT */
#include "system/schedule.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/spare.h"

static unsigned long processors[128]; /* a bit for each of 8192 */
static long bytes;

void ct_schedule_loaded(void)
{
    if (ct_spare())
        return;
    int saved_errno = errno;
    bytes = syscall(SYS_sched_getaffinity, 0, sizeof(processors), processors);
    errno = saved_errno;
}

void ct_schedule_ordinary(pthread_attr_t *attr)
{
    if (bytes <= 0)
        return;
    int saved_errno = errno;
    long policy = syscall(SYS_sched_getscheduler, 0);
    const struct sched_param none = {0};
    if (policy == SCHED_OTHER || policy < 0 ||
        pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED)) {
        errno = saved_errno;
        return;
    }
    pthread_attr_setschedpolicy(attr, SCHED_OTHER);
    pthread_attr_setschedparam(attr, &none);
    errno = saved_errno;
}

/* The kernel leaves out, or refuses, processors that the process was denied since. */
void ct_schedule_everywhere(void)
{
    if (bytes > 0)
        syscall(SYS_sched_setaffinity, 0, bytes, processors);
}
