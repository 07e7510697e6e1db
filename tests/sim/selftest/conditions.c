/* SPDX-License-Identifier: MIT */
/* Conditional nodes, what may be in their bodies; memory nodes; what a device may launch itself. */
#include "selftest.h"

static CUgraphConditionalHandle handle_of(CUgraph g, unsigned value)
{
    CUgraphConditionalHandle h;
    OK(cuGraphConditionalHandleCreate(&h, g, NULL, value, CU_GRAPH_COND_ASSIGN_DEFAULT));
    return h;
}

static CUgraph *add(CUgraph g, CUgraphConditionalHandle h, CUgraphConditionalNodeType type,
                    unsigned size)
{
    CUgraphNode n;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    p.conditional = (CUDA_CONDITIONAL_NODE_PARAMS){.handle = h, .type = type, .size = size};
    OK(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    return p.conditional.phGraph_out;
}

/* Captures launches of the kernel into the graph. */
static void fill(CUgraph g, const char *kernel, uint64_t argument)
{
    CUgraph out;
    CUstream s = self_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(self_launch_with(self_function(kernel), s, argument));
    OK(cuStreamEndCapture(s, &out));
    ck_assert_ptr_eq(out, g);
    OK(cuStreamDestroy(s));
}

static void run(CUgraph g)
{
    CUgraphExec e;
    OK(cuGraphInstantiate(&e, g, 0));
    OK(cuGraphLaunch(e, NULL));
    OK(cuCtxSynchronize());
}

START_TEST(one_branch_is_taken)
{
    CUgraph g;
    self_begin();
    OK(cuGraphCreate(&g, 0));
    CUgraph *body = add(g, handle_of(g, (unsigned)_i), CU_GRAPH_COND_TYPE_IF, 2);
    fill(body[0], "then", 0);
    fill(body[1], "else", 0);
    run(g);
    ck_assert_uint_eq(self_count("graphkernel", "then"), (unsigned)_i);
    ck_assert_uint_eq(self_count("graphkernel", "else"), 1 - (unsigned)_i);
}
END_TEST

START_TEST(a_loop_counts_down)
{
    CUgraph g;
    self_begin();
    OK(cuGraphCreate(&g, 0));
    CUgraphConditionalHandle h = handle_of(g, 5);
    CUgraph *body = add(g, h, CU_GRAPH_COND_TYPE_WHILE, 1);
    fill(body[0], "countdown", h);
    run(g);
    ck_assert_uint_eq(self_count("graphkernel", "countdown"), 5);
}
END_TEST

START_TEST(one_of_many_is_taken)
{
    CUgraph g;
    self_begin();
    OK(cuGraphCreate(&g, 0));
    CUgraph *body = add(g, handle_of(g, 2), CU_GRAPH_COND_TYPE_SWITCH, 3);
    for (unsigned i = 0; i < 3; i++)
        fill(body[i], (const char *[]){"zero", "one", "two"}[i], 0);
    run(g);
    ck_assert_uint_eq(self_count("graphkernel", NULL), 1);
    ck_assert_uint_eq(self_count("graphkernel", "two"), 1);
}
END_TEST

START_TEST(no_events_in_a_body)
{
    CUgraph g;
    CUgraphExec e;
    CUgraphNode n;
    self_begin();
    OK(cuGraphCreate(&g, 0));
    CUgraph *body = add(g, handle_of(g, 1), CU_GRAPH_COND_TYPE_IF, 1);
    OK(cuGraphAddEventRecordNode(&n, body[0], NULL, 0, self_event(0)));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&e, g, 0));
    OK(cuGraphDestroyNode(n));
    OK(cuGraphInstantiate(&e, g, 0));
}
END_TEST

START_TEST(conditions_stay_where_they_are)
{
    CUgraph g, other, copy;
    CUgraphNode n;
    self_begin();
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphCreate(&other, 0));
    add(g, handle_of(g, 1), CU_GRAPH_COND_TYPE_IF, 1);
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&copy, g));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&n, other, NULL, 0, g));
    OK(cuGraphDestroy(g));
}
END_TEST

START_TEST(no_events_on_the_device)
{
    CUgraph g;
    CUgraphExec e;
    CUgraphNode n;
    self_begin();
    OK(cuGraphCreate(&g, 0));
    fill(g, "kernel", 0);
    OK(cuGraphInstantiate(&e, g, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    OK(cuGraphAddEventRecordNode(&n, g, NULL, 0, self_event(0)));
    FAILS(CUDA_ERROR_NOT_SUPPORTED,
          cuGraphInstantiate(&e, g, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
}
END_TEST

START_TEST(a_graph_is_none_while_it_is_captured_to)
{
    CUgraph g, out;
    CUgraphExec e;
    self_begin();
    CUstream s = self_stream(0);
    OK(cuGraphCreate(&g, 0));
    OK(cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&e, g, 0));
    OK(cuStreamEndCapture(s, &out));
    OK(cuGraphInstantiate(&e, g, 0));
}
END_TEST

START_TEST(memory_of_a_graph)
{
    CUgraph g;
    CUgraphNode n[4];
    CUgraphNodeType first, last;
    CUdeviceptr p;
    size_t count = 4;
    self_begin();
    CUstream s = self_stream(0);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAllocAsync(&p, 4096, s));
    OK(cuMemsetD8Async(p, 1, 4096, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, n, &count));
    ck_assert_uint_eq(count, 3);
    OK(cuGraphNodeGetType(n[0], &first));
    OK(cuGraphNodeGetType(n[2], &last));
    ck_assert_int_eq(first, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    ck_assert_int_eq(last, CU_GRAPH_NODE_TYPE_MEM_FREE);
    run(g);
    ck_assert_uint_eq(self_count("graphset", NULL), 1);
}
END_TEST

TCase *self_conditions(void)
{
    TCase *t = tcase_create("conditions");
    tcase_add_loop_test(t, one_branch_is_taken, 0, 2);
    tcase_add_test(t, a_loop_counts_down);
    tcase_add_test(t, one_of_many_is_taken);
    tcase_add_test(t, no_events_in_a_body);
    tcase_add_test(t, conditions_stay_where_they_are);
    tcase_add_test(t, no_events_on_the_device);
    tcase_add_test(t, memory_of_a_graph);
    tcase_add_test(t, a_graph_is_none_while_it_is_captured_to);
    return t;
}
