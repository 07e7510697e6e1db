/* SPDX-License-Identifier: MIT */
/* Programs of tests end where a call of CUDA or NCCL fails, and say which. */
#ifndef MUST_H
#define MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        int result_ = (int)(call);                                                                 \
        if (result_) {                                                                             \
            fprintf(stderr, "%s: %d\n", #call, result_);                                           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
