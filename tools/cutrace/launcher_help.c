/* SPDX-License-Identifier: MIT */
#include "launcher_help.h"

#include <stdio.h>
#include <string.h>

#include "launcher_options.h"

#define COLUMN 30
#define WIDTH 79

/* Words from the help column on; `at` is the column reached so far, which is returned. */
static int print_words(const char *text, int at)
{
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (at + 1 + len > WIDTH)
            at = printf("\n%*s", COLUMN - 1, "") - 1;
        at += printf(" %.*s", len, text);
        text += len + (text[len] == ' ');
    }
    return at;
}

static void print_name(const struct option_row *r)
{
    bool optional = r->argument && *r->argument == '[';
    int at = r->letter ? printf("  -%c, --%s", r->letter, r->name) : printf("      --%s", r->name);
    if (optional)
        at += printf("[=%s", r->argument + 1);
    else if (r->argument)
        at += printf(" %s", r->argument);
    if (at + 2 > COLUMN)
        at = printf("\n") - 1;
    printf("%*s", COLUMN - at - 1, "");
}

static void print_row(const struct option_row *r)
{
    char tail[128] = "";
    if (r->variable)
        snprintf(tail, sizeof(tail), "(default: %s; %s)", r->standard, r->variable);
    else if (r->standard)
        snprintf(tail, sizeof(tail), "(default: %s)", r->standard);
    print_name(r);
    int at = print_words(r->help, COLUMN - 1);
    if (r == &option_rows[OPTION_CHILDREN]) /* the variable has no such form */
        at = print_words("; without a value: a table for each process", at);
    print_words(tail, at);
    putchar('\n');
}

static void print_rows(enum option_who who)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].who == who && option_rows[i].name)
            print_row(&option_rows[i]);
}

void help_print(void)
{
    puts("Usage: cutrace [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
         "  or:  cutrace ctl [OPTION]... PID COMMAND\n"
         "  or:  cutrace profile|stats|export ARGUMENT..., as nsys takes them\n"
         "Run a program and say where its GPU's time goes, as nvprof did.\n\n"
         "  cutrace ./app                        # a table, and summary.bin\n"
         "  cutrace -o run.bin --trace-file 1 python train.py\n"
         "  cutrace --kernels gemm --csv --log-file gemm.csv ./app\n"
         "  cutrace --profile-from-start off ./app   # from cudaProfilerStart on\n"
         "  cutrace ctl list                     # what runs; then: cutrace ctl PID top\n\n"
         "What is recorded:\n");
    print_rows(FOR_LIBRARY);
    puts("\nHow it is run, and where the results go:\n");
    print_rows(FOR_LAUNCHER);
    puts("\nWhat is printed in the end:\n");
    print_rows(FOR_REPORT);
    puts("\nThe program's exit status is the launcher's; see cutrace(1) for its own.\n"
         "What can be asked of a running process: cutrace ctl --help");
}

static void print_command(const char *name, const char *help)
{
    printf("  %-*s", COLUMN - 3, name);
    print_words(help, COLUMN - 1);
    putchar('\n');
}

void help_print_ctl(void)
{
    puts("Usage: cutrace ctl [OPTION]... PID COMMAND\n"
         "  or:  cutrace ctl list\n"
         "  or:  cutrace ctl --all stuck|stragglers\n"
         "Ask a process that runs with libcutrace.so; only its own user and root may.\n"
         "list: the processes that can be asked.\n");
#define CT_OPTION(...)
#define CT_COMMAND(name, help) print_command(#name, help);
#include "options/options.def"
    putchar('\n');
    print_rows(FOR_CTL);
    puts("\nThe exit status is 0, or 1 when there was nobody to ask.");
}
