/* SPDX-License-Identifier: MIT */
/* Marks ranges as programs do, and prints what NVTX answers: ranger PART [PROGRAM ARGUMENT...] */
#include <cuda.h>
#include <errno.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if (call) {                                                                                \
            printf("failed: %s\n", #call);                                                         \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

static CUdeviceptr memory;
static CUcontext context;

static void begin(void)
{
    CUdevice device;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&memory, 4096));
}

static void work(int n)
{
    while (n--)
        MUST(cuMemsetD8(memory, 0, 4096));
}

/* step, in it fwd and bwd of another domain, a mark, and a range that outlives step */
static void nest(void)
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("mydomain");
    nvtxEventAttributes_t a = {
        .version = NVTX_VERSION,
        .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
        .colorType = NVTX_COLOR_ARGB,
        .color = 0xff00ff00,
        .category = 12,
        .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
        .message.registered = nvtxDomainRegisterStringA(domain, "bwd"),
    };
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "main");
    nvtxDomainNameCategoryW(domain, 12, L"gradients");
    nvtxNameCategoryA(12, "another one's");
    for (int i = 0; i < 3; i++) {
        printf("push step %d\n", nvtxRangePushA("step"));
        printf("push fwd %d\n", nvtxRangePushA("fwd"));
        work(1);
        printf("pop fwd %d\n", nvtxRangePop());
        printf("push bwd %d\n", nvtxDomainRangePushEx(domain, &a));
        work(2);
        printf("pop bwd %d\n", nvtxDomainRangePop(domain));
        nvtxMarkA("instant");
        nvtxRangeId_t id = nvtxRangeStartA("outlives");
        printf("pop step %d\n", nvtxRangePop());
        work(1);
        nvtxRangeEnd(id);
    }
    work(5);
    nvtxDomainDestroy(domain);
}

/* Attributes of an older version, which end before the message; nothing can be read behind them. */
static void shorter(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = offsetof(nvtxEventAttributes_t, message);
    nvtxEventAttributes_t a = {
        .version = 1, .size = (uint16_t)bytes, .messageType = NVTX_MESSAGE_TYPE_ASCII};
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(p == MAP_FAILED);
    MUST(mprotect(p + page, page, PROT_NONE));
    p = memcpy(p + page - bytes, &a, bytes);
    nvtxRangePushEx((const nvtxEventAttributes_t *)(void *)p);
    nvtxRangePop();
    nvtxMarkEx((const nvtxEventAttributes_t *)(void *)p);
    nvtxRangeEnd(nvtxRangeStartEx((const nvtxEventAttributes_t *)(void *)p));
}

/* Names in wide characters, as PyTorch numbers them, and one that stays open. */
static void names(void)
{
    nvtxRangePushW(L"w\u00e4hle \u20ac \U0001f600");
    nvtxRangePop();
    for (int i = 0; i < 10; i++) {
        char name[64];
        snprintf(name, sizeof(name), "aten::add, seq = %d, op_id = %d", i, 2 * i);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
    shorter();
    nvtxRangePop(); /* of nothing */
    nvtxRangePushA("open");
}

/* Names of what there is, some of them before it is used, and one that comes again elsewhere. */
static void things(void)
{
    CUstream streams[3];
    nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "trainer");
    nvtxNameCudaDeviceA(0, "first");
    nvtxNameCuDeviceW(0, L"gr\u00f6\u00dfte");
    nvtxNameCuContextA(context, "main context");
    for (int i = 0; i < 3; i++)
        MUST(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    nvtxNameCuStreamA(streams[0], "early");
    nvtxNameCuStreamA(NULL, "default");
    nvtxNameCuStreamA(CU_STREAM_PER_THREAD, "own");
    MUST(cuMemsetD8Async(memory, 0, 4096, streams[0]));
    MUST(cuMemsetD8Async(memory, 0, 4096, streams[1]));
    nvtxNameCudaStreamA(streams[1], "late");
    nvtxNameCudaStreamW(streams[0], L"early \u20ac");
    MUST(cuMemsetD8Async(memory, 0, 4096, streams[0]));
    MUST(cuMemsetD8Async(memory, 0, 4096, streams[1]));
    MUST(cuMemsetD8Async(memory, 0, 4096, CU_STREAM_PER_THREAD));
    work(1);
    MUST(cuStreamDestroy(streams[2]));
    for (int i = 0; i < 8; i++) { /* the same handle, perhaps: not the same stream */
        MUST(cuStreamCreate(&streams[2], CU_STREAM_NON_BLOCKING));
        if (!i)
            nvtxNameCuStreamA(streams[2], "gone");
        MUST(cuMemsetD8Async(memory, 0, 4096, streams[2]));
        MUST(cuStreamSynchronize(streams[2]));
        MUST(cuStreamDestroy(streams[2]));
    }
}

/* Contexts one after the other, each with its name and a stream with that name. */
static void contexts(void)
{
    static const char *const names[] = {"first", "second", NULL};
    for (int i = 0; i < 3; i++) {
        CUcontext c;
        CUstream stream;
        MUST(cuCtxCreate(&c, NULL, 0, 0));
        MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        MUST(cuMemsetD8Async(memory, 0, 4096, stream));
        nvtxNameCuStreamA(stream, names[i] ? names[i] : "third");
        if (names[i])
            nvtxNameCuContextA(c, names[i]);
        MUST(cuStreamSynchronize(stream));
        MUST(cuCtxDestroy(c));
    }
}

/* A stream that captures may not be asked, one that is known is. */
static void capture(void)
{
    CUstream stream;
    CUgraph graph;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    nvtxNameCuStreamA(stream, "captures");
    nvtxNameCuStreamA(NULL, "default");
    nvtxNameCuContextA(context, "main context");
    MUST(cuStreamEndCapture(stream, &graph));
    MUST(cuMemsetD8Async(memory, 0, 4096, stream));
    errno = 0;
    nvtxNameCudaStreamA(stream, "after");
    MUST(errno);
    MUST(cuStreamSynchronize(stream));
}

/* More open than fit, then all closed again; and more names than fit. */
static void much(void)
{
    for (int i = 0; i < 200; i++)
        nvtxRangePushA("deep");
    work(1);
    for (int i = 0; i < 200; i++)
        nvtxRangePop();
    nvtxRangePushA("after");
    work(1);
    nvtxRangePop();
    for (int i = 0; i < 6000; i++) {
        char name[32];
        snprintf(name, sizeof(name), "name %d", i);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
}

/* Long ranges without work for the GPU, as of a compiler, and a short one with some. */
static void compile(void)
{
    for (int i = 0; i < 25; i++) {
        char name[32];
        snprintf(name, sizeof(name), "pass %d", i);
        nvtxRangePushA(name);
        usleep(2000);
        nvtxRangePop();
    }
    nvtxRangePushA("run");
    work(1);
    nvtxRangePop();
}

static void burst(void)
{
    for (int i = 0; i < 200000; i++) {
        nvtxRangePushA("burst");
        nvtxRangePop();
    }
}

static void *hot(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    nvtxRangePushA("hot");
    work(4);
    nvtxRangePop();
    return unused;
}

/* A range in itself, one that another thread has as well, and one that ends with its thread. */
static void captured(void)
{
    pthread_t t;
    work(1);
    nvtxRangePushA("hot");
    work(2);
    nvtxRangePushA("hot");
    nvtxRangePop();
    work(8);
    nvtxRangePop();
    work(16);
    nvtxRangeId_t id = nvtxRangeStartA("hot");
    MUST(pthread_create(&t, NULL, hot, NULL));
    MUST(pthread_join(t, NULL));
    work(32);
    nvtxRangeEnd(id);
    work(64);
    MUST(pthread_create(&t, NULL, (void *(*)(void *))nvtxRangePushA, "hot"));
    MUST(pthread_join(t, NULL));
    work(128);
}

/* More ranges than any table has room for, while one is open. */
static void epoch(void)
{
    nvtxRangeId_t id = nvtxRangeStartA("epoch");
    for (int i = 0; i < 10000; i++)
        nvtxRangeEnd(nvtxRangeStartA("step"));
    work(1);
    nvtxRangeEnd(id);
    work(2);
}

static void *end_it(void *id)
{
    nvtxRangeEnd(*(nvtxRangeId_t *)id);
    return NULL;
}

static void *other(void *unused)
{
    MUST(cuCtxSetCurrent(context));
    nvtxRangePushA("thread");
    work(2);
    nvtxRangePop();
    return unused;
}

/* A range that another thread ends, and one of another thread. */
static void threads(void)
{
    pthread_t t;
    nvtxRangeId_t id = nvtxRangeStartA("handed over");
    work(1);
    MUST(pthread_create(&t, NULL, end_it, &id));
    MUST(pthread_join(t, NULL));
    work(3);
    MUST(pthread_create(&t, NULL, other, NULL));
    MUST(pthread_join(t, NULL));
}

static int run(char **argv, char *unset)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) {
        if (unset)
            unsetenv(unset);
        execv(argv[0], argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    if (!strcmp(part, "bare"))
        return run((char *[]){argv[0], "nest", NULL}, "LD_PRELOAD");
    begin();
    if (!strcmp(part, "child")) {
        nvtxRangePushA("parent");
        nvtxRangePop();
        return run((char *[]){argv[0], "nest", NULL}, NULL);
    }
    if (!strcmp(part, "nest"))
        nest();
    else if (!strcmp(part, "names"))
        names();
    else if (!strcmp(part, "things"))
        things();
    else if (!strcmp(part, "contexts"))
        contexts();
    else if (!strcmp(part, "capture"))
        capture();
    else if (!strcmp(part, "compile"))
        compile();
    else if (!strcmp(part, "burst"))
        burst();
    else if (!strcmp(part, "captured"))
        captured();
    else if (!strcmp(part, "much"))
        much();
    else if (!strcmp(part, "epoch"))
        epoch();
    else if (!strcmp(part, "threads"))
        threads();
    else
        return 2;
    return 0;
}
