/* SPDX-License-Identifier: MIT */
/*
 * driver_children PTX: children of every sort, before and after CUDA has started. Those that could
 * not use CUDA end by _exit: another profiler's exit handler would count the parent's work again.
 */
#include "driver.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char self[] = "/proc/self/exe";

static void wait_for(const char *what, pid_t pid)
{
    int status = -1;
    int same = waitpid(pid, &status, 0) == pid;

    printf("%s: %d, status %x\n", what, same, (unsigned int)status);
    fflush(stdout);
}

static int work(const char *image, int launches)
{
    struct driver d;

    driver_open(&d, image);
    for (int i = 0; i < launches; i++)
        driver_launch(i % 2 ? d.scale : d.add_one, d.data, NULL);
    driver_print(&d, "work");
    fflush(stdout);
    driver_close(&d);
    return 0;
}

static void fork_before(const char *image)
{
    pid_t pid = fork();

    if (!pid)
        exit(work(image, 30));
    wait_for("forked before", pid);
}

/* CUDA does not work here, and says so. */
static void fork_after(struct driver *d)
{
    pid_t pid = fork();

    if (!pid) {
        int first = (int)cuInit(0), second = (int)cuMemcpyDtoH(d->host, d->data, 64);
        _exit(first * 10 + second % 10);
    }
    wait_for("forked after", pid);
}

static void vfork_and_exec(const char *image)
{
    pid_t pid = vfork();

    if (!pid) {
        execl(self, self, image, "20", (char *)NULL);
        _exit(127);
    }
    wait_for("vforked", pid);
}

static void spawn(const char *image)
{
    char *argv[] = {(char *)self, (char *)image, (char *)"10", NULL};
    pid_t pid;

    printf("spawn: %d\n", posix_spawn(&pid, self, NULL, NULL, argv, environ));
    wait_for("spawned", pid);
}

int main(int argc, char **argv)
{
    struct driver d;

    if (argc > 2)
        return work(argv[1], atoi(argv[2]));
    if (argc < 2)
        return 2;
    fork_before(argv[1]);
    driver_open(&d, argv[1]);
    for (int i = 0; i < 5; i++) {
        driver_launch(d.add_one, d.data, NULL);
        fork_after(&d);
        driver_launch(d.scale, d.data, NULL);
    }
    vfork_and_exec(argv[1]);
    spawn(argv[1]);
    printf("system: %d\n", system("exit 3"));
    driver_print(&d, "parent");
    driver_close(&d);
    return 0;
}
