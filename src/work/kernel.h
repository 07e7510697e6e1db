/* SPDX-License-Identifier: MIT */
/*
 * From a launch's handle to its row. A handle is a CUfunction or a CUkernel, which nothing in it
 * tells apart, and comes back for another function after a module was unloaded.
 */
#ifndef CT_KERNEL_H
#define CT_KERNEL_H

#include "base/base.h"
#include "cuda/api.h"

bool ct_kernels_init(void);

/* Row of a handle launched before on that device; CT_ROW_NONE: not known. One cache line. */
uint32_t ct_kernel_find(CUfunction handle, uint32_t device);

/*
 * Row of a handle that has just been launched with success (so that asking for its name cannot
 * load it, nor crash on a bad handle). `captured`: into a graph, so nothing but the name is asked.
 */
uint32_t ct_kernel_resolve(CUfunction handle, uint32_t device, bool captured);

/* The program has been given this handle for this name; the only source for drivers before 12.3. */
void ct_kernel_named(const void *handle, const char *name);

/* The mangled name of a handle, or NULL. Same conditions as ct_kernel_resolve(). */
const char *ct_kernel_name(CUfunction handle);

/* A module is being unloaded: its handles may come back as something else. */
void ct_kernels_unloaded(void);

#endif
