/* SPDX-License-Identifier: MIT */
/* The driver library: found once, its functions by id and ids by address. */
#ifndef CT_DRIVER_H
#define CT_DRIVER_H

#include "base/base.h"
#include "cuda/api.h"
#include "system/elf.h"

/*
 * Takes the object at an address for the driver if it is one (it defines cuInit and
 * cuDriverGetVersion) and none was found yet. True: the address lies in the driver.
 */
bool ct_driver_claim(const void *address);

/* Finds a driver that is loaded already; for programs that are linked against it. */
bool ct_driver_find(void);

/* A function of a driver that is loaded, also without memory to remember the driver. */
ct_function ct_driver_function(uint32_t id);

/*
 * Returns the address to hand out for one that the driver itself gave for `name`: our wrapper of
 * the function that lies there, whatever its name, or the address unchanged. Functions that are not
 * wrapped but look like work are counted.
 */
void *ct_driver_substitute(const char *name, void *address);

/* ct_driver_substitute() for cuGetProcAddress, which also hands out wrappers of handed_api.def. */
void *ct_driver_hand_out(const char *name, void *address);

/* A name in no table was asked for in the search order: counts one of the driver's, as above. */
void ct_driver_asked(const char *name);

/* The wrappers by id (wrap_driver.c). */
extern const ct_function ct_driver_wrappers[CT_DRIVER_COUNT];

#endif
