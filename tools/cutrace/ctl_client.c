/* SPDX-License-Identifier: MIT */
#include "ctl_client.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "ctl/ctl_stragglers.h"
#include "ctl/ctl_stuck.h"
#include "launcher_help.h"
#include "launcher_options.h"
#include "link.h"
#include "messages.h"
#include "report/guess.h"
#include "top.h"

static int status(const struct link *l, const struct options *o);
static int start(const struct link *l, const struct options *o);
static int stop(const struct link *l, const struct options *o);
static int flush(const struct link *l, const struct options *o);

static const struct command {
    const char *name;
    int (*run)(const struct link *l, const struct options *o);
} commands[] = {
#define CT_OPTION(...)
#define CT_COMMAND(name, help) {#name, name},
#include "options/options.def"
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define HELP " (try cutrace ctl --help)"

/* ---- commands ---- */

static int ended(const struct link *l)
{
    complain("process %d has ended, or listens no more", (int)l->pid);
    return EXIT_FAILURE;
}

static int ask(const struct link *l, enum ct_ctl_command command, struct ct_ctl_answer *a)
{
    switch (link_ask(l, command, a, NULL)) {
    case LINK_ANSWERED:
        return EXIT_SUCCESS;
    case LINK_ENDED:
        return ended(l);
    default:
        return EXIT_FAILURE;
    }
}

/* The text is of another process's choice: bytes that a terminal obeys are shown as numbers. */
static void print_shown(const char *text)
{
    for (; *text; text++) {
        size_t len = ct_printable(text);
        if (!len)
            printf("\\x%02x", (unsigned char)*text);
        for (size_t i = 0; i < len; i++)
            putchar(text[i]);
        text += len ? len - 1 : 0;
    }
}

static void print_place(const struct ct_ctl_answer *a)
{
    printf("profile: ");
    if (a->flags & CT_CTL_IN_FILE)
        print_shown(a->path);
    else
        printf("in memory");
    putchar('\n');
}

static int status(const struct link *l, const struct options *o)
{
    (void)o;
    struct ct_ctl_answer a;
    int failed = ask(l, CT_CTL_STATUS, &a);
    if (failed)
        return failed;
    printf("process: %d\nrecording: %s\n", (int)l->pid, a.flags & CT_CTL_RECORDING ? "on" : "off");
    printf("since: %.1f s\n", (double)a.age_ns / 1e9);
    printf("unrecorded: %llu operations\n", (unsigned long long)a.off_operations);
    print_place(&a);
    return EXIT_SUCCESS;
}

static int start(const struct link *l, const struct options *o)
{
    (void)o;
    struct ct_ctl_answer a;
    return ask(l, CT_CTL_START, &a);
}

static int stop(const struct link *l, const struct options *o)
{
    (void)o;
    struct ct_ctl_answer a;
    return ask(l, CT_CTL_STOP, &a);
}

static int flush(const struct link *l, const struct options *o)
{
    (void)o;
    struct ct_ctl_answer a;
    int failed = ask(l, CT_CTL_FLUSH, &a);
    if (!failed)
        print_place(&a);
    return failed;
}

/* ---- all processes ---- */

/* The words with blanks between them. The process may be any user's. */
static void print_command_line(const char *pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f)
        fclose(f);
    while (n && !text[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n] = '\0';
    print_shown(text);
}

static int list(void)
{
    DIR *all = opendir("/proc");
    if (!all) {
        complain("/proc: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    puts("PID      COMMAND");
    for (struct dirent *e; (e = readdir(all));) {
        if (!isdigit((unsigned char)*e->d_name) || !link_listens((pid_t)atoi(e->d_name)))
            continue;
        printf("%-7s  ", e->d_name);
        print_command_line(e->d_name);
        putchar('\n');
    }
    closedir(all);
    return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the command line ---- */

static const struct command *find_command(const char *name)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (!strcmp(names[i], name))
            return &commands[i];
    }
    const char *meant = ct_guess(name, names, COMMANDS);
    complain("'%s' is no command of cutrace ctl%s%s%s", name, meant ? " (did you mean " : "",
             meant ? meant : HELP, meant ? "?)" : "");
    return NULL;
}

static pid_t read_pid(const char *text)
{
    char *end;
    errno = 0;
    long pid = strtol(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && !errno && pid > 0 && pid <= 0x7fffffff)
        return (pid_t)pid;
    complain("'%s' is no process's number: cutrace ctl PID COMMAND, or cutrace ctl list", text);
    return 0;
}

static int run_of_all(const struct options *o)
{
    static const struct {
        const char *name;
        int (*run)(const struct options *o);
    } of_all[] = {{"stuck", stuck_of_all}, {"stragglers", stragglers_of_all}};
    for (size_t i = 0; i < sizeof(of_all) / sizeof(of_all[0]); i++)
        if (o->command[0] && !o->command[1] && !strcmp(o->command[0], of_all[i].name))
            return of_all[i].run(o);
    complain("--all takes the commands stuck and stragglers" HELP);
    return EXIT_FAILURE;
}

int ctl_main(int argc, char **argv)
{
    struct options o;
    switch (options_parse_ctl(&o, argc, argv)) {
    case OPTIONS_DONE:
        return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
    case OPTIONS_WRONG:
        return EXIT_FAILURE;
    default:
        break;
    }
    if (o.command[0] && !strcmp(o.command[0], "list") && !o.command[1])
        return list();
    if (options_has(&o, OPTION_CTL_ALL))
        return run_of_all(&o);
    if (o.command[0] && !o.command[1] && !read_pid(o.command[0]))
        return EXIT_FAILURE;
    if (!o.command[0] || !o.command[1] || o.command[2]) {
        complain("ctl takes a process's number and a command" HELP);
        return EXIT_FAILURE;
    }
    struct link l;
    pid_t pid = read_pid(o.command[0]);
    const struct command *c = pid ? find_command(o.command[1]) : NULL;
    if (!c || !link_find(&l, pid))
        return EXIT_FAILURE;
    int result = c->run(&l, &o);
    return fflush(stdout) || ferror(stdout) ? EXIT_FAILURE : result;
}
