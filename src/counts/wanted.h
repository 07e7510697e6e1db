/* SPDX-License-Identifier: MIT */
/* The user's choice of work that is timed: kernels, devices, the GPU's work at all. */
#ifndef CT_WANTED_H
#define CT_WANTED_H

#include "base/base.h"

/* Whether operations on that device are timed; `kernel`: a kernel's name, NULL for all else. */
bool ct_is_wanted(uint32_t device, const char *kernel);
/* Whether nothing is left out. */
bool ct_is_all_wanted(void);
/* At the end: says which patterns no kernel had in its name. */
void ct_wanted_end(void);

#endif
