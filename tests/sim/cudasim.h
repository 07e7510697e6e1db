/* SPDX-License-Identifier: MIT */
/*
 * What the simulated device tells a test, beside the CUDA interface. Find these functions by
 * dlsym on the loaded libcuda.so.1; see README.md for the environment variables.
 */
#ifndef CUDASIM_H
#define CUDASIM_H

#include <stdint.h>

/* Operations of one kind and name that have run. */
struct cudasim_truth {
    uint64_t count;
    uint64_t total_ns, min_ns, max_ns;
    uint64_t bytes;
};

/*
 * kind: kernel copy set graph prefetch graphkernel graphcopy graphset. name: of the kernel, HtoD
 * and the like for copies and prefetches, "memset" and "graph" for the others; NULL: all names of
 * the kind together. Returns 1, or 0 if nothing of the sort has run.
 */
typedef int cudasim_truth_fn(const char *kind, const char *name, struct cudasim_truth *out);

typedef uint64_t cudasim_count_fn(void);
/* When all that is in a stream will have ended: CLOCK_MONOTONIC with CUDASIM_HOST_CLOCK. */
typedef uint64_t cudasim_end_fn(void *stream);
/* As if the environment variable had been set at start-up; NULL: unset. */
typedef void cudasim_set_fn(const char *variable, const char *value);

/*
 *   cudasim_truth_fn  cudasim_truth
 *   cudasim_count_fn  cudasim_events_alive    events created and not destroyed
 *   cudasim_count_fn  cudasim_open_handles    contexts, streams, events, modules, graphs alive
 *   cudasim_count_fn  cudasim_breaches        misuses seen (only CUDASIM_STRICT=0 survives one)
 *   cudasim_count_fn  cudasim_pending         operations submitted and not complete
 *   cudasim_end_fn    cudasim_stream_end
 *   cudasim_count_fn  cudasim_faults          calls that were made to fail, hang or be slow
 *   cudasim_set_fn    cudasim_set
 */

/* The echo libraries: what one call brought, argument by argument, as it lay in memory. */
#define CUDASIM_ECHO_ARGUMENTS 18
#define CUDASIM_ECHO_BYTES 64

struct cudasim_echo {
    const char *name;
    unsigned count;
    struct {
        unsigned bytes;
        unsigned char value[CUDASIM_ECHO_BYTES];
    } argument[CUDASIM_ECHO_ARGUMENTS];
    int result;
};

/* The calling thread's last call of that name among its last 64; how many calls in all. */
typedef const struct cudasim_echo *cudasim_echo_find_fn(const char *name);
typedef uint64_t cudasim_echo_count_fn(void);
/* Forgets the calling thread's calls. */
typedef void cudasim_echo_forget_fn(void);

/*
 * Results are tokens: 100000 + the place of the function's row. In libcuda.so.1 and libcudart.so.*:
 *   cudasim_echo_find_fn    cudasim_echo_find     cudasim_echo_rt_find
 *   cudasim_echo_count_fn   cudasim_echo_count    cudasim_echo_rt_count
 *   cudasim_echo_forget_fn  cudasim_echo_forget   cudasim_echo_rt_forget
 */

#endif
