/* SPDX-License-Identifier: MIT */
/* The tests of the simulated driver by itself. Each test is a process of its own. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <check.h>
#include <cuda.h>
#include <stdint.h>

#include "cudasim.h"

#define OK(call) ck_assert_int_eq(call, CUDA_SUCCESS)
#define FAILS(code, call) ck_assert_int_eq(call, code)

/* As declared in cudasim.h; the library is linked. */
extern cudasim_truth_fn cudasim_truth;
extern cudasim_count_fn cudasim_events_alive, cudasim_open_handles, cudasim_breaches;
extern cudasim_count_fn cudasim_pending;
extern cudasim_set_fn cudasim_set;

/* Initialises, with the primary context of device 0 current. */
CUcontext self_begin(void);
CUfunction self_function(const char *name);
CUstream self_stream(unsigned flags);
CUevent self_event(unsigned flags);
CUresult self_launch(CUfunction f, CUstream s);
CUresult self_launch_with(CUfunction f, CUstream s, uint64_t argument);
/* A kernel in s that ends when *gate is set. */
void self_gate(CUstream s, int *gate);
void self_open(int *gate);
/* Time between two events, to the nanosecond. */
int64_t self_ns(CUevent from, CUevent to);
uint64_t self_count(const char *kind, const char *name);
/* Runs the function in another thread to its end, with the calling thread's context current. */
void self_in_thread(void (*function)(void *), void *argument);

TCase *self_time(void);
TCase *self_queues(void);
TCase *self_capture(void);
TCase *self_graphs(void);
TCase *self_conditions(void);
TCase *self_objects(void);
TCase *self_copies(void);

#endif
