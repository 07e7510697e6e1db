/* SPDX-License-Identifier: MIT */
/* The launcher's command line, after the table of options/options.def. */
#ifndef LAUNCHER_OPTIONS_H
#define LAUNCHER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum option_id {
#define CT_OPTION(who, id, variable, option, letter, argument, standard, help) OPTION_##id,
#include "options/options.def"
    OPTION_COUNT
};

enum option_who { FOR_LIBRARY, FOR_LAUNCHER, FOR_REPORT, FOR_CTL };

struct option_row {
    enum option_who who;
    const char *variable; /* NULL: none */
    const char *name;     /* NULL: the variable alone */
    char letter;          /* 0: none */
    const char *argument; /* NULL: none; in brackets: may be left out */
    const char *standard;
    const char *help;
};

extern const struct option_row option_rows[OPTION_COUNT];

struct options {
    const char *value[OPTION_COUNT]; /* NULL: not given; "" without an argument */
    char **command;                  /* the program and its arguments; ends with NULL */
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE,  /* --help or --version was answered */
    OPTIONS_WRONG, /* the error has been said */
};

enum options_result options_parse(struct options *o, int argc, char **argv);
/* Options of `cutrace ctl`; `command`: the arguments that are no options, wherever they stand. */
enum options_result options_parse_ctl(struct options *o, int argc, char **argv);

static inline bool options_has(const struct options *o, enum option_id id)
{
    return o->value[id] != NULL;
}

/* --delay of ctl, within reason. */
unsigned options_delay_ms(const struct options *o);
/* Sleeps; a signal does not end it. */
void options_pause_ms(unsigned ms);

/* A trace is to be printed, not the summary. */
static inline bool options_wants_trace(const struct options *o)
{
    return options_has(o, OPTION_GPU_TRACE) || options_has(o, OPTION_API_TRACE);
}

#endif
