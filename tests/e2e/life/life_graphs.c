/* SPDX-License-Identifier: MIT */
/*
 * Graphs and captures are what they are without cutrace: the results of all calls, the nodes, their
 * types and edges, memory; and all launches are accounted for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

static uint64_t number_after(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    ck_assert_msg(at != NULL, "nothing says '%s'", words);
    return strtoull(at + strlen(words), NULL, 10);
}

/* ---- random programs ---- */

#define PROGRAMS 80 /* in each of the settings */

/*
 * Default; sampled, where streams are asked late; few events; operations that take their time;
 * nodes of graphs timed, within bounds and wherever they can be.
 */
static const char *const settings[] = {"CUTRACE_SAMPLE=1",      "CUTRACE_SAMPLE=3",
                                       "CUTRACE_BUDGET=1%",     "CUTRACE_EVENTS=64",
                                       "CUDASIM_LATENCY_US=50", "CUTRACE_GRAPH_NODES=auto",
                                       "CUTRACE_GRAPH_NODES=1"};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static struct stage_scene random_scene(int setting, char *first, char *count)
{
    long programs = stage_number("CUTRACE_TEST_CAPTURES", PROGRAMS * SETTINGS) / SETTINGS;
    sprintf(first, "%ld", setting * programs);
    sprintf(count, "%ld", programs);
    return (struct stage_scene){.program = stage_path_of("tests/e2e/random_captures"),
                                .argv = {"/proc/self/exe", first, count},
                                .env = {settings[setting]},
                                .timeout_s = 60 + (unsigned)programs / 10};
}

/* The first line that is another one is all that anyone wants to see. */
static void compare_text(const char *with, const char *without)
{
    const char *line = with, *program = "";
    size_t i = 0;
    for (; with[i] && with[i] == without[i]; i++)
        if (with[i] == '\n') {
            line = with + i + 1;
            if (!strncmp(line, "program ", 8))
                program = line;
        }
    ck_assert_msg(with[i] == without[i], "%.20s\nwith:    %.100s\nwithout: %.100s", program, line,
                  without + (line - with));
}

static void check_random(const struct ct_summary *s, const char *out, uint32_t kind,
                         const char *row, const char *words)
{
    struct stage_sum sum = stage_rows(s, kind, row);
    uint64_t ran = number_after(out, words);
    uint64_t captured = number_after(strstr(out, words), " and ");
    ck_assert_msg(sum.timed + sum.lost == ran && sum.captured == captured,
                  "%s %llu and %llu captured; counted: %llu timed, %llu not, %llu captured", words,
                  (unsigned long long)ran, (unsigned long long)captured,
                  (unsigned long long)sum.timed, (unsigned long long)sum.lost,
                  (unsigned long long)sum.captured);
}

START_TEST(random_programs)
{
    char first[32], count[32];
    struct ct_summary s;
    struct stage_scene scene = random_scene(_i, first, count);
    struct stage_run with = stage_play(&scene);
    ck_assert_msg(with.status == 0, "%.900s", with.err);
    stage_profile(&s, "summary.bin");
    check_random(&s, with.out, CT_ROW_KERNEL, "count_one", "sum count_one: ");
    check_random(&s, with.out, CT_ROW_KERNEL, "count_two", "sum count_two: ");
    check_random(&s, with.out, CT_ROW_KERNEL, "_Z7mangledIiEvPT_j", "sum beside: ");
    check_random(&s, with.out, CT_ROW_GRAPH, NULL, "sum graph: ");
    ct_summary_free(&s);
    scene.bare = true;
    struct stage_run without = stage_play(&scene);
    compare_text(with.out, without.out);
    ck_assert_int_eq(with.status, without.status);
    stage_drop(&with);
    stage_drop(&without);
}
END_TEST

/* ---- who may begin and end a capture ---- */

static unsigned lines(const char *text, const char *line)
{
    unsigned n = 0;
    for (; (text = strstr(text, line)); text++)
        n++;
    return n;
}

START_TEST(every_stream_in_every_mode)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"capture-matrix"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_uint_eq(lines(r.out, "begin = 900\n"), 3); /* the legacy stream */
    ck_assert_uint_eq(lines(r.out, "captured: 3 nodes, 2 edges, types 0*3"), 9);
    ck_assert_uint_eq(lines(r.out, "end elsewhere = 401\n"), 3); /* its own per-thread stream */
    ck_assert_uint_eq(lines(r.out, "end elsewhere = 908\n"), 4); /* unless it is relaxed */
    ck_assert_uint_eq(lines(r.out, "end elsewhere = 0\n"), 2);
    ck_assert_uint_eq(lines(r.out, "end here = 0\n"), 7);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(stage_kernel(&s, "captured").captured, 27);
    CHECK_TIMED(stage_kernel(&s, "captured"), 1);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"capture-matrix"}});
}
END_TEST

START_TEST(first_launch_in_a_capture_without_a_context)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"capture-first"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "captured");
    ck_assert_uint_eq(sum.captured, lines(r.out, "launch = 0\n"));
    ck_assert_uint_eq(sum.timed + sum.lost, 0);
    ck_assert_uint_eq(s.devices_count, 1);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"capture-first"}});
}
END_TEST

/* A record that comes into the capture costs its bracket, and not the context. */
START_TEST(capture_between_question_and_record)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"capture-race"}, .env = {"CUDASIM_SLOW=cuEventRecord:300"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    struct stage_sum sum = stage_kernel(&s, "racing");
    ck_assert_uint_eq(sum.timed + sum.captured + sum.lost, number_after(r.err, "racing "));
    ck_assert_uint_gt(sum.by_loss[CT_LOSS_UNSAFE], 0);
    CHECK_TIMED(stage_kernel(&s, "after"), 100);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* What the stream is asked ends no capture that begins at this moment. */
START_TEST(capture_while_the_stream_is_asked)
{
    struct stage_run r =
        PLAY(.argv = {"capture-race"},
             .env = {"CUDASIM_SLOW=cuEventRecord:100",
                     "CUDASIM_LATE=cuStreamQuery:700,cuStreamBeginCapture_v2:400"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_drop(&r);
}
END_TEST

/* ---- graphs that are launched ---- */

static uint64_t ran(const struct ct_file_row *r)
{
    uint64_t n = r->timed;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++)
        n += i == CT_LOSS_CAPTURED ? 0 : r->lost[i];
    return n;
}

/* Launches of graphs with so many nodes. */
static uint64_t launches_of(const struct ct_summary *s, uint32_t nodes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->rows_count; i++)
        if (s->rows[i].kind == CT_ROW_GRAPH && s->rows[i].detail == nodes)
            n += ran(&s->rows[i]);
    return n;
}

/* Runs of a kernel within graphs, by what the rows say of their nodes. */
static uint64_t runs_within(const struct ct_summary *s, const char *kernel)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->nodes_count; i++)
        if (!strcmp(ct_summary_text(s, s->nodes[i].name), kernel))
            n += s->nodes[i].count * ran(&s->rows[s->nodes[i].graph_row]);
    return n;
}

static uint64_t noted(const struct ct_summary *s, const char *words)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->notes_count; i++)
        n += strstr(ct_summary_text(s, s->notes[i].text), words) ? s->notes[i].count : 0;
    return n;
}

/* What runs in a body is known to the GPU alone: a conditional node is one node. */
START_TEST(conditional_nodes)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"conditions"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_uint_eq(number_after(r.out, "ran taken "), 5);
    ck_assert_uint_eq(number_after(r.out, "ran passed "), 0);
    ck_assert_uint_eq(number_after(r.out, "ran countdown "), 15);
    ck_assert_ptr_nonnull(strstr(r.out, "all: 3 nodes, 0 edges, types 0*1 13*2"));
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(launches_of(&s, 3), 5);
    CHECK_TIMED(stage_rows(&s, CT_ROW_GRAPH, NULL), 5);
    ck_assert_uint_eq(runs_within(&s, "plain"), number_after(r.out, "ran plain "));
    ck_assert_uint_eq(stage_rows(&s, CT_ROW_KERNEL, NULL).captured, 4);
    ck_assert_uint_eq(noted(&s, "what ran in the bodies of these is not counted"), 5);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"conditions"}});
}
END_TEST

/* Of each kernel as many ran as the program says. */
static void check_truth(const struct ct_summary *s, const char *out)
{
    for (const char *name = "abcd"; *name; name++) {
        const char kernel[] = {*name, '\0'}, words[] = {'r', 'a', 'n', ' ', *name, ' ', '\0'};
        ck_assert_msg(runs_within(s, kernel) == number_after(out, words), "%s %llu, %.400s", kernel,
                      (unsigned long long)runs_within(s, kernel), out);
    }
}

/* What a launch is one of is known where each is timed, and where most go by without a look. */
START_TEST(updated_graphs)
{
    struct ct_summary s;
    struct stage_run r =
        PLAY(.argv = {"updates"}, .env = {_i ? "CUTRACE_SAMPLE=1000000" : "CUTRACE_SAMPLE=1"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    ck_assert_uint_eq(lines(r.out, "update = 910\n"), 1);
    stage_profile(&s, "summary.bin");
    ck_assert_uint_eq(launches_of(&s, 3), 28 + 9);
    if (!_i)
        CHECK_TIMED(stage_rows(&s, CT_ROW_GRAPH, NULL), 28 + 9);
    check_truth(&s, r.out);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {"updates"}});
}
END_TEST

START_TEST(graphs_updated_many_times)
{
    struct ct_summary s;
    struct stage_run r = PLAY(.argv = {"updates-many"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    check_truth(&s, r.out);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

/* ---- copies and sets in graphs ---- */

static void check_work(const struct ct_summary *s, const char *out, const char *name, uint32_t kind,
                       uint32_t detail)
{
    char words[32];
    uint64_t runs = 0, bytes = 0;
    sprintf(words, "ran %s ", name);
    for (size_t i = 0; i < s->nodes_count; i++) {
        const struct ct_file_node *n = &s->nodes[i];
        if (n->kind != kind || n->detail != detail)
            continue;
        runs += n->count * ran(&s->rows[n->graph_row]);
        bytes += n->bytes;
    }
    ck_assert_msg(runs == number_after(out, words) &&
                      bytes == number_after(strstr(out, words), " of "),
                  "%s: %llu runs of %llu bytes; %.900s", name, (unsigned long long)runs,
                  (unsigned long long)bytes, out);
}

static void check_all_work(const struct ct_summary *s, const char *out)
{
    static const char *const directions[] = {
#define X(id, text) text,
        CT_DIRECTIONS(X)
#undef X
    };
    for (uint32_t i = 0; i < CT_DIRECTION_COUNT; i++)
        check_work(s, out, directions[i], CT_ROW_COPY, i);
    check_work(s, out, "memset", CT_ROW_SET, 0);
    ck_assert_uint_eq(runs_within(s, "step"), number_after(out, "ran step "));
    ck_assert_uint_eq(runs_within(s, "other"), number_after(out, "ran other "));
}

/* With replicas in between and where most go by without a look they are as many. */
static const char *const ways[] = {"CUTRACE_SAMPLE=1", "CUTRACE_SAMPLE=1000000",
                                   "CUTRACE_GRAPH_NODES=1"};
#define WAYS (int)(sizeof(ways) / sizeof(ways[0]))
static const char *const parts[] = {"graph-kinds", "graph-changes", "graph-sizes", "graph-loop",
                                    "graph-memory"};
#define PARTS (int)(sizeof(parts) / sizeof(parts[0]))

START_TEST(copies_and_sets_within_graphs)
{
    struct ct_summary s;
    const char *part = parts[_i % PARTS];
    struct stage_run r = PLAY(.argv = {part}, .env = {ways[_i / PARTS], "CUDASIM_DEVICES=2"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    check_all_work(&s, r.out);
    ct_summary_free(&s);
    stage_drop(&r);
    stage_compare((struct stage_scene){.argv = {part}, .env = {"CUDASIM_DEVICES=2"}});
}
END_TEST

/* Copies that cannot be told apart by bytes any more are counted without, and that is said. */
START_TEST(more_sizes_than_there_is_room_for)
{
    struct ct_summary s;
    uint64_t runs = 0, bytes = 0;
    struct stage_run r = PLAY(.argv = {"graph-sizes", "5000"});
    ck_assert_msg(r.status == 0, "%.400s%.900s", r.out, r.err);
    stage_profile(&s, "summary.bin");
    for (size_t i = 0; i < s.nodes_count; i++)
        if (s.nodes[i].kind == CT_ROW_COPY) {
            runs += s.nodes[i].count * ran(&s.rows[s.nodes[i].graph_row]);
            bytes += s.nodes[i].bytes;
        }
    ck_assert_uint_eq(runs, 5000);
    ck_assert_uint_eq(noted(&s, "there are too many sizes"), 5000 - 3072);
    ck_assert_uint_eq(bytes, 3072 * 3073 / 2);
    ct_summary_free(&s);
    stage_drop(&r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("graphs");
    tcase_add_loop_test(t, random_programs, 0, SETTINGS);
    tcase_add_test(t, every_stream_in_every_mode);
    tcase_add_test(t, first_launch_in_a_capture_without_a_context);
    tcase_add_test(t, capture_between_question_and_record);
    tcase_add_test(t, capture_while_the_stream_is_asked);
    tcase_add_test(t, conditional_nodes);
    tcase_add_loop_test(t, updated_graphs, 0, 2);
    tcase_add_test(t, graphs_updated_many_times);
    tcase_add_loop_test(t, copies_and_sets_within_graphs, 0, PARTS * WAYS);
    tcase_add_test(t, more_sizes_than_there_is_room_for);
    return stage_main("life_graphs", t);
}
