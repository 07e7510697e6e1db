/* SPDX-License-Identifier: MIT */
/* Profiles of Python programs, whose operations have stacks. */
#ifndef CT_TEST_PYTHON_PROFILE_H
#define CT_TEST_PYTHON_PROFILE_H

#include "build_file.h"

/*
 * "python": a program of few lines, for whose times see the source; "python-edited": after an edit
 * that has moved lines, another file's place, a slower kernel and another optimizer; "python-many":
 * 10,000 stacks, and one 300 frames deep. False: it is none of these.
 */
bool ct_fill_python(struct ct_build *b, const char *kind);

/* A stack of which each frame's file and function is one of the names, as is a kernel's. */
void ct_fill_hostile_stack(struct ct_build *b, uint32_t row, const char *const *names,
                           size_t count);

#endif
