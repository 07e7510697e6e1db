/* SPDX-License-Identifier: MIT */
/* Random numbers for sampling: a state of 64 bits for each user, never 0. */
#ifndef CT_RANDOM_H
#define CT_RANDOM_H

#include "base/base.h"

/* xorshift64*: the upper half of each product. */
static inline uint32_t ct_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (uint32_t)((x * 0x2545f4914f6cdd1du) >> 32);
}

/*
 * How many items are passed over before the next one is chosen, where each is chosen with
 * probability 1 / every on its own; at most `most`, beyond which nothing is said. The rest of such
 * a number may be thrown away and drawn again at any time.
 */
uint32_t ct_random_skip(uint64_t *state, uint32_t every, uint32_t most);

#endif
