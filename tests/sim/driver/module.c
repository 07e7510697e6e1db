/* SPDX-License-Identifier: MIT */
/* Modules, libraries, functions and kernels. Any image will do: what is asked for by name is there,
 * unless the name starts with "missing". */
#include "driver/model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- functions ---- */

static const int defaults[] = {
    [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
    [CU_FUNC_ATTRIBUTE_NUM_REGS] = 32,
    [CU_FUNC_ATTRIBUTE_PTX_VERSION] = 90,
    [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = 90,
    [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = 49152,
};

static CUfunction function_new(CUmodule m, const char *name)
{
    CUfunction f = sim_take(SIM_FUNCTION);
    f->name = strdup(name);
    f->interned = sim_intern(name);
    f->module = m;
    f->next = m->functions;
    memcpy(f->attribute, defaults, sizeof(defaults));
    m->functions = f;
    return f;
}

static CUfunction function_named(CUmodule m, const char *name)
{
    for (CUfunction f = m->functions; f; f = f->next)
        if (!strcmp(f->name, name))
            return f;
    return function_new(m, name);
}

/* A name that was given out must not be read after its module has gone: it is spoilt. */
static void spoil(char *name)
{
    memset(name, '?', strlen(name));
    free(name);
}

static void module_end(CUmodule m)
{
    for (CUfunction f = m->functions, next; f; f = next) {
        next = f->next;
        spoil(f->name);
        sim_give(SIM_FUNCTION, f);
    }
    sim_globals_free(&m->globals);
    sim_give(SIM_MODULE, m);
}

static bool end_if_of(void *object, void *context)
{
    CUmodule m = object;
    if (m->context != context)
        return false;
    if (m->library)
        for (int i = 0; i < SIM_DEVICES; i++)
            if (m->library->modules[i] == m) {
                m->library->modules[i] = NULL;
                for (CUkernel k = m->library->kernels; k; k = k->next)
                    k->functions[i] = NULL;
            }
    module_end(m);
    return false;
}

void sim_modules_of_context_gone(CUcontext c)
{
    sim_each(SIM_MODULE, end_if_of, c);
}

static CUresult module_new(CUmodule *out, const void *image)
{
    CUcontext c;
    CUresult r = sim_need_context(&c);
    if (r == CUDA_SUCCESS)
        r = sim_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_take(SIM_MODULE);
    (*out)->context = c;
    return CUDA_SUCCESS;
}

CUresult sim_cuModuleLoadData(CUmodule *out, const void *image)
{
    return module_new(out, image);
}

CUresult sim_cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int n,
                                CUjit_option *options, void **values)
{
    (void)n;
    (void)options;
    (void)values;
    return module_new(out, image);
}

CUresult sim_cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
    return module_new(out, image);
}

CUresult sim_cuModuleLoad(CUmodule *out, const char *path)
{
    return path && access(path, R_OK) == 0 ? module_new(out, path) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult sim_cuModuleUnload(CUmodule m)
{
    CUresult r = sim_check(SIM_MODULE, m);
    if (r == CUDA_SUCCESS)
        r = sim_unsafe();
    if (r != CUDA_SUCCESS)
        return r;
    sim_wait_context(m->context);
    module_end(m);
    return CUDA_SUCCESS;
}

static bool is_missing(const char *name)
{
    return sim_name_starts(name, "missing");
}

CUresult sim_cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name)
{
    CUresult r = out && name ? sim_check(SIM_MODULE, m) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && is_missing(name))
        r = CUDA_ERROR_NOT_FOUND;
    if (r == CUDA_SUCCESS)
        *out = function_named(m, name);
    return r;
}

CUresult sim_cuModuleGetFunctionCount(unsigned int *out, CUmodule m)
{
    CUresult r = sim_check(SIM_MODULE, m);
    *out = 0;
    for (CUfunction f = r ? NULL : m->functions; f; f = f->next)
        ++*out;
    return r;
}

CUresult sim_cuModuleEnumerateFunctions(CUfunction *out, unsigned int count, CUmodule m)
{
    CUresult r = sim_check(SIM_MODULE, m);
    unsigned i = 0;
    for (CUfunction f = r ? NULL : m->functions; f && i < count; f = f->next)
        out[i++] = f;
    return r;
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *out)
{
    *out = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetName(const char **out, CUfunction f)
{
    CUresult r = out ? sim_check(SIM_FUNCTION, f) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = f->name;
    return r;
}

CUresult sim_cuFuncGetModule(CUmodule *out, CUfunction f)
{
    CUresult r = sim_check(SIM_FUNCTION, f);
    if (r == CUDA_SUCCESS)
        *out = f->module;
    return r;
}

CUresult sim_cuFuncLoad(CUfunction f)
{
    return sim_check(SIM_FUNCTION, f);
}

CUresult sim_cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction f)
{
    *out = CU_FUNCTION_LOADING_STATE_LOADED;
    return sim_check(SIM_FUNCTION, f);
}

/* A kernel's handle stands for its function on the current device. */
CUfunction sim_function_of(CUfunction handle)
{
    CUfunction f = NULL;
    if (sim_is(SIM_KERNEL, handle) && sim_cuKernelGetFunction(&f, (CUkernel)handle) == CUDA_SUCCESS)
        return f;
    return sim_check(SIM_FUNCTION, handle) == CUDA_SUCCESS ? handle : NULL;
}

CUresult sim_cuFuncGetAttribute(int *out, CUfunction_attribute which, CUfunction handle)
{
    CUfunction f = sim_function_of(handle);
    if (!out || which >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (f)
        *out = f->attribute[which];
    return f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* All have two: an address and a number. */
static CUresult parameter(size_t index, size_t *offset, size_t *size)
{
    static const size_t places[][2] = {{0, 8}, {8, 4}};
    if (index >= SIM_COUNT(places) || !offset)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = places[index][0];
    if (size)
        *size = places[index][1];
    return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *size)
{
    CUresult r = sim_check(SIM_FUNCTION, f);
    return r == CUDA_SUCCESS ? parameter(index, offset, size) : r;
}

CUresult sim_cuKernelGetParamInfo(CUkernel k, size_t index, size_t *offset, size_t *size)
{
    CUresult r = sim_check(SIM_KERNEL, k);
    return r == CUDA_SUCCESS ? parameter(index, offset, size) : r;
}

CUresult sim_cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value)
{
    CUfunction f = sim_function_of(handle);
    if (which >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (f)
        f->attribute[which] = value;
    return f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    (void)config;
    return sim_function_of(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- global variables ---- */

struct sim_global *sim_global_of(struct sim_global **list, const char *name)
{
    void *p = NULL;
    struct sim_global *g = *list;
    while (g && strcmp(g->name, name))
        g = g->next;
    if (g || sim_memory_new(SIM_GLOBAL_BYTES, SIM_DEVICE, 0, &p) != CUDA_SUCCESS)
        return g;
    g = calloc(1, sizeof(*g));
    g->name = strdup(name);
    g->memory = p;
    g->next = *list;
    *list = g;
    return g;
}

void sim_globals_free(struct sim_global **list)
{
    for (struct sim_global *g = *list, *next; g; g = next) {
        next = g->next;
        sim_memory_free((uintptr_t)g->memory, SIM_DEVICE);
        free(g->name);
        free(g);
    }
    *list = NULL;
}

CUresult sim_cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *bytes, CUmodule m, const char *name)
{
    CUresult r = name ? sim_check(SIM_MODULE, m) : CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS)
        return r;
    struct sim_global *g = is_missing(name) ? NULL : sim_global_of(&m->globals, name);
    if (!g)
        return CUDA_ERROR_NOT_FOUND;
    if (out)
        *out = (CUdeviceptr)(uintptr_t)g->memory;
    if (bytes)
        *bytes = SIM_GLOBAL_BYTES;
    return CUDA_SUCCESS;
}

/* ---- libraries ---- */

static CUresult library_new(CUlibrary *out, const void *image)
{
    if (!out || !image)
        return CUDA_ERROR_INVALID_VALUE;
    *out = sim_take(SIM_LIBRARY);
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit,
                               void **jit_values, unsigned int jit_count, CUlibraryOption *options,
                               void **values, unsigned int count)
{
    (void)jit;
    (void)jit_values;
    (void)jit_count;
    (void)options;
    (void)values;
    (void)count;
    return library_new(out, image);
}

CUresult sim_cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit,
                                   void **jit_values, unsigned int jit_count,
                                   CUlibraryOption *options, void **values, unsigned int count)
{
    (void)jit;
    (void)jit_values;
    (void)jit_count;
    (void)options;
    (void)values;
    (void)count;
    return path && access(path, R_OK) == 0 ? library_new(out, path) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult sim_cuLibraryUnload(CUlibrary l)
{
    CUresult r = sim_check(SIM_LIBRARY, l);
    if (r != CUDA_SUCCESS)
        return r;
    for (int i = 0; i < SIM_DEVICES; i++)
        if (l->modules[i]) {
            sim_wait_context(l->modules[i]->context);
            module_end(l->modules[i]);
        }
    for (CUkernel k = l->kernels, next; k; k = next) {
        next = k->next;
        spoil(k->name);
        sim_give(SIM_KERNEL, k);
    }
    sim_globals_free(&l->globals);
    sim_give(SIM_LIBRARY, l);
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernel(CUkernel *out, CUlibrary l, const char *name)
{
    CUresult r = out && name ? sim_check(SIM_LIBRARY, l) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && is_missing(name))
        r = CUDA_ERROR_NOT_FOUND;
    if (r != CUDA_SUCCESS)
        return r;
    CUkernel k = l->kernels;
    while (k && strcmp(k->name, name))
        k = k->next;
    if (!k) {
        k = sim_take(SIM_KERNEL);
        k->name = strdup(name);
        k->interned = sim_intern(name);
        k->library = l;
        k->next = l->kernels;
        l->kernels = k;
    }
    *out = k;
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetModule(CUmodule *out, CUlibrary l)
{
    CUcontext c;
    CUresult r = sim_check(SIM_LIBRARY, l);
    if (r == CUDA_SUCCESS)
        r = sim_need_context(&c);
    if (r != CUDA_SUCCESS)
        return r;
    if (!l->modules[c->device]) {
        CUmodule m = sim_take(SIM_MODULE);
        m->context = c;
        m->library = l;
        l->modules[c->device] = m;
    }
    *out = l->modules[c->device];
    return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetGlobal(CUdeviceptr *out, size_t *bytes, CUlibrary l, const char *name)
{
    CUmodule m;
    CUresult r = sim_cuLibraryGetModule(&m, l);
    return r == CUDA_SUCCESS ? sim_cuModuleGetGlobal_v2(out, bytes, m, name) : r;
}

CUresult sim_cuLibraryGetKernelCount(unsigned int *out, CUlibrary l)
{
    CUresult r = sim_check(SIM_LIBRARY, l);
    *out = 0;
    for (CUkernel k = r ? NULL : l->kernels; k; k = k->next)
        ++*out;
    return r;
}

CUresult sim_cuLibraryEnumerateKernels(CUkernel *out, unsigned int count, CUlibrary l)
{
    CUresult r = sim_check(SIM_LIBRARY, l);
    unsigned i = 0;
    for (CUkernel k = r ? NULL : l->kernels; k && i < count; k = k->next)
        out[i++] = k;
    return r;
}

CUresult sim_cuKernelGetFunction(CUfunction *out, CUkernel k)
{
    CUmodule m;
    CUresult r = sim_check(SIM_KERNEL, k);
    if (r == CUDA_SUCCESS)
        r = sim_cuLibraryGetModule(&m, k->library);
    if (r != CUDA_SUCCESS)
        return r;
    int device = m->context->device;
    if (!k->functions[device])
        k->functions[device] = function_named(m, k->name);
    *out = k->functions[device];
    return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetName(const char **out, CUkernel k)
{
    CUresult r = out ? sim_check(SIM_KERNEL, k) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = k->name;
    return r;
}

CUresult sim_cuKernelGetLibrary(CUlibrary *out, CUkernel k)
{
    CUresult r = sim_check(SIM_KERNEL, k);
    if (r == CUDA_SUCCESS)
        *out = k->library;
    return r;
}

CUresult sim_cuKernelGetAttribute(int *out, CUfunction_attribute which, CUkernel k, CUdevice device)
{
    CUresult r = sim_check(SIM_KERNEL, k);
    if (r == CUDA_SUCCESS && (!out || which >= CU_FUNC_ATTRIBUTE_MAX || !sim_valid_device(device)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        *out = k->functions[device]                  ? k->functions[device]->attribute[which]
               : (size_t)which < SIM_COUNT(defaults) ? defaults[which]
                                                     : 0;
    return r;
}

CUresult sim_cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel k,
                                  CUdevice device)
{
    CUresult r = sim_check(SIM_KERNEL, k);
    if (r == CUDA_SUCCESS && which < CU_FUNC_ATTRIBUTE_MAX && k->functions[device])
        k->functions[device]->attribute[which] = value;
    return r;
}
