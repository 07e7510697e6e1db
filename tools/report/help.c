/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "report/options_table.h"
#include "report/reports.h"

#define HELP_COLUMN 30
#define HELP_WIDTH 79

/* The library's settings: shown in the help, as they are nowhere else at hand. */
static const struct variable {
    const char *name, *argument, *value, *help;
} variables[] = {
#define LIBRARY(...) {__VA_ARGS__},
#define LAUNCHER(...)
#define REPORT(...)
#define CTL(...)
#define CT_OPTION(who, id, variable, option, letter, argument, value, help)                        \
    who(variable, argument, value, help)
#include "options/options.def"
#undef LIBRARY
#undef LAUNCHER
#undef REPORT
#undef CTL
};

/* Prints words from the help column on; `at` is the column reached so far. */
static void print_wrapped(const char *text, int at)
{
    if (at + 2 > HELP_COLUMN)
        at = printf("\n") - 1;
    at += printf("%*s", HELP_COLUMN - at - 1, "");
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (at + 1 + len > HELP_WIDTH)
            at = printf("\n%*s", HELP_COLUMN - 1, "") - 1;
        at += printf(" %.*s", len, text);
        text += len + (text[len] == ' ');
    }
    putchar('\n');
}

static void print_options(void)
{
    for (size_t i = 0; i < CT_OPTION_COUNT; i++) {
        const struct ct_option_row *row = &ct_option_rows[i];
        if (!row->help)
            continue;
        int at = row->letter ? printf("  -%c, ", row->letter) : printf("      ");
        at += printf("--%s", row->name);
        if (row->argument)
            at += printf(" %s", row->argument);
        print_wrapped(row->help, at);
    }
}

static void print_variables(void)
{
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        char help[512];
        snprintf(help, sizeof(help), "%s (default: %s)", variables[i].help, variables[i].value);
        print_wrapped(help, printf("  %s=%s", variables[i].name, variables[i].argument));
    }
}

void ct_help_print(void)
{
    puts("Usage: cutrace-report [REPORT] [OPTION]... FILE...\n"
         "Print what cutrace recorded. Several files are added up. A file that is named\n"
         "like a report is given as ./NAME.\n\n"
         "  cutrace-report                           # summary.bin, of the last run\n"
         "  cutrace-report kernels --top 10 --sort calls run.bin\n"
         "  cutrace-report diff                      # the last run and the one before\n"
         "  cutrace-report --format html -o page.html summary.bin summary.trace\n"
         "  cutrace-report cuda_gpu_kern_sum --format csv run.bin >kernels.csv\n\n"
         "Reports:\n");
    for (size_t i = 0; i < CT_REPORT_COUNT; i++)
        print_wrapped(ct_reports[i].help, printf("  %s", ct_reports[i].name));
    puts("\nOptions:\n");
    print_options();
    puts("\nFormats:\n");
    for (size_t i = 0; i < CT_FORMAT_COUNT; i++)
        print_wrapped(ct_formats[i].help, printf("  %s", ct_formats[i].name));
    puts("\nEnvironment of a program that runs with LD_PRELOAD=libcutrace.so:\n");
    print_variables();
}
