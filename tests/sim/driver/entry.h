/* SPDX-License-Identifier: MIT */
/* Ids of the driver's functions; a twin has its function's. */
#ifndef SIM_ENTRY_H
#define SIM_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

enum sim_id {
#define ROW(fn, ...) SIM_ID_##fn,
#define ROW_TWIN(suffix, fn, ...) SIM_ID_##fn,
#include "common/each_row.h"
    SIM_ID_COUNT
};

extern const char *const sim_names[SIM_ID_COUNT];

/* Whether the function still answers in a process that has seen a sticky error. */
bool sim_survives_error(uint32_t id);

#endif
