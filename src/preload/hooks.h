/* SPDX-License-Identifier: MIT */
/*
 * The hooks of driver_api.def, by which cutrace learns from calls that put no work on the GPU. They
 * run in the program's thread, on paths that are not hot. END hooks get h NULL for a call that is
 * not seen.
 */
#ifndef CT_HOOKS_H
#define CT_HOOKS_H

#include "base/base.h"
#include "cuda/api.h"
#include "state/stream.h"
#include "state/thread.h"
#include "work/allocation.h"

struct ct_hook {
    struct ct_thread *thread;
    CUstream null_stream; /* meaning of stream 0 in this form of the call */
    CUresult result;      /* result of the real call; AFTER hooks only */
};

static inline bool ct_hook_failed(const struct ct_hook *h)
{
    return h->result != CUDA_SUCCESS;
}

void ct_hook_driver_ready(const struct ct_hook *h);
void ct_hook_entry_point(const struct ct_hook *h, const char *name, void **function);
void ct_hook_context_gone(const struct ct_hook *h, CUcontext context);
void ct_hook_green_context_end_before(const struct ct_hook *h, CUgreenCtx context);
void ct_hook_green_context_end_after(const struct ct_hook *h, CUgreenCtx context);
void ct_hook_primary_context_gone(const struct ct_hook *h, CUdevice device);
void ct_hook_primary_context_release_before(const struct ct_hook *h, CUdevice device);
void ct_hook_primary_context_release_after(const struct ct_hook *h, CUdevice device);
void ct_hook_module_gone(const struct ct_hook *h);
void ct_hook_function_named(const struct ct_hook *h, CUfunction *f, const char *name);
void ct_hook_kernel_named(const struct ct_hook *h, CUkernel *k, const char *name);
void ct_hook_stream_created(const struct ct_hook *h, CUstream *s, unsigned flags, int priority);
void ct_hook_stream_gone(const struct ct_hook *h, CUstream s);
void ct_hook_stream_break(const struct ct_hook *h, CUstream s);
/* Work of a known kind whose arguments nobody can read: it is named, and has no row. */
void ct_hook_work_not_read(const struct ct_hook *h, const char *name, CUstream s);
void ct_hook_streams_break(const struct ct_hook *h);
void ct_hook_stream_gate(const struct ct_hook *h, CUstream s, enum ct_stop_kind kind);
void ct_hook_event_made(const struct ct_hook *h, CUevent *e, unsigned flags);
void ct_hook_event_gone(const struct ct_hook *h, CUevent e);
void ct_hook_event_record(const struct ct_hook *h, CUevent e, CUstream s);
void ct_hook_host_waited(const struct ct_hook *h);
void ct_hook_stream_waits(const struct ct_hook *h, CUstream s);
void ct_hook_stream_waited(const struct ct_hook *h, CUstream s);
/* c NULL: the current context. */
void ct_hook_context_waited(const struct ct_hook *h, CUcontext c);
void ct_hook_stream_wait_before(const struct ct_hook *h, CUstream s, CUevent e);
void ct_hook_stream_wait_after(const struct ct_hook *h, CUstream s, CUevent e);
void ct_hook_capture_before(const struct ct_hook *h, CUstream s);
void ct_hook_capture_after(const struct ct_hook *h, CUstream s);
void ct_hook_capture_end(const struct ct_hook *h, CUstream s);
void ct_hook_graph_node_added(const struct ct_hook *h, CUgraphNode *node);
void ct_hook_graph_node_added_with(const struct ct_hook *h, CUgraphNode *node,
                                   const CUgraphNodeParams *p);
void ct_hook_graph_child_added(const struct ct_hook *h, CUgraphNode *node, CUgraph child);
void ct_hook_graph_cloned(const struct ct_hook *h, CUgraph *clone, CUgraph graph);
void ct_hook_graph_gone(const struct ct_hook *h, CUgraph graph);
void ct_hook_graph_node_gone(const struct ct_hook *h, CUgraphNode node);
void ct_hook_graph_instantiated(const struct ct_hook *h, CUgraphExec *exec, CUgraph graph);
void ct_hook_graph_instantiated_with(const struct ct_hook *h, CUgraphExec *exec, CUgraph graph,
                                     const CUDA_GRAPH_INSTANTIATE_PARAMS *p);
void ct_hook_graph_updated(const struct ct_hook *h, CUgraphExec exec, CUgraph graph);
void ct_hook_graph_changed(const struct ct_hook *h, CUgraphExec exec);
void ct_hook_graph_exec_gone(const struct ct_hook *h, CUgraphExec exec);
/* For each form of the parameters of a kernel's node. */
void ct_hook_graph_kernel_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                              const void *p, size_t bytes);
void ct_hook_graph_copy_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                            const CUDA_MEMCPY3D *p, CUcontext c);
void ct_hook_graph_memset_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c);
void ct_hook_graph_host_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                            const CUDA_HOST_NODE_PARAMS *p);
void ct_hook_graph_node_params(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                               CUgraphNodeParams *p);
void ct_hook_graph_child_set(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                             CUgraph child);
void ct_hook_graph_node_switched(const struct ct_hook *h, CUgraphExec exec, CUgraphNode node,
                                 unsigned on);
/* For calls that allocate and free (allocate.c); `address` is where the call puts the pointer. */
void ct_hook_allocated(const struct ct_hook *h, uint32_t kind, const void *address, size_t bytes);
void ct_hook_allocated_rows(const struct ct_hook *h, const void *address, const size_t *pitch,
                            size_t width, size_t rows);
void ct_hook_allocated_in_stream(const struct ct_hook *h, const void *address, size_t bytes,
                                 CUstream s);
void ct_hook_allocated_physical(const struct ct_hook *h, const CUmemGenericAllocationHandle *handle,
                                size_t bytes, const CUmemAllocationProp *p);
void ct_hook_registered(const struct ct_hook *h, const void *p, size_t bytes);
void ct_hook_retained(const struct ct_hook *h, const CUmemGenericAllocationHandle *handle);
void ct_hook_freed_before(const struct ct_hook *h, uint32_t kind, uint64_t key);
void ct_hook_freed_after(const struct ct_hook *h, uint32_t kind, uint64_t key);
void ct_hook_freed_in_stream_before(const struct ct_hook *h, CUdeviceptr p, CUstream s);
void ct_hook_freed_in_stream_after(const struct ct_hook *h, CUdeviceptr p, CUstream s);
void ct_hook_profiler_start(const struct ct_hook *h);
void ct_hook_profiler_stop(const struct ct_hook *h);

#endif
