/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "report/names.h"
#include "report/trace/timeline.h"

static void note_two(struct ct_string *lines, const char *begin, uint64_t ops, uint64_t calls,
                     const char *why)
{
    if (ops || calls)
        ct_string_printf(lines, "%s%" PRIu64 " operation%s and %" PRIu64 " call%s %s\n", begin, ops,
                         ops == 1 ? "" : "s", calls, calls == 1 ? "" : "s", why);
}

static void note_ranges(struct ct_string *lines, const char *begin, uint64_t records,
                        const char *why)
{
    if (records)
        ct_string_printf(lines, "%s%" PRIu64 " beginning%s and ends of ranges %s\n", begin, records,
                         records == 1 ? "" : "s", why);
}

static uint64_t untimed(const struct ct_trace_losses *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < CT_FILE_LOSSES; i++)
        if (__builtin_add_overflow(sum, l->untimed[i], &sum))
            return UINT64_MAX;
    return sum;
}

static void note_file(const struct ct_timeline_file *f, const char *prefix, struct ct_string *lines)
{
    struct ct_string begin = {0};
    const struct ct_trace_losses *l = &f->losses;
    uint64_t missing = untimed(l);
    ct_string_put(&begin, prefix);
    ct_name_safe(&begin, f->path);
    ct_string_put(&begin, ": ");
    note_two(lines, begin.data, l->dropped_ops, l->dropped_calls,
             "found no room on their way to the trace");
    note_ranges(lines, begin.data, l->dropped_ranges, "found no room on their way to the trace");
    note_two(lines, begin.data, l->cut_ops, l->cut_calls, "had to go for newer ones");
    note_ranges(lines, begin.data, l->cut_ranges, "had to go for newer ones");
    if (missing)
        ct_string_printf(lines, "%s%" PRIu64 " operation%s without a duration %s not there\n",
                         begin.data, missing, missing == 1 ? "" : "s", missing == 1 ? "is" : "are");
    if (f->ending)
        ct_string_printf(lines, "%s%s\n", begin.data, f->ending);
    ct_string_free(&begin);
}

void ct_timeline_notes(const struct ct_timeline *tl, const char *prefix, struct ct_string *lines)
{
    for (uint32_t i = 0; i < tl->file_count; i++)
        note_file(&tl->files[i], prefix, lines);
}

void ct_timeline_say_notes(const struct ct_timeline *tl)
{
    struct ct_string lines = {0};
    ct_timeline_notes(tl, "cutrace-report: ", &lines);
    if (lines.len)
        fputs(lines.data, stderr);
    ct_string_free(&lines);
}
