/* SPDX-License-Identifier: MIT */
/* peak COMMAND...: runs it, then prints its seconds by the clock, by processors, and peak memory in
 * MiB to descriptor 3. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    double begin = now();
    pid_t child = argc > 1 ? fork() : -1;
    if (!child) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) < 0)
        return 2;
    dprintf(3, "%.3f %.3f %.1f\n", now() - begin, seconds(used.ru_utime) + seconds(used.ru_stime),
            (double)used.ru_maxrss / 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
