/* SPDX-License-Identifier: MIT */
/* For libFuzzer: make fuzz. */
#include "one.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_one(data, bytes);
    return 0;
}
