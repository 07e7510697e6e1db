/* SPDX-License-Identifier: MIT */
/* Where lists of shapes and buckets lie in a profile that is written again and again. */
#ifndef CT_LISTED_H
#define CT_LISTED_H

#include "base/base.h"

/* Where a list lies in its section: in elements. Zeroed: nowhere yet. */
struct ct_extent {
    uint32_t first;
    uint32_t count;
};

/* A list as it was when it was made of so many operations or calls. */
struct ct_listed {
    struct ct_extent at;
    uint64_t of;
};

#endif
