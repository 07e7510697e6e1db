/* SPDX-License-Identifier: MIT */
/*
 * Has managed memory, of which the simulated kernel driver (uvm_tools.h) tells some events:
 * "moves": that is all; "fork": a child comes and goes in between; "close": all descriptors are
 * closed in between, as daemons do; "absent": there is no such device; "none": no managed memory.
 */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uvm_tools.h"

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fprintf(stderr, "%s failed\n", #call);                                                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Entries of the driver, as it writes them on x86-64 and aarch64. */
static void migrate(unsigned from, unsigned to, uint64_t bytes, uint64_t ns)
{
    uint64_t entry[8] = {
        2 | 2 << 8 | from << 16 | to << 24, 0x10000, bytes, 1, 2, 0, 100, 100 + ns};
    uvm_tools_put(entry);
}

static void fault(uint32_t batch, uint64_t ns)
{
    uint64_t entry[8] = {3 | 1u << 24, 0x10000, ns, 0, batch};
    uvm_tools_put(entry);
}

/* The driver tells of a replay when it has next to do with the GPU. */
static void replay(uint32_t batch, uint64_t ns)
{
    uint64_t entry[8] = {4 | 1 << 8 | (uint64_t)batch << 32, ns};
    uvm_tools_put_late(entry);
}

static void fault_on_host(void)
{
    uint64_t entry[8] = {1, 0x10000, 100};
    uvm_tools_put(entry);
}

static void go_on(void)
{
    migrate(0, 1, 65536, 1000);
    migrate(0, 1, 131072, 3000);
    migrate(1, 0, 4096, 500);
    for (int i = 0; i < 24; i++)
        fault(7, 1000);
    replay(7, 21000);
    fault_on_host();
    fault_on_host();
}

/* Of the three on the device and the address space only the program's is open in the child. */
static void have_a_child(void)
{
    int status;
    pid_t child = fork();
    if (!child)
        _exit(uvm_tools_descriptors() != 1);
    CHECK(waitpid(child, &status, 0) != child);
    CHECK(status);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct cudaDeviceProp p;
    void *memory;
    CHECK(cudaGetDeviceProperties(&p, 0));
    uvm_tools.absent = !strcmp(what, "absent");
    memset(uvm_tools.uuids[0], 0xa6, 16);
    memcpy(uvm_tools.uuids[1], p.uuid.bytes, 16);
    CHECK(!uvm_tools_start());
    if (strcmp(what, "none"))
        CHECK(cudaMallocManaged(&memory, 1 << 20, cudaMemAttachGlobal));
    if (!strcmp(what, "fork"))
        have_a_child();
    go_on();
    if (!strcmp(what, "close"))
        close_range(3, ~0u, 0);
    printf("opened %u, watched %d\n", uvm_tools.opened, uvm_tools_is_open());
    return 0;
}
