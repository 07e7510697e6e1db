/* SPDX-License-Identifier: MIT */
/* What the user wants to have timed: kernels, devices, the GPU's work at all. */
#ifndef CT_WANTED_H
#define CT_WANTED_H

#include "base/base.h"

/* Of an operation on that device; of a kernel with its name, of anything else with NULL. */
bool ct_is_wanted(uint32_t device, const char *kernel);
/* Nothing is left out. */
bool ct_is_all_wanted(void);

#endif
