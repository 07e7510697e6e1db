/* SPDX-License-Identifier: MIT */
/*
 * The self-timed kernel: it knows by the GPU's own clock when it began and when it ended. As text
 * of PTX: the driver compiles it for the device at hand.
 */
#ifndef CT_SELFTIMED_H
#define CT_SELFTIMED_H

/* Stamps of so many launches are kept on the device. */
#define CT_SELFTIMED_SLOTS 32

/* (uint64_t ticks, uint64_t slot): spins for so many cycles of its multiprocessor's clock. */
#define CT_SELFTIMED_KERNEL "cutrace_selftimed"
/*
 * (uint64_t *to, uint64_t slots): copies to host memory the address of the stamps on the device,
 * then of each slot both stamps.
 */
#define CT_SELFTIMED_READ "cutrace_selftimed_read"

extern const char ct_selftimed_ptx[];

#endif
