/* SPDX-License-Identifier: MIT */
/*
 * What becomes of a replica when the program changes its executable graph, in each phase: what the
 * driver is asked for, what is launched, and under which name times are counted.
 */
#include <check.h>

#include "base/config.h"
#include "case_main.h"
#include "drain/node_time.h"
#include "drain/replica_step.h"
#include "fake_driver.h"
#include "launch/replica_launch.h"
#include "state/context.h"

#define ROW 7

/* A graph of one kernel. Handles are addresses in it. */
static struct {
    char graph, node, exec;           /* the program's */
    char clone[4], mine, replicas[4]; /* ours; the kernel of each clone is the same */
    char even, odd;                   /* functions */
    char events[64], stream[2];
    CUfunction function, exec_function;
    unsigned clones, clones_gone, made, gone, created;
    unsigned launches, graph_sets, exec_sets, switches, waits;
    CUgraphExec set_in, launched;
    CUgraph looked_in;
    bool running, capturing;
    CUresult result; /* of what a change asks for */
} f;

#define HANDLE(type, member) ((type)(void *)&f.member)
#define EVEN HANDLE(CUfunction, even)
#define ODD HANDLE(CUfunction, odd)
#define EXEC HANDLE(CUgraphExec, exec)
#define NODE HANDLE(CUgraphNode, node)
#define GRAPH HANDLE(CUgraph, graph)

static struct ct_stream streams[2];

/* ---- the driver's functions ---- */

static CUresult fake_flags(CUgraphExec exec, cuuint64_t *out)
{
    ck_assert_ptr_eq(exec, EXEC);
    *out = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_clone(CUgraph *out, CUgraph graph)
{
    ck_assert_ptr_eq(graph, GRAPH);
    *out = HANDLE(CUgraph, clone[f.clones++]);
    return CUDA_SUCCESS;
}

static CUresult fake_destroy(CUgraph graph)
{
    ck_assert_ptr_ne(graph, GRAPH);
    f.clones_gone++;
    return CUDA_SUCCESS;
}

static CUresult fake_nodes(CUgraph graph, CUgraphNode *out, size_t *count)
{
    if (out)
        *out = graph == GRAPH ? NODE : HANDLE(CUgraphNode, mine);
    *count = 1;
    return CUDA_SUCCESS;
}

static CUresult fake_roots(CUgraph graph, CUgraphNode *out, size_t *count)
{
    return fake_nodes(graph, out, count);
}

static CUresult fake_type(CUgraphNode n, CUgraphNodeType *out)
{
    (void)n;
    *out = CU_GRAPH_NODE_TYPE_KERNEL;
    return CUDA_SUCCESS;
}

static CUresult fake_neighbours(CUgraphNode n, CUgraphNode *out, CUgraphEdgeData *data,
                                size_t *count)
{
    (void)n;
    (void)out;
    (void)data;
    *count = 0;
    return CUDA_SUCCESS;
}

static CUresult fake_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                           const CUgraphEdgeData *data, size_t count)
{
    (void)graph;
    (void)from;
    (void)to;
    (void)data;
    (void)count;
    return CUDA_SUCCESS;
}

static CUresult fake_record(CUgraphNode *out, CUgraph graph, const CUgraphNode *from, size_t count,
                            CUevent event)
{
    (void)graph;
    (void)from;
    (void)count;
    *out = (CUgraphNode)(void *)event;
    return CUDA_SUCCESS;
}

static CUresult fake_params(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS *p)
{
    (void)n;
    p->func = f.function;
    return CUDA_SUCCESS;
}

static CUresult fake_name(const char **name, CUfunction function)
{
    *name = function == EVEN ? "even" : "odd";
    return CUDA_SUCCESS;
}

static CUresult fake_instantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    (void)graph;
    (void)flags;
    *out = HANDLE(CUgraphExec, replicas[f.made++]);
    return CUDA_SUCCESS;
}

static CUresult fake_exec_destroy(CUgraphExec exec)
{
    ck_assert_ptr_ne(exec, EXEC);
    ck_assert(!f.running);
    f.gone++;
    return CUDA_SUCCESS;
}

static CUresult fake_launch(CUgraphExec exec, CUstream s)
{
    (void)s;
    f.launched = exec;
    f.launches++;
    f.running = true;
    return CUDA_SUCCESS;
}

static CUresult fake_find(CUgraphNode *out, CUgraphNode node, CUgraph clone)
{
    ck_assert_ptr_eq(node, NODE);
    f.looked_in = clone;
    *out = HANDLE(CUgraphNode, mine);
    return CUDA_SUCCESS;
}

static CUresult fake_set(CUgraphNode n, CUgraphNodeParams *p)
{
    ck_assert_ptr_eq(n, &f.mine);
    f.graph_sets++;
    f.function = p->kernel.func;
    return f.result;
}

static CUresult fake_exec_set(CUgraphExec exec, CUgraphNode n, CUgraphNodeParams *p)
{
    (void)p;
    ck_assert_ptr_eq(n, &f.mine);
    f.exec_sets++;
    f.exec_function = p->kernel.func;
    f.set_in = exec;
    return f.result;
}

static CUresult fake_switch(CUgraphExec exec, CUgraphNode n, unsigned on)
{
    (void)on;
    ck_assert_ptr_eq(n, &f.mine);
    f.switches++;
    f.set_in = exec;
    return f.result;
}

static CUresult fake_event(CUevent *out, unsigned flags)
{
    (void)flags;
    *out = HANDLE(CUevent, events[f.created++]);
    return CUDA_SUCCESS;
}

static CUresult fake_query(CUevent e)
{
    (void)e;
    return f.running ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult fake_elapsed(float *ms, CUevent a, CUevent b)
{
    (void)a;
    (void)b;
    *ms = 1;
    return CUDA_SUCCESS;
}

static CUresult fake_wait(CUstream s, CUevent e, unsigned flags)
{
    (void)s;
    (void)e;
    (void)flags;
    f.waits++;
    return CUDA_SUCCESS;
}

static CUresult fake_capturing(CUstream s, CUstreamCaptureStatus *out)
{
    (void)s;
    *out = f.capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static CUresult fake_current(CUcontext *out)
{
    *out = (CUcontext)(void *)&f;
    return CUDA_SUCCESS;
}

/* Without ct_threads_init() the thread has no state: it makes no replica, at once or in rounds. */
static void set_up(void)
{
    ct_config.events = 64;
    ct_config.graph_nodes = 1;
    fake_context(fake_current);
    FAKE(cuGraphExecGetFlags, fake_flags);
    FAKE(cuGraphClone, fake_clone);
    FAKE(cuGraphDestroy, fake_destroy);
    FAKE(cuGraphGetNodes, fake_nodes);
    FAKE(cuGraphGetRootNodes, fake_roots);
    FAKE(cuGraphNodeGetType, fake_type);
    FAKE(cuGraphNodeGetDependencies_v2, fake_neighbours);
    FAKE(cuGraphNodeGetDependentNodes_v2, fake_neighbours);
    FAKE(cuGraphAddDependencies_v2, fake_edges);
    FAKE(cuGraphRemoveDependencies_v2, fake_edges);
    FAKE(cuGraphAddEventRecordNode, fake_record);
    FAKE(cuGraphKernelNodeGetParams_v2, fake_params);
    FAKE(cuFuncGetName, fake_name);
    FAKE(cuGraphInstantiateWithFlags, fake_instantiate);
    FAKE(cuGraphExecDestroy, fake_exec_destroy);
    FAKE(cuGraphLaunch, fake_launch);
    FAKE(cuGraphNodeFindInClone, fake_find);
    FAKE(cuGraphNodeSetParams, fake_set);
    FAKE(cuGraphExecNodeSetParams, fake_exec_set);
    FAKE(cuGraphNodeSetEnabled, fake_switch);
    FAKE(cuEventCreate, fake_event);
    FAKE(cuEventQuery, fake_query);
    FAKE(cuEventElapsedTime_v2, fake_elapsed);
    FAKE(cuStreamWaitEvent, fake_wait);
    FAKE(cuStreamIsCapturing, fake_capturing);
    f.function = EVEN;
    f.result = CUDA_SUCCESS;
    ck_assert(ct_contexts_init() && ct_replicas_init() && ct_node_times_init());
    struct ct_context *context = ct_context_get((CUcontext)(void *)&f);
    atomic_store(&context->state, CT_CONTEXT_LIVE);
    for (unsigned i = 0; i < 2; i++) {
        streams[i].id = 1 + i;
        streams[i].context = ct_context_index(context);
    }
    ct_replica_offer(EXEC, GRAPH);
    ck_assert_uint_eq(f.clones, 1);
}

/* ---- what the program and the drain thread do ---- */

/* Whether it was one of the replica. */
static bool launch_in(unsigned stream)
{
    struct ct_stream *s = &streams[stream];
    struct ct_bracket b = {.state = CT_BRACKET_LOST, .stream = s, .row = ROW};
    const struct ct_work w = {.graph = EXEC, .stream = HANDLE(CUstream, stream[stream])};
    b.loss = ct_replica_is_due(EXEC, s) ? CT_LOSS_INSIDE : CT_LOSS_EXCLUDED;
    return ct_replica_launch(&b, &w);
}

static void make(void)
{
    unsigned made = f.made;
    ck_assert(!launch_in(0) && !launch_in(0));
    ct_replicas_step();
    ck_assert_uint_eq(f.made, made + 1);
}

static void end_run(void)
{
    f.running = false;
    ct_replicas_step();
}

static void set_function(CUfunction function)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    p.kernel.func = function;
    ct_replica_node_set(EXEC, NODE, &p);
}

static uint64_t timed(CUfunction function)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel.func = function};
    struct ct_graph_work w = ct_graph_work_with(&p);
    const struct ct_node_time *t = ct_node_time_find(ROW, ct_replica_name(ct_context(0), &w));
    return t ? t->timed : 0;
}

static void check_dropped(void)
{
    ck_assert_uint_eq(ct_replicas_lost(CT_REPLICA_LOST_CHANGED), 1);
    ck_assert(!launch_in(0) && !launch_in(0));
    ct_replicas_step();
    ct_replicas_step();
    ck_assert(!launch_in(0) && !launch_in(0));
    ck_assert_uint_eq(f.clones_gone, f.clones);
    ck_assert_uint_eq(f.gone, f.made);
}

/* ---- nodes ---- */

START_TEST(set_before_it_is_made)
{
    set_function(ODD);
    ck_assert_uint_eq(f.graph_sets, 1);
    make();
    ck_assert(launch_in(0));
    end_run();
    ck_assert_uint_eq(f.exec_sets, 0);
    ck_assert_uint_eq(timed(ODD), 1);
}
END_TEST

START_TEST(set_while_it_runs)
{
    make();
    ck_assert(launch_in(0));
    set_function(ODD);
    ck_assert_uint_eq(f.graph_sets, 0);
    ck_assert_uint_eq(f.exec_sets, 1);
    ck_assert_ptr_eq(f.set_in, &f.replicas[0]);
    ck_assert_ptr_eq(f.looked_in, &f.clone[0]);
    end_run();
    ck_assert_uint_eq(timed(EVEN) + timed(ODD), 0);
    ck_assert(launch_in(0));
    end_run();
    ck_assert_uint_eq(timed(EVEN), 0);
    ck_assert_uint_eq(timed(ODD), 1);
}
END_TEST

/* The same kernel with other arguments is still that kernel. */
START_TEST(set_arguments_while_it_runs)
{
    make();
    ck_assert(launch_in(0));
    set_function(EVEN);
    end_run();
    ck_assert_uint_eq(timed(EVEN), 1);
}
END_TEST

START_TEST(set_refused)
{
    if (_i)
        make();
    f.result = CUDA_ERROR_INVALID_VALUE;
    set_function(ODD);
    check_dropped();
}
END_TEST

START_TEST(set_what_cannot_be_followed)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP};
    if (_i)
        make();
    ct_replica_node_set(EXEC, NODE, &p);
    ck_assert_uint_eq(f.graph_sets + f.exec_sets, 0);
    check_dropped();
}
END_TEST

/* A drop waits for what runs: it is not ended before. */
START_TEST(refused_while_it_runs)
{
    make();
    ck_assert(launch_in(0));
    f.result = CUDA_ERROR_INVALID_VALUE;
    set_function(ODD);
    ct_replicas_step();
    ck_assert(!launch_in(1));
    ck_assert_uint_eq(f.waits, 1);
    ck_assert_uint_eq(f.gone, 0);
    end_run();
    check_dropped();
}
END_TEST

START_TEST(switched)
{
    make();
    ck_assert(launch_in(0));
    ct_replica_node_switched(EXEC, NODE, false);
    end_run();
    ck_assert(launch_in(0));
    end_run();
    ck_assert_uint_eq(timed(EVEN), 0);
    ct_replica_node_switched(EXEC, NODE, true);
    ck_assert(launch_in(0));
    end_run();
    ck_assert_uint_eq(timed(EVEN), 1);
    ck_assert_uint_eq(f.switches, 2);
}
END_TEST

START_TEST(switched_before_it_is_made)
{
    ct_replica_node_switched(EXEC, NODE, true);
    ck_assert_uint_eq(ct_replicas_lost(CT_REPLICA_LOST_CHANGED), 0);
    ct_replica_node_switched(EXEC, NODE, false);
    ck_assert_uint_eq(f.switches, 0);
    check_dropped();
}
END_TEST

/* ---- updates ---- */

/* Other streams wait for what runs, as long as it does; from then on there is the new one. */
START_TEST(updated_while_it_runs)
{
    make();
    ck_assert(launch_in(0));
    ct_replica_updated(EXEC, GRAPH);
    ck_assert_uint_eq(f.clones, 2);
    ck_assert(!launch_in(1));
    ck_assert_uint_eq(f.waits, 1);
    ct_replicas_step();
    ck_assert(!launch_in(0));
    ck_assert_uint_eq(f.waits, 2);
    ck_assert_uint_eq(f.gone, 0);
    end_run();
    ck_assert_uint_eq(timed(EVEN), 1);
    ct_replicas_step();
    ck_assert_uint_eq(f.gone, 1);
    ck_assert_uint_eq(f.clones_gone, 1);
    make();
    ck_assert(launch_in(0));
    ck_assert_ptr_eq(f.launched, &f.replicas[1]);
    end_run();
    ck_assert_uint_eq(timed(EVEN), 2);
}
END_TEST

/* What is set then is set in what is made next. */
START_TEST(set_after_an_update)
{
    make();
    ck_assert(launch_in(0));
    ct_replica_updated(EXEC, GRAPH);
    set_function(ODD);
    ck_assert_uint_eq(f.exec_sets, 0);
    ck_assert_uint_eq(f.graph_sets, 1);
    ck_assert_ptr_eq(f.looked_in, &f.clone[1]);
    end_run();
    ck_assert_uint_eq(timed(EVEN), 1);
    ct_replicas_step();
    make();
    ck_assert(launch_in(0));
    end_run();
    ck_assert_uint_eq(timed(ODD), 1);
}
END_TEST

/* Never launched again, also before the drain thread has come to end it. */
START_TEST(updated_twice)
{
    make();
    ct_replica_updated(EXEC, GRAPH);
    ck_assert(!launch_in(0) && !launch_in(0) && !launch_in(0));
    ck_assert_uint_eq(f.launches, 0);
    ct_replica_updated(EXEC, GRAPH);
    ck_assert_uint_eq(f.clones, 3);
    ck_assert_uint_eq(f.clones_gone, 1);
    ct_replicas_step();
    ck_assert_uint_eq(f.clones_gone, 2);
    make();
    ck_assert(launch_in(0));
}
END_TEST

/* No clone each time, and no launch of a replica that does what was there before. */
START_TEST(updated_before_each_launch)
{
    if (_i) {
        make();
        ct_replica_updated(EXEC, GRAPH);
    }
    for (int k = 0; k < 5; k++) {
        ck_assert(!launch_in(0));
        ct_replica_updated(EXEC, GRAPH);
        ct_replicas_step();
    }
    ck_assert(!launch_in(0));
    ck_assert_uint_eq(f.clones, 1 + (unsigned)_i);
    ck_assert_uint_eq(ct_replicas_lost(CT_REPLICA_LOST_CHANGED), 0);
    ck_assert(!launch_in(0));
    ct_replica_updated(EXEC, GRAPH);
    ck_assert_uint_eq(f.clones, 2 + (unsigned)_i);
}
END_TEST

#define EACH_LAUNCHES 60

/* They are followed before launches that are the replica's, and before the first ones. */
START_TEST(set_before_each_launch)
{
    unsigned replayed = 0;
    make();
    ct_config.graph_nodes = 8;
    for (int k = 0; k < EACH_LAUNCHES; k++) {
        CUfunction function = k % 3 ? ODD : EVEN;
        set_function(function);
        if (launch_in(0)) {
            ck_assert_ptr_eq(f.exec_function, function);
            replayed++;
            end_run();
        }
    }
    ck_assert_uint_ge(replayed, 16);
    ck_assert_uint_le(f.exec_sets, replayed + 8);
    ck_assert_uint_eq(ct_replicas_lost(CT_REPLICA_LOST_CHANGED), 0);
}
END_TEST

/* A change that was missed is not made later: until there are parameters again, or for good. */
START_TEST(set_no_more)
{
    unsigned sets;
    make();
    ct_config.graph_nodes = 8;
    do {
        sets = f.exec_sets;
        set_function(ODD);
        if (launch_in(0))
            end_run();
    } while (f.exec_sets != sets);
    for (int k = 0; k < 4; k++)
        ck_assert(!launch_in(0));
    if (_i) {
        set_function(EVEN);
        ck_assert(launch_in(0));
        ck_assert_ptr_eq(f.exec_function, EVEN);
        return;
    }
    for (int k = 0; k < 200; k++)
        ck_assert(!launch_in(0));
    ck_assert_uint_eq(ct_replicas_lost(CT_REPLICA_LOST_CHANGED), 1);
}
END_TEST

START_TEST(updated_with_nodes_off)
{
    make();
    ct_replica_node_switched(EXEC, NODE, false);
    ct_replica_node_switched(EXEC, NODE, true);
    ct_replica_updated(EXEC, GRAPH);
    ck_assert_uint_eq(f.clones, 1);
    check_dropped();
}
END_TEST

/* Nothing of it is left, whatever was to be made of it. */
START_TEST(gone_after_an_update)
{
    make();
    ct_replica_updated(EXEC, GRAPH);
    ct_replica_gone(EXEC);
    ct_replicas_step();
    ck_assert_uint_eq(f.clones_gone, 2);
    ck_assert_uint_eq(f.gone, 1);
    ct_replica_offer(EXEC, GRAPH);
    make();
    ck_assert(launch_in(0));
}
END_TEST

/* Also a clone that the replica is to be made of next may have functions of the module. */
START_TEST(unloaded_after_an_update)
{
    make();
    ct_replicas_unloaded();
    ck_assert(launch_in(0));
    ct_replica_updated(EXEC, GRAPH);
    ct_replicas_unloaded();
    end_run();
    ct_replicas_step();
    ck_assert_uint_eq(ct_replicas_lost(CT_REPLICA_LOST_UNLOADED), 1);
    ck_assert_uint_eq(f.clones_gone, 2);
    ck_assert_uint_eq(f.made, 1);
}
END_TEST

/* In the stream of the replica nothing has to be waited for. */
START_TEST(launches_that_go_by)
{
    make();
    ck_assert(launch_in(0));
    ck_assert(ct_replica_pass(EXEC, &streams[0]));
    ck_assert(!ct_replica_pass(EXEC, &streams[1]));
    ck_assert(ct_replica_pass(HANDLE(CUgraphExec, replicas[0]),
                              &streams[1])); /* not one of the program's */
    end_run();
    ck_assert(ct_replica_pass(EXEC, &streams[1]));
    ck_assert(!launch_in(0)); /* the one before was elsewhere */
    ck_assert(launch_in(0));
}
END_TEST

/* A launch into a capture of the program's gets no node of ours before it; any other one waits. */
START_TEST(no_wait_in_a_capture)
{
    make();
    ck_assert(launch_in(0));
    f.capturing = true;
    ck_assert(!launch_in(1));
    ct_replica_unseen_launch(EXEC, HANDLE(CUstream, stream[1]));
    ck_assert_uint_eq(f.waits, 0);
    f.capturing = false;
    ck_assert(!launch_in(1));
    ck_assert_uint_eq(f.waits, 1);
    ct_replica_unseen_launch(EXEC, HANDLE(CUstream, stream[1]));
    ck_assert_uint_eq(f.waits, 2);
    end_run();
}
END_TEST

/* They are launches all the same, of which two are enough for a replica. */
START_TEST(a_replica_for_launches_that_go_by)
{
    ck_assert(ct_replica_pass(EXEC, &streams[0]) && ct_replica_pass(EXEC, &streams[0]));
    ct_replicas_step();
    ck_assert_uint_eq(f.made, 1);
    ck_assert(launch_in(0));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("replica_change");
    tcase_add_checked_fixture(t, set_up, NULL);
    tcase_add_test(t, set_before_it_is_made);
    tcase_add_test(t, set_while_it_runs);
    tcase_add_test(t, set_arguments_while_it_runs);
    tcase_add_loop_test(t, set_refused, 0, 2);
    tcase_add_loop_test(t, set_what_cannot_be_followed, 0, 2);
    tcase_add_test(t, refused_while_it_runs);
    tcase_add_test(t, switched);
    tcase_add_test(t, switched_before_it_is_made);
    tcase_add_test(t, updated_while_it_runs);
    tcase_add_test(t, set_after_an_update);
    tcase_add_test(t, updated_twice);
    tcase_add_loop_test(t, updated_before_each_launch, 0, 2);
    tcase_add_test(t, set_before_each_launch);
    tcase_add_loop_test(t, set_no_more, 0, 2);
    tcase_add_test(t, updated_with_nodes_off);
    tcase_add_test(t, gone_after_an_update);
    tcase_add_test(t, unloaded_after_an_update);
    tcase_add_test(t, launches_that_go_by);
    tcase_add_test(t, no_wait_in_a_capture);
    tcase_add_test(t, a_replica_for_launches_that_go_by);
    return ct_case_main("unit_replica_change", t);
}
