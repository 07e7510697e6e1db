/* SPDX-License-Identifier: MIT */
/* Memory, copies and sets: that they arrive, and as what they count. */
#include "selftest.h"

#include <string.h>

static char from[256], to[256];

static void fill(void)
{
    for (unsigned i = 0; i < sizeof(from); i++)
        from[i] = (char)(i * 7 + 1);
    memset(to, 0, sizeof(to));
}

static CUdeviceptr device(void)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, sizeof(from)));
    return p;
}

static void ck_counts(const char *kind, const char *name, uint64_t count, uint64_t bytes)
{
    struct cudasim_truth t;
    cudasim_truth(kind, name, &t);
    ck_assert_uint_eq(t.count, count);
    ck_assert_uint_eq(t.bytes, bytes);
}

START_TEST(there_and_back)
{
    self_begin();
    fill();
    CUdeviceptr p = device(), q = device();
    CUstream s = self_stream(0);
    OK(cuMemcpyHtoD(p, from, sizeof(from)));
    OK(cuMemcpyDtoDAsync(q, p, sizeof(from), s));
    OK(cuMemcpyDtoHAsync(to, q, sizeof(to), s));
    OK(cuStreamSynchronize(s));
    ck_assert_mem_eq(from, to, sizeof(to));
    OK(cuMemcpy(p, (CUdeviceptr)(uintptr_t)to, 16));
    ck_counts("copy", "HtoD", 2, sizeof(from) + 16);
    ck_counts("copy", "DtoD", 1, sizeof(from));
    ck_counts("copy", "DtoH", 1, sizeof(from));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, from, 1 << 20));
}
END_TEST

START_TEST(planes_and_boxes)
{
    self_begin();
    fill();
    CUdeviceptr p = device();
    CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = from,
                           .srcPitch = 16,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = p,
                           .dstPitch = 32,
                           .WidthInBytes = 8,
                           .Height = 4};
    OK(cuMemcpy2D(&plane));
    ck_assert_mem_eq((char *)(uintptr_t)p + 32, from + 16, 8);
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = p,
                         .srcPitch = 32,
                         .srcHeight = 4,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = to,
                         .dstPitch = 8,
                         .dstHeight = 2,
                         .WidthInBytes = 8,
                         .Height = 2,
                         .Depth = 2};
    OK(cuMemcpy3D(&box));
    ck_assert_mem_eq(to, from, 8);
    ck_assert_mem_eq(to + 8, from + 16, 8);
    ck_counts("copy", "HtoD", 1, 32);
    ck_counts("copy", "DtoH", 1, 32);
}
END_TEST

START_TEST(arrays)
{
    CUarray a;
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    self_begin();
    fill();
    OK(cuArrayCreate(&a, &shape));
    OK(cuMemcpyHtoA(a, 0, from, 64));
    OK(cuMemcpyAtoH(to, a, 8, 56));
    ck_assert_mem_eq(to, from + 8, 56);
    ck_counts("copy", "HtoA", 1, 64);
    ck_counts("copy", "AtoH", 1, 56);
    OK(cuArrayDestroy(a));
}
END_TEST

START_TEST(between_devices)
{
    CUcontext c[2];
    CUdeviceptr p[2];
    cudasim_set("CUDASIM_DEVICES", "2");
    fill();
    OK(cuInit(0));
    for (int d = 1; d >= 0; d--) {
        OK(cuDevicePrimaryCtxRetain(&c[d], d));
        OK(cuCtxSetCurrent(c[d]));
        p[d] = device();
    }
    OK(cuMemcpyHtoD(p[0], from, sizeof(from)));
    OK(cuMemcpyPeer(p[1], c[1], p[0], c[0], sizeof(from)));
    ck_assert_mem_eq((char *)(uintptr_t)p[1], from, sizeof(from));
    ck_counts("copy", "PtoP", 1, sizeof(from));
}
END_TEST

START_TEST(batches)
{
    self_begin();
    fill();
    CUstream s = self_stream(0);
    CUdeviceptr p = device();
    CUdeviceptr source[] = {(CUdeviceptr)(uintptr_t)from, (CUdeviceptr)(uintptr_t)from + 64};
    CUdeviceptr target[] = {p, p + 64};
    size_t bytes[] = {64, 32}, first = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUevent a = self_event(0), b = self_event(0);
    OK(cuEventRecord(a, s));
    OK(cuMemcpyBatchAsync(target, source, bytes, 2, &attributes, &first, 1, s));
    OK(cuEventRecord(b, s));
    CUDA_MEMCPY3D_BATCH_OP box = {.extent = {8, 2, 2}};
    box.src.type = box.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    box.src.op.ptr.ptr = p;
    box.src.op.ptr.rowLength = 16;
    box.src.op.ptr.layerHeight = 2;
    box.dst.op.ptr.ptr = (CUdeviceptr)(uintptr_t)to;
    OK(cuMemcpy3DBatchAsync(1, &box, 0, s));
    OK(cuStreamSynchronize(s));
    ck_assert_mem_eq(to + 8, from + 16, 8);
    ck_assert_mem_eq(to + 16, from + 32, 8);
    ck_counts("copy", "HtoD", 2, 96);
    ck_counts("copy", "DtoH", 1, 32);
    ck_assert_int_eq(self_ns(a, b), 2910 + 1202 + 1201); /* one operation */
}
END_TEST

START_TEST(sets)
{
    self_begin();
    CUdeviceptr p = device();
    const char *at = (const char *)(uintptr_t)p;
    OK(cuMemsetD8(p, 1, 256));
    OK(cuMemsetD16(p + 16, 0x0203, 4));
    OK(cuMemsetD32Async(p + 32, 0x04050607, 2, NULL));
    OK(cuMemsetD2D8(p + 64, 16, 9, 4, 2));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(at[15], 1);
    ck_assert_int_eq(at[16], 3);
    ck_assert_int_eq(at[39], 4);
    ck_assert_int_eq(at[80 + 3], 9);
    ck_assert_int_eq(at[80 + 4], 1);
    ck_counts("set", "memset", 4, 256 + 8 + 8 + 8);
}
END_TEST

START_TEST(managed_memory_is_prefetched)
{
    CUdeviceptr p[2];
    size_t bytes[] = {4096, 8192}, first = 0;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    self_begin();
    CUstream s = self_stream(0);
    for (int i = 0; i < 2; i++)
        OK(cuMemAllocManaged(&p[i], bytes[i], CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAdvise(p[0], 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    OK(cuMemPrefetchAsync(p[0], 4096, here, 0, s));
    OK(cuMemPrefetchBatchAsync(p, bytes, 2, &here, &first, 1, 0, s));
    OK(cuStreamSynchronize(s));
    ck_counts("prefetch", "HtoD", 3, 4096 + 4096 + 8192);
}
END_TEST

START_TEST(pointers_tell_of_themselves)
{
    void *host;
    CUcontext c = self_begin(), asked;
    CUdeviceptr p = device();
    unsigned type;
    OK(cuMemHostAlloc(&host, 100, 0));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 10));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&asked, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    ck_assert_ptr_eq(asked, c);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)host));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_HOST);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                          (CUdeviceptr)(uintptr_t)from));
    OK(cuMemFreeHost(host));
    OK(cuMemFree(p));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}
END_TEST

START_TEST(memory_in_streams)
{
    int gate = 0;
    CUdeviceptr p;
    self_begin();
    CUstream s = self_stream(0);
    OK(cuMemAllocAsync(&p, 4096, s));
    self_gate(s, &gate);
    OK(cuMemsetD8Async(p, 1, 4096, s));
    OK(cuMemFreeAsync(p, s));
    self_open(&gate);
    OK(cuStreamSynchronize(s));
    ck_counts("set", "memset", 1, 4096);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}
END_TEST

TCase *self_copies(void)
{
    TCase *t = tcase_create("memory");
    tcase_add_test(t, there_and_back);
    tcase_add_test(t, planes_and_boxes);
    tcase_add_test(t, arrays);
    tcase_add_test(t, between_devices);
    tcase_add_test(t, batches);
    tcase_add_test(t, sets);
    tcase_add_test(t, managed_memory_is_prefetched);
    tcase_add_test(t, pointers_tell_of_themselves);
    tcase_add_test(t, memory_in_streams);
    return t;
}
