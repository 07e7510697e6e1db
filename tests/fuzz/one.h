/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_ONE_H
#define FUZZ_ONE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a file made of the bytes and prints it in every form. The first byte chooses: even, the rest
 * is a file as it is; odd, the rest is a payload, in a file whose checksums are right, so that what
 * is behind them is reached.
 */
void fuzz_one(const uint8_t *data, size_t bytes);

#endif
