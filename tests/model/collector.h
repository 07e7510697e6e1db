/* SPDX-License-Identifier: MIT */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include <stdbool.h>

/* The drain thread looks at all threads once. */
bool collector_collect(void);

#endif
