/* SPDX-License-Identifier: MIT */
/* The NCCL libraries of the process, also those that are part of another object. */
#ifndef CT_NCCL_H
#define CT_NCCL_H

#include "base/base.h"
#include "cuda/api.h"
#include "cuda/nccl_api.h"

/* Whether an address lies in an NCCL that calls can be forwarded to unambiguously. */
bool ct_nccl_claim(const void *address);

/* The real function `id` for a caller; NULL: there is none. */
ct_function ct_nccl_real(uint32_t id, const void *caller);

/* In the child of a fork. */
void ct_nccl_forget(void);

/* The wrapper of a function that we export (wrap_nccl.c). */
ct_function ct_nccl_wrapper(uint32_t id);

#endif
