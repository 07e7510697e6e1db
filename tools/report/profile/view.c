/* SPDX-License-Identifier: MIT */
#include "report/profile/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/covariance.h"
#include "report/names.h"
#include "report/profile/interval.h"

/* A first launch that is a bound makes none of a row. */
#define BOUND_ONE_IN 20

static const struct {
    bool ran;
    const char *text;
} losses[CT_FILE_LOSSES] = {
#define X(id, ran, text) [CT_LOSS_##id] = {ran, text},
    CT_LOSSES(X)
#undef X
};

/* Reasons that a newer library has brought: nearly all of ours ran. */
const char *ct_view_loss_text(int loss)
{
    return losses[loss].text ? losses[loss].text : "for a reason that this program does not know";
}

uint64_t ct_view_calls(const struct ct_file_row *row)
{
    uint64_t calls = row->timed;
    for (int i = 0; i < CT_FILE_LOSSES; i++)
        if ((losses[i].ran || !losses[i].text) && i != CT_LOSS_EXCLUDED)
            ct_merge_add_to(&calls, row->lost[i]);
    return calls;
}

uint64_t ct_view_lost(const struct ct_file_row *row)
{
    uint64_t lost = 0;
    for (int i = 0; i < CT_FILE_LOSSES; i++)
        ct_merge_add_to(&lost, row->lost[i]);
    return lost;
}

uint64_t ct_view_marked(const struct ct_file_row *row, enum ct_view_mark mark)
{
    uint64_t named = ct_merge_sum(row->overlapped, row->legacy_waits);
    if (mark == CT_VIEW_OVERLAPPED)
        return row->overlapped;
    if (mark == CT_VIEW_LEGACY_WAIT)
        return row->legacy_waits;
    return row->marked > named ? row->marked - named : 0;
}

const char *ct_view_mark_text(enum ct_view_mark mark)
{
    static const char *const texts[CT_VIEW_MARKS] = {
        [CT_VIEW_OVERLAPPED] = "another thread's work on the stream in between",
        [CT_VIEW_LEGACY_WAIT] = "a wait for or by the legacy default stream",
        [CT_VIEW_OTHER_MARK] = "a wait that cannot be told from the work",
    };
    return texts[mark];
}

const char *ct_view_stream_kind(const struct ct_file_stream *s)
{
    if (s->special == 1)
        return "legacy default stream";
    if (s->special == 2)
        return "per-thread default stream";
    if (s->flags == UINT32_MAX)
        return "created unseen";
    return s->flags & 1 ? "created, non-blocking" : "created";
}

uint64_t ct_view_whole_ns(double ns)
{
    if (!(ns > 0))
        return 0;
    return ns < 1.8e19 ? (uint64_t)(ns + 0.5) : UINT64_MAX;
}

/* The mean of the timed calls, times all calls. */
static uint64_t extend(uint64_t total_ns, uint64_t timed, uint64_t calls)
{
    unsigned __int128 all = (unsigned __int128)total_ns * calls / timed;
    return all > UINT64_MAX ? UINT64_MAX : (uint64_t)all;
}

static struct ct_line *line_at(struct ct_view *v, size_t at)
{
    v->lines = ct_memory_grow(v->lines, &v->size, at + 1, sizeof(*v->lines));
    if (at == v->count) {
        v->count++;
        v->lines[at].min_ns = UINT64_MAX;
    }
    return &v->lines[at];
}

struct ct_durations ct_view_durations(const struct ct_merged_row *row, bool raw)
{
    const struct ct_file_row *sum = &row->sum;
    if (raw)
        return (struct ct_durations){.total_ns = sum->raw_total_ns,
                                     .min_ns = sum->raw_min_ns,
                                     .max_ns = sum->raw_max_ns,
                                     .estimated = (double)sum->timed,
                                     .estimated_ns = (double)sum->raw_total_ns,
                                     .estimated_square_ns2 = sum->raw_square_ns2,
                                     .hist = &row->raw_hist};
    return (struct ct_durations){.total_ns = sum->total_ns,
                                 .min_ns = sum->min_ns,
                                 .max_ns = sum->max_ns,
                                 .doubt_ns = sum->doubt_ns,
                                 .estimated = (double)sum->estimated,
                                 .estimated_ns = sum->estimated_ns,
                                 .estimated_square_ns2 = sum->estimated_square_ns2,
                                 .hist = &row->hist};
}

bool ct_view_uncertain(uint64_t total_ns, uint64_t doubt_ns)
{
    return doubt_ns > total_ns / 2;
}

struct ct_node_times ct_view_node(const struct ct_file_node *node, uint64_t runs, bool raw)
{
    uint64_t timed_ns = raw ? node->raw_total_ns : node->total_ns;
    uint64_t avg_ns = timed_ns / node->timed, doubt_ns = raw ? 0 : node->doubt_ns;
    return (struct ct_node_times){.total_ns = ct_merge_product(avg_ns, runs),
                                  .avg_ns = avg_ns,
                                  .doubt_ns = doubt_ns / node->timed,
                                  .uncertain = ct_view_uncertain(timed_ns, doubt_ns)};
}

/* The moments of a sum of estimates, each times `scale`. */
static void add_sampled(struct ct_sampled *to, const struct ct_sampled *one, double scale)
{
    double square = scale * scale;
    to->variance_ns2 += one->variance_ns2 * square;
    to->third_ns3 += one->third_ns3 * square * scale;
    to->freedom_ns4 += one->freedom_ns4 * square * square;
    to->with_others_ns2 += one->with_others_ns2 * square;
}

static struct ct_sampled sampled_of(const struct ct_file_row *sum)
{
    return (struct ct_sampled){
        .variance_ns2 = sum->variance_ns2,
        .third_ns3 = sum->third_ns3,
        .freedom_ns4 = sum->freedom_ns4,
        .with_others_ns2 = sum->with_others_ns2,
    };
}

static void add_row(struct ct_line *line, const struct ct_merged_row *row, bool raw)
{
    const struct ct_file_row *sum = &row->sum;
    struct ct_durations d = ct_view_durations(row, raw);
    line->kind = sum->kind;
    line->detail = sum->detail;
    line->content = row->content;
    ct_merge_add_to(&line->calls, ct_view_calls(sum));
    if (ct_view_calls(sum)) /* a device is excluded as a whole, and its operations are no calls */
        ct_merge_add_to(&line->bytes, sum->bytes);
    if (!sum->timed)
        return;
    ct_merge_add_to(&line->timed, sum->timed);
    ct_merge_add_to(&line->total_ns, d.total_ns);
    ct_merge_add_to(&line->doubt_ns, d.doubt_ns);
    ct_merge_add_to(&line->bounds, raw ? 0 : row->sum.marked);
    line->estimated += d.estimated;
    line->estimated_ns += d.estimated_ns;
    if (!raw) {
        struct ct_sampled one = sampled_of(sum);
        add_sampled(&line->sampled, &one, 1);
    }
    line->min_ns = ct_min(line->min_ns, d.min_ns);
    line->max_ns = ct_max(line->max_ns, d.max_ns);
}

static void attach_row(struct ct_line *line, const struct ct_merged *m,
                       const struct ct_merged_row *row)
{
    uint32_t ordinal = m->devices[row->sum.device].sum.ordinal;
    line->ordinals |= (uint64_t)1 << (ordinal < 63 ? ordinal : 63);
    if (line->row)
        line->row = line->own_row = ct_merge_rows(line->own_row, line->row, row);
    else
        line->row = row;
}

static void free_line(struct ct_line *line)
{
    free(line->name);
    ct_merge_row_free(line->own_row);
}

/*
 * Turns figures of timed operations into those shown. Calls that are not among the estimated were
 * lost for another reason than sampling: they are taken to be like the others.
 */
static void finish_line(struct ct_view *v, struct ct_line *line)
{
    double scale = (double)line->calls / line->estimated;
    struct ct_sampled s = line->sampled;
    line->uncertain = ct_view_uncertain(line->total_ns, line->doubt_ns);
    line->bound = line->bounds > line->timed / BOUND_ONE_IN;
    if (line->estimated == (double)line->timed) {
        line->avg_ns = line->total_ns / line->timed;
        line->total_ns = extend(line->total_ns, line->timed, line->calls);
    } else {
        line->avg_ns = ct_view_whole_ns(line->estimated_ns / line->estimated);
        line->total_ns = ct_view_whole_ns(line->estimated_ns * scale);
    }
    line->sampled = (struct ct_sampled){0};
    add_sampled(&line->sampled, &s, scale);
    add_sampled(&v->sampled, &s, scale);
    ct_merge_add_to(&v->total_ns, line->total_ns);
}

/* The lines that show nothing go. */
static void finish_lines(struct ct_view *v)
{
    size_t kept = 0;
    for (size_t i = 0; i < v->count; i++) {
        struct ct_line *line = &v->lines[i];
        if (!line->calls) {
            free_line(line);
            continue;
        }
        if (line->timed)
            finish_line(v, line);
        v->lines[kept++] = *line;
    }
    v->count = kept;
}

static int by_total(const void *a, const void *b)
{
    const struct ct_line *x = a, *y = b;
    if (!x->timed != !y->timed)
        return x->timed ? -1 : 1;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    return strcmp(x->name, y->name);
}

void ct_view_sort(struct ct_view *v)
{
    if (v->count)
        qsort(v->lines, v->count, sizeof(*v->lines), by_total);
}

static void rename_graph(struct ct_line *line, uint32_t number)
{
    struct ct_string name = {0};
    ct_string_add(&name, line->name, strlen(line->name) - 1);
    ct_string_printf(&name, " #%u]", number);
    free(line->name);
    line->name = name.data;
}

/* Graphs have no names: graphs of equal size are told apart by their place in the table. */
static void number_graphs(struct ct_view *v)
{
    struct ct_key_table sizes = {0};
    uint32_t *seen = NULL;
    size_t seen_size = 0;
    for (size_t i = 0; i < v->count; i++) {
        struct ct_line *line = &v->lines[i];
        if (line->kind != CT_ROW_GRAPH)
            continue;
        uint32_t at = ct_key_table_add(&sizes, &line->detail, sizeof(line->detail));
        seen = ct_memory_grow(seen, &seen_size, at + 1, sizeof(*seen));
        if (++seen[at] > 1)
            rename_graph(line, seen[at]);
    }
    free(seen);
    ct_key_table_free(&sizes);
}

static void name_line(struct ct_string *name, const struct ct_merged *m,
                      const struct ct_merged_row *row, const struct ct_view_options *o)
{
    ct_name_row(name, m, &row->sum, o->demangle);
    if (o->base && row->sum.kind == CT_ROW_KERNEL)
        ct_name_base(name);
}

/* How many kernels are in each group, over the rows that make up its line. */
static void count_names(struct ct_view *v, const struct ct_merged *m, const uint32_t *line_of)
{
    struct ct_key_table known = {0};
    for (uint32_t i = 0; i < m->members.count; i++) {
        struct ct_merged_member member = ct_merge_member(m, i);
        uint32_t line = line_of[member.row], key[] = {line, member.name}, count = known.count;
        if (line != CT_MERGE_NONE && ct_key_table_add(&known, key, sizeof(key)) == count)
            v->lines[line].names++;
    }
    ct_key_table_free(&known);
}

void ct_view_gpu(struct ct_view *v, const struct ct_merged *m, uint32_t device,
                 const struct ct_view_options *o)
{
    struct ct_key_table keys = {0}, bases = {0};
    uint32_t *line_of = ct_memory_array(m->row_keys.count, sizeof(*line_of));
    *v = (struct ct_view){0};
    for (uint32_t i = 0; i < m->row_keys.count; i++) {
        const struct ct_merged_row *row = &m->rows[i];
        line_of[i] = CT_MERGE_NONE;
        if (device != CT_VIEW_ALL_DEVICES && row->sum.device != device)
            continue;
        bool base = o->base && row->sum.kind == CT_ROW_KERNEL;
        struct ct_string name = {0};
        if (base)
            name_line(&name, m, row, o);
        uint32_t key[] = {row->sum.kind, row->sum.detail,
                          base ? ct_key_table_text(&bases, name.data) : row->sum.name,
                          row->content};
        struct ct_line *line = line_at(v, line_of[i] = ct_key_table_add(&keys, key, sizeof(key)));
        add_row(line, row, o->raw);
        attach_row(line, m, row);
        if (line->name) {
            ct_string_free(&name);
            continue;
        }
        if (!base)
            name_line(&name, m, row, o);
        line->name = name.data;
    }
    ct_key_table_free(&bases);
    ct_key_table_free(&keys);
    count_names(v, m, line_of);
    free(line_of);
    finish_lines(v);
    ct_view_sort(v);
    number_graphs(v);
}

void ct_view_apis(struct ct_view *v, const struct ct_merged *m)
{
    *v = (struct ct_view){0};
    for (uint32_t i = 0; i < m->api_keys.count; i++) {
        const struct ct_file_api *a = &m->apis[i].sum;
        struct ct_line *line = line_at(v, v->count);
        struct ct_string name = {0};
        ct_name_api(&name, ct_merge_name(m, a->name));
        *line = (struct ct_line){.name = name.data,
                                 .api = &m->apis[i],
                                 .calls = a->calls,
                                 .timed = a->calls,
                                 .estimated = (double)a->calls,
                                 .total_ns = a->total_ns,
                                 .min_ns = a->min_ns,
                                 .max_ns = a->max_ns};
    }
    finish_lines(v);
    ct_view_sort(v);
}

void ct_view_free(struct ct_view *v)
{
    for (size_t i = 0; i < v->count; i++)
        free_line(&v->lines[i]);
    free(v->lines);
    *v = (struct ct_view){0};
}

static double half_ns(const struct ct_sampled *s)
{
    return ct_interval_half_ns(s->variance_ns2, s->third_ns3, s->freedom_ns4);
}

double ct_view_half_ns(const struct ct_view *v)
{
    struct ct_sampled s = v->sampled;
    ct_covariance_add(&s.variance_ns2, &s.freedom_ns4, s.with_others_ns2);
    return half_ns(&s);
}

double ct_view_line_half_ns(const struct ct_line *line)
{
    return half_ns(&line->sampled);
}

struct ct_sampled_rows ct_view_sampled_rows(const struct ct_view *v)
{
    struct ct_sampled_rows sum = {0};
    for (size_t i = 0; i < v->count; i++) {
        const struct ct_line *line = &v->lines[i];
        if (!line->timed || !(line->estimated > (double)line->timed))
            continue;
        sum.rows++;
        ct_merge_add_to(&sum.timed, line->timed);
        ct_merge_add_to(&sum.calls, line->calls);
    }
    return sum;
}

double ct_view_percent(const struct ct_view *v, const struct ct_line *line)
{
    return v->total_ns ? 100.0 * (double)line->total_ns / (double)v->total_ns : 0;
}
