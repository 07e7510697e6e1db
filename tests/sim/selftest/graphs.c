/* SPDX-License-Identifier: MIT */
/* Graphs: made by hand and by capture, launched, updated. */
#include "selftest.h"

#include <stdatomic.h>
#include <string.h>

#define NODE_NS 700
#define EVENT_NS 1280

static CUgraphNode add_kernel(CUgraph g, CUfunction f, const CUgraphNode *from, size_t count)
{
    CUgraphNode n;
    uint64_t none = 0;
    void *parameters[] = {&none};
    CUDA_KERNEL_NODE_PARAMS p = {.func = f,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 32,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = parameters};
    OK(cuGraphAddKernelNode(&n, g, from, count, &p));
    return n;
}

static CUgraph new_graph(void)
{
    CUgraph g;
    OK(cuGraphCreate(&g, 0));
    return g;
}

static CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec e;
    OK(cuGraphInstantiate(&e, g, 0));
    return e;
}

static void CUDA_CB count_call(void *calls)
{
    atomic_fetch_add((atomic_int *)calls, 1);
}

START_TEST(every_kind_of_node_runs)
{
    static char host[64] = "copied by a node";
    static atomic_int calls;
    CUdeviceptr p;
    CUgraphNode n;
    self_begin();
    CUgraph g = new_graph(), child = new_graph();
    OK(cuMemAlloc(&p, 128));
    add_kernel(child, self_function("inner"), NULL, 0);
    add_kernel(g, self_function("outer"), NULL, 0);
    OK(cuGraphAddChildGraphNode(&n, g, NULL, 0, child));
    OK(cuGraphAddEmptyNode(&n, g, &n, 1));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = p,
                          .WidthInBytes = sizeof(host),
                          .Height = 1,
                          .Depth = 1};
    OK(cuGraphAddMemcpyNode(&n, g, NULL, 0, &copy, NULL));
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = p + 64, .elementSize = 1, .value = 7, .width = 64, .height = 1};
    OK(cuGraphAddMemsetNode(&n, g, NULL, 0, &set, NULL));
    CUDA_HOST_NODE_PARAMS call = {count_call, &calls};
    OK(cuGraphAddHostNode(&n, g, &n, 1, &call));
    CUgraphExec e = instantiate(g);
    OK(cuGraphLaunch(e, NULL));
    OK(cuGraphLaunch(e, NULL));
    OK(cuCtxSynchronize());
    ck_assert_int_eq(calls, 2);
    ck_assert_uint_eq(self_count("graph", "graph"), 2);
    ck_assert_uint_eq(self_count("graphkernel", "outer"), 2);
    ck_assert_uint_eq(self_count("graphkernel", "inner"), 2);
    ck_assert_uint_eq(self_count("graphcopy", "HtoD"), 2);
    ck_assert_uint_eq(self_count("graphset", "memset"), 2);
    ck_assert_uint_eq(self_count("kernel", NULL), 0);
    ck_assert_int_eq(memcmp((void *)(uintptr_t)p, host, sizeof(host)), 0);
    ck_assert_int_eq(*(char *)(uintptr_t)(p + 127), 7);
}
END_TEST

/* What a launch in an idle stream takes between two events. */
static int64_t launch_ns(CUgraph g)
{
    CUevent a = self_event(0), b = self_event(0);
    CUgraphExec e = instantiate(g);
    OK(cuEventRecord(a, NULL));
    OK(cuGraphLaunch(e, NULL));
    OK(cuEventRecord(b, NULL));
    OK(cuCtxSynchronize());
    return self_ns(a, b);
}

START_TEST(a_graph_takes_its_nodes_time)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1234,beta=4321");
    self_begin();
    CUgraph g = new_graph();
    CUgraphNode n = add_kernel(g, self_function("alpha"), NULL, 0);
    add_kernel(g, self_function("beta"), &n, 1);
    ck_assert_int_eq(launch_ns(g), 2910 + 1234 + NODE_NS + 4321);
}
END_TEST

START_TEST(branches_run_side_by_side)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1000,beta=4000,join=500");
    self_begin();
    CUgraph g = new_graph(), outer = new_graph();
    CUgraphNode n[2] = {add_kernel(g, self_function("alpha"), NULL, 0),
                        add_kernel(g, self_function("beta"), NULL, 0)};
    add_kernel(g, self_function("join"), n, 2);
    ck_assert_int_eq(launch_ns(g), 2910 + 4000 + NODE_NS + 500);
    n[0] = add_kernel(outer, self_function("alpha"), NULL, 0);
    OK(cuGraphAddChildGraphNode(&n[1], outer, n, 1, g));
    add_kernel(outer, self_function("join"), &n[1], 1);
    ck_assert_int_eq(launch_ns(outer), 2910 + 1000 + 4000 + 500 + 500 + 3 * NODE_NS);
}
END_TEST

/* A pair of record nodes around a kernel reads it alone, whatever runs beside it. */
START_TEST(events_around_nodes)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1000,beta=4000");
    self_begin();
    CUgraph g = new_graph();
    CUevent from[2] = {self_event(0), self_event(0)}, to[2] = {self_event(0), self_event(0)};
    for (int i = 0; i < 2; i++) {
        CUgraphNode n;
        OK(cuGraphAddEventRecordNode(&n, g, NULL, 0, from[i]));
        n = add_kernel(g, self_function(i ? "beta" : "alpha"), &n, 1);
        OK(cuGraphAddEventRecordNode(&n, g, &n, 1, to[i]));
    }
    ck_assert_int_eq(launch_ns(g), 2910 + EVENT_NS + NODE_NS + 4000 + EVENT_NS);
    ck_assert_int_eq(self_ns(from[0], to[0]), NODE_NS + 1000 + EVENT_NS);
    ck_assert_int_eq(self_ns(from[1], to[1]), NODE_NS + 4000 + EVENT_NS);
}
END_TEST

START_TEST(launches_of_one_exec_do_not_overlap)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=10000");
    self_begin();
    int gate = 0;
    CUstream s = self_stream(CU_STREAM_NON_BLOCKING), t = self_stream(CU_STREAM_NON_BLOCKING);
    CUevent first = self_event(0), second = self_event(0);
    CUgraph g = new_graph();
    add_kernel(g, self_function("alpha"), NULL, 0);
    CUgraphExec e = instantiate(g);
    self_gate(s, &gate);
    OK(cuGraphLaunch(e, s));
    OK(cuEventRecord(first, s));
    OK(cuGraphLaunch(e, t));
    OK(cuEventRecord(second, t));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(second));
    self_open(&gate);
    OK(cuCtxSynchronize());
    ck_assert_int_ge(self_ns(first, second), 10000);
}
END_TEST

START_TEST(events_in_graphs)
{
    cudasim_set("CUDASIM_KERNELS", "alpha=1234,beta=4321");
    self_begin();
    int gate = 0;
    CUstream s = self_stream(0), t = self_stream(0);
    CUevent before = self_event(0), inside = self_event(0), end = self_event(0);
    CUgraph g = new_graph();
    CUgraphNode n;
    CUevent asked;
    OK(cuGraphAddEventWaitNode(&n, g, NULL, 0, before));
    n = add_kernel(g, self_function("alpha"), &n, 1);
    OK(cuGraphAddEventRecordNode(&n, g, &n, 1, inside));
    OK(cuGraphEventRecordNodeGetEvent(n, &asked));
    ck_assert_ptr_eq(asked, inside);
    add_kernel(g, self_function("beta"), &n, 1);
    CUgraphExec e = instantiate(g);
    self_gate(s, &gate);
    OK(cuEventRecord(before, s));
    OK(cuGraphLaunch(e, t));
    OK(cuEventRecord(end, t));
    FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(inside));
    self_open(&gate);
    OK(cuCtxSynchronize());
    ck_assert_int_eq(self_ns(before, inside), 1630 + 1234 + EVENT_NS);
    ck_assert_int_eq(self_ns(inside, end), NODE_NS + 4321 + EVENT_NS);
}
END_TEST

START_TEST(a_destroyed_event_in_a_graph)
{
    self_begin();
    CUgraph g = new_graph();
    CUgraphNode n;
    CUevent e = self_event(0);
    OK(cuGraphAddEventRecordNode(&n, g, NULL, 0, e));
    CUgraphExec x = instantiate(g);
    OK(cuEventDestroy(e));
    cuGraphLaunch(x, NULL);
}
END_TEST

START_TEST(graphs_tell_of_themselves)
{
    self_begin();
    CUgraph g = new_graph(), clone;
    CUfunction f = self_function("kernel");
    CUgraphNode n[3], found;
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS p;
    size_t count;
    n[0] = add_kernel(g, f, NULL, 0);
    n[1] = add_kernel(g, f, NULL, 0);
    n[2] = add_kernel(g, f, n, 2);
    OK(cuGraphGetRootNodes(g, NULL, &count));
    ck_assert_uint_eq(count, 2);
    OK(cuGraphGetEdges(g, NULL, NULL, NULL, &count));
    ck_assert_uint_eq(count, 2);
    OK(cuGraphNodeGetDependentNodes(n[0], NULL, NULL, &count));
    ck_assert_uint_eq(count, 1);
    OK(cuGraphNodeGetType(n[0], &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_KERNEL);
    OK(cuGraphKernelNodeGetParams(n[0], &p));
    ck_assert_ptr_eq(p.func, f);
    ck_assert_uint_eq(p.blockDimX, 32);
    OK(cuGraphClone(&clone, g));
    OK(cuGraphNodeFindInClone(&found, n[2], clone));
    ck_assert_ptr_ne(found, n[2]);
    add_kernel(clone, f, &found, 1);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, found, clone));
    OK(cuGraphNodeFindInClone(&found, n[1], clone));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, n[1], g));
    OK(cuGraphDestroyNode(n[0]));
    OK(cuGraphGetNodes(g, NULL, &count));
    ck_assert_uint_eq(count, 2);
    OK(cuGraphGetNodes(clone, NULL, &count));
    ck_assert_uint_eq(count, 4);
}
END_TEST

START_TEST(a_cycle_is_no_graph)
{
    self_begin();
    CUgraph g = new_graph();
    CUgraphExec e;
    CUfunction f = self_function("kernel");
    CUgraphNode a = add_kernel(g, f, NULL, 0), b = add_kernel(g, f, &a, 1);
    OK(cuGraphAddDependencies(g, &b, &a, NULL, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&e, g, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(g, &b, &a, NULL, 1));
    OK(cuGraphRemoveDependencies(g, &b, &a, NULL, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(g, &b, &a, NULL, 1));
    OK(cuGraphInstantiate(&e, g, 0));
}
END_TEST

START_TEST(an_exec_is_changed)
{
    self_begin();
    CUgraph g = new_graph(), other = new_graph();
    CUfunction first = self_function("first"), second = self_function("second");
    CUgraphNode n = add_kernel(g, first, NULL, 0);
    CUgraphExec e = instantiate(g);
    CUgraphExecUpdateResultInfo info;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    p.kernel = (CUDA_KERNEL_NODE_PARAMS_v3){.func = second,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1};
    OK(cuGraphExecNodeSetParams(e, n, &p));
    OK(cuGraphDestroy(g)); /* the exec does not need it */
    OK(cuGraphLaunch(e, NULL));
    add_kernel(other, self_function("third"), NULL, 0);
    OK(cuGraphExecUpdate(e, other, &info));
    OK(cuGraphLaunch(e, NULL));
    add_kernel(other, first, NULL, 0);
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(e, other, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(self_count("graphkernel", "first"), 0);
    ck_assert_uint_eq(self_count("graphkernel", "second"), 1);
    ck_assert_uint_eq(self_count("graphkernel", "third"), 1);
}
END_TEST

START_TEST(a_child_graph_is_changed)
{
    self_begin();
    CUgraph g = new_graph(), child = new_graph(), other = new_graph();
    CUgraphNode n;
    add_kernel(child, self_function("first"), NULL, 0);
    add_kernel(other, self_function("second"), NULL, 0);
    OK(cuGraphAddChildGraphNode(&n, g, NULL, 0, child));
    CUgraphExec e = instantiate(g);
    OK(cuGraphExecChildGraphNodeSetParams(e, n, other));
    OK(cuGraphLaunch(e, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(self_count("graphkernel", "first"), 0);
    ck_assert_uint_eq(self_count("graphkernel", "second"), 1);
}
END_TEST

START_TEST(a_node_is_switched_off)
{
    unsigned on = 1;
    self_begin();
    CUgraph g = new_graph();
    CUgraphNode n = add_kernel(g, self_function("off"), NULL, 0);
    add_kernel(g, self_function("on"), NULL, 0);
    CUgraphExec e = instantiate(g);
    OK(cuGraphNodeSetEnabled(e, n, 0));
    OK(cuGraphNodeGetEnabled(e, n, &on));
    ck_assert_uint_eq(on, 0);
    OK(cuGraphLaunch(e, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(self_count("graphkernel", "off"), 0);
    ck_assert_uint_eq(self_count("graphkernel", "on"), 1);
}
END_TEST

START_TEST(a_launch_is_captured_as_a_child)
{
    self_begin();
    CUstream s = self_stream(0);
    CUgraph g = new_graph(), captured;
    CUgraphNode n;
    CUgraphNodeType type;
    size_t count = 1;
    add_kernel(g, self_function("kernel"), NULL, 0);
    CUgraphExec e = instantiate(g);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuGraphLaunch(e, s));
    OK(cuStreamEndCapture(s, &captured));
    OK(cuGraphGetNodes(captured, &n, &count));
    OK(cuGraphNodeGetType(n, &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_GRAPH);
    OK(cuGraphLaunch(instantiate(captured), s));
    OK(cuStreamSynchronize(s));
    ck_assert_uint_eq(self_count("graphkernel", "kernel"), 1);
}
END_TEST

START_TEST(destroyed_while_it_runs)
{
    int gate = 0;
    self_begin();
    CUgraph g = new_graph();
    add_kernel(g, self_function("kernel"), NULL, 0);
    CUgraphExec e = instantiate(g);
    self_gate(NULL, &gate);
    OK(cuGraphLaunch(e, NULL));
    OK(cuGraphExecDestroy(e));
    OK(cuGraphDestroy(g));
    self_open(&gate);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(self_count("graphkernel", "kernel"), 1);
}
END_TEST

TCase *self_graphs(void)
{
    TCase *t = tcase_create("graphs");
    tcase_add_test(t, every_kind_of_node_runs);
    tcase_add_test(t, a_graph_takes_its_nodes_time);
    tcase_add_test(t, branches_run_side_by_side);
    tcase_add_test(t, events_around_nodes);
    tcase_add_test(t, launches_of_one_exec_do_not_overlap);
    tcase_add_test(t, events_in_graphs);
    tcase_add_exit_test(t, a_destroyed_event_in_a_graph, 99);
    tcase_add_test(t, graphs_tell_of_themselves);
    tcase_add_test(t, a_cycle_is_no_graph);
    tcase_add_test(t, an_exec_is_changed);
    tcase_add_test(t, a_child_graph_is_changed);
    tcase_add_test(t, a_node_is_switched_off);
    tcase_add_test(t, a_launch_is_captured_as_a_child);
    tcase_add_test(t, destroyed_while_it_runs);
    return t;
}
