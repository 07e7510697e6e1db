/* SPDX-License-Identifier: MIT */
/* An ELF file by its own tables: its build-id, and the functions that its symbols name. */
#ifndef CT_REPORT_ELF_FILE_H
#define CT_REPORT_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/host_memory.h"

/* A function from its first address to one past its last; of two at one place the longer. */
struct ct_elf_function {
    uint64_t start;
    uint64_t end;
    const char *name; /* in the mapped file */
};

/* Mapped until it is closed. All zero: there is none. */
struct ct_elf_file {
    const unsigned char *data;
    size_t bytes;
    struct ct_elf_function *functions; /* by start, once asked for */
    size_t function_count;
    bool is_listed;
};

/* False: no file of this machine's kind can be read there; errno says why, 0: it is another kind.
 */
bool ct_elf_open(struct ct_elf_file *f, const char *path);
void ct_elf_close(struct ct_elf_file *f);

/* Appends hexadecimal digits; nothing: it has none. */
void ct_elf_build_id(const struct ct_elf_file *f, struct ct_string *out);

/* Name of the function at an address of the file's program headers; NULL: none is known. */
const char *ct_elf_function(struct ct_elf_file *f, uint64_t address);

#endif
