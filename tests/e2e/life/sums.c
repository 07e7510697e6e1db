/* SPDX-License-Identifier: MIT */
/* What must add up in every profile: each launch that was seen is timed, or counted with a reason.
 */
#include <string.h>

#include "stage.h"

static const char *const kernel_calls[] = {
    "cuLaunch",
    "cuLaunchGrid",
    "cuLaunchGridAsync",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "__cudaLaunchKernel",
    NULL,
};
static const char *const graph_calls[] = {"cuGraphLaunch", "cudaGraphLaunch", NULL};

/* The form for a per-thread default stream is the same call. */
static bool is_named(const char *name, const char *call)
{
    size_t length = strlen(call);
    return !strncmp(name, call, length) && (!name[length] || !strcmp(name + length, "_ptsz"));
}

static uint64_t launches_seen(const struct ct_summary *s, const char *const *calls)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < s->apis_count; i++)
        for (const char *const *call = calls; *call; call++)
            if (is_named(ct_summary_text(s, s->apis[i].name), *call))
                seen += s->apis[i].calls - s->apis[i].errors;
    return seen;
}

static uint64_t launches_counted(const struct ct_summary *s, uint32_t kind)
{
    struct stage_sum sum = stage_rows(s, kind, NULL);
    return sum.timed + sum.captured + sum.lost;
}

static void check(const struct ct_summary *s, uint32_t kind, const char *const *calls)
{
    uint64_t counted = launches_counted(s, kind), seen = launches_seen(s, calls);
    ck_assert_uint_le(counted, seen);
    ck_assert_uint_le(seen, counted + s->process[0].off_operations);
}

void stage_check_sums(const struct ct_summary *s)
{
    if (!(s->process[0].flags & CT_PROCESS_FINISHED))
        return; /* some are still on their way into the file */
    check(s, CT_ROW_GRAPH, graph_calls);
    if (!stage_calls(s, "cuLaunchCooperativeKernelMultiDevice")) /* a call of many launches */
        check(s, CT_ROW_KERNEL, kernel_calls);
}
