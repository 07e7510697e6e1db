/* SPDX-License-Identifier: MIT */
/*
 * Stacks that operations were launched from, as a tree: a node is a line of a function in what
 * called it. A stack is its innermost node. Texts are copies of our own. Nothing is ever removed;
 * all is bounded, and a stack without room has no number. Any thread adds, without waiting for
 * more than a spin lock; the drain thread reads.
 */
#ifndef CT_STACK_TREE_H
#define CT_STACK_TREE_H

#include <stdatomic.h>

#include "base/base.h"

#define CT_STACKS 10000
#define CT_STACK_NODES 65536
#define CT_STACK_LINES 16384
#define CT_STACK_TEXT_BYTES 1024 /* of a name or a path; what is longer is cut there */
#define CT_STACK_ALL_TEXT_BYTES ((size_t)1500000)
#define CT_STACK_NONE 0 /* no stack; nodes count from 1 */

/* A line of a function; the texts live on. */
struct ct_stack_line {
    const char *file;
    const char *function;
    uint32_t line;          /* 0: not known */
    uint32_t same_file;     /* the first that has this file; itself, mostly, or an earlier one */
    uint32_t same_function; /* likewise */
};

struct ct_stack_node {
    uint32_t parent; /* 0: nothing called it */
    uint32_t line;   /* index */
};

/* False: memory is out. */
bool ct_stack_tree_init(void);

/* The number of a line, from 0; UINT32_MAX: there is no room. */
uint32_t ct_stack_line_add(const char *file, const char *function, uint32_t line);
/* The node of a line in what called it, or CT_STACK_NONE: there is no room. */
uint32_t ct_stack_node_add(uint32_t parent, uint32_t line);
/* Makes a node a stack, which it may be already. False: there are CT_STACKS. */
bool ct_stack_node_end(uint32_t node);

/* Those that are whole: they only grow in number. The nodes before what they called. */
uint32_t ct_stack_lines(void);
uint32_t ct_stack_nodes(void);
const struct ct_stack_line *ct_stack_line(uint32_t i);
const struct ct_stack_node *ct_stack_node(uint32_t node); /* from 1 to ct_stack_nodes() */

#endif
