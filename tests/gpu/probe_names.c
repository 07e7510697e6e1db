/* SPDX-License-Identifier: MIT */
/*
 * probe_names PTX
 *
 * G8: does cuFuncGetName take a CUkernel, and do the name calls load a kernel that was not loaded?
 */
#include "programs/driver.h"

static const char *state_of(CUfunction function)
{
    CUfunctionLoadingState state;

    if (cuFuncIsLoaded(&state, function) != CUDA_SUCCESS)
        return "unknown";
    return state == CU_FUNCTION_LOADING_STATE_LOADED ? "loaded" : "not loaded";
}

static void of_module(struct driver *d)
{
    const char *name = "none", *before;
    CUfunction function;
    CUmodule module;
    CUresult result;

    CHECK(cuModuleGetFunction(&function, d->module, "scale"));
    module = NULL;
    before = state_of(function);
    result = cuFuncGetName(&name, function);
    printf("G8 answer: CUfunction: before cuFuncGetName %s, it returned %d (%s), after it %s\n",
           before, (int)result, result ? "none" : name, state_of(function));
    result = cuFuncGetModule(&module, function);
    printf("G8 answer: cuFuncGetModule returned %d, after it %s\n", (int)result,
           state_of(function));
}

static void of_library(const char *image)
{
    const char *name = "none", *before;
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUresult result;

    CHECK(cuLibraryLoadFromFile(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "scale"));
    result = cuFuncGetName(&name, (CUfunction)kernel);
    printf("G8 answer: cuFuncGetName of a CUkernel returned %d (%s)\n", (int)result,
           result ? "none" : name);
    before = state_of((CUfunction)kernel);
    result = cuKernelGetName(&name, kernel);
    printf("G8 answer: CUkernel: before cuKernelGetName %s, it returned %d (%s), after it %s\n",
           before, (int)result, result ? "none" : name, state_of((CUfunction)kernel));
    CHECK(cuKernelGetFunction(&function, kernel));
    before = state_of(function);
    result = cuFuncGetName(&name, function);
    printf("G8 answer: its CUfunction: before cuFuncGetName %s, it returned %d (%s), after it %s\n",
           before, (int)result, result ? "none" : name, state_of(function));
    result = cuKernelGetName(&name, (CUkernel)function);
    printf("G8 answer: cuKernelGetName of a CUfunction returned %d\n", (int)result);
}

int main(int argc, char **argv)
{
    struct driver d;

    if (argc != 2)
        return 2;
    driver_open(&d, argv[1]);
    of_module(&d);
    of_library(argv[1]);
    driver_close(&d);
    return 0;
}
