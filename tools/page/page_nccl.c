/* SPDX-License-Identifier: MIT */
#include "page/page_nccl.h"

#include "page/json.h"
#include "report/reports/nccl_report.h"

/* Sums of the calls that have a time. */
static void set_times(json_t *to, const struct ct_file_collective *f)
{
    if (!f->timed)
        return;
    ct_json_count(to, "total", f->total_ns);
    ct_json_count(to, "avg", f->total_ns / f->timed);
    ct_json_count(to, "min", f->min_ns);
    ct_json_count(to, "max", f->max_ns);
    if (!f->total_ns)
        return;
    ct_json_real(to, "algorithm", ct_nccl_algorithm_rate(f));
    if (ct_nccl_is_on_bus(f))
        ct_json_real(to, "bus", ct_nccl_bus_rate(f));
}

static json_t *operation_of(const struct ct_file_collective *f)
{
    json_t *to = ct_json_object();
    const char *datatype = ct_nccl_datatype(f->datatype);
    ct_json_text(to, "operation", ct_nccl_operation(f->collective));
    if (datatype)
        ct_json_text(to, "datatype", datatype);
    if (f->ranks)
        ct_json_count(to, "ranks", f->ranks);
    ct_json_count(to, "calls", f->calls);
    ct_json_count(to, "bytes", f->bytes);
    ct_json_count(to, "timed", f->timed);
    ct_json_count(to, "shared", f->shared);
    ct_json_count(to, "captured", f->captured);
    ct_json_count(to, "failed", f->failed);
    set_times(to, f);
    return to;
}

json_t *ct_page_nccl(const struct ct_merged *m)
{
    json_t *all = ct_json_array();
    for (uint32_t i = 0; i < m->collectives.keys.count; i++)
        ct_json_append(all, operation_of(&m->collectives.rows[i]));
    return all;
}
