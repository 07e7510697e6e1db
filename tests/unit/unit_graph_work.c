/* SPDX-License-Identifier: MIT */
/* Work of graph nodes and ways of copies, as the answers of the driver tell them. */
#include <string.h>

#include "base/config.h"
#include "case_main.h"
#include "fake_driver.h"
#include "state/recording.h"
#include "work/graph_memory.h"
#include "work/graph_work.h"
#include "work/way.h"

static const struct {
    CUdeviceptr p;
    unsigned type, managed;
    int device;
} memories[] = {
    {0x1000, CU_MEMORYTYPE_DEVICE, 0, 0},
    {0x2000, CU_MEMORYTYPE_DEVICE, 0, 1},
    {0x3000, CU_MEMORYTYPE_DEVICE, 1, 1},
    {0x4000, CU_MEMORYTYPE_HOST, 0, 1},
    {0x5000, 0, 0, 0}, /* the program's own */
};
#define DEVICE_0 0x1000
#define DEVICE_1 0x2000
#define MANAGED_1 0x3000
#define PINNED 0x4000
#define PAGEABLE 0x5000

static CUresult fake_attributes(unsigned n, CUpointer_attribute *what, void **answers,
                                CUdeviceptr p)
{
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(what[2], CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    for (unsigned i = 0; i < 5; i++)
        if (memories[i].p == p) {
            *(unsigned *)answers[0] = memories[i].type;
            *(unsigned *)answers[1] = memories[i].managed;
            *(int *)answers[2] = memories[i].device;
        }
    return CUDA_SUCCESS;
}

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)&memories;
    return CUDA_SUCCESS;
}

static CUresult fake_mode(CUstreamCaptureMode *mode)
{
    (void)mode;
    return CUDA_SUCCESS;
}

static CUDA_ARRAY3D_DESCRIPTOR array;

static CUresult fake_descriptor(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray a)
{
    (void)a;
    *d = array;
    return CUDA_SUCCESS;
}

static CUDA_MEM_ALLOC_NODE_PARAMS allocation;

static CUresult fake_allocation(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    (void)node;
    *p = allocation;
    return CUDA_SUCCESS;
}

static CUDA_KERNEL_NODE_PARAMS kernel;

static CUresult fake_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    (void)node;
    *p = kernel;
    return CUDA_SUCCESS;
}

static CUresult fake_name(const char **name, CUfunction f)
{
    *name = (const char *)f;
    return f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUDA_MEMCPY3D copy;

static CUresult fake_copy(CUgraphNode node, CUDA_MEMCPY3D *p)
{
    (void)node;
    *p = copy;
    return CUDA_SUCCESS;
}

static void set_up(void)
{
    fake_context(fake_current);
    FAKE(cuPointerGetAttributes, fake_attributes);
    FAKE(cuThreadExchangeStreamCaptureMode, fake_mode);
    FAKE(cuArray3DGetDescriptor_v2, fake_descriptor);
    FAKE(cuGraphMemAllocNodeGetParams, fake_allocation);
    FAKE(cuGraphKernelNodeGetParams_v2, fake_kernel);
    FAKE(cuGraphMemcpyNodeGetParams, fake_copy);
    FAKE(cuFuncGetName, fake_name);
    ck_assert(ct_graph_memories_init());
    ct_recording_set(true);
}

/* ---- ways ---- */

static const struct {
    CUdeviceptr from, to;
    enum ct_direction direction;
} ways[] = {
    {DEVICE_0, DEVICE_0, CT_DTOD},  {DEVICE_0, DEVICE_1, CT_PTOP}, {PINNED, DEVICE_0, CT_HTOD},
    {DEVICE_0, PAGEABLE, CT_DTOH},  {PAGEABLE, PINNED, CT_HTOH},   {DEVICE_0, MANAGED_1, CT_DTOD},
    {MANAGED_1, PAGEABLE, CT_DTOH}, {PINNED, PAGEABLE, CT_HTOH},
};

/* Only memory of two devices is of peers: of the host's, too, the driver names a device. */
START_TEST(a_copy_goes_from_one_memory_to_another)
{
    struct ct_way way = ct_way_between(ways[_i].from, ways[_i].to);
    ck_assert_int_eq(ct_direction_of(way), ways[_i].direction);
}
END_TEST

START_TEST(what_a_call_takes_for_the_hosts)
{
    ck_assert_int_eq(ct_memory_of_host((void *)PINNED), CT_MEMORY_PINNED);
    ck_assert_int_eq(ct_memory_of_host((void *)PAGEABLE), CT_MEMORY_PAGEABLE);
    ck_assert_int_eq(ct_memory_of_host((void *)DEVICE_0), CT_MEMORY_UNKNOWN);
    ck_assert_int_eq(ct_memory_of_host((void *)MANAGED_1), CT_MEMORY_UNKNOWN);
}
END_TEST

static const struct {
    CUarray_format format;
    unsigned channels;
    size_t bytes;
} formats[] = {
    {CU_AD_FORMAT_HALF, 4, 8},           {CU_AD_FORMAT_FLOAT, 2, 8},
    {CU_AD_FORMAT_UNSIGNED_INT8, 4, 4},  {CU_AD_FORMAT_SIGNED_INT16, 1, 2},
    {CU_AD_FORMAT_UNSIGNED_INT32, 1, 4}, {CU_AD_FORMAT_NV12, 3, 1},
};

START_TEST(elements_of_arrays)
{
    array.Format = formats[_i].format;
    array.NumChannels = formats[_i].channels;
    ck_assert_uint_eq(ct_array_element_bytes(NULL), formats[_i].bytes);
}
END_TEST

/* ---- memory of graphs ---- */

static void allocate(CUdeviceptr p, size_t bytes, int device)
{
    allocation.dptr = p;
    allocation.bytesize = bytes;
    allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    allocation.poolProps.location.id = device;
    ct_graph_memory_add(NULL);
}

static int device_of(CUdeviceptr p)
{
    int device = -1;
    ck_assert_int_eq(ct_graph_memory_find(p, &device), device >= 0);
    return device;
}

START_TEST(it_is_as_long_as_it_is)
{
    allocate(0x10000, 0x100, 1);
    allocate(0x10100, 0x100, 2);
    ck_assert_int_eq(device_of(0xffff), -1);
    ck_assert_int_eq(device_of(0x10000), 1);
    ck_assert_int_eq(device_of(0x100ff), 1);
    ck_assert_int_eq(device_of(0x10100), 2);
    ck_assert_int_eq(device_of(0x101ff), 2);
    ck_assert_int_eq(device_of(0x10200), -1);
}
END_TEST

START_TEST(addresses_come_again)
{
    for (int round = 0; round < 3; round++)
        for (CUdeviceptr i = 0; i < CT_GRAPH_MEMORIES / 2; i++) {
            allocate(0x10000 + i * 0x100, 0x100, round);
            ck_assert_int_eq(device_of(0x10080 + i * 0x100), round);
        }
    ck_assert_int_eq(device_of(0x10000), 2);
}
END_TEST

/* ---- nodes ---- */

START_TEST(a_kernel_has_a_function_or_is_one)
{
    kernel.func = (CUfunction) "function";
    ck_assert_str_eq(ct_graph_work_of(NULL, CU_GRAPH_NODE_TYPE_KERNEL).name, "function");
    kernel.func = NULL;
    kernel.kern = (CUkernel) "kernel";
    struct ct_graph_work w = ct_graph_work_of(NULL, CU_GRAPH_NODE_TYPE_KERNEL);
    ck_assert_uint_eq(w.kind, CT_ROW_KERNEL);
    ck_assert_str_eq(w.name, "kernel");
}
END_TEST

/* A graph's own memory counts as well, which the driver does not know yet. */
START_TEST(a_copy_has_bytes_and_a_way)
{
    allocate(0x9000, 0x1000, 0);
    memset(&copy, 0, sizeof(copy));
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = PINNED;
    copy.dstDevice = 0x9080;
    copy.WidthInBytes = 10;
    struct ct_graph_work w = ct_graph_work_of(NULL, CU_GRAPH_NODE_TYPE_MEMCPY);
    ck_assert_uint_eq(w.kind, CT_ROW_COPY);
    ck_assert_uint_eq(w.detail, CT_HTOD);
    ck_assert_uint_eq(w.bytes, 10);
    copy.Height = 3;
    copy.Depth = 7;
    ck_assert_uint_eq(ct_graph_work_of(NULL, CU_GRAPH_NODE_TYPE_MEMCPY).bytes, 210);
    copy.dstDevice = 0x9080 + 0x1000;
    ck_assert_uint_eq(ct_graph_work_of(NULL, CU_GRAPH_NODE_TYPE_MEMCPY).detail, CT_HTOH);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("graph work");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_loop_test(t, a_copy_goes_from_one_memory_to_another, 0,
                        sizeof(ways) / sizeof(ways[0]));
    tcase_add_test(t, what_a_call_takes_for_the_hosts);
    tcase_add_loop_test(t, elements_of_arrays, 0, sizeof(formats) / sizeof(formats[0]));
    tcase_add_test(t, it_is_as_long_as_it_is);
    tcase_add_test(t, addresses_come_again);
    tcase_add_test(t, a_kernel_has_a_function_or_is_one);
    tcase_add_test(t, a_copy_has_bytes_and_a_way);
    return ct_case_main("graph work", t);
}
