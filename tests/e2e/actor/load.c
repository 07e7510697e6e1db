/* SPDX-License-Identifier: MIT */
/* Parts that launch very much, or nothing at all for a while. */
#include "actor.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "busy.h"

/* ---- busy ---- */

/* busy PAGE: works until it is killed */
int actor_busy(int argc, char **argv)
{
    int fd = open(actor_word(argc, argv, 1, ""), O_RDWR);
    struct busy_page *page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return 3;
    actor_begin();
    CUfunction f = actor_function("worked");
    CUstream s = actor_stream();
    for (uint64_t i = 0; i < BUSY_ENTRIES; i++) {
        for (int j = 0; j < 20; j++)
            MUST(actor_launch(f, s));
        MUST(cuStreamSynchronize(s));
        page->entry[i].complete = 20 * (i + 1);
        page->entry[i].ns = actor_now_ns();
        atomic_store(&page->entries, i + 1);
        usleep(200);
    }
    return 4;
}

/* ---- many idle ---- */

struct idle {
    pthread_barrier_t launched, end;
    CUcontext context;
    CUfunction once;
    CUstream stream;
};

static void *launch_once(void *arg)
{
    struct idle *i = arg;
    MUST(cuCtxSetCurrent(i->context));
    MUST(actor_launch(i->once, i->stream));
    pthread_barrier_wait(&i->launched);
    pthread_barrier_wait(&i->end);
    MUST(actor_launch(i->once, i->stream));
    return NULL;
}

/* many-idle THREADS LAUNCHES: threads launch once before and once after one that launches so often
 */
int actor_many_idle(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 1000), launches = actor_number(argc, argv, 2, 100000);
    pthread_t *thread = calloc((size_t)n, sizeof(*thread));
    pthread_attr_t small;
    struct idle idle;
    actor_begin();
    MUST(cuCtxGetCurrent(&idle.context));
    idle.once = actor_function("once");
    idle.stream = actor_stream();
    CUfunction f = actor_function("often");
    pthread_barrier_init(&idle.launched, NULL, (unsigned)n + 1);
    pthread_barrier_init(&idle.end, NULL, (unsigned)n + 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 * 1024);
    for (long i = 0; i < n; i++)
        if (pthread_create(&thread[i], &small, launch_once, &idle))
            return 3;
    pthread_barrier_wait(&idle.launched);
    usleep(500000);
    for (long i = 0; i < launches; i++) {
        MUST(actor_launch(f, idle.stream));
        if (i % 200 == 199)
            usleep(300);
    }
    pthread_barrier_wait(&idle.end);
    for (long i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    free(thread);
    return 0;
}

/* ---- many ---- */

static long status_kib(const char *key)
{
    char line[256];
    long n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)))
            n = atol(line + strlen(key));
    if (f)
        fclose(f);
    return n;
}

/* many LAUNCHES KERNELS: says on stderr how much memory is in use at the end */
int actor_many(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 1000000), kernels = actor_number(argc, argv, 2, 1000);
    CUfunction *f = calloc((size_t)kernels, sizeof(*f));
    char name[64];
    actor_begin();
    CUstream s = actor_stream();
    for (long i = 0; i < kernels; i++) {
        snprintf(name, sizeof(name), "kernel_number_%ld", i);
        f[i] = actor_function(name);
    }
    for (long i = 0; i < n; i++) {
        if (actor_launch(f[i % kernels], s) != CUDA_SUCCESS)
            return 3;
        if (i % 512 == 511)
            MUST(cuStreamSynchronize(s));
    }
    MUST(cuStreamSynchronize(s));
    fprintf(stderr, "RssAnon %ld kB\n", status_kib("RssAnon:"));
    free(f);
    return 0;
}

/* ---- bursts ---- */

/*
 * bursts [LAUNCHES [BURSTS [NS]]]: so many, one every so many ns, after a while without any; the
 * device keeps up
 */
int actor_bursts(int argc, char **argv)
{
    long launches = actor_number(argc, argv, 1, 4000), bursts = actor_number(argc, argv, 2, 5);
    uint64_t ns = (uint64_t)actor_number(argc, argv, 3, 3000);
    actor_begin();
    CUfunction f = actor_function("burst");
    CUstream s = actor_stream();
    while (bursts--) {
        actor_sleep_ms(35);
        uint64_t next_ns = actor_now_ns();
        for (long i = 0; i < launches; i++) {
            MUST(actor_launch(f, s));
            for (next_ns += ns; actor_now_ns() < next_ns;)
                ;
        }
    }
    MUST(cuStreamSynchronize(s));
    return 0;
}

/* ---- one by one ---- */

static void *launch_and_end(void *arg)
{
    struct idle *i = arg;
    MUST(cuCtxSetCurrent(i->context));
    MUST(actor_launch(i->once, i->stream));
    return NULL;
}

/* one-by-one THREADS: each launches once and ends before the next begins; as "many" at the end */
int actor_one_by_one(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 1000);
    struct idle idle;
    actor_begin();
    MUST(cuCtxGetCurrent(&idle.context));
    idle.once = actor_function("once");
    idle.stream = actor_stream();
    for (long i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, launch_and_end, &idle))
            return 3;
        pthread_join(thread, NULL);
    }
    MUST(cuStreamSynchronize(idle.stream));
    fprintf(stderr, "RssAnon %ld kB\n", status_kib("RssAnon:"));
    return 0;
}

/* ---- idle ---- */

struct usage {
    unsigned long long cpu_ns, switches;
};

static bool is_cutrace(const char *tid)
{
    char path[300], text[64] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%s/comm", tid);
    FILE *f = fopen(path, "r");
    bool is = f && fgets(text, sizeof(text), f) && !strcmp(text, "cutrace\n");
    if (f)
        fclose(f);
    return is;
}

static void read_usage(const char *tid, struct usage *u)
{
    char path[300], line[256];
    snprintf(path, sizeof(path), "/proc/self/task/%s/schedstat", tid);
    FILE *f = fopen(path, "r");
    if (f && fscanf(f, "%llu", &u->cpu_ns) != 1)
        u->cpu_ns = 0;
    if (f)
        fclose(f);
    snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        sscanf(line, "voluntary_ctxt_switches: %llu", &u->switches);
    if (f)
        fclose(f);
}

/* Of cutrace's thread; all zero where there is none. */
static struct usage usage(void)
{
    struct usage u = {0, 0};
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_cutrace(e->d_name))
            read_usage(e->d_name, &u);
    if (d)
        closedir(d);
    return u;
}

/* idle MILLISECONDS: works a little, then nothing; says on stderr what cutrace's thread did */
int actor_idle(int argc, char **argv)
{
    actor_begin();
    CUstream s = actor_stream();
    for (int i = 0; i < 100; i++)
        MUST(actor_launch(actor_function("worked"), s));
    MUST(cuStreamSynchronize(s));
    actor_sleep_ms(300);
    struct usage before = usage();
    actor_sleep_ms((unsigned)actor_number(argc, argv, 1, 1000));
    struct usage after = usage();
    fprintf(stderr, "idle: cpu_ns %llu wakeups %llu\n", after.cpu_ns - before.cpu_ns,
            after.switches - before.switches);
    return 0;
}
