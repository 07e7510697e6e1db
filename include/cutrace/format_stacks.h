/* SPDX-License-Identifier: MIT */
/*
 * Stacks in summary.bin (format.h has the file and its rules): lines, the frames they are called
 * in, the modules these run in, and the operations that were launched from them.
 */
#ifndef CUTRACE_FORMAT_STACKS_H
#define CUTRACE_FORMAT_STACKS_H

#include <stdint.h>

/* Lines of Python functions that launched operations, or called one that did: the callers first. */
#define CT_FILE_STACK_DEPTH 2048 /* frames of a stack; those further out are left out */

struct ct_file_line {
    uint32_t file;     /* string; empty: a thread that ran no Python is named by the next: */
    uint32_t function; /* string: qualified where Python has such a name */
    uint32_t line;     /* 0: not known */
    uint32_t reserved; /* zero */
};

struct ct_file_frame {
    uint32_t parent; /* the frame that called this one, as its index plus one; 0: none did */
    uint32_t line;   /* index into CT_SECTION_LINES */
    uint32_t module; /* that it runs in, as its index plus one; 0: in none */
    uint32_t reserved; /* zero */
};

/*
 * An object whose forward() or __call__() ran, in that of another one, which comes before it.
 * Frames may differ in their modules alone.
 */
#define CT_FILE_MODULE_DEPTH 64 /* modules are in fewer others */
#define CT_FILE_MODULE_OTHERS UINT32_MAX

struct ct_file_module {
    uint32_t parent;   /* its index plus one; 0: in none */
    uint32_t type;     /* string: its class's name */
    uint32_t number;   /* among those of its type in its parent, from 0; or OTHERS: all the rest */
    uint32_t reserved; /* zero */
};

/* Operations that ran, of one row and launched from one stack. */
struct ct_file_stack {
    uint32_t row;   /* index into CT_SECTION_ROWS */
    uint32_t frame; /* index into CT_SECTION_FRAMES: the innermost */
    uint64_t count; /* operations; the timed of a sample stand for the others */
    uint64_t timed; /* of these: with a duration, of which the sum is */
    uint64_t total_ns;
};

/* Runs of nodes in graphs that were captured, or added, from one stack; members are as above. */
struct ct_file_inside {
    uint32_t node; /* index into CT_SECTION_NODES */
    uint32_t frame;
    uint64_t count;
    uint64_t timed;
    uint64_t total_ns; /* a part of the graph's time */
};

#endif
