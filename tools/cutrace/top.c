/* SPDX-License-Identifier: MIT */
#include "top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "messages.h"
#include "report/names.h"
#include "report/profile/pairs.h"
#include "report/profile/view.h"
#include "report/stacks/launchers.h"
#include "report/stacks/line_sums.h"
#include "report/terminal.h"
#include "report/units.h"

#define LEAST_NAME 24 /* characters: before a name gets less, a column goes */

/* ---- figures ---- */

static int by_number(const void *a, const void *b)
{
    const struct top_row *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void drop_rows(const struct top_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->rows[i].name);
    free(table->rows);
}

/* Estimates of a sample may become less. */
static uint64_t grown(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

/* Adds a row to a table; its name is the table's from now on. */
static void add_row(struct top_table *to, struct top_row r, const struct top_table *before)
{
    const struct top_row *b = NULL;
    if (before->count)
        b = bsearch(&r, before->rows, before->count, sizeof(r), by_number);
    r.last_ns = grown(r.total_ns, b ? b->total_ns : 0);
    r.last_calls = grown(r.calls, b ? b->calls : 0);
    to->rows = ct_memory_grow(to->rows, &to->size, to->count + 1, sizeof(r));
    to->rows[to->count++] = r;
}

static void add_operation(struct top *t, const struct ct_merged *m, const struct ct_line *line,
                          const struct top_table *before)
{
    struct ct_string name = {0}, key = {0};
    ct_name_safe(&name, line->name);
    ct_string_reserve(&name, 0);
    ct_pairs_key(&key, m, line->row);
    struct top_row r = {
        .name = name.data,
        .number = ct_key_table_add(&t->known, key.data, key.len),
        .uncertain = line->uncertain,
        .bound = line->bound,
        .calls = line->calls,
        .total_ns = line->timed ? line->total_ns : 0,
        .avg_ns = line->timed ? line->avg_ns : 0,
        .min_ns = line->timed ? line->min_ns : 0,
        .max_ns = line->timed ? line->max_ns : 0,
    };
    ct_string_free(&key);
    add_row(&t->tables[TOP_OPERATIONS], r, before);
}

/* The name is all that tells a line from others. */
static void add_line(struct top *t, const struct ct_merged *m, const struct ct_line_sum *line,
                     const struct top_table *before)
{
    struct ct_string name = {0};
    ct_calls_line(&name, m, line->index);
    struct top_row r = {
        .name = name.data,
        .number = ct_key_table_add(&t->known_lines, name.data, name.len),
        .calls = line->all.count,
        .total_ns = ct_view_whole_ns(line->all.ns),
        .own_ns = ct_view_whole_ns(line->own.ns),
    };
    add_row(&t->tables[TOP_LINES], r, before);
}

static void add_operations(struct top *t, const struct ct_merged *m, const struct top_table *before)
{
    struct ct_view v;
    struct ct_view_options o = {.demangle = true};
    ct_view_gpu(&v, m, CT_VIEW_ALL_DEVICES, &o);
    for (size_t i = 0; i < v.count; i++)
        if (v.lines[i].calls)
            add_operation(t, m, &v.lines[i], before);
    ct_view_free(&v);
}

static void add_lines(struct top *t, const struct ct_merged *m, const struct top_table *before)
{
    struct ct_calls c;
    ct_calls_of(&c, m, CT_VIEW_ALL_DEVICES);
    struct ct_line_sums sums = ct_line_sums_of(&c, m);
    for (size_t i = 0; i < sums.count; i++)
        add_line(t, m, &sums.at[i], before);
    free(sums.at);
    ct_calls_free(&c);
}

static void add_facts(struct top *t, const struct ct_summary *s, const struct top *before)
{
    const struct ct_file_process *p = &s->process[0];
    ct_string_clear(&t->command);
    ct_string_clear(&t->device);
    ct_name_safe(&t->command, ct_summary_text(s, p->command));
    if (s->devices_count)
        ct_name_safe(&t->device, ct_summary_text(s, s->devices[0].name));
    t->devices = s->devices_count;
    t->age_ns = p->duration_ns;
    t->last_ns = grown(t->age_ns, before->age_ns);
    t->busy_ns = t->active_devices = 0;
    for (size_t i = 0; i < s->activities_count; i++) {
        t->busy_ns += s->activities[i].busy_ns;
        t->active_devices += s->activities[i].busy_ns != 0;
    }
    t->last_busy_ns = grown(t->busy_ns, before->busy_ns);
}

/* Between two readings, half a second apart, the mean stays. */
static void add_sensor(struct top_sensor *to, const struct ct_file_sensor *s)
{
    uint64_t ns = grown(s->time_ns, to->time_ns);
    if (ns)
        to->mean = (s->sum - to->sum) / (double)ns;
    to->sum = s->sum;
    to->time_ns = s->time_ns;
    to->limit = s->limit;
}

static void add_sensors(struct top *t, const struct ct_summary *s)
{
    static const uint32_t kinds[] = {[TOP_CLOCK] = CT_SENSOR_SM_CLOCK,
                                     [TOP_POWER] = CT_SENSOR_POWER,
                                     [TOP_TEMPERATURE] = CT_SENSOR_TEMPERATURE};
    for (size_t i = 0; i < s->sensors_count; i++)
        for (int k = 0; k < TOP_SENSORS; k++)
            if (!s->sensors[i].device && s->sensors[i].kind == kinds[k])
                add_sensor(&t->sensors[k], &s->sensors[i]);
}

static void add_profile(struct top *t, const struct ct_summary *s)
{
    struct ct_merged m = {0};
    struct top before = *t;
    for (int i = 0; i < TOP_TABLES; i++) {
        struct top_table *old = &before.tables[i];
        if (old->count)
            qsort(old->rows, old->count, sizeof(*old->rows), by_number);
        t->tables[i] = (struct top_table){.rows = NULL};
    }
    ct_merge_add(&m, s);
    add_operations(t, &m, &before.tables[TOP_OPERATIONS]);
    add_lines(t, &m, &before.tables[TOP_LINES]);
    add_facts(t, s, &before);
    add_sensors(t, s);
    ct_merge_free(&m);
    for (int i = 0; i < TOP_TABLES; i++)
        drop_rows(&before.tables[i]);
}

enum link_result top_take(struct top *t, enum top_order order)
{
    struct ct_ctl_answer a;
    struct ct_summary s = {0};
    struct ct_read_error error;
    int fd;
    enum link_result result = link_ask(&t->link, CT_CTL_FLUSH, &a, &fd);
    if (result != LINK_ANSWERED)
        return result;
    t->recording = a.flags & CT_CTL_RECORDING;
    if (fd < 0 || ct_summary_read_open(&s, fd, &error) || !s.process_count) {
        complain("the profile of process %d cannot be read%s%s", (int)t->link.pid,
                 fd < 0 ? "" : ": it ", fd < 0 ? "" : error.text);
        result = LINK_FAILED;
    } else {
        add_profile(t, &s);
        top_sort(t, order);
    }
    ct_summary_free(&s);
    if (fd >= 0)
        close(fd);
    return result;
}

/* ---- order ---- */

static int falling(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

#define COMPARE(name, expression)                                                                  \
    static int by_##name(const void *a, const void *b)                                             \
    {                                                                                              \
        const struct top_row *x = a, *y = b;                                                       \
        int order = expression;                                                                    \
        order = order ? order : falling(x->total_ns, y->total_ns);                                 \
        return order ? order : by_number(a, b);                                                    \
    }
COMPARE(interval, falling(x->last_ns, y->last_ns))
COMPARE(total, falling(x->total_ns, y->total_ns))
COMPARE(calls, falling(x->calls, y->calls))
COMPARE(avg, falling(x->avg_ns, y->avg_ns))
COMPARE(name, strcmp(x->name, y->name))

static const struct {
    const char *name;
    int (*compare)(const void *a, const void *b);
} orders[TOP_ORDERS] = {
    [TOP_INTERVAL] = {"interval", by_interval},
    [TOP_TOTAL] = {"total", by_total},
    [TOP_CALLS] = {"calls", by_calls},
    [TOP_AVG] = {"avg", by_avg},
    [TOP_NAME] = {"name", by_name},
};

void top_sort(struct top *t, enum top_order order)
{
    for (int i = 0; i < TOP_TABLES; i++)
        if (t->tables[i].count)
            qsort(t->tables[i].rows, t->tables[i].count, sizeof(*t->tables[i].rows),
                  orders[order].compare);
}

const char *top_order_name(enum top_order order)
{
    return orders[order].name;
}

static enum top_order order_of(const char *name)
{
    int order = TOP_ORDERS;
    while (name && --order > 0 && strcmp(orders[order].name, name))
        ;
    return name ? (enum top_order)order : TOP_INTERVAL;
}

/* ---- text ---- */

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

static void put_process(struct ct_string *out, const struct top *t)
{
    uint64_t s = t->age_ns / 1000000000u;
    ct_string_printf(out, "%d  ", (int)t->link.pid);
    ct_string_printf(out, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 "  recording %s  ", s / 3600,
                     s / 60 % 60, s % 60, t->recording ? "on" : "off");
    ct_string_add(out, t->command.data, t->command.len);
}

static void put_device(struct ct_string *out, const struct top *t)
{
    const struct top_table *all = &t->tables[TOP_OPERATIONS];
    uint64_t calls = 0, last_calls = 0;
    for (size_t i = 0; i < all->count; i++) {
        calls += all->rows[i].calls;
        last_calls += all->rows[i].last_calls;
    }
    if (t->devices)
        ct_string_printf(out, "%zu x %s  ", t->devices, t->device.data);
    ct_string_printf(out, "busy %.1f%% now, %.1f%% so far  ",
                     percent(t->last_busy_ns, t->last_ns * t->active_devices),
                     percent(t->busy_ns, t->age_ns * t->active_devices));
    ct_string_printf(out, "%" PRIu64 " operations in %.1f s, %" PRIu64 " so far", last_calls,
                     (double)t->last_ns / 1e9, calls);
}

static void put_sensors(struct ct_string *out, const struct top *t)
{
    static const char *const units[] = {
        [TOP_CLOCK] = "MHz", [TOP_POWER] = "W", [TOP_TEMPERATURE] = "C"};
    for (int i = 0; i < TOP_SENSORS; i++) {
        const struct top_sensor *s = &t->sensors[i];
        if (!s->time_ns)
            continue;
        ct_string_printf(out, "  %.0f", s->mean);
        if (s->limit > 0)
            ct_string_printf(out, " of %.0f", s->limit);
        ct_string_printf(out, " %s", units[i]);
    }
}

void top_line(struct ct_string *out, const struct top *t, int line)
{
    if (!line) {
        put_process(out, t);
        return;
    }
    put_device(out, t);
    put_sensors(out, t);
}

enum { NOW, NOW_TIME, NOW_CALLS, ALL_TIME, ALL_CALLS, OWN, AVG, MIN, MAX, COLUMNS };

static const char *const headings[COLUMNS] = {
    [NOW] = "Now(%)",        [NOW_TIME] = "Time",   [NOW_CALLS] = "Calls",
    [ALL_TIME] = "All time", [ALL_CALLS] = "Calls", [OWN] = "Own",
    [AVG] = "Avg",           [MIN] = "Min",         [MAX] = "Max",
};

static const char *between(int column)
{
    return column == ALL_TIME ? " | " : column ? " " : "";
}

static int cell_width(int column)
{
    return column ? 9 : 7;
}

static int width_of(int column)
{
    return (int)strlen(between(column)) + cell_width(column);
}

#define OF_OPERATIONS (1u << AVG | 1u << MIN | 1u << MAX)
#define OF_LINES (1u << OWN)

/* The columns, by bits, that fit a width beside names that can be read; width 0: all. */
static unsigned shown_in(const struct top *t, int width)
{
    static const int least[] = {MAX, MIN, ALL_CALLS, AVG, OWN, NOW_CALLS, ALL_TIME}; /* go first */
    unsigned shown = (1u << COLUMNS) - 1;
    int left = width - 2;
    shown &= ~(t->shown == TOP_LINES ? OF_OPERATIONS : OF_LINES);
    for (int i = 0; i < COLUMNS; i++)
        left -= shown & 1u << i ? width_of(i) : 0;
    for (size_t i = 0; width && i < ct_countof(least) && left < LEAST_NAME; i++) {
        left += shown & 1u << least[i] ? width_of(least[i]) : 0;
        shown &= ~(1u << least[i]);
    }
    return shown;
}

static void put_cell(struct ct_string *out, unsigned shown, int column, const char *text)
{
    if (shown & 1u << column)
        ct_string_printf(out, "%s%*s", between(column), cell_width(column), text);
}

void top_heading(struct ct_string *out, const struct top *t, int width)
{
    for (int i = 0; i < COLUMNS; i++)
        put_cell(out, shown_in(t, width), i, headings[i]);
    ct_string_put(out, "  Name");
}

static void put_time(struct ct_string *out, unsigned shown, int column, uint64_t ns, bool known,
                     const char *mark)
{
    char text[CT_UNITS_BYTES] = "-", cell[CT_UNITS_BYTES + 1];
    if (known)
        ct_units_time(text, ns, 8);
    snprintf(cell, sizeof(cell), "%s%s", mark, text);
    put_cell(out, shown, column, cell);
}

static void put_count(struct ct_string *out, unsigned shown, int column, uint64_t count)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, count);
    put_cell(out, shown, column, text);
}

void top_row(struct ct_string *out, const struct top *t, const struct top_row *r, int width)
{
    size_t begin = out->len;
    unsigned shown = shown_in(t, width);
    bool timed = r->total_ns || r->max_ns;
    ct_string_printf(out, "%6.2f%%", percent(r->last_ns, t->last_ns));
    put_time(out, shown, NOW_TIME, r->last_ns, timed, "");
    put_count(out, shown, NOW_CALLS, r->last_calls);
    put_time(out, shown, ALL_TIME, r->total_ns, timed, "");
    put_count(out, shown, ALL_CALLS, r->calls);
    put_time(out, shown, OWN, r->own_ns, timed, "");
    put_time(out, shown, AVG, r->avg_ns, timed, r->bound ? "<" : r->uncertain ? "~" : "");
    put_time(out, shown, MIN, r->min_ns, timed, "");
    put_time(out, shown, MAX, r->max_ns, timed, "");
    ct_string_put(out, "  ");
    int left = width - (int)(out->len - begin);
    if (!width)
        ct_string_put(out, r->name);
    else if (left > 0)
        ct_terminal_shorten(out, r->name, left);
}

/* ---- the command ---- */

static void print(const struct top *t)
{
    struct ct_string out = {0};
    const struct top_table *shown = &t->tables[t->shown];
    int width = ct_terminal_columns(STDOUT_FILENO);
    for (int i = 0; i < TOP_HEAD; i++) {
        top_line(&out, t, i);
        ct_string_put(&out, "\n");
    }
    ct_string_put(&out, "\n");
    top_heading(&out, t, width);
    for (size_t i = 0; i < shown->count; i++) {
        ct_string_put(&out, "\n");
        top_row(&out, t, &shown->rows[i], width);
    }
    puts(out.data);
    fflush(stdout);
    ct_string_free(&out);
}

/* A reader that ends, as head does, ends the tables. */
static enum link_result top_plain(struct top *t, enum top_order order, unsigned delay_ms,
                                  unsigned long times)
{
    enum link_result result = LINK_ANSWERED;
    for (unsigned long i = 0; i < times && !ferror(stdout); i++) {
        if (i) {
            options_pause_ms(delay_ms);
            putchar('\n');
        }
        result = top_take(t, order);
        if (result != LINK_ANSWERED)
            break;
        print(t);
    }
    return result;
}

static bool read_times(const char *text, unsigned long *times)
{
    char *end;
    *times = text ? strtoul(text, &end, 10) : (unsigned long)-1;
    if (!text || (*text >= '0' && *text <= '9' && !*end && *times))
        return true;
    complain("'%s' is no number of tables", text);
    return false;
}

int top(const struct link *l, const struct options *o)
{
    struct top t = {.link = *l};
    unsigned delay_ms = options_delay_ms(o);
    unsigned long times;
    bool plain = options_has(o, OPTION_CTL_BATCH) || !isatty(STDOUT_FILENO);
    enum top_order order = order_of(o->value[OPTION_CTL_SORT]);
    if (!read_times(o->value[OPTION_CTL_TIMES], &times))
        return EXIT_FAILURE;
#if CT_WITH_NCURSES
    enum link_result result = (plain ? top_plain : top_screen)(&t, order, delay_ms, times);
#else
    (void)plain;
    enum link_result result = top_plain(&t, order, delay_ms, times);
#endif
    for (int i = 0; i < TOP_TABLES; i++)
        drop_rows(&t.tables[i]);
    ct_key_table_free(&t.known);
    ct_key_table_free(&t.known_lines);
    ct_string_free(&t.command);
    ct_string_free(&t.device);
    if (result == LINK_ENDED)
        complain("process %d has ended, or listens no more", (int)l->pid);
    return result == LINK_ANSWERED || (result == LINK_ENDED && t.age_ns) ? EXIT_SUCCESS
                                                                         : EXIT_FAILURE;
}
