/* SPDX-License-Identifier: MIT */
/*
 * The kernel driver's device of events on managed memory, for a program that is linked with
 * uvm_tools.c: its open, readlink and ioctl are those that libraries of the process get, too.
 * Before uvm_tools_start() they are libc's.
 */
#ifndef UVM_TOOLS_H
#define UVM_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

/* How it answers. All zero: as a driver that knows one version. */
struct uvm_tools {
    bool absent;                     /* there is no device */
    bool silent;                     /* no descriptor has the address space */
    uint32_t granted;                /* version */
    uint8_t uuids[33][16];           /* by processor */
    unsigned opened, inits, flushes; /* how often */
};
extern struct uvm_tools uvm_tools;

/* Opens the program's own two descriptors of /dev/nvidia-uvm. False: it cannot. */
bool uvm_tools_start(void);

/* As the driver puts an event of 64 bytes into the queue: at once, or when it is asked to. */
void uvm_tools_put(const void *entry);
void uvm_tools_put_late(const void *entry);

/* Whether the queue is open and all of it has been read. */
bool uvm_tools_is_read(void);
bool uvm_tools_is_open(void);

/* How many descriptors the process has of the device and of the address space. */
unsigned uvm_tools_descriptors(void);

#endif
