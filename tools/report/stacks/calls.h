/* SPDX-License-Identifier: MIT */
/* Where operations were launched from, as a tree with times. */
#ifndef CT_REPORT_CALLS_H
#define CT_REPORT_CALLS_H

#include <stdbool.h>

#include "report/host_memory.h"
#include "report/profile/merge.h"
#include "report/report_options.h"

/* Operations launched from a frame itself, or as well from what it called. */
struct ct_launched {
    uint64_t count;
    double ns; /* those without a duration taken to be as long as the others */
};

/*
 * A frame, whatever module it is in, or one row's operations launched from it, with nodes of graphs
 * that do the same, or such nodes alone: these have no children. Or a module.
 */
struct ct_call {
    uint32_t parent; /* index; CT_CALL_ROOT of those that nothing called, and of itself */
    uint32_t line;   /* of ct_merged_stacks; of a row's operations that of their frame; or: */
    uint32_t module; /* likewise */
    uint32_t row;    /* CT_CALL_FRAME: it is a frame; of nodes one graph's that they are in */
    uint32_t inside; /* of ct_merged_stacks, plus one: nodes alone; 0: a row, or a frame */
    uint32_t next;   /* of the same parent; 0: the last */
    uint32_t first;  /* child; 0: none */
    struct ct_launched own;
    struct ct_launched all;
    double inside_ns; /* of its own: in graphs, whose times have it, too */
};

#define CT_CALL_ROOT 0
#define CT_CALL_FRAME UINT32_MAX

/* Those above come before what they called; children by time, longest first. */
struct ct_calls {
    struct ct_call *call;
    size_t count;        /* with the root, of which `all` is all that has a stack */
    double named_ns;     /* of this: from threads that ran no Python, which have a name alone */
    uint64_t graphs;     /* of this: launches of graphs */
    uint64_t inside;     /* runs of their nodes, */
    uint64_t timeless;   /* and those of which there is no time: it is in the graph's */
    bool is_sampled;     /* some launches were passed over by chance: the rest is a guess */
    double with_rest_ns; /* what has no stack as well; not less than what has one */
};

/* For one device of the merged table, or all of them. */
void ct_calls_of(struct ct_calls *c, const struct ct_merged *m, uint32_t device);
/*
 * Modules and what was launched in them, in the root by itself what was in none; those of one type
 * in one parent stand together, by their numbers.
 */
void ct_calls_of_modules(struct ct_calls *c, const struct ct_merged *m, uint32_t device);
void ct_calls_free(struct ct_calls *c);

/* The next call of a walk that meets what is above before what it called; 0: it is through. */
uint32_t ct_calls_next(const struct ct_calls *c, uint32_t at);

/* Lines of the frames above a call, innermost first; returns their number. */
size_t ct_calls_stack(const struct ct_calls *c, const struct ct_call *call,
                      uint32_t lines[CT_FILE_STACK_DEPTH]);

/* Adds the function of a frame, or the operation launched from it, as it can be shown. */
void ct_calls_name(struct ct_string *out, const struct ct_merged *m, const struct ct_call *call,
                   const struct ct_options *o);

/* Whether a file is a module of Python's own, of an installed package, or in the interpreter, a
 * header of the system's, or code without lines: -g is for the program's own.
 */
bool ct_calls_is_library(const char *file, uint32_t line);

/* Adds "function (file:line)", or a thread's name. */
void ct_calls_line(struct ct_string *out, const struct ct_merged *m, uint32_t line);

/* Whether a line of ct_merged_stacks is the name of a thread that ran no Python. */
static inline bool ct_calls_is_thread(const struct ct_merged *m, uint32_t line)
{
    return !*ct_merge_name(m, m->stacks.lines[line].file);
}

/* Adds sentences about the times, a line each. */
void ct_calls_notes(struct ct_string *out, const struct ct_calls *c);

static inline void ct_launched_add(struct ct_launched *to, const struct ct_launched *more)
{
    ct_merge_add_to(&to->count, more->count);
    to->ns += more->ns;
}

static inline double ct_calls_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

#endif
