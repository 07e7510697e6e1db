/* SPDX-License-Identifier: MIT */
/* driver_copy PTX linear|plane|array|batch|set|odd: the driver API's copies and sets, by group. */
#include "driver.h"

#define PITCH 1024u
#define WIDTH 512u
#define HEIGHT 64u
#define DEPTH 4u

static void linear(struct driver *d, CUstream stream)
{
    int *pageable = malloc(BYTES);
    CUdeviceptr host = (CUdeviceptr)(uintptr_t)d->host;

    CHECK(cuMemcpyHtoD(d->data, d->host, BYTES));
    CHECK(cuMemcpyDtoH(pageable, d->data, BYTES));
    CHECK(cuMemcpyHtoD(d->data, pageable, 64));
    CHECK(cuMemcpyHtoD(d->data, pageable, BYTES));
    CHECK(cuMemcpyDtoD(d->other, d->data, BYTES / 2));
    CHECK(cuMemcpy(d->other, d->data, BYTES));
    CHECK(cuMemcpy(d->data, host, BYTES));
    CHECK(cuMemcpy(host, d->data, 4096));
    for (int i = 0; i < 10; i++) {
        CHECK(cuMemcpyHtoDAsync(d->data, d->host, BYTES, stream));
        CHECK(cuMemcpyDtoDAsync(d->other, d->data, BYTES / 4, stream));
        CHECK(cuMemcpyDtoHAsync(d->host, d->other, BYTES / 4, stream));
        CHECK(cuMemcpyAsync(d->data, host, 1000, stream));
        CHECK(cuMemcpyAsync(host, d->data, 2000, stream));
        CHECK(cuMemcpyAsync(d->other, d->data, 3000, stream));
    }
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyHtoDAsync(d->data, pageable, BYTES, NULL));
    CHECK(cuMemcpyDtoHAsync(pageable, d->data, BYTES, CU_STREAM_PER_THREAD));
    CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    CHECK(cuMemcpyPeer(d->other, d->context, d->data, d->context, BYTES));
    CHECK(cuMemcpyPeerAsync(d->other, d->context, d->data, d->context, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    free(pageable);
}

static CUDA_MEMCPY2D rectangle(struct driver *d, int to_device, int from_device)
{
    CUDA_MEMCPY2D copy;

    memset(&copy, 0, sizeof(copy));
    copy.srcMemoryType = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcDevice = d->data;
    copy.srcHost = d->host;
    copy.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstDevice = d->other;
    copy.dstHost = d->host;
    copy.srcPitch = copy.dstPitch = PITCH;
    copy.WidthInBytes = WIDTH;
    copy.Height = HEIGHT;
    return copy;
}

static CUDA_MEMCPY3D box(struct driver *d, int to_device, int from_device)
{
    CUDA_MEMCPY3D copy;

    memset(&copy, 0, sizeof(copy));
    copy.srcMemoryType = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.srcDevice = d->data;
    copy.srcHost = d->host;
    copy.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstDevice = d->other;
    copy.dstHost = d->host;
    copy.srcPitch = copy.dstPitch = PITCH;
    copy.srcHeight = copy.dstHeight = HEIGHT;
    copy.WidthInBytes = WIDTH;
    copy.Height = HEIGHT / 2;
    copy.Depth = DEPTH / 2;
    return copy;
}

static void plane(struct driver *d, CUstream stream)
{
    for (int way = 1; way < 4; way++) { /* all but host to host */
        CUDA_MEMCPY2D flat = rectangle(d, way & 1, way >> 1);
        CUDA_MEMCPY3D solid = box(d, way & 1, way >> 1);

        CHECK(cuMemcpy2D(&flat));
        CHECK(cuMemcpy2DUnaligned(&flat));
        CHECK(cuMemcpy2DAsync(&flat, stream));
        CHECK(cuMemcpy3D(&solid));
        CHECK(cuMemcpy3DAsync(&solid, stream));
        CHECK(cuStreamSynchronize(stream));
        flat.WidthInBytes = PITCH; /* rows touch: one piece of memory */
        CHECK(cuMemcpy2D(&flat));
    }
}

static CUarray new_array(void)
{
    CUDA_ARRAY_DESCRIPTOR shape;
    CUarray array;

    memset(&shape, 0, sizeof(shape));
    shape.Width = WIDTH / 4;
    shape.Height = HEIGHT;
    shape.Format = CU_AD_FORMAT_SIGNED_INT32;
    shape.NumChannels = 1;
    CHECK(cuArrayCreate(&array, &shape));
    return array;
}

static void arrays(struct driver *d, CUstream stream)
{
    CUarray a = new_array(), b = new_array();
    CUDA_MEMCPY2D copy = rectangle(d, 1, 0);

    CHECK(cuMemcpyHtoA(a, 0, d->host, WIDTH));
    CHECK(cuMemcpyAtoH(d->host, a, 0, WIDTH));
    CHECK(cuMemcpyAtoD(d->data, a, 0, WIDTH));
    CHECK(cuMemcpyDtoA(b, 0, d->data, WIDTH));
    CHECK(cuMemcpyAtoA(a, 0, b, 0, WIDTH));
    CHECK(cuMemcpyHtoAAsync(a, 0, d->host, WIDTH, stream));
    CHECK(cuMemcpyAtoHAsync(d->host, a, 0, WIDTH, stream));
    CHECK(cuStreamSynchronize(stream));
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = a;
    CHECK(cuMemcpy2D(&copy));
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    CHECK(cuMemcpy2DAsync(&copy, stream));
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = a;
    copy.dstArray = b;
    CHECK(cuMemcpy2DAsync(&copy, stream));
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    CHECK(cuMemcpy2DAsync(&copy, stream));
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    CHECK(cuMemcpy2DAsync(&copy, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuArrayDestroy(a));
    CHECK(cuArrayDestroy(b));
}

static void batch(struct driver *d, CUstream stream)
{
    CUdeviceptr to[3] = {d->other, d->other + 8192, d->other + 65536};
    CUdeviceptr from[3] = {d->data, (CUdeviceptr)(uintptr_t)d->host, d->data + 4096};
    size_t bytes[3] = {4096, 8192, 12288}, first[1] = {0};
    CUmemcpyAttributes attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    for (int i = 0; i < 4; i++)
        CHECK(cuMemcpyBatchAsync(to, from, bytes, 3, &attributes, first, 1, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("on the default stream: error %d\n",
           (int)cuMemcpyBatchAsync(to, from, bytes, 3, &attributes, first, 1, NULL));
}

static void sets(struct driver *d, CUstream stream)
{
    CHECK(cuMemsetD8(d->data, 1, BYTES));
    CHECK(cuMemsetD16(d->data, 2, 1000));
    CHECK(cuMemsetD32(d->data, 3, 1000));
    CHECK(cuMemsetD2D8(d->data, PITCH, 4, WIDTH, HEIGHT));
    CHECK(cuMemsetD2D16(d->data, PITCH, 5, WIDTH / 2, HEIGHT));
    CHECK(cuMemsetD2D32(d->data, PITCH, 6, WIDTH / 4, HEIGHT));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemsetD8Async(d->data, 7, 77, stream));
    CHECK(cuMemsetD16Async(d->data, 8, 77, stream));
    CHECK(cuMemsetD32Async(d->data, 9, ELEMENTS / 2, stream));
    CHECK(cuMemsetD2D8Async(d->data, PITCH, 10, 3, 5, stream));
    CHECK(cuMemsetD2D16Async(d->data, PITCH, 11, PITCH / 2, 5, stream));
    CHECK(cuMemsetD2D32Async(d->data, PITCH, 12, 1, HEIGHT, stream));
    CHECK(cuStreamSynchronize(stream));
}

/* Legal calls at the edge: nothing to do, host memory on both sides, and a failing one. */
static void odd(struct driver *d, CUstream stream)
{
    CUdeviceptr host = (CUdeviceptr)(uintptr_t)d->host, pinned;
    CUDA_MEMCPY2D empty = rectangle(d, 1, 1);
    void *memory;

    CHECK(cuMemHostAlloc(&memory, BYTES, 0));
    pinned = (CUdeviceptr)(uintptr_t)memory;
    empty.Height = 0;
    printf("no bytes: %d %d %d %d %d\n", (int)cuMemcpyHtoD(d->data, d->host, 0),
           (int)cuMemcpyDtoHAsync(d->host, d->data, 0, stream), (int)cuMemcpy(d->data, d->other, 0),
           (int)cuMemcpy2DAsync(&empty, stream), (int)cuMemsetD8Async(d->data, 1, 0, stream));
    CHECK(cuMemcpy(pinned, host, BYTES));
    CHECK(cuMemcpyAsync(pinned, host, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("bad: %d %d\n", (int)cuMemcpyHtoD(0, d->host, 16),
           (int)cuMemcpyDtoHAsync(d->host, 0, 16, stream));
    CHECK(cuMemFreeHost(memory));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct driver *d, CUstream stream);
    } groups[] = {{"linear", linear}, {"plane", plane}, {"array", arrays},
                  {"batch", batch},   {"set", sets},    {"odd", odd}};
    struct driver d;
    CUstream stream;

    if (argc != 3)
        return 2;
    driver_open(&d, argv[1]);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
        if (!strcmp(groups[i].name, argv[2]))
            groups[i].run(&d, stream);
    driver_print(&d, argv[2]);
    CHECK(cuStreamDestroy(stream));
    driver_close(&d);
    return 0;
}
