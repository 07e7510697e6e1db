/* SPDX-License-Identifier: MIT */
/* The kernels of the driver API programs; compiled to PTX and to a cubin. */

extern "C" __global__ void add_one(int *data, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        data[i] += 1;
}

extern "C" __global__ void scale(int *data, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        data[i] *= 3;
}

/* These two come out the same however often they run side by side. */
extern "C" __global__ void count_one(int *data, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        atomicAdd(&data[i], 1);
}

extern "C" __global__ void count_two(int *data, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        atomicAdd(&data[i], 2);
}

template <typename T> __global__ void mangled(T *data, unsigned int elements)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < elements)
        data[i] ^= (T)0x55;
}

template __global__ void mangled<int>(int *, unsigned int);

extern "C" __global__ void bad_address(int *data, unsigned int elements)
{
    if (elements)
        *(volatile int *)((size_t)data | 1) = 1;
}

extern "C" __global__ void spin_ns(unsigned long long duration_ns)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < duration_ns);
}
