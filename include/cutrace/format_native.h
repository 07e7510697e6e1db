/* SPDX-License-Identifier: MIT */
/*
 * Native code in summary.bin (format.h has the file and its rules): which lines are addresses, and
 * in which files. Names and lines of the source are for the reader to find.
 */
#ifndef CUTRACE_FORMAT_NATIVE_H
#define CUTRACE_FORMAT_NATIVE_H

#include <stdint.h>

/* An executable or a shared library, as it was loaded. */
struct ct_file_object {
    uint32_t path;     /* string; "": code that is in no file */
    uint32_t build_id; /* string: hexadecimal digits; "": it has none */
};

/*
 * A line of native code: its file is the object's path, its function that one's name and the
 * offset, "libx.so+0x1234", its number 0. By the index of the line.
 */
struct ct_file_address {
    uint32_t line;   /* index into CT_SECTION_LINES */
    uint32_t object; /* index into CT_SECTION_OBJECTS */
    uint64_t offset; /* of the call, or of the instruction that a signal came to, as in the file's
                        program headers */
};

#endif
