/* SPDX-License-Identifier: MIT */
#include "report/options.h"

#include <getopt.h>
#include <string.h>

#include "config.h"

#define HELP_COLUMN 30
#define HELP_WIDTH 79

/* Names are nvprof's where it has the option. A row without help is for the library's own use. */
#define OPTIONS(X)                                                                                 \
    X(SUMMARY, "print-summary", 's', NULL, "print the summary table (the default)")                \
    X(PER_GPU, "print-summary-per-gpu", 0, NULL,                                                   \
      "print one table for each GPU, without API calls")                                           \
    X(CSV, "csv", 0, NULL, "print the table as comma-separated values")                            \
    X(UNIT, "normalized-time-unit", 'u', "UNIT",                                                   \
      "unit of times: s, ms, us, ns, col (one for each column) or auto (the default)")             \
    X(DEMANGLING, "demangling", 0, "on|off", "print C++ names as in the source (default: on)")     \
    X(RAW, "raw", 0, NULL, "show brackets as measured, without correction")                        \
    X(DETAILS, "details", 0, NULL, "print everything else that is in the file below the table")    \
    X(LOG_FILE, "log-file", 'o', "FILE", "write to FILE instead of standard output")               \
    X(LIVE, "live", 0, NULL, NULL)                                                                 \
    X(HELP, "help", 'h', NULL, "print this and exit")                                              \
    X(VERSION, "version", 'V', NULL, "print the version and exit")

enum option_id {
#define X(id, name, letter, argument, help) OPTION_##id,
    OPTIONS(X)
#undef X
        OPTION_COUNT
};

static const struct option_row {
    const char *name;
    char letter; /* 0: none */
    const char *argument;
    const char *help;
} rows[OPTION_COUNT] = {
#define X(id, name, letter, argument, help) {name, letter, argument, help},
    OPTIONS(X)
#undef X
};

/* The library's settings: shown in the help, as they are nowhere else at hand. */
static const struct variable {
    const char *name, *argument, *value, *help;
} variables[] = {
#define CT_OPTION(id, name, argument, value, help) {name, argument, value, help},
#include "preload/options.def"
};

/* Values of options that choose from a list. */
struct choice {
    const char *text;
    int value;
};

static const struct choice unit_choices[] = {
    {"auto", CT_UNIT_AUTO}, {"col", CT_UNIT_COLUMN}, {"ns", CT_UNIT_NS},
    {"us", CT_UNIT_US},     {"ms", CT_UNIT_MS},      {"s", CT_UNIT_S},
};

static const struct choice mangled_choices[] = {{"on", false}, {"off", true}};

static bool choose(const char *program, const struct option_row *row, const char *text,
                   const struct choice *choices, size_t count, int *value)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(choices[i].text, text)) {
            *value = choices[i].value;
            return true;
        }
    }
    fprintf(stderr, "%s: '%s' is no value of --%s (try --help)\n", program, text, row->name);
    return false;
}

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
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (!rows[i].help)
            continue;
        int at = rows[i].letter ? printf("  -%c, ", rows[i].letter) : printf("      ");
        at += printf("--%s", rows[i].name);
        if (rows[i].argument)
            at += printf(" %s", rows[i].argument);
        print_wrapped(rows[i].help, at);
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

static void print_help(void)
{
    puts("Usage: cutrace-report [OPTION]... FILE...\n"
         "Print what cutrace recorded, as nvprof did. Several files are added up.\n");
    print_options();
    puts("\nEnvironment of a program that runs with LD_PRELOAD=libcutrace.so:\n");
    print_variables();
}

static int row_of(int code)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (code == 256 + i || (rows[i].letter && code == rows[i].letter))
            return i;
    return -1;
}

static enum ct_options_result apply(struct ct_options *o, int id, const char *program)
{
    int value = 0;
    bool good = true;
    switch (id) {
    case OPTION_SUMMARY:
        o->per_gpu = false;
        break;
    case OPTION_PER_GPU:
        o->per_gpu = true;
        break;
    case OPTION_CSV:
        o->csv = true;
        break;
    case OPTION_UNIT:
        good = choose(program, &rows[id], optarg, unit_choices,
                      sizeof(unit_choices) / sizeof(unit_choices[0]), &value);
        o->unit = (enum ct_unit)value;
        break;
    case OPTION_DEMANGLING:
        good = choose(program, &rows[id], optarg, mangled_choices, 2, &value);
        o->mangled = value;
        break;
    case OPTION_RAW:
        o->raw = true;
        break;
    case OPTION_DETAILS:
        o->details = true;
        break;
    case OPTION_LOG_FILE:
        o->log_file = optarg;
        break;
    case OPTION_LIVE:
        o->live = true;
        break;
    case OPTION_HELP:
        print_help();
        return CT_OPTIONS_DONE;
    case OPTION_VERSION:
        puts("cutrace-report " PACKAGE_VERSION);
        return CT_OPTIONS_DONE;
    default: /* getopt has said what is wrong */
        return CT_OPTIONS_WRONG;
    }
    return good ? CT_OPTIONS_RUN : CT_OPTIONS_WRONG;
}

/* What getopt wants to know, made of the table. */
static void fill_getopt(struct option *longs, char *letters)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        longs[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                   NULL, 256 + (int)i};
        if (rows[i].letter)
            letters += sprintf(letters, "%c%s", rows[i].letter, rows[i].argument ? ":" : "");
    }
}

static enum ct_options_result check(const struct ct_options *o, const char *program)
{
    const char *wrong = NULL;
    if (!o->file_count)
        wrong = "no file is given";
    else if (o->csv && o->details)
        wrong = "--csv and --details exclude each other";
    if (wrong)
        fprintf(stderr, "%s: %s (try --help)\n", program, wrong);
    return wrong ? CT_OPTIONS_WRONG : CT_OPTIONS_RUN;
}

enum ct_options_result ct_options_parse(struct ct_options *o, int argc, char **argv)
{
    struct option longs[OPTION_COUNT + 1] = {{0}};
    char letters[2 * OPTION_COUNT + 1] = "";
    fill_getopt(longs, letters);
    *o = (struct ct_options){.unit = CT_UNIT_AUTO};
    for (int code; (code = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        enum ct_options_result result = apply(o, row_of(code), argv[0]);
        if (result != CT_OPTIONS_RUN)
            return result;
    }
    o->files = argv + optind;
    o->file_count = argc - optind;
    return check(o, argv[0]);
}
