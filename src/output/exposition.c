/* SPDX-License-Identifier: MIT */
#include "output/exposition.h"

#include "base/printable.h"
#include "base/text.h"
#include "counts/row.h"
#include "cutrace/format.h"
#include "device/sensor_thread.h"
#include "format/crc32.h"
#include "state/context.h"
#include "watch/watchdog.h"

#define LABEL_BYTES 768
#define NAME_BYTES 400    /* longest name in a label; others are cut and get a checksum */
#define FREE_FOR_ALL 32   /* series for the first rows; later rows need LEAST_SHARE of the time */
#define LEAST_SHARE 0.004 /* part of all rows' time */

/* Counters of a series. */
enum { OPERATIONS, TIME_NS, CLASSES, FIGURES = CLASSES + CT_CLASSES };

struct figures {
    uint64_t of[FIGURES];
};

struct series {
    uint32_t row;
    struct figures base;  /* counts among the others; for `others`, the bases of rows that left */
    struct figures shown; /* highest so far: estimates of time may shrink, counters do not */
    char labels[LABEL_BYTES];
};

static struct series series[CT_METRICS_ROWS];
static CT_PROCESS uint32_t series_count;
static CT_PROCESS struct series others;
static CT_PROCESS bool has_series[CT_ROWS], is_among_others[CT_ROWS];
static CT_PROCESS uint64_t cost_ns;
static CT_PROCESS char process_labels[48];

struct text {
    struct ct_buffer *b;
    bool ok;
};

/* ---- pieces of text ---- */

static void put_bytes(struct text *t, const char *s, size_t len)
{
    char *to = ct_buffer_add(t->b, len);
    if (to)
        __builtin_memcpy(to, s, len);
    t->ok &= to != NULL;
}

static void put(struct text *t, const char *s)
{
    put_bytes(t, s, ct_strlen(s));
}

static void put_u64(struct text *t, uint64_t n)
{
    char digits[24];
    struct ct_text d = ct_text_in(digits, sizeof(digits));
    ct_text_add_u64(&d, n);
    put_bytes(t, digits, d.len);
}

/* All digits: a float would stop counting nanoseconds after a hundred days. */
static void put_seconds(struct text *t, uint64_t ns)
{
    char digits[16] = "000000000";
    put_u64(t, ns / 1000000000u);
    uint64_t rest = ns % 1000000000u;
    for (int i = 9; i-- && rest; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    put(t, ".");
    put(t, digits);
}

/* Quotes, backslashes and bytes that are no text would end the label, or make it invalid. */
static void add_escaped(struct ct_text *t, const char *s, size_t most)
{
    static const char hex[] = "0123456789abcdef";
    size_t end = t->len + most;
    while (*s && t->len + 8 < end) {
        size_t len = ct_printable(s);
        if (!len) {
            ct_text_add(t, "\\\\x");
            ct_text_add_char(t, hex[(unsigned char)*s >> 4]);
            ct_text_add_char(t, hex[*s & 15]);
        } else if (*s == '"' || *s == '\\') {
            ct_text_add_char(t, '\\');
        }
        for (size_t i = 0; i < len; i++)
            ct_text_add_char(t, s[i]);
        s += len ? len : 1;
    }
    if (*s)
        ct_text_add(t, "...");
}

/* ---- labels ---- */

static void add_name(struct ct_text *t, const struct ct_row *r)
{
    static const char *const directions[] = {
#define X(id, text) [CT_##id] = text,
        CT_DIRECTIONS(X)
#undef X
    };
    size_t len = ct_strlen(r->name), begin = t->len;
    switch (r->kind) {
    case CT_ROW_COPY:
        ct_text_add(t, directions[r->detail]);
        break;
    case CT_ROW_GRAPH:
        ct_text_add(t, r->name);
        ct_text_add(t, ": ");
        ct_text_add_u64(t, r->detail);
        ct_text_add(t, " nodes");
        break;
    default:
        add_escaped(t, r->name, NAME_BYTES);
    }
    if (t->len - begin + 16 >= NAME_BYTES)
        ct_text_add_u64(t, ct_crc32(0, r->name, len));
}

static void label_row(struct series *s)
{
    static const char *const kinds[] = {
        [CT_ROW_KERNEL] = "kernel", [CT_ROW_COPY] = "copy",         [CT_ROW_SET] = "set",
        [CT_ROW_GRAPH] = "graph",   [CT_ROW_PREFETCH] = "prefetch",
    };
    const struct ct_row *r = ct_row(s->row);
    struct ct_text t = ct_text_in(s->labels, sizeof(s->labels));
    ct_text_add(&t, process_labels);
    ct_text_add(&t, ",device=\"");
    if (r->device < ct_devices_count())
        ct_text_add_u64(&t, (uint64_t)ct_device(r->device)->handle);
    ct_text_add(&t, "\",kind=\"");
    ct_text_add(&t, kinds[r->kind]);
    ct_text_add(&t, "\",name=\"");
    add_name(&t, r);
    ct_text_add(&t, "\"");
}

/* Labels tell a machine's processes apart, as they share an exporter. */
static void label_process(const struct ct_process_info *p)
{
    struct ct_text t = ct_text_in(process_labels, sizeof(process_labels));
    ct_text_add(&t, "pid=\"");
    ct_text_add_u64(&t, p->pid);
    ct_text_add(&t, "\",rank=\"");
    if (p->rank.number)
        ct_text_add_u64(&t, p->rank.number - 1);
    ct_text_add(&t, "\"");
    t = ct_text_in(others.labels, sizeof(others.labels));
    ct_text_add(&t, process_labels);
    ct_text_add(&t, ",device=\"\",kind=\"other\",name=\"\"");
}

/* ---- figures ---- */

static struct figures figures_of(const struct ct_row *r)
{
#define X(id, ran, text) ran,
    static const bool ran[CT_LOSS_COUNT] = {CT_LOSSES(X)};
#undef X
    struct figures f;
    f.of[OPERATIONS] = r->timed;
    for (unsigned i = 0; i < CT_LOSS_COUNT; i++)
        f.of[OPERATIONS] += ran[i] ? atomic_load_explicit(&r->lost[i], memory_order_relaxed) : 0;
    f.of[TIME_NS] = r->time.total_ns + (uint64_t)r->projection.total_ns;
    for (unsigned i = 0; i < CT_CLASSES; i++)
        f.of[CLASSES + i] = r->classes[i];
    return f;
}

static void add(struct figures *to, const struct figures *f)
{
    for (unsigned i = 0; i < FIGURES; i++)
        to->of[i] += f->of[i];
}

static void show(struct series *s, const struct figures *now)
{
    for (unsigned i = 0; i < FIGURES; i++)
        if (now->of[i] > s->base.of[i])
            s->shown.of[i] = ct_max(s->shown.of[i], now->of[i] - s->base.of[i]);
}

/* The row without series that has most time; CT_ROW_NONE: none has run. */
static uint32_t next_row(uint64_t *time_ns, uint64_t *all_ns)
{
    uint32_t found = CT_ROW_NONE;
    *time_ns = *all_ns = 0;
    for (uint32_t i = 0; i < ct_rows_count(); i++) {
        struct figures f = figures_of(ct_row(i));
        *all_ns += f.of[TIME_NS];
        if (has_series[i] || !f.of[OPERATIONS])
            continue;
        if (found == CT_ROW_NONE || f.of[TIME_NS] > *time_ns) {
            found = i;
            *time_ns = f.of[TIME_NS];
        }
    }
    return found;
}

/* Counts of the row among the others remain there. */
static void give_series(uint32_t row)
{
    struct series *s = &series[series_count++];
    *s = (struct series){.row = row};
    has_series[row] = true;
    if (is_among_others[row]) {
        s->base = figures_of(ct_row(row));
        add(&others.base, &s->base);
    }
    label_row(s);
}

static void choose_rows(void)
{
    uint64_t time_ns, all_ns;
    while (series_count < CT_METRICS_ROWS) {
        uint32_t row = next_row(&time_ns, &all_ns);
        bool large = (double)time_ns >= LEAST_SHARE * (double)all_ns;
        if (row == CT_ROW_NONE || (series_count >= FREE_FOR_ALL && !large))
            return;
        give_series(row);
    }
}

static void update(void)
{
    choose_rows();
    struct figures rest = others.base;
    for (uint32_t i = 0; i < ct_rows_count(); i++) {
        if (has_series[i])
            continue;
        struct figures f = figures_of(ct_row(i));
        is_among_others[i] |= f.of[OPERATIONS] != 0;
        add(&rest, &f);
    }
    for (uint32_t i = 0; i < series_count; i++) {
        struct figures f = figures_of(ct_row(series[i].row));
        show(&series[i], &f);
    }
    /* The others' base is part of their shown figures. */
    for (unsigned i = 0; i < FIGURES; i++)
        others.shown.of[i] = ct_max(others.shown.of[i], rest.of[i]);
}

/* ---- families ---- */

/* In OpenMetrics a family's name lacks the suffix of its samples. */
static void put_family(struct text *t, enum ct_metrics_form form, const char *name,
                       const char *suffix, const char *type, const char *help)
{
    bool classic = form == CT_METRICS_CLASSIC;
    const char *const lines[] = {"# TYPE ", type, "# HELP ", help};
    for (unsigned i = 0; i < 4; i += 2) {
        put(t, lines[i]);
        put(t, name);
        put(t, classic ? suffix : "");
        put(t, " ");
        put(t, lines[i + 1]);
        put(t, "\n");
    }
}

static void put_sample(struct text *t, const char *name, const char *labels)
{
    put(t, name);
    put(t, "{");
    put(t, labels);
}

static void put_process(struct text *t, enum ct_metrics_form form, const struct ct_process_info *p)
{
    char text[1024];
    struct ct_text l = ct_text_in(text, sizeof(text));
    ct_text_add(&l, ",host=\"");
    add_escaped(&l, p->host, 256);
    ct_text_add(&l, "\",command=\"");
    add_escaped(&l, p->program, NAME_BYTES);
    ct_text_add(&l, "\"} 1\n");
    put_family(t, form, "cutrace_process", "_info", form == CT_METRICS_CLASSIC ? "gauge" : "info",
               "The process that is profiled.");
    put_sample(t, "cutrace_process_info", process_labels);
    put(t, text);
}

static void put_operations(struct text *t, const struct series *s)
{
    put_sample(t, "cutrace_operations_total", s->labels);
    put(t, "} ");
    put_u64(t, s->shown.of[OPERATIONS]);
    put(t, "\n");
}

static void put_class(struct text *t, const struct series *s, const char *limit, uint64_t count)
{
    put_sample(t, "cutrace_operation_duration_seconds_bucket", s->labels);
    put(t, ",le=\"");
    put(t, limit);
    put(t, "\"} ");
    put_u64(t, count);
    put(t, "\n");
}

static void put_durations(struct text *t, const struct series *s)
{
#define X(ns, text) text,
    static const char *const limits[CT_CLASSES] = {CT_CLASS_LIMITS(X) "+Inf"};
#undef X
    uint64_t count = 0;
    for (unsigned i = 0; i < CT_CLASSES; i++) {
        count += s->shown.of[CLASSES + i];
        put_class(t, s, limits[i], count);
    }
    put_sample(t, "cutrace_operation_duration_seconds_sum", s->labels);
    put(t, "} ");
    put_seconds(t, s->shown.of[TIME_NS]);
    put(t, "\n");
    put_sample(t, "cutrace_operation_duration_seconds_count", s->labels);
    put(t, "} ");
    put_u64(t, count);
    put(t, "\n");
}

static void put_each(struct text *t, void (*one)(struct text *t, const struct series *s))
{
    for (uint32_t i = 0; i < series_count; i++)
        one(t, &series[i]);
    one(t, &others);
}

/* With a watchdog alone: without one nobody knows. */
static void put_stuck(struct text *t, enum ct_metrics_form form)
{
    if (!ct_watchdog_is_on())
        return;
    put_family(t, form, "cutrace_stuck_operations", "", "gauge",
               "Operations, gates and waiting calls that take longer than the watchdog's limit.");
    put_sample(t, "cutrace_stuck_operations", process_labels);
    put(t, "} ");
    put_u64(t, ct_watch_stuck());
    put(t, "\n");
}

static void put_untimed(struct text *t)
{
#define X(id, ran, text) text,
    static const char *const reasons[CT_LOSS_COUNT] = {CT_LOSSES(X)};
#undef X
    for (unsigned why = 0; why < CT_LOSS_COUNT; why++) {
        uint64_t lost = 0;
        for (uint32_t i = 0; i < ct_rows_count(); i++)
            lost += atomic_load_explicit(&ct_row(i)->lost[why], memory_order_relaxed);
        if (!lost)
            continue;
        put_sample(t, "cutrace_untimed_operations_total", process_labels);
        put(t, ",reason=\"");
        put(t, reasons[why]);
        put(t, "\"} ");
        put_u64(t, lost);
        put(t, "\n");
    }
}

/* ---- devices ---- */

static void put_thousandths(struct text *t, double value)
{
    uint64_t n = value > 0 ? (uint64_t)(1000 * value + 0.5) : 0;
    char digits[] = {
        '.', (char)('0' + n / 100 % 10), (char)('0' + n / 10 % 10), (char)('0' + n % 10), '\n',
        '\0'};
    put_u64(t, n / 1000);
    put(t, digits);
}

/* `reason`: NULL, or a label. */
static void put_reading(struct text *t, const char *name, uint32_t device, const char *reason,
                        double value)
{
    put_sample(t, name, process_labels);
    put(t, ",device=\"");
    put_u64(t, (uint64_t)ct_device(device)->handle);
    put(t, reason ? "\",reason=\"" : "");
    put(t, reason ? reason : "");
    put(t, "\"} ");
    put_thousandths(t, value);
}

static void put_gauge(struct text *t, enum ct_metrics_form form, enum ct_sensor kind,
                      const char *name, double unit, const char *help)
{
    bool begun = false;
    for (uint32_t i = 0; i < ct_devices_count(); i++) {
        double value;
        if (!ct_sensor_last(i, kind, &value))
            continue;
        if (!begun)
            put_family(t, form, name, "", "gauge", help);
        begun = true;
        put_reading(t, name, i, NULL, value * unit);
    }
}

static void put_reasons(struct text *t, enum ct_metrics_form form)
{
#define X(id, text, unit) text,
    static const char *const reasons[] = {CT_CLOCK_REASONS(X)};
#undef X
    static const char name[] = "cutrace_device_clock_held";
    bool begun = false;
    for (uint32_t i = 0; i < ct_devices_count(); i++)
        for (unsigned k = 0; k < ct_countof(reasons); k++) {
            double value;
            if (!ct_sensor_last(i, CT_SENSOR_FIRST_REASON + k, &value))
                continue;
            if (!begun)
                put_family(t, form, name, "", "gauge", "Reasons for a clock below the highest.");
            begun = true;
            put_reading(t, name, i, reasons[k], value);
        }
}

/* Last readings, of whoever uses the device. */
static void put_devices(struct text *t, enum ct_metrics_form form)
{
    static const struct {
        enum ct_sensor kind;
        double unit;
        const char *name, *help;
    } gauges[] = {
        {CT_SENSOR_SM_CLOCK, 1e6, "cutrace_device_sm_clock_hertz", "Clock of the SMs."},
        {CT_SENSOR_POWER, 1, "cutrace_device_power_watts", "Power."},
        {CT_SENSOR_TEMPERATURE, 1, "cutrace_device_temperature_celsius", "Temperature."},
        {CT_SENSOR_MEMORY, 1, "cutrace_device_memory_used_bytes", "Memory in use."},
        {CT_SENSOR_KERNEL_TIME, 0.01, "cutrace_device_kernel_time_ratio", "Time with a kernel."},
        {CT_SENSOR_SM_ACTIVITY, 0.01, "cutrace_device_sm_activity_ratio", "SMs at work."},
        {CT_SENSOR_TENSOR_ACTIVITY, 0.01, "cutrace_device_tensor_activity_ratio",
         "Tensor cores at work."},
        {CT_SENSOR_DRAM_ACTIVITY, 0.01, "cutrace_device_dram_activity_ratio",
         "DRAM bandwidth in use."},
    };
    for (unsigned i = 0; i < ct_countof(gauges); i++)
        put_gauge(t, form, gauges[i].kind, gauges[i].name, gauges[i].unit, gauges[i].help);
    put_reasons(t, form);
}

bool ct_metrics_text(struct ct_buffer *out, enum ct_metrics_form form,
                     const struct ct_process_info *process)
{
    struct text t = {out, true};
    out->len_bytes = 0;
    if (!*process_labels)
        label_process(process);
    update();
    put_process(&t, form, process);
    put_family(&t, form, "cutrace_operations", "_total", "counter",
               "Kernels, copies, sets, prefetches and graphs that ran.");
    put_each(&t, put_operations);
    put_family(&t, form, "cutrace_operation_duration_seconds", "", "histogram",
               "How long they took on the GPU.");
    put_each(&t, put_durations);
    put_family(&t, form, "cutrace_untimed_operations", "_total", "counter",
               "Operations without a time, by reason.");
    put_untimed(&t);
    put_devices(&t, form);
    put_stuck(&t, form);
    put_family(&t, form, "cutrace_metrics_cpu_seconds", "_total", "counter",
               "Processor time spent on these metrics.");
    put_sample(&t, "cutrace_metrics_cpu_seconds_total", process_labels);
    put(&t, "} ");
    put_seconds(&t, cost_ns);
    put(&t, form == CT_METRICS_OPENMETRICS ? "\n# EOF\n" : "\n");
    return t.ok;
}

void ct_metrics_cost(uint64_t ns)
{
    cost_ns += ns;
}
