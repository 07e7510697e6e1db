// SPDX-License-Identifier: MIT
//
// Processes that end without exit handlers, as soon as their work is done: a parent, ten children
// by fork before it starts CUDA, one by vfork and exec, and children that use no CUDA. A profiler
// that writes in an exit handler has nothing of them; so each says itself what it launched.
//
//   leaving exit|_exit|_Exit|quick_exit
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"

#define CHILDREN 10

extern "C" __global__ void step(float *x)
{
    x[threadIdx.x] += 1;
}

static float *data;

static void launch(int n)
{
    if (!data)
        RT(cudaMalloc(&data, 4096));
    for (int i = 0; i < n; i++)
        step<<<1, 128>>>(data);
    RT(cudaDeviceSynchronize());
}

// In one call: what stdio holds is lost.
static void say(int n)
{
    char line[64];
    int bytes = snprintf(line, sizeof(line), "launched step %d\n", n);
    if (write(STDOUT_FILENO, line, bytes) != bytes)
        abort();
}

static void leave(const char *how, int status)
{
    if (!strcmp(how, "_exit"))
        _exit(status);
    if (!strcmp(how, "_Exit"))
        _Exit(status);
    if (!strcmp(how, "quick_exit"))
        quick_exit(status);
    exit(status);
}

static void work_and_leave(const char *how, int n)
{
    launch(n);
    say(n);
    leave(how, 0);
}

static int failed;

static void wait_for_one(void)
{
    int status = -1;
    failed += wait(&status) < 0 || status;
}

// The parent's memory is theirs: they may end nothing but themselves.
static void children_of_a_parent_with_cuda(const char *how)
{
    if (!vfork())
        _exit(0);
    wait_for_one();
    if (!vfork()) {
        execl("/proc/self/exe", "leaving", how, "100", (char *)NULL);
        _exit(127);
    }
    wait_for_one();
    if (!fork())
        _exit(0);
    wait_for_one();
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "_exit";
    if (argc > 2)
        work_and_leave(how, atoi(argv[2]));
    for (int i = 0; i < CHILDREN; i++)
        if (!fork())
            work_and_leave(how, 100);
    for (int i = 0; i < CHILDREN; i++)
        wait_for_one();
    launch(11);
    children_of_a_parent_with_cuda(how);
    launch(20);
    say(31);
    leave(how, failed ? 3 : 0);
}
