/* SPDX-License-Identifier: MIT */
/*
 * cufft: transforms of several lengths, forward and back, in one, two and three dimensions.
 *
 * Plans live until the end. A destroyed plan's module is unloaded and its function handles come
 * back for other kernels, and CUPTI looks names up after the fact: it then gives some launches the
 * name of a kernel that was loaded later.
 */
#include "library.h"
#include <cufft.h>

#define MOST ((size_t)1 << 22)

static void there_and_back(cufftHandle plan, float *data)
{
    OK(cufftExecC2C(plan, (cufftComplex *)data, (cufftComplex *)data, CUFFT_FORWARD));
    OK(cufftExecC2C(plan, (cufftComplex *)data, (cufftComplex *)data, CUFFT_INVERSE));
}

int main(void)
{
    static const int lengths[] = {64, 1000, 4096, 65536, 1048576};
    float *data = library_floats(MOST), *out = library_floats(MOST);
    cufftHandle plan;

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        OK(cufftPlan1d(&plan, lengths[i], CUFFT_C2C, 1));
        there_and_back(plan, out);
    }
    OK(cufftPlan2d(&plan, 256, 512, CUFFT_C2C));
    there_and_back(plan, out);
    OK(cufftPlan3d(&plan, 64, 64, 32, CUFFT_C2C));
    there_and_back(plan, out);
    OK(cufftPlan1d(&plan, 4096, CUFFT_R2C, 64));
    for (int i = 0; i < 10; i++)
        OK(cufftExecR2C(plan, data, (cufftComplex *)out));
    library_print("cufft", out, 4096 * 64);
    OK(cudaFree(data));
    OK(cudaFree(out));
    return 0;
}
