/* SPDX-License-Identifier: MIT */
/*
 * Memory straight from the kernel: the host's malloc may be the thing that is being debugged,
 * may be locked by the thread that forked, and must not see our allocations.
 */
#ifndef CT_MEM_H
#define CT_MEM_H

#include "base/base.h"

/*
 * Zeroed, page-aligned memory whose pages cost nothing until touched; NULL: memory is out. errno is
 * kept.
 */
void *ct_map(size_t bytes);
void ct_unmap(void *p, size_t bytes);

/* A growing buffer; contents move when it grows. */
struct ct_buffer {
    char *data;
    size_t len_bytes;
    size_t size_bytes;
};

/* Room for len_bytes more at the end, already counted in; NULL when memory is out. */
void *ct_buffer_add(struct ct_buffer *b, size_t len_bytes);

#endif
