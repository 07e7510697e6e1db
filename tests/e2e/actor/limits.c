/* SPDX-License-Identifier: MIT */
/* Parts that have more of something than cutrace has room for. */
#include "actor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* streams N: that many at the same time, two launches in each, then the same again */
int actor_streams(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 10000);
    CUstream *s = calloc((size_t)n, sizeof(CUstream));
    actor_begin();
    CUfunction f = actor_function("kernel");
    for (int round = 0; round < 2; round++) {
        for (long i = 0; i < n; i++)
            s[i] = actor_stream();
        for (long i = 0; i < 2 * n; i++)
            MUST(actor_launch(f, s[i % n]));
        MUST(cuCtxSynchronize());
        for (long i = 0; i < n; i++)
            MUST(cuStreamDestroy(s[i]));
    }
    printf("launched %ld\n", 4 * n);
    free(s);
    return 0;
}

static long number_in(const char *path, const char *format)
{
    char line[256];
    long n = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f))
        sscanf(line, format, &n);
    if (f)
        fclose(f);
    return n;
}

/* names N [BYTES]: that many kernels of different names, so long at least, a module for each 500 */
int actor_names(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 40000), bytes = actor_number(argc, argv, 2, 0);
    char *name = malloc((size_t)bytes + 64);
    CUmodule m = NULL;
    CUfunction f;
    actor_begin();
    CUstream s = actor_stream();
    memset(name, 'x', (size_t)bytes + 64);
    for (long i = 0; i < n; i++) {
        if (i % 500 == 0) {
            if (m)
                MUST(cuModuleUnload(m));
            MUST(cuModuleLoadData(&m, "image"));
        }
        name[bytes] = 'x';
        int length = snprintf(name, 32, "kernel_number_%ld_", i);
        name[length] = bytes > length ? 'x' : '\0';
        name[bytes > length ? bytes : length] = '\0';
        MUST(cuModuleGetFunction(&f, m, name));
        MUST(actor_launch(f, s));
    }
    MUST(cuStreamSynchronize(s));
    printf("launched %ld\n", n);
    fprintf(stderr, "RssAnon %ld kB\n", number_in("/proc/self/status", "RssAnon: %ld"));
    free(name);
    return 0;
}

static long written_bytes(void)
{
    return number_in("/proc/self/io", "wchar: %ld");
}

/* Until the profile of all that has run is there: nothing is written for a while. */
static void wait_until_written(void)
{
    long bytes = 0;
    for (int quiet = 0; quiet < 5; quiet++) {
        actor_sleep_ms(100);
        if (bytes != written_bytes())
            quiet = 0;
        bytes = written_bytes();
    }
}

/*
 * writes N one|each: that many kernels, then for three seconds a hundred launches a second, of one
 * of them or of each in turn, all of different lengths. Killed by a signal a while after the last.
 */
int actor_writes(int argc, char **argv)
{
    long n = actor_number(argc, argv, 1, 15000), i;
    bool each = !strcmp(actor_word(argc, argv, 2, "one"), "each");
    CUfunction *f = calloc((size_t)n, sizeof(*f));
    char name[100];
    actor_begin();
    CUstream s = actor_stream();
    for (i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "spin_kernel_whose_name_is_as_long_as_many_are_%ld", i);
        f[i] = actor_function(name);
        for (long k = 0; k < 3; k++)
            MUST(actor_launch_with(f[i], s, 2000 + (uint64_t)(i * k) % 500));
    }
    MUST(cuStreamSynchronize(s));
    actor_wait_for_profile();
    wait_until_written();
    long before = written_bytes();
    uint64_t begun_ns = actor_now_ns();
    for (i = 0; i < 300; i++) {
        MUST(actor_launch_with(f[each ? i * 7919 % n : n / 2], s,
                               2000 + (uint64_t)i * 7907 % 10000));
        actor_sleep_ms(10);
    }
    double ns = (double)(actor_now_ns() - begun_ns);
    fprintf(stderr, "written %.0f bytes/s\n", (double)(written_bytes() - before) * 1e9 / ns);
    printf("launched %ld\n", 3 * n + 300);
    fflush(stdout);
    actor_sleep_ms(300);
    raise(SIGKILL);
    return 1;
}

/* odd-names: what no compiler would call a kernel */
int actor_odd_names(int argc, char **argv)
{
    static char cut[65537], longer[65538], longest[1 << 20];
    const char *const names[] = {"\xff\xfe\x80 not UTF-8",
                                 "\xc3",
                                 "line\nfeed\ttab\r",
                                 "\x1b[31mred",
                                 "=1+1",
                                 "_Z",
                                 "_ZN",
                                 "(other kernels)",
                                 " ",
                                 cut,
                                 longer,
                                 longest};
    (void)argc;
    (void)argv;
    memset(cut, 'c', sizeof(cut) - 1);
    memset(longer, 'l', sizeof(longer) - 1);
    memset(longest, 'm', sizeof(longest) - 1);
    actor_begin();
    CUstream s = actor_stream();
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (int j = 0; j < 3; j++)
            MUST(actor_launch(actor_function(names[i]), s));
    MUST(cuStreamSynchronize(s));
    printf("launched %zu\n", 3 * sizeof(names) / sizeof(names[0]));
    return 0;
}
