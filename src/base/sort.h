/* SPDX-License-Identifier: MIT */
/* Sorting in place, without memory of its own: the C library's qsort may allocate. */
#ifndef CT_SORT_H
#define CT_SORT_H

#include "base/base.h"

typedef bool ct_is_later(unsigned a, unsigned b);
typedef void ct_swap(unsigned a, unsigned b);

static inline void ct_sift_down(unsigned root, unsigned n, ct_is_later *is_later, ct_swap *swap)
{
    for (unsigned child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && is_later(child + 1, child))
            child++;
        if (!is_later(child, root))
            return;
        swap(child, root);
    }
}

/* Heapsort of the items 0 to n - 1, which only the two functions know. */
static inline void ct_sort(unsigned n, ct_is_later *is_later, ct_swap *swap)
{
    for (unsigned i = n / 2; i--;)
        ct_sift_down(i, n, is_later, swap);
    while (n-- > 1) {
        swap(0, n);
        ct_sift_down(0, n, is_later, swap);
    }
}

#endif
