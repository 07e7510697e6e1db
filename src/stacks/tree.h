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

#define CT_STACKS 12000
#define CT_STACKS_IN_MODULES 10000 /* then, or with 3 in 4 nodes, the next are without modules */
#define CT_STACK_NODES 49152
#define CT_STACK_LINES 12288
#define CT_STACK_TEXT_BYTES 1024 /* of a name or a path; what is longer is cut there */
#define CT_STACK_ALL_TEXT_BYTES ((size_t)1 << 20)
#define CT_STACK_MODULES 12288
#define CT_STACK_MODULE_DEPTH 64   /* those further in count for the last one */
#define CT_STACK_ALIKE 512         /* objects of one type and parent that have numbers */
#define CT_STACK_OTHERS UINT16_MAX /* number of the others together */
#define CT_STACK_NONE 0            /* no stack, or no module; nodes, and modules, count from 1 */

/* A line of a function, or an address of native code; the texts live on. */
struct ct_stack_line {
    const char *file;
    const char *function;
    uint32_t line;          /* 0: not known */
    uint16_t same_file;     /* the first that has this file; itself, mostly, or an earlier one */
    uint16_t same_function; /* likewise */
};

/* Where native code is. */
struct ct_stack_address {
    uint32_t object; /* number (native.h); 0: the line is of Python */
    uint64_t offset; /* address in that object */
};

struct ct_stack_node {
    uint16_t parent; /* 0: nothing called it */
    uint16_t line;   /* index */
    uint16_t module; /* that it runs in; 0: in none */
};

/* An object whose forward() or __call__() runs, in that of another one. */
struct ct_stack_module {
    const char *type;   /* its name */
    uint64_t key;       /* made of its parent and its object; 0: it stands for several */
    uint16_t parent;    /* 0: in none */
    uint16_t depth;     /* 1: likewise */
    uint16_t number;    /* by appearance, from 0, of its type in its parent */
    uint16_t same_type; /* the first that has this type, which may be itself */
    uint16_t alike;     /* in the first of its type in its parent: how many there are, */
    uint16_t others;    /* and the one that stands for those without a number; 0: there is none */
};

/* False: memory is out. */
bool ct_stack_tree_init(void);

/* The number of a line, from 0; UINT32_MAX: there is no room. */
uint32_t ct_stack_line_add(const char *file, const char *function, uint32_t line);
/* Likewise: an address of native code, whose file is the object, and its function that and it. */
uint32_t ct_stack_address_add(uint32_t object, const char *path, uint64_t offset);
/* The node of a line in what called it, or CT_STACK_NONE: there is no room. */
uint32_t ct_stack_node_add(uint32_t parent, uint32_t line, uint32_t module);
/*
 * The module of an object with this id in a parent; CT_STACK_NONE: it has not been seen there.
 * _add is told its type's name, and gives the parent where there is no room.
 */
uint32_t ct_stack_module_find(uint32_t parent, uint64_t id);
uint32_t ct_stack_module_add(uint32_t parent, uint64_t id, const char *type);
/* Whether stacks of lines alone still find room beside those in modules. */
bool ct_stack_has_room_for_modules(void);
/* Makes a node a stack, which it may be already. False: there are CT_STACKS. */
bool ct_stack_node_end(uint32_t node);

/* Those that are whole: they only grow in number. The nodes before what they called. */
uint32_t ct_stack_lines(void);
uint32_t ct_stack_modules(void);
uint32_t ct_stack_nodes(void);
const struct ct_stack_line *ct_stack_line(uint32_t i);
const struct ct_stack_address *ct_stack_address(uint32_t i); /* of the same line */
const struct ct_stack_node *ct_stack_node(uint32_t node);    /* from 1 to ct_stack_nodes() */
const struct ct_stack_module *ct_stack_module(uint32_t module);

#endif
