/* SPDX-License-Identifier: MIT */
/*
 * submitter default|created: calls every function that puts work on the GPU once, and its twin, on
 * the default stream or on one of its own. Checks with the simulated device that the work ran.
 * Prints a line for each; fails when a row of the table that is work has no case, or when a
 * function whose name says work is not such a row.
 *
 * submitter threads: launches on several threads' default streams.
 */
#include "cuda/newer_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim.h"
#include "submit/cases.h"

#define BYTES 65536
#define THREADS 4
#define LAUNCHES 25

#define CHECK(call)                                                                                \
    do {                                                                                           \
        CUresult check = call;                                                                     \
        if (check != CUDA_SUCCESS) {                                                               \
            fprintf(stderr, "%s: %d\n", #call, (int)check);                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ---- what the calls work on ---- */

static char host[BYTES];
static CUcontext context, far_context;
static CUdeviceptr device, other, far, managed, source;
static CUfunction alpha, beta;
static CUstream stream, own;
static CUarray array;
static CUgraphExec graph;
static size_t bytes = 2048, first, failed;
static CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
static CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
static CUlaunchConfig launch = {1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
static CUDA_LAUNCH_PARAMS multi = {
    .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
static CUDA_MEMCPY2D plane = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = host,
                              .srcPitch = 64,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstPitch = 128,
                              .WidthInBytes = 64,
                              .Height = 16};
static CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                            .srcPitch = 32,
                            .srcHeight = 8,
                            .dstMemoryType = CU_MEMORYTYPE_HOST,
                            .dstHost = host,
                            .dstPitch = 32,
                            .dstHeight = 8,
                            .WidthInBytes = 32,
                            .Height = 8,
                            .Depth = 4};
static CUDA_MEMCPY3D_PEER box_peer = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .srcPitch = 32,
                                      .srcHeight = 8,
                                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                      .dstPitch = 32,
                                      .dstHeight = 8,
                                      .WidthInBytes = 32,
                                      .Height = 8,
                                      .Depth = 4};
static CUDA_MEMCPY2D_v1 plane_v1 = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                    .srcHost = host,
                                    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                    .dstDevice = 16,
                                    .WidthInBytes = 8,
                                    .Height = 8};
static CUDA_MEMCPY3D_v1 box_v1 = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                  .srcHost = host,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = 16,
                                  .WidthInBytes = 8,
                                  .Height = 8,
                                  .Depth = 2};
static CUDA_MEMCPY3D_BATCH_OP operation;

/* Between devices: the first says that its addresses are those of devices, the others do not. */
static CUDA_MEMCPY2D plane_far;
static CUDA_MEMCPY3D box_far;
static CUDA_MEMCPY3D_BATCH_OP operation_far;

static void make_far(void)
{
    CUdevice second;
    CHECK(cuDeviceGet(&second, 1));
    CHECK(cuDevicePrimaryCtxRetain(&far_context, second));
    CHECK(cuCtxSetCurrent(far_context));
    CHECK(cuMemAlloc_v2(&far, BYTES));
    CHECK(cuCtxSetCurrent(context));
}

static void make_memory(void)
{
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 4096, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    CHECK(cuMemAlloc_v2(&device, BYTES));
    CHECK(cuMemAlloc_v2(&other, BYTES));
    CHECK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuArrayCreate_v2(&array, &shape));
    source = (CUdeviceptr)(uintptr_t)host;
    plane.dstDevice = box.srcDevice = box_peer.srcDevice = device;
    box_peer.dstDevice = far;
    box_peer.srcContext = context;
    box_peer.dstContext = far_context;
    operation.src.op.ptr.ptr = source;
    operation.dst.op.ptr.ptr = device;
    operation.src.type = operation.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    operation.extent = (CUextent3D){8, 8, 2};
}

static void make_far_copies(void)
{
    plane_far = plane;
    plane_far.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    plane_far.srcDevice = far;
    box_far = box;
    box_far.srcMemoryType = box_far.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    box_far.dstDevice = far;
    operation_far = operation;
    operation_far.src.op.ptr.ptr = far;
}

static void make_graph(void)
{
    CUgraph captured;
    CHECK(cuStreamBeginCapture_v2(own, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuLaunchKernel(alpha, 1, 1, 1, 32, 1, 1, 0, own, NULL, NULL));
    CHECK(cuMemsetD8Async(device, 0, 64, own));
    CHECK(cuLaunchKernel(beta, 1, 1, 1, 32, 1, 1, 0, own, NULL, NULL));
    CHECK(cuStreamEndCapture(own, &captured));
    CHECK(cuGraphInstantiateWithFlags(&graph, captured, 0));
    CHECK(cuGraphDestroy(captured));
}

static void prepare(void)
{
    CUdevice first_device;
    CUmodule module;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&first_device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, first_device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, "image"));
    CHECK(cuModuleGetFunction(&alpha, module, "alpha"));
    CHECK(cuModuleGetFunction(&beta, module, "beta"));
    CHECK(cuFuncSetBlockShape(alpha, 32, 1, 1));
    CHECK(cuStreamCreate(&own, CU_STREAM_NON_BLOCKING));
    make_far();
    make_memory();
    make_far_copies();
    make_graph();
    multi.function = beta;
    multi.hStream = own;
}

/* ---- the cases ---- */

/* clang-format off */
#define CASE(fn, kind, name, arguments) \
    static CUresult try_##fn(void *p) { return ((__typeof__(fn) *)p)arguments; }
#define REFUSED(fn, arguments) CASE(fn, , , arguments)
CASES(CASE, REFUSED)
#undef CASE
#undef REFUSED

static const struct trial {
    const char *function;
    CUresult (*call)(void *function);
    const char *kind, *name; /* NULL: refused */
} trials[] = {
#define CASE(fn, kind, name, arguments) {#fn, try_##fn, kind, name},
#define REFUSED(fn, arguments) {#fn, try_##fn, NULL, NULL},
    CASES(CASE, REFUSED)
#undef CASE
#undef REFUSED
};

/* Which kinds of rows are work; a kind that is not here does not compile. */
#define WORK_PLAIN 0
#define WORK_BEFORE(...) 0
#define WORK_AFTER(...) 0
#define WORK_WAIT(...) 0
#define WORK_WAIT_STREAM(...) 0
#define WORK_AROUND(...) 0
#define WORK_CHANGE(...) 0
#define WORK_END(...) 0
#define WORK_KERNEL(...) 1
#define WORK_KERNEL_EX(...) 1
#define WORK_KERNEL_MULTI(...) 1
#define WORK_GRAPH(...) 1
#define WORK_COPY(...) 1
#define WORK_COPY_HOST(...) 1
#define WORK_COPY_ANY(...) 1
#define WORK_COPY_PEER(...) 1
#define WORK_COPY_2D(...) 1
#define WORK_COPY_2D_V1(...) 1
#define WORK_COPY_3D(...) 1
#define WORK_COPY_3D_V1(...) 1
#define WORK_COPY_3D_PEER(...) 1
#define WORK_COPY_BATCH(...) 1
#define WORK_COPY_3D_BATCH(...) 1
#define WORK_SET(...) 1
#define WORK_PREFETCH(...) 1
#define WORK_PREFETCH_BATCH(...) 1

static const struct row {
    const char *symbol, *function;
    bool is_work;
} rows[] = {
#define CT_API(fn, kind, ...) {#fn, #fn, WORK_##kind},
#define CT_PTSZ(fn, kind, ...) CT_API(fn, kind) {#fn "_ptsz", #fn, WORK_##kind},
#define CT_PTDS(fn, kind, ...) CT_API(fn, kind) {#fn "_ptds", #fn, WORK_##kind},
#include "cuda/driver_api.def"
};
/* clang-format on */

static unsigned wrong;

static void fail(const char *symbol, const char *what)
{
    fprintf(stderr, "%s: %s\n", symbol, what);
    wrong++;
}

static const struct trial *trial_of(const char *function)
{
    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
        if (!strcmp(trials[i].function, function))
            return &trials[i];
    return NULL;
}

static bool says_work(const char *symbol)
{
    static const char *const starts[] = {"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset",
                                         "cuMemPrefetch"};
    if (!strncmp(symbol, "cuLaunchHostFunc", 16))
        return false; /* runs on the host */
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (!strncmp(symbol, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static uint64_t ran(const struct trial *t)
{
    static cudasim_truth_fn *truth;
    struct cudasim_truth sum;
    if (!truth)
        truth = (cudasim_truth_fn *)dlsym(RTLD_DEFAULT, "cudasim_truth");
    CHECK(cuCtxSynchronize());
    truth(t->kind, t->name, &sum);
    return sum.count;
}

static void run_case(const struct row *r, const struct trial *t, void *function)
{
    uint64_t before = ran(t);
    if (t->call(function) != CUDA_SUCCESS)
        fail(r->symbol, "failed");
    else if (ran(t) != before + 1)
        fail(r->symbol, "did not do what it should");
    printf("%s %s\n", t->kind, r->symbol);
}

static void run_refused(const struct row *r, const struct trial *t, void *function)
{
    if (t->call(function) != CUDA_ERROR_NOT_SUPPORTED)
        fail(r->symbol, "was not refused: it can be a case");
    printf("refused %s\n", r->symbol);
}

static void run_row(const struct row *r)
{
    const struct trial *t = trial_of(r->function);
    void *function = dlsym(RTLD_DEFAULT, r->symbol);
    if (!r->is_work) {
        if (t || says_work(r->symbol))
            fail(r->symbol, "is not a row of work");
        return;
    }
    if (!t)
        fail(r->symbol, "has no case");
    else if (!function)
        fail(r->symbol, "was not found");
    else if (t->kind)
        run_case(r, t, function);
    else
        run_refused(r, t, function);
}

/* ---- threads ---- */

extern CUresult cuLaunchKernel_ptsz(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, CUstream, void **, void **);
extern CUresult cuMemsetD8Async_ptsz(CUdeviceptr, unsigned char, size_t, CUstream);
extern CUresult cuMemcpyDtoH_v2_ptds(void *, CUdeviceptr, size_t);

static void *launch_many(void *to)
{
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK(cuLaunchKernel_ptsz(beta, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        CHECK(cuMemsetD8Async_ptsz(device, 1, 64, NULL));
    }
    CHECK(cuMemcpyDtoH_v2_ptds(to, device, 64));
    return NULL;
}

static void run_threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, launch_many, host + 1024 * i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    prepare();
    if (!strcmp(what, "created"))
        launch.hStream = stream = own;
    if (!strcmp(what, "threads"))
        run_threads();
    else
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            run_row(&rows[i]);
    CHECK(cuCtxSynchronize());
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
