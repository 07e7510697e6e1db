/* SPDX-License-Identifier: MIT */
/* Error names, the profiler switch, private tables, entry points. */
#include "driver/model.h"

#include "common/entry_points.h"

struct error {
    CUresult code;
    const char *name, *text;
};

#define ERROR(code, text) {code, #code, text}

static const struct error errors[] = {
    ERROR(CUDA_SUCCESS, "no error"),
    ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"),
    ERROR(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit is not supported on this architecture"),
    ERROR(CUDA_ERROR_FILE_NOT_FOUND, "file not found"),
    ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    ERROR(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state"),
    ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, "an illegal memory access was encountered"),
    ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "too many resources requested for launch"),
    ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"),
    ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
          "part or all of the requested memory range is already mapped"),
    ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
          "pointer does not correspond to a registered memory region"),
    ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
          "operation failed due to a previous error during capture"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_MERGE,
          "operation would result in a merge of separate capture sequences"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "capture was not ended in the same stream as it began"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
          "capturing stream has unjoined work"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
          "dependency created on uncaptured work in another stream"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(CUDA_ERROR_CAPTURED_EVENT,
          "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
          "attempt to terminate a thread-local capture sequence from another thread"),
    ERROR(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph update was not performed"),
    ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static const struct error *find(CUresult code)
{
    for (size_t i = 0; i < SIM_COUNT(errors); i++)
        if (errors[i].code == code)
            return &errors[i];
    return NULL;
}

CUresult sim_cuGetErrorName(CUresult code, const char **out)
{
    const struct error *e = find(code);
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = e ? e->name : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorString(CUresult code, const char **out)
{
    const struct error *e = find(code);
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = e ? e->text : NULL;
    return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuProfilerStart(void)
{
    CUcontext c;
    return sim_need_context(&c);
}

CUresult sim_cuProfilerStop(void)
{
    CUcontext c;
    return sim_need_context(&c);
}

CUresult sim_cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *status)
{
    int found;
    if (!name || !out || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ||
        version > sim_settings.driver_version)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_entry_point(name, version, flags, sim_settings.driver_version, &found);
    if (status)
        *status = (CUdriverProcAddressQueryResult)found;
    return CUDA_SUCCESS;
}

/* The first form has no way to say why, so it fails. */
CUresult sim_cuGetProcAddress(const char *name, void **out, int version, cuuint64_t flags)
{
    CUresult r = sim_cuGetProcAddress_v2(name, out, version, flags, NULL);
    if (r == CUDA_SUCCESS && !*out)
        return CUDA_ERROR_NOT_FOUND;
    return r;
}
