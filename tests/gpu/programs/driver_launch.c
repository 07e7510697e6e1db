/* SPDX-License-Identifier: MIT */
/* driver_launch PTX CUBIN [old]: every way the driver API has to start a kernel. */
#include "driver.h"

#define MANGLED "_Z7mangledIiEvPT_j"

static void by_arguments(struct driver *d)
{
    unsigned int elements = ELEMENTS;
    size_t bytes = sizeof(CUdeviceptr) + sizeof(elements);
    char buffer[16];
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};

    for (int i = 0; i < 10; i++)
        driver_launch(d->add_one, d->data, NULL);
    memcpy(buffer, &d->data, sizeof(d->data));
    memcpy(buffer + sizeof(d->data), &elements, sizeof(elements));
    for (int i = 0; i < 5; i++)
        CHECK(cuLaunchKernel(d->scale, ELEMENTS / THREADS, 1, 1, THREADS, 1, 1, 0, CU_STREAM_LEGACY,
                             NULL, extra));
    driver_print(d, "cuLaunchKernel");
}

static CUlaunchConfig configuration(CUstream stream, CUlaunchAttribute *attributes, unsigned int n)
{
    CUlaunchConfig config;

    memset(&config, 0, sizeof(config));
    config.gridDimX = ELEMENTS / THREADS;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = THREADS;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = n;
    return config;
}

static void by_config(struct driver *d, CUstream stream)
{
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = configuration(stream, attributes, 2);
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&d->data, &elements};

    memset(attributes, 0, sizeof(attributes));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 2;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attributes[1].value.priority = 0;
    for (int i = 0; i < 6; i++)
        CHECK(cuLaunchKernelEx(&config, d->scale, arguments, NULL));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[0].value.cooperative = 1;
    config.gridDimX = 8;
    config.numAttrs = 1;
    for (int i = 0; i < 3; i++)
        CHECK(cuLaunchKernelEx(&config, d->add_one, arguments, NULL));
    CHECK(cuStreamSynchronize(stream));
    driver_print(d, "cuLaunchKernelEx");
}

/* Programmatic dependent launches: later ones may start before earlier ones have ended. */
static void programmatic(struct driver *d, CUstream stream)
{
    CUlaunchAttribute attribute;
    CUlaunchConfig config = configuration(stream, &attribute, 1);
    unsigned long long ns = 2000;
    void *arguments[] = {&ns};
    CUfunction spin;

    CHECK(cuModuleGetFunction(&spin, d->module, "spin_ns"));
    memset(&attribute, 0, sizeof(attribute));
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    config.gridDimX = 1;
    config.blockDimX = 1;
    for (int i = 0; i < 12; i++)
        CHECK(cuLaunchKernelEx(&config, spin, arguments, NULL));
    CHECK(cuStreamSynchronize(stream));
    printf("programmatic: done\n");
}

static void cooperative(struct driver *d, CUstream stream)
{
    unsigned int elements = ELEMENTS;
    void *arguments[] = {&d->data, &elements};

    for (int i = 0; i < 4; i++)
        CHECK(cuLaunchCooperativeKernel(d->add_one, 8, 1, 1, THREADS, 1, 1, 0, stream, arguments));
    CHECK(cuStreamSynchronize(stream));
    driver_print(d, "cuLaunchCooperativeKernel");
}

/* A library's kernel, launched by its CUkernel handle and by its CUfunction. */
static void from_library(struct driver *d, const char *image, CUstream stream)
{
    CUlibrary library;
    CUkernel kernel, mangled;
    CUfunction function;

    CHECK(cuLibraryLoadFromFile(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "add_one"));
    CHECK(cuLibraryGetKernel(&mangled, library, MANGLED));
    CHECK(cuKernelGetFunction(&function, mangled));
    for (int i = 0; i < 7; i++)
        driver_launch((CUfunction)kernel, d->data, stream);
    for (int i = 0; i < 2; i++)
        driver_launch((CUfunction)mangled, d->data, stream);
    driver_launch(function, d->data, stream);
    CHECK(cuStreamSynchronize(stream));
    driver_print(d, "CUkernel");
    CHECK(cuLibraryUnload(library));
}

/* Module loaded and unloaded in turn: the next module's handles may have the last one's values. */
static void reloaded(struct driver *d, const char *image)
{
    static const char *const names[] = {"add_one", "scale", MANGLED};

    for (int i = 0; i < 12; i++) {
        CUmodule module;
        CUfunction function;

        CHECK(cuModuleLoad(&module, image));
        CHECK(cuModuleGetFunction(&function, module, names[i % 3]));
        driver_launch(function, d->data, NULL);
        CHECK(cuCtxSynchronize());
        CHECK(cuModuleUnload(module));
    }
    driver_print(d, "reloaded modules");
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* What the first releases of CUDA had. */
static void old_style(struct driver *d)
{
    unsigned int elements = ELEMENTS;

    CHECK(cuFuncSetBlockShape(d->add_one, THREADS, 1, 1));
    CHECK(cuParamSetv(d->add_one, 0, &d->data, sizeof(d->data)));
    CHECK(cuParamSeti(d->add_one, sizeof(d->data), elements));
    CHECK(cuParamSetSize(d->add_one, sizeof(d->data) + sizeof(elements)));
    CHECK(cuLaunchGrid(d->add_one, ELEMENTS / THREADS, 1));
    CHECK(cuLaunchGridAsync(d->add_one, ELEMENTS / THREADS, 1, NULL));
    CHECK(cuFuncSetBlockShape(d->add_one, 1, 1, 1));
    CHECK(cuLaunch(d->add_one));
    driver_print(d, "cuLaunchGrid");
}

static void in_streams(struct driver *d)
{
    CUstream streams[2];
    CUevent event;

    CHECK(cuStreamCreate(&streams[0], CU_STREAM_DEFAULT));
    CHECK(cuStreamCreateWithPriority(&streams[1], CU_STREAM_NON_BLOCKING, -1));
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 20; i++) {
        driver_launch(d->add_one, d->data, streams[0]);
        CHECK(cuEventRecord(event, streams[0]));
        CHECK(cuStreamWaitEvent(streams[1], event, 0));
        driver_launch(d->scale, d->data, streams[1]);
        CHECK(cuEventRecord(event, streams[1]));
        CHECK(cuStreamWaitEvent(streams[0], event, 0));
    }
    driver_launch(d->add_one, d->other, CU_STREAM_PER_THREAD);
    CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    CHECK(cuCtxSynchronize());
    CHECK(cuEventDestroy(event));
    CHECK(cuStreamDestroy(streams[0]));
    CHECK(cuStreamDestroy(streams[1]));
    driver_print(d, "two streams");
}

int main(int argc, char **argv)
{
    struct driver d;
    CUstream stream;

    if (argc < 3)
        return 2;
    driver_open(&d, argv[1]);
    if (argc == 4) {
        old_style(&d);
        driver_close(&d);
        return 0;
    }
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    by_arguments(&d);
    by_config(&d, stream);
    programmatic(&d, stream);
    cooperative(&d, stream);
    from_library(&d, argv[2], stream);
    reloaded(&d, argv[2]);
    in_streams(&d);
    CHECK(cuStreamDestroy(stream));
    driver_close(&d);
    return 0;
}
