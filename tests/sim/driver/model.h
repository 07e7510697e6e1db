/* SPDX-License-Identifier: MIT */
/*
 * sim_<name> is what the exported <name> and its twin do, called with the lock held. stubs.c has a
 * weak one for every row, which answers NOT_SUPPORTED: to model a function, define it.
 */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "driver/sim.h"

#define ROW(fn, ...) __typeof__(fn) sim_##fn;
#define ROW_TWIN(suffix, fn, ...) __typeof__(fn) sim_##fn;
#include "common/each_row.h"

#endif
