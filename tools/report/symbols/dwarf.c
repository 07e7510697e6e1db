/* SPDX-License-Identifier: MIT */
#include "report/symbols/dwarf.h"

#include <stddef.h>

#include "config.h"

#if CT_WITH_LIBDW

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "report/host_memory.h"

#define FUNCTIONS(X)                                                                               \
    X(dwarf_attr)                                                                                  \
    X(dwarf_attr_integrate)                                                                        \
    X(dwarf_diename)                                                                               \
    X(dwarf_filesrc)                                                                               \
    X(dwarf_formstring)                                                                            \
    X(dwarf_formudata)                                                                             \
    X(dwarf_getscopes)                                                                             \
    X(dwarf_getscopes_die)                                                                         \
    X(dwarf_getsrc_die)                                                                            \
    X(dwarf_getsrcfiles)                                                                           \
    X(dwarf_haspc)                                                                                 \
    X(dwarf_lineno)                                                                                \
    X(dwarf_linesrc)                                                                               \
    X(dwarf_tag)                                                                                   \
    X(dwfl_begin)                                                                                  \
    X(dwfl_build_id_find_elf)                                                                      \
    X(dwfl_end)                                                                                    \
    X(dwfl_module_addrdie)                                                                         \
    X(dwfl_module_addrname)                                                                        \
    X(dwfl_module_nextcu)                                                                          \
    X(dwfl_offline_section_address)                                                                \
    X(dwfl_report_elf)                                                                             \
    X(dwfl_report_end)                                                                             \
    X(dwfl_standard_find_debuginfo)

static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
} dw;

static void *library(void)
{
    static bool is_looked_for;
    static void *found;
    if (is_looked_for)
        return found;
    is_looked_for = true;
    void *handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool is_whole = handle;
#define X(name)                                                                                    \
    {                                                                                              \
        void *at = handle ? dlsym(handle, #name) : NULL;                                           \
        memcpy(&dw.name, &at, sizeof(at));                                                         \
        is_whole = is_whole && at;                                                                 \
    }
    FUNCTIONS(X)
#undef X
    return found = is_whole ? handle : NULL;
}

struct ct_dwarf {
    Dwfl_Callbacks callbacks;
    char *no_path; /* of debug files: the standard ones */
    Dwfl *dwfl;
    Dwfl_Module *module;
    struct ct_string text; /* files that were put together */
};

bool ct_dwarf_is_here(void)
{
    return library();
}

struct ct_dwarf *ct_dwarf_open(const char *path)
{
    if (!library())
        return NULL;
    struct ct_dwarf *d = ct_memory_array(1, sizeof(*d));
    *d = (struct ct_dwarf){.callbacks = {.find_elf = dw.dwfl_build_id_find_elf,
                                         .find_debuginfo = dw.dwfl_standard_find_debuginfo,
                                         .section_address = dw.dwfl_offline_section_address}};
    d->callbacks.debuginfo_path = &d->no_path;
    d->dwfl = dw.dwfl_begin(&d->callbacks);
    d->module = d->dwfl ? dw.dwfl_report_elf(d->dwfl, path, path, -1, 0, true) : NULL;
    if (d->module && !dw.dwfl_report_end(d->dwfl, NULL, NULL))
        return d;
    ct_dwarf_close(d);
    return NULL;
}

void ct_dwarf_close(struct ct_dwarf *d)
{
    if (d->dwfl)
        dw.dwfl_end(d->dwfl);
    ct_string_free(&d->text);
    free(d);
}

/* The unit that has the address; where the file has no index of that, by looking at each. */
static Dwarf_Die *unit_of(struct ct_dwarf *d, uint64_t address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dw.dwfl_module_addrdie(d->module, address, bias);
    if (unit)
        return unit;
    while ((unit = dw.dwfl_module_nextcu(d->module, unit, bias)))
        if (dw.dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    return NULL;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dw.dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
        dw.dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) ||
        dw.dwarf_attr_integrate(die, DW_AT_name, &attribute))
        name = dw.dwarf_formstring(&attribute);
    return name;
}

/* Some files are told from the directory that the compiler ran in. Kept in d->text, from an offset
 * on, as that may move. */
static size_t keep_file(struct ct_dwarf *d, Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    size_t at = d->text.len;
    const char *directory = NULL;
    if (file && *file != '/' && dw.dwarf_attr(unit, DW_AT_comp_dir, &attribute))
        directory = dw.dwarf_formstring(&attribute);
    if (directory)
        ct_string_printf(&d->text, "%s/", directory);
    ct_string_put(&d->text, file ? file : "");
    ct_string_add(&d->text, "", 1);
    return at;
}

static uint32_t number(Dwarf_Die *die, unsigned attribute_name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dw.dwarf_attr(die, attribute_name, &attribute) || dw.dwarf_formudata(&attribute, &value))
        return 0;
    return (uint32_t)value;
}

static const char *file_of_call(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    Dwarf_Files *files;
    size_t count;
    uint32_t file = number(inlined, DW_AT_call_file);
    if (dw.dwarf_getsrcfiles(unit, &files, &count) || file >= count)
        return NULL;
    return dw.dwarf_filesrc(files, file, NULL, NULL);
}

struct place {
    size_t file; /* offset */
    uint32_t line;
};

static struct place place_in_unit(struct ct_dwarf *d, Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Line *line = dw.dwarf_getsrc_die(unit, address);
    int n = 0;
    const char *file = line ? dw.dwarf_linesrc(line, NULL, NULL) : NULL;
    if (line && dw.dwarf_lineno(line, &n))
        n = 0;
    return (struct place){keep_file(d, unit, file), n > 0 ? (uint32_t)n : 0};
}

/* The innermost function's scope and all around it. */
static int scopes_of(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
    Dwarf_Die *inner = NULL;
    int count = dw.dwarf_getscopes(unit, address, &inner), i = 0;
    for (; i < count; i++) {
        int tag = dw.dwarf_tag(&inner[i]);
        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram)
            break;
    }
    count = i < count ? dw.dwarf_getscopes_die(&inner[i], scopes) : 0;
    free(inner);
    return count;
}

static unsigned find_in_unit(struct ct_dwarf *d, Dwarf_Die *unit, Dwarf_Addr address,
                             struct ct_source to[CT_SOURCES])
{
    struct place at = place_in_unit(d, unit, address), places[CT_SOURCES];
    Dwarf_Die *scopes = NULL;
    unsigned n = 0;
    int count = scopes_of(unit, address, &scopes);
    for (int i = 0; i < count && n < CT_SOURCES; i++) {
        int tag = dw.dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        places[n] = at;
        to[n++].function = name_of(&scopes[i]);
        if (tag == DW_TAG_subprogram)
            break;
        at = (struct place){keep_file(d, unit, file_of_call(unit, &scopes[i])),
                            number(&scopes[i], DW_AT_call_line)};
    }
    free(scopes);
    for (unsigned i = 0; i < n; i++) {
        to[i].file = d->text.data + places[i].file;
        to[i].line = places[i].line;
    }
    return n;
}

unsigned ct_dwarf_find(struct ct_dwarf *d, uint64_t address, struct ct_source to[CT_SOURCES])
{
    Dwarf_Addr bias = 0;
    ct_string_clear(&d->text);
    Dwarf_Die *unit = unit_of(d, address, &bias);
    unsigned n = unit ? find_in_unit(d, unit, address - bias, to) : 0;
    const char *symbol = dw.dwfl_module_addrname(d->module, address);
    if (!n && symbol)
        to[n++] = (struct ct_source){.function = symbol, .file = ""};
    if (n && !to[n - 1].function)
        to[n - 1].function = symbol;
    return n;
}

#else

bool ct_dwarf_is_here(void)
{
    return false;
}

struct ct_dwarf *ct_dwarf_open(const char *path)
{
    (void)path;
    return NULL;
}

void ct_dwarf_close(struct ct_dwarf *d)
{
    (void)d;
}

unsigned ct_dwarf_find(struct ct_dwarf *d, uint64_t address, struct ct_source to[CT_SOURCES])
{
    (void)d, (void)address, (void)to;
    return 0;
}

#endif
