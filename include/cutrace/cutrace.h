/* SPDX-License-Identifier: MIT */
/*
 * Calls to cutrace for a program that runs under it. There is nothing to link with: a program that
 * includes this runs with and without libcutrace.so preloaded, and without it each function costs a
 * test and returns ENOSYS.
 *
 *     cutrace_pause();
 *     warm_up();
 *     cutrace_resume();
 *
 * All functions return 0 or one of errno's numbers, leave errno as it is, and may be called from
 * any thread at any time, also from libraries that were opened by dlopen(); not from handlers of
 * signals. ECANCELED: cutrace is there, and does not record in this process, or no longer (at exit,
 * in a set-user-id program, under CUTRACE_CHILDREN=off, where there was no memory).
 *
 * There is no cutrace for libraries of another namespace (dlmopen), statically linked programs, and
 * programs into which libcutrace.so was brought by dlopen().
 */
#ifndef CUTRACE_CUTRACE_H
#define CUTRACE_CUTRACE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel's figures. Times are in ns, and the kernel's own, not those measured around it. */
struct cutrace_kernel {
    const char *name; /* as the compiler made it (mangled); valid as long as the process */
    int32_t device;   /* CUDA's number; -1: the sum over all devices */
    uint32_t reserved;
    uint64_t calls; /* launches seen while recording, with a time or without */
    uint64_t timed; /* calls that have a time by now; 0: so are the next four */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t uncertainty_ns; /* of the mean, total_ns / timed: error at most, either way */
    uint64_t estimated_ns;   /* of all calls, where some have no time: as at exit */
    uint64_t upper_bounds;   /* timed calls whose times are only upper bounds */
};

/* The symbols of libcutrace.so. Call the functions below instead. */
int cutrace_v1_pause(void) __attribute__((weak));
int cutrace_v1_resume(void) __attribute__((weak));
int cutrace_v1_is_recording(void) __attribute__((weak));
int cutrace_v1_flush(unsigned timeout_ms) __attribute__((weak));
int cutrace_v1_kernel(const char *name, struct cutrace_kernel *k, size_t size)
    __attribute__((weak));
int cutrace_v1_next_kernel(uint32_t *cursor, struct cutrace_kernel *k, size_t size)
    __attribute__((weak));

int cutrace_v1_range_push(const char *name) __attribute__((weak));
int cutrace_v1_range_pop(void) __attribute__((weak));

/*
 * The address of a weak function, through the global offset table: as a constant, as compilers have
 * it in programs that are not position-independent, the linker would make it 0 for good.
 */
#if defined(__x86_64__)
#define CUTRACE_ADDRESS(p, name)                                                                   \
    __asm__(".weak " #name "\n\tmovq " #name "@GOTPCREL(%%rip), %0" : "=r"(p))
#elif defined(__aarch64__)
#define CUTRACE_ADDRESS(p, name)                                                                   \
    __asm__(".weak " #name "\n\tadrp %0, :got:" #name "\n\tldr %0, [%0, :got_lo12:" #name "]"      \
            : "=r"(p))
#else
#define CUTRACE_ADDRESS(p, name) ((p) = name)
#endif

#define CUTRACE_CALL(name, ...)                                                                    \
    __typeof__(&name) cutrace_f;                                                                   \
    CUTRACE_ADDRESS(cutrace_f, name);                                                              \
    return cutrace_f ? cutrace_f(__VA_ARGS__) : ENOSYS

/*
 * Switch recording of the whole process off and on, as cudaProfilerStop and cudaProfilerStart do:
 * the last call of any of the four holds. Operations launched before are still timed; those
 * launched meanwhile are only counted, all in one number.
 */
static inline int cutrace_pause(void)
{
    CUTRACE_CALL(cutrace_v1_pause);
}

static inline int cutrace_resume(void)
{
    CUTRACE_CALL(cutrace_v1_resume);
}

/* 1: recording is on; 0: it is off, or there is no cutrace. */
static inline int cutrace_is_recording(void)
{
    __typeof__(&cutrace_v1_is_recording) f;
    CUTRACE_ADDRESS(f, cutrace_v1_is_recording);
    return f ? f() : 0;
}

/*
 * Puts everything that is complete on the GPU by now into the figures, and these into the process's
 * files. Does not wait for the GPU: synchronise before, for all that was launched. ETIMEDOUT: not
 * done after timeout_ms milliseconds, as when a call of the driver hangs; it will be done as soon
 * as possible. EIO: the profile's file cannot be written. ENODATA: CUDA has not been initialised,
 * there is no profile.
 */
static inline int cutrace_flush(unsigned timeout_ms)
{
    CUTRACE_CALL(cutrace_v1_flush, timeout_ms);
}

/*
 * The statistics so far of the kernel of that mangled name, over all devices. Launches come into
 * them within some milliseconds after the kernel's end; cutrace_flush() has them come now. ENOENT:
 * no launch of it while recording is in them. ETIMEDOUT: the thread that has the figures hangs in
 * the driver.
 */
static inline int cutrace_kernel(const char *name, struct cutrace_kernel *k)
{
    CUTRACE_CALL(cutrace_v1_kernel, name, k, sizeof(*k));
}

/*
 * The statistics of one kernel after the other, each device's apart, in the order in which they
 * came: starts with *cursor == 0, which it moves on. ENOENT: there are no more.
 */
static inline int cutrace_next_kernel(uint32_t *cursor, struct cutrace_kernel *k)
{
    CUTRACE_CALL(cutrace_v1_next_kernel, cursor, k, sizeof(*k));
}

/*
 * A range of the calling thread, from here to the cutrace_range_pop() that belongs to it: its time,
 * the calls in it and the work that they put on the GPU are in the tables and timelines of NVTX
 * ranges, in a domain of its own, "cutrace". Ranges nest, also in those of NVTX. Up to 1,023 bytes
 * of the name count, and are copied. EINVAL: the name is empty. ENOENT: no range is open.
 */
static inline int cutrace_range_push(const char *name)
{
    CUTRACE_CALL(cutrace_v1_range_push, name);
}

static inline int cutrace_range_pop(void)
{
    CUTRACE_CALL(cutrace_v1_range_pop);
}

#ifdef __cplusplus
}
#endif

#endif
