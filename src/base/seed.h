/* SPDX-License-Identifier: MIT */
/* Hashes of numbers in files: no file can be made so that all its keys meet in one slot. */
#ifndef CT_SEED_H
#define CT_SEED_H

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* A number that differs from process to process. */
static inline uint64_t ct_seed(void)
{
    uint64_t word;
    memcpy(&word, (const void *)(uintptr_t)getauxval(AT_RANDOM), sizeof(word));
    return word;
}

/* A hash with one more word in it; the first one is the seed. */
static inline uint64_t ct_seed_mix(uint64_t h, uint64_t word)
{
    unsigned __int128 product = (unsigned __int128)(h ^ word) * 0x9e3779b97f4a7c15u;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

#endif
