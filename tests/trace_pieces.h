/* SPDX-License-Identifier: MIT */
/* What a trace's writer gives out, put where it belongs in a file. */
#ifndef TRACE_PIECES_H
#define TRACE_PIECES_H

#include <stdbool.h>
#include <unistd.h>

#include "format/trace_write.h"

/* NULL: nothing is given out. False: some of it could not be written. */
static inline bool trace_pieces_write(int file, const struct ct_trace_out *out)
{
    bool good = true;
    for (unsigned i = 0; out && i < out->count; i++)
        good &= pwrite(file, out->piece[i].data, out->piece[i].bytes,
                       (off_t)out->piece[i].offset) == (ssize_t)out->piece[i].bytes;
    return good;
}

#endif
