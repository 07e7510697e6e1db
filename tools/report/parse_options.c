/* SPDX-License-Identifier: MIT */
#include "report/parse_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "format/trace_read.h"
#include "report/guess.h"
#include "report/names.h"
#include "report/operands.h"
#include "report/options_table.h"
#include "report/reports.h"

static const struct ct_option_choice unit_choices[] = {
    {"auto", CT_UNIT_AUTO}, {"col", CT_UNIT_COLUMN}, {"ns", CT_UNIT_NS}, {"us", CT_UNIT_US},
    {"ms", CT_UNIT_MS},     {"s", CT_UNIT_S},        {NULL, 0},
};

static const struct ct_option_choice mangled_choices[] = {{"on", false}, {"off", true}, {NULL, 0}};

static const struct ct_option_choice per_choices[] = {
    {"gpu", CT_PER_GPU},       {"process", CT_PER_PROCESS}, {"rank", CT_PER_RANK},
    {"host", CT_PER_HOST},     {"stream", CT_PER_STREAM},   {"line", CT_PER_LINE},
    {"module", CT_PER_MODULE}, {"range", CT_PER_RANGE},     {NULL, 0},
};

static const struct ct_option_choice color_choices[] = {
    {"auto", CT_COLOR_AUTO},
    {"always", CT_COLOR_ALWAYS},
    {"never", CT_COLOR_NEVER},
    {NULL, 0},
};

#define MEMBER(type, member, ...)                                                                  \
    CT_OPTION_##type, offsetof(struct ct_options, member),                                         \
        sizeof(((struct ct_options *)0)->member), __VA_ARGS__
#define SET(member, value) MEMBER(SET, member, NULL, value)
#define CHOICE(member, choices) MEMBER(CHOICE, member, choices, 0)
#define TEXT(member) MEMBER(TEXT, member, NULL, 0)
#define LIST(member) MEMBER(LIST, member, NULL, 0)
#define NUMBER(member) MEMBER(NUMBER, member, NULL, 0)
#define PERCENT(member) MEMBER(PERCENT, member, NULL, 0)
#define TIME(member) MEMBER(TIME, member, NULL, 0)
#define ACTION CT_OPTION_ACTION, 0, 0, NULL, 0

const struct ct_option_row ct_option_rows[CT_OPTION_COUNT] = {
#define CT_OPTION_ROW(id, name, letter, argument, what, help)                                      \
    [CT_OPTION_##id] = {name, letter, argument, what, help},
#include "report/options.def"
#undef CT_OPTION_ROW
};

enum ct_options_result ct_options_answer(const char *before, const char *argument,
                                         const char *after)
{
    struct ct_string shown = {0};
    ct_name_safe(&shown, argument);
    fprintf(stderr, "cutrace-report: %s%s%s\n", before, shown.data, after);
    ct_string_free(&shown);
    return CT_OPTIONS_WRONG;
}

enum ct_options_result ct_options_complain(const char *before, const char *argument,
                                           const char *after)
{
    struct ct_string all = {0};
    ct_string_printf(&all, "%s (try --help)", after);
    ct_options_answer(before, argument, all.data);
    ct_string_free(&all);
    return CT_OPTIONS_WRONG;
}

/* The choices that there are, or an example. */
static void spell_form(struct ct_string *to, const struct ct_option_row *row)
{
    static const char *const forms[] = {
        [CT_OPTION_TEXT] = "it is empty",
        [CT_OPTION_LIST] = "it is empty",
        [CT_OPTION_NUMBER] = "a whole number from 1 on",
        [CT_OPTION_PERCENT] = "such as 5 or 0.5%",
        [CT_OPTION_TIME] = "such as 1.5s, 20ms or 300us",
    };
    if (!row->choices)
        ct_string_put(to, forms[row->type]);
    for (const struct ct_option_choice *c = row->choices; c && c->text; c++)
        ct_string_printf(to, "%s%s", c == row->choices ? "" : c[1].text ? ", " : " or ", c->text);
}

static enum ct_options_result refuse_value(const struct ct_option_row *row, const char *text)
{
    struct ct_string after = {0};
    ct_string_printf(&after, "' is no value of --%s: ", row->name);
    spell_form(&after, row);
    ct_options_complain("'", text, after.data);
    ct_string_free(&after);
    return CT_OPTIONS_WRONG;
}

static void set(struct ct_options *o, const struct ct_option_row *row, int value)
{
    char *member = (char *)o + row->member;
    if (row->member_bytes == sizeof(bool))
        *(bool *)member = value;
    else
        *(int *)member = value;
}

static enum ct_options_result choose(struct ct_options *o, const struct ct_option_row *row,
                                     const char *text)
{
    for (const struct ct_option_choice *c = row->choices; c->text; c++) {
        if (!strcmp(c->text, text)) {
            set(o, row, c->value);
            return CT_OPTIONS_RUN;
        }
    }
    return refuse_value(row, text);
}

static enum ct_options_result count(struct ct_options *o, const struct ct_option_row *row,
                                    const char *text)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *end || !isdigit((unsigned char)*text) || !n)
        return refuse_value(row, text);
    *(uint64_t *)((char *)o + row->member) = n;
    return CT_OPTIONS_RUN;
}

static bool is_decimal(const char *text)
{
    return isdigit((unsigned char)text[*text == '.']);
}

static enum ct_options_result percent(struct ct_options *o, const struct ct_option_row *row,
                                      const char *text)
{
    char *end;
    double value = strtod(text, &end);
    end += *end == '%';
    if (*end || !is_decimal(text) || !isfinite(value))
        return refuse_value(row, text);
    *(double *)((char *)o + row->member) = value;
    return CT_OPTIONS_RUN;
}

/* A number and, behind a blank or not, a unit; none is seconds. */
static enum ct_options_result span(struct ct_options *o, const struct ct_option_row *row,
                                   const char *text)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
    char *end;
    double number = is_decimal(text) ? strtod(text, &end) : NAN;
    if (isnan(number))
        return refuse_value(row, text);
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(units[i].name, end))
            continue;
        double ns = round(number * units[i].ns);
        *(uint64_t *)((char *)o + row->member) = ns < 9e18 ? (uint64_t)ns : UINT64_MAX;
        return CT_OPTIONS_RUN;
    }
    return refuse_value(row, text);
}

static enum ct_options_result text(struct ct_options *o, const struct ct_option_row *row,
                                   char *argument)
{
    void *member = (char *)o + row->member;
    struct ct_option_list *list = member;
    if (!*argument)
        return refuse_value(row, argument);
    if (row->type == CT_OPTION_TEXT) {
        *(const char **)member = argument;
        return CT_OPTIONS_RUN;
    }
    list->texts =
        ct_memory_grow(list->texts, &list->size, (size_t)list->count + 1, sizeof(*list->texts));
    list->texts[list->count++] = argument;
    return CT_OPTIONS_RUN;
}

static enum ct_options_result act(int id)
{
    if (id == CT_OPTION_HELP)
        ct_help_print();
    else
        puts("cutrace-report " PACKAGE_VERSION);
    return CT_OPTIONS_DONE;
}

static enum ct_options_result apply(struct ct_options *o, int id)
{
    const struct ct_option_row *row = &ct_option_rows[id];
    switch (row->type) {
    case CT_OPTION_SET:
        set(o, row, row->value);
        return CT_OPTIONS_RUN;
    case CT_OPTION_CHOICE:
        return choose(o, row, optarg);
    case CT_OPTION_TEXT:
    case CT_OPTION_LIST:
        return text(o, row, optarg);
    case CT_OPTION_NUMBER:
        return count(o, row, optarg);
    case CT_OPTION_PERCENT:
        return percent(o, row, optarg);
    case CT_OPTION_TIME:
        return span(o, row, optarg);
    default:
        return act(id);
    }
}

static int row_of(int code)
{
    for (int i = 0; i < CT_OPTION_COUNT; i++)
        if (code == 256 + i || (ct_option_rows[i].letter && code == ct_option_rows[i].letter))
            return i;
    return -1;
}

/* Complains as getopt would, but makes the argument's bytes safe to be shown. */
static enum ct_options_result refuse(int code, char **argv, const struct option *longs)
{
    int id = row_of(optopt);
    char letter[] = {(char)optopt, 0}, hint[CT_GUESS_BYTES + 1], before[64];
    if (code == ':')
        return ct_options_complain("option '--", ct_option_rows[id].name, "' requires an argument");
    if (id >= 0)
        return ct_options_complain("option '--", ct_option_rows[id].name, "' takes no argument");
    if (optopt) {
        const char *word = ct_guess_dash(hint + 1, argv, optind, optopt, longs);
        hint[0] = '\'';
        return ct_options_answer(word ? "unrecognized option '" : "invalid option -- '",
                                 word ? word : letter, hint);
    }
    snprintf(before, sizeof(before), "%s option '",
             ct_guess_option(hint + 1, argv[optind - 1], longs));
    hint[0] = '\'';
    return ct_options_answer(before, argv[optind - 1], hint);
}

/*
 * Fills in getopt's tables from options.def. The minus: operands come in their place among the
 * options, with code 1. The colon: a missing argument is told from others.
 */
static void fill_getopt(struct option *longs, char *letters)
{
    letters = stpcpy(letters, "-:");
    for (size_t i = 0; i < CT_OPTION_COUNT; i++) {
        const struct ct_option_row *row = &ct_option_rows[i];
        longs[i] = (struct option){row->name, row->argument ? required_argument : no_argument, NULL,
                                   256 + (int)i};
        if (row->letter)
            letters += sprintf(letters, "%c%s", row->letter, row->argument ? ":" : "");
    }
}

static enum ct_options_result list_formats(const char *argument)
{
    const char *names[CT_FORMAT_COUNT];
    for (size_t i = 0; i < CT_FORMAT_COUNT; i++)
        names[i] = ct_formats[i].name;
    return ct_operands_refuse(argument, "format", names, CT_FORMAT_COUNT);
}

static bool chooses_rows(const struct ct_options *o)
{
    return o->sort || o->filter || o->top || o->percent_limit > 0;
}

/* --csv is nvprof's where nvprof has the report, and otherwise a format like others. */
static enum ct_options_result take_format(struct ct_options *o)
{
    const char *name = o->format_name;
    bool nvprof = o->report->nvprof;
    if (!name) {
        bool plain = nvprof && !o->columns && o->per != CT_PER_STREAM &&
                     !(chooses_rows(o) && o->report == &ct_reports[CT_REPORT_TRACE]);
        bool page = o->report == &ct_reports[CT_REPORT_EXPLAIN];
        name = plain ? "nvprof" : o->csv ? "csv" : page ? "md" : "table";
    }
    o->format = ct_format_find(name);
    if (!o->format)
        return list_formats(name);
    if (o->format == &ct_formats[CT_FORMAT_NVPROF] && !nvprof)
        return ct_options_complain("nvprof has no report '", o->report->name,
                                   "': choose another --format");
    return CT_OPTIONS_RUN;
}

static enum ct_options_result parse(struct ct_options *o, int argc, char **argv)
{
    struct option longs[CT_OPTION_COUNT + 1] = {{0}};
    char letters[2 * CT_OPTION_COUNT + 3] = "";
    fill_getopt(longs, letters);
    o->files = argv + 1;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
        int id = row_of(code);
        if (code == 1) {
            o->files[o->file_count++] = optarg;
            continue;
        }
        enum ct_options_result result = id < 0 ? refuse(code, argv, longs) : apply(o, id);
        if (result != CT_OPTIONS_RUN)
            return result;
    }
    int before = o->file_count;
    while (optind < argc)
        o->files[o->file_count++] = argv[optind++];
    o->behind = o->file_count - before;
    return ct_operands_take(o, !before);
}

/*
 * The first file that can be read decides. Without such a file, options for traces alone decide:
 * the reader of traces then says why there is none.
 */
static bool is_of_traces(const struct ct_options *o)
{
    bool wanted =
        o->per & (CT_PER_STREAM | CT_PER_RANGE) || o->since_ns || o->until_ns != UINT64_MAX;
    if (!(o->report->may & CT_MAY_TRACE) || o->format->document || !o->file_count)
        return false;
    for (int i = 0; i < o->file_count; i++)
        if (!access(o->files[i], R_OK))
            return ct_trace_is_file(o->files[i]);
    return wanted;
}

enum ct_options_result ct_options_parse(struct ct_options *o, int argc, char **argv)
{
    *o = (struct ct_options){.unit = CT_UNIT_AUTO, .until_ns = UINT64_MAX, .fail_over = -1};
    enum ct_options_result result = parse(o, argc, argv);
    if (o->log_file && !strcmp(o->log_file, "-"))
        o->log_file = NULL;
    if (result == CT_OPTIONS_RUN)
        result = take_format(o);
    if (result == CT_OPTIONS_RUN)
        o->traces = is_of_traces(o);
    return result == CT_OPTIONS_RUN ? ct_options_check(o) : result;
}
