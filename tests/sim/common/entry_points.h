/* SPDX-License-Identifier: MIT */
/*
 * What cuGetProcAddress knows: symbols by name, CUDA version and flags. Shared by the model, the
 * echo and the null driver, each of which exports all the symbols.
 */
#ifndef SIM_ENTRY_POINTS_H
#define SIM_ENTRY_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_FOUND 0            /* CU_GET_PROC_ADDRESS_SUCCESS */
#define SIM_SYMBOL_NOT_FOUND 1 /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
#define SIM_TOO_OLD 2          /* CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT */

#define SIM_PER_THREAD 2 /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

/*
 * The newest form of `name` that `version` has, and that a driver of `driver_version` has.
 * *status says why it is NULL.
 */
void *sim_entry_point(const char *name, int version, uint64_t flags, int driver_version,
                      int *status);

#endif
