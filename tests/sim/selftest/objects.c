/* SPDX-License-Identifier: MIT */
/* Devices, contexts, modules, entry points. */
#include "selftest.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(devices_differ)
{
    CUuuid id[2];
    char name[64];
    int n;
    size_t bytes;
    cudasim_set("CUDASIM_DEVICES", "2");
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    ck_assert_int_eq(n, 2);
    for (int d = 0; d < 2; d++) {
        OK(cuDeviceGetUuid(&id[d], d));
        OK(cuDeviceGetName(name, sizeof(name), d));
        ck_assert_str_eq(name, "Simulated H200");
        OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d));
        ck_assert_int_eq(n, 132);
        OK(cuDeviceTotalMem(&bytes, d));
        ck_assert_uint_eq(bytes >> 30, 139);
    }
    ck_assert_int_ne(memcmp(&id[0], &id[1], sizeof(id[0])), 0);
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGetUuid(id, 2));
}
END_TEST

START_TEST(no_device)
{
    cudasim_set("CUDASIM_DEVICES", "0");
    FAILS(CUDA_ERROR_NO_DEVICE, cuInit(0));
}
END_TEST

START_TEST(nothing_before_init)
{
    CUcontext c;
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuCtxGetCurrent(&c));
}
END_TEST

START_TEST(a_child_has_no_driver)
{
    int status;
    self_begin();
    pid_t child = fork();
    if (!child) {
        CUcontext c;
        _exit(cuCtxGetCurrent(&c) == CUDA_ERROR_NOT_INITIALIZED &&
                      cuInit(0) == CUDA_ERROR_NOT_INITIALIZED
                  ? 0
                  : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- contexts ---- */

START_TEST(every_way_to_create_a_context)
{
    typedef CUresult create_fn(CUcontext *, unsigned, CUdevice);
    typedef CUresult create_v3_fn(CUcontext *, void *, int, unsigned, CUdevice);
    create_fn *v2 = (create_fn *)dlsym(RTLD_DEFAULT, "cuCtxCreate_v2");
    create_v3_fn *v3 = (create_v3_fn *)dlsym(RTLD_DEFAULT, "cuCtxCreate_v3");
    CUcontext c[3], current;
    OK(cuInit(0));
    OK(v2(&c[0], 0, 0));
    OK(v3(&c[1], NULL, 0, 0, 0));
    OK(cuCtxCreate(&c[2], NULL, 0, 0));
    for (int i = 2; i >= 0; i--) {
        OK(cuCtxGetCurrent(&current));
        ck_assert_ptr_eq(current, c[i]);
        OK(cuCtxPopCurrent(&current));
        OK(cuCtxDestroy(c[i]));
    }
    OK(cuCtxGetCurrent(&current));
    ck_assert_ptr_null(current);
}
END_TEST

START_TEST(a_reset_context_comes_back)
{
    CUcontext c = self_begin(), again;
    CUstream s;
    CUdeviceptr p;
    unsigned long long before, after;
    int active;
    unsigned flags;
    OK(cuCtxGetId(c, &before));
    OK(cuDevicePrimaryCtxReset(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuStreamCreate(&s, 0));
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    ck_assert_ptr_eq(again, c);
    OK(cuCtxGetId(c, &after));
    ck_assert_uint_ne(before, after);
    OK(cuMemAlloc(&p, 100)); /* it still is the current one */
}
END_TEST

START_TEST(the_last_release_ends_a_primary_context)
{
    CUcontext c = self_begin();
    unsigned flags;
    int active;
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 1);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
}
END_TEST

static void use_own_stream(void *function)
{
    OK(self_launch(function, CU_STREAM_PER_THREAD));
}

static CUstream stream_for_a_moment(void)
{
    CUstream s = self_stream(0);
    OK(cuStreamDestroy(s));
    return s;
}

/* And when what was in it is done, its handle comes back. */
START_TEST(a_threads_own_stream_ends_with_it)
{
    self_begin();
    CUstream before = stream_for_a_moment();
    self_in_thread(use_own_stream, self_function("kernel"));
    OK(cuCtxSynchronize());
    ck_assert_ptr_eq(stream_for_a_moment(), before);
}
END_TEST

static void CUDA_CB open_later(void *gate)
{
    usleep(20000);
    self_open(gate);
}

START_TEST(a_context_goes_with_all_it_has)
{
    static int gate;
    CUcontext c;
    OK(cuInit(0));
    uint64_t before = cudasim_open_handles();
    OK(cuCtxCreate(&c, NULL, 0, 0));
    CUstream s = self_stream(0), t = self_stream(0);
    self_event(0);
    self_gate(s, &gate);
    OK(cuLaunchHostFunc(t, open_later, &gate));
    OK(cuCtxDestroy(c)); /* what is pending ends first */
    ck_assert_uint_eq(self_count("kernel", "gate"), 1);
    ck_assert_uint_eq(cudasim_events_alive(), 0);
    ck_assert_uint_eq(cudasim_open_handles(), before);
}
END_TEST

START_TEST(a_green_context_is_in_the_primary_one)
{
    CUcontext c = self_begin(), converted, of_stream;
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green, asked;
    CUstream s;
    unsigned groups = 1;
    OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 16));
    OK(cuDevResourceGenerateDesc(&description, &part, 1));
    OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    OK(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
    OK(cuCtxFromGreenCtx(&converted, green));
    OK(cuStreamGetCtx(s, &of_stream));
    ck_assert_ptr_eq(of_stream, converted);
    OK(cuStreamGetGreenCtx(s, &asked));
    ck_assert_ptr_eq(asked, green);
    OK(cuCtxSetCurrent(c));
    OK(cuEventRecord(self_event(0), s)); /* an event of the primary one */
    OK(cuGreenCtxDestroy(green));
}
END_TEST

START_TEST(streams_tell_of_themselves)
{
    CUcontext c = self_begin(), asked;
    CUstream s;
    unsigned flags;
    int priority;
    unsigned long long id[2];
    OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -3));
    OK(cuStreamGetPriority(s, &priority));
    ck_assert_int_eq(priority, -3);
    OK(cuStreamGetFlags(s, &flags));
    ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetCtx(s, &asked));
    ck_assert_ptr_eq(asked, c);
    OK(cuStreamGetId(s, &id[0]));
    OK(cuStreamDestroy(s));
    CUstream again = self_stream(0);
    ck_assert_ptr_eq(again, s); /* the handle comes back, the id does not */
    OK(cuStreamGetId(again, &id[1]));
    ck_assert_uint_ne(id[0], id[1]);
}
END_TEST

/* ---- modules ---- */

START_TEST(functions_are_found_by_name)
{
    CUmodule m;
    CUfunction f, g, listed[2];
    const char *name;
    int value;
    self_begin();
    OK(cuModuleLoadData(&m, "image"));
    OK(cuModuleGetFunction(&f, m, "one"));
    OK(cuModuleGetFunction(&g, m, "one"));
    ck_assert_ptr_eq(f, g);
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&g, m, "missing"));
    OK(cuFuncGetName(&name, f));
    ck_assert_str_eq(name, "one");
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
    ck_assert_int_eq(value, 32);
    size_t offset, size;
    OK(cuFuncGetParamInfo(f, 1, &offset, &size));
    ck_assert_uint_eq(offset + size, 12);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 2, &offset, &size));
    OK(cuModuleEnumerateFunctions(listed, 2, m));
    ck_assert_ptr_eq(listed[0], f);
    OK(cuModuleUnload(m));
    OK(cuModuleLoadData(&m, "image"));
    OK(cuModuleGetFunction(&g, m, "two"));
    ck_assert_ptr_eq(g, f); /* another function, the same handle */
    OK(cuFuncGetName(&name, g));
    ck_assert_str_eq(name, "two");
}
END_TEST

START_TEST(a_kernel_is_no_function)
{
    CUlibrary l;
    CUkernel k;
    CUfunction f;
    const char *name;
    self_begin();
    OK(cuLibraryLoadData(&l, "image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&k, l, "kernel"));
    OK(cuKernelGetName(&name, k));
    ck_assert_str_eq(name, "kernel");
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncGetName(&name, (CUfunction)k));
    OK(cuKernelGetFunction(&f, k));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuKernelGetName(&name, (CUkernel)f));
    OK(self_launch((CUfunction)k, NULL));
    OK(self_launch(f, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(self_count("kernel", "kernel"), 2);
    OK(cuLibraryUnload(l));
}
END_TEST

START_TEST(every_way_to_launch)
{
    typedef CUresult shape_fn(CUfunction, int, int, int);
    typedef CUresult grid_fn(CUfunction, int, int);
    typedef CUresult grid_async_fn(CUfunction, int, int, CUstream);
    typedef CUresult once_fn(CUfunction);
    self_begin();
    CUfunction f = self_function("kernel");
    CUstream s = self_stream(0);
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 1,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = s};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    OK(cuLaunchKernelEx(&config, f, NULL, NULL));
    OK(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL));
    OK(((shape_fn *)dlsym(RTLD_DEFAULT, "cuFuncSetBlockShape"))(f, 32, 1, 1));
    OK(((grid_fn *)dlsym(RTLD_DEFAULT, "cuLaunchGrid"))(f, 1, 1));
    OK(((grid_async_fn *)dlsym(RTLD_DEFAULT, "cuLaunchGridAsync"))(f, 1, 1, s));
    OK(((once_fn *)dlsym(RTLD_DEFAULT, "cuLaunch"))(f));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(self_count("kernel", "kernel"), 6);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1025, 1, 1, 0, s, NULL, NULL));
}
END_TEST

/* ---- entry points ---- */

static void *entry(const char *name, int version, cuuint64_t flags, int expected)
{
    void *p = NULL;
    CUdriverProcAddressQueryResult status;
    OK(cuGetProcAddress(name, &p, version, flags, &status));
    ck_assert_int_eq(status, expected);
    return p;
}

static void *symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

START_TEST(entry_points_by_version_and_flag)
{
    const int ok = CU_GET_PROC_ADDRESS_SUCCESS;
    void *p;
    OK(cuInit(0));
    ck_assert_ptr_eq(entry("cuCtxCreate", 3020, 0, ok), symbol("cuCtxCreate_v2"));
    ck_assert_ptr_eq(entry("cuCtxCreate", 12050, 0, ok), symbol("cuCtxCreate_v4"));
    ck_assert_ptr_eq(entry("cuLaunchKernel", 13000, 0, ok), symbol("cuLaunchKernel"));
    ck_assert_ptr_eq(entry("cuLaunchKernel", 13000, 2, ok), symbol("cuLaunchKernel_ptsz"));
    ck_assert_ptr_eq(entry("cuCtxGetCurrent", 13000, 2, ok), symbol("cuCtxGetCurrent"));
    ck_assert_ptr_null(entry("cuNoSuchThing", 13000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
    ck_assert_ptr_null(
        entry("cuFuncGetName", 11000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &p, 99000, 0, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &p, 13000, 9, NULL));
}
END_TEST

TCase *self_objects(void)
{
    TCase *t = tcase_create("objects");
    tcase_add_test(t, devices_differ);
    tcase_add_test(t, no_device);
    tcase_add_test(t, nothing_before_init);
    tcase_add_test(t, a_child_has_no_driver);
    tcase_add_test(t, every_way_to_create_a_context);
    tcase_add_test(t, a_reset_context_comes_back);
    tcase_add_test(t, the_last_release_ends_a_primary_context);
    tcase_add_test(t, a_context_goes_with_all_it_has);
    tcase_add_test(t, a_green_context_is_in_the_primary_one);
    tcase_add_test(t, a_threads_own_stream_ends_with_it);
    tcase_add_test(t, streams_tell_of_themselves);
    tcase_add_test(t, functions_are_found_by_name);
    tcase_add_test(t, a_kernel_is_no_function);
    tcase_add_test(t, every_way_to_launch);
    tcase_add_test(t, entry_points_by_version_and_flag);
    return t;
}
