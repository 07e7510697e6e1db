/* SPDX-License-Identifier: MIT */
/* A part of the drain thread's round, by itself. */
#include "collector.h"

#include "record/drain.c"

bool collector_collect(void)
{
    return collect_threads(true);
}
