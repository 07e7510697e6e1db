/* SPDX-License-Identifier: MIT */
/* The list of the run's processes (cutrace/run.h): who started CUDA, who writes which file. */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cutrace/run.h"

struct list_file {
    pid_t pid;
    const char *wanted; /* the name that was asked for */
    const char *path;   /* the name that the file has */
    bool trace;         /* a timeline; otherwise a profile */
    bool open;          /* its process goes on writing */
};

struct list {
    struct list_file *files; /* those that exist */
    size_t count;
    bool known;      /* there is a list */
    size_t started;  /* processes in which CUDA has started */
    size_t profiles; /* profiles among the files */
};

/* Makes the list, and its name for CUTRACE_RUN. NULL: none can be made; errno says why. */
const char *list_make(void);
/* Whether CUDA has started in any process. */
bool list_has_started(void);
/* Takes all records of the kind by now; a process that executes another program tells twice. */
void list_each(enum ct_run_kind kind,
               void (*take)(pid_t pid, const char *wanted, const char *path));
/* Tells the launcher around this one, if there is one, of a profile in the run of `launcher`. */
void list_pass_on(pid_t launcher, const char *path);
/* Reads the list, once. Waits a little for processes that are about to close their files. */
void list_read(struct list *l);

#endif
