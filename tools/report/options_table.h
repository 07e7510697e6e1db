/* SPDX-License-Identifier: MIT */
/* The rows of options.def, for the parser and the help. */
#ifndef CT_REPORT_OPTIONS_TABLE_H
#define CT_REPORT_OPTIONS_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "report/report_options.h"

enum ct_option_id {
#define CT_OPTION_ROW(id, ...) CT_OPTION_##id,
#include "report/options.def"
#undef CT_OPTION_ROW
    CT_OPTION_COUNT
};

/* Effects of an option, and the kinds of its argument. */
enum ct_option_type {
    CT_OPTION_SET,     /* none: the member becomes `value`; bool or int */
    CT_OPTION_CHOICE,  /* one of `choices`; bool or int */
    CT_OPTION_TEXT,    /* const char * */
    CT_OPTION_LIST,    /* text, each time another; struct ct_option_list */
    CT_OPTION_NUMBER,  /* from 1 on; uint64_t */
    CT_OPTION_PERCENT, /* from 0 on, a percent sign behind it or not; double */
    CT_OPTION_TIME,    /* "1.5s", "20 us", seconds without a unit; uint64_t in ns */
    CT_OPTION_ACTION,  /* none: the parser knows */
};

struct ct_option_choice {
    const char *text; /* NULL ends the list */
    int value;
};

struct ct_option_row {
    const char *name;
    char letter; /* 0: none */
    const char *argument;
    enum ct_option_type type;
    size_t member; /* offset in struct ct_options */
    size_t member_bytes;
    const struct ct_option_choice *choices;
    int value;
    const char *help; /* NULL: for the library's own use */
};

extern const struct ct_option_row ct_option_rows[CT_OPTION_COUNT];

void ct_help_print(void);

/* Complains of an argument, which may be the name of a hostile file. */
enum ct_options_result ct_options_complain(const char *before, const char *argument,
                                           const char *after);
/* As that, where `after` says by itself how to go on. */
enum ct_options_result ct_options_answer(const char *before, const char *argument,
                                         const char *after);

enum ct_options_result ct_options_check(const struct ct_options *o);

#endif
