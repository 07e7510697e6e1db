/* SPDX-License-Identifier: MIT */
#include "preload/show.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/text.h"
#include "preload/profile.h"
#include "preload/self.h"
#include "record/row.h"

#define STACK_BYTES (64 * 1024)
#define LONGEST_WAIT_NS 10000000000u /* for a reader of stderr that does not read */
#define KEPT_VARIABLES 8

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* In that directory, from where `file` is. */
static bool try_beside(struct ct_text *t, const char *file, const char *directory, const char *name)
{
    size_t slash = ct_strlen(file);
    while (slash && file[slash - 1] != '/')
        slash--;
    *t = ct_text_in(t->data, t->size);
    for (size_t i = 0; i < slash; i++)
        ct_text_add_char(t, file[i]);
    ct_text_add(t, directory);
    ct_text_add(t, name);
    return is_program(t->data);
}

static bool try_path_variable(struct ct_text *t, const char *name)
{
    const char *p = getenv("PATH");
    while (p && *p) {
        *t = ct_text_in(t->data, t->size);
        while (*p && *p != ':')
            ct_text_add_char(t, *p++);
        p += *p == ':';
        ct_text_add(t, "/");
        ct_text_add(t, name);
        if (is_program(t->data))
            return true;
    }
    return false;
}

/* A path is taken as it is; a name is looked for beside this library, where it was installed, and
 * on PATH. The second try is the build tree. */
static bool find_report(struct ct_text *t)
{
    const char *name = ct_config.report;
    if (ct_contains(name, "/")) {
        ct_text_add(t, name);
        return is_program(name);
    }
    const char *self = ct_self_path();
    return (self && (try_beside(t, self, "../bin/", name) || try_beside(t, self, "../", name))) ||
           try_beside(t, CT_BINDIR "/", "", name) || try_path_variable(t, name);
}

/* Shared with the children below, whose memory is ours until they exec. */
struct job {
    const char *program;
    char *const *argv;
    char *const *envp;
    const sigset_t *mask;
    char *stack;    /* of the child of the child */
    int descriptor; /* to be inherited; -1: none */
    bool ok;
};

/*
 * These two return instead of calling _exit(): before that AddressSanitizer warns of a stack that
 * it does not know, on a stderr that may be a full pipe.
 */
static int run_report(void *arg)
{
    const struct job *j = arg;
    sigprocmask(SIG_SETMASK, j->mask, NULL);
    if (j->descriptor >= 0)
        fcntl(j->descriptor, F_SETFD, 0); /* of this process's table alone */
    execve(j->program, j->argv, j->envp);
    return 127;
}

/* By the clock: on a busy machine a nap is several times as long as it was to be. */
static bool wait_for(pid_t pid)
{
    uint64_t limit_ns = ct_clock_monotonic_ns() + LONGEST_WAIT_NS;
    while (ct_clock_monotonic_ns() < limit_ns) {
        int status;
        pid_t r = waitpid(pid, &status, __WALL | WNOHANG);
        if (r == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (r < 0 && errno != EINTR)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

/*
 * The report's parent: a process that has called exec sends its parent a SIGCHLD, which the
 * program could be handling or waiting for. This one never does.
 */
static int run_parent(void *arg)
{
    struct job *j = arg;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &standard, NULL); /* ignored, it would make the report's status vanish */
    pid_t pid = clone(run_report, j->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, j);
    j->ok = pid > 0 && wait_for(pid);
    return 0;
}

/* What a terminal program may look at; nothing of the loader's or ours. */
static void keep_environment(char **envp)
{
    extern char **environ;
    static const char *const wanted[] = {"PATH=", "HOME=", "TERM=", "LANG=", "LC_ALL=", "COLUMNS="};
    unsigned n = 0;
    for (char **e = environ; e && *e && n < KEPT_VARIABLES - 1; e++)
        for (unsigned i = 0; i < ct_countof(wanted); i++)
            if (ct_starts_with(*e, wanted[i]))
                envp[n++] = *e;
    envp[n < KEPT_VARIABLES ? n : KEPT_VARIABLES - 1] = NULL;
}

static bool run(const char *program, const char *path)
{
    char *stacks = ct_map(2 * STACK_BYTES);
    char *envp[KEPT_VARIABLES];
    char *argv[] = {(char *)"cutrace-report", (char *)"--live", (char *)path, NULL};
    sigset_t everything, mask;
    if (!stacks)
        return false;
    keep_environment(envp);
    sigfillset(&everything);
    pthread_sigmask(SIG_SETMASK, &everything, &mask);
    struct job j = {program, argv, envp, &mask, stacks, ct_profile_descriptor(), false};
    pid_t pid = clone(run_parent, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, &j);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (pid > 0)
        waitpid(pid, NULL, __WCLONE);
    ct_unmap(stacks, 2 * STACK_BYTES);
    return j.ok;
}

/* Its figures are in a file, and the table is another rank's: but what they lack is said. */
static void say_lost(const char *path)
{
    char line[64];
    struct ct_text t = ct_text_in(line, sizeof(line));
    uint64_t lost = ct_rows_lost();
    if (!lost)
        return;
    ct_text_add_u64(&t, lost);
    ct_text_add(&t, " operations have no time: cutrace-report losses ");
    ct_log(1, line, path, NULL);
}

static void say_where_all_are(const char *path)
{
    char all[4096];
    struct ct_text t = ct_text_in(all, sizeof(all));
    if (ct_rank_has_job(ct_config.rank) && ct_rank_add_all(&t, path))
        ct_log(1, "the table of all ranks: cutrace-report ranks ", all, NULL);
}

void ct_show(void)
{
    char program[4096];
    struct ct_text t = ct_text_in(program, sizeof(program));
    const char *path = ct_profile_path();
    bool quiet = !ct_rank_speaks(ct_config.rank, ct_config.ranks);
    if (!path)
        return;
    /* The launcher prints what is in files; what is in memory nobody else could. */
    bool launched = ct_config.run && !ct_profile_is_kept();
    if (!ct_config.print && !launched) {
        ct_log(2, "the profile is in ", path, NULL);
        return;
    }
    if (quiet && ct_profile_is_kept()) {
        say_lost(path);
        return;
    }
    if (!ct_log_is_heard())
        return;
    bool confined = ct_proc_is_confined();
    bool found = !confined && find_report(&t);
    if (found && run(program, path)) {
        if (ct_profile_is_kept())
            say_where_all_are(path);
        return;
    }
    const char *why = confined ? "no table, as the program may not start others (seccomp)"
                      : found  ? "the table could not be printed"
                               : "cutrace-report was not found";
    if (ct_profile_is_kept())
        ct_log(1, why, "; the profile is in ", path);
    else
        ct_log(1, why, NULL, NULL);
}
