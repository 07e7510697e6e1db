/* SPDX-License-Identifier: MIT */
/*
 * driver_going PTX flight|greens|modules|streams|crowd|retained: contexts, streams, modules and
 * events that end while work is on the GPU, or whose handles come back for others.
 */
#include "driver.h"

static CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction function;

    CHECK(cuModuleGetFunction(&function, module, name));
    return function;
}

static void spin(CUfunction spin_ns, unsigned long long ns, CUstream stream)
{
    void *arguments[] = {&ns};

    CHECK(cuLaunchKernel(spin_ns, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static CUstream new_stream(void)
{
    CUstream stream;

    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

/* Leaves about 10 ms of work in the current context. */
static void leave_work(const char *image)
{
    CUmodule module;
    CUdeviceptr memory;
    CUstream stream = new_stream();

    CHECK(cuModuleLoad(&module, image));
    CHECK(cuMemAlloc(&memory, BYTES));
    CHECK(cuMemsetD8Async(memory, 0, BYTES, stream));
    for (int i = 0; i < 5; i++) {
        spin(function_of(module, "spin_ns"), 2000000, stream);
        driver_launch(function_of(module, "add_one"), memory, stream);
    }
    for (int i = 0; i < 5; i++)
        driver_launch(function_of(module, "scale"), memory, NULL);
}

static void flight(struct driver *d, const char *image)
{
    for (int i = 0; i < 3; i++) {
        CUcontext context;

        CHECK(cuCtxCreate(&context, NULL, 0, d->device));
        leave_work(image);
        printf("destroy: %d\n", (int)cuCtxDestroy(context));
    }
    for (int i = 0; i < 3; i++) {
        CUcontext again;

        CHECK(cuCtxSetCurrent(d->context));
        leave_work(image);
        printf("reset: %d\n", (int)cuDevicePrimaryCtxReset(d->device));
        CHECK(cuDevicePrimaryCtxRetain(&again, d->device));
        printf("same context: %d\n", again == d->context);
    }
    exit(0); /* what the driver held went with the context */
}

static CUgreenCtx new_green(CUdevice device)
{
    CUdevResource all, part, rest;
    CUdevResourceDesc description;
    CUgreenCtx green;
    unsigned int groups = 1;

    CHECK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 16));
    CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
    CHECK(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

/* Two at a time, with a module and a stream in each, beside the primary context. */
static void greens(struct driver *d, const char *image)
{
    for (int round = 0; round < 5; round++) {
        CUgreenCtx green[2];
        CUmodule module[2];
        CUstream stream[2];
        CUcontext context[2];

        for (int i = 0; i < 2; i++) {
            green[i] = new_green(d->device);
            CHECK(cuGreenCtxStreamCreate(&stream[i], green[i], CU_STREAM_NON_BLOCKING, 0));
            CHECK(cuCtxFromGreenCtx(&context[i], green[i]));
            CHECK(cuCtxSetCurrent(context[i]));
            CHECK(cuModuleLoad(&module[i], image));
            for (int n = 0; n < 10; n++)
                driver_launch(function_of(module[i], "add_one"), i ? d->other : d->data, stream[i]);
        }
        for (int i = 0; i < 2; i++) {
            CHECK(cuCtxSetCurrent(context[i]));
            CHECK(cuStreamSynchronize(stream[i]));
            CHECK(cuModuleUnload(module[i]));
            CHECK(cuStreamDestroy(stream[i]));
            CHECK(cuCtxSetCurrent(d->context));
            printf("destroy: %d\n", (int)cuGreenCtxDestroy(green[i]));
        }
        driver_launch(d->scale, d->data, NULL);
    }
}

/* The handle of one kernel may come back for another one: counts by name must be right. */
static void modules(struct driver *d, const char *image)
{
    static const char *const names[] = {"add_one", "scale"};

    for (int round = 0; round < 40; round++) {
        CUmodule module;
        CUlibrary library;
        CUkernel kernel;

        CHECK(cuModuleLoad(&module, image));
        for (int i = 0; i < 3 + round % 2; i++)
            driver_launch(function_of(module, names[round % 2]), d->data, NULL);
        printf("unload: %d\n", (int)cuModuleUnload(module));
        CHECK(cuLibraryLoadFromFile(&library, image, NULL, NULL, 0, NULL, NULL, 0));
        CHECK(cuLibraryGetKernel(&kernel, library, names[(round + 1) % 2]));
        for (int i = 0; i < 3; i++)
            driver_launch((CUfunction)kernel, d->data, NULL);
        printf("unload: %d\n", (int)cuLibraryUnload(library));
    }
}

/* Streams and events are destroyed with work before them that is not done. */
static void streams(struct driver *d, const char *image)
{
    (void)image;
    CUfunction spin_ns = function_of(d->module, "spin_ns");
    for (int round = 0; round < 50; round++) {
        CUstream stream = new_stream(), waiting = new_stream();
        CUevent event;

        CHECK(cuEventCreate(&event, round % 2 ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
        spin(spin_ns, 500000, stream);
        driver_launch(d->add_one, d->data, stream);
        CHECK(cuEventRecord(event, stream));
        CHECK(cuStreamWaitEvent(waiting, event, 0));
        driver_launch(d->scale, d->data, waiting);
        printf("destroy: %d", (int)cuEventDestroy(event));
        printf(" %d", (int)cuStreamDestroy(stream));
        printf(" %d\n", (int)cuStreamDestroy(waiting));
        CHECK(cuCtxSynchronize());
    }
}

static void crowd(struct driver *d, const char *image)
{
    CUcontext context[8];
    CUmodule module[8];
    CUdeviceptr memory[8];
    const int n = 8;

    for (int i = 0; i < n; i++) {
        CHECK(cuCtxCreate(&context[i], NULL, 0, d->device));
        CHECK(cuModuleLoad(&module[i], image));
        CHECK(cuMemAlloc(&memory[i], BYTES));
        CHECK(cuMemsetD8(memory[i], 0, BYTES));
        CHECK(cuCtxSetCurrent(d->context));
    }
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < n; i++) {
            CHECK(cuCtxSetCurrent(context[i]));
            driver_launch(function_of(module[i], i % 2 ? "add_one" : "scale"), memory[i], NULL);
        }
    for (int i = 0; i < n; i++) {
        CHECK(cuCtxSetCurrent(context[i]));
        CHECK(cuMemcpyDtoH(d->host, memory[i], BYTES));
        printf("context %d: %08x\n", i, driver_sum(d->host, BYTES));
        CHECK(cuCtxSetCurrent(d->context));
        CHECK(cuCtxDestroy(context[i]));
    }
}

/* The primary context lives no longer than the program holds it. */
static void retained(struct driver *d, const char *image)
{
    unsigned int flags;
    int active = -1;

    CHECK(cuCtxSynchronize());
    CHECK(cuDevicePrimaryCtxRelease(d->device));
    for (int round = 0; round < 4; round++) {
        CHECK(cuDevicePrimaryCtxGetState(d->device, &flags, &active));
        printf("active: %d\n", active);
        CHECK(cuDevicePrimaryCtxRetain(&d->context, d->device));
        CHECK(cuCtxSetCurrent(d->context));
        leave_work(image);
        CHECK(cuCtxSynchronize());
        printf("release: %d\n", (int)cuDevicePrimaryCtxRelease(d->device));
    }
    exit(0);
}

int main(int argc, char **argv)
{
    static const struct driver_group groups[] = {{"flight", flight},   {"greens", greens},
                                                 {"modules", modules}, {"streams", streams},
                                                 {"crowd", crowd},     {"retained", retained}};

    return driver_main(argc, argv, groups, sizeof(groups) / sizeof(groups[0]));
}
