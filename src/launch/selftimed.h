/* SPDX-License-Identifier: MIT */
/*
 * The self-timed kernel: it knows by the GPU's own clock when it began and when it ended. It is
 * text of PTX, which the driver compiles for the device at hand.
 */
#ifndef CT_SELFTIMED_H
#define CT_SELFTIMED_H

#include "base/base.h"
#include "cuda/api.h"

struct ct_context;

/* Stamps of so many launches are kept on the device. */
#define CT_SELFTIMED_SLOTS 32

/*
 * (uint64_t ticks, uint64_t slot): spins for so many cycles of its multiprocessor's clock. Each of
 * its threads writes the stamps to a place of its own, the first one to the slot.
 */
#define CT_SELFTIMED_KERNEL "cutrace_selftimed"
#define CT_SELFTIMED_THREADS 32
#define CT_SELFTIMED_APART 4096 /* bytes, from one such place to the next */
/*
 * (uint64_t *to, uint64_t slots): copies to host memory the address of the stamps on the device,
 * then both stamps of each slot.
 */
#define CT_SELFTIMED_READ "cutrace_selftimed_read"
#define CT_SELFTIMED_WORDS (1 + 2 * CT_SELFTIMED_SLOTS)

extern const char ct_selftimed_ptx[];

/* Both kernels in a context; they go with it. */
struct ct_selftimed {
    const struct ct_context *context;
    CUfunction kernel, read;
    const volatile uint64_t *words; /* where the reading kernel writes: page-locked */
    CUdeviceptr words_on_device;
};

/* Whether the driver has all functions that are needed. */
bool ct_selftimed_is_possible(void);

/*
 * Loads both kernels into the context, which is current to a thread between ct_relaxed_enter() and
 * _leave(). May wait for the context's work. False: the kernels cannot be used.
 */
bool ct_selftimed_load(struct ct_selftimed *k, const struct ct_context *c);

/* Submit a launch of a kernel to a stream of the context; the first one spins for so many ns. */
CUresult ct_selftimed_launch(const struct ct_selftimed *k, CUstream stream, uint64_t ns,
                             uint32_t slot);
CUresult ct_selftimed_launch_read(const struct ct_selftimed *k, CUstream stream, uint32_t slots);

#endif
