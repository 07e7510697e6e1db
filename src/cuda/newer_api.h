/* SPDX-License-Identifier: MIT */
/*
 * The driver's functions of CUDA 13.1 to 13.5, for builds with the headers of 13.0. Types that are
 * handed on only as pointers are left incomplete. Includes cuda.h: where that has the functions,
 * its own declarations hold, and a row that differs from them does not compile. Functions whose
 * const or handle type no public source tells are declared here in any case: include this first,
 * and cuda.h declares them under another name.
 */
#ifndef CT_NEWER_API_H
#define CT_NEWER_API_H

#define cuCheckpointOperationComplete ct_header_cuCheckpointOperationComplete
#define cuFabricCpyBatchAsync ct_header_cuFabricCpyBatchAsync
#define cuLogicalEndpointCreate ct_header_cuLogicalEndpointCreate
#define cuLogicalEndpointExport ct_header_cuLogicalEndpointExport
#define cuLogicalEndpointGetLimits ct_header_cuLogicalEndpointGetLimits
#define cuLogicalEndpointImport ct_header_cuLogicalEndpointImport
#ifndef __CUDA_API_VERSION_INTERNAL /* without it cuda.h renames functions to their newest form */
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cudaProfiler.h>
#undef cuCheckpointOperationComplete
#undef cuFabricCpyBatchAsync
#undef cuLogicalEndpointCreate
#undef cuLogicalEndpointExport
#undef cuLogicalEndpointGetLimits
#undef cuLogicalEndpointImport

/* clang-format off */

/* ---- 13.1 ---- */

#if CUDA_VERSION < 13010
typedef struct CU_DEV_SM_RESOURCE_GROUP_PARAMS_st CU_DEV_SM_RESOURCE_GROUP_PARAMS;
CUresult CUDAAPI cuDevSmResourceSplit(CUdevResource *, unsigned int, const CUdevResource *, CUdevResource *, unsigned int, CU_DEV_SM_RESOURCE_GROUP_PARAMS *);
CUresult CUDAAPI cuGraphExecGetId(CUgraphExec, unsigned int *);
CUresult CUDAAPI cuGraphGetId(CUgraph, unsigned int *);
CUresult CUDAAPI cuGraphNodeGetContainingGraph(CUgraphNode, CUgraph *);
CUresult CUDAAPI cuGraphNodeGetLocalId(CUgraphNode, unsigned int *);
CUresult CUDAAPI cuGraphNodeGetToolsId(CUgraphNode, unsigned long long *);
CUresult CUDAAPI cuMulticastBindAddr_v2(CUmemGenericAllocationHandle, CUdevice, size_t, CUdeviceptr, size_t, unsigned long long);
CUresult CUDAAPI cuMulticastBindMem_v2(CUmemGenericAllocationHandle, CUdevice, size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long);
CUresult CUDAAPI cuStreamGetDevResource(CUstream, CUdevResource *, CUdevResourceType);
#endif

/* ---- 13.2 ---- */

#if CUDA_VERSION < 13020
typedef struct CUcoredumpCallback_st *CUcoredumpCallbackHandle;
typedef void (CUDA_CB *CUcoredumpStatusCallback)(void *userData, int pid, CUdevice device);
typedef struct CUstreamCigCaptureParams_st CUstreamCigCaptureParams;
CUresult CUDAAPI cuCoredumpDeregisterCompleteCallback(CUcoredumpCallbackHandle);
CUresult CUDAAPI cuCoredumpDeregisterStartCallback(CUcoredumpCallbackHandle);
CUresult CUDAAPI cuCoredumpRegisterCompleteCallback(CUcoredumpStatusCallback, void *, CUcoredumpCallbackHandle *);
CUresult CUDAAPI cuCoredumpRegisterStartCallback(CUcoredumpStatusCallback, void *, CUcoredumpCallbackHandle *);
CUresult CUDAAPI cuFuncGetParamCount(CUfunction, size_t *);
CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode, CUgraphNodeParams *);
CUresult CUDAAPI cuKernelGetParamCount(CUkernel, size_t *);
CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream, CUhostFn, void *, unsigned int syncMode);
CUresult CUDAAPI cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long flags, CUstream);
CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t, CUmemcpyAttributes *, CUstream);
CUresult CUDAAPI cuStreamBeginCaptureToCig(CUstream, CUstreamCigCaptureParams *);
CUresult CUDAAPI cuStreamEndCaptureToCig(CUstream);
#endif

/* ---- 13.3 ---- */

#if CUDA_VERSION < 13030
typedef enum CUgraphRecaptureStatus_enum {
    CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE = 0,
    CU_GRAPH_RECAPTURE_INELIGIBLE_FOR_UPDATE = 1,
    CU_GRAPH_RECAPTURE_ERROR = 2
} CUgraphRecaptureStatus;
typedef CUresult (CUDA_CB *CUgraphRecaptureCallback)(void *data, CUgraphNode node, const CUgraphNodeParams *original, const CUgraphNodeParams *recapture, CUgraphRecaptureStatus status);
typedef cuuint32_t CUlogicalEndpointId;
typedef struct CUlogicalEndpointProp_st CUlogicalEndpointProp;
typedef unsigned int CUlogicalEndpointIpcHandleType; /* an enum */
CUresult CUDAAPI cuLogicalEndpointAddDevice(CUlogicalEndpointId, CUdevice);
CUresult CUDAAPI cuLogicalEndpointBindAddr(CUlogicalEndpointId, CUdevice, cuuint64_t offset, void *, cuuint64_t size, unsigned long long);
CUresult CUDAAPI cuLogicalEndpointBindMem(CUlogicalEndpointId, CUdevice, cuuint64_t, CUmemGenericAllocationHandle, cuuint64_t, cuuint64_t, unsigned long long);
CUresult CUDAAPI cuLogicalEndpointDestroy(CUlogicalEndpointId);
CUresult CUDAAPI cuLogicalEndpointIdRelease(CUlogicalEndpointId, cuuint32_t);
CUresult CUDAAPI cuLogicalEndpointIdReserve(CUlogicalEndpointId *, cuuint32_t count);
CUresult CUDAAPI cuLogicalEndpointQuery(CUlogicalEndpointId, cuuint32_t, int *);
CUresult CUDAAPI cuLogicalEndpointUnbind(CUlogicalEndpointId, CUdevice, cuuint64_t, cuuint64_t);
CUresult CUDAAPI cuStreamBeginRecaptureToGraph(CUstream, CUstreamCaptureMode, CUgraph, CUgraphRecaptureCallback, void *);
#endif
CUresult CUDAAPI cuLogicalEndpointCreate(CUlogicalEndpointId, const CUlogicalEndpointProp *);
CUresult CUDAAPI cuLogicalEndpointExport(void *handle, CUlogicalEndpointId, CUlogicalEndpointIpcHandleType);
CUresult CUDAAPI cuLogicalEndpointGetLimits(cuuint64_t *, cuuint64_t *, const CUlogicalEndpointProp *);
CUresult CUDAAPI cuLogicalEndpointImport(CUlogicalEndpointId, const void *, CUlogicalEndpointIpcHandleType);

/* ---- 13.4 ---- */

#if CUDA_VERSION < 13040
typedef struct CUcliqueInfo_st CUcliqueInfo;
CUresult CUDAAPI cuDeviceGetCliqueCount(size_t *, CUdevice);
CUresult CUDAAPI cuDeviceGetCliqueInfo(CUcliqueInfo *, size_t *, CUdevice);
CUresult CUDAAPI cuDeviceGetFabricClusterUuid(CUuuid *, CUdevice);
CUresult CUDAAPI cuGraphAddNode_v3(CUgraphNode *, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *);
CUresult CUDAAPI cuGraphNodeSetParams_v2(CUgraphNode, CUgraphNodeParams *);
CUresult CUDAAPI cuMemGetLocationInfo(CUdeviceptr, size_t size, size_t summary, size_t sampling, CUmemLocation *);
#endif
typedef struct ct_checkpoint_operation *ct_checkpoint_operation; /* CUcheckpointOperationHandle */
CUresult CUDAAPI cuCheckpointOperationComplete(ct_checkpoint_operation);

/* ---- 13.5 ---- */

/* Its operands may name logical endpoints; where they lie in CUDA_FABRIC_COPY_BATCH_OP is not public. */
struct ct_fabric_copy;
CUresult CUDAAPI cuFabricCpyBatchAsync(size_t, struct ct_fabric_copy *, unsigned long long flags, CUstream);

/* ---- twins, which a header may have as well ---- */

extern __typeof__(cuFabricCpyBatchAsync) cuFabricCpyBatchAsync_ptsz;
extern __typeof__(cuLaunchHostFunc_v2) cuLaunchHostFunc_v2_ptsz;
extern __typeof__(cuMemcpy3DWithAttributesAsync) cuMemcpy3DWithAttributesAsync_ptsz;
extern __typeof__(cuMemcpyWithAttributesAsync) cuMemcpyWithAttributesAsync_ptsz;
extern __typeof__(cuStreamBeginCaptureToCig) cuStreamBeginCaptureToCig_ptsz;
extern __typeof__(cuStreamBeginRecaptureToGraph) cuStreamBeginRecaptureToGraph_ptsz;
extern __typeof__(cuStreamEndCaptureToCig) cuStreamEndCaptureToCig_ptsz;
extern __typeof__(cuStreamGetDevResource) cuStreamGetDevResource_ptsz;

/* ---- what is relied upon, in whatever headers ---- */

_Static_assert(sizeof(CUgraphNodeParams) == 256, "handed on whole: members grew, it did not");
_Static_assert(sizeof(CUgraphRecaptureStatus) == 4, "an enum");
_Static_assert(sizeof(CUlogicalEndpointId) == 4, "a 32-bit number");
_Static_assert(sizeof(CUlogicalEndpointIpcHandleType) == 4, "an enum");
_Static_assert(sizeof(ct_checkpoint_operation) == 8, "one machine word");
_Static_assert(sizeof(CUmemLocation) == 8, "by value in one register");
_Static_assert(sizeof(CUcoredumpCallbackHandle) == 8, "a pointer");

/* clang-format on */

#endif
