/* SPDX-License-Identifier: MIT */
/* Parts about ends without exit handlers, and about ends in a signal handler. */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CROWD 8

extern char **environ;

static const struct {
    const char *name;
    void (*by)(int status);
} ways[] = {{"exit", exit}, {"_exit", _exit}, {"_Exit", _Exit}, {"quick_exit", quick_exit}};

static void (*leave)(int status);

static void work(const char *name, int n)
{
    static CUstream s;
    if (!s) {
        actor_begin();
        s = actor_stream();
    }
    CUfunction f = actor_function(name);
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
}

static void work_late(void)
{
    work("late", 10);
}

/* stdio's buffers go with the process, but by exit(). */
static void alone(void)
{
    at_quick_exit(work_late);
    work("worked", 100);
    printf("left in a buffer");
    leave(7);
}

static void workers(void)
{
    for (int i = 0; i < 10; i++)
        if (!fork()) {
            work("worked", 100);
            leave(i);
        }
    for (int i = 0, status, sum = 0; i < 10; i++) {
        wait(&status);
        sum += WEXITSTATUS(status);
        if (i == 9)
            printf("ended: %d\n", sum);
    }
    fflush(stdout);
}

static void beside_a_hung_kernel(void)
{
    CUstream s;
    work("worked", 100);
    s = actor_stream();
    MUST(actor_launch(actor_function("hang"), s));
    for (int i = 0; i < 5; i++)
        MUST(actor_launch(actor_function("behind"), s));
    leave(7);
}

static pthread_barrier_t all_are_done;

static void *leave_with_others(void *context)
{
    MUST(cuCtxSetCurrent(context));
    CUfunction f = actor_function_in(context, "worked");
    CUstream s = actor_stream();
    for (int i = 0; i < 50; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
    pthread_barrier_wait(&all_are_done);
    leave(7);
    return NULL;
}

static void crowd(void)
{
    pthread_t t;
    CUcontext context = actor_begin();
    pthread_barrier_init(&all_are_done, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        pthread_create(&t, NULL, leave_with_others, context);
    for (;;)
        pause();
}

/* Registered before CUDA starts: everything of cutrace's is over by then. */
static void leave_late(void)
{
    leave(9);
}

static void after_exit_handlers(void)
{
    atexit(leave_late);
    work("worked", 100);
    exit(6);
}

/* ---- children ---- */

static void wait_for(const char *what, pid_t pid)
{
    int status = 0;
    bool waited = waitpid(pid, &status, 0) == pid;
    printf("%s: %d %x\n", what, waited, (unsigned)status);
    fflush(stdout);
}

static int leave_in_clone(void *unused)
{
    (void)unused;
    leave(4);
    return 0;
}

static void vfork_and_leave(void)
{
    pid_t pid = vfork();
    if (!pid)
        leave(3);
    wait_for("vfork", pid);
}

/* In the memory of the parent, which goes on launching. */
static void children_in_its_memory(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    char *argv[] = {(char *)"none", NULL};
    pid_t pid;
    work("worked", 50);
    vfork_and_leave();
    work("worked", 50);
    pid = clone(leave_in_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    wait_for("clone", pid);
    work("worked", 50);
    pid = clone(leave_in_clone, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
    work("worked", 50);
    wait_for("beside", pid);
    printf("spawn: %d\n", posix_spawn(&pid, "/nonexistent", NULL, NULL, argv, environ));
    work("worked", 50);
}

/* The driver is dead in them. */
static void children_of_a_parent_with_cuda(void)
{
    work("worked", 50);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (!pid)
            leave(i % 2 ? (int)cuInit(0) : 5);
        if (i < 2)
            wait_for("fork", pid);
        else
            waitpid(pid, NULL, 0);
    }
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (!pid)
        leave(5);
    wait_for("raw", pid);
    work("worked", 50);
}

/* ---- another program in its place ---- */

/* The environment, but for where the profile goes. */
static char **elsewhere(void)
{
    static char *given[256];
    unsigned n = 0;
    for (char **e = environ; *e && n < 254; e++)
        if (strncmp(*e, "CUTRACE_OUTPUT=", 15))
            given[n++] = *e;
    given[n] = (char *)(uintptr_t) "CUTRACE_OUTPUT=given.bin";
    return given;
}

static int become(const char *function, const char *path)
{
    char *argv[] = {(char *)"actor", (char *)"small", (char *)"30", NULL};
    if (!strcmp(function, "execl"))
        return execl(path, argv[0], argv[1], argv[2], NULL);
    if (!strcmp(function, "execle"))
        return execle(path, argv[0], argv[1], argv[2], NULL, elsewhere());
    if (!strcmp(function, "execlp"))
        return execlp(path, argv[0], argv[1], argv[2], NULL);
    if (!strcmp(function, "execv"))
        return execv(path, argv);
    if (!strcmp(function, "execve"))
        return execve(path, argv, elsewhere());
    if (!strcmp(function, "execvp"))
        return execvp(path, argv);
    if (!strcmp(function, "execvpe"))
        return execvpe(path, argv, elsewhere());
    return fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, elsewhere());
}

/* exec FUNCTION: which fails, and goes on; then it does not fail */
static void exec_by(const char *function)
{
    work("worked", 50);
    errno = 0;
    int result = become(function, "/nonexistent");
    printf("%s: %d, %d\n", function, result, errno);
    fflush(stdout);
    work("worked", 50);
    become(function, "/proc/self/exe");
}

/* ---- in a signal handler ---- */

static CUresult (*mem_alloc)(CUdeviceptr *, size_t);
static CUresult (*mem_free)(CUdeviceptr);
static volatile sig_atomic_t allocated, launched;

static void allocate(CUstream s)
{
    CUdeviceptr p;
    (void)s;
    MUST(mem_alloc(&p, 1024));
    allocated++;
    MUST(mem_free(p));
}

static void launch_one(CUstream s)
{
    MUST(actor_launch(actor_function("worked"), s));
    launched++;
}

static void reset(CUstream s)
{
    launch_one(s);
    MUST(cuDevicePrimaryCtxReset(0));
}

static void make_stream(CUstream s)
{
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    launch_one(s);
    MUST(cuStreamDestroy(s));
}

static void name_one(CUstream s)
{
    char name[32];
    static CUmodule module;
    CUfunction f;
    if (!module)
        MUST(cuModuleLoadData(&module, "image"));
    snprintf(name, sizeof(name), "kernel_%d", (int)launched % 1000);
    MUST(cuModuleGetFunction(&f, module, name));
    MUST(actor_launch(f, s));
    launched++;
}

static const struct {
    const char *name;
    void (*act)(CUstream s);
} acts[] = {{"allocate", allocate},
            {"launch", launch_one},
            {"reset", reset},
            {"stream", make_stream},
            {"name", name_one}};

static void leave_in_handler(int unused)
{
    char line[64];
    (void)unused;
    int bytes = snprintf(line, sizeof(line), "%d %d\n", (int)allocated, (int)launched);
    if (write(1, line, (size_t)bytes) == bytes)
        leave(7);
}

/* ACT US: does it again and again until the alarm comes, after so many microseconds more */
static void interrupted(int argc, char **argv)
{
    const char *name = actor_word(argc, argv, 3, "allocate");
    CUdriverProcAddressQueryResult q;
    unsigned i = 0;
    actor_begin();
    CUstream s = actor_stream();
    MUST(cuGetProcAddress("cuMemAlloc", (void **)&mem_alloc, 13000, 0, &q));
    MUST(cuGetProcAddress("cuMemFree", (void **)&mem_free, 13000, 0, &q));
    while (strcmp(acts[i].name, name))
        i++;
    signal(SIGALRM, leave_in_handler);
    struct itimerval when = {.it_value = {.tv_usec = 30000 + actor_number(argc, argv, 4, 0)}};
    setitimer(ITIMER_REAL, &when, NULL);
    for (;;)
        acts[i].act(s);
}

static const struct {
    const char *name;
    void (*play)(void);
} scenes[] = {
    {"alone", alone},
    {"workers", workers},
    {"hang", beside_a_hung_kernel},
    {"crowd", crowd},
    {"late", after_exit_handlers},
    {"shared", children_in_its_memory},
    {"forked", children_of_a_parent_with_cuda},
};

/* leave exit|_exit|_Exit|quick_exit SCENE, or interrupted ACT US, or exec FUNCTION */
int actor_leave(int argc, char **argv)
{
    const char *how = actor_word(argc, argv, 1, ""), *scene = actor_word(argc, argv, 2, "");
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!strcmp(ways[i].name, how))
            leave = ways[i].by;
    for (size_t i = 0; leave && i < sizeof(scenes) / sizeof(scenes[0]); i++)
        if (!strcmp(scenes[i].name, scene)) {
            scenes[i].play();
            return 0;
        }
    if (!strcmp(scene, "exec"))
        exec_by(actor_word(argc, argv, 3, ""));
    if (leave && !strcmp(scene, "interrupted"))
        interrupted(argc, argv);
    return 2;
}
