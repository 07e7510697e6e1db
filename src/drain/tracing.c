/* SPDX-License-Identifier: MIT */
#include "drain/tracing.h"

#include "counts/call_log.h"
#include "counts/range.h"
#include "counts/row.h"
#include "cuda/api.h"
#include "stacks/native.h"
#include "stacks/tree.h"
#include "state/context.h"
#include "state/stream.h"
#include "system/clock.h"
#include "system/mem.h"
#include "time/lead.h"

/* Tied clocks are off by less. */
#define MOVED_NS 20000

/* `in`, and names ending so: the number of the segment in which a thing was defined last. */
struct ct_tracing {
    struct ct_trace_writer writer;
    uint64_t zero_ns; /* CLOCK_MONOTONIC */
    struct {
        const char *name; /* its given name, as last defined; so for a stream and its context */
        uint32_t in;
    } device[CT_DEVICES];
    uint32_t row_in[CT_ROWS];
    uint32_t api_in[CT_API_COUNT];
    uint32_t frame_in[CT_STACK_NODES + 1];
    struct traced_stream {
        uint64_t id;
        uint64_t end_ns; /* of its last operation */
        const char *name;
        const char *context_name;
        uint32_t in;
    } stream[CT_STREAMS];
};

struct ct_tracing *ct_tracing;

bool ct_tracing_start(const struct ct_process_info *process, uint64_t most_bytes)
{
    struct ct_tracing *l = ct_map(sizeof(*l));
    if (!l) {
        ct_call_log_stop();
        return false;
    }
    l->zero_ns = ct_clock_at_ns(0);
    const struct ct_trace_process p = {
        .pid = process->pid,
        .parent_pid = process->parent_pid,
        .start_unix_ns = process->start_unix_ns,
        .zero_unix_ns = process->start_unix_ns - (process->start_ns - l->zero_ns),
        .command = process->command,
        .host = process->host,
    };
    ct_trace_start(&l->writer, &p, most_bytes);
    ct_tracing = l;
    return true;
}

void ct_tracing_forget(void)
{
    struct ct_tracing *l = ct_tracing;
    ct_tracing = NULL;
    ct_unmap(l, sizeof(*l));
    ct_call_log_stop();
}

/* ---- definitions ---- */

/* Whether a thing has to be defined in this segment; it is from now on. */
static bool is_new(const struct ct_tracing *l, uint32_t *in)
{
    bool is = *in != l->writer.segment;
    *in = l->writer.segment;
    return is;
}

/* Whether the program has renamed a thing since it was defined; texts that are equal are one. */
static bool is_renamed(const char **defined, const char *name)
{
    bool is = *defined != name;
    *defined = name;
    return is;
}

static void define_device(struct ct_tracing *l, uint32_t index)
{
    const struct ct_device *d = index < ct_devices_count() ? ct_device(index) : NULL;
    const char *given_name = d ? ct_device_given_name(d->handle) : NULL;
    bool renamed = is_renamed(&l->device[index].name, given_name);
    if (!is_new(l, &l->device[index].in) && !renamed)
        return;
    struct ct_trace_device t = {.id = index, .name = "unknown device", .given_name = given_name};
    if (d) {
        t.ordinal = (uint32_t)d->handle;
        t.name = d->name;
        t.memory_bytes = d->memory_bytes;
        __builtin_memcpy(t.uuid, d->uuid.bytes, sizeof(t.uuid));
        __builtin_memcpy(t.attribute, d->attribute, sizeof(t.attribute));
    }
    ct_trace_define_device(&l->writer, &t);
}

static void define_row(struct ct_tracing *l, uint32_t index)
{
    struct ct_row *r = ct_row(index);
    if (!is_new(l, &l->row_in[index]))
        return;
    define_device(l, r->device);
    ct_trace_define_row(&l->writer,
                        &(struct ct_trace_row){
                            .id = index,
                            .kind = r->kind,
                            .detail = r->detail,
                            .device = r->device,
                            .registers = atomic_load_explicit(&r->registers, memory_order_relaxed),
                            .static_shared_bytes =
                                atomic_load_explicit(&r->static_shared_bytes, memory_order_relaxed),
                            .name = r->name,
                        });
}

/* The entry may be another stream's by now: then nothing but the number of this one is known. */
static void define_stream(struct ct_tracing *l, const struct ct_measured *m)
{
    const struct ct_stream *s = ct_stream(m->op.stream);
    struct traced_stream *before = &l->stream[m->op.stream];
    struct ct_trace_stream t = {
        .id = m->stream_id,
        .device = m->device,
        .context = m->op.context,
        .flags = UINT32_MAX,
    };
    bool is_known = atomic_load_explicit(&s->id, memory_order_relaxed) == m->stream_id;
    if (before->id != m->stream_id)
        *before = (struct traced_stream){.id = m->stream_id};
    t.name = before->name;
    t.context_name = before->context_name;
    if (is_known) {
        t.name = atomic_load_explicit(&s->name, memory_order_acquire);
        t.context_name =
            atomic_load_explicit(&ct_context(m->op.context)->name, memory_order_acquire);
    }
    define_device(l, m->device);
    bool renamed = is_renamed(&before->name, t.name);
    renamed = is_renamed(&before->context_name, t.context_name) || renamed;
    if (!is_new(l, &before->in) && !renamed)
        return;
    if (is_known) {
        t.flags = atomic_load_explicit(&s->flags, memory_order_relaxed);
        t.priority = atomic_load_explicit(&s->priority, memory_order_relaxed);
        t.special = atomic_load_explicit(&s->special, memory_order_relaxed);
    }
    ct_trace_define_stream(&l->writer, &t);
}

static uint64_t define_shape(struct ct_tracing *l, const struct ct_op *op)
{
    if (ct_row(op->row)->kind != CT_ROW_KERNEL)
        return 0;
    struct ct_trace_shape s = {.dynamic_shared_bytes = op->shape.dynamic_shared_bytes};
    __builtin_memcpy(s.grid, op->shape.grid, sizeof(s.grid));
    __builtin_memcpy(s.block, op->shape.block, sizeof(s.block));
    return ct_trace_define_shape(&l->writer, &s);
}

static void define_frame(struct ct_tracing *l, uint32_t node)
{
    const struct ct_stack_node *n = ct_stack_node(node);
    const struct ct_stack_line *line = ct_stack_line(n->line);
    const struct ct_stack_address *at = ct_stack_address(n->line);
    struct ct_trace_frame f = {.id = node,
                               .caller = n->parent,
                               .line = line->line,
                               .function = line->function,
                               .file = line->file};
    if (at->object) {
        f.address = at->offset + 1;
        f.build_id = ct_native_object(at->object)->build_id;
    }
    ct_trace_define_frame(&l->writer, &f);
}

/*
 * Frames from the outermost in. False: there is no room, or a segment has begun meanwhile: then
 * some of them are in the one before.
 */
static bool define_stack(struct ct_tracing *l, uint32_t stack)
{
    uint32_t node[CT_FILE_STACK_DEPTH], n = 0, segment = l->writer.segment;
    for (uint32_t i = stack; i && n < ct_countof(node) && l->frame_in[i] != segment;
         i = ct_stack_node(i)->parent)
        node[n++] = i;
    for (uint32_t i = n; i--;) {
        if (!ct_trace_begin(&l->writer))
            return false;
        define_frame(l, node[i]);
    }
    for (uint32_t i = 0; i < n && l->writer.segment == segment; i++)
        l->frame_in[node[i]] = segment;
    return l->writer.segment == segment;
}

/* Makes room for an operation, its frames defined; *stack 0: without these. */
static bool begin_op(struct ct_tracing *l, uint32_t *stack)
{
    for (unsigned tries = 0; tries < 2; tries++) {
        bool is_defined = define_stack(l, *stack);
        uint32_t segment = l->writer.segment;
        if (!ct_trace_begin(&l->writer))
            return false;
        if (is_defined && l->writer.segment == segment)
            return true;
    }
    *stack = CT_STACK_NONE;
    return true;
}

/* ---- operations ---- */

static uint64_t since_zero(const struct ct_tracing *l, uint64_t ticks)
{
    uint64_t ns = ct_clock_at_ns(ticks);
    return ns > l->zero_ns ? ns - l->zero_ns : 0;
}

/* A stamp by the host's clock, since zero; *guessed: the clocks are not tied now. */
static uint64_t on_host(const struct ct_tracing *l, const struct ct_measured *m, uint64_t ns,
                        bool *guessed)
{
    uint64_t ticks;
    *guessed = !ct_gpu_clock_ticks(&ct_context(m->op.context)->clock, ns, &ticks);
    return since_zero(l, ticks) + ct_record_ns(ct_device(m->device)->calibration);
}

/*
 * In a stream that threads share, a thread that waited for an operation has come back by its end,
 * and one that is moved on would move the next: so no end is moved by more than the clocks may be
 * off. A duration that needs more is too long, of a thread that lost its processor before its call.
 */
static uint64_t bounded_end_ns(const struct ct_measured *m, const struct ct_trace_op *op,
                               uint64_t end_ns, uint64_t stamped_ns)
{
    bool is_bounded = m->is_placed || m->op.flags & CT_OP_MARKS;
    bool is_moved_too_far = end_ns > stamped_ns + (is_bounded ? 0 : MOVED_NS);
    if (!is_moved_too_far || !ct_stream(m->op.stream)->was_shared)
        return end_ns;
    return ct_max(op->start_ns, stamped_ns);
}

/*
 * The place on the host's clock. An operation does not begin before it was submitted, nor before
 * the one before it on its stream has ended: places by the clocks, which are not sure of them to a
 * microsecond, are moved for that. A polled end is not known so well that it moves others.
 */
static void place(struct ct_tracing *l, const struct ct_measured *m, uint64_t time_ns,
                  struct ct_trace_op *op)
{
    bool guessed;
    uint64_t end_ns =
        on_host(l, m, ct_lead_end_ns(ct_device(m->device)->calibration, m, time_ns), &guessed);
    uint64_t *before_ns = &l->stream[m->op.stream].end_ns;
    uint64_t submitted_ns = since_zero(l, m->op.call_ticks);
    op->start_ns =
        ct_max(ct_max(*before_ns, submitted_ns), end_ns > time_ns ? end_ns - time_ns : 0);
    op->end_ns = bounded_end_ns(m, op, op->start_ns + time_ns, end_ns);
    *before_ns = m->op.flags & CT_OP_POLLED ? op->start_ns : op->end_ns;
    op->flags |= guessed ? CT_TRACE_OP_UNTIED : 0;
}

static uint32_t flags_of(const struct ct_op *op)
{
    return (op->flags & CT_OP_MARKS ? CT_TRACE_OP_BOUND : 0) |
           (op->flags & CT_OP_OVERLAPPED ? CT_TRACE_OP_OVERLAPPED : 0) |
           (op->flags & CT_OP_LEGACY_WAIT ? CT_TRACE_OP_LEGACY_WAIT : 0);
}

void ct_tracing_add(const struct ct_measured *m, uint64_t time_ns)
{
    struct ct_tracing *l = ct_tracing;
    uint32_t stack = m->op.stack;
    if (!begin_op(l, &stack)) {
        l->writer.losses.dropped_ops += m->op.operations;
        return;
    }
    define_row(l, m->op.row);
    define_stream(l, m);
    struct ct_trace_op op = {
        .bytes = m->op.bytes,
        .operations = m->op.operations,
        .correlation = m->op.correlation,
        .stream = m->stream_id,
        .shape = define_shape(l, &m->op),
        .row = m->op.row,
        .flags = flags_of(&m->op),
        .frame = stack,
        .source = (uint8_t)ct_op_from(m->op.flags),
        .target = (uint8_t)ct_op_to(m->op.flags),
    };
    place(l, m, time_ns, &op);
    ct_trace_put_op(&l->writer, &op);
}

/* ---- calls ---- */

static bool is_thread_renamed(struct ct_call_log *log)
{
    uint32_t namings = ct_range_namings();
    if (log->namings == namings)
        return false;
    log->namings = namings;
    return is_renamed(&log->given_name, ct_range_thread_name(log->tid));
}

/* The name is the one that the program gave the thread, or the system's. */
static void define_thread(struct ct_tracing *l, struct ct_call_log *log)
{
    bool renamed = is_thread_renamed(log);
    if (!is_new(l, &log->defined_in) && !renamed)
        return;
    const char *name = log->given_name ? log->given_name : log->name;
    ct_trace_define_thread(&l->writer, &(struct ct_trace_thread){log->id, log->tid, name});
}

static void define_call(struct ct_tracing *l, struct ct_call_log *log, uint32_t api)
{
    define_thread(l, log);
    if (is_new(l, &l->api_in[api]))
        ct_trace_define_api(&l->writer, &(struct ct_trace_api){
                                            .id = api,
                                            .flags = api >= CT_RUNTIME_FIRST ? CT_API_RUNTIME : 0,
                                            .name = ct_api_names[api],
                                        });
}

static void add_call(struct ct_tracing *l, struct ct_call_log *log, const struct ct_logged_call *c)
{
    if (!ct_trace_begin(&l->writer)) {
        l->writer.losses.dropped_calls++;
        return;
    }
    define_call(l, log, c->api);
    ct_trace_put_call(&l->writer, &(struct ct_trace_call){
                                      .start_ns = since_zero(l, c->call_ticks),
                                      .end_ns = since_zero(l, ct_max(c->call_ticks, c->done_ticks)),
                                      .correlation = c->correlation,
                                      .api = c->api,
                                      .thread = log->id,
                                      .result = c->result,
                                  });
}

/* ---- ranges ---- */

static void define_label(struct ct_tracing *l, struct ct_thread *t, uint32_t node, uint32_t id)
{
    struct ct_ranges *r = atomic_load_explicit(&t->ranges, memory_order_acquire);
    const struct ct_range_node *n = ct_range_node(r, node);
    if (!is_new(l, &ct_range_sums(r, node)->traced_in))
        return;
    ct_trace_define_label(&l->writer,
                          &(struct ct_trace_label){
                              .id = id,
                              .style = n->style,
                              .color = n->color,
                              .category = n->category,
                              .domain = ct_range_domain_name(n->domain),
                              .name = n->text,
                              .category_name = ct_range_category_name(n->domain, n->category),
                          });
}

void ct_tracing_add_range(struct ct_thread *t, uint32_t node, enum ct_trace_phase phase,
                          uint64_t number, uint64_t ticks)
{
    struct ct_tracing *l = ct_tracing;
    struct ct_call_log *log = atomic_load_explicit(&t->log, memory_order_acquire);
    uint32_t label = ct_range_of(t->number, node);
    if (!log || !ct_trace_begin(&l->writer)) {
        l->writer.losses.dropped_ranges++;
        return;
    }
    define_thread(l, log);
    define_label(l, t, node, label);
    ct_trace_put_range(&l->writer, &(struct ct_trace_range){
                                       .at_ns = since_zero(l, ticks),
                                       .number = number,
                                       .label = label,
                                       .thread = log->id,
                                       .phase = phase,
                                   });
}

void ct_tracing_drop_ranges(uint64_t records)
{
    ct_tracing->writer.losses.dropped_ranges += records;
}

bool ct_tracing_collect(struct ct_thread *t)
{
    struct ct_call_log *log = atomic_load_explicit(&t->log, memory_order_acquire);
    if (!ct_tracing || !log)
        return false;
    uint32_t first;
    uint32_t n = ct_ring_waiting(&log->ring, CT_LOGGED_CALLS, &first);
    for (uint32_t i = 0; i < n; i++)
        add_call(ct_tracing, log, &log->call[(first + i) % CT_LOGGED_CALLS]);
    ct_ring_consume(&log->ring, n);
    uint64_t dropped = atomic_load_explicit(&log->dropped, memory_order_relaxed);
    ct_tracing->writer.losses.dropped_calls += dropped - log->dropped_taken;
    log->dropped_taken = dropped;
    return n != 0;
}

/* ---- out ---- */

struct ct_trace_header ct_tracing_header(void)
{
    return ct_trace_header(&ct_tracing->writer);
}

static void count_untimed(struct ct_trace_losses *losses)
{
    __builtin_memset(losses->untimed, 0, sizeof(losses->untimed));
    for (uint32_t i = 0; i < ct_rows_count(); i++)
        for (unsigned loss = 0; loss < CT_LOSS_COUNT; loss++)
            losses->untimed[loss] +=
                atomic_load_explicit(&ct_row(i)->lost[loss], memory_order_relaxed);
}

bool ct_tracing_seal(bool finished)
{
    struct ct_trace_writer *w = &ct_tracing->writer;
    count_untimed(&w->losses);
    w->losses.finished = finished;
    return ct_trace_seal(w);
}

const struct ct_trace_out *ct_tracing_ready(void)
{
    return ct_trace_take(&ct_tracing->writer);
}
