/* SPDX-License-Identifier: MIT */
/* curand: numbers of each generator, uniform, normal and Poisson, in two streams. */
#include "library.h"
#include <curand.h>

#define COUNT ((size_t)1 << 20)

static void generate(curandRngType_t type, cudaStream_t stream, float *out, unsigned *events)
{
    curandGenerator_t generator;

    OK(curandCreateGenerator(&generator, type));
    OK(curandSetStream(generator, stream));
    for (int i = 0; i < 5; i++) {
        OK(curandGenerateUniform(generator, out, COUNT));
        OK(curandGenerateNormal(generator, out, COUNT, 0.0f, 1.0f));
        OK(curandGeneratePoisson(generator, events, COUNT, 4.0));
    }
    OK(cudaStreamSynchronize(stream));
    OK(curandDestroyGenerator(generator));
}

int main(void)
{
    static const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                            CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_QUASI_SOBOL32};
    float *out = library_floats(COUNT);
    unsigned *events = NULL;
    cudaStream_t streams[2];

    OK(cudaMalloc((void **)&events, COUNT * sizeof(*events)));
    for (int i = 0; i < 2; i++)
        OK(cudaStreamCreateWithFlags(&streams[i], i ? cudaStreamNonBlocking : cudaStreamDefault));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        generate(types[i], streams[i % 2], out, events);
    library_print("curand", out, COUNT);
    OK(cudaFree(out));
    OK(cudaFree(events));
    return 0;
}
