/* SPDX-License-Identifier: MIT */
/* Work in flight and hangs, as sections of the profile. */
#ifndef CT_STUCK_SECTION_H
#define CT_STUCK_SECTION_H

#include "base/base.h"

/* Behind rows, frames and streams. `start_ns`: CLOCK_MONOTONIC at the start of the process. */
void ct_stuck_section_add(uint64_t start_ns, bool finished);

#endif
