/* SPDX-License-Identifier: MIT */
/* The program that is to be run: whether it can be, and whether the library can come in. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum program_kind {
    PROGRAM_DYNAMIC, /* the library can be preloaded */
    PROGRAM_STATIC,  /* it cannot, but into the programs that this one starts */
    PROGRAM_CLOSED,  /* it cannot, neither here nor below, and the loader would complain */
    PROGRAM_REFUSED, /* it cannot be run; errno says why */
};

struct program {
    enum program_kind kind;
    char path[PATH_MAX]; /* the file that would be run; a script's interpreter */
    const char *why;     /* the library cannot come in; NULL: it can */
};

/* Looks for it as execvp() does. */
void program_look(struct program *p, const char *name);

#endif
