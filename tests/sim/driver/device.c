/* SPDX-License-Identifier: MIT */
/* What the devices say about themselves: an H200, as far as programs ask. */
#include "driver/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const size_t sim_device_bytes = 150121545728;

struct attribute {
    CUdevice_attribute id;
    int value;
};

static const struct attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0x19},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
};

bool sim_valid_device(CUdevice device)
{
    return device >= 0 && device < sim_settings.devices;
}

CUresult sim_cuDriverGetVersion(int *out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_settings.driver_version;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice *out, int ordinal)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_valid_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetCount(int *out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_settings.devices;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetName(char *name, int size, CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!name || size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)size, "%s", sim_settings.name);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid(CUuuid *out, CUdevice device)
{
    static const char text[16] = "cutrace-sim-H200";
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(out->bytes, text, sizeof(text));
    out->bytes[15] = (char)device;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *out, CUdevice device)
{
    return sim_cuDeviceGetUuid(out, device);
}

CUresult sim_cuDeviceGetLuid(char *luid, unsigned int *mask, CUdevice device)
{
    (void)luid;
    (void)mask;
    return sim_valid_device(device) ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetAttribute(int *out, CUdevice_attribute id, CUdevice device)
{
    if (!out || id <= 0 || id >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = 0;
    for (size_t i = 0; i < SIM_COUNT(attributes); i++)
        if (attributes[i].id == id)
            *out = attributes[i].value;
    if (id == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *out += device;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *major = 9;
    *minor = 0;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceTotalMem_v2(size_t *out, CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = sim_device_bytes;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetPCIBusId(char *out, int size, CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!out || size < 13)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(out, (size_t)size, "0000:%02X:00.0", 0x19 + device);
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *out, const char *id)
{
    unsigned domain, bus;
    if (!out || !id || sscanf(id, "%x:%x:", &domain, &bus) != 2)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (CUdevice)bus - 0x19;
    return sim_valid_device(*out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceCanAccessPeer(int *out, CUdevice a, CUdevice b)
{
    if (!sim_valid_device(a) || !sim_valid_device(b))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = a != b;
    return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetProperties(CUdevprop *out, CUdevice device)
{
    if (!sim_valid_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *out = (CUdevprop){.maxThreadsPerBlock = 1024,
                       .maxThreadsDim = {1024, 1024, 64},
                       .maxGridSize = {2147483647, 65535, 65535},
                       .sharedMemPerBlock = 49152,
                       .totalConstantMemory = 65536,
                       .SIMDWidth = 32,
                       .memPitch = 2147483647,
                       .regsPerBlock = 65536,
                       .clockRate = 1980000,
                       .textureAlign = 512};
    return CUDA_SUCCESS;
}
