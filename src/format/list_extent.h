/* SPDX-License-Identifier: MIT */
/* Places of lists of shapes and buckets in a profile that is written again and again. */
#ifndef CT_LIST_EXTENT_H
#define CT_LIST_EXTENT_H

#include "base/base.h"

/* A list's place in its section, in elements. Zeroed: none yet. */
struct ct_extent {
    uint32_t first;
    uint32_t count;
};

/* A list's place, and the number of operations or calls that it was made from. */
struct ct_list_extent {
    struct ct_extent at;
    uint64_t of;
};

#endif
