/* SPDX-License-Identifier: MIT */
/*
 * A program without CUDA that is run with and without the launcher, and tells what it was given:
 *
 *     inner PART [ARGUMENT...]
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* With another user's rights it could not look for leaks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static int part_exit(char **arguments)
{
    return atoi(arguments[0]);
}

/* By that signal, whatever was inherited. */
static int part_die(char **arguments)
{
    int number = atoi(arguments[0]);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(number);
    return 99;
}

static int part_arguments(char **arguments)
{
    for (; *arguments; arguments++) {
        fputs(*arguments, stdout);
        putchar('\0');
    }
    return 0;
}

static int part_cat(char **arguments)
{
    char room[65536];
    (void)arguments;
    for (ssize_t n; (n = read(0, room, sizeof(room))) > 0;)
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(1, room + done, (size_t)(n - done))) < 0)
                return 1;
    return 0;
}

/* The numbers of open descriptors, into a file, as standard output may be closed. */
static int part_descriptors(char **arguments)
{
    char line[4096] = "";
    DIR *d = opendir("/proc/self/fd");
    for (int fd = 0; fd < 256; fd++)
        if (d && fd != dirfd(d) && fcntl(fd, F_GETFD) >= 0)
            sprintf(line + strlen(line), "%d ", fd);
    FILE *f = fopen(arguments[0], "w");
    return !f || fputs(line, f) < 0 || fclose(f);
}

/* What of signals a program inherits. */
static int part_signals(char **arguments)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    (void)arguments;
    while (f && fgets(line, sizeof(line), f))
        if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6))
            fputs(line, stdout);
    if (f)
        fclose(f);
    return 0;
}

static int part_ignore_children(char **arguments)
{
    signal(SIGCHLD, SIG_IGN);
    execv(arguments[0], arguments);
    return 97;
}

static void take_all(sigset_t *all)
{
    sigfillset(all);
    sigdelset(all, SIGTSTP);
    sigdelset(all, SIGCONT);
    sigprocmask(SIG_SETMASK, all, NULL);
}

/* Says "ready", then each signal it gets, and ends after so many. */
static int part_hear(char **arguments)
{
    sigset_t all;
    take_all(&all);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (int left = atoi(arguments[0]); left;) {
        siginfo_t info;
        int number = sigwaitinfo(&all, &info);
        if (number < 0)
            continue; /* it was stopped */
        left--;
        printf("got %d %d\n", number, info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
        fflush(stdout);
    }
    return 0;
}

/* Stops itself by that signal, and says when it goes on. */
static int part_stop(char **arguments)
{
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    raise(atoi(arguments[0]));
    puts("goes on");
    return 0;
}

static int part_tell_parent(char **arguments)
{
    kill(getppid(), atoi(arguments[0]));
    usleep(200000);
    return 0;
}

/* Closes its output, and stays. */
static int part_close_output(char **arguments)
{
    puts("before");
    fclose(stdout);
    usleep((useconds_t)atoi(arguments[0]) * 1000);
    return 0;
}

/* Runs a program with a variable there twice, as no shell but any other program may have it. */
static int part_twice(char **arguments)
{
    extern char **environ;
    static char *all[1000], again[5000];
    const char *value = getenv(arguments[0]);
    size_t n = 0;
    while (environ[n] && n < 998) {
        all[n] = environ[n];
        n++;
    }
    snprintf(again, sizeof(again), "%s=%s", arguments[0], value ? value : "");
    all[n] = again;
    execve(arguments[1], arguments + 1, all);
    return 97;
}

static const struct {
    const char *name;
    int (*play)(char **arguments);
} parts[] = {
    {"exit", part_exit},
    {"die", part_die},
    {"arguments", part_arguments},
    {"cat", part_cat},
    {"descriptors", part_descriptors},
    {"signals", part_signals},
    {"ignore-children", part_ignore_children},
    {"twice", part_twice},
    {"hear", part_hear},
    {"stop", part_stop},
    {"tell-parent", part_tell_parent},
    {"close-output", part_close_output},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strcmp(parts[i].name, argv[1]))
            return parts[i].play(argv + 2);
    return 98;
}
