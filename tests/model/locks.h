/* SPDX-License-Identifier: MIT */
/* Before all else that is looked into: how many locks a thread has, for which it maps nothing. */
#ifndef LOCKS_H
#define LOCKS_H

#include "arena.h"
#include "system/spin.h"

#define ct_spin_lock(lock) (ct_spin_lock(lock), arena_lock(1))
#define ct_spin_unlock(lock) (arena_lock(-1), ct_spin_unlock(lock))

#endif
