/* SPDX-License-Identifier: MIT */
/*
 * Where CPython keeps things, by version: offsets in bytes, the same on x86-64 and aarch64. They
 * are believed only after python_check.c has held them against the interpreter that is there.
 */
#ifndef CT_PYTHON_LAYOUT_H
#define CT_PYTHON_LAYOUT_H

#include "base/base.h"

#define CT_PY_NONE UINT16_MAX /* there is no such member */

enum ct_py_lines {
    CT_PY_LNOTAB,    /* up to 3.9: steps of bytes and lines */
    CT_PY_LINETABLE, /* 3.10: the same, and ranges without a line */
    CT_PY_LOCATIONS, /* since 3.11: entries of varying length */
};

struct ct_py_layout {
    uint32_t version;    /* major << 8 | minor */
    bool is_tagged;      /* the lowest bits of a frame's code are no part of the address */
    bool may_be_no_code; /* a frame may be of an object of another type */
    uint8_t lasti_bytes; /* one unit of the instruction's number; 0: there is a pointer instead */
    uint8_t first_shim;  /* from this owner on a frame is the interpreter's own */
    uint8_t lines;       /* enum ct_py_lines */

    uint16_t state_frame; /* of the thread's state: the newest frame, or where its address is: */
    uint16_t inner_frame; /* of that; NONE: there is no step between */
    uint16_t back;        /* of a frame: the one that called it */
    uint16_t code;
    uint16_t instruction;
    uint16_t owner;
    uint16_t locals; /* the first local, which is the first argument of a function that has one */

    uint16_t arguments;           /* of a code object: how many have a place in its call, 32 bits */
    uint16_t names;               /* tuple: the locals' */
    uint16_t own_name;            /* never qualified */
    uint16_t locals_before_cells; /* up to 3.10, as the next two: the locals' number, 32 bits; */
    uint16_t cells;               /* tuple: names of those that closures share; */
    uint16_t cell_arguments;      /* for each of these the argument that it holds, 64 bits */
    uint16_t first_line;          /* of a code object */
    uint16_t file;
    uint16_t name; /* qualified where there is such a name */
    uint16_t table;
    uint16_t traceable; /* number of the first instruction of the program's own */
    uint16_t start; /* of the instructions; up to 3.10 the address of the bytes object with them */

    uint16_t items;      /* of a tuple: the first one */
    uint16_t ascii_text; /* of a string: its bytes; */
    uint16_t other_text; /* those of one that is not ASCII */
};

#define CT_PY_TYPE 8         /* of every object: the address of its type */
#define CT_PY_SIZE 16        /* of a code object, or a bytes object: how many units or bytes */
#define CT_PY_BYTES 32       /* of a bytes object: the first one */
#define CT_PY_TYPE_NAME 24   /* of a type: the address of its name */
#define CT_PY_IN_CELL 16     /* of a cell: the object's address */
#define CT_PY_TEXT_LENGTH 16 /* of a string: characters */
#define CT_PY_TEXT_HASH 24   /* all bits set: it has not been asked for */
#define CT_PY_TEXT_STATE 32  /* bits: kind from 2 (3 of them), compact 5, ASCII 6 */
#define CT_PY_GENERATOR 1    /* owner of a frame inside a generator */

/* As much of a frame as is looked at: none is shorter. */
static inline size_t ct_py_frame_bytes(const struct ct_py_layout *l)
{
    return l->locals + sizeof(uint64_t);
}

/* NULL: nothing is known of that version. */
const struct ct_py_layout *ct_py_layout_of(uint32_t version);

#endif
