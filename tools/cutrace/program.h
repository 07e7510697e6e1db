/* SPDX-License-Identifier: MIT */
/* The program that is to be run: whether it can be, and whether the library can come in. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum program_kind {
    PROGRAM_DYNAMIC, /* the library can be preloaded */
    PROGRAM_STATIC,  /* the library comes only into programs that this one starts */
    PROGRAM_CLOSED,  /* the library comes neither in here nor below; the loader would complain */
    PROGRAM_REFUSED, /* the program cannot be run; errno says why */
};

struct program {
    enum program_kind kind;
    char path[PATH_MAX]; /* the file that would be run; a script's interpreter */
    const char *why;     /* reason that the library cannot come in; NULL: it can */
};

/* Looks for the program as execvp() does. */
void program_look(struct program *p, const char *name);

#endif
