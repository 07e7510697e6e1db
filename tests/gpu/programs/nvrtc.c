/* SPDX-License-Identifier: MIT */
/* nvrtc: compiles a templated kernel at run time, and starts it through the driver API. */
#include "driver.h"
#include <nvrtc.h>

static const char source[] = "template <typename T> __global__ void fill(T *data, unsigned int n)\n"
                             "{\n"
                             "    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n)\n"
                             "        data[i] = (T)i * 7;\n"
                             "}\n";

static void check_nvrtc(nvrtcResult result, const char *what)
{
    if (result == NVRTC_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, nvrtcGetErrorString(result));
    exit(1);
}

/* The PTX, which the caller frees, and the kernel's mangled name. */
static char *compile(char *name, size_t name_bytes)
{
    static const char *const options[] = {"--gpu-architecture=compute_75"};
    nvrtcProgram program;
    const char *lowered;
    size_t bytes;
    char *ptx;

    check_nvrtc(nvrtcCreateProgram(&program, source, "fill.cu", 0, NULL, NULL), "create");
    check_nvrtc(nvrtcAddNameExpression(program, "fill<int>"), "name");
    check_nvrtc(nvrtcCompileProgram(program, 1, options), "compile");
    check_nvrtc(nvrtcGetLoweredName(program, "fill<int>", &lowered), "lowered name");
    snprintf(name, name_bytes, "%s", lowered);
    check_nvrtc(nvrtcGetPTXSize(program, &bytes), "size");
    ptx = malloc(bytes);
    check_nvrtc(nvrtcGetPTX(program, ptx), "PTX");
    check_nvrtc(nvrtcDestroyProgram(&program), "destroy");
    return ptx;
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction fill;
    CUdeviceptr data;
    char name[256], *ptx = compile(name, sizeof(name));
    int *host = malloc(BYTES);

    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, NULL, 0, device));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&fill, module, name));
    CHECK(cuMemAlloc(&data, BYTES));
    for (int i = 0; i < 50; i++)
        driver_launch(fill, data, NULL);
    CHECK(cuMemcpyDtoH(host, data, BYTES));
    printf("%s: %08x\n", name, driver_sum(host, BYTES));
    CHECK(cuMemFree(data));
    CHECK(cuModuleUnload(module));
    CHECK(cuCtxDestroy(context));
    free(ptx);
    free(host);
    return 0;
}
