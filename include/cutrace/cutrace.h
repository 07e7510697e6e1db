/* SPDX-License-Identifier: MIT */
/*
 * What a program may ask of cutrace while it runs. There is nothing to link with: a program that
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
 * Found by nobody: libraries of another namespace (dlmopen), statically linked programs, and
 * programs into which libcutrace.so was brought by dlopen(): for these there is no cutrace.
 */
#ifndef CUTRACE_CUTRACE_H
#define CUTRACE_CUTRACE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times are in nanoseconds, and those of the kernel, not of what was measured around it. */
struct cutrace_kernel {
    const char *name; /* as the compiler made it (mangled); valid as long as the process */
    int32_t device;   /* CUDA's number; -1: the sum of all */
    uint32_t reserved;
    uint64_t calls; /* launches seen while recording, with a time or without */
    uint64_t timed; /* of these, those that have a time by now; 0: so are the next four */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    uint64_t uncertainty_ns; /* what the mean, total_ns / timed, may be wrong by, either way */
    uint64_t estimated_ns; /* of all calls, where some have no time: as the table at exit has it */
    uint64_t upper_bounds; /* of the timed: times that are so much at most */
};

/* What libcutrace.so exports. Call the functions below instead. */
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
 * the last call of any of the four holds. What was launched before is still timed; what is launched
 * meanwhile is only counted, all in one number.
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
 * Has everything that is complete on the GPU by now put into the figures, and these into the
 * process's files. It does not wait for the GPU: synchronise before, for all that was launched.
 * ETIMEDOUT: not done after timeout_ms milliseconds, as when a call of the driver hangs; it will be
 * done as soon as possible. EIO: the profile's file cannot be written. ENODATA: CUDA has not been
 * initialised, there is no profile.
 */
static inline int cutrace_flush(unsigned timeout_ms)
{
    CUTRACE_CALL(cutrace_v1_flush, timeout_ms);
}

/*
 * The statistics so far of the kernel of that name, over all devices. Launches come into them
 * within some milliseconds after the kernel's end; cutrace_flush() has them come now. ENOENT: there
 * is none in them that was launched while recording. ETIMEDOUT: the thread that has the figures
 * hangs in the driver.
 */
static inline int cutrace_kernel(const char *name, struct cutrace_kernel *k)
{
    CUTRACE_CALL(cutrace_v1_kernel, name, k, sizeof(*k));
}

/*
 * The same of one kernel after the other, each device's apart, in the order in which they came:
 * starts with *cursor == 0, which it moves on. ENOENT: there are no more.
 */
static inline int cutrace_next_kernel(uint32_t *cursor, struct cutrace_kernel *k)
{
    CUTRACE_CALL(cutrace_v1_next_kernel, cursor, k, sizeof(*k));
}

/*
 * A range of the calling thread, from here to the cutrace_range_pop() that belongs to it: how long
 * it took, what was called and what ran on the GPU in it, in the same tables and timelines as those
 * of NVTX, in a domain of its own, "cutrace". They nest, and in those of NVTX. Up to 1,023 bytes of
 * the name count, and are copied. EINVAL: it is empty. ENOENT: none is open.
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
