/* SPDX-License-Identifier: MIT */
#include "page/compare.h"

#include <math.h>

#include "page/facts.h"
#include "page/histogram.h"
#include "page/json.h"
#include "page/page_modules.h"
#include "page/page_stacks.h"
#include "report/profile/view.h"

/* NAN, "cannot be told", is left out. */
static void add_known(json_t *to, const char *key, double value)
{
    if (!isnan(value))
        ct_json_real(to, key, value);
}

static json_t *side_of(const struct ct_diff_side *side)
{
    json_t *to = ct_json_object();
    ct_json_count(to, "calls", ct_view_whole_ns(side->calls));
    ct_json_count(to, "timed", ct_view_whole_ns(side->timed));
    if (!(side->timed > 0))
        return to;
    ct_json_count(to, "total", ct_view_whole_ns(side->total_ns));
    ct_json_count(to, "avg", ct_view_whole_ns(side->mean.value));
    if (side->hist && side->hist->count)
        ct_json_set(to, "histogram", ct_page_histogram(side->hist));
    return to;
}

static json_t *pair_of(const struct ct_pair *pair)
{
    json_t *to = ct_json_object();
    const char *verdict = ct_pair_verdict(pair);
    ct_json_text(to, "name", pair->name.data);
    ct_json_flag(to, "gpu", pair->gpu);
    ct_json_real(to, "change", ct_pair_change_ns(pair));
    if (verdict)
        ct_json_text(to, "verdict", verdict);
    add_known(to, "p", ct_pair_p(pair));
    add_known(to, "mean_p", pair->mean_p);
    add_known(to, "half", pair->half_ns);
    ct_json_set(to, "before", side_of(&pair->before));
    ct_json_set(to, "after", side_of(&pair->after));
    return to;
}

static json_t *total_of(const struct ct_diff *d, bool gpu)
{
    json_t *to = ct_json_object();
    ct_json_count(to, "before", ct_view_whole_ns(ct_pairs_total(&d->pairs, gpu, false).value));
    ct_json_count(to, "after", ct_view_whole_ns(ct_pairs_total(&d->pairs, gpu, true).value));
    add_known(to, "p", ct_pairs_total_p(&d->pairs, gpu));
    return to;
}

static json_t *run_of(const struct ct_merged *m)
{
    json_t *to = ct_json_object();
    ct_json_set(to, "processes", ct_page_processes(m));
    ct_json_count(to, "process_count", m->process_count);
    ct_json_set(to, "devices", ct_page_devices(m));
    return to;
}

json_t *ct_page_compare(const struct ct_diff *d)
{
    json_t *to = ct_json_object(), *pairs = ct_json_array();
    ct_json_set(to, "old", run_of(&d->before));
    ct_json_set(to, "new", run_of(&d->after));
    ct_json_set(to, "gpu", total_of(d, true));
    ct_json_set(to, "calls", total_of(d, false));
    for (size_t i = 0; i < d->pairs.count; i++)
        ct_json_append(pairs, pair_of(&d->pairs.pairs[i]));
    ct_json_add_short(pairs, "name", "short");
    ct_json_set(to, "pairs", pairs);
    json_t *stacks = ct_page_stacks_compare(d), *modules = ct_page_modules_compare(d);
    if (stacks)
        ct_json_set(to, "stacks", stacks);
    if (modules)
        ct_json_set(to, "modules", modules);
    return to;
}
