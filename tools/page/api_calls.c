/* SPDX-License-Identifier: MIT */
#include "page/api_calls.h"

#include "page/histogram.h"
#include "page/json.h"
#include "report/reports/apis.h"

static json_t *call_of(const struct ct_view *apis, const struct ct_line *line)
{
    const struct ct_file_api *sum = &line->api->sum;
    json_t *to = ct_json_object();
    ct_json_text(to, "name", line->name);
    ct_json_text(to, "layer", sum->flags & CT_API_RUNTIME ? "runtime" : "driver");
    ct_json_count(to, "calls", line->calls);
    ct_json_count(to, "timed", sum->timed);
    ct_json_count(to, "errors", sum->errors);
    ct_json_real(to, "percent", ct_view_percent(apis, line));
    ct_json_count(to, "total", line->total_ns);
    ct_json_count(to, "avg", line->avg_ns);
    ct_json_count(to, "min", line->min_ns);
    ct_json_count(to, "max", line->max_ns);
    if (sum->sampled >= 2)
        ct_json_count(to, "deviation", ct_view_whole_ns(ct_apis_deviation(sum)));
    if (line->api->hist.count) {
        ct_json_set(to, "quantiles",
                    ct_page_quantiles(&line->api->hist, line->min_ns, line->max_ns));
        ct_json_set(to, "histogram", ct_page_histogram(&line->api->hist));
    }
    return to;
}

json_t *ct_page_calls(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    struct ct_view apis;
    ct_view_apis(&apis, m);
    for (size_t i = 0; i < apis.count; i++)
        if (apis.lines[i].calls)
            ct_json_append(all, call_of(&apis, &apis.lines[i]));
    ct_view_free(&apis);
    return all;
}
