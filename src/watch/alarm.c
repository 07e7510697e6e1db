/* SPDX-License-Identifier: MIT */
#include "watch/alarm.h"

#include "base/printable.h"
#include "base/text.h"
#include "counts/row.h"
#include "cutrace/format.h"
#include "stacks/tree.h"
#include "system/log.h"

#define LINE_BYTES 1024
#define NAME_BYTES 300
#define CALLS_TOLD 8

/* The watch's thread alone tells. */
static char line_room[LINE_BYTES];

static struct ct_text begin(void)
{
    return ct_text_in(line_room, sizeof(line_room));
}

static void say(void)
{
    ct_log(1, line_room, NULL, NULL);
}

/* "2.3 s", "14 ms", "1.2 us". */
static void add_time(struct ct_text *t, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000u, " s"}, {1000000u, " ms"}, {1000u, " us"}, {1, " ns"}};
    unsigned i = 0;
    while (i < 3 && ns < units[i].ns)
        i++;
    ct_text_add_u64(t, ns / units[i].ns);
    if (ns / units[i].ns < 10 && units[i].ns > 1) {
        ct_text_add(t, ".");
        ct_text_add_u64(t, ns % units[i].ns * 10 / units[i].ns);
    }
    ct_text_add(t, units[i].name);
}

/* Bytes that a terminal would obey are left out. */
static void add_name(struct ct_text *t, const char *name)
{
    size_t end = t->len + NAME_BYTES;
    while (*name && t->len + 8 < end) {
        size_t len = ct_printable(name);
        if (!len)
            ct_text_add(t, "?");
        for (size_t i = 0; i < len; i++)
            ct_text_add_char(t, name[i]);
        name += len ? len : 1;
    }
    if (*name)
        ct_text_add(t, "...");
}

static void add_number(struct ct_text *t, const char *before, uint64_t n, const char *behind)
{
    ct_text_add(t, before);
    ct_text_add_u64(t, n);
    ct_text_add(t, behind);
}

static void add_row(struct ct_text *t, uint32_t row)
{
    static const char *const kinds[] = {
        [CT_ROW_KERNEL] = "kernel ", [CT_ROW_COPY] = "copy ",         [CT_ROW_SET] = "set ",
        [CT_ROW_GRAPH] = "graph ",   [CT_ROW_PREFETCH] = "prefetch ",
    };
    static const char *const directions[] = {
#define X(id, text) [CT_##id] = text,
        CT_DIRECTIONS(X)
#undef X
    };
    const struct ct_row *r = ct_row(row);
    ct_text_add(t, kinds[r->kind]);
    if (r->kind == CT_ROW_GRAPH) {
        add_number(t, "of ", r->detail, r->detail == 1 ? " node" : " nodes");
        return;
    }
    add_name(t, r->kind == CT_ROW_COPY || r->kind == CT_ROW_PREFETCH ? directions[r->detail]
                                                                     : r->name);
}

static void add_thing(struct ct_text *t, const struct ct_in_flight *e)
{
    static const char *const gates[] = {
#define X(id, text) text,
        CT_STUCK_GATES(X)
#undef X
    };
    switch (e->f.kind) {
    case CT_STUCK_OPERATION:
        add_row(t, e->f.row - 1);
        if (e->node) {
            ct_text_add(t, " in kernel ");
            add_name(t, e->node);
        }
        break;
    case CT_STUCK_GATE:
        ct_text_add(t, gates[e->f.gate]);
        if (e->f.waits_for)
            add_number(t, " of stream ", e->f.waits_for, "");
        ct_text_add(t, " before ");
        add_row(t, e->f.row - 1);
        break;
    case CT_STUCK_FAULT:
        add_number(t, "error ", (uint64_t)e->f.error, " of the device");
        if (e->f.row) {
            ct_text_add(t, ", with ");
            add_row(t, e->f.row - 1);
            ct_text_add(t, " in flight");
        }
        break;
    case CT_STUCK_DRIVER:
        ct_text_add(t, "a call of cutrace's own does not return: ");
        ct_text_add(t, e->call);
        break;
    default:
        add_number(t, "thread ", e->f.thread, " waits in ");
        ct_text_add(t, e->call);
        if (e->f.gate) {
            ct_text_add(t, ", for ");
            ct_text_add(t, gates[e->f.gate]);
        } else if (e->f.row) {
            ct_text_add(t, ", perhaps for ");
            add_row(t, e->f.row - 1);
        }
    }
    if (e->f.stream)
        add_number(t, " (stream ", e->f.stream, ")");
}

static void add_usual(struct ct_text *t, const struct ct_in_flight *e)
{
    if (e->f.kind != CT_STUCK_OPERATION || !e->usual.count)
        return;
    ct_text_add(t, ", else ");
    add_time(t, e->f.p50_ns);
    ct_text_add(t, " (p99 ");
    add_time(t, e->f.p99_ns);
    add_number(t, " of ", e->usual.count, ")");
}

static void add_place(struct ct_text *t, const struct ct_in_flight *e)
{
    if (e->stack && e->stack <= ct_stack_nodes()) {
        const struct ct_stack_line *l = ct_stack_line(ct_stack_node(e->stack)->line);
        ct_text_add(t, ", launched at ");
        add_name(t, l->file);
        add_number(t, ":", l->line, " ");
        add_name(t, l->function);
    }
    if (e->f.behind)
        add_number(t, "; ", e->f.behind,
                   e->f.behind == 1 ? " operation behind it" : " operations behind it");
}

static void tell_communication(const struct ct_in_flight *e)
{
    static const char *const names[] = {
#define X(id, text) [CT_COLLECTIVE_##id] = text,
        CT_COLLECTIVES(X)
#undef X
    };
    if (!e->f.collective || e->f.collective > CT_COLLECTIVE_COUNT)
        return;
    struct ct_text t = begin();
    ct_text_add(&t, "stuck: it is NCCL's ");
    ct_text_add(&t, names[e->f.collective - 1]);
    add_number(&t, " of ", e->f.bytes, " bytes");
    if (e->f.communicator)
        add_number(&t, ", number ", e->f.sequence, "");
    if (e->f.communicator)
        add_number(&t, " of communicator ", e->f.communicator, "");
    if (e->f.ranks)
        add_number(&t, " of ", e->f.ranks, " ranks: `cutrace ctl --all stuck` compares them");
    say();
}

static void tell_streams(const struct ct_in_flight *all, uint32_t count,
                         const struct ct_in_flight *e)
{
    struct ct_text t = begin();
    unsigned told = 0;
    ct_text_add(&t, "stuck: its events are waited for by");
    for (uint32_t i = 0; e->f.stream && i < count; i++)
        if (all[i].f.kind == CT_STUCK_GATE && all[i].f.waits_for == e->f.stream && &all[i] != e)
            add_number(&t, told++ ? ", stream " : " stream ", all[i].f.stream, "");
    if (told)
        say();
}

void ct_alarm_tell(const struct ct_in_flight *all, uint32_t count, uint32_t which)
{
    const struct ct_in_flight *e = &all[which];
    struct ct_text t = begin();
    ct_text_add(&t, "stuck: ");
    add_thing(&t, e);
    ct_text_add(&t, " for ");
    add_time(&t, e->f.for_ns);
    add_usual(&t, e);
    add_place(&t, e);
    say();
    tell_communication(e);
    tell_streams(all, count, e);
}

void ct_alarm_tell_calls(const struct ct_in_flight *all, uint32_t count)
{
    unsigned told = 0;
    for (uint32_t i = 0; i < count && told < CALLS_TOLD; i++) {
        if (all[i].f.kind != CT_STUCK_CALL || all[i].f.flags & CT_STUCK_OVER)
            continue;
        struct ct_text t = begin();
        add_number(&t, "stuck: thread ", all[i].f.thread, " waits in ");
        ct_text_add(&t, all[i].call);
        if (all[i].f.stream)
            add_number(&t, " (stream ", all[i].f.stream, ")");
        ct_text_add(&t, " for ");
        add_time(&t, all[i].f.for_ns);
        say();
        told++;
    }
}
