/* SPDX-License-Identifier: MIT */
/* A library that has nothing to do with CUDA, whatever its functions are called. */
#include <stddef.h>

/* clang-format off */
#define STRANGERS(X) \
    X(cublasCreate_v2) X(cudnnCreate) X(cufftPlan1d) X(curl_easy_init) X(curs_set) X(cuserid) \
    X(cuLaunchRocket) X(cuMemcpyOwn) X(cuMemsetOwn_ptsz) X(cudaLaunchParty) X(__cudaOther) \
    X(cuInit) X(cuLaunchKernel) X(cuMemcpyHtoD_v2) X(cudaMalloc) X(cudaLaunchKernel)
/* clang-format on */

struct stranger {
    const char *name;
    void (*function)(void);
};

/* The alias cannot be interposed: it says where this library's own function is. */
#define DEFINE(name)                                                                               \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
    }                                                                                              \
    static void own_##name(void) __attribute__((alias(#name)));
STRANGERS(DEFINE)

#define ENTRY(name) {#name, own_##name},
extern const struct stranger strangers[];
const struct stranger strangers[] = {STRANGERS(ENTRY){NULL, NULL}};
