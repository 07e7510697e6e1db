/* SPDX-License-Identifier: MIT */
/*
 * A report's content apart from its look: relations of typed columns. A report pushes rows into a
 * sink; formats are sinks, and so are the stages that sort, filter and group on the way there. Rows
 * stream: texts in cells are only valid during the call, and only a sink that needs all rows keeps
 * them.
 */
#ifndef CT_REPORT_RELATION_H
#define CT_REPORT_RELATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reports stay below it: sinks keep arrays of this size. */
#define CT_RELATION_COLUMNS 64

enum ct_cell_type {
    CT_CELL_TEXT,      /* text */
    CT_CELL_NAME,      /* text: a kernel or another operation, of any length */
    CT_CELL_COUNT,     /* count */
    CT_CELL_TIME_NS,   /* count: a duration */
    CT_CELL_CHANGE_NS, /* number: of one duration to another */
    CT_CELL_STAMP_NS, /* count: a point in time, since the process, or the first of traces, began */
    CT_CELL_BYTES,    /* count */
    CT_CELL_RATE,     /* count: bytes per second */
    CT_CELL_PERCENT,  /* number */
    CT_CELL_NUMBER,   /* number */
};

/* The value, in a column, of a row that stands for several. */
enum ct_fold {
    CT_FOLD_NONE, /* nothing */
    CT_FOLD_SUM,
    CT_FOLD_LEAST,
    CT_FOLD_MOST,
    CT_FOLD_GROUP, /* no number: groups are never sorted or folded together */
};

struct ct_column {
    const char *key;     /* snake_case: machine formats, --sort */
    const char *heading; /* tables */
    enum ct_cell_type type;
    enum ct_fold fold;
    int look; /* decimals of numbers and percents | CT_QUIET and the other flags | CT_OPTIONAL(n) */
};

/* Tables show 0 as no value. Columns without any value they leave out. */
#define CT_QUIET 0x10
/* Terminals go without: which device, where there is one; how many, where it is each row's calls.
 */
#define CT_OF_DEVICE 0x20
#define CT_OF_CALLS 0x40
/* Names are indented as a tree: terminals do not make other names of them. */
#define CT_TREE 0x80
/* Names are paths: terminals show their ends; and rather these than columns that can go. */
#define CT_PATH 0x1000
#define CT_WIDE 0x2000
/* Narrow terminals go without the column, from the largest n down; 1 to 15. */
#define CT_OPTIONAL(n) ((n) << 8)

static inline int ct_column_decimals(const struct ct_column *column)
{
    return column->look & 0xf;
}

static inline int ct_column_optional(const struct ct_column *column)
{
    return column->look >> 8 & 0xf;
}

struct ct_relation {
    const char *key; /* snake_case: machine formats */
    const char *title;
    const struct ct_column *columns;
    size_t count;
};

/* The column of that key, without its unit as well; false: there is none. */
bool ct_relation_find(const struct ct_relation *r, const char *word, size_t len, size_t *column);
/* Says that there is none, and which there are. */
void ct_relation_refuse(const struct ct_relation *r, const char *word, size_t len);

/* Text that is not the program's own has been through ct_name_safe() or the like. */
struct ct_cell {
    bool known;    /* false: there is no value, the rest means nothing */
    bool doubtful; /* tables put a ~ before it, */
    bool bound;    /* or a <: it is so much at most; */
    bool estimate; /* without either a *: not all that it is of was timed */
    union {
        const char *text;
        uint64_t count;
        double number; /* finite */
    };
};

struct ct_sink {
    void (*begin)(struct ct_sink *sink, const struct ct_relation *relation);
    void (*row)(struct ct_sink *sink, const struct ct_cell *cells);
    void (*note)(struct ct_sink *sink, const char *text);
    void (*end)(struct ct_sink *sink);
    void (*close)(struct ct_sink *sink);
};

/* A relation: begin, rows and notes in any order, end. The relation outlives its end. */
void ct_sink_begin(struct ct_sink *sink, const struct ct_relation *relation);
void ct_sink_row(struct ct_sink *sink, const struct ct_cell *cells);
/* A sentence about the relation, to be printed with it, without a full stop. */
void ct_sink_note(struct ct_sink *sink, const char *text);
/* A note that is a command of a shell begins so. */
#define CT_NOTE_COMMAND "Command: "

/* Puts a note for each line of a text, which is taken apart; NULL: none. */
void ct_sink_notes(struct ct_sink *sink, char *lines);
void ct_sink_end(struct ct_sink *sink);
/* Closes a sink after its last relation, and frees it. */
void ct_sink_close(struct ct_sink *sink);

/* The sign before a number in a table. */
static inline const char *ct_cell_sign(const struct ct_cell *cell)
{
    return cell->bound ? "<" : cell->doubtful ? "~" : cell->estimate ? "*" : "";
}

static inline struct ct_cell ct_cell_none(void)
{
    return (struct ct_cell){.known = false};
}

static inline struct ct_cell ct_cell_text(const char *text)
{
    return (struct ct_cell){.known = true, .text = text};
}

static inline struct ct_cell ct_cell_count(uint64_t count)
{
    return (struct ct_cell){.known = true, .count = count};
}

/* No value when it is not finite. */
struct ct_cell ct_cell_number(double number);

/* The member of the union that a type uses. */
static inline bool ct_cell_is_text(enum ct_cell_type type)
{
    return type == CT_CELL_TEXT || type == CT_CELL_NAME;
}

static inline bool ct_cell_is_number(enum ct_cell_type type)
{
    return type == CT_CELL_PERCENT || type == CT_CELL_NUMBER || type == CT_CELL_CHANGE_NS;
}

#endif
