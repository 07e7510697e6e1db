/* SPDX-License-Identifier: MIT */
/* Format "speedscope": the file format of www.speedscope.app, sampled profiles with shared frames.
 */
#include <inttypes.h>

#include "config.h"
#include "report/names.h"
#include "report/reports.h"
#include "report/sinks/data.h"
#include "report/stacks/frames.h"

struct document {
    const struct ct_merged *m;
    struct ct_calls calls;
    struct ct_frames frames;
    struct ct_string text;
    FILE *out;
};

struct weight {
    const char *name;
    const char *unit;
    uint64_t (*of)(const struct ct_call *call);
};

static uint64_t ns_of(const struct ct_call *call)
{
    return ct_view_whole_ns(call->all.ns);
}

static uint64_t launches_of(const struct ct_call *call)
{
    return call->all.count;
}

static const struct weight weights[] = {
    {"GPU time", "nanoseconds", ns_of},
    {"Launches", "none", launches_of},
};

static void put_safe(struct document *d, const char *before, const char *name)
{
    struct ct_string safe = {0};
    ct_name_safe(&safe, name);
    ct_string_put(&d->text, before);
    ct_data_quote(&d->text, safe.data);
    ct_string_free(&safe);
}

static void put_frames(struct document *d)
{
    const char *comma = "\n";
    for (uint32_t i = 0; i < d->frames.lines; i++, comma = ",\n") {
        const struct ct_file_line *l = &d->m->stacks.lines[i];
        ct_string_put(&d->text, comma);
        put_safe(d, "{\"name\":", ct_merge_name(d->m, l->function));
        put_safe(d, ",\"file\":", ct_merge_name(d->m, l->file));
        if (l->line)
            ct_string_printf(&d->text, ",\"line\":%u", l->line);
        ct_string_put(&d->text, "}");
        ct_string_write_much(&d->text, d->out);
    }
    for (uint32_t i = 0; i < d->frames.operations.count; i++, comma = ",\n") {
        ct_string_printf(&d->text, "%s{\"name\":", comma);
        ct_data_quote(&d->text, ct_key_table_get(&d->frames.operations, i));
        ct_string_put(&d->text, "}");
    }
}

/* Outermost first; the last is the operation. */
static void put_sample(struct document *d, const struct ct_call *call, const char *comma)
{
    uint32_t stack[CT_FILE_STACK_DEPTH];
    ct_string_printf(&d->text, "%s[", comma);
    for (size_t depth = ct_calls_stack(&d->calls, call, stack); depth;)
        ct_string_printf(&d->text, "%u,", stack[--depth]);
    ct_string_printf(&d->text, "%u]", ct_frames_of(&d->frames, call));
    ct_string_write_much(&d->text, d->out);
}

static void put_profile(struct document *d, const struct weight *w)
{
    const struct ct_calls *c = &d->calls;
    const char *comma = "\n";
    uint64_t sum = 0;
    ct_string_printf(&d->text,
                     "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"samples\":[", w->name,
                     w->unit);
    for (uint32_t at = c->call[CT_CALL_ROOT].first; at; at = ct_calls_next(c, at))
        if (c->call[at].row != CT_CALL_FRAME) {
            put_sample(d, &c->call[at], comma);
            comma = ",\n";
        }
    ct_string_put(&d->text, "],\n\"weights\":[");
    comma = "";
    for (uint32_t at = c->call[CT_CALL_ROOT].first; at; at = ct_calls_next(c, at))
        if (c->call[at].row != CT_CALL_FRAME) {
            ct_string_printf(&d->text, "%s%" PRIu64, comma, w->of(&c->call[at]));
            sum += w->of(&c->call[at]);
            comma = ",";
        }
    ct_string_printf(&d->text, "],\"startValue\":0,\"endValue\":%" PRIu64 "}", sum);
}

static void put_document(struct document *d)
{
    struct ct_string command = {0};
    ct_frames_command(&command, d->m);
    ct_string_put(
        &d->text,
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":");
    ct_data_quote(&d->text, command.data);
    ct_string_put(&d->text, ",\"exporter\":\"cutrace " PACKAGE_VERSION
                            "\",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[");
    put_frames(d);
    ct_string_put(&d->text, "]},\n\"profiles\":[");
    for (size_t i = 0; i < ct_countof(weights); i++) {
        ct_string_put(&d->text, i ? ",\n" : "\n");
        put_profile(d, &weights[i]);
    }
    ct_string_put(&d->text, "]}\n");
    ct_string_write(&d->text, d->out);
    ct_string_free(&command);
}

int ct_format_speedscope(const struct ct_input *in, FILE *out)
{
    struct document d = {.m = in->m, .out = out};
    ct_calls_of(&d.calls, in->m, in->device);
    ct_frames_list(&d.frames, &d.calls, in->m, in->o);
    put_document(&d);
    ct_frames_say(&d.calls);
    ct_string_free(&d.text);
    ct_frames_free(&d.frames);
    ct_calls_free(&d.calls);
    return 0;
}
