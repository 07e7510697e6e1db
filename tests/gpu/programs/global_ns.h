/* SPDX-License-Identifier: MIT */
/* The GPU's own clock, which is that of the stamps of events. */
#ifndef GLOBAL_NS_H
#define GLOBAL_NS_H

__device__ static inline unsigned long long global_ns()
{
    unsigned long long now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

#endif
