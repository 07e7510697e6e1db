/* SPDX-License-Identifier: MIT */
#include "report/details.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/grid.h"
#include "report/hist.h"
#include "report/names.h"
#include "report/units.h"

struct details {
    FILE *out;
    const char *prefix;
    const struct ct_merged *m;
    const struct ct_view_options *o;
    const struct ct_merged_row **rows; /* longest total first */
    const struct ct_merged_api **apis;
    struct ct_string name; /* scratch */
};

static void put_safe(struct details *d, struct ct_grid *g, uint32_t name)
{
    ct_string_clear(&d->name);
    ct_name_safe(&d->name, ct_merge_name(d->m, name));
    ct_grid_put(g, d->name.data);
}

static void put_name(struct details *d, struct ct_grid *g, const struct ct_merged_row *row)
{
    ct_string_clear(&d->name);
    ct_name_row(&d->name, d->m, &row->sum, d->o->demangle);
    ct_grid_put(g, d->name.data);
}

static void put_unless(struct ct_grid *g, uint32_t value, uint32_t unknown)
{
    if (value == unknown)
        ct_grid_put(g, "-");
    else
        ct_grid_count(g, value);
}

static void put_date(struct ct_grid *g, uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000);
    struct tm tm;
    char text[64] = "-";
    if (unix_ns && gmtime_r(&seconds, &tm))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    ct_grid_put(g, text);
}

static void print_processes(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "PID|Parent|Host|Start|Duration|Driver|Writes|Off|End|Command");
    for (size_t i = 0; i < d->m->process_count; i++) {
        const struct ct_file_process *p = &d->m->processes[i];
        ct_grid_count(&g, p->pid);
        ct_grid_count(&g, p->parent_pid);
        put_safe(d, &g, p->host);
        put_date(&g, p->start_unix_ns);
        ct_grid_time(&g, p->duration_ns);
        ct_grid_printf(&g, "%u.%u", p->driver_version / 1000, p->driver_version % 1000 / 10);
        ct_grid_count(&g, p->written);
        ct_grid_count(&g, p->off_operations);
        ct_grid_put(&g, p->flags & CT_PROCESS_FINISHED ? "normal" : "open");
        put_safe(d, &g, p->command);
    }
    ct_grid_finish(&g, d->out, d->prefix, "Processes");
}

static void put_uuid(struct ct_grid *g, const uint8_t uuid[16])
{
    char text[64] = "GPU";
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        size_t len = strlen(text);
        snprintf(text + len, sizeof(text) - len, "%s%02x", dash, uuid[i]);
    }
    ct_grid_put(g, text);
}

static void put_figure(struct ct_grid *g, uint32_t ns, uint32_t unknown)
{
    if (ns == unknown)
        ct_grid_put(g, "-");
    else
        ct_grid_time(g, ns);
}

/* Where the figures are from, and what they are. */
static void put_calibration(struct ct_grid *g, const struct ct_merged_device *device)
{
    const struct ct_file_device *dev = &device->sum;
    bool measured = dev->calibration == CT_CALIBRATION_DEVICE;
    ct_grid_put(g, device->raw ? "none" : measured ? "device" : "table");
    ct_grid_time(g, dev->bias_busy_ns);
    put_figure(g, dev->gap_busy_ns, UINT32_MAX);
    put_figure(g, dev->submit_ns, UINT32_MAX);
    ct_grid_time(g, dev->uncertainty_ns);
    put_figure(g, dev->idle_uncertainty_ns, 0);
    put_figure(g, dev->copy_floor_ns, 0);
    put_figure(g, dev->set_floor_ns, 0);
    put_figure(g, dev->bias_ready_ns, 0);
    put_figure(g, dev->bias_copy_ns, 0);
    put_figure(g, dev->bias_wait_ns, 0);
    put_figure(g, dev->beside_ns, 0);
}

static void print_devices(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Device|Memory|SMs|Clock|Compute|Calibration|Bias|Gap|Submit|Uncertainty|"
                      "Idle uncertainty|Copy floor|Set floor|Ready bias|Copy bias|Wait bias|"
                      "Beside|UUID|Name");
    for (uint32_t i = 0; i < d->m->device_keys.count; i++) {
        const struct ct_file_device *dev = &d->m->devices[i].sum;
        ct_grid_count(&g, dev->ordinal);
        ct_grid_size(&g, dev->memory_bytes);
        ct_grid_count(&g, dev->sm_count);
        ct_grid_printf(&g, "%uMHz", dev->clock_khz / 1000);
        ct_grid_printf(&g, "%u.%u", dev->compute_major, dev->compute_minor);
        put_calibration(&g, &d->m->devices[i]);
        put_uuid(&g, dev->uuid);
        put_safe(d, &g, dev->name);
    }
    ct_grid_finish(&g, d->out, d->prefix, "Devices");
}

static void put_nothing(struct ct_grid *g, int cells)
{
    while (cells--)
        ct_grid_put(g, "-");
}

/* Least, some in between, most. */
static void put_quantiles(struct ct_grid *g, const struct ct_merged_hist *h, uint64_t min_ns,
                          uint64_t max_ns)
{
    static const double shares[] = {0.05, 0.5, 0.95, 0.99};
    ct_grid_time(g, min_ns);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        if (h->count)
            ct_grid_time(g, ct_hist_quantile(h, shares[i], min_ns, max_ns));
        else
            ct_grid_put(g, "-");
    }
    ct_grid_time(g, max_ns);
}

static void put_mean(struct ct_grid *g, const struct ct_durations *t, uint64_t timed)
{
    char mean[CT_UNITS_BYTES];
    ct_units_time(mean, ct_view_mean_ns(t, timed), 8);
    ct_grid_printf(g, "%s%s", ct_view_uncertain(t->total_ns, t->doubt_ns) ? "~" : "", mean);
    if (t->doubt_ns)
        ct_grid_time(g, t->doubt_ns / timed);
    else
        ct_grid_put(g, "-"); /* not known: nothing is exact */
}

static void put_durations(struct details *d, struct ct_grid *g, const struct ct_merged_row *row)
{
    const struct ct_file_row *sum = &row->sum;
    struct ct_durations t = ct_view_durations(row, d->o->raw);
    if (!sum->timed) {
        put_nothing(g, 12);
        return;
    }
    if (sum->marked)
        ct_grid_printf(g, "%.1f%%", 100 * (double)sum->marked / (double)sum->timed);
    else
        ct_grid_put(g, "-");
    ct_grid_time(g, t.total_ns);
    put_mean(g, &t, sum->timed);
    put_quantiles(g, t.hist, t.min_ns, t.max_ns);
    ct_grid_time(g, ct_hist_deviation(t.estimated, t.estimated_ns, t.estimated_square_ns2));
    ct_grid_time(g, sum->raw_total_ns / sum->timed);
}

static void print_rows(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Device|Calls|Failed|Timed|Marked|Timed total|Mean|+-|Min|P5|Median|P95|P99|"
                      "Max|StdDev|Raw mean|Name");
    for (uint32_t i = 0; i < d->m->row_keys.count; i++) {
        const struct ct_file_row *sum = &d->rows[i]->sum;
        ct_grid_count(&g, d->m->devices[sum->device].sum.ordinal);
        ct_grid_count(&g, ct_view_calls(sum));
        ct_grid_count(&g, sum->errors);
        ct_grid_count(&g, sum->timed);
        put_durations(d, &g, d->rows[i]);
        put_name(d, &g, d->rows[i]);
    }
    ct_grid_finish(&g, d->out, d->prefix, "GPU activities");
}

/* Of the rows that are known from a sample: all calls, as estimated. */
static void print_estimates(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Device|Calls|Timed|Time|+-|+-%|Name");
    for (uint32_t i = 0; i < d->m->row_keys.count; i++) {
        const struct ct_file_row *sum = &d->rows[i]->sum;
        struct ct_sampled s = {sum->variance_ns2, sum->third_ns3, sum->freedom_ns4};
        double half_ns = ct_view_half_ns(&s);
        if (sum->estimated <= sum->timed || d->o->raw)
            continue;
        double scale = (double)ct_view_calls(sum) / (double)sum->estimated;
        ct_grid_count(&g, d->m->devices[sum->device].sum.ordinal);
        ct_grid_count(&g, ct_view_calls(sum));
        ct_grid_count(&g, sum->timed);
        ct_grid_time(&g, ct_view_whole_ns(sum->estimated_ns * scale));
        ct_grid_time(&g, ct_view_whole_ns(half_ns * scale));
        ct_grid_printf(&g, "%.2g%%", 100 * half_ns / (sum->estimated_ns + 1));
        put_name(d, &g, d->rows[i]);
    }
    ct_grid_finish(&g, d->out, d->prefix, "Estimates from a sample, with 95% intervals");
}

static void print_sizes(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Device|Calls|Bytes|Mean size|Throughput|Name");
    for (uint32_t i = 0; i < d->m->row_keys.count; i++) {
        const struct ct_file_row *sum = &d->rows[i]->sum;
        uint64_t calls = ct_view_calls(sum);
        char throughput[CT_UNITS_BYTES];
        if (!sum->bytes)
            continue;
        ct_units_throughput(throughput, sum->timed_bytes,
                            ct_view_durations(d->rows[i], d->o->raw).total_ns);
        ct_grid_count(&g, d->m->devices[sum->device].sum.ordinal);
        ct_grid_count(&g, calls);
        ct_grid_size(&g, sum->bytes);
        ct_grid_size(&g, calls ? sum->bytes / calls : 0);
        ct_grid_put(&g, sum->timed_bytes ? throughput : "-");
        put_name(d, &g, d->rows[i]);
    }
    ct_grid_finish(&g, d->out, d->prefix, "Copies, sets and prefetches");
}

static void put_shape(struct ct_grid *g, const struct ct_file_shape *s)
{
    ct_grid_count(g, s->count);
    ct_grid_printf(g, "(%u %u %u)", s->grid[0], s->grid[1], s->grid[2]);
    ct_grid_printf(g, "(%u %u %u)", s->block[0], s->block[1], s->block[2]);
    ct_grid_size(g, s->dynamic_shared_bytes);
}

static void put_resources(struct details *d, struct ct_grid *g, const struct ct_merged_row *row)
{
    put_unless(g, row->sum.registers, UINT32_MAX);
    if (row->sum.static_shared_bytes == UINT32_MAX)
        ct_grid_put(g, "-");
    else
        ct_grid_size(g, row->sum.static_shared_bytes);
    put_name(d, g, row);
}

static int by_count(const void *a, const void *b)
{
    const struct ct_file_shape *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return memcmp(x, y, sizeof(*x));
}

static void add_shapes(struct details *d, struct ct_grid *g, const struct ct_merged_row *row)
{
    if (row->shape_count)
        qsort(row->shapes, row->shape_count, sizeof(*row->shapes), by_count);
    for (size_t i = 0; i < row->shape_count; i++) {
        put_shape(g, &row->shapes[i]);
        put_resources(d, g, row);
    }
    if (!row->sum.shape_other)
        return;
    ct_grid_count(g, row->sum.shape_other);
    ct_grid_put(g, "other");
    ct_grid_put(g, "other");
    ct_grid_put(g, "-");
    put_resources(d, g, row);
}

static void print_shapes(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Launches|Grid Size|Block Size|DSMem|Regs|SSMem|Name");
    for (uint32_t i = 0; i < d->m->row_keys.count; i++)
        if (d->rows[i]->sum.kind == CT_ROW_KERNEL)
            add_shapes(d, &g, d->rows[i]);
    ct_grid_finish(&g, d->out, d->prefix, "Kernel launches");
}

static void print_losses(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Device|Not timed|Reason|Name");
    for (uint32_t i = 0; i < d->m->row_keys.count; i++) {
        for (int loss = 0; loss < CT_FILE_LOSSES; loss++) {
            if (!d->rows[i]->sum.lost[loss])
                continue;
            ct_grid_count(&g, d->m->devices[d->rows[i]->sum.device].sum.ordinal);
            ct_grid_count(&g, d->rows[i]->sum.lost[loss]);
            ct_grid_put(&g, ct_view_loss_text(loss));
            put_name(d, &g, d->rows[i]);
        }
    }
    ct_grid_finish(&g, d->out, d->prefix, "Operations without a time");
}

static void put_bounds(struct details *d, struct ct_grid *g, const struct ct_merged_row *row,
                       enum ct_view_mark mark)
{
    uint64_t count = ct_view_marked(&row->sum, mark);
    if (!count)
        return;
    ct_grid_count(g, d->m->devices[row->sum.device].sum.ordinal);
    ct_grid_count(g, count);
    ct_grid_put(g, ct_view_mark_text(mark));
    put_name(d, g, row);
}

static void print_bounds(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Device|Marked|Reason|Name");
    for (uint32_t i = 0; i < d->m->row_keys.count; i++)
        for (int mark = 0; mark < CT_VIEW_MARKS; mark++)
            put_bounds(d, &g, d->rows[i], mark);
    ct_grid_finish(&g, d->out, d->prefix, "Times that are upper bounds");
}

/* Calls in the histogram may be fewer than all: the mean is that of all. */
static uint64_t api_deviation(const struct ct_file_api *sum)
{
    double share = (double)sum->sampled / (double)sum->calls;
    return ct_hist_deviation((double)sum->sampled, (double)sum->total_ns * share, sum->square_ns2);
}

static void add_api(struct details *d, struct ct_grid *g, const struct ct_merged_api *api)
{
    const struct ct_file_api *sum = &api->sum;
    ct_grid_count(g, sum->calls);
    ct_grid_count(g, sum->errors);
    ct_grid_time(g, sum->total_ns);
    ct_grid_time(g, sum->total_ns / sum->calls);
    put_quantiles(g, &api->hist, sum->min_ns, sum->max_ns);
    ct_grid_time(g, api_deviation(sum));
    ct_grid_put(g, sum->flags & CT_API_RUNTIME ? "runtime" : "driver");
    put_safe(d, g, sum->name);
}

static void print_apis(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Calls|Errors|Total|Mean|Min|P5|Median|P95|P99|Max|StdDev|Layer|Name");
    for (uint32_t i = 0; i < d->m->api_keys.count; i++)
        if (d->apis[i]->sum.calls)
            add_api(d, &g, d->apis[i]);
    ct_grid_finish(&g, d->out, d->prefix, "API calls");
}

static const char *stream_kind(const struct ct_file_stream *s)
{
    if (s->special == 1)
        return "legacy default stream";
    if (s->special == 2)
        return "per-thread default stream";
    if (s->flags == UINT32_MAX)
        return "created unseen";
    return s->flags & 1 ? "created, non-blocking" : "created";
}

static void print_streams(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Stream|Device|Operations|Waits|Priority|Kind");
    for (size_t i = 0; i < d->m->stream_count; i++) {
        const struct ct_file_stream *s = &d->m->streams[i];
        ct_grid_count(&g, s->id);
        ct_grid_count(&g, d->m->devices[s->device].sum.ordinal);
        ct_grid_count(&g, s->operations);
        ct_grid_count(&g, s->waits);
        ct_grid_printf(&g, "%d", s->priority);
        ct_grid_put(&g, stream_kind(s));
    }
    ct_grid_finish(&g, d->out, d->prefix, "Streams");
}

static void print_notes(struct details *d)
{
    struct ct_grid g;
    ct_grid_start(&g, "Count|Kind|Note");
    for (uint32_t i = 0; i < d->m->note_keys.count; i++) {
        const struct ct_file_note *n = &d->m->notes[i];
        ct_grid_count(&g, n->count);
        ct_grid_put(&g, n->kind == CT_NOTE_NOT_WRAPPED ? "not wrapped" : "warning");
        put_safe(d, &g, n->text);
    }
    ct_grid_finish(&g, d->out, d->prefix, "Notes");
}

static int by_row_total(const void *a, const void *b, void *options)
{
    const struct ct_view_options *o = options;
    const struct ct_merged_row *x = *(const struct ct_merged_row *const *)a;
    const struct ct_merged_row *y = *(const struct ct_merged_row *const *)b;
    uint64_t x_ns = ct_view_durations(x, o->raw).total_ns;
    uint64_t y_ns = ct_view_durations(y, o->raw).total_ns;
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static int by_api_total(const void *a, const void *b)
{
    const struct ct_merged_api *x = *(const struct ct_merged_api *const *)a;
    const struct ct_merged_api *y = *(const struct ct_merged_api *const *)b;
    if (x->sum.total_ns != y->sum.total_ns)
        return x->sum.total_ns > y->sum.total_ns ? -1 : 1;
    return (x > y) - (x < y);
}

static void sort_all(struct details *d)
{
    size_t rows = d->m->row_keys.count, apis = d->m->api_keys.count, none = 0;
    d->rows = ct_memory_grow(NULL, &none, rows, sizeof(*d->rows));
    for (size_t i = 0; i < rows; i++)
        d->rows[i] = &d->m->rows[i];
    none = 0;
    d->apis = ct_memory_grow(NULL, &none, apis, sizeof(*d->apis));
    for (size_t i = 0; i < apis; i++)
        d->apis[i] = &d->m->apis[i];
    if (rows)
        qsort_r(d->rows, rows, sizeof(*d->rows), by_row_total, (void *)d->o);
    if (apis)
        qsort(d->apis, apis, sizeof(*d->apis), by_api_total);
}

void ct_details_print(FILE *out, const char *prefix, const struct ct_merged *m,
                      const struct ct_view_options *o)
{
    struct details d = {.out = out, .prefix = prefix, .m = m, .o = o};
    sort_all(&d);
    print_processes(&d);
    print_devices(&d);
    print_rows(&d);
    print_estimates(&d);
    print_sizes(&d);
    print_shapes(&d);
    print_losses(&d);
    print_bounds(&d);
    print_apis(&d);
    print_streams(&d);
    print_notes(&d);
    free(d.rows);
    free(d.apis);
    ct_string_free(&d.name);
}
