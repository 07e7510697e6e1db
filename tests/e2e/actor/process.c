/* SPDX-License-Identifier: MIT */
/* Parts about children of every sort, and about processes that give something up. */
#include "actor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cutrace/cutrace.h"

extern char **environ;

#define NOBODY 65534

static const char self[] = "/proc/self/exe";
static CUcontext context;

static void work(const char *name, int n)
{
    static CUstream s;
    context = context ? context : actor_begin();
    s = s ? s : actor_stream();
    CUfunction f = actor_function(name);
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
}

static void wait_for(pid_t pid)
{
    int status = 0;
    printf("waited: %d, ", waitpid(pid, &status, 0) == pid);
    printf("status %x\n", (unsigned)status);
    fflush(stdout);
}

/* ---- forks beside work ---- */

static void *launch_all_the_time(void *arg)
{
    MUST(cuCtxSetCurrent(context));
    CUfunction f = actor_function_in(context, "stormy");
    CUstream s = actor_stream();
    for (long i = 0; i < *(long *)arg; i++) {
        MUST(actor_launch(f, s));
        if (i % 50 == 49)
            actor_sleep_ms(1);
    }
    MUST(cuStreamSynchronize(s));
    return NULL;
}

static void be_child(int way)
{
    int status = 0;
    pid_t pid;
    if (way == 0)
        _exit(10);
    if (way == 1)
        exit(11);
    if (way == 2)
        exit(20 + (int)cuInit(0)); /* which does not work in a child */
    pid = fork();
    if (!pid)
        exit(actor_launch(NULL, NULL) == CUDA_SUCCESS);
    waitpid(pid, &status, 0);
    exit(30 + WEXITSTATUS(status));
}

/* storm [FORKS [LAUNCHES]]: children of four sorts while three threads launch */
int actor_storm(int argc, char **argv)
{
    long forks = actor_number(argc, argv, 1, 60), n = actor_number(argc, argv, 2, 3000);
    pthread_t t[3];
    work("first", 10);
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, launch_all_the_time, &n);
    for (int i = 0; i < forks; i++) {
        pid_t pid = fork();
        if (!pid)
            be_child(i % 4);
        wait_for(pid);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* A child that the C library knows nothing of: no handler of anybody's ran. */
static void fork_raw(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (!pid)
        exit(5);
    wait_for(pid);
}

/* ---- descriptors of children ---- */

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* list-fds: the numbers of all open descriptors */
int actor_list_fds(int argc, char **argv)
{
    int fds[1024], n = 0;
    DIR *d = opendir("/proc/self/fd");
    (void)argc;
    (void)argv;
    for (struct dirent *e; d && n < 1024 && (e = readdir(d));)
        if (*e->d_name != '.' && atoi(e->d_name) != dirfd(d))
            fds[n++] = atoi(e->d_name);
    if (d)
        closedir(d);
    qsort(fds, (size_t)n, sizeof(*fds), by_number);
    for (int i = 0; i < n; i++)
        printf("%d ", fds[i]);
    printf("open\n");
    fflush(stdout);
    return 0;
}

static void list_in_spawned(void)
{
    pid_t pid;
    char *argv[] = {(char *)"actor", (char *)"list-fds", NULL};
    if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
        exit(3);
    wait_for(pid);
}

static void list_in_forked(void)
{
    pid_t pid = fork();
    if (!pid)
        exit(actor_list_fds(0, NULL));
    wait_for(pid);
}

static void list_after_exec(void)
{
    pid_t pid = fork();
    if (!pid) {
        execl(self, "actor", "list-fds", NULL);
        _exit(127);
    }
    wait_for(pid);
}

static void list_in_own_place(void)
{
    execl("/nonexistent/program", "actor", NULL);
    printf("exec: errno %d\n", errno);
    work("worked", 50);
    fflush(stdout);
    execl(self, "actor", "list-fds", NULL);
}

/* ---- processes that give something up ---- */

/* Threads that still are somebody else; with us there is one thread more. */
static void say_owners(void)
{
    int others = 0;
    DIR *d = opendir("/proc/self/task");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (*e->d_name != '.' && !fstatat(dirfd(d), e->d_name, &st, 0))
            others += st.st_uid != NOBODY;
    }
    if (d)
        closedir(d);
    printf("threads of another user: %d\n", others);
}

static void drop_root(void)
{
    if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
        exit(77);
    printf("root again: %d\n", setuid(0));
}

/* as-nobody PROGRAM */
int actor_as_nobody(int argc, char **argv)
{
    if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
        return 77;
    execv(actor_word(argc, argv, 1, ""), argv + 1);
    return 3;
}

static void drop_late(void)
{
    drop_root();
    say_owners();
    work("worked", 50);
}

/* Who it may become again is another user; who it is, not. */
static void drop_saved(void)
{
    printf("saved: %d\n", setresuid((uid_t)-1, (uid_t)-1, NOBODY));
    work("worked", 50);
}

static void leave_root(void)
{
    mkdir("jail", 0777);
    if (chroot("jail") || chdir("/"))
        exit(77);
    printf("jail: %d\n", access("/proc", F_OK));
    work("worked", 50);
}

/* One after the other, of which each may have nothing of the others'. */
static void start_workers(void (*become)(void))
{
    for (int i = 0; i < 3; i++) {
        fflush(stdout);
        pid_t pid = fork();
        if (!pid) {
            become();
            work("worked", 50);
            exit(0);
        }
        wait_for(pid);
        actor_sleep_ms(30);
    }
}

static void drop_in_workers(void)
{
    start_workers(drop_root);
}

static void leave_root_in_workers(void)
{
    mkdir("jail", 0777);
    if (chroot("jail") || chdir("/"))
        exit(77);
    start_workers(drop_root);
}

static void *work_in_jail(void *unused)
{
    actor_settle(); /* the main thread needs a library to end */
    MUST(cuCtxSetCurrent(context));
    leave_root();
    return unused;
}

/* The last thread in a place without /proc is not the main one. */
static void leave_root_and_main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work_in_jail, NULL);
    pthread_exit(NULL);
}

/* A daemon: of the whole program one grandchild is left, with nothing but /dev/null open. */
static void become_daemon(void)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC))
        exit(3);
    if (!fork()) {
        if (setsid() < 0 || fork())
            _exit(0);
        close(ends[0]);
        for (int fd = 0; fd < 3; fd++) {
            close(fd);
            if (open("/dev/null", O_RDWR) != fd)
                _exit(1);
        }
        if (chdir("/"))
            _exit(1);
        work("worked", 100);
        exit(write(ends[1], "x", 1) != 1);
    }
    close(ends[1]);
    printf("daemon: %ld", (long)read(ends[0], &byte, 1));
    printf(", then %ld\n", (long)read(ends[0], &byte, 1)); /* its end */
}

static void work_elsewhere(void)
{
    if (!chdir("/"))
        work("worked", 50);
}

/* ---- first calls ---- */

#define BEGINNERS 8

static pthread_barrier_t beginning;

static void *begin(void *unused)
{
    pthread_barrier_wait(&beginning);
    MUST(cuInit(0));
    return unused;
}

static void begin_at_once(void)
{
    pthread_t threads[BEGINNERS];
    pthread_barrier_init(&beginning, NULL, BEGINNERS);
    for (int i = 0; i < BEGINNERS; i++)
        pthread_create(&threads[i], NULL, begin, NULL);
    for (int i = 0; i < BEGINNERS; i++)
        pthread_join(threads[i], NULL);
}

/* Children at any time of it; each asks the library, which may not be there. */
static void fork_at_the_first_call(void)
{
    pthread_t thread;
    pthread_barrier_init(&beginning, NULL, 2);
    pthread_create(&thread, NULL, begin, NULL);
    pthread_barrier_wait(&beginning);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (!pid)
            _exit(cutrace_is_recording() < 0);
        wait_for(pid);
    }
    pthread_join(thread, NULL);
}

/* Whoever goes through what is loaded holds a lock of the loader's, in the child for ever. */
static int stay_in_loader(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info;
    (void)size;
    (void)unused;
    pthread_barrier_wait(&beginning);
    pthread_barrier_wait(&beginning);
    return 1;
}

static void *hold_loader(void *unused)
{
    dl_iterate_phdr(stay_in_loader, unused);
    return unused;
}

static void fork_beside_the_loader(void)
{
    pthread_t thread;
    pthread_barrier_init(&beginning, NULL, 2);
    pthread_create(&thread, NULL, hold_loader, NULL);
    pthread_barrier_wait(&beginning);
    pid_t pid = fork();
    if (!pid)
        _exit(cutrace_is_recording() < 0);
    wait_for(pid);
    pthread_barrier_wait(&beginning);
    pthread_join(thread, NULL);
}

/* ---- a thread that is cancelled ---- */

/* None of these calls is a point where that takes effect. */
static void *work_cancelled(void *unused)
{
    CUdevice device;
    pthread_cancel(pthread_self());
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    work("worked", 50);
    MUST(cuDevicePrimaryCtxRelease(device));
    return unused;
}

static void be_cancelled(void)
{
    pthread_t t;
    void *result = NULL;
    MUST(cuInit(0));
    pthread_create(&t, NULL, work_cancelled, NULL);
    pthread_join(t, &result);
    printf("cancelled: %d\n", result == PTHREAD_CANCELED);
}

static void *exit_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    exit(5);
    return unused;
}

static void exit_in_cancelled(void)
{
    pthread_t t;
    pthread_create(&t, NULL, exit_cancelled, NULL);
    pthread_join(t, NULL);
}

static const struct {
    const char *name;
    int before; /* launches */
    void (*play)(void);
} acts[] = {
    {"fork-raw", 50, fork_raw},
    {"fds-forked", 50, list_in_forked},
    {"fds-spawned", 50, list_in_spawned},
    {"fds-exec", 50, list_after_exec},
    {"fds-own", 50, list_in_own_place},
    {"drop", 50, drop_late},
    {"drop-saved", 50, drop_saved},
    {"drop-first", 0, drop_late},
    {"chroot", 50, leave_root},
    {"chroot-first", 0, leave_root},
    {"chroot-thread", 50, leave_root_and_main},
    {"daemon", 0, become_daemon},
    {"moved", 0, work_elsewhere},
    {"drop-workers", 0, drop_in_workers},
    {"chroot-workers", 0, leave_root_in_workers},
    {"cancelled", 0, be_cancelled},
    {"cancelled-exit", 50, exit_in_cancelled},
    {"first-calls", 0, begin_at_once},
    {"first-fork", 0, fork_at_the_first_call},
    {"loader-fork", 0, fork_beside_the_loader},
};

/* process ACT */
int actor_process(int argc, char **argv)
{
    const char *act = actor_word(argc, argv, 1, "");
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (strcmp(acts[i].name, act))
            continue;
        if (acts[i].before) {
            work("worked", acts[i].before);
            actor_settle();
        }
        acts[i].play();
        return 0;
    }
    return 2;
}
