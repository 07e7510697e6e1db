/* SPDX-License-Identifier: MIT */
/*
 * The sections of the report "explain": parts of other reports' relations, each in so many
 * characters at most. A page is a sink that other reports put their rows into.
 */
#ifndef CT_REPORT_EXPLAIN_PAGE_H
#define CT_REPORT_EXPLAIN_PAGE_H

#include "report/host_memory.h"
#include "report/sinks/relation.h"

#define CT_PAGE_COLUMNS 10

struct ct_page;

/* One relation of a report, or a part of it. */
struct ct_page_section {
    const char *from; /* key of the report's relation; NULL ends a list of sections */
    struct ct_relation relation;
    const char *columns; /* keys, comma-separated; those that the relation lacks are left out */
    size_t rows;         /* at most */
    size_t room;         /* characters of all, as JSON has them; see ct_page_open() */
    size_t for_notes;    /* of these: only for notes */
    /* Whether a row is shown; NULL: each is. Cells are those of the report. */
    bool (*is_shown)(struct ct_page *page, const struct ct_cell *cells);
    /* Puts notes in front of the command; NULL: the report's own notes, as they come. */
    void (*notes)(struct ct_page *page);
};

struct ct_page {
    struct ct_sink sink;
    struct ct_sink *to;
    const struct ct_page_section *sections; /* that the report now running is for */
    const struct ct_page_section *section;  /* NULL: its relation is left out */
    const struct ct_relation *of;           /* the report's */
    const char *command;                    /* that shows all of it; a note says so */
    void *context;                          /* of the sections' functions */
    struct ct_relation relation;
    struct ct_column columns[CT_PAGE_COLUMNS];
    size_t from[CT_PAGE_COLUMNS];
    size_t room; /* left, and what only notes may have */
    size_t for_notes;
    size_t shown;
    size_t left_out;
    struct ct_string texts[CT_PAGE_COLUMNS]; /* scratch */
};

/* Neither closes `to`. A section has its title, keys and command, whatever its room. */
void ct_page_open(struct ct_page *page, struct ct_sink *to);
void ct_page_close(struct ct_page *page);

/* A sentence below the section, in its room; functions `notes` of sections call it. */
void ct_page_note(struct ct_page *page, const char *text);

/* A cell of the report's row by its key; no value where the relation has none. */
struct ct_cell ct_page_cell(const struct ct_page *page, const struct ct_cell *cells,
                            const char *key);

#endif
