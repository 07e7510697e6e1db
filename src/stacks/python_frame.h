/* SPDX-License-Identifier: MIT */
/*
 * One frame of CPython, read as it lies in memory by the thread that runs it: nobody else changes
 * it meanwhile. No reference is taken, nothing of Python's is called. An address is looked at
 * before it is followed, and an object's type before its members are read.
 */
#ifndef CT_PYTHON_FRAME_H
#define CT_PYTHON_FRAME_H

#include "base/base.h"
#include "stacks/python_layout.h"

#define CT_PY_DEPTH 2048 /* frames of a stack, from the newest; what is further out is left out */

struct ct_python {
    const struct ct_py_layout *layout;
    const void *code_type; /* PyCode_Type */
    const void *cell_type; /* PyCell_Type */
};

enum ct_py_look {
    CT_PY_FRAME,
    CT_PY_SKIPPED, /* the interpreter's own, or one that has not begun */
    CT_PY_GARBLED,
};

/* Where a frame is. */
struct ct_py_spot {
    const char *code;
    int32_t offset; /* of the instruction, bytes; negative: none was begun */
};

CT_INLINE uint64_t ct_py_word(const char *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof(word));
    return word;
}

CT_INLINE uint32_t ct_py_half(const char *at)
{
    uint32_t half;
    __builtin_memcpy(&half, at, sizeof(half));
    return half;
}

CT_INLINE const char *ct_py_pointer(const char *at)
{
    return (const char *)(uintptr_t)ct_py_word(at);
}

CT_INLINE bool ct_py_may_be_there(const char *p)
{
    return (uintptr_t)p - 4096 < ((uintptr_t)1 << 48) - 4096;
}

/* Whether it can be the address of an object. */
CT_INLINE bool ct_py_is_address(const char *p)
{
    return !((uintptr_t)p & 7) && ct_py_may_be_there(p);
}

/* A reference in a frame. */
CT_INLINE const char *ct_py_held(const struct ct_py_layout *l, const char *at)
{
    uintptr_t word = (uintptr_t)ct_py_word(at);
    if (!l->is_tagged)
        return (const char *)word;
    return (word & 3) == 3 ? NULL : (const char *)(word & ~(uintptr_t)3);
}

CT_INLINE const char *ct_py_code_of(const struct ct_python *p, const char *frame)
{
    return ct_py_held(p->layout, frame + p->layout->code);
}

/* Bytes of instructions that a code object has. */
CT_INLINE uint64_t ct_py_code_bytes(const struct ct_py_layout *l, const char *code)
{
    if (!l->lasti_bytes)
        return ct_py_word(code + CT_PY_SIZE) * 2;
    const char *bytes = ct_py_pointer(code + l->start);
    return ct_py_is_address(bytes) ? ct_py_word(bytes + CT_PY_SIZE) : 0;
}

CT_INLINE enum ct_py_look ct_py_look_at(const struct ct_python *p, const char *frame,
                                        struct ct_py_spot *spot)
{
    const struct ct_py_layout *l = p->layout;
    uint8_t owner = l->owner == CT_PY_NONE ? 0 : (uint8_t)frame[l->owner];
    if (l->first_shim && owner >= l->first_shim)
        return CT_PY_SKIPPED;
    const char *code = spot->code = ct_py_code_of(p, frame);
    if (!ct_py_is_address(code))
        return CT_PY_GARBLED;
    if (ct_py_pointer(code + CT_PY_TYPE) != p->code_type)
        return l->may_be_no_code ? CT_PY_SKIPPED : CT_PY_GARBLED;
    int64_t offset;
    if (l->lasti_bytes) {
        int32_t lasti = (int32_t)ct_py_half(frame + l->instruction);
        offset = lasti < 0 ? -1 : (int64_t)lasti * l->lasti_bytes;
    } else {
        offset = (int64_t)(ct_py_word(frame + l->instruction) - (uintptr_t)(code + l->start));
        int64_t first = 2 * (int64_t)(int32_t)ct_py_half(code + l->traceable);
        if (owner != CT_PY_GENERATOR && offset < first && offset >= -2)
            return CT_PY_SKIPPED;
    }
    if (offset < -2 || offset >= (int64_t)ct_py_code_bytes(l, code))
        return CT_PY_GARBLED;
    spot->offset = (int32_t)offset;
    return CT_PY_FRAME;
}

CT_INLINE const char *ct_py_back(const struct ct_python *p, const char *frame)
{
    return ct_py_pointer(frame + p->layout->back);
}

/* The newest frame of a thread's state; NULL: it runs no Python. */
CT_INLINE const char *ct_py_newest(const struct ct_python *p, const char *state)
{
    const char *at = ct_py_pointer(state + p->layout->state_frame);
    if (p->layout->inner_frame == CT_PY_NONE || !at)
        return at;
    return ct_py_is_address(at) ? ct_py_pointer(at + p->layout->inner_frame) : NULL;
}

/*
 * A number for a frame's code and instruction. A code object that was freed may have left its
 * address, and those of its name, file and table, to another: so their contents count as well.
 * 0: it is garbled.
 */
uint64_t ct_py_mark(const struct ct_py_layout *l, const struct ct_py_spot *spot);

/* An object whose method a frame runs; id 0: there is none, or it is not known. */
struct ct_py_self {
    uint64_t id; /* made of its address, its type's and that one's name */
    const char *type;
};

/*
 * The object in a frame of a module's method: forward(), __call__(), and those of PyTorch in
 * between. By the method's name and by its first argument's, which is self.
 */
struct ct_py_self ct_py_self(const struct ct_python *p, const char *frame, const char *code);

/*
 * A number for a whole stack, modules and all, and whether it ends as one does; 0: a frame is
 * garbled, or there is none.
 */
uint64_t ct_py_stack_mark(const struct ct_python *p, const char *frame);

/* The line of an instruction by the code's own table; 0: it has none. */
uint32_t ct_py_line(const struct ct_py_layout *l, const struct ct_py_spot *spot);

/* A string object as UTF-8, cut where `size` ends; false: it is none. */
bool ct_py_text(const struct ct_py_layout *l, const char *object, char *text, size_t size);

#endif
