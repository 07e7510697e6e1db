/* SPDX-License-Identifier: MIT */
/* Copies between memory of each kind; physical memory in each place. */
#include "actor.h"

#include <stdlib.h>

#define BYTES 4096

static CUdeviceptr address(void *p)
{
    return (CUdeviceptr)(uintptr_t)p;
}

static CUarray array_of(CUarray_format format, unsigned channels)
{
    CUarray a;
    CUDA_ARRAY_DESCRIPTOR d = {.Width = BYTES, .Format = format, .NumChannels = channels};
    MUST(cuArrayCreate(&a, &d));
    return a;
}

static void copy_plane(const void *from, CUdeviceptr to)
{
    CUDA_MEMCPY2D p = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = from,
                       .srcPitch = BYTES,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstDevice = to,
                       .dstPitch = BYTES,
                       .WidthInBytes = BYTES,
                       .Height = 1};
    MUST(cuMemcpy2D(&p));
}

/* Of one row, whose length is in elements of the array. */
static void copy_box(const void *from, CUarray to, size_t elements)
{
    CUstream s = actor_stream();
    CUDA_MEMCPY3D_BATCH_OP o = {.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER,
                                .dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY,
                                .extent = {elements, 1, 1},
                                .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    o.src.op.ptr.ptr = (CUdeviceptr)(uintptr_t)from;
    o.dst.op.array.array = to;
    MUST(cuMemcpy3DBatchAsync(1, &o, 0, s));
    MUST(cuStreamSynchronize(s));
}

/* Each copy is of another length, by which it is known again. */
int actor_memories(int argc, char **argv)
{
    (void)argc, (void)argv;
    CUdeviceptr device, managed;
    void *pinned, *registered = aligned_alloc(BYTES, BYTES), *plain = calloc(1, BYTES);
    actor_begin();
    CUarray array = array_of(CU_AD_FORMAT_UNSIGNED_INT8, 1);
    MUST(cuMemAlloc(&device, BYTES));
    MUST(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemHostAlloc(&pinned, BYTES, 0));
    MUST(cuMemHostRegister(registered, BYTES, 0));
    MUST(cuMemcpyHtoD(device, plain, 1));
    MUST(cuMemcpyDtoH(plain, device, 2));
    MUST(cuMemcpyHtoD(device, pinned, 4));
    MUST(cuMemcpyDtoH(registered, device, 8));
    MUST(cuMemcpy(managed, device, 16));
    MUST(cuMemcpy(address(plain), managed, 32));
    MUST(cuMemcpyHtoA(array, 0, plain, 64));
    MUST(cuMemcpyAtoH(pinned, array, 0, 128));
    MUST(cuMemcpyDtoA(array, 0, device, 256));
    MUST(cuMemcpyDtoD(device, device + BYTES / 2, 512));
    MUST(cuMemcpy(address(plain), address(pinned), 1024));
    copy_box(pinned, array_of(CU_AD_FORMAT_HALF, 4), 2048 / 8);
    copy_plane(registered, device);
    MUST(cuMemHostUnregister(registered));
    free(registered);
    free(plain);
    return 0;
}

static CUmemGenericAllocationHandle create(CUmemLocationType type, int id, size_t bytes)
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {type, id}};
    MUST(cuMemCreate(&h, bytes, &p, 0));
    return h;
}

/* All while the first device's context is current. */
int actor_physical(int argc, char **argv)
{
    (void)argc, (void)argv;
    actor_begin();
    create(CU_MEM_LOCATION_TYPE_DEVICE, 0, 1 << 21);
    create(CU_MEM_LOCATION_TYPE_DEVICE, 1, 2 << 21);
    create(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 3 << 21);
    MUST(cuMemRelease(create(CU_MEM_LOCATION_TYPE_HOST, 0, 4 << 21)));
    return 0;
}
