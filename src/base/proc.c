/* SPDX-License-Identifier: MIT */
#include "base/proc.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* Behind the program's name, which may hold blanks and brackets. */
static const char *third_field(const char *line, const char *end)
{
    while (end > line && *end != ')')
        end--;
    return end > line ? end + 2 : NULL;
}

static uint64_t value(const char *p)
{
    uint64_t n = 0;
    if (*p < '0' || *p > '9')
        return (uint64_t)*p;
    while (*p >= '0' && *p <= '9')
        n = n * 10 + (uint64_t)(*p++ - '0');
    return n;
}

uint64_t ct_proc_self(enum ct_proc_field field)
{
    char line[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, line, sizeof(line) - 1);
    close(fd);
    if (n < 1)
        return 0;
    line[n] = '\0';
    const char *p = third_field(line, line + n - 1);
    for (unsigned i = 3; p && i < field; i++) {
        while (*p && *p != ' ')
            p++;
        p += *p == ' ';
    }
    return p ? value(p) : 0;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t ct_proc_start_unix_ns(void)
{
    uint64_t ticks = ct_proc_self(CT_PROC_START_TICKS);
    long hertz = sysconf(_SC_CLK_TCK);
    if (!ticks || hertz <= 0)
        return 0;
    int64_t boot_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
    return (uint64_t)boot_ns + ticks * (1000000000u / (uint64_t)hertz);
}
