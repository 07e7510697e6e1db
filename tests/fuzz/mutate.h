/* SPDX-License-Identifier: MIT */
/*
 * Changes to inputs of fuzz_one() that know the format, so that what is behind the checks of sizes
 * and checksums is reached. The same numbers make the same changes: no clock, no random device.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

uint64_t mutate_random(uint64_t *state);

/* A change or some in place; returns the new length, at most `most`. */
size_t mutate(uint8_t *data, size_t bytes, size_t most, uint64_t *state);

/* Makes the checksums of a file's commits and of the payloads that they name right. */
void mutate_repair(uint8_t *data, size_t bytes);

/* Numbers at the edges of what fields can hold, which is where mistakes are. */
#define MUTATE_EDGES 12
uint64_t mutate_edge(unsigned number);

#endif
