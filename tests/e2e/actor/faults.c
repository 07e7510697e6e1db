/* SPDX-License-Identifier: MIT */
/*
 * Plays a part many times, each time in a child of its own that sets some variables first: a fault
 * costs a fork and not a start of the program. This process never touches CUDA itself.
 */
#include "actor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cudasim.h"

#define LIMIT_NS 20000000000u
#define COUNTS_BYTES ((size_t)1 << 20)

struct child {
    pid_t pid;
    unsigned number;
    uint64_t start_ns;
    bool is_late;
};

static uint64_t *faults; /* of this child; shared with the server */

static void count_faults(void)
{
    *faults = actor_sim("cudasim_faults") + actor_sim("faulty_count");
}

static void redirect(int to, const char *path)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    if (fd < 0 || dup2(fd, to) != to)
        _exit(126);
    close(fd);
}

/* "NAME=VALUE NAME=VALUE": what the driver is asked to do, and the environment for cutrace. */
static void set_variables(char *line)
{
    cudasim_set_fn *set = (cudasim_set_fn *)(uintptr_t)dlsym(RTLD_DEFAULT, "cudasim_set");
    char *save = NULL;
    for (char *p = strtok_r(line, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(p, '=');
        *equals = '\0';
        if (set && !strncmp(p, "CUDASIM_", 8))
            set(p, equals + 1);
        else
            setenv(p, equals + 1, 1);
    }
}

/* The handler is registered before anything of CUDA's, so it is the last one to run. */
static pid_t start(unsigned number, char *line, int argc, char **argv)
{
    char directory[16];
    fflush(NULL);
    pid_t pid = fork();
    if (pid)
        return pid;
    snprintf(directory, sizeof(directory), "%u", number);
    if (mkdir(directory, 0777) || chdir(directory))
        _exit(125);
    redirect(1, "out");
    redirect(2, "err");
    atexit(count_faults);
    set_variables(line);
    exit(actor_play(argc, argv));
}

static void tell_end(FILE *results, const struct child *c, int status, const uint64_t *all)
{
    fprintf(results, "%u %d %lu %lu\n", c->number, c->is_late ? -1 : status,
            (unsigned long)all[c->number],
            (unsigned long)((actor_now_ns() - c->start_ns) / 1000000));
}

static struct child *find(struct child *children, unsigned n, pid_t pid)
{
    for (unsigned i = 0; i < n; i++)
        if (children[i].pid == pid)
            return &children[i];
    return NULL;
}

/* One that has ended, or was too slow and is ended. */
static void reap(struct child *children, unsigned n, FILE *results, const uint64_t *all)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        struct child *c = pid > 0 ? find(children, n, pid) : NULL;
        if (c) {
            tell_end(results, c, status, all);
            c->pid = 0;
            return;
        }
        for (unsigned i = 0; i < n; i++)
            if (children[i].pid && actor_now_ns() - children[i].start_ns > LIMIT_NS) {
                children[i].is_late = true;
                kill(children[i].pid, SIGKILL);
            }
        actor_sleep_ms(1);
    }
}

static bool is_any(const struct child *children, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (children[i].pid)
            return true;
    return false;
}

/* The whole file in memory: a child that ends would move the position in a file that is open. */
static char *read_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    char *text = fd >= 0 && !fstat(fd, &st) ? calloc(1, (size_t)st.st_size + 1) : NULL;
    bool ok = text && read(fd, text, (size_t)st.st_size) == st.st_size;
    if (fd >= 0)
        close(fd);
    return ok ? text : NULL;
}

/*
 * faults FILE JOBS PART [ARGUMENT...]: for each line of the file a child, so many at a time, in a
 * directory named for the line's number. The file "results" gets number, status, how often the
 * fault came, and milliseconds; status -1: it had to be killed.
 */
int actor_faults(int argc, char **argv)
{
    char *text = read_file(actor_word(argc, argv, 1, "")), *save = NULL;
    FILE *results = fopen("results", "w");
    unsigned jobs = (unsigned)actor_number(argc, argv, 2, 2), number = 0;
    struct child *children = calloc(jobs, sizeof(*children));
    uint64_t *all =
        mmap(NULL, COUNTS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!text || !results || !children || all == MAP_FAILED || argc < 4)
        return 2;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        struct child *c = find(children, jobs, 0);
        faults = &all[number];
        *c = (struct child){.number = number, .start_ns = actor_now_ns()};
        c->pid = start(number++, line, argc - 3, argv + 3);
        if (!find(children, jobs, 0))
            reap(children, jobs, results, all);
    }
    while (is_any(children, jobs))
        reap(children, jobs, results, all);
    fclose(results);
    return 0;
}
