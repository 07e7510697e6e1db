/* SPDX-License-Identifier: MIT */
/*
 * Brackets recorded on H200s and H100s, estimated anew and held against CUPTI's times of the same
 * programs (tests/data/brackets/README.md). Totals and the means of kernels with enough launches
 * have to agree, within one limit for each kind of program. The table is in the log.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_main.h"
#include "counts/sample.h"
#include "cutrace/format.h"
#include "drain/witness_error.h"
#include "state/context.h"
#include "time/full_device.h"
#include "time/lead.h"

#define MEAN_MOST 0.03
#define MEAN_MOST_NS 300.0
#define LAUNCHES_LEAST 100

#define LAUNCHES 65536
#define NAMES 128
#define SETS 256
#define STREAMS 256
#define ROUND 1000      /* brackets that are dealt with together, as of streams side by side, */
#define SHORT_ROUND 100 /* fewer where what witnesses tell counts from the next round on, */
#define AHEAD 100       /* and those whose stamps are known by then */

struct launch {
    unsigned name;
    bool is_kernel;
    bool is_witness;
    uint64_t inside_ns; /* of the last witness whose stamps had been read; 0: none had */
    struct ct_measured measured;
    struct ct_pending pending;
};

struct kernel {
    char name[64];
    unsigned launches;
    unsigned clean;
    double raw_ns; /* totals */
    double time_ns;
    double truth_ns; /* CUPTI's mean */
    uint32_t block_registers;
    uint32_t parameter_bytes;
};

static struct launch *launches;
static unsigned launch_count;
static struct kernel kernels[NAMES];
static unsigned kernel_count;
/* The library has a row for each kernel and shape; here what came before tells them apart. */
static struct ct_prior priors[NAMES][NAMES];
static uint64_t last_stop_ns[STREAMS];
static struct ct_gpu_clock host_clock;
static struct ct_calibration figures;
static struct ct_witness witness;
static struct {
    unsigned witnesses; /* with stamps, in the set, */
    unsigned one_place; /* and those of them that wrote to one place */
} heard;

#define TIMER_STEP_NS 32

#define H100 "NVIDIA H100 80GB HBM3"

/* Limits of a kind of program; percent. */
static const struct program {
    const char *name;
    double total_most; /* error of a set's total, */
    double mean_most;  /* and its mean over all sets */
    double out_most;   /* kernels whose mean is out of max(MEAN_MOST, MEAN_MOST_NS) */
    bool has_streams;
} programs[] = {
    {"decode", 10, 2.6, 1, false}, /* kernels of 1.4 us, all off alike */
    {"train", 2, 1.2, 2, false},   {"cupy", 2.5, 1.5, 1, false}, {"spin", 1.5, 0.8, 1, false},
    {"overlap", 5, 2.6, 8, true}, /* inference on four streams, training beside copies */
};

/* A row of sets.tsv. */
static struct data_set {
    char folder[1024];
    char name[64];
    char program[16];
    char device[64];
    uint32_t record_ns; /* on the host; 0: the table's first */
    bool has_budget;    /* operations went by without a bracket, so that there are fewer */
} sets[SETS];
static unsigned set_count;

/* By how much less a witness that wrote to one place needs beside its stamps; H200, H100. */
static const uint32_t one_place_less_ns[] = {120, 60};

static FILE *open_data(const char *folder, const char *name, const char *end)
{
    char command[2048];
    snprintf(command, sizeof(command), "%s '%s/%s.%s'", strstr(end, ".gz") ? "gzip -dc" : "cat",
             folder, name, end);
    FILE *file = popen(command, "r");
    if (!file)
        exit(99);
    return file;
}

/* One line, its end cut off; false: there are no more. */
static bool next_line(FILE *file, char *line, size_t room)
{
    if (!fgets(line, (int)room, file))
        return false;
    line[strcspn(line, "\n")] = 0;
    return true;
}

static unsigned kernel_named(const char *name)
{
    for (unsigned i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return i;
    ck_assert_uint_lt(kernel_count, NAMES);
    snprintf(kernels[kernel_count].name, sizeof(kernels[0].name), "%s", name);
    return kernel_count++;
}

/* Where both clocks begin. */
#define BEGIN_NS ((uint64_t)1 << 40)

static void hear(struct launch *l, const char *kind, const char *inside)
{
    bool one_place = strcmp(kind, "one_place") == 0;
    l->is_witness = one_place || strcmp(kind, "witness") == 0;
    l->inside_ns = l->is_witness ? strtoull(inside, NULL, 10) : 0; /* none of "-" */
    ct_assert_msg(one_place || l->inside_ns % TIMER_STEP_NS == 0,
                  "no witness's own stamps: %s ns are no steps of the GPU's timer", inside);
    heard.witnesses += l->inside_ns > 0;
    heard.one_place += one_place && l->inside_ns;
}

static bool parse_stamps(const char *line, const struct launch *before, struct launch *l)
{
    long long after, raw, pause, record, launch, stop_record;
    char kind[16], name[64];
    struct ct_measured *m = &l->measured;
    if (sscanf(line, "%u %u %lld %lld %lld %lld %lld %lld %15s %63s", &m->op.stream, &m->op.flags,
               &after, &raw, &pause, &record, &launch, &stop_record, kind, name) != 10 ||
        m->op.stream >= STREAMS)
        return false;
    hear(l, kind, name);
    l->is_kernel = l->is_witness || strcmp(kind, "kernel") == 0;
    l->name = kernel_named(l->is_witness ? kind : name);
    m->op.open_ticks = (before ? before->measured.op.closed_ticks : BEGIN_NS) + (uint64_t)pause;
    m->op.call_ticks = m->op.open_ticks + (uint64_t)record;
    m->op.done_ticks = m->op.call_ticks + (uint64_t)launch;
    m->op.closed_ticks = m->op.done_ticks + (uint64_t)stop_record;
    m->start_ns = (before ? before->measured.stop_ns : BEGIN_NS) + (uint64_t)after;
    m->stop_ns = m->start_ns + (uint64_t)raw;
    m->times = ct_lead_host_times(&m->op);
    m->times.work = l->is_kernel ? CT_CLASS_KERNEL : CT_CLASS_COPY;
    m->times.raw_ns = (uint64_t)raw;
    uint64_t last_ns = last_stop_ns[m->op.stream];
    if (last_ns)
        m->times.gap_ns = m->start_ns > last_ns ? m->start_ns - last_ns : 0;
    last_stop_ns[m->op.stream] = m->stop_ns;
    return true;
}

static void read_launches(const struct data_set *set)
{
    char line[512];
    FILE *file = open_data(set->folder, set->name, "brackets.tsv.gz");
    ck_assert(next_line(file, line, sizeof(line)));
    while (next_line(file, line, sizeof(line))) {
        ct_assert_uint(launch_count, <, LAUNCHES);
        struct launch *l = &launches[launch_count];
        const struct launch *before = launch_count ? l - 1 : NULL;
        ct_assert_msg(parse_stamps(line, before, l), "%s: %s", set->name, line);
        l->measured.op.cell = set->has_budget ? CT_CELL_NONE + 1 : CT_CELL_NONE;
        launch_count++;
    }
    ck_assert_int_eq(pclose(file), 0);
    ck_assert_uint_gt(launch_count, set->has_budget ? 500 : 1000);
    if (!heard.one_place)
        return;
    ck_assert_uint_eq(heard.one_place, heard.witnesses);
    figures.outside_ns -= one_place_less_ns[strcmp(set->device, H100) == 0];
}

/* What the library asks the driver. */
static void read_kernels(const struct data_set *set)
{
    char line[512], name[64];
    unsigned registers, threads, bytes;
    FILE *file = open_data(set->folder, "kernels", "tsv");
    ck_assert(next_line(file, line, sizeof(line)));
    while (next_line(file, line, sizeof(line))) {
        ck_assert_int_eq(sscanf(line, "%63s %u %u %u", name, &registers, &threads, &bytes), 4);
        struct kernel *k = &kernels[kernel_named(name)];
        k->block_registers = registers * threads;
        k->parameter_bytes = bytes;
    }
    ck_assert_int_eq(pclose(file), 0);
    for (struct launch *l = launches; l < launches + launch_count; l++) {
        l->measured.times.block_registers = kernels[l->name].block_registers;
        l->measured.times.parameter_bytes = kernels[l->name].parameter_bytes;
    }
}

static void queue_up(void)
{
    struct ct_pending *behind[STREAMS] = {NULL};
    for (unsigned i = launch_count; i--;) {
        const struct ct_op *op = &launches[i].measured.op;
        launches[i].pending = (struct ct_pending){.next = behind[op->stream], .op = *op};
        behind[op->stream] = &launches[i].pending;
    }
}

static void read_truth(const struct data_set *set)
{
    char line[512], name[64];
    double n, total_us;
    FILE *file = open_data(set->folder, set->name, "cupti.tsv");
    ck_assert(next_line(file, line, sizeof(line)));
    while (next_line(file, line, sizeof(line))) {
        ck_assert_int_eq(sscanf(line, "%63s %lf %lf", name, &n, &total_us), 3);
        kernels[kernel_named(name)].truth_ns = total_us * 1000 / n;
    }
    ck_assert_int_eq(pclose(file), 0);
}

/* What the streams did beside each other, and then the clocks, as in ct_settle(). */
static void look_at_round(unsigned first, unsigned n, unsigned known)
{
    static struct ct_measured round[ROUND + AHEAD];
    for (unsigned i = 0; i < known; i++) {
        round[i] = launches[first + i].measured;
        ct_lead_guess(&host_clock, &round[i]);
    }
    ct_full_device_find(round, known, n);
    for (unsigned i = 0; i < n; i++) {
        const struct ct_pending *behind = launches[first + i].pending.next;
        round[i].long_ticks = ct_lead_long_ticks(behind);
        round[i].times.met_intake = ct_lead_met_intake(&host_clock, round[i].stop_ns, behind);
        ct_lead_find(&host_clock, &round[i]);
        bool is_witness = launches[first + i].is_witness;
        round[i].times.witness_ns =
            is_witness ? 0 : ct_witness_excess_ns(&witness, host_clock.host_record_ns);
    }
    for (unsigned i = 0; i < n; i++)
        launches[first + i].measured = round[i];
}

static struct ct_prior *prior_of(unsigned i)
{
    unsigned before = i ? launches[i - 1].name : 0;
    return &priors[launches[i].name][before];
}

static void learn(unsigned i)
{
    struct ct_measured *m = &launches[i].measured;
    m->estimate = ct_estimate(&figures, &m->times);
    if (m->estimate.is_clean)
        ct_estimate_settle(&m->estimate, prior_of(i));
}

/* The library has the stamps a group later. */
static void testify(struct launch *l, const struct ct_estimate *e)
{
    static uint64_t number;
    if (!l->inside_ns)
        return;
    uint64_t inside = ++number << 32 | l->inside_ns;
    atomic_store(&witness.inside[number % CT_WITNESS_WAITING], inside);
    l->measured.op.bytes = number;
    ct_witness_add(&witness, &l->measured, e);
}

static void settle(unsigned i)
{
    struct launch *l = &launches[i];
    struct kernel *k = &kernels[l->name];
    struct ct_estimate e = l->measured.estimate;
    if (l->is_witness) {
        testify(l, &e);
        return;
    }
    if (!e.is_clean)
        ct_estimate_settle(&e, prior_of(i));
    k->launches++;
    k->clean += e.is_clean;
    k->raw_ns += (double)l->measured.times.raw_ns;
    k->time_ns += (double)e.time_ns;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void estimate(bool has_streams)
{
    unsigned round = heard.witnesses && !has_streams ? SHORT_ROUND : ROUND;
    for (unsigned first = 0; first < launch_count; first += round) {
        unsigned last = least(first + round, launch_count);
        look_at_round(first, last - first, least(first + round + AHEAD, launch_count) - first);
        for (unsigned i = first; i < last; i++)
            learn(i);
        for (unsigned i = first; i < last; i++)
            settle(i);
    }
}

struct judged {
    unsigned counted;
    unsigned out;
};

/* Prints the kernel's line. */
static void judge(const struct kernel *k, struct judged *sum)
{
    double error_ns = k->time_ns / k->launches - k->truth_ns;
    double most_ns = fmax(MEAN_MOST * k->truth_ns, MEAN_MOST_NS);
    bool counts = k->launches >= LAUNCHES_LEAST, is_out = fabs(error_ns) > most_ns;
    sum->counted += counts;
    sum->out += counts && is_out;
    printf("%-60s %6u %9.3f %+9.3f %+8.3f %6.3f %5.0f %s\n", k->name, k->launches,
           k->truth_ns / 1000, (k->raw_ns / k->launches - k->truth_ns) / 1000, error_ns / 1000,
           most_ns / 1000, 100.0 * k->clean / k->launches,
           !counts  ? "few"
           : is_out ? "out"
                    : "");
}

static void forget(const struct data_set *set)
{
    launch_count = kernel_count = 0;
    memset(launches, 0, sizeof(*launches) * LAUNCHES);
    memset(kernels, 0, sizeof(kernels));
    memset(priors, 0, sizeof(priors));
    memset(last_stop_ns, 0, sizeof(last_stop_ns));
    ct_gpu_clock_reset(&host_clock);
    witness = (struct ct_witness){0};
    ck_assert(ct_contexts_init());
    ct_device_calibrated(0, &figures);
    figures = *ct_calibration_of(set->device, set->record_ns);
    memset(&heard, 0, sizeof(heard));
    ck_assert(ct_full_device_init());
}

/* How far the total is off, percent. */
static double replay(const struct data_set *set, const struct program *program, struct judged *sum)
{
    double raw_ns = 0, time_ns = 0, truth_ns = 0;
    forget(set);
    read_launches(set);
    read_kernels(set);
    queue_up();
    read_truth(set);
    estimate(program->has_streams);
    printf("\n%s, us\n%-60s %6s %9s %9s %8s %6s %5s\n", set->name, "kernel", "count", "CUPTI",
           "raw", "error", "limit", "clean");
    for (const struct kernel *k = kernels; k < kernels + kernel_count; k++) {
        if (!k->launches || k->truth_ns <= 0)
            continue;
        judge(k, sum);
        raw_ns += k->raw_ns;
        time_ns += k->time_ns;
        truth_ns += k->truth_ns * k->launches;
    }
    printf("total: %.4f of CUPTI's, raw brackets %.4f\n", time_ns / truth_ns, raw_ns / truth_ns);
    return fabs(time_ns / truth_ns - 1) * 100;
}

START_TEST(durations_are_cupti_s)
{
    const struct program *p = &programs[_i];
    struct judged sum = {0};
    double errors = 0, worst = 0;
    unsigned n = 0;
    for (const struct data_set *set = sets; set < sets + set_count; set++) {
        if (strcmp(set->program, p->name) != 0)
            continue;
        double error = replay(set, p, &sum);
        worst = fmax(worst, error);
        errors += error;
        n++;
    }
    ck_assert_uint_gt(n, 0);
    printf(
        "\n%s: %u sets, totals off by %.2f %% on average (%.2f), %.2f at most (%.2f), kernels out "
        "%u of %u (%.0f %%)\n",
        p->name, n, errors / n, p->mean_most, worst, p->total_most, sum.out, sum.counted,
        p->out_most);
    fflush(stdout);
    ck_assert_double_le(errors / n, p->mean_most);
    ck_assert_double_le(worst, p->total_most);
    ck_assert_double_le(100.0 * sum.out, p->out_most * sum.counted);
}
END_TEST

static bool is_program(const char *name)
{
    for (unsigned i = 0; i < ct_countof(programs); i++)
        if (strcmp(programs[i].name, name) == 0)
            return true;
    return false;
}

/* False: a row is not understood. */
static bool read_sets(const char *folder)
{
    char line[512], timed[8];
    bool is_good = true;
    FILE *file = open_data(folder, "sets", "tsv");
    bool has_head = next_line(file, line, sizeof(line));
    while (is_good && set_count < SETS && next_line(file, line, sizeof(line))) {
        struct data_set *set = &sets[set_count++];
        snprintf(set->folder, sizeof(set->folder), "%s", folder);
        is_good = sscanf(line, "%63s %15s %63[^\t] %u %7s", set->name, set->program, set->device,
                         &set->record_ns, timed) == 5 &&
                  is_program(set->program);
        set->has_budget = strcmp(timed, "some") == 0;
    }
    return pclose(file) == 0 && has_head && is_good;
}

int main(void)
{
    const char *srcdir = getenv("srcdir"), *more = getenv("BRACKET_SETS");
    char folder[1024];
    snprintf(folder, sizeof(folder), "%s/tests/data/brackets", srcdir ? srcdir : ".");
    launches = calloc(LAUNCHES, sizeof(*launches));
    if (!launches || !read_sets(folder) || (more && !read_sets(more))) {
        fputs("sets.tsv: a row is not understood\n", stderr);
        return EXIT_FAILURE;
    }
    TCase *tests = tcase_create("accuracy");
    tcase_set_timeout(tests, 0);
    tcase_add_loop_test(tests, durations_are_cupti_s, 0, ct_countof(programs));
    int status = ct_case_main_alone("accuracy", tests);
    free(launches);
    return status;
}
