/* SPDX-License-Identifier: MIT */
/* By its functions a runtime, and one of tomorrow: it has one that nobody here has heard of. */
#include <stddef.h>

int cudaRuntimeGetVersion(int *version);
int cudaGetDevice(int *device);
void **__cudaRegisterFatBinary(void *binary);
int cudaMemcpyNextAsync(int a);

int cudaRuntimeGetVersion(int *version)
{
    return *version = 19000, 0;
}

int cudaGetDevice(int *device)
{
    return *device = 0, 0;
}

void **__cudaRegisterFatBinary(void *binary)
{
    (void)binary;
    return NULL;
}

int cudaMemcpyNextAsync(int a)
{
    return a + 1;
}
