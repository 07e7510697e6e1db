/* SPDX-License-Identifier: MIT */
/*
 * The page: a report as one HTML file that needs nothing else. Its text, style and program are
 * made part of this program when that is built; the profile is written between them as JSON.
 */
#include "config.h"
#include "page/activities.h"
#include "page/api_calls.h"
#include "page/compare.h"
#include "page/embed.h"
#include "page/facts.h"
#include "page/json.h"
#include "page/page_memory.h"
#include "page/page_nccl.h"
#include "page/page_ranks.h"
#include "page/page_sensors.h"
#include "page/page_stacks.h"
#include "page/page_timeline.h"
#include "page/utilization.h"
#include "report/profile/graph_lines.h"
#include "report/reports.h"

static void add_totals(json_t *to, const struct ct_view *gpu)
{
    ct_json_count(to, "gpu_total", gpu->total_ns);
    ct_json_count(to, "gpu_half", ct_view_whole_ns(ct_view_half_ns(gpu)));
}

static json_t *profile_of(const struct ct_input *in, const struct ct_page_timeline *timeline,
                          const struct ct_view_options *o)
{
    const struct ct_merged *m = in->m;
    json_t *to = ct_json_object();
    struct ct_view gpu, all;
    ct_view_gpu(&gpu, m, CT_VIEW_ALL_DEVICES, o);
    ct_graph_lines(&all, &gpu, m, o);
    ct_json_text(to, "version", PACKAGE_VERSION);
    ct_json_flag(to, "raw", o->raw);
    add_totals(to, &all);
    ct_json_count(to, "process_count", m->process_count);
    ct_json_set(to, "processes", ct_page_processes(m));
    ct_json_set(to, "devices", ct_page_devices(m));
    ct_json_set(to, "activities", ct_page_activities(m, &all, o));
    ct_json_set(to, "calls", ct_page_calls(m));
    ct_json_set(to, "headline", ct_page_headline(m));
    ct_json_set(to, "advice", ct_page_advice(m));
    ct_json_set(to, "occupancy", ct_page_occupancy(m));
    ct_json_set(to, "streams", ct_page_streams(m));
    ct_json_set(to, "transfers", ct_page_transfers(m));
    ct_json_set(to, "nccl", ct_page_nccl(m));
    ct_json_set(to, "sensors", ct_page_sensors(m));
    ct_json_set(to, "managed", ct_page_managed(m));
    ct_json_set(to, "allocations", ct_page_allocations(m));
    ct_json_set(to, "blocks", ct_page_blocks(m));
    ct_json_count(to, "unfinished", m->unfinished);
    ct_json_set(to, "truth", ct_page_truth(m, &gpu, o));
    json_t *ranks = ct_page_ranks(in);
    if (ranks)
        ct_json_set(to, "ranks", ranks);
    json_t *stacks = ct_page_stacks(m, &all, o);
    if (stacks)
        ct_json_set(to, "stacks", stacks);
    if (timeline->facts)
        ct_json_set(to, "timeline", json_incref(timeline->facts));
    ct_view_free(&all);
    ct_view_free(&gpu);
    return to;
}

/* An element that the browser only keeps. */
static void begin_data(FILE *out, const char *type, const char *id)
{
    fprintf(out, "<script type=\"%s\" id=\"%s\">", type, id);
}

static void end_data(FILE *out)
{
    fputs("</script>\n", out);
}

static void print_page(FILE *out, json_t *profile, const struct ct_page_timeline *timeline)
{
    struct ct_embedded head = ct_embed_head(), tail = ct_embed_tail();
    fwrite(head.text, 1, head.bytes, out);
    begin_data(out, "application/json", "profile");
    ct_json_print(out, profile);
    end_data(out);
    begin_data(out, "text/plain", "operations");
    ct_page_timeline_print(timeline, out);
    end_data(out);
    fwrite(tail.text, 1, tail.bytes, out);
}

/* Two profiles are compared by a page of their own. */
static int print_compared(const struct ct_input *in, FILE *out)
{
    struct ct_diff d;
    struct ct_page_timeline none = {0};
    int status = ct_diff_read(&d, in->o) ? 0 : 1;
    if (ct_diff_has_sides(&d)) {
        json_t *to = ct_json_object();
        ct_json_text(to, "version", PACKAGE_VERSION);
        ct_json_set(to, "compared", ct_page_compare(&d));
        print_page(out, to, &none);
        status = status ? status : ct_diff_is_over(&d) ? CT_DIFF_OVER_LIMIT : 0;
    }
    ct_diff_free(&d);
    return status;
}

int ct_format_html(const struct ct_input *in, FILE *out)
{
    struct ct_view_options view = ct_report_view(in->o);
    struct ct_page_timeline timeline = {.most_items = CT_PAGE_MOST_ITEMS};
    if (in->report == &ct_reports[CT_REPORT_DIFF])
        return print_compared(in, out);
    bool good = ct_page_timeline_read(&timeline, in->m, in->o);
    print_page(out, profile_of(in, &timeline, &view), &timeline);
    ct_page_timeline_free(&timeline);
    return !good;
}
