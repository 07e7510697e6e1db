/* SPDX-License-Identifier: MIT */
/* Of nccl.h what the stand-in has, also where that header is missing. */
#ifndef SIM_NCCL_H
#define SIM_NCCL_H

#if __has_include(<nccl.h>)
#include <nccl.h>
#else
#include <stddef.h>
typedef struct ncclComm *ncclComm_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct {
    char internal[128];
} ncclUniqueId;
typedef enum { ncclSuccess = 0, ncclInternalError = 3 } ncclResult_t;
typedef enum { ncclInt8 = 0, ncclFloat = 7, ncclBfloat16 = 9 } ncclDataType_t;
typedef enum { ncclSum = 0 } ncclRedOp_t;
#endif
#define SIM_NCCL_UNHANDLED_CUDA_ERROR ((ncclResult_t)1)
#define SIM_NCCL_INVALID_ARGUMENT ((ncclResult_t)4)

/* name, parameters */
#define SIM_NCCL_FUNCTIONS(X)                                                                      \
    X(ncclGetUniqueId, (ncclUniqueId *))                                                           \
    X(ncclCommInitRank, (ncclComm_t *, int, ncclUniqueId, int))                                    \
    X(ncclCommDestroy, (ncclComm_t))                                                               \
    X(ncclGroupStart, (void))                                                                      \
    X(ncclGroupEnd, (void))                                                                        \
    X(ncclAllReduce,                                                                               \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t))       \
    X(ncclBroadcast,                                                                               \
      (const void *, void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))               \
    X(ncclBcast, (void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))                  \
    X(ncclReduce,                                                                                  \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t))  \
    X(ncclAllGather, (const void *, void *, size_t, ncclDataType_t, ncclComm_t, cudaStream_t))     \
    X(ncclReduceScatter,                                                                           \
      (const void *, void *, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t))       \
    X(ncclSend, (const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))             \
    X(ncclRecv, (void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))

#define X(fn, parameters) extern ncclResult_t fn parameters;
SIM_NCCL_FUNCTIONS(X)
#undef X
extern ncclResult_t ncclCommCount(const ncclComm_t, int *);
extern ncclResult_t ncclCommUserRank(const ncclComm_t, int *);

#endif
