/* SPDX-License-Identifier: MIT */
/*
 * The interpreter in the process: whether there is one, what it is, and whether its memory is laid
 * out as we believe. Found by reading the symbols of the loaded objects; nothing links to it.
 */
#ifndef CT_PYTHON_H
#define CT_PYTHON_H

#include "base/base.h"
#include "stacks/python_frame.h"

/* Functions and objects that CPython exports; those of some versions alone may be NULL. */
#define CT_PY_SYMBOLS(X)                                                                           \
    X(PyGILState_GetThisThreadState, void *(*)(void))                                              \
    X(PyCode_Addr2Line, int (*)(const void *, int))                                                \
    X(PyFrame_GetLineNumber, int (*)(const void *))                                                \
    X(PyInterpreterState_Head, void *(*)(void))                                                    \
    X(PyInterpreterState_Next, void *(*)(void *))                                                  \
    X(Py_GetVersion, const char *(*)(void))                                                        \
    X(PyCell_Type, const char *)                                                                   \
    X(PyCode_Type, const char *)                                                                   \
    X(PyType_Type, const char *)                                                                   \
    X(_PyRuntime, const char *)                                                                    \
    X(_Py_IsFinalizing, int (*)(void))                                                             \
    X(Py_IsFinalizing, int (*)(void))                                                              \
    X(PyUnstable_InterpreterFrame_GetLine, int (*)(const void *))

struct ct_python_symbols {
#define X(name, type) __typeof__(type) name;
    CT_PY_SYMBOLS(X)
#undef X
};

struct ct_interpreter {
    struct ct_python python;
    struct ct_python_symbols of;
    int (*is_finalizing)(void);
    bool asks_for_others; /* a thread's state is the main interpreter's, whichever it is in */
};

/* False: there is none. Visits all loaded objects. */
bool ct_python_find(struct ct_interpreter *i);

/*
 * NULL: its memory is laid out as `i->python.layout`, which this sets, says. Otherwise why it is
 * not used. Of the objects that it exports alone; once.
 */
const char *ct_python_check(struct ct_interpreter *i);

/*
 * Checks a thread's frames against CPython's own functions for their lines: NULL, or why not.
 * Whatever it reads the kernel reads first. *tried: there was a frame to look at. Once, too.
 */
const char *ct_python_check_frames(const struct ct_interpreter *i, const char *frame, bool *tried);

/* A type's name, cut where `size` ends; "": it has none that can be read. */
void ct_python_type_name(const char *type, char *name, size_t size);

/* Whether it can be told which frames are a thread's own. */
static inline bool ct_python_tells(const struct ct_interpreter *i)
{
    return ct_likely(!i->is_finalizing()) &&
           (ct_likely(!i->asks_for_others) ||
            !i->of.PyInterpreterState_Next(i->of.PyInterpreterState_Head()));
}

/* The calling thread's newest frame; NULL: it has none, or none that is its own. */
static inline const char *ct_python_newest(const struct ct_interpreter *i)
{
    if (ct_unlikely(!ct_python_tells(i)))
        return NULL;
    const char *state = i->of.PyGILState_GetThisThreadState();
    return state ? ct_py_newest(&i->python, state) : NULL;
}

#endif
