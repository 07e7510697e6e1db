/* SPDX-License-Identifier: MIT */
/* For libFuzzer: make fuzz. */
#include "mutate.h"
#include "one.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_one(data, bytes);
    return 0;
}

/* Two times in three a change that knows the format, otherwise one that coverage has taught. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
    uint64_t state = seed;
    if (bytes > FUZZ_START && mutate_random(&state) % 3)
        return mutate(data, bytes, most, &state);
    bytes = LLVMFuzzerMutate(data, bytes, most);
    mutate_repair(data, bytes);
    return bytes;
}
