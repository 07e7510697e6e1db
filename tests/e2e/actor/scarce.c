/* SPDX-License-Identifier: MIT */
/* Parts that run into limits, full disks, broken pipes and sandboxes. */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static int result_fd; /* where results go when stdout is closed */

static void work(const char *name, int n)
{
    static CUstream s;
    static bool begun;
    if (!begun)
        actor_begin();
    begun = true;
    s = s ? s : actor_stream();
    CUfunction f = actor_function(name);
    for (int i = 0; i < n; i++)
        MUST(actor_launch(f, s));
    MUST(cuStreamSynchronize(s));
}

/* ---- signals that a write raises ---- */

static volatile sig_atomic_t raised[NSIG];

static void count(int signal)
{
    raised[signal]++;
}

static void say_signals(const char *when)
{
    sigset_t pending;
    struct sigaction a;
    sigpending(&pending);
    sigaction(SIGXFSZ, NULL, &a);
    dprintf(result_fd, "%s: XFSZ %d, PIPE %d, pending %d %d, own handler %d\n", when,
            (int)raised[SIGXFSZ], (int)raised[SIGPIPE], sigismember(&pending, SIGXFSZ),
            sigismember(&pending, SIGPIPE), a.sa_handler == count);
}

static void say_last_signals(void)
{
    say_signals("exit");
}

/* Registered before CUDA starts: what it says comes after all that cutrace writes. */
static void watch_signals(void)
{
    signal(SIGXFSZ, count);
    signal(SIGPIPE, count);
    atexit(say_last_signals);
}

/* The program itself goes over the limit once: that signal is its own. */
static void exceed(void)
{
    int fd = open("too-large", O_RDWR | O_CREAT, 0666);
    errno = 0;
    long n = fd < 0 ? -1 : (long)pwrite(fd, "xy", 2, 1 << 20);
    dprintf(result_fd, "own write: %ld, errno %d\n", n, errno);
    close(fd);
}

static void small_files(void)
{
    watch_signals();
    actor_limit(RLIMIT_FSIZE, 100);
    work("worked", 50);
    actor_settle();
    say_signals("after work");
    exceed();
    say_signals("after own write");
}

/* As that, but with no handler: whoever raises it ends the program. */
static void small_files_deadly(void)
{
    actor_limit(RLIMIT_FSIZE, 100);
    work("worked", 50);
    actor_settle();
}

static void no_threads(void)
{
    if (!geteuid() && (chmod(".", 0777) || setgid(NOBODY) || setuid(NOBODY)))
        exit(77);
    actor_limit(RLIMIT_NPROC, 0);
}

static void few_threads(void)
{
    no_threads();
    work("worked", 100);
}

static void few_threads_small_files(void)
{
    no_threads();
    watch_signals();
    actor_limit(RLIMIT_FSIZE, 100);
    work("worked", 100);
}

/* ---- stderr ---- */

static void point_at(int fd, int to)
{
    if (dup2(to, fd) != fd)
        exit(3);
    close(to);
}

/* Nobody reads what comes on stderr any more. */
static void broken_pipe(void)
{
    int ends[2];
    if (pipe(ends))
        exit(3);
    close(ends[0]);
    point_at(2, ends[1]);
    execl("/proc/self/exe", "actor", "scarce", "work", NULL);
}

/* Its reader sleeps, and it is full. */
static void full_pipe(void)
{
    int ends[2];
    if (pipe(ends) || fcntl(ends[1], F_SETFL, O_NONBLOCK))
        exit(3);
    while (write(ends[1], "x", 1) == 1)
        ;
    fcntl(ends[1], F_SETFL, 0);
    point_at(2, ends[1]);
    execl("/proc/self/exe", "actor", "scarce", "work", NULL);
}

static void launch_many_kernels(void);

/* Its reader is slow, and who made it does not want to wait for that. */
static void slow_pipe(void)
{
    char text[1024];
    int ends[2], status = 0;
    ssize_t n;
    if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK))
        exit(3);
    pid_t pid = fork();
    if (!pid) {
        close(ends[0]);
        point_at(2, ends[1]);
        execl("/proc/self/exe", "actor", "scarce", "many-kernels", NULL);
    }
    close(ends[1]);
    while ((n = read(ends[0], text, sizeof(text))) > 0) {
        actor_sleep_ms(2);
        if (write(2, text, (size_t)n) != n)
            exit(3);
    }
    if (waitpid(pid, &status, 0) != pid || status)
        exit(4);
}

/* What was stderr is now a file of data. */
static void data_on_stderr(void)
{
    close(2);
    if (open("data", O_RDWR | O_CREAT | O_TRUNC, 0666) != 2)
        exit(3);
    work("worked", 100);
    dprintf(2, "data\n");
}

/* The reader that sleeps is this process, and nobody that it starts: then the pipe breaks with it.
 */
static void just_work(void)
{
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    watch_signals();
    work("worked", 100);
}

/* ---- descriptors ---- */

/* Opens three files of its own and says which numbers they got; a stray write would be in them. */
static void open_own(const char *when)
{
    char name[8] = "own-0";
    for (int i = 0; i < 3; i++) {
        name[4] = (char)('0' + i);
        int fd = open(name, O_RDWR | O_CREAT, 0666);
        dprintf(result_fd, "%s: %s is %d\n", when, name, fd);
        dprintf(fd, "own\n");
    }
}

static void close_from(unsigned first)
{
    unsigned kept = (unsigned)result_fd;
    if (syscall(SYS_close_range, first, kept - 1, 0) || syscall(SYS_close_range, kept + 1, ~0u, 0))
        exit(77);
}

static void close_all_first(void)
{
    close_from(0);
    work("worked", 50);
    actor_settle();
    open_own("after start");
    work("worked", 50);
    actor_settle();
}

static void close_all_first_few(void)
{
    actor_limit(RLIMIT_NOFILE, 20);
    close_all_first();
}

static void close_all_later(void)
{
    work("worked", 50);
    actor_settle();
    close_from(0);
    open_own("after start");
    work("worked", 50);
    actor_settle();
}

/* ---- memory ---- */

/* A line of /proc/self/status in KiB. */
static uint64_t status_kib(const char *key)
{
    char line[256];
    uint64_t n = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, key, strlen(key)))
            n = strtoull(line + strlen(key) + 1, NULL, 10);
    if (!f || fclose(f))
        exit(3);
    return n;
}

/* Addresses, and among them those of memory that may be written; -1: any number of MB more. */
static void limit_memory(int which, const char *key, long more_mb)
{
    uint64_t bytes = status_kib(key) * 1024 + (uint64_t)more_mb * 1048576u;
    actor_limit(which, more_mb < 0 ? RLIM_INFINITY : bytes);
}

/* While the first call is made, in which cutrace prepares; the device itself gets what it needs. */
static void prepare_within(int which, const char *key, long more_mb)
{
    int version;
    limit_memory(which, key, more_mb);
    MUST(cuDriverGetVersion(&version));
    limit_memory(which, key, -1);
}

static void little_memory(int argc, char **argv)
{
    prepare_within(RLIMIT_AS, "VmSize", actor_number(argc, argv, 2, 64));
    work("worked", 100);
}

static void little_data(int argc, char **argv)
{
    prepare_within(RLIMIT_DATA, "VmData", actor_number(argc, argv, 2, 64));
    work("worked", 100);
}

static void launch_many_kernels(void)
{
    char name[64];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "a_kernel_whose_name_needs_some_room_%d", i);
        work(name, 1);
    }
}

/* When all is under way, and grows. */
static void little_memory_later(int argc, char **argv)
{
    work("worked", 100);
    actor_settle();
    limit_memory(RLIMIT_AS, "VmSize", actor_number(argc, argv, 2, 64));
    launch_many_kernels();
    actor_settle();
}

static void little_data_later(int argc, char **argv)
{
    work("worked", 100);
    actor_settle();
    limit_memory(RLIMIT_DATA, "VmData", actor_number(argc, argv, 2, 64));
    launch_many_kernels();
    actor_settle();
}

/* Whether the limit of locked memory is none to this process. */
static void be_free_to_lock(bool free)
{
    struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct d[2] = {{0}};
    const uint32_t bit = 1u << CAP_IPC_LOCK;
    if (syscall(SYS_capget, &h, d))
        exit(3);
    d[0].effective = free ? d[0].effective | bit : d[0].effective & ~bit;
    if (syscall(SYS_capset, &h, d))
        exit(3);
}

static void prepare_within_lock_limit(long more_mb)
{
    int version;
    struct rlimit before, limit;
    if (getrlimit(RLIMIT_MEMLOCK, &before))
        exit(3);
    limit.rlim_cur = status_kib("VmLck") * 1024 + (uint64_t)more_mb * 1048576u;
    limit.rlim_max = limit.rlim_cur > before.rlim_max ? limit.rlim_cur : before.rlim_max;
    if (setrlimit(RLIMIT_MEMLOCK, &limit))
        exit(77);
    be_free_to_lock(false);
    MUST(cuDriverGetVersion(&version));
    be_free_to_lock(true);
}

/* locked FLAGS [MB]: all memory is, from before the start; MB: that cutrace may lock meanwhile */
static void lock_memory(int argc, char **argv)
{
    int flags = (int)actor_number(argc, argv, 2, 0);
    long more_mb = actor_number(argc, argv, 3, -1);
    CUcontext c;
    CUevent e;
    if (flags && mlockall(flags))
        exit(77);
    if (more_mb >= 0)
        prepare_within_lock_limit(more_mb);
    work("worked", 100);
    MUST(cuEventCreate(&e, 0)); /* the device has all addresses for events, with or without us */
    for (int i = 0; i < 4; i++) {
        MUST(cuCtxCreate(&c, NULL, 0, 0));
        MUST(actor_launch(actor_function_in(c, "worked"), NULL));
        MUST(cuCtxSynchronize());
    }
    fprintf(stderr, "locked %lu KiB, charged %lu KiB\n", (unsigned long)status_kib("VmLck"),
            (unsigned long)status_kib("VmData"));
}

/* Too little for another program, which then ends by a signal; this one has its own already. */
static void little_stack(void)
{
    struct rlimit core;
    work("worked", 100);
    if (getrlimit(RLIMIT_CORE, &core))
        exit(3);
    actor_limit(RLIMIT_CORE, core.rlim_max);
    actor_limit(RLIMIT_STACK, 16384);
}

/* ---- the environment ---- */

/* Its own, of which nothing is left when it ends. */
static void take_environment_away(void)
{
    extern char **environ;
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    char **own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    work("worked", 100);
    environ = own;
    munmap(own, bytes);
}

/* ---- the disk ---- */

static void fill_disk(const char *directory)
{
    static char block[4096];
    char path[256];
    snprintf(path, sizeof(path), "%s/filler", directory);
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    while (fd >= 0 && write(fd, block, sizeof(block)) > 0)
        ;
    dprintf(result_fd, "filled: errno %d\n", errno);
    close(fd);
}

/* The profile grows when there is no room any more. */
static void fill(int argc, char **argv)
{
    work("worked", 50);
    actor_settle();
    fill_disk(actor_word(argc, argv, 2, "."));
    launch_many_kernels();
    actor_settle();
}

static void fill_first(int argc, char **argv)
{
    fill_disk(actor_word(argc, argv, 2, "."));
    work("worked", 50);
}

/* The directory with the profile goes away, or may not be written to any more. */
static void remove_output(void)
{
    work("worked", 50);
    actor_settle();
    int removed = unlink("out/x.bin");
    dprintf(result_fd, "remove: %d %d\n", removed, rmdir("out"));
    work("worked", 50);
    actor_settle();
    dprintf(result_fd, "there: %d\n", access("out", F_OK));
}

/* As by `> x.bin`, or a log's rotation. */
static void cut_output(void)
{
    work("worked", 50);
    actor_settle();
    dprintf(result_fd, "cut: %d\n", truncate("x.bin", 0));
    int cut = truncate("x.trace", 100); /* if there is one */
    (void)cut;
    work("worked", 50);
    actor_settle();
}

static void protect_output(void)
{
    work("worked", 50);
    actor_settle();
    dprintf(result_fd, "protect: %d %d\n", chmod("out/x.bin", 0400), chmod("out", 0500));
    work("worked", 50);
}

/* ---- sandboxes ---- */

#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
/* Of the call of that number, and skips the return otherwise. */
#define ON(number, action)                                                                         \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, action)

static void install(struct sock_filter *code, size_t count)
{
    struct sock_fprog program = {(unsigned short)count, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
        exit(77);
}

/*
 * as-filtered NUMBER PROGRAM...: as a service manager would, who ends it at that call; below 0 it
 * is refused, as in a container
 */
int actor_as_filtered(int argc, char **argv)
{
    long number = actor_number(argc, argv, 1, 0);
    uint32_t action = number < 0 ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_KILL_PROCESS;
    struct sock_filter code[] = {NUMBER, ON((uint32_t)labs(number), action), ALLOW};
    install(code, sizeof(code) / sizeof(code[0]));
    execv(actor_word(argc, argv, 2, ""), argv + 2);
    return 3;
}

/* For all threads: no files, no memory, no writing at an offset. */
static void refuse_calls(void)
{
    uint32_t refuse = SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter code[] = {
        NUMBER,
        ON(SYS_openat, refuse),
        ON(SYS_mmap, refuse),
        ON(SYS_pwrite64, refuse),
        ON(SYS_ftruncate, refuse),
        ON(SYS_memfd_create, refuse),
        ON(SYS_fcntl, refuse),
        ON(SYS_clone, refuse),
        ON(SYS_execve, refuse),
        ALLOW,
    };
    work("worked", 50);
    actor_settle();
    install(code, sizeof(code) / sizeof(code[0]));
    launch_many_kernels();
    actor_settle();
}

/* New programs and processes are deadly, as is usual in sandboxes; threads are not. */
static void kill_on_exec(void)
{
    struct sock_filter code[] = {
        NUMBER,
        ON(SYS_execve, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_execveat, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_clone, SECCOMP_RET_KILL_PROCESS),
        ALLOW,
    };
    work("worked", 50);
    install(code, sizeof(code) / sizeof(code[0]));
    work("worked", 50);
}

/* From the first commit on the drain thread and the exit need few calls, and open no file. */
static void kill_on_open(void)
{
    struct sock_filter code[] = {
        NUMBER,
        ON(SYS_openat, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_execve, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_clone, SECCOMP_RET_KILL_PROCESS),
        ALLOW,
    };
    work("worked", 50);
    actor_settle();
    install(code, sizeof(code) / sizeof(code[0]));
    work("worked", 50);
    actor_settle(); /* of idleness */
    work("worked", 50);
}

/* ---- one thread in a sandbox ---- */

static const char *own_end;

static void confine_this_thread(void)
{
    struct sock_filter code[] = {
        NUMBER,
        ON(SYS_execve, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_clone, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_clone3, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_socket, SECCOMP_RET_KILL_PROCESS),
        ON(SYS_memfd_create, SECCOMP_RET_KILL_PROCESS),
        ALLOW,
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        exit(77);
}

static void end_from_here(void)
{
    dprintf(result_fd, "this thread ends it\n");
    if (!strcmp(own_end, "_exit"))
        _exit(0);
    exit(0);
}

static void *end_confined(void *unused)
{
    (void)unused;
    confine_this_thread();
    end_from_here();
    return NULL;
}

static void *begin_confined(void *unused)
{
    (void)unused;
    confine_this_thread();
    work("worked", 100);
    end_from_here();
    return NULL;
}

static void in_thread(void *(*run)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_join(thread, NULL);
    exit(3);
}

static void end_in_confined_thread(int argc, char **argv)
{
    own_end = actor_word(argc, argv, 2, "");
    work("worked", 100);
    in_thread(end_confined);
}

static void begin_in_confined_thread(int argc, char **argv)
{
    own_end = actor_word(argc, argv, 2, "");
    in_thread(begin_confined);
}

static const struct {
    const char *name;
    void (*play)(void);
    void (*play_with)(int argc, char **argv);
} acts[] = {
    {"work", just_work, NULL},
    {"small-files", small_files, NULL},
    {"small-files-deadly", small_files_deadly, NULL},
    {"few-threads", few_threads, NULL},
    {"few-threads-small-files", few_threads_small_files, NULL},
    {"broken-pipe", broken_pipe, NULL},
    {"full-pipe", full_pipe, NULL},
    {"many-kernels", launch_many_kernels, NULL},
    {"slow-pipe", slow_pipe, NULL},
    {"data-on-stderr", data_on_stderr, NULL},
    {"close-all-first", close_all_first, NULL},
    {"close-all-first-few", close_all_first_few, NULL},
    {"close-all-later", close_all_later, NULL},
    {"memory", NULL, little_memory},
    {"memory-later", NULL, little_memory_later},
    {"stack", little_stack, NULL},
    {"no-environment", take_environment_away, NULL},
    {"data", NULL, little_data},
    {"data-later", NULL, little_data_later},
    {"locked", NULL, lock_memory},
    {"fill", NULL, fill},
    {"fill-first", NULL, fill_first},
    {"remove", remove_output, NULL},
    {"cut", cut_output, NULL},
    {"protect", protect_output, NULL},
    {"refuse", refuse_calls, NULL},
    {"kill-on-exec", kill_on_exec, NULL},
    {"kill-on-open", kill_on_open, NULL},
    {"end-confined", NULL, end_in_confined_thread},
    {"begin-confined", NULL, begin_in_confined_thread},
};

/* scarce ACT [NUMBER or DIRECTORY or _exit] */
int actor_scarce(int argc, char **argv)
{
    const char *act = actor_word(argc, argv, 1, "");
    result_fd = fcntl(1, F_DUPFD_CLOEXEC, 19); /* below any limit set here */
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (strcmp(acts[i].name, act))
            continue;
        if (acts[i].play)
            acts[i].play();
        else
            acts[i].play_with(argc, argv);
        dprintf(result_fd, "scarce %s: done\n", act);
        if (!strcmp(actor_word(argc, argv, 2, ""), "_exit"))
            _exit(0);
        return 0;
    }
    return 2;
}
