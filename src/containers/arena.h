/* SPDX-License-Identifier: MIT */
/* Memory in pieces that stay where they are and are never given back. */
#ifndef CT_ARENA_H
#define CT_ARENA_H

#include "base/base.h"
#include "system/spin.h"

/* All zero at first, and again in the child of a fork. */
struct ct_arena {
    struct ct_spin lock; /* for these: */
    char *next;
    size_t left_bytes;
    size_t mapped_bytes;
};

/*
 * Zeroed bytes without any alignment; NULL: memory is out, or limit_bytes are mapped. Any thread:
 * nothing is mapped under the lock.
 */
void *ct_arena_take(struct ct_arena *a, size_t bytes, size_t limit_bytes);

#endif
