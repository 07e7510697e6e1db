/* SPDX-License-Identifier: MIT */
#include "report/symbols/symbols.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "report/file_error.h"
#include "report/names.h"
#include "report/profile/key_table.h"
#include "report/symbols/dwarf.h"
#include "report/symbols/elf_file.h"

struct object {
    struct ct_elf_file file;
    struct ct_dwarf *dwarf; /* NULL: names of functions alone */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ct_key_table keys; /* path, a newline, build-id */
static struct object *objects;
static size_t objects_size;

static void say_without_lines(void)
{
    static bool is_said;
    if (!is_said && !ct_dwarf_is_here())
        ct_file_error("libdw.so.1", "is not here (package libdw1 or elfutils-libs): native code has "
                                  "names of functions, and no lines");
    is_said = true;
}

/* Whether it is the file that ran, as far as that can be told. */
static bool is_same_file(const struct ct_elf_file *f, const char *path, const char *build_id)
{
    struct ct_string own = {0};
    ct_elf_build_id(f, &own);
    bool is_same = !strcmp(own.data, build_id);
    ct_string_free(&own);
    if (!is_same)
        ct_file_error(path, "is not the file that ran, by its build-id: names of its functions are "
                          "not shown");
    else if (!*build_id)
        ct_file_error(path, "has no build-id: it is taken to be the file that ran");
    return is_same;
}

static struct object open_object(const char *path, const char *build_id)
{
    struct object o = {0};
    if (*path != '/')
        return o;
    if (!ct_elf_open(&o.file, path)) {
        ct_file_error(path, errno ? strerror(errno) : "is no file of native code");
    } else if (!is_same_file(&o.file, path, build_id)) {
        ct_elf_close(&o.file);
    } else {
        o.dwarf = ct_dwarf_open(path);
        say_without_lines();
    }
    return o;
}

static struct object *object_of(const char *path, const char *build_id)
{
    struct ct_string key = {0};
    uint32_t before = keys.count;
    ct_string_printf(&key, "%s\n%s", path, build_id);
    uint32_t at = ct_key_table_add(&keys, key.data, key.len);
    ct_string_free(&key);
    if (keys.count != before) {
        objects = ct_memory_grow(objects, &objects_size, (size_t)at + 1, sizeof(*objects));
        objects[at] = open_object(path, build_id);
    }
    return &objects[at];
}

void ct_symbols_find(const char *path, const char *build_id, uint64_t offset,
                     void (*take)(void *arg, const char *function, const char *file, uint32_t line),
                     void *arg)
{
    struct ct_source source[CT_SOURCES];
    struct ct_string name = {0};
    unsigned n = 0;
    pthread_mutex_lock(&lock);
    struct object *o = object_of(path, build_id);
    if (o->dwarf)
        n = ct_dwarf_find(o->dwarf, offset, source);
    if (!n && o->file.data && (source[0].function = ct_elf_function(&o->file, offset)))
        source[n++] = (struct ct_source){.function = source[0].function, .file = ""};
    for (unsigned i = 0; i < n; i++) {
        if (!source[i].function)
            continue;
        ct_string_clear(&name);
        ct_name_kernel(&name, source[i].function, CT_NAMES_DEMANGLED);
        take(arg, name.data, *source[i].file ? source[i].file : path, source[i].line);
    }
    ct_string_free(&name);
    pthread_mutex_unlock(&lock);
}
