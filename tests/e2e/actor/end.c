/* SPDX-License-Identifier: MIT */
/* Parts about how a process ends, and about its children. */
#include "actor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char self[] = "/proc/self/exe";

static void work(long n)
{
    actor_begin();
    CUfunction f = actor_function("worked");
    CUstream s = actor_stream();
    for (long i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
    printf("worked %ld\n", n);
    fflush(stdout);
}

static void wait_for(pid_t pid)
{
    int status = 0;
    printf("waited: %d, ", waitpid(pid, &status, 0) == pid);
    printf("status %x\n", (unsigned)status);
    fflush(stdout);
}

static void *exit_here(void *unused)
{
    (void)unused;
    work(10);
    exit(7);
}

static void by_thread(void)
{
    pthread_t t;
    pthread_create(&t, NULL, exit_here, NULL);
    pthread_join(t, NULL);
}

static void *outlive(void *unused)
{
    actor_sleep_ms(50);
    actor_begin();
    CUfunction f = actor_function("worked");
    for (int i = 0; i < 10; i++)
        MUST(actor_launch(f, NULL));
    MUST(cuCtxSynchronize());
    return unused;
}

static void by_pthread_exit(void)
{
    pthread_t t;
    pthread_create(&t, NULL, outlive, NULL);
    pthread_exit(NULL);
}

static void by__exit(void)
{
    _exit(7);
}

static void by_quick_exit(void)
{
    quick_exit(7);
}

static void by_abort(void)
{
    actor_wait_for_profile();
    abort();
}

static void by_term(void)
{
    actor_wait_for_profile();
    raise(SIGTERM);
}

static void by_kill(void)
{
    actor_wait_for_profile();
    raise(SIGKILL);
}

static void by_exec(void)
{
    execl(self, "actor", "small", "30", NULL);
}

/* The child works first, and ends before its parent starts. */
static void fork_first(void)
{
    pid_t pid = fork();
    if (!pid) {
        work(20);
        actor_sleep_ms(100);
        exit(5);
    }
    wait_for(pid);
    work(100);
}

/* Parent and child work side by side. */
static void fork_before(void)
{
    pid_t pid = fork();
    if (!pid) {
        actor_sleep_ms(200);
        work(20);
        exit(5);
    }
    work(100);
    wait_for(pid);
}

static void child_after_fork(void)
{
    CUcontext c;
    CUdevice d;
    actor_say("child cuInit", cuInit(0));
    actor_say("child cuCtxGetCurrent", cuCtxGetCurrent(&c));
    actor_say("child cuDeviceGet", cuDeviceGet(&d, 0));
    actor_say("child launch", actor_launch(NULL, NULL));
    fflush(stdout);
}

static void fork_after(void)
{
    pid_t pid = fork();
    if (!pid) {
        child_after_fork();
        exit(5);
    }
    wait_for(pid);
}

static void fork_after__exit(void)
{
    pid_t pid = fork();
    if (!pid) {
        child_after_fork();
        _exit(5);
    }
    wait_for(pid);
}

static void by_vfork(void)
{
    pid_t pid = vfork();
    if (!pid) {
        execl(self, "actor", "small", "30", NULL);
        _exit(127);
    }
    wait_for(pid);
}

static void by_spawn(void)
{
    pid_t pid;
    char *argv[] = {(char *)"actor", (char *)"small", (char *)"30", NULL};
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
        exit(3);
    wait_for(pid);
}

static void by_system(void)
{
    printf("system %d\n", system("exit 3"));
}

/* A kernel that never ends. */
static void by_hang(void)
{
    CUstream s = actor_stream();
    MUST(actor_launch(actor_function("hang"), s));
    for (int i = 0; i < 5; i++)
        MUST(actor_launch(actor_function("behind"), s));
}

static void by_return(void)
{
}

/* Files, sockets and blocked signals that are nobody else's. */
static void by_return_with_much(void)
{
    static const int far[] = {250, 700};
    sigset_t blocked;
    int ends[2];
    if (pipe(ends) || !freopen("held", "w+", stdin))
        exit(3);
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
        dup2(ends[1], far[i]);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
}

/* before: launches made before the way out is taken */
static const struct way {
    const char *name;
    long before;
    void (*take)(void);
} ways[] = {
    {"return", 100, by_return},
    {"return-with-much", 100, by_return_with_much},
    {"thread", 0, by_thread},
    {"pthread_exit", 100, by_pthread_exit},
    {"_exit", 100, by__exit},
    {"quick_exit", 100, by_quick_exit},
    {"abort", 100, by_abort},
    {"term", 100, by_term},
    {"kill", 100, by_kill},
    {"exec", 100, by_exec},
    {"fork-first", 0, fork_first},
    {"fork-before", 0, fork_before},
    {"fork-after", 100, fork_after},
    {"fork-after-_exit", 100, fork_after__exit},
    {"vfork", 100, by_vfork},
    {"spawn", 100, by_spawn},
    {"system", 100, by_system},
    {"hang", 100, by_hang},
};

int actor_end(int argc, char **argv)
{
    const char *how = actor_word(argc, argv, 1, "return");
    actor_sleep_ms(50); /* about what a real cuInit takes */
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (strcmp(ways[i].name, how))
            continue;
        if (ways[i].before)
            work(ways[i].before);
        ways[i].take();
        return 6;
    }
    return 2;
}

/* ---- what the program sees of cutrace's child ---- */

static atomic_int signals, reaped;

static void on_child(int signal)
{
    (void)signal;
    atomic_fetch_add(&signals, 1);
}

static void *reap(void *unused)
{
    (void)unused;
    for (;;)
        if (waitpid(-1, NULL, 0) > 0)
            atomic_fetch_add(&reaped, 1);
        else
            actor_sleep_ms(1);
    return NULL;
}

/* Registered before cuInit, so it runs after cutrace has shown its table. */
static void tell(void)
{
    pid_t pid = waitpid(-1, NULL, WNOHANG);
    int error = errno;
    printf("signals %d, reaped %d, a child left: %d, errno %d\n", atomic_load(&signals),
           atomic_load(&reaped), pid > 0, error);
    fflush(stdout);
}

/* child default|ignore|nowait|handler|reap: how the program treats its children */
int actor_child(int argc, char **argv)
{
    const char *how = actor_word(argc, argv, 1, "default");
    struct sigaction a = {.sa_handler = SIG_DFL};
    if (!strcmp(how, "ignore"))
        a.sa_handler = SIG_IGN;
    else if (!strcmp(how, "handler"))
        a.sa_handler = on_child;
    else if (!strcmp(how, "nowait"))
        a.sa_flags = SA_NOCLDWAIT;
    sigaction(SIGCHLD, &a, NULL);
    atexit(tell);
    work(100);
    return 0;
}

/* Another thread waits for any child all the time */
int actor_reaper(int argc, char **argv)
{
    pthread_t t;
    (void)argc;
    (void)argv;
    atexit(tell);
    pthread_create(&t, NULL, reap, NULL);
    work(100);
    return 0;
}
