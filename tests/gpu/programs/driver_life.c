/* SPDX-License-Identifier: MIT */
/* driver_life PTX contexts|green|managed|errors|sticky: contexts that come and go, and errors. */
#include "driver.h"

static void use(struct driver *d, const char *image)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;

    CHECK(cuModuleLoad(&module, image));
    CHECK(cuModuleGetFunction(&function, module, "add_one"));
    CHECK(cuMemAlloc(&memory, BYTES));
    CHECK(cuMemsetD32(memory, 1, ELEMENTS));
    for (int i = 0; i < 5; i++)
        driver_launch(function, memory, NULL);
    CHECK(cuMemcpyDtoH(d->host, memory, BYTES));
    printf("context: %08x\n", driver_sum(d->host, BYTES));
}

/* Contexts are destroyed, and the primary one reset, with memory and module still in them. */
static void contexts(struct driver *d, const char *image)
{
    for (int i = 0; i < 3; i++) {
        CUcontext context;

        CHECK(cuCtxCreate(&context, NULL, 0, d->device));
        use(d, image);
        CHECK(cuCtxDestroy(context));
    }
    CHECK(cuCtxSetCurrent(d->context));
    CHECK(cuMemFreeHost(d->host));
    d->host = malloc(BYTES);
    CHECK(cuDevicePrimaryCtxReset(d->device));
    CHECK(cuDevicePrimaryCtxRetain(&d->context, d->device));
    CHECK(cuCtxSetCurrent(d->context));
    use(d, image);
    exit(0); /* what the context holds is left to the driver */
}

static void green(struct driver *d, const char *image)
{
    CUdevResource all, part, rest;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUcontext context;
    CUstream stream;
    CUmodule module;
    CUfunction function;
    unsigned int groups = 1;

    CHECK(cuDeviceGetDevResource(d->device, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 16));
    CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
    CHECK(cuGreenCtxCreate(&green, description, d->device, CU_GREEN_CTX_DEFAULT_STREAM));
    CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoad(&module, image));
    CHECK(cuModuleGetFunction(&function, module, "scale"));
    for (int i = 0; i < 8; i++)
        driver_launch(function, d->data, stream);
    CHECK(cuMemsetD8Async(d->other, 3, 1024, stream));
    CHECK(cuMemcpyDtoDAsync(d->other, d->data, 2048, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuModuleUnload(module));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuCtxSetCurrent(d->context));
    CHECK(cuGreenCtxDestroy(green));
    driver_print(d, "green context");
}

static void managed(struct driver *d, const char *image)
{
    CUmemLocation to_device, to_host;
    CUdeviceptr memory;
    CUstream stream;

    (void)image;
    memset(&to_device, 0, sizeof(to_device));
    memset(&to_host, 0, sizeof(to_host));
    to_device.type = CU_MEM_LOCATION_TYPE_DEVICE;
    to_device.id = d->device;
    to_host.type = CU_MEM_LOCATION_TYPE_HOST;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAllocManaged(&memory, BYTES, CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)memory, 1, BYTES);
    CHECK(cuMemPrefetchAsync(memory, BYTES, to_device, 0, stream));
    for (int i = 0; i < 3; i++)
        driver_launch(d->add_one, memory, stream);
    CHECK(cuMemPrefetchAsync(memory, BYTES, to_host, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    printf("managed: %08x\n", driver_sum((void *)(uintptr_t)memory, BYTES));
    CHECK(cuMemcpy(d->data, memory, BYTES));
    CHECK(cuMemFree(memory));
    CHECK(cuStreamDestroy(stream));
}

static void errors(struct driver *d, const char *image)
{
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&d->data, &elements};
    CUfunction missing;

    (void)image;
    printf("no such kernel: %d\n", (int)cuModuleGetFunction(&missing, d->module, "missing"));
    printf("block too large: %d\n",
           (int)cuLaunchKernel(d->scale, 1, 1, 1, 4096, 1, 1, 0, NULL, arguments, NULL));
    printf("no grid: %d\n",
           (int)cuLaunchKernel(d->scale, 0, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    printf("too much shared memory: %d\n",
           (int)cuLaunchKernel(d->scale, 1, 1, 1, 32, 1, 1, 1 << 30, NULL, arguments, NULL));
    printf("no kernel: %d\n",
           (int)cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    printf("no graph: %d\n", (int)cuGraphLaunch(NULL, NULL));
    driver_launch(d->scale, d->data, NULL);
    driver_print(d, "after errors");
}

/* A kernel that stores to a misaligned address leaves the context broken for good. */
static void sticky(struct driver *d, const char *image)
{
    CUfunction bad;
    CUevent event;

    (void)image;
    CHECK(cuModuleGetFunction(&bad, d->module, "bad_address"));
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    driver_launch(d->add_one, d->data, NULL);
    CHECK(cuCtxSynchronize());
    driver_launch(bad, d->data, NULL);
    printf("synchronize: %d\n", (int)cuCtxSynchronize());
    printf("copy: %d\n", (int)cuMemcpyDtoH(d->host, d->data, 64));
    printf("event: %d\n", (int)cuEventRecord(event, NULL));
    printf("query: %d\n", (int)cuStreamQuery(NULL));
    exit(3);
}

int main(int argc, char **argv)
{
    static const struct driver_group groups[] = {{"contexts", contexts},
                                                 {"green", green},
                                                 {"managed", managed},
                                                 {"errors", errors},
                                                 {"sticky", sticky}};

    return driver_main(argc, argv, groups, sizeof(groups) / sizeof(groups[0]));
}
