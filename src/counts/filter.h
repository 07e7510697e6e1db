/* SPDX-License-Identifier: MIT */
/* The user's choice of work that is timed: kernels, devices, the GPU's work at all. */
#ifndef CT_FILTER_H
#define CT_FILTER_H

#include "base/base.h"

/* Whether operations on that device are timed; `kernel`: a kernel's name, NULL for all else. */
bool ct_filter_takes(uint32_t device, const char *kernel);
/* Whether nothing is left out. */
bool ct_filter_takes_all(void);
/* At the end: says which patterns no kernel had in its name. */
void ct_filter_end(void);

#endif
