/* SPDX-License-Identifier: MIT */
#include "report/file_error.h"

#include <stdio.h>
#include <string.h>

#include "report/names.h"

static const char *copy_path = "", *copy_name; /* of a file that stands for another */

void ct_file_error_as(const char *path, const char *name)
{
    copy_path = path;
    copy_name = name;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len >= n && !strcmp(text + len - n, end);
}

/* Files of others that are mistaken for ours, by how they are named or begin. */
static const char *foreign_kind(const char *file)
{
    static const struct {
        const char *end, *beginning, *kind;
    } kinds[] = {
        {".nsys-rep", NULL, "a report of Nsight Systems: nsys stats reads it"},
        {".qdrep", NULL, "a report of Nsight Systems: nsys stats reads it"},
        {".ncu-rep", NULL, "a report of Nsight Compute: ncu --import reads it"},
        {NULL, "SQLite format 3", "an SQLite database, as nsys and --format sqlite write"},
        {NULL, "\x1f\x8b", "compressed by gzip"},
        {NULL, "\x28\xb5\x2f\xfd", "compressed by zstd"},
        {NULL,
         "\x7f"
         "ELF",
         "a program or a library: cutrace runs one"},
        {NULL, "{", "JSON, perhaps an export"},
    };
    char head[16] = "";
    FILE *f = fopen(file, "re");
    size_t n = f ? fread(head, 1, sizeof(head), f) : 0;
    if (f)
        fclose(f);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t len = kinds[i].beginning ? strlen(kinds[i].beginning) : 0;
        if (kinds[i].end ? ends_with(file, kinds[i].end)
                         : n >= len && !memcmp(head, kinds[i].beginning, len))
            return kinds[i].kind;
    }
    return NULL;
}

void ct_file_error(const char *file, const char *reason)
{
    struct ct_string line = {0};
    const char *kind = strncmp(reason, "is not a ", 9) ? NULL : foreign_kind(file);
    ct_string_put(&line, "cutrace-report: ");
    ct_name_safe(&line, !*file ? "''" : !strcmp(file, copy_path) ? copy_name : file);
    ct_string_printf(&line, kind ? ": %s, but %s\n" : ": %s\n", reason, kind);
    fputs(line.data, stderr);
    ct_string_free(&line);
}
