/* SPDX-License-Identifier: MIT */
/* Parts that are killed, or end, with work that goes on, or never ends. */
#include "actor.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

#define WORKERS 3
#define ROUND 22 /* operations between two waits */

static CUcontext context;
static CUfunction worked;
static _Atomic uint64_t complete;

static void *work(void *unused)
{
    char host[256] = {0};
    CUdeviceptr p;
    MUST(cuCtxSetCurrent(context));
    CUstream s = actor_stream();
    MUST(cuMemAlloc(&p, sizeof(host)));
    for (;;) {
        for (int i = 0; i < 20; i++)
            MUST(actor_launch(worked, s));
        MUST(cuMemcpyHtoDAsync(p, host, sizeof(host), s));
        MUST(cuMemsetD8Async(p, 1, sizeof(host), s));
        MUST(cuStreamSynchronize(s));
        atomic_fetch_add(&complete, ROUND);
        usleep(200);
    }
    return unused;
}

/* A file that says how long cutrace's thread has run, and has waited for a processor. */
static int open_drain_times(void)
{
    char path[300], name[32] = "";
    int found = -1;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && found < 0 && (e = readdir(d));) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
        int fd = open(path, O_RDONLY);
        ssize_t n = read(fd, name, sizeof(name) - 1);
        close(fd);
        if (n < 1 || strncmp(name, "cutrace\n", 8))
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", e->d_name);
        found = open(path, O_RDONLY);
    }
    if (d)
        closedir(d);
    return found;
}

static void look_at_drain(int fd, struct busy_page *page, uint64_t i)
{
    static unsigned long long ran_before;
    char text[100] = "";
    unsigned long long ran_ns = 0, waited_ns = 0;
    if (pread(fd, text, sizeof(text) - 1, 0) > 0)
        sscanf(text, "%llu %llu", &ran_ns, &waited_ns);
    page->entry[i].waited_ns = waited_ns;
    page->entry[i].ran_ns =
        ran_ns != ran_before || !i ? page->entry[i].ns : page->entry[i - 1].ran_ns;
    ran_before = ran_ns;
}

/* crowd PAGE: threads work until they are killed; the page tells when how much was complete */
int actor_crowd(int argc, char **argv)
{
    pthread_t t;
    int fd = open(actor_word(argc, argv, 1, ""), O_RDWR);
    struct busy_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return 3;
    context = actor_begin();
    worked = actor_function("worked");
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&t, NULL, work, NULL);
    int drain = open_drain_times();
    uint64_t before_ns = actor_now_ns();
    for (uint64_t i = 0; i < BUSY_ENTRIES; i++) {
        page->entry[i].complete = atomic_load(&complete);
        page->entry[i].ns = actor_now_ns();
        look_at_drain(drain, page, i);
        atomic_store(&page->entries, i + 1);
        if (page->entry[i].ns - before_ns > atomic_load(&page->worst_gap_ns))
            atomic_store(&page->worst_gap_ns, page->entry[i].ns - before_ns);
        before_ns = page->entry[i].ns;
        usleep(1000);
    }
    return 4;
}

static void on_signal(int number)
{
    (void)number;
    exit(5);
}

static void *send_signal(void *number)
{
    actor_wait_for_profile();
    kill(getpid(), *(int *)number);
    return NULL;
}

/* endless SIGNAL [handler]: waits for a kernel that never ends, till the signal comes; 0: exit */
int actor_endless(int argc, char **argv)
{
    static int number;
    pthread_t t;
    number = (int)actor_number(argc, argv, 1, 0);
    if (!strcmp(actor_word(argc, argv, 2, ""), "handler"))
        signal(number, on_signal);
    actor_begin();
    CUstream s = actor_stream();
    for (int i = 0; i < 100; i++)
        MUST(actor_launch(actor_function("worked"), s));
    MUST(cuStreamSynchronize(s));
    MUST(actor_launch(actor_function("hang"), s));
    for (int i = 0; i < 5; i++)
        MUST(actor_launch(actor_function("behind"), s));
    printf("launched\n");
    fflush(stdout);
    if (!number)
        exit(6);
    pthread_create(&t, NULL, send_signal, &number);
    cuStreamSynchronize(s);
    return 4;
}
