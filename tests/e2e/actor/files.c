/* SPDX-License-Identifier: MIT */
/* Parts that change what a file descriptor or a path means. */
#include "actor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int result_fd; /* where the last word goes when stdout is closed */

static void close_from(int first)
{
    for (int fd = first; fd < 1024; fd++)
        if (fd != result_fd)
            close(fd);
}

static void work(const char *name, int n)
{
    static CUstream s;
    s = s ? s : actor_stream();
    CUfunction f = actor_function(name);
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
}

/* Takes every number that was free, so that a stray write would land in one of these. */
static int fill_descriptors(int *fds)
{
    int n = 0;
    while (n < 1024 && (fds[n] = open("own", O_RDWR | O_CREAT, 0666)) >= 0)
        n++;
    return n;
}

static void close_all(void)
{
    int fds[1024];
    struct stat st;
    actor_begin();
    work("worked", 50);
    actor_sleep_ms(200);
    close_from(3);
    int n = fill_descriptors(fds);
    work("worked", 50);
    actor_sleep_ms(200);
    stat("own", &st);
    dprintf(result_fd, "own file: %ld bytes\n", (long)st.st_size);
    while (n--)
        close(fds[n]);
}

/* Another file takes the profile's name while it is written. */
static void swap(void)
{
    actor_begin();
    work("worked", 50);
    for (int i = 0; i < 500 && access("summary.bin", F_OK); i++)
        actor_sleep_ms(10);
    if (rename("summary.bin", "moved") || symlink("victim", "summary.bin"))
        exit(3);
    work("worked", 50);
    actor_sleep_ms(200);
}

static void use_up(void)
{
    int fds[1024];
    actor_limit(RLIMIT_NOFILE, 30);
    int n = fill_descriptors(fds);
    actor_begin();
    work("worked", 100);
    actor_sleep_ms(200);
    while (n--)
        close(fds[n]);
}

static void play(const char *what)
{
    if (!strcmp(what, "close-all"))
        return close_all();
    if (!strcmp(what, "use-up"))
        return use_up();
    if (!strcmp(what, "swap"))
        return swap();
    if (!strcmp(what, "close-std"))
        for (int fd = 0; fd < 3; fd++)
            close(fd);
    if (!strcmp(what, "close-stderr"))
        close(2);
    if (!strcmp(what, "few-files"))
        actor_limit(RLIMIT_NOFILE, 20);
    if (!strcmp(what, "small-files"))
        actor_limit(RLIMIT_FSIZE, 5000); /* room for the header, for no payload */
    actor_begin();
    if (!strcmp(what, "chdir") && chdir("/"))
        exit(3);
    work("worked", 100);
}

/* files WHAT */
int actor_files(int argc, char **argv)
{
    result_fd = fcntl(1, F_DUPFD_CLOEXEC, 19); /* below any limit set here */
    const char *what = actor_word(argc, argv, 1, "");
    play(what);
    dprintf(result_fd, "files %s: done\n", what);
    return 0;
}
