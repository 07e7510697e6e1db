/* SPDX-License-Identifier: MIT */
/*
 * Lines of the source behind an object's addresses, by elfutils' libdw, which is looked for when it
 * is first needed: the tools run without it. Debug files that are apart, and servers of such
 * (DEBUGINFOD_URLS), are its business. One thread at a time.
 */
#ifndef CT_REPORT_DWARF_H
#define CT_REPORT_DWARF_H

#include <stdbool.h>
#include <stdint.h>

/* A function, or one that was inlined into the next one. */
struct ct_source {
    const char *function; /* as the linker knows it where the file says that */
    const char *file;     /* absolute where that is known; "": it is not */
    uint32_t line;        /* 0: it is not known */
};

/* Those that were inlined and the one that these are in: more are left out. */
#define CT_SOURCES 64

struct ct_dwarf;

/* NULL: there is no libdw, or it cannot read the file. */
struct ct_dwarf *ct_dwarf_open(const char *path);
void ct_dwarf_close(struct ct_dwarf *d);

/* Whether there is a libdw. */
bool ct_dwarf_is_here(void);

/*
 * Sources of an address of the file's program headers, the innermost first, and how many; 0: none
 * is known. Texts live until the next call.
 */
unsigned ct_dwarf_find(struct ct_dwarf *d, uint64_t address, struct ct_source to[CT_SOURCES]);

#endif
