/* SPDX-License-Identifier: MIT */
/* The driver's answers about a GPU, in nsys's columns and units; NULL where it gave none. */
#include "report/exports/export_sqlite.h"

static const struct {
    enum ct_trace_attribute attribute;
    const char *column;
    int64_t factor;
} columns[] = {
    {CT_TRACE_MULTIPROCESSOR_COUNT, "smCount", 1},
    {CT_TRACE_CLOCK_RATE, "clockRate", 1000},
    {CT_TRACE_COMPUTE_CAPABILITY_MAJOR, "computeMajor", 1},
    {CT_TRACE_COMPUTE_CAPABILITY_MINOR, "computeMinor", 1},
    {CT_TRACE_COMPUTE_CAPABILITY_MAJOR, "smMajor", 1},
    {CT_TRACE_COMPUTE_CAPABILITY_MINOR, "smMinor", 1},
    {CT_TRACE_L2_CACHE_SIZE, "l2CacheSize", 1},
    {CT_TRACE_TOTAL_CONSTANT_MEMORY, "constantMemory", 1},
    {CT_TRACE_ASYNC_ENGINE_COUNT, "asyncEngines", 1},
    {CT_TRACE_WARP_SIZE, "threadsPerWarp", 1},
    {CT_TRACE_MAX_THREADS_PER_BLOCK, "maxThreadsPerBlock", 1},
    {CT_TRACE_MAX_BLOCK_DIM_X, "maxBlockDimX", 1},
    {CT_TRACE_MAX_BLOCK_DIM_Y, "maxBlockDimY", 1},
    {CT_TRACE_MAX_BLOCK_DIM_Z, "maxBlockDimZ", 1},
    {CT_TRACE_MAX_GRID_DIM_X, "maxGridDimX", 1},
    {CT_TRACE_MAX_GRID_DIM_Y, "maxGridDimY", 1},
    {CT_TRACE_MAX_GRID_DIM_Z, "maxGridDimZ", 1},
    {CT_TRACE_MAX_REGISTERS_PER_BLOCK, "maxRegistersPerBlock", 1},
    {CT_TRACE_MAX_REGISTERS_PER_MULTIPROCESSOR, "maxRegistersPerSm", 1},
    {CT_TRACE_MAX_SHARED_MEMORY_PER_BLOCK, "maxShmemPerBlock", 1},
    {CT_TRACE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, "maxShmemPerBlockOptin", 1},
    {CT_TRACE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, "maxShmemPerSm", 1},
    {CT_TRACE_MAX_BLOCKS_PER_MULTIPROCESSOR, "maxBlocksPerSm", 1},
};

static void put(struct ct_sqlite *s, int64_t gpu, const char *column, int64_t value)
{
    struct ct_string sql = {0};
    ct_string_printf(&sql, "UPDATE TARGET_INFO_GPU SET %s = ? WHERE id = ?", column);
    ct_sqlite_put(s, sql.data, "ii", value, gpu);
    ct_string_free(&sql);
}

/* No GPU is the device in which the bus begins. */
static void put_bus(struct ct_sqlite *s, int64_t gpu, const struct ct_trace_device *d)
{
    uint32_t domain, bus, device;
    struct ct_string location = {0};
    if (!ct_trace_says(d, CT_TRACE_PCI_DOMAIN_ID, &domain) ||
        !ct_trace_says(d, CT_TRACE_PCI_BUS_ID, &bus) ||
        !ct_trace_says(d, CT_TRACE_PCI_DEVICE_ID, &device) || !(domain || bus || device))
        return;
    ct_string_printf(&location, "%04x:%02x:%02x.0", domain, bus, device);
    ct_sqlite_put(s, "UPDATE TARGET_INFO_GPU SET busLocation = ? WHERE id = ?", "si", location.data,
                  gpu);
    ct_string_free(&location);
}

void ct_sqlite_gpu(struct ct_sqlite *s, int64_t gpu, const struct ct_trace_device *d)
{
    uint32_t value, warp;
    for (size_t i = 0; i < ct_countof(columns); i++)
        if (ct_trace_says(d, columns[i].attribute, &value))
            put(s, gpu, columns[i].column, value * columns[i].factor);
    if (ct_trace_says(d, CT_TRACE_INTEGRATED, &value))
        put(s, gpu, "isDiscrete", !value);
    if (ct_trace_says(d, CT_TRACE_MAX_THREADS_PER_MULTIPROCESSOR, &value) &&
        ct_trace_says(d, CT_TRACE_WARP_SIZE, &warp) && warp)
        put(s, gpu, "maxWarpsPerSm", value / warp);
    if (d->memory_bytes)
        put(s, gpu, "totalMemory", (int64_t)d->memory_bytes);
    if (ct_trace_memory_rate(d))
        put(s, gpu, "memoryBandwidth", (int64_t)ct_trace_memory_rate(d));
    put_bus(s, gpu, d);
}
