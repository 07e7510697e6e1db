/* SPDX-License-Identifier: MIT */
/*
 * The kernels in graphs are timed by replicas of these: the program's results, its graph, what its
 * kernels do and how often are what they are without, the times are the device's own, and where
 * there can be none the profile says why.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

#define EACH "CUTRACE_GRAPH_NODES=1" /* wherever it can be */
#define FEWEST 4                     /* runs of each kernel that a test wants */
#define KERNELS "CUDASIM_KERNELS=a=5000,b=9000,c=700,d=2000,e=3000"

struct node_sum {
    uint64_t timed, total_ns, min_ns, max_ns;
};

static struct node_sum nodes_of(const struct ct_summary *s, const char *kernel)
{
    struct node_sum sum = {.min_ns = UINT64_MAX};
    for (size_t i = 0; i < s->nodes_count; i++) {
        const struct ct_file_node *n = &s->nodes[i];
        if (!n->timed || (kernel && strcmp(ct_summary_text(s, n->name), kernel)))
            continue;
        sum.timed += n->timed;
        sum.total_ns += n->total_ns;
        sum.min_ns = n->min_ns < sum.min_ns ? n->min_ns : sum.min_ns;
        sum.max_ns = n->max_ns > sum.max_ns ? n->max_ns : sum.max_ns;
    }
    return sum;
}

/* The stamps of the simulated device are floats of milliseconds, and launches differ a little. */
static void check_node_at(const struct ct_summary *s, const char *kernel, uint64_t ns)
{
    struct node_sum sum = nodes_of(s, kernel);
    ck_assert_uint_ge(sum.min_ns, ns - 10);
    ck_assert_uint_le(sum.max_ns, ns + 10);
    ck_assert_uint_le(sum.total_ns, sum.timed * (ns + 10));
}

static void check_node(const struct ct_summary *s, const char *kernel, uint64_t ns)
{
    ck_assert_uint_ge(nodes_of(s, kernel).timed, FEWEST);
    check_node_at(s, kernel, ns);
}

static uint64_t noted(const struct ct_summary *s, const char *words)
{
    for (size_t i = 0; i < s->notes_count; i++)
        if (strstr(ct_summary_text(s, s->notes[i].text), words))
            return s->notes[i].count;
    return 0;
}

/* Whether the drain thread, on a machine that is busy with others, has come to read enough. */
static bool is_enough(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    bool enough = nodes_of(&s, "a").timed >= FEWEST;
    ct_summary_free(&s);
    return enough;
}

/*
 * Kernels in a line: of the few launches of such a graph none may have been held up, as a machine
 * that is busy with others does.
 */
static bool is_line_right(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    struct node_sum sum = nodes_of(&s, "d");
    ct_summary_free(&s);
    return sum.timed >= 96 && sum.total_ns >= sum.timed * 1960 && sum.total_ns <= sum.timed * 2040;
}

static bool is_any(void)
{
    return true;
}

/* Again until the profile is as it comes where the machine has time for it. */
static void play_until(struct ct_summary *s, struct stage_scene scene, bool (*is_right)(void))
{
    struct stage_run r;
    stage_compare(scene);
    STAGE_UNTIL(is_right(), r, stage_play(&scene));
    ck_assert_msg(r.status == 0 && !strstr(r.out, "wrong"), "%.400s%.900s", r.out, r.err);
    stage_profile(s, "summary.bin");
    stage_drop(&r);
}

static void play_scene(struct ct_summary *s, struct stage_scene scene, bool timed)
{
    play_until(s, scene, timed ? is_enough : is_any);
}

/* With what is otherwise the same, and with each timed launch a replica's. */
static void play_with(struct ct_summary *s, const char *kind, const char *option, bool timed)
{
    play_scene(s, (struct stage_scene){.argv = {"replica", kind}, .env = {option, KERNELS}}, timed);
}

static void play(struct ct_summary *s, const char *kind)
{
    play_with(s, kind, EACH, strcmp(kind, "memory") != 0);
}

static void check_nodes(const struct ct_summary *s)
{
    check_node(s, "a", 5000);
    check_node(s, "b", 9000);
    check_node(s, "c", 700);
    check_node(s, "d", 2000);
}

START_TEST(times_are_the_devices)
{
    static const char *const kinds[] = {"plain", "gone", "child", "off", "captured", "churn"};
    struct ct_summary s;
    play(&s, kinds[_i]);
    check_nodes(&s);
    struct stage_sum graph = stage_rows(&s, CT_ROW_GRAPH, NULL);
    ck_assert_uint_ge(graph.by_loss[CT_LOSS_INSIDE], FEWEST);
    ck_assert_uint_eq(graph.lost, graph.by_loss[CT_LOSS_INSIDE]);
    ck_assert_uint_eq(nodes_of(&s, "d").timed, 2 * graph.by_loss[CT_LOSS_INSIDE]);
    ck_assert_uint_eq(nodes_of(&s, "a").timed, graph.by_loss[CT_LOSS_INSIDE]);
    ct_summary_free(&s);
}
END_TEST

static uint64_t mean_of_graphs(const struct ct_summary *s)
{
    uint64_t total_ns = 0, timed = 0;
    for (size_t i = 0; i < s->rows_count; i++)
        if (s->rows[i].kind == CT_ROW_GRAPH) {
            total_ns += s->rows[i].total_ns;
            timed += s->rows[i].timed;
        }
    ck_assert_uint_gt(timed, 0);
    return total_ns / timed;
}

#define GAP_NS 700 /* between two nodes of the simulated device */

/* One behind the other, with the gaps between them: as long as the graph. */
static void check_sum(const struct ct_summary *s, uint64_t nodes)
{
    struct node_sum sum = nodes_of(s, NULL);
    uint64_t launches = sum.timed / nodes, whole_ns = mean_of_graphs(s);
    ck_assert_uint_ge(launches, 1);
    uint64_t all_ns = sum.total_ns / launches + (nodes - 1) * GAP_NS;
    ck_assert_msg(all_ns <= whole_ns * 101 / 100 && all_ns >= whole_ns * 99 / 100,
                  "nodes and gaps %llu ns, graph %llu ns", (unsigned long long)all_ns,
                  (unsigned long long)whole_ns);
}

/* No table knows what event nodes take here, and the graph begins and ends with other nodes. */
START_TEST(no_longer_than_the_graph)
{
    struct ct_summary s;
    play_until(&s,
               (struct stage_scene){.argv = {"replica", "line"},
                                    .env = {EACH, KERNELS, "CUDASIM_GRAPH_EVENT_NS=2000"}},
               is_line_right);
    ck_assert(is_line_right());
    check_sum(&s, 98);
    ck_assert_uint_gt(nodes_of(&s, "[CUDA memset]").timed, 0);
    ck_assert_uint_gt(nodes_of(&s, "[CUDA memcpy DtoH]").timed, 0);
    ct_summary_free(&s);
}
END_TEST

/* Whatever event nodes take: kernels of a line, and such as have others beside them. */
START_TEST(any_cost_of_event_nodes)
{
    static const char *const costs[] = {"CUDASIM_GRAPH_EVENT_NS=200", "CUDASIM_GRAPH_EVENT_NS=700",
                                        "CUDASIM_GRAPH_EVENT_NS=1500"};
    static const char *const kinds[] = {"plain", "child", "line"};
    const char *kind = kinds[_i / 3];
    struct ct_summary s;
    play_until(&s,
               (struct stage_scene){.argv = {"replica", kind},
                                    .env = {"CUTRACE_GRAPH_NODES=on", KERNELS, costs[_i % 3]}},
               _i < 6 ? is_enough : is_line_right);
    if (_i < 6)
        check_nodes(&s);
    else
        ck_assert(is_line_right());
    ct_summary_free(&s);
}
END_TEST

/* Where all launches are queued before the first is through; also of a graph that comes late. */
START_TEST(launches_that_are_queued_at_once)
{
    struct ct_summary s;
    play_until(
        &s,
        (struct stage_scene){.argv = {"replica", _i ? "line_late" : "line_ahead"},
                             .env = {"CUTRACE_GRAPH_NODES=on", KERNELS,
                                     "CUDASIM_GRAPH_EVENT_NS=2000", "CUDASIM_LATENCY_US=20000"}},
        _i ? is_any : is_line_right);
    ck_assert_uint_ge(nodes_of(&s, "d").timed, 96);
    ck_assert(_i || is_line_right());
    ct_summary_free(&s);
}
END_TEST

/* First ones, and few later: the graph itself has times of its own in between. */
START_TEST(some_launches_only)
{
    struct ct_summary s;
    play_with(&s, "plain", "CUTRACE_GRAPH_NODES=on", true);
    check_nodes(&s);
    struct stage_sum graph = stage_rows(&s, CT_ROW_GRAPH, NULL);
    ck_assert_uint_eq(graph.timed + graph.lost, 43);
    ck_assert_uint_ge(graph.timed, 24);
    ck_assert_uint_ge(graph.by_loss[CT_LOSS_INSIDE], FEWEST);
    ct_summary_free(&s);
}
END_TEST

static bool is_measured(void)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    bool measured = s.devices_count && s.devices[0].calibration == CT_CALIBRATION_DEVICE;
    ct_summary_free(&s);
    return measured;
}

/* Calibration measures brackets, and nothing of event nodes. */
START_TEST(calibration_leaves_them)
{
    struct ct_summary s;
    struct stage_run r;
    STAGE_UNTIL(is_enough() && is_measured(), r,
                PLAY(.argv = {"replica", "plain"}, .env = {EACH, KERNELS, "CUTRACE_CALIBRATE=on"}));
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    check_nodes(&s);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Within the bounds of auto: times at once, and of few launches. */
START_TEST(a_share_is_kept)
{
    struct ct_summary s;
    play_scene(&s,
               (struct stage_scene){.argv = {"replica", "plain"},
                                    .env = {"CUTRACE_GRAPH_NODES=auto", KERNELS}},
               false);
    check_node_at(&s, "a", 5000);
    ck_assert_uint_ge(nodes_of(&s, "a").timed, 1);
    ck_assert_uint_lt(nodes_of(&s, "a").timed, 43 / 2);
    ct_summary_free(&s);
}
END_TEST

/* Off at the first refusal, and the profile says so. */
START_TEST(a_refusal_ends_it)
{
    struct ct_summary s;
    play_scene(&s,
               (struct stage_scene){.argv = {"replica", "many"},
                                    .env = {"CUTRACE_GRAPH_NODES=auto", KERNELS,
                                            "CUDASIM_FAIL=cutrace/cuGraphAddEventRecordNode:1"}},
               false);
    ck_assert_uint_eq(nodes_of(&s, NULL).timed, 0);
    ck_assert_uint_eq(noted(&s, "the driver refused a copy"), 1);
    ct_summary_free(&s);
}
END_TEST

/* Memory that a replica has is the program's when it needs it. */
START_TEST(memory_is_given_up)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"replica", "allocating"},
                              .env = {EACH, KERNELS, "CUDASIM_FAIL=cuMemAlloc_v2:2:2"});
    ck_assert_int_eq(r.status, 0);
    ck_assert_msg(strstr(r.out, "allocate = 0"), "%.900s", r.out);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(noted(&s, "the program needed the memory"), 1);
    ck_assert_uint_ge(nodes_of(&s, "a").timed, 1);
    ck_assert_uint_le(nodes_of(&s, "a").timed, 8);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* At a hundredth of a percent they are 0.3 s apart, at least; each would be one in two. */
START_TEST(a_budget_is_kept)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"replica", "plain"},
                              .env = {"CUTRACE_GRAPH_NODES=on", "CUTRACE_BUDGET=0.01%", KERNELS});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_le(stage_rows(&s, CT_ROW_GRAPH, NULL).by_loss[CT_LOSS_INSIDE],
                      1 + (unsigned)(r.seconds / 0.3));
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Also where most launches go by without a look. */
START_TEST(streams_change)
{
    struct ct_summary s;
    const char *sample = _i ? "CUTRACE_SAMPLE=3" : "CUTRACE_SAMPLE=1";
    play_scene(&s,
               (struct stage_scene){.argv = {"replica", "streams"}, .env = {EACH, KERNELS, sample}},
               true);
    check_nodes(&s);
    struct stage_sum graph = stage_rows(&s, CT_ROW_GRAPH, NULL);
    ck_assert_uint_eq(graph.timed + graph.lost, 123);
    ck_assert_uint_eq(graph.by_loss[CT_LOSS_SAMPLED] > 20, _i);
    ct_summary_free(&s);
}
END_TEST

/* The launch under way is one of the kernel that was there before. */
START_TEST(kernels_change)
{
    struct ct_summary s;
    play(&s, "changed");
    check_nodes(&s);
    check_node(&s, "e", 3000);
    ck_assert_uint_eq(noted(&s, "they were changed"), 1);
    ct_summary_free(&s);
}
END_TEST

START_TEST(replicas_follow)
{
    struct ct_summary s;
    play_with(&s, "sets", EACH, false);
    check_node(&s, "b", 9000);
    check_node(&s, "c", 700);
    check_node(&s, "d", 2000);
    ck_assert_uint_eq(noted(&s, "they were changed"), 0);
    ct_summary_free(&s);
}
END_TEST

/* Each way in which one changes while its thread is in another call of the driver's. */
START_TEST(changes_inside_other_calls)
{
    const unsigned changes = 10, unloads = 20;
    struct ct_summary s;
    struct stage_run r;
    struct stage_scene scene = {.argv = {"inside"}, .env = {EACH, KERNELS}};
    stage_compare(scene);
    STAGE_UNTIL(is_enough(), r, stage_play(&scene));
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    check_node(&s, "a", 5000);
    ck_assert_uint_eq(noted(&s, "they were changed"), changes);
    ck_assert_uint_le(noted(&s, "a module was unloaded"), unloads);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* What is off has no times, and all else goes on having them. */
START_TEST(kernels_are_switched)
{
    struct ct_summary s;
    play(&s, "switched");
    check_nodes(&s);
    ck_assert_uint_ge(nodes_of(&s, "b").timed, nodes_of(&s, "a").timed + FEWEST);
    ck_assert_uint_eq(noted(&s, "they were changed"), 0);
    ct_summary_free(&s);
}
END_TEST

START_TEST(switched_too_early)
{
    struct ct_summary s;
    play_with(&s, "switched_early", EACH, false);
    ck_assert_uint_eq(nodes_of(&s, NULL).timed, 0);
    ck_assert_uint_eq(noted(&s, "they were changed"), 1);
    ct_summary_free(&s);
}
END_TEST

/* But for the update that fails: what that leaves is not known. */
START_TEST(graphs_are_updated)
{
    struct ct_summary s;
    play(&s, "updated");
    check_nodes(&s);
    check_node(&s, "e", 3000);
    ck_assert_uint_ge(nodes_of(&s, "b").timed, nodes_of(&s, "e").timed + 2 * FEWEST);
    ck_assert_uint_eq(noted(&s, "they were changed"), 1);
    ct_summary_free(&s);
}
END_TEST

START_TEST(graphs_are_updated_early)
{
    struct ct_summary s;
    play_with(&s, "updated_early", EACH, false);
    check_node(&s, "b", 9000);
    check_node(&s, "e", 3000);
    ck_assert_uint_eq(nodes_of(&s, "a").timed, 0);
    ck_assert_uint_eq(noted(&s, "they were changed"), 0);
    ct_summary_free(&s);
}
END_TEST

/* In rounds: one in so many updates makes a replica, which has the next launch. */
START_TEST(updates_are_frequent)
{
    struct ct_summary s;
    play_scene(&s,
               (struct stage_scene){.argv = {"replica", "updated_each"}, .env = {EACH, KERNELS}},
               false);
    ck_assert_uint_ge(nodes_of(&s, "a").timed, 1);
    ck_assert_uint_lt(nodes_of(&s, "a").timed, stage_rows(&s, CT_ROW_GRAPH, NULL).timed);
    check_node_at(&s, "a", 5000);
    ck_assert_uint_eq(noted(&s, "they were changed"), 0);
    ct_summary_free(&s);
}
END_TEST

/* As JAX does it: another kernel before each launch, and the right one has the time. */
START_TEST(parameters_are_frequent)
{
    struct ct_summary s;
    const char *kind = _i ? "child_each" : "set_each";
    play_scene(&s, (struct stage_scene){.argv = {"replica", kind}, .env = {EACH, KERNELS}}, false);
    ck_assert_uint_ge(nodes_of(&s, "a").timed, FEWEST);
    ck_assert_uint_ge(nodes_of(&s, "e").timed, FEWEST);
    check_node_at(&s, "a", 5000);
    check_node_at(&s, "e", 3000);
    ck_assert_uint_eq(noted(&s, "they were changed"), 0);
    ct_summary_free(&s);
}
END_TEST

START_TEST(contexts_go)
{
    struct ct_summary s;
    play(&s, "reset");
    check_nodes(&s);
    ct_summary_free(&s);
}
END_TEST

START_TEST(the_profile_says_why_not)
{
    struct ct_summary s;
    play(&s, "memory");
    ck_assert_uint_eq(nodes_of(&s, NULL).timed, 0);
    ck_assert_uint_eq(noted(&s, "they allocate or free memory"), 1);
    ct_summary_free(&s);
}
END_TEST

START_TEST(conditions_are_left_alone)
{
    struct ct_summary s;
    struct stage_scene scene = {.argv = {"conditions"}, .env = {EACH}};
    stage_compare(scene);
    struct stage_run r = stage_play(&scene);
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(noted(&s, "they have conditional nodes"), 1);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

static bool is_noted(const char *words)
{
    struct ct_summary s;
    stage_profile(&s, "summary.bin");
    bool is = noted(&s, words) > 0;
    ct_summary_free(&s);
    return is;
}

START_TEST(too_few_events)
{
    struct stage_run r;
    STAGE_UNTIL(is_noted("too few events"), r,
                PLAY(.argv = {"replica", "many"}, .env = {EACH, KERNELS, "CUTRACE_EVENTS=64"}));
    ck_assert_msg(r.status == 0 && !strstr(r.out, "wrong"), "%.400s%.900s", r.out, r.err);
    ck_assert(is_noted("too few events"));
    stage_drop(&r);
}
END_TEST

START_TEST(too_few_launches)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"replica", "seldom"}, .env = {EACH, KERNELS});
    ck_assert_msg(r.status == 0 && !strstr(r.out, "wrong"), "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(noted(&s, "they were launched too seldom"), 2);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* Off unless it is asked for. */
START_TEST(nothing_without_the_option)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"replica", "plain"}, .env = {"CUDASIM_LOG=log"});
    ck_assert_int_eq(r.status, 0);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(nodes_of(&s, NULL).timed, 0);
    CHECK_TIMED(stage_rows(&s, CT_ROW_GRAPH, NULL), 43);
    char *log = stage_read("log");
    ck_assert_ptr_null(strstr(log, "cuGraphClone"));
    free(log);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("replica");
    tcase_add_loop_test(t, times_are_the_devices, 0, 6);
    tcase_add_loop_test(t, any_cost_of_event_nodes, 0, 9);
    tcase_add_test(t, no_longer_than_the_graph);
    tcase_add_loop_test(t, launches_that_are_queued_at_once, 0, 2);
    tcase_add_test(t, some_launches_only);
    tcase_add_test(t, calibration_leaves_them);
    tcase_add_test(t, a_budget_is_kept);
    tcase_add_test(t, a_share_is_kept);
    tcase_add_test(t, a_refusal_ends_it);
    tcase_add_test(t, memory_is_given_up);
    tcase_add_loop_test(t, streams_change, 0, 2);
    tcase_add_test(t, kernels_change);
    tcase_add_test(t, replicas_follow);
    tcase_add_test(t, changes_inside_other_calls);
    tcase_add_test(t, kernels_are_switched);
    tcase_add_test(t, switched_too_early);
    tcase_add_test(t, graphs_are_updated);
    tcase_add_test(t, graphs_are_updated_early);
    tcase_add_test(t, updates_are_frequent);
    tcase_add_loop_test(t, parameters_are_frequent, 0, 2);
    tcase_add_test(t, contexts_go);
    tcase_add_test(t, the_profile_says_why_not);
    tcase_add_test(t, conditions_are_left_alone);
    tcase_add_test(t, too_few_events);
    tcase_add_test(t, too_few_launches);
    tcase_add_test(t, nothing_without_the_option);
    return stage_main("life_replica", t);
}
