/* SPDX-License-Identifier: MIT */
/* The functions of NCCL that matter here, as data, with the types they need where NCCL's header is
 * missing. */
#ifndef CT_NCCL_API_H
#define CT_NCCL_API_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#if __has_include(<nccl.h>)
#include <nccl.h>
#else
typedef struct ncclComm *ncclComm_t;
typedef enum { ncclSuccess = 0, ncclInternalError = 3 } ncclResult_t;
typedef enum { ncclInt8 = 0 } ncclDataType_t;
typedef enum { ncclSum = 0 } ncclRedOp_t;
typedef CUstream cudaStream_t;
#endif

/* Since NCCL 2.14: the work was handed over to a thread of NCCL's. */
#define CT_NCCL_IN_PROGRESS ((ncclResult_t)7)

enum ct_nccl_id {
#define CT_NCCL(fn, ...) CT_ID_##fn,
#define CT_ASKED(fn, ...) CT_ID_##fn,
#include "cuda/nccl_api.def"
    CT_NCCL_COUNT
};

extern const char *const ct_nccl_names[CT_NCCL_COUNT];

/* Id of a function that we export, CT_NCCL_COUNT for other names. Calls nothing, takes no lock. */
uint32_t ct_nccl_find(const char *name);

/* Size of one element in bytes; 0: a type of a later version. */
unsigned ct_nccl_bytes_of(unsigned datatype);

#endif
