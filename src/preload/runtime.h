/* SPDX-License-Identifier: MIT */
/*
 * The runtime libraries of the process. There may be several, of different major versions, with one
 * name for functions of different signatures: a call goes on to the library that its caller is
 * linked with.
 */
#ifndef CT_RUNTIME_H
#define CT_RUNTIME_H

#include "base/base.h"
#include "cuda/api.h"

/* Whether an address lies in a runtime library that calls can be forwarded to unambiguously. */
bool ct_runtime_claim(const void *address);

/* A name in no table was asked for: counts it if the address found for it is in a runtime. */
void ct_runtime_asked(const char *name, const void *address);

/* The real function `id` (CT_RUNTIME_FIRST...) for a caller; NULL: there is no runtime. */
ct_function ct_runtime_real(uint32_t id, const void *caller);

/* In the child of a fork. */
void ct_runtime_forget(void);

/* The wrappers by id - CT_RUNTIME_FIRST (wrap_runtime.c). */
extern const ct_function ct_runtime_wrappers[CT_RUNTIME_COUNT];

#endif
