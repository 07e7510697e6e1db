/* SPDX-License-Identifier: MIT */
/*
 * By how much brackets differ by where a kernel writes: what they have more than its own stamps,
 * ns, for each of 32 places less the mean of these. The places are so many bytes apart; or all
 * modules write to one; or each writes to a variable of its own, for which each was loaded after an
 * allocation. All is queued behind a longer kernel, so that nothing of the host's is in a bracket.
 *
 *   probe_places
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define PLACES 32
#define ROUNDS 400
#define CYCLES 3500
#define OPENER_CYCLES 60000
#define MUST(call) must((call), #call, __LINE__)

/* clang-format off */
#define HEAD ".version 6.0\n.target sm_50\n.address_size 64\n"
#define BODY(to)                                                                                   \
    "{\n"                                                                                          \
    "    .reg .pred %again;\n"                                                                     \
    "    .reg .u32 %first, %now, %spent, %limit;\n"                                                \
    "    .reg .u64 %begin, %end, %cycles, %to;\n"                                                  \
    "    mov.u64 %begin, %globaltimer;\n"                                                          \
    "    mov.u32 %first, %clock;\n"                                                                \
    "    ld.param.u64 %cycles, [cycles];\n"                                                        \
    to                                                                                             \
    "    cvt.u32.u64 %limit, %cycles;\n"                                                           \
    "spin:\n"                                                                                      \
    "    mov.u32 %now, %clock;\n"                                                                  \
    "    sub.u32 %spent, %now, %first;\n"                                                          \
    "    setp.lt.u32 %again, %spent, %limit;\n"                                                    \
    "    @%again bra spin;\n"                                                                      \
    "    mov.u64 %end, %globaltimer;\n"                                                            \
    "    st.global.v2.u64 [%to], {%begin, %end};\n"                                                \
    "    ret;\n"                                                                                   \
    "}\n"
#define ENTRY ".visible .entry spin_and_write(.param .u64 cycles, .param .u64 place)\n"
/* clang-format on */

static const char to_a_place[] = HEAD ENTRY BODY("    ld.param.u64 %to, [place];\n");
static const char to_its_own[] =
    HEAD ".global .align 16 .b64 stamps[64];\n" ENTRY BODY("    mov.u64 %to, stamps;\n");

static CUstream stream;
static CUevent start, stop;
static CUfunction opener, kernel[PLACES];
static CUdeviceptr opener_place, place[PLACES];
static double more_ns[PLACES][ROUNDS];

static void must(CUresult r, const char *call, int line)
{
    if (r == CUDA_SUCCESS)
        return;
    printf("line %d: %s = %d\n", line, call, (int)r);
    exit(1);
}

static void launch(CUfunction f, unsigned long long cycles, CUdeviceptr to)
{
    void *arguments[] = {&cycles, &to};
    MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static double bracket_less_own(CUfunction f, CUdeviceptr to)
{
    unsigned long long stamps[2];
    float ms;
    launch(opener, OPENER_CYCLES, opener_place);
    MUST(cuEventRecord(start, stream));
    launch(f, CYCLES, to);
    MUST(cuEventRecord(stop, stream));
    MUST(cuEventSynchronize(stop));
    MUST(cuEventElapsedTime(&ms, start, stop));
    MUST(cuMemcpyDtoH(stamps, to, sizeof(stamps)));
    return ms * 1e6 - (double)(stamps[1] - stamps[0]);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x)
{
    qsort(x, ROUNDS, sizeof(*x), ascending);
    return x[ROUNDS / 2];
}

static void measure(const char *what)
{
    double ns[PLACES], mean = 0;
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < PLACES; i++)
            more_ns[i][r] = bracket_less_own(kernel[i], place[i]);
    for (int i = 0; i < PLACES; i++)
        mean += (ns[i] = median(more_ns[i])) / PLACES;
    printf("%-28s %5.0f:", what, mean);
    for (int i = 0; i < PLACES; i++)
        printf(" %+.0f", ns[i] - mean);
    printf("\n");
}

static CUmodule load(const char *text, CUfunction *f)
{
    CUmodule module;
    MUST(cuModuleLoadData(&module, text));
    MUST(cuModuleGetFunction(f, module, "spin_and_write"));
    return module;
}

static void begin(void)
{
    CUdevice device;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&start, CU_EVENT_DEFAULT));
    MUST(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    MUST(cuMemAlloc(&opener_place, 4096));
    load(to_a_place, &opener);
}

static void measure_places(CUdeviceptr memory)
{
    static const size_t apart[] = {0, 512, 4096, 65536, (size_t)2 << 20};
    char what[64];
    CUfunction f;
    load(to_a_place, &f);
    for (size_t k = 0; k < sizeof(apart) / sizeof(apart[0]); k++) {
        for (int i = 0; i < PLACES; i++) {
            kernel[i] = f;
            place[i] = memory + (CUdeviceptr)i * apart[k];
        }
        snprintf(what, sizeof(what), "%zu bytes apart", apart[k]);
        measure(what);
    }
}

static void measure_modules(const char *text, CUdeviceptr memory, const char *what)
{
    for (int i = 0; i < PLACES; i++) {
        CUdeviceptr allocation;
        size_t bytes;
        MUST(cuMemAlloc(&allocation, (size_t)(i % 3 + 1) << 21));
        CUmodule module = load(text, &kernel[i]);
        place[i] = memory;
        if (!memory)
            MUST(cuModuleGetGlobal(&place[i], &bytes, module, "stamps"));
    }
    measure(what);
}

int main(void)
{
    CUdeviceptr memory;
    begin();
    MUST(cuMemAlloc(&memory, (size_t)2 * PLACES << 20));
    measure_places(memory);
    measure_modules(to_a_place, memory, "modules, one place");
    measure_modules(to_its_own, 0, "modules, a variable of each");
    return 0;
}
