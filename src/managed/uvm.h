/* SPDX-License-Identifier: MIT */
/*
 * The kernel driver's reports about a process's own managed memory: events in a queue of the
 * process, which /dev/nvidia-uvm-tools fills.
 *
 * The interface is that of NVIDIA/open-gpu-kernel-modules (MIT), kernel-open/nvidia-uvm/uvm_ioctl.h
 * and uvm_types.h, in its first version: drivers from 515 on have it, and those that know a second
 * one give the first to a caller that asks for it. Checked on driver 580.159.04.
 *
 * Nothing here takes the host's memory, or believes the queue's contents, which lie in the
 * program's address space.
 */
#ifndef CT_UVM_H
#define CT_UVM_H

#include <stdatomic.h>

#include "base/base.h"
#include "system/fd.h"

#define CT_UVM_TYPES 64
#define CT_UVM_PROCESSORS 33 /* the host is 0 */
#define CT_UVM_UUID_BYTES 16

enum ct_uvm_type {
    CT_UVM_CPU_FAULT = 1,
    CT_UVM_MIGRATION = 2,
    CT_UVM_GPU_FAULT = 3,
    CT_UVM_REPLAY = 4, /* a batch of faults has been dealt with */
};

/* Processors are numbers of the UUID table. `ns` are of CLOCK_MONOTONIC_RAW, `gpu_ns` the GPU's. */
union ct_uvm_entry {
    uint8_t type; /* enum ct_uvm_type */
    struct {
        uint8_t type, cause, from, to; /* cause: enum ct_unified_cause */
        uint32_t unused;
        uint64_t address, bytes, begin_ns, end_ns, range_group, gpu_begin_ns, gpu_end_ns;
    } migration;
    struct {
        uint8_t type, fault, access, gpu;
        uint16_t unit, client;
        uint64_t address, ns, gpu_ns;
        uint32_t batch;
    } gpu_fault;
    struct {
        uint8_t type, gpu, client, unused;
        uint32_t batch;
        uint64_t ns, gpu_ns;
    } replay;
    struct {
        uint8_t type, access;
        uint16_t unused[3];
        uint64_t address, ns;
    } cpu_fault;
    uint64_t words[8];
};
_Static_assert(sizeof(union ct_uvm_entry) == 64, "the driver's size of an entry");

/* Entries from get to put are there to be read. The driver reads the get fields, we the others. */
struct ct_uvm_control {
    _Atomic uint32_t get_ahead, get_behind;
    _Atomic uint32_t put_ahead, put_behind;
    _Atomic uint64_t dropped[CT_UVM_TYPES]; /* by type of event: the queue was full */
};

struct ct_uvm_queue {
    union ct_uvm_entry *entry;
    struct ct_uvm_control *control;
    uint32_t entries; /* a power of two */
    uint32_t get;     /* the next to read */
};

/* Calls `each` for every entry that has come; returns how many. One thread at a time. */
uint32_t ct_uvm_queue_take(struct ct_uvm_queue *q,
                           void (*each)(const union ct_uvm_entry *entry, void *arg), void *arg);

/* An open device with its queue. */
struct ct_uvm {
    struct ct_fd tools; /* descriptor that the queue belongs to */
    struct ct_fd space; /* a duplicate of the program's own descriptor of /dev/nvidia-uvm */
    struct ct_uvm_queue queue;
};

enum ct_uvm_result {
    CT_UVM_OPEN,
    CT_UVM_NOT_YET, /* the program has no managed memory's address space so far */
    CT_UVM_REFUSED, /* the device is not there, not for us, or of another version */
};

/*
 * Has the driver report on this process from now on. Any thread of the program's; errno is kept.
 * With anything but CT_UVM_OPEN nothing is left open.
 */
enum ct_uvm_result ct_uvm_open(struct ct_uvm *u);

/* In the child of a fork the queue's memory is not there. */
void ct_uvm_close(struct ct_uvm *u);

/*
 * Has the driver put events that ended on the GPU into the queue: without a flush it does so only
 * when it has something else to do there. False: the program has closed our descriptors.
 */
bool ct_uvm_flush(struct ct_uvm *u);

/* The UUID of each processor number; all zero: unused. False: the driver did not answer. */
bool ct_uvm_uuids(const struct ct_uvm *u, uint8_t uuids[CT_UVM_PROCESSORS][CT_UVM_UUID_BYTES]);

#endif
