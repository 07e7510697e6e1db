/* SPDX-License-Identifier: MIT */
#include "work/kernel.h"

#include <stdatomic.h>

#include "base/text.h"
#include "containers/intern.h"
#include "containers/table.h"
#include "counts/row.h"
#include "state/context.h"
#include "state/renewal.h"

#define UNKNOWN_NAME "(unnamed kernel)"
#define PARAMETER_BYTES 32764 /* the most that a kernel can have */

static CT_PROCESS_READ struct ct_table row_of_handle; /* handle and device -> row */
static CT_PROCESS struct ct_table name_of_handle;     /* handle -> interned name */

bool ct_kernels_init(void)
{
    return ct_table_init(&row_of_handle, 16) && ct_table_init(&name_of_handle, 16);
}

/* User-space addresses leave the upper 16 bits free. */
static uint64_t key_of(CUfunction handle, uint32_t device)
{
    return (uint64_t)(uintptr_t)handle ^ (uint64_t)device << 48;
}

uint32_t ct_kernel_find(CUfunction handle, uint32_t device)
{
    uint64_t row;
    uint64_t key = key_of(handle, device);
    return key && ct_table_find(&row_of_handle, key, &row) ? (uint32_t)row : CT_ROW_NONE;
}

void ct_kernels_unloaded(void)
{
    if (row_of_handle.slots)
        ct_table_clear(&row_of_handle);
    ct_pass_renew();
}

/* A handle whose new name cannot be kept is not to have the old one. */
void ct_kernel_named(const void *handle, const char *name)
{
    if (!handle || !name || !name_of_handle.slots ||
        (CT_HAS(cuFuncGetName) && CT_HAS(cuKernelGetName)))
        return;
    const char *copy = ct_intern(name, ct_strnlen(name, CT_NAME_BYTES));
    ct_table_put(&name_of_handle, (uintptr_t)handle, (uintptr_t)(copy ? copy : UNKNOWN_NAME));
}

const char *ct_kernel_name(CUfunction handle)
{
    const char *name = NULL;
    if (CT_HAS(cuFuncGetName) && CT_ASK(cuFuncGetName, &name, handle) == CUDA_SUCCESS && name)
        return name;
    if (CT_HAS(cuKernelGetName) &&
        CT_ASK(cuKernelGetName, &name, (CUkernel)handle) == CUDA_SUCCESS && name)
        return name;
    uint64_t known;
    if (ct_table_find(&name_of_handle, (uintptr_t)handle, &known))
        return (const char *)(uintptr_t)known;
    return NULL;
}

static uint32_t attribute(CUfunction handle, CUdevice device, CUfunction_attribute which)
{
    int value;
    if (CT_HAS(cuFuncGetAttribute) &&
        CT_REAL(cuFuncGetAttribute)(&value, which, handle) == CUDA_SUCCESS)
        return (uint32_t)value;
    if (CT_HAS(cuKernelGetAttribute) &&
        CT_REAL(cuKernelGetAttribute)(&value, which, (CUkernel)handle, device) == CUDA_SUCCESS)
        return (uint32_t)value;
    return UINT32_MAX;
}

/* Byte where a parameter ends; 0: there are fewer, or the driver does not tell. */
static size_t parameter_end(CUfunction handle, size_t index)
{
    size_t offset = 0, size = 0;
    bool is_told =
        (CT_HAS(cuFuncGetParamInfo) &&
         CT_REAL(cuFuncGetParamInfo)(handle, index, &offset, &size) == CUDA_SUCCESS) ||
        (CT_HAS(cuKernelGetParamInfo) &&
         CT_REAL(cuKernelGetParamInfo)((CUkernel)handle, index, &offset, &size) == CUDA_SUCCESS);
    return is_told && size ? offset + size : 0;
}

/* Bytes of all parameters, which are in the order of their places. */
static uint32_t parameter_bytes(CUfunction handle)
{
    size_t end, bytes = 0;
    for (size_t i = 0; i < PARAMETER_BYTES && (end = parameter_end(handle, i)); i++)
        bytes = end;
    return (uint32_t)ct_min(bytes, PARAMETER_BYTES);
}

/* Registers last: a thread that finds them launches, and the trace has the others by then. */
static void describe(struct ct_row *r, CUfunction handle, uint32_t device)
{
    CUdevice d = ct_device(device)->handle;
    atomic_store_explicit(&r->static_shared_bytes,
                          attribute(handle, d, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                          memory_order_relaxed);
    atomic_store_explicit(&r->parameter_bytes, parameter_bytes(handle), memory_order_relaxed);
    atomic_store_explicit(&r->registers, attribute(handle, d, CU_FUNC_ATTRIBUTE_NUM_REGS),
                          memory_order_release);
}

/* A row first met in a capture is described, and its handle remembered, at a later launch. */
uint32_t ct_kernel_resolve(CUfunction handle, uint32_t device, bool captured)
{
    CUstreamCaptureMode mode;
    if (!ct_relaxed_enter(&mode))
        return ct_row_get(CT_ROW_KERNEL, 0, device, UNKNOWN_NAME);
    const char *name = ct_kernel_name(handle);
    uint32_t row = ct_row_get(CT_ROW_KERNEL, 0, device, name ? name : UNKNOWN_NAME);
    if (!captured) {
        if (atomic_load_explicit(&ct_row(row)->registers, memory_order_acquire) == UINT32_MAX)
            describe(ct_row(row), handle, device);
        ct_table_put(&row_of_handle, key_of(handle, device), row);
    }
    ct_relaxed_leave(mode);
    return row;
}
