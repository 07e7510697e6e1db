/* SPDX-License-Identifier: MIT */
/* A part of the drain thread's round, by itself. */
#include "collector.h"

#include "drain/collect.c"

bool collector_collect(void)
{
    return ct_collect(1, true);
}
