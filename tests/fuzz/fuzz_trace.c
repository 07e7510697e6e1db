/* SPDX-License-Identifier: MIT */
/* For libFuzzer: make fuzz-trace. */
#include "trace_one.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    trace_one(data, bytes);
    return 0;
}
