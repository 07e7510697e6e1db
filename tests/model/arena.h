/* SPDX-License-Identifier: MIT */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>
#include <sys/types.h>

/* All that was mapped is gone, and will be handed out again. */
void arena_reset(void);
void *arena_map(void *where, size_t bytes, int protection, int flags, int fd, off_t offset);
int arena_unmap(void *p, size_t bytes);
int arena_protect(void *p, size_t bytes, int protection);

/* The thread has one lock more, or less. */
void arena_lock(int by);

#endif
